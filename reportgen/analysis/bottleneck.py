"""What limits a kernel: compute, memory, latency, or not known.

The two throughputs are shares of the peak that the unit can sustain. The larger decides; when neither reaches `BUSY_PCT`
the kernel keeps neither unit busy and waits (launch, latency, too little parallelism). The threshold is the one that Nsight
Compute's own speed-of-light rule uses. A throughput that was not measured is not known, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Limit = Literal["compute", "memory", "latency", "not known"]

BUSY_PCT = 60.0
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
