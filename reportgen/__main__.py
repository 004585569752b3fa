"""`python -m reportgen` is `reportgen`."""

from __future__ import annotations

import sys
from pathlib import Path

from reportgen.cli import main

if __name__ == "__main__":
    # `-m` puts the current folder first on the path: a suite there, called as a library is, would be taken for it.
    if sys.path and Path(sys.path[0] or ".").resolve() == Path.cwd():
        del sys.path[0]
    sys.exit(main())
