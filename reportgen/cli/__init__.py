"""The command line: parse, call, print; every error is one line that says how to mend it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        from reportgen.cli.commands import group
        from reportgen.cli.guard import guarded
    except KeyboardInterrupt:
        sys.stderr.write("reportgen: stopped\n")
        return 130
    return guarded(group, sys.argv[1:] if args is None else args)
