from __future__ import annotations

from collections.abc import Sequence

import pytest

from reportgen.analysis import steadiness
from reportgen.analysis.groups import Runs

STEADY = [20_000.0, 20_100.0, 19_900.0, 20_050.0, 19_950.0, 20_020.0, 20_080.0, 19_930.0, 20_010.0, 19_980.0]
SHAKY = [20_000.0, 21_500.0, 19_000.0, 21_000.0, 18_800.0, 21_900.0, 19_400.0, 18_500.0, 21_700.0, 19_700.0]


def keyed(*processes: Sequence[float]) -> Runs:
    return {(p, r): value for p, values in enumerate(processes) for r, value in enumerate(values)}


def test_a_time_that_moved_while_its_cycles_did_not_is_the_clocks() -> None:
    cycles = keyed([30_000.0 + r for r in range(10)])
    assert steadiness.cause(keyed(SHAKY), cycles, 0.0) == "clock"
    moved = keyed([value * 1.5 for value in SHAKY])
    assert steadiness.cause(keyed(SHAKY), moved, 0.0) == "unknown"
    others = keyed([30_000.0] * 9)
    assert steadiness.cause(keyed(SHAKY), others, 0.0) == "unknown", "these are not the same runs"


def test_a_gpu_that_was_held_back_is_told_before_what_the_order_says() -> None:
    rising = keyed([20_000.0 + 500 * r for r in range(10)])
    assert steadiness.cause(rising, {}, 0.0, list(rising)) == "throttled"
    assert steadiness.cause(rising, {}, 0.0, [(0, r) for r in range(5, 10)]) == "throttled"
    assert steadiness.cause(rising, {}, 0.0, [(0, r) for r in range(5)]) == "drift", "the shorter runs were held back"
    assert steadiness.cause(rising, {}, 0.0) == "drift"


def test_what_is_too_short_to_feel_it_is_not_held_back_in_all_its_runs() -> None:
    small = keyed([value / 10 for value in SHAKY])
    assert steadiness.cause(small, {}, 0.0, list(small)) == "small"


def test_a_first_run_that_differs_is_told_of_every_process() -> None:
    slow = [30_000.0, *STEADY[1:]]
    assert steadiness.cause(keyed(slow, slow), {}, 0.0) == "first run"
    assert steadiness.cause(keyed(slow[:3]), {}, 0.0) == "unknown", "two runs say nothing of a first"


def test_processes_that_are_steady_by_themselves_differ_from_one_another() -> None:
    assert steadiness.cause(keyed(STEADY, [v * 1.1 for v in STEADY]), {}, 0.0) == "processes"
    assert steadiness.cause(keyed(STEADY, SHAKY), {}, 0.0) == "unknown"


@pytest.mark.parametrize("step", [500.0, -500.0])
def test_times_that_go_one_way_drift(step: float) -> None:
    assert steadiness.cause(keyed([25_000.0 + step * r for r in range(10)]), {}, 0.0) == "drift"
    assert steadiness.cause(keyed([25_000.0 + step * r for r in range(6)]), {}, 0.0) == "unknown", (
        "too few for an order"
    )


def test_one_run_that_stands_apart_is_told() -> None:
    assert steadiness.cause(keyed([*STEADY[:5], 26_000.0, *STEADY[6:]]), {}, 0.0) == "one run"


def test_a_deviation_of_two_ticks_is_the_timers_and_what_is_left_of_a_small_kernel_its_launch() -> None:
    small = keyed([value / 10 for value in SHAKY])
    assert steadiness.cause(small, {}, 64.0) == "tick"
    assert steadiness.cause(small, {}, 60.0) == "small"
    assert steadiness.cause(small, {}, 0.0) == "small"
    assert steadiness.cause(keyed(SHAKY), {}, 60.0) == "unknown"
