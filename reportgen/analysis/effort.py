"""What measuring itself took, by the processes' own clocks; start-up of Python and of the framework is left out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from reportgen.analysis.measurements import Measurements
from reportgen.analysis.sources import computes, counts
from reportgen.evidence.sensed import Process, Region


@computes("measuring", "measurements", "text", "text", optional=1, unit="s")
def seconds(of: Measurements, backend: str, scenario: str = "") -> float:
    """Return how many seconds the processes of a backend took in all, each by its own clock, start-up left out."""
    return sum(process.seconds for process in _of(of, backend, scenario))


@computes("measuring_each", "measurements", "text", "text", optional=1, unit="ns")
def each(of: Measurements, backend: str, scenario: str = "") -> float:
    """Return how many ns the processes of a backend took for each region that they ran; NaN where they ran none."""
    ran = regions(of, backend, scenario)
    return seconds(of, backend, scenario) / ran * 1e9 if ran else math.nan


@computes("count measured regions", "measurements", "text", "text", optional=1)
def regions(of: Measurements, backend: str, scenario: str = "") -> int:
    """The regions that the processes of a backend ran."""
    return sum(process.regions for process in _of(of, backend, scenario))


@computes("count processes", "measurements", "text", "text", optional=1)
def processes(of: Measurements, backend: str, scenario: str = "") -> int:
    """The processes of a backend that ended with an answer."""
    return sum(1 for _ in _of(of, backend, scenario))


def _of(of: Measurements, backend: str, scenario: str) -> Iterator[Process]:
    for process in of.sensed.processes:
        if process.backend == backend and scenario in ("", process.scenario):
            yield process


@counts("processes of", "text", "text")
def processes_of(of: Measurements, benchmark: str, backend: str) -> int:
    """The processes in which a backend measured a benchmark under one scenario; the most, where scenarios differ."""
    mine = of.samples[((of.samples["benchmark"] == benchmark) & (of.samples["backend"] == backend)).to_numpy()]
    return int(mine.groupby("scenario", observed=True)["process"].nunique().max()) if len(mine) else 0


def in_rounds(regions: Iterable[Region]) -> bool | None:
    """Tell whether configurations took turns, one run of each at a time; None where the order of the regions does not tell.

    What tells is a benchmark of several configurations and runs: its first run of every one comes before the second of any.
    """
    runs: dict[tuple[str, str, int, str], list[tuple[int, frozenset[tuple[str, str]]]]] = {}
    for region in regions:
        process = (region.backend, region.scenario, region.process, region.benchmark)
        runs.setdefault(process, []).append((region.run, frozenset(region.params.items())))
    told = [taken for taken in runs.values() if len({c for _, c in taken}) > 1 and len({run for run, _ in taken}) > 1]
    if not told:
        return None
    return all(taken[i][0] <= taken[i + 1][0] for taken in told for i in range(len(taken) - 1))
