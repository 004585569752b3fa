"""The timer's tick of a backend, by all the times that a bundle has of it."""

from __future__ import annotations

from reportgen.analysis import statistics
from reportgen.analysis.derive import TIME
from reportgen.analysis.measurements import Measurements
from reportgen.analysis.sources import computes


@computes("tick", "measurements", "text", unit="ns")
def tick(of: Measurements, backend: str) -> float | None:
    """The timer's tick in ns, estimated from all times of a backend; None where there are too few."""
    times = of.samples[(of.samples["metric"] == TIME).to_numpy() & (of.samples["state"] == "ok").to_numpy()]
    return statistics.tick(times["value"].to_numpy()[(times["backend"] == backend).to_numpy()])
