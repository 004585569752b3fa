"""What limits a kernel: compute, memory, latency, or not known.

The throughputs are shares of the peak that a unit can sustain. The busier of SM and memory decides; when neither reaches
`BUSY_PCT` the kernel keeps no unit busy and waits (launch, latency, too little parallelism). The threshold is the one that
Nsight Compute's own speed-of-light rule uses. Memory is DRAM where that is busy, else L2 where a report holds it; L1, which holds
shared memory too and is a part of the SM, decides only where nothing else is busy. A throughput that was not measured is not
known, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal

from reportgen.analysis.sources import computes

Limit = Literal["compute", "memory", "latency", "not known"]
Level = Literal["DRAM", "L2", "L1", ""]
Sureness = Literal["clear", "close", "cannot tell"]

BUSY_PCT = 60.0
CLEAR_PCT = 5.0  # percentage points by which a verdict must stand clear of the next one
SM_METRICS = ("sm__throughput.avg.pct_of_peak_sustained_elapsed",)
MEMORY_METRICS = (
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
)
L2_METRICS = (
    "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
)
L1_METRICS = (
    "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1tex__throughput.avg.pct_of_peak_sustained_active",
)
METRICS = (*SM_METRICS, *MEMORY_METRICS, *L2_METRICS, *L1_METRICS)


@dataclass(frozen=True, slots=True)
class Share:
    """A unit's throughput in percent of its sustained peak, and the metric that it was read from; NaN and "" where there is none."""

    pct: float
    metric: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What limits a kernel, with the shares of peak that it was read from; `level` is the memory's whose share is `memory`."""

    limit: Limit
    sm: Share
    dram: Share
    memory: Share
    level: Level

    @property
    def margin(self) -> float:
        """Return by how many percentage points of peak the verdict stands clear of another, NaN where there is none."""
        return margin(self.sm.pct, self.memory.pct)

    @property
    def cached(self) -> bool:
        """Tell whether a cache is what limits: memory other than DRAM."""
        return self.limit == "memory" and self.level != "DRAM"

    @property
    def both(self) -> bool:
        """Tell whether SM and memory are both busy, so that the less busy one is near."""
        return self.sm.pct >= BUSY_PCT and self.memory.pct >= BUSY_PCT

    @property
    def words(self) -> str:
        """Return the limit as a table has it: `memory (L2)`."""
        return f"{self.limit} ({self.level})" if self.cached else self.limit


@computes("margin", "value", "value", unit="%")
def margin(sm_pct: float, memory_pct: float) -> float:
    """Return by how many points the busier of two throughputs in percent stands above the threshold and the other, or below it."""
    if math.isnan(sm_pct) or math.isnan(memory_pct):
        return math.nan
    high, low = max(sm_pct, memory_pct), min(sm_pct, memory_pct)
    return BUSY_PCT - high if high < BUSY_PCT else high - max(BUSY_PCT, low)


def sure(verdict: Verdict, sm_half: float, memory_half: float) -> Sureness:
    """Say how sure a verdict is, by half the widths of the two throughputs' intervals in percentage points.

    It is `cannot tell` where another verdict lies within the intervals, and `close` where they are not known or the margin is
    under `CLEAR_PCT`.
    """
    known = [0.0 if math.isnan(half) else half for half in (sm_half, memory_half)]
    for sm, memory in product((-known[0], known[0]), (-known[1], known[1])):
        if _limit(verdict.sm.pct + sm, verdict.memory.pct + memory) != verdict.limit:
            return "cannot tell"
    measured = not (math.isnan(sm_half) or math.isnan(memory_half))
    return "clear" if measured and verdict.margin >= CLEAR_PCT else "close"


def judge(metrics: Mapping[str, float]) -> Verdict:
    """Judge one kernel or region by its metrics (by the profiler's names, in percent).

    Without DRAM's throughput nothing is known: what a cache shows cannot rule it out.
    """
    sm = share(metrics, SM_METRICS)
    dram = share(metrics, MEMORY_METRICS)
    level, memory = _memory(dram, share(metrics, L2_METRICS))
    l1 = share(metrics, L1_METRICS)
    if max(sm.pct, memory.pct) < BUSY_PCT <= l1.pct:
        level, memory = "L1", l1
    return Verdict("not known" if math.isnan(dram.pct) else _limit(sm.pct, memory.pct), sm, dram, memory, level)


def share(metrics: Mapping[str, float], names: tuple[str, ...]) -> Share:
    """Return the first of `names` that has a value."""
    for name in names:
        value = metrics.get(name, math.nan)
        if not math.isnan(value):
            return Share(value, name)
    return Share(math.nan, "")


def _memory(dram: Share, l2: Share) -> tuple[Level, Share]:
    """Return DRAM where it is busy, else the busier of it and L2, of those that are known."""
    if dram.pct >= BUSY_PCT or not l2.pct > dram.pct:
        return ("DRAM", dram) if dram.metric else ("", dram)
    return "L2", l2


def _limit(sm: float, memory: float) -> Limit:
    if math.isnan(sm) or math.isnan(memory):
        return "not known"
    if max(sm, memory) < BUSY_PCT:
        return "latency"
    return "compute" if sm > memory else "memory"
