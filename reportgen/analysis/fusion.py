"""What fusing kernels saves: bytes read from DRAM, against the least that must be read.

Only reads are judged: what lies dirty in L2 when a kernel ends is not counted as written. Reading less than the least means
that a part came from a cache, and is no saving.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from reportgen.analysis import derive, groups
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Case, Group
from reportgen.analysis.statistics import Ratio, share_saved

READ = "dram__bytes_read.sum"
WORTH_SAYING_PCT = 3.0  # of the bytes read
UNDER_LEAST = 0.98  # of the least: what reads less was served by a cache


class Formula(Protocol):
    """A derived metric as a bundle keeps it."""

    @property
    def metric(self) -> str:
        """Return the derived metric's name."""

    @property
    def formula(self) -> str:
        """Return the arithmetic."""

    @property
    def benchmark(self) -> str:
        """Return the benchmark that it is of, empty for all."""


@dataclass(frozen=True, slots=True)
class Saving:
    """Two annotations of one configuration: `fused` launches fewer kernels wherever both ran, and reads fewer bytes.

    `least` is the derived metric that sets bytes read against the least possible, empty where the suite declares none.
    """

    fused: Case
    separate: Case
    ratio: Ratio
    least: str

    @property
    def saved_pct(self) -> float:
        """Return the share of the bytes read that is saved, in percent."""
        return share_saved(self.fused.value(READ), self.separate.value(READ))


def saving(group: Group, least: str = "") -> Saving | None:
    """Return what fusion saves at the largest configuration of a group where it does, None without evidence.

    `least` is the metric of bytes read over the least possible (`over_least`).
    """
    for cases in reversed(group.rivals()):
        known = [case for case in cases if case.get(READ) is not None]
        if len(known) < 2:
            continue
        fewest = min(case.value(READ) for case in known)
        alike = [case for case in known if case.value(READ) <= fewest * (1 + WORTH_SAYING_PCT / 100)]
        fused = min(alike, key=lambda case: case.value(TIME) if case.time is not None else math.inf)
        separate = max(known, key=lambda case: case.value(READ))
        ratio = groups.ratio(separate, fused, READ)
        if ratio is None or ratio.interval is None or ratio.interval.low <= 1:
            continue
        if least and fused.value(least) < UNDER_LEAST:
            continue
        found = Saving(fused, separate, ratio, least if fused.get(least) and separate.get(least) else "")
        if found.saved_pct >= WORTH_SAYING_PCT and _always_fewer(group, fused.annotation, separate.annotation):
            return found
    return None


def _always_fewer(group: Group, fewer: str, more: str) -> bool:
    """Tell whether one annotation launches fewer kernels than the other wherever both ran: fused, not split-K by chance."""
    pairs = []
    for cases in group.rivals():
        kernels = {case.annotation: case.metrics[READ].kernels for case in cases if READ in case.metrics}
        if fewer in kernels and more in kernels:
            pairs.append((kernels[fewer], kernels[more]))
    return bool(pairs) and all(a < b for a, b in pairs)


def over_least(formulas: Iterable[Formula], benchmark: str) -> str:
    """Return the derived metric that sets the bytes read against the least possible, empty where a suite has none.

    It bears the word least and divides the bytes read by what parameters alone say: bytes an element are no such thing.
    """
    for formula in formulas:
        mine = formula.benchmark in ("", benchmark) and "least" in formula.metric.lower()
        if mine and derive.parse(formula.metric, formula.formula).is_share_of(READ):
            return formula.metric
    return ""
