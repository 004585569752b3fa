"""Run a suite's benchmark in a bare loop, nothing measured and nothing waited for: bare_loop.py SUITE OUT RUNS TIMES."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import torch

from reportgen.collect.worker import load


def main(suite: str, out: str, runs: str, times: str) -> None:
    """Write how many ns each of `times` loops took."""
    _, benchmarks = load(Path(suite))
    benchmark, count = benchmarks[0], int(runs)
    for _ in range(10):
        benchmark()
    found = []
    for _ in range(int(times)):
        torch.cuda.synchronize()
        begin = time.perf_counter_ns()
        for _ in range(count):
            benchmark()
        torch.cuda.synchronize()
        found.append(time.perf_counter_ns() - begin)
    Path(out).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
