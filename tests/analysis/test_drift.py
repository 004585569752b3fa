"""Drifts and first runs, with values worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from reportgen.analysis import drift
from reportgen.analysis.groups import Runs


def keyed(*processes: Sequence[float]) -> Runs:
    return {(p, r): float(value) for p, values in enumerate(processes) for r, value in enumerate(values)}


def twice_beyond(z: float) -> float:
    return 200 * float(stats.norm.sf(z))


def test_ten_runs_that_rise_by_one_each_drift_by_nine() -> None:
    found = drift.drift(keyed(range(100, 110)))
    assert found is not None
    assert found.amount == 9
    assert found.percent == pytest.approx(900 / 104.5)
    # All 45 pairs rise; without ties the score's variance is 10 * 9 * 25 / 18.
    assert found.chance_pct == pytest.approx(twice_beyond(44 / math.sqrt(125)))
    assert found.marked()


def test_equal_values_count_for_neither_side_and_make_the_test_less_sure() -> None:
    found = drift.drift(keyed([1, 1, 2, 2, 3, 3, 4, 4]))
    assert found is not None
    # 24 of 28 pairs rise, 4 are ties of two: (8 * 7 * 21 - 4 * 2 * 1 * 9) / 18.
    assert found.chance_pct == pytest.approx(twice_beyond(23 / math.sqrt(1104 / 18)))


def test_what_lies_between_two_processes_is_no_drift() -> None:
    found = drift.drift(keyed(range(100, 105), range(200, 205)))
    assert found is not None
    assert found.amount == 4
    assert found.percent == pytest.approx(400 / 152)
    assert found.chance_pct == pytest.approx(twice_beyond(19 / math.sqrt(2 * 5 * 4 * 15 / 18)))
    apart = drift.drift(keyed([100.0] * 5, [200.0] * 5))
    assert apart == drift.Drift(0.0, 0.0, 100.0)
    assert not apart.marked()


@pytest.mark.parametrize(
    "runs",
    [keyed(range(1, 8)), keyed(*[[1.0, 2.0]] * 9), keyed([-1.0] * 9), keyed([0.0] * 9), {}],
    ids=["seven runs", "two runs a process", "negative", "zero", "none"],
)
def test_too_few_runs_and_values_around_nothing_say_nothing(runs: Runs) -> None:
    assert drift.drift(runs) is None


def test_a_drift_under_one_percent_or_two_ticks_is_none_worth_a_mark() -> None:
    small = drift.drift(keyed([10_000 + 10 * r for r in range(10)]))
    assert small is not None
    assert small.chance_pct < 0.01
    assert not small.marked(), "0.9 %"
    large = drift.drift(keyed([1000 + 5 * r for r in range(10)]))
    assert large is not None
    assert large.amount == 45
    assert large.marked(22.5)
    assert not large.marked(22.6)


def test_runs_without_a_trend_are_seldom_marked() -> None:
    random = np.random.default_rng(7)
    found = [drift.drift(keyed(*random.normal(1000, 50, size=(3, 10)).tolist())) for _ in range(500)]
    assert sum(one.marked() for one in found if one) <= 10, "about one in a hundred"


def test_a_first_run_is_set_against_the_later_ones_of_its_process() -> None:
    found = drift.first_run(keyed([110, 100, 100, 101, 99], [206, 200, 200, 201, 199]))
    assert found is not None
    assert (found.amount, found.alone) == (8.0, True)
    assert found.percent == pytest.approx(6.5)
    assert found.marked(4.0)
    assert not found.marked(4.1), "under two ticks"


@pytest.mark.parametrize(
    ("runs", "percent"),
    [
        (keyed([102, 100, 101, 99, 100]), 2.0),
        (keyed([110, 100, 100, 101, 99], [90, 100, 100, 101, 99]), 0.0),
        (keyed([110, 100, 100, 101, 99], [100, 100, 100, 101, 99]), 5.0),
        (keyed([101.9, 100, 100, 100, 100]), 1.9),
    ],
    ids=["not twice as far", "to either side", "in one process only", "under two percent"],
)
def test_a_first_run_that_does_not_stand_apart_is_not_marked(runs: Runs, percent: float) -> None:
    found = drift.first_run(runs)
    assert found is not None
    assert found.percent == pytest.approx(percent)
    assert not found.marked()


def test_under_three_later_runs_say_nothing_of_a_first() -> None:
    assert drift.first_run(keyed([1, 2, 3])) is None
    assert drift.first_run(keyed([1, 2, 3, 4], [1, 2, 3])) is None
    assert drift.first_run({}) is None
