"""Work for a pool whose process dies."""

from __future__ import annotations

import os
import time
from pathlib import Path

from reportgen.publish.index import Summary
from reportgen.publish.rendering import Failed, Made, Outcome, Task

SAID = Summary(
    title="", gpu="", date="", status="", version="", lead="", headline="", scenarios=("default",), backends=("ncu",)
)


def die_if_told(task: Task) -> Outcome:
    """Make the dossier, or end the process as a kill would."""
    if task.bundle == Path("deadly"):
        os._exit(9)
    return Made(SAID, {})


def say_and_wait(task: Task) -> Outcome:
    """Write this process's number to the task's path, and render for ever."""
    task.bundle.write_text(str(os.getpid()))
    time.sleep(600)
    return Failed("it was not stopped")
