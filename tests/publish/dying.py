"""Work for a pool whose process dies."""

from __future__ import annotations

import os
from pathlib import Path

from reportgen.publish.index import Summary
from reportgen.publish.rendering import Made, Outcome, Task

SAID = Summary(
    title="", gpu="", date="", status="", version="", lead="", headline="", scenarios=("default",), backends=("ncu",)
)


def die_if_told(task: Task) -> Outcome:
    """Make the dossier, or end the process as a kill would."""
    if task.bundle == Path("deadly"):
        os._exit(9)
    return Made(SAID, {})
