"""Run all benchmarks: `python -m tests.benchmarks`."""

from __future__ import annotations

import sys

from tests.benchmarks.bench import main

sys.exit(main())
