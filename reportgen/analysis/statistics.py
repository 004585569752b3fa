"""Statistics by the rules of evidence: an interval has its n, and nothing is made of fewer than three.

Source of the formulas: Student (1908) for the interval of a mean; for ratios the same on logarithms, paired where the
runs are pairs, else Welch (1947).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from scipy import special

from reportgen.analysis.sources import Kind, computes

STABLE_BELOW_PCT = 2.0
FEWEST = 3
_FEWEST_TIMES = 8
_FEWEST_GATHERED, _GATHERED = 12, 0.7
_TICKS = tuple(float(2**power) for power in range(1, 13))

Unit = Literal["process", "run"]
_RATIO = "the geometric mean of the ratios of runs, those of the first row over those of the second"
_PAIR: tuple[Kind, ...] = ("runs", "runs", "number")  # the number is that of the comparisons
Array = np.ndarray[Any, np.dtype[np.float64]]


@cache
def t_quantile(freedom: float, comparisons: int = 1) -> float:
    """Return the quantile of Student's t that bounds a 95 % interval: 97.5 % with one comparison.

    With several, of which the reader is shown those that turned out best, each interval is so much wider that all of them
    hold together in 95 of 100 cases (Bonferroni 1936).
    """
    return float(special.stdtrit(freedom, 1 - 0.025 / comparisons))


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % confidence interval over `n` units, each a process mean or a run."""

    low: float
    high: float
    n: int
    unit: Unit


@dataclass(frozen=True, slots=True)
class Summary:
    """A mean over runs with its spread; `interval` is None with under three runs and processes."""

    mean: float
    deviation: float  # sample standard deviation over runs; NaN for one run
    low: float
    high: float
    median: float
    q1: float
    q3: float
    runs: int
    processes: int
    interval: Interval | None

    @property
    def relative_pct(self) -> float:
        """Return the standard deviation in percent of the mean: NaN where either is not known."""
        if self.deviation == 0:
            return 0.0
        return abs(self.deviation / self.mean) * 100 if self.mean else math.nan

    @property
    def stable(self) -> bool | None:
        """Tell whether the relative deviation is under 2 %; None when a single run cannot tell."""
        relative = self.relative_pct
        return None if math.isnan(relative) else relative < STABLE_BELOW_PCT


def summarise(values: Sequence[float] | Array, processes: Sequence[int] | Array) -> Summary:
    """Summarise the values of single runs, `processes[i]` being the process in which `values[i]` was taken."""
    table = summarise_rows(np.asarray([values], dtype=float), np.asarray(processes))
    one = {name: column[0] for name, column in table.items()}
    n, unit = int(one.pop("ci_n")), "process" if one["processes"] >= FEWEST else "run"
    interval = Interval(float(one["ci_low"]), float(one["ci_high"]), n, unit) if n >= FEWEST else None  # type: ignore[arg-type]
    counts = {name: int(one[name]) for name in ("runs", "processes")}
    numbers = {name: float(one[name]) for name in ("mean", "deviation", "low", "high", "median", "q1", "q3")}
    return Summary(**numbers, **counts, interval=interval)  # type: ignore[arg-type]


def summarise_rows(values: Array, processes: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """Summarise each row of `values`, shape (rows, runs); all rows share `processes`, shape (runs,).

    Returns arrays of shape (rows,): mean, deviation, low, high, median, q1, q3, runs, processes, ci_low, ci_high, ci_n;
    a deviation of one run and an interval of under three units are NaN.
    """
    rows, runs = values.shape
    low, high = values.min(axis=1), values.max(axis=1)
    # Equal values have no deviation: the rounding of their mean must not pretend one.
    equal = low == high
    mean = np.where(equal, low, values.mean(axis=1))
    deviation = np.where(equal, 0.0, values.std(axis=1, ddof=1)) if runs > 1 else np.full(rows, np.nan)
    q1, median, q3 = np.percentile(values, (25, 50, 75), axis=1)
    known = np.unique(processes)
    units = values
    if len(known) >= FEWEST:
        units = np.stack([values[:, processes == p].mean(axis=1) for p in known], axis=1)
    n = units.shape[1]
    half = np.full(rows, np.nan)
    if n >= FEWEST:
        spread = np.where(units.min(axis=1) == units.max(axis=1), 0.0, units.std(axis=1, ddof=1))
        half = t_quantile(n - 1) * spread / math.sqrt(n)
    centre = np.where(equal, low, units.mean(axis=1))
    counts = {"runs": np.full(rows, runs), "processes": np.full(rows, len(known)), "ci_n": np.full(rows, n)}
    return {
        "mean": mean,
        "deviation": deviation,
        "low": low,
        "high": high,
        "median": median,
        "q1": q1,
        "q3": q3,
        "ci_low": centre - half,
        "ci_high": centre + half,
        **counts,
    }


def round_digits(values: Array, digits: int = 12) -> Array:
    """Round to `digits` significant digits: the last ones differ between processors, what is kept must not."""
    array = np.asarray(values, dtype=float)
    rounded = array.copy()
    # Whole numbers of fewer digits are what they are: most metrics are counts, and only the rest is worth the time.
    with np.errstate(invalid="ignore"):
        usable = np.isfinite(array) & ((array != np.round(array)) | (np.abs(array) >= 10.0**digits))
    pattern = f"%.{digits - 1}e"
    rounded[usable] = [float(pattern % value) for value in array[usable].tolist()]
    return rounded


def same(one: float, other: float, digits: int = 12) -> bool:
    """Tell whether two values agree in so many significant digits; rounding may turn less into one unit of the last."""
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other or abs(one - other) <= 10.0 ** (1 - digits) * max(abs(one), abs(other))


def same_cell(one: str, other: str) -> bool:
    """Tell whether two cells of a CSV agree: as texts, or as numbers in 12 significant digits."""
    if one == other:
        return True
    try:
        return same(float(one), float(other))
    except ValueError:
        return False


def independent(values: Array, processes: Array) -> tuple[Array, Unit]:
    """Return what counts as independent: process means where there are three or more processes, else the runs."""
    known = np.unique(processes)
    if len(known) >= FEWEST:
        return np.array([values[processes == p].mean() for p in known]), "process"
    return values, "run"


def mean_interval(values: Array, unit: Unit, comparisons: int = 1) -> Interval | None:
    """Return Student's 95 % interval of the mean of `values`, or None with under three."""
    n = len(values)
    if n < FEWEST:
        return None
    mean = _mean(values)
    half = t_quantile(n - 1, comparisons) * math.sqrt(_variance(values) / n)
    return Interval(mean - half, mean + half, n, unit)


def _mean(values: Array) -> float:
    """Return the mean; of equal values the value itself, which rounding must not move."""
    return float(values[0] if values.min() == values.max() else values.mean())


def _variance(values: Array) -> float:
    return 0.0 if values.min() == values.max() else float(values.var(ddof=1))


@dataclass(frozen=True, slots=True)
class Ratio:
    """A geometric mean of ratios with its 95 % interval; `paired` says whether runs were taken as pairs."""

    value: float
    interval: Interval | None
    paired: bool


@computes("ratio", "runs", "runs", part=lambda found: found.value, meaning=_RATIO)
@computes(
    "ratio_low",
    *_PAIR,
    optional=1,
    part=lambda found: found.interval.low,
    meaning=f"Lower end of the interval of: {_RATIO}",
)
@computes(
    "ratio_high",
    *_PAIR,
    optional=1,
    part=lambda found: found.interval.high,
    meaning=f"Upper end of the interval of: {_RATIO}",
)
@computes("ratio_n", "runs", "runs", part=lambda found: found.interval.n, meaning=f"Number of pairs in: {_RATIO}")
def ratio(
    numerator: dict[tuple[int, int], float], denominator: dict[tuple[int, int], float], comparisons: int = 1
) -> Ratio | None:
    """Return `numerator` over `denominator`, both values by (process, run); None unless all values are positive.

    Runs that stand under the same process and number in both are pairs; the rest has no partner and is not used, unless
    no run has one: then Welch's interval on logarithms is taken. Where the two were chosen among several by what they show,
    `comparisons` counts the pairs that might have been, and the interval is wider (`t_quantile`).
    """
    if not numerator or not denominator or min(*numerator.values(), *denominator.values()) <= 0:
        return None
    common = sorted(numerator.keys() & denominator.keys())
    if common:
        logs = np.log([numerator[key] / denominator[key] for key in common])
        units, unit = independent(logs, np.array([process for process, _ in common]))
        interval = mean_interval(units, unit, comparisons)
        return Ratio(math.exp(_mean(units)), _exponential(interval), True)
    above, unit = _logs(numerator)
    below, other = _logs(denominator)
    if unit != other:
        above, below, unit = np.log(list(numerator.values())), np.log(list(denominator.values())), "run"
    return Ratio(math.exp(_mean(above) - _mean(below)), _exponential(_welch(above, below, unit, comparisons)), False)


@computes("share_saved", "value", "value", unit="%")
def share_saved(less: float, more: float) -> float:
    """By how many percent the first value is less than the second."""
    return (1 - less / more) * 100


def _logs(values: dict[tuple[int, int], float]) -> tuple[Array, Unit]:
    return independent(np.log(list(values.values())), np.array([process for process, _ in values]))


def _exponential(interval: Interval | None) -> Interval | None:
    if interval is None:
        return None
    return Interval(math.exp(interval.low), math.exp(interval.high), interval.n, interval.unit)


def _welch(above: Array, below: Array, unit: Unit, comparisons: int) -> Interval | None:
    n = min(len(above), len(below))
    if n < FEWEST:
        return None
    variances = [_variance(v) / len(v) for v in (above, below)]
    total = sum(variances)
    difference = _mean(above) - _mean(below)
    if not total:
        return Interval(difference, difference, n, unit)
    freedom = total**2 / (variances[0] ** 2 / (len(above) - 1) + variances[1] ** 2 / (len(below) - 1))
    half = t_quantile(freedom, comparisons) * math.sqrt(total)
    return Interval(difference - half, difference + half, n, unit)


def tick(values: Sequence[float] | Array) -> float | None:
    """Estimate the timer's tick from integer durations in ns: their greatest common divisor, or what they gather around.

    None when the values are not integers or fewer than eight distinct ones were seen: the divisor of k random whole
    numbers is larger than 1 with a chance of 1 - 1/zeta(k), which is 3.6 % for five and 0.4 % for eight. A time that is
    brought from one clock to another, as CUPTI's are, lies a few ns beside its tick; then the largest power of two counts
    around whose multiples, twelve or more, the shorter half of the times gathers (mean resultant length of 0.7, which n
    random angles reach with a chance of exp(-0.49 n): Rayleigh 1919).
    """
    distinct = np.unique(np.asarray(values, dtype=float))
    if len(distinct) < _FEWEST_TIMES or not np.all(distinct == np.round(distinct)) or distinct.max() > 2**53:
        return None
    divisor = float(np.gcd.reduce(distinct.astype(np.int64)))
    short = distinct[: (len(distinct) + 1) // 2]
    return max([divisor, *(t for t in _TICKS if _gathers(short, t))])


def _gathers(times: Array, tick: float) -> bool:
    """Tell whether times gather around the multiples of a tick; each multiple counts once, however many lie beside it."""
    multiples, place = np.unique(np.round(times / tick), return_inverse=True)
    if len(multiples) < _FEWEST_GATHERED:
        return False
    weight = 1 / np.bincount(place)[place]
    return bool(abs((weight * np.exp(2j * np.pi * times / tick)).sum()) / weight.sum() >= _GATHERED)
