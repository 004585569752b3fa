from __future__ import annotations

import math
import statistics as plain
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reportgen.analysis import statistics

TIMES = [1056.0, 1088.0, 1024.0, 1152.0, 1120.0, 1056.0, 1090.5, 1088.0, 1101.25, 1033.0]


@pytest.mark.parametrize("n", [3, 5, 10])
def test_the_interval_is_students(n: int) -> None:
    values = TIMES[:n]
    got = statistics.summarise(values, [0] * n)
    low, high = stats.t.interval(0.95, n - 1, loc=np.mean(values), scale=stats.sem(values))
    assert got.interval is not None
    assert (got.interval.low, got.interval.high) == pytest.approx((low, high), rel=1e-13)
    assert (got.interval.n, got.interval.unit) == (n, "run")


def test_the_interval_at_three_is_that_of_the_closed_form() -> None:
    got = statistics.summarise([9.0, 10.0, 11.0], [0, 0, 0]).interval
    assert got is not None
    assert got.high - 10 == pytest.approx(0.95 * math.sqrt(2 / (1 - 0.95**2)) / math.sqrt(3), rel=1e-12)


@pytest.mark.parametrize("n", [1, 2])
def test_under_three_there_is_no_interval(n: int) -> None:
    assert statistics.summarise(TIMES[:n], [0] * n).interval is None
    assert statistics.mean_interval(np.array(TIMES[:n]), "run") is None


def test_mean_deviation_and_quartiles_agree_with_the_standard_library() -> None:
    got = statistics.summarise(TIMES, [0] * 10)
    q1, median, q3 = plain.quantiles(TIMES, n=4, method="inclusive")
    assert got.mean == pytest.approx(plain.mean(TIMES), rel=1e-14)
    assert got.deviation == pytest.approx(plain.stdev(TIMES), rel=1e-13)
    assert (got.low, got.high) == (1024.0, 1152.0)
    assert (got.q1, got.median, got.q3) == pytest.approx((q1, median, q3), rel=1e-14)
    assert got.relative_pct == pytest.approx(100 * plain.stdev(TIMES) / plain.mean(TIMES), rel=1e-12)
    assert (got.runs, got.processes) == (10, 1)


def test_with_three_processes_the_interval_is_over_their_means() -> None:
    values = [10.0, 11.0, 20.0, 21.0, 30.0, 31.0]
    got = statistics.summarise(values, [0, 0, 4, 4, 7, 7])
    low, high = stats.t.interval(0.95, 2, loc=20.5, scale=stats.sem([10.5, 20.5, 30.5]))
    assert got.interval is not None
    assert (got.interval.n, got.interval.unit) == (3, "process")
    assert (got.interval.low, got.interval.high) == pytest.approx((low, high), rel=1e-13)
    assert got.deviation == pytest.approx(plain.stdev(values), rel=1e-13)


def test_with_two_processes_the_interval_is_over_runs() -> None:
    got = statistics.summarise([10.0, 11.0, 20.0, 21.0], [0, 0, 1, 1])
    assert got.interval is not None
    assert (got.interval.n, got.interval.unit, got.processes) == (4, "run", 2)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1955.2, 1e-30, 3.3e15])
def test_equal_values_have_no_deviation_at_all(value: float) -> None:
    got = statistics.summarise([value] * 7, [0] * 7)
    assert (got.mean, got.deviation, got.relative_pct, got.stable) == (value, 0.0, 0.0, True)
    assert got.interval is not None
    assert (got.interval.low, got.interval.high) == (value, value)
    ratio = statistics.ratio({(0, i): value * 2 for i in range(7)}, {(0, i): value for i in range(7)})
    assert ratio is not None
    assert ratio.interval is not None
    assert ratio.value == ratio.interval.low == ratio.interval.high == pytest.approx(2.0, rel=1e-15)


def test_stability_is_judged_at_two_percent_and_not_by_a_single_run() -> None:
    assert statistics.summarise([99.0, 100.0, 101.0], [0] * 3).stable is True
    assert statistics.summarise([98.0, 100.0, 102.0], [0] * 3).stable is False
    assert statistics.summarise([98.0], [0]).stable is None
    assert statistics.summarise([-1.0, 1.0], [0, 0]).stable is None


def keyed(values: Sequence[float], process: int = 0, first: int = 0) -> dict[tuple[int, int], float]:
    return {(process, first + i): v for i, v in enumerate(values)}


def test_a_ratio_is_the_geometric_mean_of_pairs_with_t_on_the_logs() -> None:
    a, b = [200.0, 220.0, 210.0, 190.0], [100.0, 105.0, 101.0, 99.0]
    logs = [math.log(x / y) for x, y in zip(a, b, strict=True)]
    half = stats.t.ppf(0.975, 3) * plain.stdev(logs) / 2
    got = statistics.ratio(keyed(a), keyed(b))
    assert got is not None
    assert got.paired
    assert got.value == pytest.approx(plain.geometric_mean([x / y for x, y in zip(a, b, strict=True)]), rel=1e-13)
    assert got.interval is not None
    assert got.interval.low == pytest.approx(math.exp(plain.mean(logs) - half), rel=1e-12)
    assert got.interval.high == pytest.approx(math.exp(plain.mean(logs) + half), rel=1e-12)
    assert got.interval.n == 4


def test_pairs_are_by_process_and_run_and_the_rest_is_not_used() -> None:
    got = statistics.ratio({(0, 0): 4.0, (0, 1): 9.0, (0, 2): 1000.0}, {(0, 1): 3.0, (0, 0): 2.0, (1, 2): 1.0})
    assert got is not None
    assert got.paired
    assert got.value == pytest.approx(math.sqrt(2 * 3), rel=1e-15)
    assert got.interval is None


def test_pairs_of_three_processes_are_judged_by_process() -> None:
    a = {(p, r): 100.0 * (p + 2) + r for p in range(3) for r in range(4)}
    b = {(p, r): 100.0 for p in range(3) for r in range(4)}
    means = [plain.mean([math.log(a[p, r] / 100) for r in range(4)]) for p in range(3)]
    got = statistics.ratio(a, b)
    assert got is not None
    assert got.interval is not None
    assert (got.interval.n, got.interval.unit) == (3, "process")
    half = stats.t.ppf(0.975, 2) * plain.stdev(means) / math.sqrt(3)
    assert got.interval.high == pytest.approx(math.exp(plain.mean(means) + half), rel=1e-12)


def test_without_pairs_the_interval_is_welchs() -> None:
    a, b = [200.0, 230.0, 210.0, 190.0, 205.0], [100.0, 101.0, 99.0]
    got = statistics.ratio(keyed(a), keyed(b, process=1))
    welch = stats.ttest_ind(np.log(a), np.log(b), equal_var=False).confidence_interval(0.95)
    assert got is not None
    assert not got.paired
    assert got.value == pytest.approx(plain.geometric_mean(a) / plain.geometric_mean(b), rel=1e-13)
    assert got.interval is not None
    assert (got.interval.low, got.interval.high) == pytest.approx(
        (math.exp(welch.low), math.exp(welch.high)), rel=1e-12
    )
    assert (got.interval.n, got.interval.unit) == (3, "run")


def test_without_pairs_processes_are_the_unit_where_both_sides_have_three() -> None:
    a = {(p, r): 200.0 + 10 * p + r for p in range(3) for r in range(5)}
    b = {(p + 3, r): 100.0 + p - r / 2 for p in range(4) for r in range(5)}
    means = [
        [plain.mean([math.log(v) for (q, _), v in side.items() if q == p]) for p in dict.fromkeys(q for q, _ in side)]
        for side in (a, b)
    ]
    welch = stats.ttest_ind(*means, equal_var=False).confidence_interval(0.95)
    got = statistics.ratio(a, b)
    assert got is not None
    assert got.interval is not None
    assert (got.interval.n, got.interval.unit) == (3, "process")
    assert got.interval.low == pytest.approx(math.exp(welch.low), rel=1e-12)


@pytest.mark.parametrize(("a", "b"), [([], [1.0]), ([1.0], []), ([0.0], [1.0]), ([1.0], [-1.0])])
def test_there_is_no_ratio_of_nothing_and_none_of_what_is_not_positive(a: list[float], b: list[float]) -> None:
    assert statistics.ratio(keyed(a), keyed(b)) is None


def test_the_tick_of_ncu_on_h200_is_found() -> None:
    assert statistics.tick([32.0 * k for k in (33, 34, 36, 35, 61, 122, 40, 41)]) == 32.0


def test_the_tick_of_cupti_is_one() -> None:
    assert statistics.tick([1056.0, 1057, 1083, 1084, 1087, 1120, 1151, 1211]) == 1.0


@pytest.mark.parametrize(
    "values", [[64.0, 128.0, 256.0], [3200.0] * 20, [1056.5, 1057, 1083, 1084, 1087, 1120, 1151, 1211], []]
)
def test_too_few_times_or_means_of_times_have_no_tick(values: list[float]) -> None:
    assert statistics.tick(values) is None


def test_the_tick_is_seldom_taken_for_larger_than_it_is() -> None:
    draw = np.random.default_rng(7)
    ticks = [1 + draw.choice(5000, 8, replace=False) for _ in range(2000)]
    wrong = sum(statistics.tick([32.0 * int(t) for t in some]) != 32.0 for some in ticks)
    assert wrong <= 20, f"{wrong} of 2000; 1 - 1/zeta(8) makes 8"


def test_twelve_digits_are_kept() -> None:
    given_values = np.array(
        [1 / 3, 123456789.123456789, -2 / 3e9, 0.0, np.nan, 1e15 + 7, 5e-324, 123456789012.0, 1234567890125.0]
    )
    want = [
        0.333333333333,
        123456789.123,
        -6.66666666667e-10,
        0.0,
        math.nan,
        1e15,
        5e-324,
        123456789012.0,
        1234567890120.0,
    ]
    np.testing.assert_array_equal(statistics.round_digits(given_values), want)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_rounding_is_that_of_printing(value: float) -> None:
    assert statistics.round_digits(np.array([value]))[0] == float(f"{value:.11e}")


@given(st.lists(st.floats(1, 1e9), min_size=3, max_size=30))
def test_any_summary_agrees_with_scipy(values: list[float]) -> None:
    got = statistics.summarise(values, [0] * len(values))
    assert got.low <= got.mean <= got.high or got.mean == pytest.approx(got.low)
    assert got.mean == pytest.approx(plain.fmean(values), rel=1e-12)
    assert got.deviation == pytest.approx(plain.stdev(values), rel=1e-6, abs=1e-9 * got.mean)
    assert got.interval is not None
    half = stats.t.ppf(0.975, len(values) - 1) * plain.stdev(values) / math.sqrt(len(values))
    assert (got.interval.high - got.interval.low) / 2 == pytest.approx(half, rel=1e-6, abs=1e-9 * got.mean)


def test_a_tick_is_found_although_every_time_lies_beside_it() -> None:
    generator = np.random.default_rng(7)
    times = 32 * generator.integers(40, 4000, 200) + generator.choice([0, 0, 0, -1, 1, -5, -4], 200)

    assert statistics.tick(times.astype(float)) == 32
    assert statistics.tick((32.0 * generator.integers(40, 4000, 200)).astype(float).tolist()) == 32


def test_times_of_no_tick_have_that_of_a_nanosecond() -> None:
    generator = np.random.default_rng(8)

    assert [statistics.tick(generator.integers(1000, 100_000, 60).astype(float)) for _ in range(50)] == [1.0] * 50


def test_times_that_lie_close_together_have_no_long_tick() -> None:
    assert statistics.tick([2048 + 32 * k for k in range(24)] + [90_016 + 32 * k for k in range(40)]) == 32


@pytest.mark.parametrize("comparisons", [1, 2, 4])
def test_an_interval_for_the_best_of_several_is_as_much_wider_as_bonferroni_asks(comparisons: int) -> None:
    a, b = [200.0, 220.0, 210.0, 190.0], [100.0, 105.0, 101.0, 99.0]
    logs = [math.log(x / y) for x, y in zip(a, b, strict=True)]
    half = stats.t.ppf(1 - 0.025 / comparisons, 3) * plain.stdev(logs) / 2
    paired = statistics.ratio(keyed(a), keyed(b), comparisons)
    assert paired is not None
    assert paired.interval is not None
    assert paired.interval.high == pytest.approx(math.exp(plain.mean(logs) + half), rel=1e-12)
    welch = statistics.ratio(keyed(a), keyed(b, first=9), comparisons)
    plainly = statistics.ratio(keyed(a), keyed(b, first=9))
    assert welch is not None
    assert plainly is not None
    assert welch.interval is not None
    assert plainly.interval is not None
    assert (welch.interval.high > plainly.interval.high) == (comparisons > 1)
    assert welch.value == plainly.value
