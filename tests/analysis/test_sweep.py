from __future__ import annotations

import pytest

from reportgen.analysis import sweep
from reportgen.analysis.derive import TIME
from reportgen.evidence.bundle import Formula
from tests.analysis.building import Row, grouped, runs

MIB = 1 << 20
L2 = 60 * MIB
RATE = Formula("GB/s", "2 * size / time / 1e9", "GB/s")
SPREAD = (0.999, 1.0, 1.001)


def rates(gb_s: dict[int, float], annotation: str = "copy", spread: tuple[float, ...] = SPREAD) -> list[Row]:
    """Make runs in which a copy of `size` MiB goes at so many GB/s."""
    return [
        row
        for size, rate in gb_s.items()
        for row in runs({TIME: [2 * size * MIB / rate * s for s in spread]}, annotation=annotation, size=size * MIB)
    ]


def broken(values: list[float], shape: sweep.Shape, spread: tuple[float, ...] = SPREAD) -> list[tuple[int, int]]:
    rows = [
        row for n, mean in enumerate(values, 1) for row in runs({TIME: [mean * s for s in spread]}, n=n, annotation="a")
    ]
    (course,) = sweep.courses(grouped(rows)[0], TIME, shape)
    assert [dict(case.params)["n"] for case in course.cases] == list(range(1, len(values) + 1))
    return [(dict(step.before.params)["n"], dict(step.after.params)["n"]) for step in course.breaks]


# --- the expected shape


def test_a_course_breaks_where_it_goes_the_other_way() -> None:
    assert broken([100.0, 200.0, 400.0], "rises") == []
    assert broken([100.0, 200.0, 150.0, 400.0], "rises") == [(2, 3)]
    assert broken([100.0, 200.0, 150.0, 400.0], "falls") == [(1, 2), (3, 4)]
    assert broken([100.0, 101.0, 100.0], "flat") == []
    assert broken([100.0, 101.0, 110.0], "flat") == [(2, 3)]


def test_what_stays_level_breaks_neither_a_rise_nor_a_fall() -> None:
    assert broken([100.0, 200.0, 198.0], "rises") == [], "under 3 %"
    assert broken([100.0, 200.0, 190.0], "rises", (0.9, 1.0, 1.1)) == [], "within the intervals"


def test_without_intervals_or_an_axis_nothing_is_said_of_a_course() -> None:
    single = [row for n in (1, 2, 3) for row in runs({TIME: [100.0 / n]}, n=n)]
    two = [row for n in (1, 2) for row in runs({TIME: [100.0 / n] * 3}, n=n)]
    assert sweep.courses(grouped(single)[0], TIME, "rises") == ()
    assert sweep.courses(grouped(two)[0], TIME, "rises") == ()


# --- leaving the L2


def left(rows: list[Row], l2_bytes: float = L2) -> list[tuple[str, int, int]]:
    found = sweep.leaves_l2(grouped(rows, [RATE])[0], l2_bytes)
    return [
        (one.last.annotation, *(dict(case.params)["size"] // MIB for case in (one.last, one.first))) for one in found
    ]


def test_a_rate_that_falls_where_what_is_moved_outgrows_l2_leaves_it() -> None:
    rows = rates({1: 900.0, 8: 7000.0, 64: 4200.0, 512: 4100.0})
    assert left(rows) == [("copy", 8, 64)]
    assert left([*rows, *rates({1: 800.0, 8: 6000.0, 64: 4000.0, 512: 4000.0}, "scale")]) == [
        ("copy", 8, 64),
        ("scale", 8, 64),
    ]


def test_what_is_moved_is_the_rate_times_the_time() -> None:
    (case,) = grouped(rates({8: 7000.0}), [RATE])[0].cases
    assert sweep.bytes_moved(case.metrics["GB/s"], case.metrics[TIME]) == pytest.approx(16 * MIB, rel=1e-5)


@pytest.mark.parametrize(
    "gb_s",
    [
        {1: 900.0, 8: 4000.0, 64: 4200.0, 512: 4250.0},  # cold: it only rises
        {1: 7000.0, 2: 4000.0, 4: 3900.0, 8: 3900.0},  # falls well within L2: something else
        {64: 7000.0, 128: 4000.0, 256: 3900.0},  # falls beyond L2: something else
        {1: 900.0, 8: 4400.0, 64: 4200.0, 512: 4100.0},  # a few percent
        {1: 900.0, 8: 7000.0, 64: 4200.0, 512: 6900.0},  # rises again
        {8: 7000.0, 64: 4200.0},  # two sizes are no sweep
    ],
)
def test_a_sweep_that_does_not_show_it_says_nothing_of_l2(gb_s: dict[int, float]) -> None:
    assert left(rates(gb_s)) == []


def test_without_intervals_a_rate_or_the_size_of_l2_nothing_is_said_of_it() -> None:
    shown = {1: 900.0, 8: 7000.0, 64: 4200.0, 512: 4100.0}
    assert left(rates(shown, spread=(1.0,))) == []
    assert left(rates(shown), 0.0) == []
    assert left(rates(shown), float("nan")) == []
    assert sweep.leaves_l2(grouped(rates(shown))[0], L2) == ()
