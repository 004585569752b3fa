"""Count the kernels of each region of a suite with torch.profiler: count_kernels.py SUITE OUT RUNS.

The suite runs as it is, with a recorder that profiles each region on its own. Two rounds go before: one in which whatever is
used for the first time launches what it needs, and one in which the profiler itself does.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

from reportgen.collect.worker import load
from reportgen.suite import record_with


class Counter:
    """A recorder that counts the kernels of each region."""

    def __init__(self) -> None:
        self.profiling = False
        self.counts: dict[str, list[int]] = {}
        self._profile: Any = None

    def begin(self, annotation: str) -> None:
        """Start the profiler."""
        torch.cuda.synchronize()
        if self.profiling:
            self._profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])
            self._profile.start()

    def end(self, annotation: str, error: BaseException | None) -> None:
        """Stop it, and count."""
        if error is not None:
            raise error
        torch.cuda.synchronize()
        if self.profiling:
            self._profile.stop()
            self.counts.setdefault(annotation, []).append(_kernels(self._profile))

    def record(self, annotation: str, metric: str, value: float | str, unit: str) -> None:
        """Keep nothing."""


def _kernels(profile: Any) -> int:
    """Return how many kernels are in a profile; copies and fills are none."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(path))
        events = json.loads(path.read_text(encoding="utf-8", errors="replace"))["traceEvents"]
    return sum(event.get("cat") == "kernel" for event in events)


def main(suite: str, out: str, runs: str) -> None:
    """Count, and write the counts of each run by annotation."""
    _, benchmarks = load(Path(suite))
    counter = Counter()
    record_with(counter)
    for run in range(-2, int(runs)):
        counter.profiling = run > -2
        if run == 0:
            counter.counts.clear()
        for benchmark in benchmarks:
            for config in benchmark.configs:
                benchmark(**config)
    record_with(None)
    Path(out).write_text(json.dumps(counter.counts), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
