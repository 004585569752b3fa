"""Whether the runs of a row moved one way while they were taken, and whether the first run of a process stands apart.

Runs are ordered within their own process only: what lies between two processes is not a run. Sources: Mann (1945) and Kendall for
the test of a trend, Hirsch and Slack (1982) for several stretches together (here, processes), Sen (1968) for its size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from reportgen.analysis.groups import Runs
from reportgen.analysis.sources import computes

DRIFTS_PCT = 1.0  # from the first run of a process to its last: less is no drift worth a mark
CHANCE_PCT = 1.0  # a trend that chance gives at least this often is no trend
FEWEST_IN_ORDER = 8  # runs of which an order can say something
FEWEST_OF_A_PROCESS = 3
APART_PCT = 2.0  # a first run nearer to the others is none worth a mark
TICKS = 2  # a difference under so many of the timer's ticks is none
FARTHER = 2.0  # how many times as far from the middle as any later run a first one must lie to stand apart


@dataclass(frozen=True, slots=True)
class Drift:
    """How the runs of a row moved within a process, from its first run to its last: by `amount`, `percent` of the median.

    `chance_pct` is how often runs without any trend would show one at least as clear, in percent.
    """

    amount: float
    percent: float
    chance_pct: float

    def marked(self, tick: float = 0.0) -> bool:
        """Tell whether it is large and clear enough to be told, and more than two of the timer's ticks."""
        large = abs(self.percent) >= DRIFTS_PCT and abs(self.amount) >= TICKS * tick
        return large and self.chance_pct < CHANCE_PCT


@dataclass(frozen=True, slots=True)
class FirstRun:
    """By how much the first run of a process differs from its others: by `amount`, `percent` of their median.

    It is `alone` where it does so in every process alike, and by more than twice as much as any later run.
    """

    amount: float
    percent: float
    alone: bool

    def marked(self, tick: float = 0.0) -> bool:
        """Tell whether it is large and clear enough to be told, and more than two of the timer's ticks."""
        return self.alone and abs(self.percent) >= APART_PCT and abs(self.amount) >= TICKS * tick


@computes("drift", "runs", part=lambda found: found.percent, unit="%")
def drift(runs: Runs) -> Drift | None:
    """How far the runs of a row moved from the first of a process to its last, in percent of their median (Sen's slope).

    None with under eight runs in all, and where the median is not positive.
    """
    parts = [part for part in stretches(runs) if len(part) >= FEWEST_OF_A_PROCESS]
    values = [value for part in parts for value in part]
    if len(values) < FEWEST_IN_ORDER or (middle := float(np.median(values))) <= 0:
        return None
    steps = [(part[j] - part[i]) / (j - i) for part in parts for i, j in combinations(range(len(part)), 2)]
    longest = max(len(part) for part in parts)
    amount = float(np.median(steps)) * (longest - 1)
    return Drift(amount, amount / middle * 100, _chance(parts) * 100)


@computes("first_run", "runs", part=lambda found: found.percent, unit="%")
def first_run(runs: Runs) -> FirstRun | None:
    """By how many percent the first run of a process lies over the median of its others, the mean of all processes.

    None where a process has under three other runs, or a median that is not positive.
    """
    parts = list(stretches(runs))
    if not parts or any(len(part) <= FEWEST_OF_A_PROCESS for part in parts):
        return None
    middles = [float(np.median(part[1:])) for part in parts]
    if min(middles) <= 0:
        return None
    apart = [(part[0] / middle - 1) * 100 for part, middle in zip(parts, middles, strict=True)]
    clear = all(
        abs(part[0] - middle) > FARTHER * max(abs(value - middle) for value in part[1:])
        for part, middle in zip(parts, middles, strict=True)
    )
    same = min(apart) > 0 or max(apart) < 0
    amount = float(np.mean([part[0] - middle for part, middle in zip(parts, middles, strict=True)]))
    return FirstRun(amount, float(np.mean(apart)), clear and same)


def stretches(runs: Runs) -> Iterator[list[float]]:
    """Yield the values of each process in the order taken."""
    found: dict[int, list[float]] = {}
    for process, run in sorted(runs):
        found.setdefault(process, []).append(runs[process, run])
    yield from found.values()


def _chance(parts: list[list[float]]) -> float:
    """Return how often values without a trend give one as clear: two-sided, by the normal approximation with ties counted."""
    score = sum(float(np.sign(b - a)) for part in parts for a, b in combinations(part, 2))
    variance = sum(map(_variance, parts))
    if not variance or not score:
        return 1.0
    return math.erfc((abs(score) - 1) / math.sqrt(2 * variance))


def _variance(part: list[float]) -> float:
    """Return the variance of Kendall's score of one stretch, with its ties."""
    n = len(part)
    ties = np.unique(part, return_counts=True)[1]
    return float(n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18
