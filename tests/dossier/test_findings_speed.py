"""The rules on speed: the fastest, what it costs in error, what is reached where nothing is compared, and split kernels."""

from __future__ import annotations

import math
import statistics as plain
from typing import Any

import pytest
from scipy import stats

from reportgen.analysis.derive import TIME
from reportgen.dossier.declared import Declared
from reportgen.evidence.bundle import Formula
from tests.analysis.building import DRAM, SM, Row, run, runs
from tests.dossier.evidence import by_function, evidence, figures, found, said

SLOW, MIDDLE, FAST = [4000.0, 4100.0, 3900.0], [2000.0, 2010.0, 1990.0], [1000.0, 1010.0, 990.0]
FLOPS = Formula("TFLOP/s", "2*n**3 / time / 1e12", "TFLOP/s")


def two(slow: list[Any], fast: list[Any], **over: Any) -> list[Row]:
    return [*runs({TIME: slow}, annotation="fp32", **over), *runs({TIME: fast}, annotation="fp16", **over)]


def three(slow: list[Any], middle: list[Any], fast: list[Any], **over: Any) -> list[Row]:
    return [*two(slow, fast, **over), *runs({TIME: middle}, annotation="tf32", **over)]


# --- the fastest


def test_the_fastest_is_named_with_its_ratio_interval_and_how() -> None:
    (got,) = found(evidence(two(SLOW, FAST, n=2048)), "fastest")
    logs = [math.log(a / b) for a, b in zip(SLOW, FAST, strict=True)]
    half = stats.t.ppf(0.975, 2) * plain.stdev(logs) / math.sqrt(3)
    ratio = by_function(got)
    assert ratio["ratio"].value == pytest.approx(math.exp(plain.mean(logs)))
    assert ratio["ratio_low"].value == pytest.approx(math.exp(plain.mean(logs) - half))
    assert ratio["ratio_high"].value == pytest.approx(math.exp(plain.mean(logs) + half))
    assert said(evidence(two(SLOW, FAST, n=2048)), "fastest") == [
        (
            "ncu, cold cache (default): fp16 is the fastest at n = 2048: "
            "1.000 us, 4.00 times as fast as fp32 (95 % CI 3.85 to 4.15), n = 3 paired runs."
        )
    ]


def test_it_stands_beside_the_baseline_and_the_next_and_its_interval_says_that_it_was_chosen() -> None:
    of = evidence(three(SLOW, MIDDLE, FAST), Declared("square", baseline="fp32"))
    (text,) = said(of, "fastest")
    assert "4.00 times as fast as fp32 (95 % CI 3.79 to 4.22) and 2.00 times as fast as tf32 (1.96 to 2.04)" in text
    (got,) = found(of, "fastest")
    assert [one.source.rpartition(",")[2] for one in figures(got) if one.source.startswith("ratio_low")] == ["2)", "2)"]


def test_a_baseline_that_is_itself_the_fastest_stands_beside_the_slowest_and_the_next() -> None:
    (text,) = said(evidence(three(SLOW, MIDDLE, FAST), Declared("square", baseline="fp16")), "fastest")
    assert "fp16 is the fastest: 1.000 us, 4.00 times as fast as fp32" in text
    assert " and 2.00 times as fast as tf32" in text


def test_who_cannot_be_told_from_the_fastest_is_named_with_it() -> None:
    of = evidence(three(SLOW, [1001.0, 1009.0, 992.0], FAST), Declared("square", baseline="fp32"))
    (text,) = said(of, "fastest")
    assert "fp16 is the fastest, not to be told from tf32: 1.000 us, 4.00 times as fast as fp32" in text
    assert "times as fast as tf32" not in text


@pytest.mark.parametrize(
    ("slow", "fast"),
    [
        ([4000.0], [1000.0]),  # one run
        ([4000.0, 4100.0], [1000.0, 1010.0]),  # two
        ([1020.0, 1010.0, 990.0], [1000.0, 1010.0, 990.0]),  # the interval holds 1
        ([1500.0, 900.0, 1400.0], [1000.0, 1010.0, 990.0]),  # as well
        ([1010.0, 1011.0, 1012.0], [1000.0, 1001.0, 1002.0]),  # under 3 %
        (["boom"] * 3, [1000.0, 1010.0, 990.0]),  # no rival
    ],
)
def test_nothing_is_the_fastest_without_evidence(slow: list[Any], fast: list[Any]) -> None:
    assert not said(evidence(two(slow, fast, n=2048)), "fastest")


def test_a_difference_under_two_ticks_is_no_difference() -> None:
    others = runs({TIME: [32.0 * k for k in (101, 102, 103, 205, 207, 301, 303)]}, annotation="x", n=1)
    one = [*others, *two([352.0] * 3, [320.0] * 3, n=2)]
    two_ticks = [*others, *two([384.0] * 3, [320.0] * 3, n=2)]
    assert not said(evidence(one), "fastest")
    assert said(evidence(two_ticks), "fastest")


def test_over_three_processes_the_ratio_is_over_them() -> None:
    rows = [row for p in range(3) for row in two([t + p for t in SLOW], [t + p for t in FAST], process=p)]
    (text,) = said(evidence(rows), "fastest")
    assert text.endswith("n = 3 paired processes.")


def test_the_largest_configuration_is_told_and_over_which_others_it_is_so() -> None:
    rows = [row for n, ratio in ((2048, 4), (512, 2), (1024, 3)) for row in two([ratio * t for t in FAST], FAST, n=n)]
    (everywhere,) = said(evidence(rows), "fastest")
    assert "at n = 2048: 1.000 us, 4 times as fast" in everywhere
    assert everywhere.endswith("n = 3 paired runs, and so at every other n.")
    (part,) = said(evidence([*rows, *two(FAST, SLOW, n=256)]), "fastest")
    assert part.endswith(", and so from n = 512 on.")
    (alone,) = said(evidence([*rows, *two(FAST, SLOW, n=4096), *two(SLOW, FAST, n=8192)]), "fastest")
    assert alone.endswith("n = 3 paired runs.")


def test_a_speed_is_told_with_the_fastest_and_sizes_in_their_unit() -> None:
    of = evidence(two(SLOW, FAST, n=1024), Declared("square", units={"n": "byte"}), [FLOPS])
    (text,) = said(of, "fastest")
    assert "at n = 1 KiB: 1.000 us, 2 148 TFLOP/s, 4.00 times as fast" in text


# --- what speed costs


def precision(name: str, time: float, error: float) -> list[Row]:
    spread = (1.0, 1.001, 0.999)
    return runs({TIME: [time * s for s in spread], "relative error": [error * s for s in spread]}, annotation=name)


def test_what_speed_costs_is_told_against_the_baseline_the_fastest_last() -> None:
    rows = [*precision("fp32", 1600.0, 1e-6), *precision("fp8", 100.0, 2e-2), *precision("fp16", 200.0, 1e-4)]
    of = evidence(rows, Declared("square", baseline="fp32"))
    assert said(of, "error") == [
        (
            "ncu, cold cache (default): Speed is bought with relative error, set against fp32: "
            "fp16 8 times as fast with 100 times the error (0.0001000) "
            "and fp8 16 times as fast with 20 000 times the error (0.02000)."
        )
    ]
    (got,) = found(of, "error")
    ratios = [one.value for one in figures(got) if one.source.startswith("ratio(")]
    assert ratios == pytest.approx([8.0, 100.0, 16.0, 20_000.0])


def test_without_a_baseline_what_is_most_exact_is_one() -> None:
    rows = [*precision("fp16", 200.0, 1e-4), *precision("fp32", 1600.0, 1e-6)]
    (text,) = said(evidence(rows), "error")
    assert "set against fp32" in text


def test_speed_that_costs_nothing_and_errors_of_different_work_say_nothing() -> None:
    rows = [*precision("fp32", 1600.0, 1e-6), *precision("fp16", 200.0, 1e-6)]
    assert not said(evidence(rows), "error")
    rows = [*precision("fp32", 1600.0, 1e-6), *precision("fp16", 200.0, 1e-4)]
    assert not said(evidence(rows, Declared("square", apart=True)), "error")
    assert not said(evidence(two(SLOW, FAST)), "error")


# --- what is reached


def test_the_largest_of_a_sweep_without_rivals_is_told() -> None:
    rows = [row for n in (4, 1, 2) for row in runs({TIME: [1000.0 * n] * 3}, n=n)]
    assert said(evidence(rows), "reached") == [
        "ncu, cold cache (default): What fp32 takes at n = 4: 4.000 us, n = 3 runs."
    ]


def test_a_region_of_several_kernels_is_told_with_how_many() -> None:
    rows = [row for r in range(3) for k in range(6) for row in run({TIME: 100.0}, r, k)]
    assert said(evidence(rows), "reached") == [
        "ncu, cold cache (default): What fp32 takes: 600 ns in 6 kernels, n = 3 runs."
    ]


def test_what_each_annotation_reaches_is_listed_where_they_do_different_work() -> None:
    rows = [
        *runs({TIME: [1000.0] * 3}, annotation="copy", n=1024),
        *runs({TIME: [2000.0] * 3}, annotation="scale", n=1024),
    ]
    of = evidence(rows, Declared("square", apart=True, main="TFLOP/s", ceiling="compute"), [FLOPS])
    assert said(of, "reached") == [
        (
            "ncu, cold cache (default): What is reached at n = 1024, the measured roof for arithmetic: "
            "copy 1.000 us, 2 147 TFLOP/s, scale 2.000 us, 1 074 TFLOP/s, n = 3 runs."
        )
    ]


def test_what_is_compared_or_limited_is_not_listed_again() -> None:
    assert not said(evidence(two(SLOW, FAST, n=1024), formulas=[FLOPS]), "reached")
    busy = [
        row
        for name in ("copy", "scale")
        for row in runs({TIME: [1000.0] * 3, SM: [80.0] * 3, DRAM: [9.0] * 3}, annotation=name, n=1024)
    ]
    assert not said(evidence(busy, Declared("square", apart=True), [FLOPS]), "reached")
    assert said(evidence(busy, Declared("square", apart=True, main="TFLOP/s"), [FLOPS]), "reached")


def test_what_failed_reaches_nothing() -> None:
    assert not said(evidence(runs({TIME: ["boom"]})), "reached")


# --- split kernels


def test_split_k_is_told_where_it_is() -> None:
    rows = [
        row
        for n, kernels in ((256, 2), (512, 2), (1024, 1), (2048, 1))
        for k in range(kernels)
        for row in run({TIME: 10.0}, 0, k, n=n)
    ]
    (text,) = said(evidence(rows), "kernels")
    assert "fp32 launches 2 kernels at n = 256 and n = 512 and 1 elsewhere;" in text


def test_counts_of_kernels_are_those_that_were_seen() -> None:
    counts = ((1, 3), (2, 2), (3, 4), (4, 4), (5, 4), (6, 4), (7, 5))
    rows = [row for n, kernels in counts for k in range(kernels) for row in run({TIME: 10.0}, 0, k, n=n)]
    (text,) = said(evidence(rows), "kernels")
    assert "fp32 launches 3 to 5 kernels at n = 1, n = 3, n = 4, n = 5 and 2 more and 2 elsewhere;" in text


def test_as_many_kernels_everywhere_say_nothing_of_several() -> None:
    rows = [row for n in (1, 2, 3) for k in (0, 1) for row in run({TIME: 1.0}, 0, k, n=n)]
    assert not said(evidence(rows), "kernels")
