"""The comparison of two sides, each one collection or several of one suite whose processes pool.

Only series of one identity are compared, and only where their conditions are the same; what stands on one side alone, failed
or cannot be compared is in the result too, with its reason. Nothing is computed across backends, workloads or scenarios.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from reportgen.analysis import differences as provenance_differences
from reportgen.analysis import series as series_of
from reportgen.analysis import verdicts
from reportgen.analysis.derive import TIMES
from reportgen.analysis.differences import Difference
from reportgen.analysis.series import Collected, Conditions, Identity, Reading, Series
from reportgen.analysis.verdicts import Better, Effect, Threshold, Verdict

Unit = Literal["process", "collection"]
_FEWEST_COLLECTIONS = 3
_TIME_UNITS = ("ns", "s")


@dataclass(frozen=True)
class Asked:
    """What a comparison is asked for beside the times.

    `metrics` are compared too. `own_pct` is the suite's own threshold. `better` declares of a metric whether a lower or a higher
    value is; of a time a lower one is, of a rate (`GB/s`) a higher one, unless it says otherwise. `history` are collections of
    code identical to one another, from which, when there are three or more, the deviation between collections is taken.
    """

    metrics: tuple[str, ...] = ()
    own_pct: float = verdicts.OWN_PCT
    better: Mapping[str, Better] = field(default_factory=dict)
    history: tuple[Collected, ...] = ()


@dataclass(frozen=True, slots=True)
class Units:
    """One side of a series: how many independent units stand behind it, what they are, and their geometric mean."""

    value: float
    n: int
    unit: Unit
    runs: int
    note: str = ""  # which of its runs have no value, and why


@dataclass(frozen=True, slots=True)
class Beside:
    """The main metric that the suite declares, where it is made of the time: shown beside it and not judged."""

    metric: str
    unit: str
    old: float
    new: float


@dataclass(frozen=True, slots=True)
class Row:
    """A series that was compared. `p` and `adjusted` are NaN where it was not tested, `effect` is None where it has no ratio."""

    series: Series
    unit: str
    better: Better
    old: Units
    new: Units
    effect: Effect | None
    threshold: Threshold
    p: float
    adjusted: float
    verdict: Verdict
    beside: Beside | None = None


@dataclass(frozen=True, slots=True)
class Absent:
    """A series without a value on one side or both: its state and reason there, empty where it does not stand at all."""

    series: Series
    old_state: str
    old_reason: str
    new_state: str
    new_reason: str


@dataclass(frozen=True, slots=True)
class Unlike:
    """A condition in which a series differs: the field's name, and what each side says of it."""

    condition: str
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Broken:
    """A series that stands on both sides and cannot be compared."""

    series: Series
    unlike: tuple[Unlike, ...]


@dataclass(frozen=True)
class Comparison:
    """All that two sides say of each other. `level` is the p that a row needs that alone changed; `tested` rows were tested."""

    suite: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    differences: tuple[Difference, ...]
    rows: tuple[Row, ...]
    fresh: tuple[Absent, ...]
    gone: tuple[Absent, ...]
    failed: tuple[Absent, ...]
    broken: tuple[Broken, ...]
    level: float
    tested: int

    def of(self, kind: verdicts.Kind) -> tuple[Row, ...]:
        """Return the rows with one verdict, those that changed most first."""
        found = [row for row in self.rows if row.verdict.kind == kind]
        return tuple(sorted(found, key=lambda row: -abs(row.effect.log) if row.effect else 0.0))

    @property
    def counts(self) -> dict[str, int]:
        """Return how many series there are of each verdict, new, gone, without a value and not comparable."""
        kinds: tuple[verdicts.Kind, ...] = ("slower", "faster", "cannot tell", "same")
        lists = {"new": self.fresh, "gone": self.gone, "without a value": self.failed, "not comparable": self.broken}
        return {kind: len(self.of(kind)) for kind in kinds} | {name: len(found) for name, found in lists.items()}


def compare(old: Sequence[Collected], new: Sequence[Collected], asked: Asked = Asked()) -> Comparison:
    """Compare two sides, each of one collection or more of one suite."""
    sides = (_Side(old, asked.metrics), _Side(new, asked.metrics))
    chosen = _times(sides)
    for side in sides:
        side.choose(chosen)
    both: list[_Pair] = []
    fresh, gone, failed, broken = list[Absent](), list[Absent](), list[Absent](), list[Broken]()
    for identity in dict.fromkeys((*sides[1].known, *sides[0].known)):
        pair = _Pair(*(side.known.get(identity, ()) for side in sides))
        if not pair.good:
            _put_absent(pair, sides, fresh, gone, failed)
        elif unlike := pair.unlike():
            broken.append(Broken(pair.series, unlike))
        else:
            both.append(pair)
    table, rows = _judged(both, sides, asked)
    return Comparison(
        suite=new[0].suite,
        old=tuple(one.name for one in old),
        new=tuple(one.name for one in new),
        differences=provenance_differences.differences(old, new),
        rows=rows,
        fresh=tuple(fresh),
        gone=tuple(gone),
        failed=tuple(failed),
        broken=tuple(broken),
        level=table.level,
        tested=table.tested,
    )


def direction(metric: str, unit: str, declared: Mapping[str, Better]) -> Better:
    """Return which direction of a metric is better, empty where nobody says it."""
    if metric in declared:
        return declared[metric]
    if is_time(metric, unit):
        return "lower"
    return "higher" if unit.endswith("/s") else ""


def is_time(metric: str, unit: str) -> bool:
    """Tell whether a metric is a time."""
    return metric in TIMES or unit in _TIME_UNITS


def between_collections(history: Sequence[Collected], identity: Identity) -> float:
    """Return the standard deviation of the logarithms of a series between collections, NaN with under three of them."""
    read = (one.readings.get(identity) for one in history)
    means = [math.fsum(one.logs) / len(one.logs) for one in read if one is not None and one.logs]
    return float(np.std(means, ddof=1)) if len(means) >= _FEWEST_COLLECTIONS else math.nan


# The sides


class _Side:
    """One side: its series by identity, each as every collection of it that has it reads it."""

    def __init__(self, collections: Sequence[Collected], metrics: Sequence[str]) -> None:
        self.collections = tuple(collections)
        self.metrics = frozenset(metrics)
        self.known: dict[Identity, tuple[Reading, ...]] = {}
        for one in collections:
            for identity, reading in one.readings.items():
                self.known[identity] = (*self.known.get(identity, ()), reading)
        self.all = dict(self.known)

    def choose(self, times: Mapping[Identity, str]) -> None:
        """Keep what is compared: each group's time, by the name that `times` gives it, and the metrics that were asked for.

        A region that failed says so under the name of one time; it is a failure of whichever time its group has.
        """
        kept: dict[Identity, tuple[Reading, ...]] = {}
        for identity, found in self.all.items():
            one = found[0].series
            time = times.get(one.group)
            if one.metric in self.metrics or one.metric == time:
                kept[identity] = found
            elif one.metric in TIMES and time and not any(reading.state == "ok" for reading in found):
                kept.setdefault((*one.region, time), found)
        self.known = kept

    def tick(self, backend: str) -> float:
        """Return the timer's tick of a backend in ns, the largest of the side's, 0 where it is not known."""
        return max((one.ticks.get(backend, 0.0) for one in self.collections), default=0.0)

    def beside(self, of: Series) -> tuple[str, tuple[Reading, ...]]:
        """Return the main metric that is shown beside a time, and its readings."""
        name = next((one.mains[of.benchmark] for one in self.collections if of.benchmark in one.mains), "")
        return name, self.all.get((*of.region, name), ())


def _times(sides: tuple[_Side, _Side]) -> dict[Identity, str]:
    """Return for each group the name of its time: the first of `TIMES` that has a value above zero on some side, else that it has."""
    seen: dict[Identity, dict[str, bool]] = {}
    for side in sides:
        for found in side.all.values():
            one = found[0].series
            if one.metric in TIMES:
                names = seen.setdefault(one.group, {})
                names[one.metric] = names.get(one.metric, False) or any(reading.logs for reading in found)
    return {group: min(names, key=lambda name: (not names[name], TIMES.index(name))) for group, names in seen.items()}


@dataclass(frozen=True)
class _Pair:
    """A series as both sides have it: as each of their collections reads it."""

    old: tuple[Reading, ...]
    new: tuple[Reading, ...]

    @property
    def series(self) -> Series:
        return (self.new or self.old)[0].series

    @property
    def unit(self) -> str:
        return next((one.unit for one in (*self.new, *self.old) if one.state == "ok"), "")

    @property
    def good(self) -> bool:
        """Tell whether both sides have values."""
        return all(any(one.state == "ok" for one in side) for side in (self.old, self.new))

    @property
    def positive(self) -> bool:
        return all(one.positive for one in (*self.old, *self.new) if one.state == "ok")

    def unlike(self) -> tuple[Unlike, ...]:
        """Return the conditions in which any two of the collections differ."""
        sides = [[one.conditions for one in side if one.state == "ok"] for side in (self.old, self.new)]
        first = sides[0][0]
        names = dict.fromkeys(name for side in sides for one in side for name in first.differing(one))
        return tuple(Unlike(name, _said(sides[0], name), _said(sides[1], name)) for name in names)


def _said(side: Sequence[Conditions], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(getattr(one, name)) for one in side))


def _logs(side: Sequence[Reading]) -> tuple[float, ...]:
    return tuple(value for one in side for value in one.logs)


def _units(side: Sequence[Reading]) -> Units:
    measured = [one for one in side if one.logs]
    several = len(measured) > 1 and all(len(one.logs) == 1 for one in measured)
    logs = _logs(side)
    return Units(
        value=series_of.mean(logs),
        n=len(logs),
        unit="collection" if several else "process",
        runs=sum(one.runs for one in side),
        note="; ".join(dict.fromkeys(one.reason for one in side if one.reason)),
    )


def _moved(old: Sequence[Reading], new: Sequence[Reading], name: Literal["clocks", "cycles"]) -> float:
    """Return by how much the logarithm of the SM clock or the cycles moved, NaN unless every reading has it from one source."""
    if name == "clocks" and len({one.clock_from for one in (*old, *new)}) > 1:
        return math.nan
    sides = [[getattr(one, name) for one in side if one.logs] for side in (old, new)]
    if not all(side and all(side) for side in sides):
        return math.nan
    means = [[value for values in side for value in values] for side in sides]
    return math.fsum(means[1]) / len(means[1]) - math.fsum(means[0]) / len(means[0])


# The lists


def _put_absent(
    pair: _Pair, sides: tuple[_Side, _Side], fresh: list[Absent], gone: list[Absent], failed: list[Absent]
) -> None:
    """Put a series that has no value on one side where it belongs: new, gone, or without a value for a reason."""
    said = [_state(side) or _whole(pair.series, of) for side, of in zip((pair.old, pair.new), sides, strict=True)]
    (old, old_reason), (new, new_reason) = (one or ("", "") for one in said)
    found = Absent(pair.series, old, old_reason, new, new_reason)
    if (old or new) and all(state in ("", "ok") for state in (old, new)):
        (gone if old else fresh).append(found)
    else:
        failed.append(found)


def _state(side: Sequence[Reading]) -> tuple[str, str] | None:
    """Return the state and reason of a series on one side, None where it does not stand there."""
    best = min(side, key=lambda one: one.state != "ok", default=None)
    return None if best is None else (best.state, best.reason)


def _whole(of: Series, side: _Side) -> tuple[str, str] | None:
    """Return why a whole configuration has no value on a side: a process that failed names no annotation."""
    found = side.known.get((*of.group, tuple(sorted(of.params)), "", of.metric))
    state = _state(found) if found else None
    return state if state and state[0] != "ok" else None


# The rows


def _judged(pairs: Sequence[_Pair], sides: tuple[_Side, _Side], asked: Asked) -> tuple[verdicts.Table, tuple[Row, ...]]:
    """Judge all series that can be compared, as one table."""
    made = [_Measured.of(pair, sides, asked) for pair in pairs]
    ratios = [one for one in made if one.effect is not None]
    table = verdicts.table(
        [(_logs(one.pair.old), _logs(one.pair.new)) for one in ratios],
        [one.effect for one in ratios if one.effect is not None],
        [one.threshold for one in ratios],
    )
    place = {id(one): row for row, one in enumerate(ratios)}
    return table, tuple(_row(one, table, place.get(id(one)), sides) for one in made)


@dataclass(frozen=True)
class _Measured:
    """A pair with what it is judged by."""

    pair: _Pair
    better: Better
    effect: Effect | None
    threshold: Threshold

    @classmethod
    def of(cls, pair: _Pair, sides: tuple[_Side, _Side], asked: Asked) -> _Measured:
        one, unit = pair.series, pair.unit
        time = is_time(one.metric, unit)
        tick = max(side.tick(one.backend) for side in sides) if time and unit == "ns" else 0.0
        between = between_collections(asked.history, one.identity)
        limit = verdicts.threshold(asked.own_pct / 100, tick, series_of.mean(_logs(pair.old)), between)
        better = direction(one.metric, unit, asked.better)
        if not pair.positive:
            return cls(pair, better, None, limit)
        clock, cycles = math.nan, math.nan
        if time or unit.endswith("/s"):  # a rate falls where its time rises
            sign = 1 if time else -1
            clock, cycles = (sign * _moved(pair.old, pair.new, name) for name in ("clocks", "cycles"))
        return cls(pair, better, verdicts.effect(_logs(pair.old), _logs(pair.new), clock, cycles), limit)


def _row(of: _Measured, table: verdicts.Table, place: int | None, sides: tuple[_Side, _Side]) -> Row:
    pair = of.pair
    verdict = Verdict("cannot tell", "not above zero") if place is None else verdicts.judge(table, place, of.better)
    return Row(
        series=pair.series,
        unit=pair.unit,
        better=of.better,
        old=_units(pair.old),
        new=_units(pair.new),
        effect=of.effect,
        threshold=of.threshold,
        p=math.nan if place is None else float(table.p[place]),
        adjusted=math.nan if place is None else float(table.adjusted[place]),
        verdict=verdict,
        beside=_beside(pair, sides),
    )


def _beside(pair: _Pair, sides: tuple[_Side, _Side]) -> Beside | None:
    """Return the main metric of a time's benchmark, where both sides declare one and have it."""
    if pair.series.metric not in TIMES:
        return None
    (name, old), (other, new) = (side.beside(pair.series) for side in sides)
    if not name or name != other or not (_logs(old) and _logs(new)):
        return None
    return Beside(name, new[0].unit, series_of.mean(_logs(old)), series_of.mean(_logs(new)))
