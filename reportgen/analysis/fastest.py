"""Which of several annotations is fastest, and by how much: within one group and configuration.

The fastest is chosen by the same times that then say how much faster it is, so its lead looks larger than it is. Two things
answer for that: the next fastest is always part of the answer, and each interval is wide enough for a choice among all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reportgen.analysis import statistics
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Case, Group
from reportgen.analysis.statistics import Interval, Ratio

TICKS = 2  # a difference under so many ticks of the timer is none


@dataclass(frozen=True, slots=True)
class Lead:
    """How many times as long `other` takes as the fastest; `told` says whether the difference can be told at all."""

    other: Case
    ratio: Ratio
    interval: Interval
    told: bool


@dataclass(frozen=True, slots=True)
class Fastest:
    """The fastest case of a configuration and its leads over the others, the narrowest first.

    Each interval is that of a ratio with so many `comparisons`.
    """

    best: Case
    leads: tuple[Lead, ...]
    comparisons: int

    @property
    def tied(self) -> tuple[Case, ...]:
        """Return the cases whose difference from the fastest cannot be told."""
        return tuple(lead.other for lead in self.leads if not lead.told)

    @property
    def next(self) -> Lead:
        """Return the lead over the next fastest."""
        return self.leads[0]

    def over(self, annotation: str) -> Lead | None:
        """Return the lead over an annotation, None where it has none."""
        return next((lead for lead in self.leads if lead.other.annotation == annotation), None)


def fastest(cases: Sequence[Case], baseline: str = "", tick: float = 0.0) -> Fastest | None:
    """Return which of `cases`, all of one configuration, is fastest; `tick` is the timer's, in ns.

    With a `baseline`, an annotation that was named before anything was measured, the best is chosen among the others; without one
    both ends of a ratio are chosen by what they show, and any pair might have been.
    None without an interval for each of the others, and where none of them can be told from the fastest.
    """
    timed = [case for case in cases if case.time is not None]
    if len(timed) < 2:
        return None
    best = min(timed, key=lambda case: case.value(TIME))
    others = sorted((case for case in timed if case is not best), key=lambda case: case.value(TIME))
    fixed = any(case.annotation == baseline for case in timed)
    comparisons = len(others) if fixed else len(timed) * len(others) // 2
    leads = [_lead(best, other, comparisons, tick) for other in others]
    known = tuple(lead for lead in leads if lead is not None)
    if len(known) < len(others) or not any(lead.told for lead in known):
        return None
    return Fastest(best, known, comparisons)


def _lead(best: Case, other: Case, comparisons: int, tick: float) -> Lead | None:
    ratio = statistics.ratio(dict(other.runs.get(TIME, {})), dict(best.runs.get(TIME, {})), comparisons)
    if ratio is None or ratio.interval is None:
        return None
    apart = other.value(TIME) - best.value(TIME) >= TICKS * tick
    return Lead(other, ratio, ratio.interval, apart and ratio.interval.low > 1)


@dataclass(frozen=True, slots=True)
class Place:
    """What is fastest at one configuration of a group; `found` is None where it cannot be told."""

    cases: tuple[Case, ...]
    found: Fastest | None


def places(group: Group, baseline: str = "", tick: float = 0.0) -> tuple[Place, ...]:
    """Return for each configuration of a group that several annotations share what is fastest, in the order of its axis."""
    shared = (cases for cases in group.rivals() if sum(case.time is not None for case in cases) >= 2)
    return tuple(Place(cases, fastest(cases, baseline, tick)) for cases in shared)
