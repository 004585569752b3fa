"""What limits a kernel: compute, memory, latency, or not known.

The two throughputs are shares of the peak that the unit can sustain. The larger decides; when neither reaches `BUSY_PCT`
the kernel keeps neither unit busy and waits (launch, latency, too little parallelism). The threshold is the one that Nsight
Compute's own speed-of-light rule uses. A throughput that was not measured is not known, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal

from reportgen.analysis.sources import computes

Limit = Literal["compute", "memory", "latency", "not known"]
Sureness = Literal["clear", "close", "cannot tell"]

BUSY_PCT = 60.0
CLEAR_PCT = 5.0  # percentage points by which a verdict must stand clear of the next one
SM_METRICS = ("sm__throughput.avg.pct_of_peak_sustained_elapsed",)
MEMORY_METRICS = (
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What limits a kernel, with the shares of peak in percent and the metrics they were read from."""

    limit: Limit
    sm_pct: float
    dram_pct: float
    sm_metric: str
    dram_metric: str

    @property
    def margin(self) -> float:
        """Return by how many percentage points of peak the verdict stands clear of another, NaN where there is none."""
        return margin(self.sm_pct, self.dram_pct)


@computes("margin", "value", "value", unit="%")
def margin(sm_pct: float, dram_pct: float) -> float:
    """Return by how many points the busier of two throughputs in percent stands above the threshold and the other, or below it."""
    if math.isnan(sm_pct) or math.isnan(dram_pct):
        return math.nan
    high, low = max(sm_pct, dram_pct), min(sm_pct, dram_pct)
    return BUSY_PCT - high if high < BUSY_PCT else high - max(BUSY_PCT, low)


def sure(verdict: Verdict, sm_half: float, dram_half: float) -> Sureness:
    """Say how sure a verdict is, by half the widths of the two throughputs' intervals in percentage points.

    It is `cannot tell` where another verdict lies within the intervals, and `close` where they are not known or the margin is
    under `CLEAR_PCT`.
    """
    known = [0.0 if math.isnan(half) else half for half in (sm_half, dram_half)]
    for sm, dram in product((-known[0], known[0]), (-known[1], known[1])):
        if _limit(verdict.sm_pct + sm, verdict.dram_pct + dram) != verdict.limit:
            return "cannot tell"
    measured = not (math.isnan(sm_half) or math.isnan(dram_half))
    return "clear" if measured and verdict.margin >= CLEAR_PCT else "close"


def judge(metrics: Mapping[str, float]) -> Verdict:
    """Judge one kernel or region by its metrics (by the profiler's names, in percent)."""
    sm_metric, sm = _first(metrics, SM_METRICS)
    dram_metric, dram = _first(metrics, MEMORY_METRICS)
    return Verdict(_limit(sm, dram), sm, dram, sm_metric, dram_metric)


def _first(metrics: Mapping[str, float], names: tuple[str, ...]) -> tuple[str, float]:
    for name in names:
        value = metrics.get(name, math.nan)
        if not math.isnan(value):
            return name, value
    return "", math.nan


def _limit(sm: float, dram: float) -> Limit:
    if math.isnan(sm) or math.isnan(dram):
        return "not known"
    if max(sm, dram) < BUSY_PCT:
        return "latency"
    return "compute" if sm > dram else "memory"
