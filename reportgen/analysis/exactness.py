"""What a faster annotation gives for its speed: an error that the suite recorded beside the times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reportgen.analysis import groups
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Case, Group
from reportgen.analysis.statistics import Ratio


def error_metric(group: Group) -> str:
    """Return the recorded metric that says how wrong a result is: the first without a unit whose name speaks of an error."""
    return next((m for m in group.derived if "error" in m.lower() and not _unit(group, m)), "")


def _unit(group: Group, metric: str) -> str:
    return next((row.unit for case in group.cases if (row := case.get(metric)) is not None), "")


@dataclass(frozen=True, slots=True)
class Bargain:
    """What a faster case gives for its speed: how many times as fast it is as the baseline, and how many times its error."""

    case: Case
    speed: Ratio
    error: Ratio


def bargains(cases: Sequence[Case], baseline: str, metric: str) -> tuple[Bargain, ...]:
    """Return what each case that is faster than `baseline` and more in error gives up, the fastest last.

    Both ratios need an interval that lies above 1.
    """
    base = next((case for case in cases if case.annotation == baseline), None)
    if base is None:
        return ()
    found = []
    for case in cases:
        speed, error = groups.ratio(base, case, TIME), groups.ratio(case, base, metric)
        if case is not base and _above_1(speed) and _above_1(error):
            assert speed is not None
            assert error is not None
            found.append(Bargain(case, speed, error))
    return tuple(sorted(found, key=lambda bargain: bargain.speed.value))


def _above_1(ratio: Ratio | None) -> bool:
    return ratio is not None and ratio.interval is not None and ratio.interval.low > 1
