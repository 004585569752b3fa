"""Why a time varies: the likely cause of a row's instability, by what was recorded of the same runs.

Each cause is tried on the runs themselves, the one with the strongest evidence first; a row that no cause explains says so.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from reportgen.analysis import drift
from reportgen.analysis.drift import FEWEST_IN_ORDER, FEWEST_OF_A_PROCESS, TICKS
from reportgen.analysis.groups import Case, Runs
from reportgen.analysis.statistics import STABLE_BELOW_PCT

Cause = Literal["clock", "throttled", "first run", "processes", "drift", "one run", "tick", "small", "unknown"]

CYCLES = "gpc__cycles_elapsed.max"
SMALL_NS = 10_000.0  # a kernel under 10 us is mostly its launch


@dataclass(frozen=True, slots=True)
class Unsteady:
    """An unstable case with the likely cause of its instability."""

    case: Case
    cause: Cause


def cause(runs: Runs, cycles: Runs, tick: float, held: Collection[tuple[int, int]] = ()) -> Cause:
    """Return the likely cause of the instability of `runs`, times in ns by (process, run).

    `cycles` are those of the same runs, empty where they were not counted; `tick` is the timer's in ns, 0 where it is not known;
    `held` are the runs in which a sensor saw the GPU held back by power or heat.
    """
    values = np.array([runs[key] for key in sorted(runs)])
    if cycles and sorted(cycles) == sorted(runs):
        counted = np.array([cycles[key] for key in sorted(cycles)])
        if _relative(counted) < STABLE_BELOW_PCT and _relative(counted) < _relative(values) / 2:
            return "clock"
    if _held_back(runs, held):
        return "throttled"
    if _steady(_without_first(runs)):
        return "first run"
    if _processes_differ(runs):
        return "processes"
    if (moved := drift.drift(runs)) is not None and moved.marked(tick):
        return "drift"
    if len(values) >= FEWEST_IN_ORDER and _steady(_without_furthest(values)):
        return "one run"
    if tick and values.std(ddof=1) <= TICKS * tick:
        return "tick"
    return "small" if values.mean() < SMALL_NS else "unknown"


def _held_back(runs: Runs, held: Collection[tuple[int, int]]) -> bool:
    """Tell whether the GPU was held back in the longer runs, or in all of what is long enough to feel it."""
    slowed = [value for key, value in runs.items() if key in held]
    others = [value for key, value in runs.items() if key not in held]
    if not slowed or not others:
        return bool(slowed) and float(np.mean(slowed)) >= SMALL_NS
    return float(np.mean(slowed) / np.mean(others) - 1) * 100 >= STABLE_BELOW_PCT


def _relative(values: Sequence[float] | np.ndarray[Any, Any]) -> float:
    """Return the relative deviation in percent, NaN for under two values."""
    array = np.asarray(values, dtype=float)
    if len(array) < 2 or not array.mean():
        return math.nan
    return float(array.std(ddof=1) / abs(array.mean()) * 100)


def _steady(values: Sequence[float] | np.ndarray[Any, Any]) -> bool:
    return len(values) >= FEWEST_OF_A_PROCESS and _relative(values) < STABLE_BELOW_PCT


def _without_first(runs: Runs) -> list[float]:
    """Return the values without each process's first run, nothing where a process has too few others."""
    parts = list(drift.stretches(runs))
    if any(len(part) <= FEWEST_OF_A_PROCESS for part in parts):
        return []
    return [value for part in parts for value in part[1:]]


def _processes_differ(runs: Runs) -> bool:
    """Tell whether each process is steady by itself: then it is they that differ."""
    parts = list(drift.stretches(runs))
    return len(parts) >= 2 and all(_steady(part) for part in parts)


def _without_furthest(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.delete(values, int(np.abs(values - np.median(values)).argmax()))
