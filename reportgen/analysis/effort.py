"""What measuring itself took, by the processes' own clocks; start-up of Python and of the framework is left out."""

from __future__ import annotations

from reportgen.analysis.measurements import Measurements
from reportgen.analysis.sources import computes, counts


@computes("measuring", "measurements", "text", unit="s")
def seconds(of: Measurements, backend: str) -> float:
    """Return how many seconds the processes of a backend took in all, each by its own clock, start-up left out."""
    return sum(process.seconds for process in of.sensed.processes if process.backend == backend)


@counts("measured regions", "text")
def regions(of: Measurements, backend: str) -> int:
    """The regions that the processes of a backend ran."""
    return sum(process.regions for process in of.sensed.processes if process.backend == backend)


@counts("processes", "text")
def processes(of: Measurements, backend: str) -> int:
    """The processes of a backend that ended with an answer."""
    return sum(process.backend == backend for process in of.sensed.processes)
