"""What a sweep does along its axis: whether it goes as the suite expects, and where it leaves the L2.

Two neighbours of a sweep differ where their intervals lie apart and their means differ by `WORTH_SAYING` or more: without
intervals nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Case, Group, Measured

Shape = Literal["rises", "falls", "flat"]

WORTH_SAYING = 0.03
FALLS_BY = 0.2  # of its highest rate: what leaves a cache falls by more than a few percent
FITS = 0.5  # of L2: a working set of that share begins to be evicted, as an L2 of two halves may hold every line twice
_RATES = {"byte/s": 1.0, "B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12}


@dataclass(frozen=True, slots=True)
class Step:
    """Two neighbours of a sweep between which the metric did not go as expected."""

    before: Case
    after: Case


@dataclass(frozen=True, slots=True)
class Course:
    """How a metric of one annotation goes along the axis: its cases in order, and the steps that are not as expected."""

    annotation: str
    cases: tuple[Case, ...]
    breaks: tuple[Step, ...]


def courses(group: Group, metric: str, shape: Shape) -> tuple[Course, ...]:
    """Return how `metric` goes along the axis of a group for each annotation with three measured cases or more."""
    if not group.axis:
        return ()
    found = []
    for annotation in group.annotations:
        cases = tuple(case for case in group.at(annotation) if case.get(metric) is not None)
        if len(cases) >= 3 and all(not math.isnan(case.metrics[metric].half) for case in cases):
            breaks = tuple(Step(a, b) for a, b in pairwise(cases) if _breaks(a, b, metric, shape))
            found.append(Course(annotation, cases, breaks))
    return tuple(found)


def _breaks(before: Case, after: Case, metric: str, shape: Shape) -> bool:
    a, b = before.metrics[metric], after.metrics[metric]
    if shape == "flat":
        return differ(a, b) != 0
    return differ(a, b) == (-1 if shape == "rises" else 1)


def differ(before: Measured, after: Measured) -> Literal[-1, 0, 1]:
    """Return 1 where a value rises from `before` to `after`, -1 where it falls, 0 where that cannot be told."""
    if math.isnan(before.half) or math.isnan(after.half) or before.mean <= 0:
        return 0
    change = after.mean / before.mean - 1
    if change >= WORTH_SAYING and after.ci_low > before.ci_high:
        return 1
    if change <= -WORTH_SAYING and after.ci_high < before.ci_low:
        return -1
    return 0


@dataclass(frozen=True, slots=True)
class Left:
    """Where an annotation's rate falls for good: from `last`, which L2 still serves, to `first`, which it does not."""

    last: Case
    first: Case
    rate: str  # the derived metric


def rate_metric(group: Group) -> str:
    """Return the first derived metric of a group that is a rate of bytes, empty where it has none."""
    for metric in group.derived:
        if next((row.unit for case in group.cases if (row := case.get(metric)) is not None), "") in _RATES:
            return metric
    return ""


def bytes_moved(rate: Measured, time: Measured) -> float:
    """Return the bytes that a region moves, by its rate and its time."""
    return rate.mean * _RATES[rate.unit] * time.mean / 1e9


def leaves_l2(group: Group, l2_bytes: float) -> tuple[Left, ...]:
    """Return for each annotation of a size sweep where it leaves the L2 of `l2_bytes`, nothing where the sweep does not show it.

    What is moved must begin within L2 and end beyond it, and the rate must fall from one neighbour to the next, by `FALLS_BY` of
    its highest or more, without rising again.
    """
    metric = rate_metric(group)
    if not group.axis or not metric or not l2_bytes > 0:
        return ()
    found = [_leaves(group.at(annotation), metric, l2_bytes) for annotation in group.annotations]
    return tuple(left for left in found if left is not None)


def _leaves(cases: Sequence[Case], metric: str, l2_bytes: float) -> Left | None:
    known = [case for case in cases if case.get(metric) is not None and case.time is not None]
    if len(known) < 3:
        return None
    highest = max(range(len(known)), key=lambda i: known[i].value(metric))
    beyond = known[highest:]
    rows = [case.metrics[metric] for case in beyond]
    if any(differ(a, b) == 1 for a, b in pairwise(rows)):
        return None
    for last, first in pairwise(beyond):
        a, b = last.metrics[metric], first.metrics[metric]
        if differ(a, b) == -1 and a.mean - b.mean >= FALLS_BY * rows[0].mean:
            inside, outside = (bytes_moved(row, case.metrics[TIME]) for row, case in ((a, last), (b, first)))
            return Left(last, first, metric) if inside <= l2_bytes and outside >= FITS * l2_bytes else None
    return None
