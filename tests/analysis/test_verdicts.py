"""Verdicts: the permutation test, the false discovery rate, thresholds, and what is said when nobody can tell."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from reportgen.analysis import statistics, verdicts
from reportgen.analysis.verdicts import Effect, Threshold, Verdict

OWN = Threshold(0.03, "set")


def logs(*values: float) -> tuple[float, ...]:
    return tuple(math.log(value) for value in values)


def effect(old: tuple[float, ...], new: tuple[float, ...], **over: float) -> Effect:
    return verdicts.effect(logs(*old), logs(*new), **over)


def judged(*rows: tuple[tuple[float, ...], tuple[float, ...]], limit: Threshold = OWN, **over: float) -> list[Verdict]:
    sides = [(logs(*old), logs(*new)) for old, new in rows]
    effects = [verdicts.effect(old, new, **over) for old, new in sides]
    table = verdicts.table(sides, effects, [limit] * len(rows))
    return [verdicts.judge(table, row, "lower") for row in range(len(rows))]


def p(old: list[float], new: list[float]) -> float:
    return float(verdicts.permutation_p(np.array([old]), np.array([new]))[0])


# The permutation test


@pytest.mark.parametrize(("n", "m", "expected"), [(3, 3, 2 / 20), (6, 6, 2 / 924), (2, 5, 1 / 21), (1, 1, 1.0)])
def test_sides_that_do_not_overlap_reach_the_least_p(n: int, m: int, expected: float) -> None:
    # Of sides of two sizes no other way of sharing out sets the means as far apart: the far ones are all in the smaller.
    old, new = [0.001 * i for i in range(n)], [1 + 0.001 * i for i in range(m)]

    assert p(old, new) == pytest.approx(expected)
    assert verdicts.least_p(n, m) == pytest.approx(expected)


def test_a_p_counted_by_hand() -> None:
    # Sums of NEW over the six ways: 3, 4, 5, 5, 6, 7; the mean is 5. NEW = {2, 4} gives 6: as far or further are 3, 4, 6 and 7.
    assert p([1.0, 3.0], [2.0, 4.0]) == pytest.approx(4 / 6)


def test_ties_count_as_far() -> None:
    # With ticks two of NEW's values are two of OLD's: of the 20 ways those that swap equal values are as extreme.
    old, new = [1.0, 1.0, 2.0], [2.0, 2.0, 3.0]
    values, far = [*old, *new], abs(sum(new) - sum(old))
    as_far = [ways for ways in combinations(range(6), 3) if abs(sum(values) - 2 * sum(values[i] for i in ways)) >= far]

    assert p(old, new) == pytest.approx(len(as_far) / 20)
    assert p(old, new) > 2 / 20
    assert p([5.0, 5.0, 5.0], [5.0, 5.0, 5.0]) == 1.0


def test_rounding_does_not_break_a_tie() -> None:
    # 0.1 + 0.2 is not 0.3 by the last digit: the sides are equal, and so is every way of sharing them out to the far ones.
    assert p([0.0, 0.3], [0.3, 0.0]) == p([0.0, 0.3], [0.1 + 0.2, 0.0]) == 1.0


def test_a_row_has_the_p_that_it_has_alone() -> None:
    rng = np.random.default_rng(3)
    old, new = rng.normal(size=(40, 5)), rng.normal(size=(40, 6))

    together = verdicts.permutation_p(old, new)

    assert together.tolist() == [p(list(a), list(b)) for a, b in zip(old, new, strict=True)]


def test_many_ways_are_drawn_and_are_the_same_each_time() -> None:
    rng = np.random.default_rng(4)
    old, new = rng.normal(size=(1, 10)), rng.normal(0.8, size=(1, 10))
    assert math.comb(20, 10) > verdicts.EXACT

    drawn = verdicts.permutation_p(old, new)[0]
    verdicts._ways.cache_clear()

    assert verdicts.permutation_p(old, new)[0] == drawn
    values = np.concatenate([old[0], new[0]]) - np.concatenate([old[0], new[0]]).mean()
    ways = np.array(list(combinations(range(20), 10)))
    exact = (np.abs(values[ways].sum(axis=1)) >= abs(values[10:].sum()) - 1e-9).mean()
    assert drawn == pytest.approx(exact, abs=4 * math.sqrt(exact / verdicts.DRAWN))


def test_a_drawn_p_is_never_zero() -> None:
    old, new = [0.01 * i for i in range(20)], [5 + 0.01 * i for i in range(20)]

    assert p(old, new) == pytest.approx(1 / (1 + verdicts.DRAWN))
    assert verdicts.least_p(20, 20) == pytest.approx(1 / (1 + verdicts.DRAWN))


# The false discovery rate


def test_benjamini_and_hochberg_by_hand() -> None:
    found = verdicts.adjusted(np.array([0.01, 0.04, 0.03, 0.5]))

    # Sorted 0.01, 0.03, 0.04, 0.5 times 4/1, 4/2, 4/3, 4/4: 0.04, 0.06, 0.0533, 0.5, and no smaller one after a larger.
    assert found == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])


def test_what_was_not_tested_is_no_row_of_the_table() -> None:
    found = verdicts.adjusted(np.array([0.01, math.nan, 0.02]))

    assert found[0] == pytest.approx(0.02)
    assert math.isnan(found[1])
    assert verdicts.rejected(found).tolist() == [True, False, True]
    assert verdicts.adjusted(np.array([])).tolist() == []


# Thresholds


@pytest.mark.parametrize(
    ("tick", "between", "value", "cause"),
    [
        (0.0, math.nan, 0.03, "set"),
        (32.0, math.nan, 0.064, "two ticks"),
        (1.0, 0.02, math.expm1(0.06), "between collections"),
        (32.0, 0.001, 0.064, "two ticks"),
    ],
)
def test_the_largest_of_three_is_the_threshold(tick: float, between: float, value: float, cause: str) -> None:
    found = verdicts.threshold(0.03, tick, 1000.0, between)

    assert found.value == pytest.approx(value)
    assert found.cause == cause


# Effects


def test_an_effect_is_a_ratio_of_geometric_means_with_welchs_interval() -> None:
    found = effect((100.0, 102.0, 98.0), (110.0, 113.0, 108.0, 109.0))

    old, new = np.log([100, 102, 98]), np.log([110, 113, 108, 109])
    assert found.ratio == pytest.approx(math.exp(new.mean() - old.mean()))
    a, b = new.var(ddof=1) / 4, old.var(ddof=1) / 3
    freedom = (a + b) ** 2 / (a**2 / 3 + b**2 / 2)
    half = statistics.t_quantile(freedom) * math.sqrt(a + b)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(math.exp(new.mean() - old.mean() - half))
    assert found.spread_pct == pytest.approx(100 * max(old.std(ddof=1), new.std(ddof=1)))
    assert found.deviation == pytest.approx(math.sqrt((2 * old.var(ddof=1) + 3 * new.var(ddof=1)) / 5))


def test_under_three_units_there_is_no_interval() -> None:
    assert effect((100.0, 101.0), (110.0, 111.0, 112.0)).interval is None
    assert math.isnan(effect((100.0,), (110.0,)).deviation)


# Verdicts

STEADY = (100.0, 100.2, 99.9, 100.1, 99.8, 100.05, 99.95, 100.15)
SLOW = tuple(1.05 * value for value in STEADY)


def test_slower_faster_and_same() -> None:
    found = judged((STEADY, SLOW), (SLOW, STEADY), (STEADY, STEADY[::-1]))

    assert [one.kind for one in found] == ["slower", "faster", "same"]


def test_of_a_rate_less_is_slower() -> None:
    sides = [(logs(*STEADY), logs(*SLOW))]
    table = verdicts.table(sides, [verdicts.effect(*sides[0])], [OWN])

    assert verdicts.judge(table, 0, "higher").kind == "faster"
    assert verdicts.judge(table, 0, "") == Verdict("cannot tell", "no direction")


def test_a_change_within_its_threshold_is_no_verdict_however_sure() -> None:
    assert judged((STEADY, tuple(1.01 * value for value in STEADY))) == [Verdict("same")]
    assert judged((STEADY, SLOW), limit=Threshold(0.10, "set")) == [Verdict("same")]


def test_three_processes_each_cannot_tell_and_say_how_many_could() -> None:
    # 2 / C(2n, n) must reach 0.05 for one row: 4 gives 0.0286, 3 gives 0.1.
    assert judged((STEADY[:3], SLOW[:3])) == [Verdict("cannot tell", "too few processes", 4)]


@pytest.mark.parametrize(("rows", "needed"), [(1, 4), (6, 5), (14, 6), (28, 7), (100, 8)])
def test_a_larger_table_asks_for_more(rows: int, needed: int) -> None:
    found = judged((STEADY[:3], SLOW[:3]), *[(STEADY[:3], STEADY[:3])] * (rows - 1))

    assert found[0] == Verdict("cannot tell", "too few processes", needed)
    assert {one.kind for one in found[1:]} <= {"same"}


@pytest.mark.parametrize("rows", [1, 6, 14, 28, 100])
def test_the_number_that_is_said_would_do(rows: int) -> None:
    rng = np.random.default_rng(5)

    def table(n: int) -> list[Verdict]:
        first = (tuple(100 + 0.05 * rng.random(n)), tuple(105 + 0.05 * rng.random(n)))
        same = tuple(100 + 0.05 * rng.random(n))
        return judged(first, *[(same, same[::-1])] * (rows - 1))

    needed = table(3)[0].needed
    assert needed is not None
    assert table(needed)[0].kind == "slower"
    assert table(needed - 1)[0].kind == "cannot tell"


def test_rows_that_can_never_be_told_take_no_power_from_others() -> None:
    # One row of 6 and 6 among 100 of 1 and 1, which no p can reject.
    found = judged((STEADY[:6], SLOW[:6]), *[((100.0,), (100.5,))] * 100)

    assert found[0].kind == "slower"
    assert found[1] == Verdict("cannot tell", "too few processes", 3)


def test_processes_that_differ_among_themselves_are_unstable() -> None:
    old, new = (100.0, 108.0, 93.0, 104.0, 97.0, 110.0), (106.0, 115.0, 98.0, 107.0, 99.0, 116.0)

    found = judged((old, new))[0]

    assert (found.kind, found.reason) == ("cannot tell", "unstable")
    assert found.needed is not None
    assert found.needed > 6


def test_an_interval_that_leaves_the_threshold_is_not_same() -> None:
    old, new = (100.0, 101.8, 98.4), (101.0, 102.5, 100.0)

    found = judged((old, new))[0]

    assert (found.kind, found.reason) == ("cannot tell", "too few processes")
    assert found.needed is not None
    assert found.needed > 3


def test_a_difference_under_two_ticks_is_none() -> None:
    old, new = (1000.0, 1032.0, 1000.0), (1032.0, 1000.0, 1064.0)

    assert judged((old, new), limit=Threshold(0.064, "two ticks")) == [Verdict("cannot tell", "within two ticks")]
    assert judged((old, (1000.0, 1032.0, 1001.0)), limit=Threshold(0.064, "two ticks")) == [Verdict("same")]


def test_a_change_just_within_the_threshold_is_for_a_person() -> None:
    old, new = STEADY[:4], tuple(1.0299 * value for value in STEADY[:4])

    assert judged((old, new)) == [Verdict("cannot tell", "near the threshold")]


# The clock


def test_a_time_that_moved_while_its_cycles_did_not_was_moved_by_the_clock() -> None:
    assert judged((STEADY, SLOW), cycles=math.log(1.002)) == [Verdict("cannot tell", "the SM clock moved")]
    assert judged((STEADY, SLOW), cycles=math.log(1.049))[0].kind == "slower"


def test_a_clock_that_moved_leaves_nothing_the_same() -> None:
    assert judged((STEADY, STEADY), clock=math.log(0.95)) == [Verdict("cannot tell", "the SM clock moved")]
    assert judged((STEADY, SLOW), clock=math.log(0.95)) == [Verdict("cannot tell", "the SM clock moved")]
    assert judged((STEADY, STEADY), clock=math.log(0.98)) == [Verdict("same")]


def test_a_change_that_no_clock_explains_is_told_although_it_moved() -> None:
    much = tuple(1.28 * value for value in STEADY)

    assert judged((STEADY, much), clock=math.log(0.95))[0].kind == "slower"
    assert judged((much, STEADY), clock=math.log(0.95))[0].kind == "faster"


# What it is worth


def test_false_alarms_on_identical_code_stay_under_the_rate() -> None:
    rng = np.random.default_rng(20261130)
    tables, rows, n = 300, 20, 6
    alarms = 0
    for _ in range(tables):
        # Identical code on ticks of 0.5 %: many ties, no change, and no threshold to hide behind.
        values = np.log(np.round(200 * (1 + 0.01 * rng.normal(size=(rows, 2 * n)))))
        p_values = verdicts.permutation_p(values[:, :n], values[:, n:])
        alarms += bool(verdicts.rejected(verdicts.adjusted(p_values)).any())

    # Where nothing changed the false discovery rate is the chance of any alarm: 5 % at most, with three deviations of chance.
    assert alarms / tables <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / tables)


def test_eight_processes_find_five_percent_at_a_deviation_of_one() -> None:
    rng = np.random.default_rng(20261201)
    found = false = 0
    for _ in range(20):
        values = 100 * (1 + 0.01 * rng.normal(size=(20, 16)))
        values[:4, 8:] *= 1.05
        kinds = [one.kind for one in judged(*((tuple(row[:8]), tuple(row[8:])) for row in values))]
        found += kinds[:4].count("slower")
        false += sum(kind in ("slower", "faster") for kind in kinds[4:])

    assert found >= 0.95 * 80
    assert false == 0


def test_a_table_of_nothing() -> None:
    table = verdicts.table([], [], [])

    assert table.tested == 0
    assert table.level == pytest.approx(0.05)
