"""The statistics of a verdict: is a series slower, faster, the same, or can nobody tell?

The unit is a process or a collection, never a run; everything is on logarithms, so that a change is a ratio. Two sides are
told apart by a permutation test (Fisher 1935; Phipson and Smyth 2010 where it is drawn), because a timer's ticks make ties:
all ways of sharing the units out over the sides where there are few enough, else a fixed set of random ones. Over a table
the false discovery rate is controlled (Benjamini and Hochberg 1995). A change counts only beyond its threshold; `same` needs
the whole interval within it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any, Literal

import numpy as np
from scipy import special

from reportgen.analysis import statistics
from reportgen.analysis.statistics import FEWEST, STABLE_BELOW_PCT, Array, Interval

Kind = Literal["slower", "faster", "same", "cannot tell"]
Cause = Literal["set", "two ticks", "between collections"]
Better = Literal["lower", "higher", ""]
Reason = Literal[
    "",
    "too few processes",
    "unstable",
    "within two ticks",
    "the SM clock moved",
    "near the threshold",
    "not above zero",
    "no direction",
]

RATE_PCT = 5.0  # of what is called slower or faster, so much may be a false alarm
OWN_PCT = 3.0
TICKS = 2
DEVIATIONS = 3
MOST_PROCESSES = 99  # on each side; who would have to measure more is told so
EXACT = 20_000  # ways of sharing out, up to which all are tried
DRAWN = 99_999
_TIE = 1e-10  # of a logarithm: less is rounding
_CELLS = 1 << 23


@dataclass(frozen=True, slots=True)
class Threshold:
    """What a change must exceed, as a part of one (0.03), and why it is so large."""

    value: float
    cause: Cause


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be said of a series. `needed` is the number of processes on each side with which more could be, if one is known."""

    kind: Kind
    reason: Reason = ""
    needed: int | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """A change between two sides: NEW over OLD by their units' means, with Welch's interval on the logarithms.

    `deviation` is the pooled standard deviation of the units' logarithms, NaN where no side has two; `spread_pct` is that of
    the less steady side in percent. Logarithms of `clock` and `cycles` are NEW's less OLD's, NaN where not both know them.
    """

    old: int
    new: int
    ratio: float
    interval: Interval | None
    deviation: float
    spread_pct: float
    clock: float = math.nan
    cycles: float = math.nan

    @property
    def log(self) -> float:
        """Return the logarithm of the ratio."""
        return math.log(self.ratio)


def effect(old: Sequence[float], new: Sequence[float], clock: float = math.nan, cycles: float = math.nan) -> Effect:
    """Return the change from `old` to `new`, both the logarithms of their units' means."""
    # Units of two sides are no pairs, so they get numbers that differ.
    below = {(unit, 0): math.exp(value) for unit, value in enumerate(old)}
    above = {(unit + len(old), 0): math.exp(value) for unit, value in enumerate(new)}
    found = statistics.ratio(above, below)
    assert found is not None
    variances = [float(np.var(side, ddof=1)) if len(side) > 1 else 0.0 for side in (old, new)]
    freedom = len(old) + len(new) - 2
    pooled = sum(v * (len(side) - 1) for v, side in zip(variances, (old, new), strict=True))
    return Effect(
        old=len(old),
        new=len(new),
        ratio=found.value,
        interval=found.interval,
        deviation=math.sqrt(pooled / freedom) if freedom else math.nan,
        spread_pct=math.sqrt(max(variances)) * 100 if freedom else math.nan,
        clock=clock,
        cycles=cycles,
    )


# The test


def permutation_p(old: Array, new: Array) -> Array:
    """Return for each row the two-sided p of the difference of two means, for `old` of shape (rows, n) and `new` of (rows, m).

    It is the share of the ways of sharing the row's values out over the two sides that set their means at least as far apart
    as they are; one that sets them just as far counts. Random ways are the same for all rows of a shape, so that a row's p
    depends on nothing but the row.
    """
    n, m = old.shape[1], new.shape[1]
    values = np.concatenate([old, new], axis=1)
    # The sum over NEW of values whose mean is 0 is in proportion to the difference of the two means.
    values = values - values.mean(axis=1, keepdims=True)
    seen = np.abs(values[:, n:].sum(axis=1)) - _TIE * (n + m)
    ways = _ways(n, m)
    found = np.empty(len(values))
    step = max(1, _CELLS // len(ways))
    for start in range(0, len(values), step):
        part = slice(start, start + step)
        as_far = (np.abs(ways @ values[part].T) >= seen[part]).sum(axis=0)
        found[part] = as_far / len(ways) if _is_exact(n, m) else (1 + as_far) / (1 + len(ways))
    return found


def _is_exact(n: int, m: int) -> bool:
    return math.comb(n + m, n) <= EXACT


@lru_cache(maxsize=8)
def _ways(n: int, m: int) -> Array:
    """Return ways of choosing NEW's units, shape (ways, n + m), 1 for one that is chosen."""
    if _is_exact(n, m):
        chosen = np.array(list(combinations(range(n + m), m)), dtype=np.int64)
    else:
        # Raw draws of a fixed generator: the same on every machine.
        drawn = np.random.Generator(np.random.PCG64([n, m])).random((DRAWN, n + m))
        chosen = np.argpartition(drawn, m - 1, axis=1)[:, :m]
    ways = np.zeros((len(chosen), n + m))
    np.put_along_axis(ways, chosen, 1.0, axis=1)
    return ways


def least_p(n: int, m: int) -> float:
    """Return the least p that `n` and `m` units can reach: of sides of one size, swapping them is as extreme."""
    least = (2 if n == m else 1) / math.comb(n + m, n)
    return least if _is_exact(n, m) else max(least, 1 / (1 + DRAWN))


def adjusted(p: Array) -> Array:
    """Return Benjamini and Hochberg's adjusted p of each row of a table; NaN stays NaN and is no row."""
    found = np.full(len(p), np.nan)
    rows = np.flatnonzero(~np.isnan(p))
    order = rows[np.argsort(p[rows], kind="stable")]
    if len(order):
        raised = p[order] * len(order) / np.arange(1, len(order) + 1)
        found[order] = np.minimum(1.0, np.minimum.accumulate(raised[::-1])[::-1])
    return found


def rejected(adjusted_p: Array, rate: float = RATE_PCT / 100) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Tell which rows the table rejects at a false discovery rate; NaN is none."""
    return np.asarray(adjusted_p <= rate * (1 + 1e-12))


def threshold(own: float, tick: float, time: float, between: float) -> Threshold:
    """Return the largest of three: a suite's `own` (as a part of one), two ticks of a `time`, and three deviations between collections.

    `tick` and `time` are in one unit, `tick` 0 where it is not known; `between` is a standard deviation of logarithms, NaN
    where there are not three collections of identical code.
    """
    choices: list[Threshold] = [Threshold(own, "set")]
    if tick and time > 0:
        choices.append(Threshold(TICKS * tick / time, "two ticks"))
    if not math.isnan(between):
        choices.append(Threshold(math.expm1(DEVIATIONS * between), "between collections"))
    return max(choices, key=lambda choice: choice.value)


# The verdict


@dataclass(frozen=True)
class Table:
    """The rows of a table as they are judged together, all lists of one length.

    `p` is NaN for a row that was not tested because its units are too few for any table; `level` is the p that a row needs when
    it is the only one that changed, where all are tested.
    """

    effects: tuple[Effect, ...]
    thresholds: tuple[Threshold, ...]
    p: Array
    adjusted: Array
    reachable: np.ndarray[Any, np.dtype[np.bool_]]
    level: float

    @property
    def tested(self) -> int:
        """Return how many rows were tested."""
        return int((~np.isnan(self.p)).sum())


def table(
    sides: Sequence[tuple[Sequence[float], Sequence[float]]],
    effects: Sequence[Effect],
    thresholds: Sequence[Threshold],
) -> Table:
    """Test the rows of a table, whose `sides` are the logarithms of OLD's and NEW's units.

    A row whose units could not reach the rate even if every other row were told apart is not tested, and takes no power from
    the others (Tarone 1990): which rows these are depends on numbers of units alone.
    """
    rate = RATE_PCT / 100
    shapes: dict[tuple[int, int], list[int]] = {}
    for row, (old, new) in enumerate(sides):
        if least_p(len(old), len(new)) <= rate:
            shapes.setdefault((len(old), len(new)), []).append(row)
    p, least = np.full(len(sides), np.nan), np.full(len(sides), np.nan)
    for (n, m), rows in shapes.items():
        least[rows] = least_p(n, m)
        p[rows] = permutation_p(np.array([sides[row][0] for row in rows]), np.array([sides[row][1] for row in rows]))
    far = np.array([beyond(one, limit) for one, limit in zip(effects, thresholds, strict=True)], dtype=bool)
    reachable = rejected(adjusted(np.where(far, least, p))) & far if len(sides) else np.zeros(0, dtype=bool)
    level = rate / len(sides) if sides else rate
    return Table(tuple(effects), tuple(thresholds), p, adjusted(p), reachable, level)


def beyond(one: Effect, limit: Threshold) -> bool:
    """Tell whether a change exceeds its threshold."""
    return abs(one.ratio - 1) > limit.value


def within(one: Effect, limit: Threshold) -> bool:
    """Tell whether the whole interval of a change lies within its threshold."""
    interval = one.interval
    return interval is not None and 1 - limit.value <= interval.low and interval.high <= 1 + limit.value


def judge(of: Table, row: int, better: Better) -> Verdict:
    """Return the verdict of one row; `better` says whether a lower or a higher value is, empty where nobody declared it."""
    one, limit = of.effects[row], of.thresholds[row]
    if clock_moved(one, limit):
        return Verdict("cannot tell", "the SM clock moved")
    if beyond(one, limit):
        if not rejected(of.adjusted[row : row + 1])[0]:
            return _not_told(of, row)
        if not better:
            return Verdict("cannot tell", "no direction")
        return Verdict("slower" if (one.ratio > 1) == (better == "lower") else "faster")
    return Verdict("same") if within(one, limit) else _not_same(one, limit)


def clock_moved(one: Effect, limit: Threshold) -> bool:
    """Tell whether the SM clock may be what moved a time, or what kept it where it was.

    What the code itself did lies between the change of the time and that change with the clock's taken out, which is that of
    the cycles. Where the clock moved by more than the threshold a change counts only if both exceed it, to the same side;
    and a time that moved while its cycles did so by less than half, within the threshold, was moved by the clock.
    """
    cycles = one.cycles if not math.isnan(one.cycles) else one.log + one.clock
    if not math.isnan(one.clock) and abs(math.expm1(one.clock)) > limit.value:
        alike = one.log * cycles > 0
        return not (alike and beyond(one, limit) and abs(math.expm1(cycles)) > limit.value)
    if math.isnan(one.cycles) or not beyond(one, limit):
        return False
    return abs(math.expm1(cycles)) <= limit.value and abs(cycles) < abs(one.log) / 2


def _not_told(of: Table, row: int) -> Verdict:
    """Say why a change beyond its threshold is not told from none."""
    one = of.effects[row]
    needed = to_tell(one, of.level)
    if of.reachable[row] and (one.spread_pct >= STABLE_BELOW_PCT or needed is None):
        return Verdict("cannot tell", "unstable", needed)
    return Verdict("cannot tell", "too few processes", needed)


def _not_same(one: Effect, limit: Threshold) -> Verdict:
    """Say why a change within its threshold is not known to stay there."""
    if one.interval is None:
        return Verdict("cannot tell", "too few processes", to_hold(one, limit))
    if limit.cause == "two ticks":
        return Verdict("cannot tell", "within two ticks")
    needed = to_hold(one, limit)
    if one.spread_pct >= STABLE_BELOW_PCT:
        return Verdict("cannot tell", "unstable", needed)
    return Verdict("cannot tell", "too few processes" if needed else "near the threshold", needed)


def to_tell(one: Effect, level: float) -> int | None:
    """Return how many units on each side would tell a change like this one apart at `level`; None for over 99.

    They must be able to reach the level at all, and, with the deviation that was seen, be expected to (Student's t).
    """

    def enough(n: int) -> bool:
        if least_p(n, n) > level:
            return False
        error = one.deviation * math.sqrt(2 / n)
        return not error > 0 or 2 * float(special.stdtr(2 * n - 2, -abs(one.log) / error)) <= level

    return _first(enough, min(one.old, one.new) + 1)


def to_hold(one: Effect, limit: Threshold) -> int | None:
    """Return how many units on each side would hold the interval of a change like this one within its threshold; None for over 99."""

    def enough(n: int) -> bool:
        half = statistics.t_quantile(2 * n - 2) * one.deviation * math.sqrt(2 / n) if one.deviation > 0 else 0.0
        return abs(math.expm1(abs(one.log) + half)) <= limit.value

    return _first(enough, max(FEWEST, min(one.old, one.new) + 1))


def _first(enough: Callable[[int], bool], start: int) -> int | None:
    return next((n for n in range(start, MOST_PROCESSES + 1) if enough(n)), None)
