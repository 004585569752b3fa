"""`python -m reportgen` is `reportgen`."""

from __future__ import annotations

import sys

from reportgen.cli import main

if __name__ == "__main__":
    sys.exit(main())
