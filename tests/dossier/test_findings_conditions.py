"""The rules on what a measurement ran under: clocks, load, what varies and why, what measuring took."""

from __future__ import annotations

from typing import Any

import pytest

from reportgen.analysis.derive import TIME
from reportgen.dossier.declared import Declared
from reportgen.evidence.sensed import Process, Reading, Region, Sensed
from tests.analysis.building import CLOCK, Row, runs
from tests.dossier.evidence import evidence, figures, found, said

CYCLES, POWER, NVML = "gpc__cycles_elapsed.max", "nvml__power", "nvml__sm_clock"
CAP = 0x4


def at_clocks(*clocks: Any, metric: str = CLOCK, **over: Any) -> list[Row]:
    return [row for n, c in enumerate(clocks, 1) for row in runs({TIME: [1.0], metric: [c]}, n=n, **over)]


def regions(masks: dict[tuple[int, int], int], **params: str) -> Sensed:
    return Sensed(
        tuple(
            Region("ncu", "default", p, "square", "fp32", params, r, Reading(), Reading(throttle=mask))
            for (p, r), mask in masks.items()
        )
    )


# --- rated against observed


@pytest.mark.parametrize(
    ("clocks", "told"),
    [
        ([1.98e9, 1.755e9], True),
        ([1.98e9, 1.96e9], False),
        ([1.98e9], False),
        ([1.98e9, 0.0], False),
        ([1.98e9, "gone"], False),
    ],
)
def test_a_clock_that_moved_is_told(clocks: list[Any], told: bool) -> None:
    got = said(evidence(at_clocks(*clocks)), "clock")
    assert bool(got) == told
    if told:
        assert got == [
            (
                "ncu, cold cache (default): The SMs did not run at one clock; times of different rows compare the clock too: "
                "1 755 MHz in fp32 at n = 2, 1 980 MHz in fp32 at n = 1."
            )
        ]


def test_a_clock_below_the_rated_one_is_told_with_the_rated_one() -> None:
    of = evidence(at_clocks(1.5e9, 1.51e9), clocks__sm_rated_hz=1.98e9)
    assert said(of, "clock") == [
        (
            "ncu, cold cache (default): The SMs ran below their rated clock of 1 980 MHz; times of different rows compare the clock too: "
            "1 500 MHz in fp32 at n = 1."
        )
    ]
    assert figures(found(of, "clock")[0])[0].source == "provenance:clocks.sm_rated_hz"
    assert not said(evidence(at_clocks(1.95e9), clocks__sm_rated_hz=1.98e9), "clock")


def test_power_and_what_held_the_gpu_back_are_told_with_the_clock() -> None:
    rows = runs({TIME: [1.0], CLOCK: [1.5e9], POWER: [690.0]}, n=8)
    for row in rows:
        row["unit"] = "W" if row["metric"] == POWER else row["unit"]
    of = evidence(rows, sensed=regions({(0, 0): CAP}, n="8"), clocks__sm_rated_hz=1.98e9)
    assert "1 500 MHz and 690 W in fp32 at n = 8 (held back: software power cap)." in said(of, "clock")[0]
    other = evidence(rows, sensed=regions({(0, 0): CAP}, n="4"), clocks__sm_rated_hz=1.98e9)
    assert "held back" not in said(other, "clock")[0], "another configuration was held back"


def test_a_clock_read_after_the_run_stands_in_for_one_that_was_not_counted() -> None:
    assert "1 500 MHz in fp32" in said(evidence(at_clocks(1.5e9, metric=NVML), clocks__sm_rated_hz=1.98e9), "clock")[0]


# --- bursts beside load


def heated(**times: list[float]) -> list[Row]:
    return [row for name, time in times.items() for row in runs({TIME: time}, n=8, benchmark=name)]


DECLARED = {"cool": Declared("cool", heat="burst"), "hot": Declared("hot", heat="sustained")}


def test_bursts_stand_beside_sustained_load_and_nothing_is_computed_from_one_to_the_other() -> None:
    of = evidence(heated(cool=[1400.0] * 3, hot=[1600.0] * 3), DECLARED)
    assert said(of, "heat") == [
        (
            "ncu, cold cache (default): fp32 at n = 8 stands in bursts beside sustained load. "
            "cool: in bursts 1.400 us; hot: sustained 1.600 us."
        )
    ]
    assert not any("ratio" in one.source for one in figures(found(of, "heat")[0]))
    assert not [text for text in said(of, "reached") if text.startswith("hot")], "it is not said again by itself"


def test_another_configuration_backend_or_heat_does_not_stand_beside() -> None:
    other = [*runs({TIME: [1400.0] * 3}, n=4, benchmark="cool"), *runs({TIME: [1600.0] * 3}, n=8, benchmark="hot")]
    assert not said(evidence(other, DECLARED), "heat")
    backends = [*runs({TIME: [1.0]}, benchmark="cool"), *runs({TIME: [1.0]}, benchmark="hot", backend="cupti")]
    assert not said(evidence(backends, DECLARED), "heat")
    assert not said(evidence(heated(cool=[1.0], hot=[1.0])), "heat")
    failed = [*runs({TIME: ["boom"]}, n=8, benchmark="cool"), *runs({TIME: [1600.0]}, n=8, benchmark="hot")]
    assert not said(evidence(failed, DECLARED), "heat")


# --- what varies


SHAKY = [20_000.0, 21_500.0, 19_000.0, 21_000.0, 18_800.0, 21_900.0, 19_400.0, 18_500.0, 21_700.0, 19_700.0]


def test_what_varies_is_told_with_its_likely_cause() -> None:
    rows = [
        *runs({TIME: SHAKY, CYCLES: [30_000.0] * 10}, n=1),
        *runs({TIME: [value / 10 for value in SHAKY]}, n=2),
        *runs({TIME: [20_000.0 + 500 * r for r in range(10)]}, n=3),
    ]
    assert said(evidence(rows), "unstable") == [
        (
            "ncu, cold cache (default): Unstable rows vary for a likely cause: fp32 at n = 1 (6.3 %) by the SM clock, as their cycles did not vary, "
            "fp32 at n = 2 (6.3 %) by a launch, taking under 10 us, fp32 at n = 3 (6.8 %) by a drift over the runs."
        )
    ]


def test_the_gpu_that_was_held_back_is_a_cause() -> None:
    of = evidence(runs({TIME: SHAKY}, n=1), sensed=regions({(0, r): CAP for r in range(10)}, n="1"))
    assert "by power or heat that held the GPU back." in said(of, "unstable")[0]


def test_steady_rows_and_those_that_nothing_explains_are_not_mentioned() -> None:
    assert not said(evidence(runs({TIME: [100.0, 100.5, 101.0]})), "unstable")
    assert not said(evidence(runs({TIME: SHAKY})), "unstable")


def test_of_many_rows_with_one_cause_the_most_unstable_are_named() -> None:
    rows = [row for n in range(1, 5) for row in runs({TIME: [100.0, 100.0 + n, 100.0 + 4 * n]}, n=n + 1)]
    (text,) = said(evidence(rows), "unstable")
    assert "fp32 at n = 5 (7.8 %), fp32 at n = 4 (5.9 %) and 2 more by a launch" in text


# --- what measuring took


def test_what_measuring_took_stands_for_each_backend() -> None:
    processes = [Process("ncu", "default", 0, 40.0, 250, Reading(), Reading())]
    processes += [Process("cupti", "default", p, 1.5, 250, Reading(), Reading()) for p in range(3)]
    rows = [*runs({TIME: [1.0]}), *runs({TIME: [1.0]}, backend="cupti")]
    of = evidence(rows, sensed=Sensed((), tuple(processes)))
    assert said(of, "cost") == [
        (
            "Measuring took its time, start-up left out. ncu: 40 s for 250 regions in 1 process; "
            "CUPTI: 4.500 s for 750 regions in 3 processes."
        )
    ]
    assert found(of, "cost")[0].target == "method"


def test_one_backend_has_nothing_to_stand_beside() -> None:
    one = Sensed((), (Process("ncu", "default", 0, 40.0, 250, Reading(), Reading()),))
    assert not said(evidence(runs({TIME: [1.0]}), sensed=one), "cost")
    assert not said(evidence([*runs({TIME: [1.0]}), *runs({TIME: [1.0]}, backend="cupti")]), "cost")
