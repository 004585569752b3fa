from __future__ import annotations

import math
import statistics as plain
from typing import Any

import pytest
from scipy import stats

from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Group
from reportgen.dossier import findings
from reportgen.dossier.model import Figure, Finding
from reportgen.dossier.text import plain as said
from reportgen.evidence.bundle import Formula
from tests.analysis.building import CLOCK, DRAM, READ, SM, Row, grouped, run, runs

SLOW, FAST = [4000.0, 4100.0, 3900.0], [1000.0, 1010.0, 990.0]


def found(groups: tuple[Group, ...], rule: str = "", why: bool = False) -> list[Finding]:
    got = findings.find([(g, f"g{i}") for i, g in enumerate(groups)], why)
    return [f for f in got if rule in {"", f.rule}]


def sentence(finding: Finding) -> str:
    return said(finding.sentence).replace("\u00a0", " ").replace("\u202f", " ")


def figures(finding: Finding) -> dict[str, Figure]:
    return {p.source.partition("(")[0]: p for p in finding.sentence if isinstance(p, Figure)}


def two(slow: list[Any], fast: list[Any], metric: str = TIME, **over: Any) -> list[Row]:
    return [*runs({metric: slow}, annotation="fp32", **over), *runs({metric: fast}, annotation="fp16", **over)]


# --- fastest


def test_the_fastest_is_named_with_its_ratio_interval_and_how() -> None:
    (got,) = found(grouped(two(SLOW, FAST, n=2048)), "fastest")
    logs = [math.log(a / b) for a, b in zip(SLOW, FAST, strict=True)]
    half = stats.t.ppf(0.975, 2) * plain.stdev(logs) / math.sqrt(3)
    ratio = figures(got)
    assert ratio["ratio"].value == pytest.approx(math.exp(plain.mean(logs)))
    assert ratio["ratio_low"].value == pytest.approx(math.exp(plain.mean(logs) - half))
    assert ratio["ratio_high"].value == pytest.approx(math.exp(plain.mean(logs) + half))
    text = sentence(got)
    assert text.startswith("fp16 takes 1.000 us at n = 2048, 4.00 times as fast as fp32 (95 % CI 3.85 to 4.15, ")
    assert text.endswith("n = 3 paired runs, ncu, scenario default).")


def test_the_fastest_is_that_of_the_largest_configuration_however_the_samples_are_ordered() -> None:
    rows = [row for n, ratio in ((2048, 4), (512, 2), (1024, 3)) for row in two([ratio * t for t in FAST], FAST, n=n)]
    (got,) = found(grouped(rows), "fastest")
    assert "at n = 2048, 4 times as fast" in sentence(got)


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
    assert not found(grouped(two(slow, fast, n=2048)), "fastest")


def test_a_difference_under_two_ticks_is_no_difference() -> None:
    others = runs({TIME: [32.0 * k for k in (101, 102, 103, 205, 207, 301, 303)]}, annotation="x", n=1)
    one = [*others, *two([352.0] * 3, [320.0] * 3, n=2)]
    two_ticks = [*others, *two([384.0] * 3, [320.0] * 3, n=2)]
    assert not found(grouped(one), "fastest")
    assert found(grouped(two_ticks), "fastest")


def test_over_three_processes_the_ratio_is_over_them() -> None:
    rows = [row for p in range(3) for row in two([t + p for t in SLOW], [t + p for t in FAST], process=p)]
    (got,) = found(grouped(rows), "fastest")
    assert "n = 3 paired processes, ncu" in sentence(got)


def test_a_speed_is_told_with_the_fastest() -> None:
    flops = Formula("TFLOP/s", "2*n**3 / time / 1e12", "TFLOP/s")
    (got,) = found(grouped(two(SLOW, FAST, n=1024), [flops]), "fastest")
    assert "fp16 takes 1.000 us and reaches 2 148 TFLOP/s at n = 1024" in sentence(got)


# --- limited


def test_what_limits_is_told_at_the_configuration_where_it_was_seen() -> None:
    rows = [
        row
        for annotation, largest in (("a", 3), ("b", 4))
        for n in range(1, largest + 1)
        for row in runs({TIME: [1.0], SM: [20.0 * n], DRAM: [5.0]}, annotation=annotation, n=n)
    ]
    (got,) = found(grouped(rows), "limited")
    text = sentence(got)
    assert "a at n = 3 by compute (SM 60 %, DRAM 5 %)" in text
    assert "b at n = 4 by compute (SM 80 %, DRAM 5 %)" in text
    same = found(grouped([r for r in rows if r["param:n"] != "4"]), "limited", why=True)
    assert sentence(same[0]).startswith("What limits it at n = 3: a by compute")
    assert same[0].target == "g0-why"


def test_a_throughput_that_is_missing_says_nothing() -> None:
    assert not found(grouped(runs({TIME: [1.0], SM: [99.0]})), "limited")
    assert not found(grouped(runs({TIME: [1.0], DRAM: [99.0]})), "limited")
    assert not found(grouped(runs({TIME: [1.0], SM: ["not there"], DRAM: [99.0]})), "limited")


def test_many_annotations_are_counted_with_a_source() -> None:
    rows = [row for i in range(6) for row in runs({TIME: [1.0], SM: [10.0], DRAM: [9.0]}, annotation=f"a{i}")]
    (got,) = found(grouped(rows), "limited")
    assert "a3 by latency (SM 10 %, DRAM 9 %), and 2 more below" in sentence(got)
    assert "a4" not in sentence(got)


# --- fused


def pair(separate: list[Any], fused: list[Any], kernels: int = 3, **over: Any) -> list[Row]:
    rows = []
    for index in range(len(fused)):
        for k in range(kernels):
            rows += run({TIME: 100.0, READ: separate[index] / kernels}, index, k, annotation="separate", **over)
        rows += run({TIME: 150.0, READ: fused[index]}, index, 0, annotation="fused", **over)
    return rows


def test_fewer_bytes_in_fewer_kernels_are_told() -> None:
    (got,) = found(grouped(pair([300e6, 303e6, 297e6], [100e6, 101e6, 99e6])), "fused")
    text = sentence(got)
    assert "fused reads 100 MB from DRAM where separate reads 300 MB" in text.replace("100.0", "100").replace(
        "300.0", "300"
    )
    assert "66.67 % fewer, in 1 kernel instead of 3 (n = 3 runs, ncu, scenario default)" in text
    assert figures(got)["share_saved"].value == pytest.approx(200 / 3)


@pytest.mark.parametrize(
    ("separate", "fused", "kernels"),
    [
        ([300e6], [100e6], 3),  # one run
        ([0.0] * 3, [0.0] * 3, 3),  # a warm cache: nothing read at all
        ([300e6] * 3, [0.0] * 3, 3),  # no ratio to nothing
        ([101e6] * 3, [100e6] * 3, 3),  # under 3 %
        ([300e6] * 3, [100e6] * 3, 1),  # as many kernels
        ([300e6, 90e6, 150e6], [100e6, 100e6, 100e6], 3),  # the interval holds 1
    ],
)
def test_nothing_is_fused_without_evidence(separate: list[float], fused: list[float], kernels: int) -> None:
    assert not found(grouped(pair(separate, fused, kernels)), "fused")


def test_split_k_is_no_lack_of_fusion() -> None:
    rows = [*pair([300e6] * 3, [100e6] * 3, 2, n=1), *pair([300e6] * 3, [100e6] * 3, 1, n=2)]
    assert not found(grouped(rows), "fused")


# --- several kernels, one region, alone, clocks


def test_split_k_is_told_where_it_is() -> None:
    rows: list[Row] = []
    for n, kernels in ((256, 2), (512, 2), (1024, 1), (2048, 1)):
        for k in range(kernels):
            rows += run({TIME: 10.0}, 0, k, n=n)
    (got,) = found(grouped(rows), "several-kernels")
    assert sentence(got).startswith("fp32 launches 2 kernels at n = 256 and n = 512 and 1 elsewhere;")


def test_counts_of_kernels_are_those_that_were_seen() -> None:
    rows: list[Row] = []
    for n, kernels in ((1, 3), (2, 2), (3, 4), (4, 4), (5, 4), (6, 4), (7, 5)):
        for k in range(kernels):
            rows += run({TIME: 10.0}, 0, k, n=n)
    (got,) = found(grouped(rows), "several-kernels")
    assert sentence(got).startswith(
        "fp32 launches 3 to 5 kernels at n = 1, n = 3, n = 4, n = 5 and 2 configurations more and 2 elsewhere;"
    )


def test_as_many_kernels_everywhere_say_nothing_of_several() -> None:
    rows = [row for n in (1, 2, 3) for k in (0, 1) for row in run({TIME: 1.0}, 0, k, n=n)]
    assert not found(grouped(rows), "several-kernels")


def test_a_region_of_several_kernels_is_told_with_its_sum_and_its_place() -> None:
    rows = [row for n in (1, 2) for r in range(3) for k in range(6) for row in run({TIME: 100.0 * n}, r, k, n=n)]
    got = [sentence(f) for f in found(grouped(rows), "region")]
    assert got == [
        "fp32 takes 600 ns at n = 1 in 6 kernels (sum of kernel times, n = 3 runs, ncu, scenario default).",
        "fp32 takes 1.200 us at n = 2 in 6 kernels (sum of kernel times, n = 3 runs, ncu, scenario default).",
    ]


def test_the_largest_of_a_sweep_without_rivals_is_told() -> None:
    rows = [row for n in (4, 1, 2) for row in runs({TIME: [1000.0 * n] * 3}, n=n)]
    (got,) = found(grouped(rows), "alone")
    assert sentence(got) == "fp32 takes 4.000 us at n = 4 (n = 3 runs, ncu, scenario default)."
    assert not found(grouped([*rows, *runs({TIME: [1.0] * 3}, annotation="b", n=1)]), "alone")


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
    rows = [row for n, c in enumerate(clocks) for row in runs({TIME: [1.0], CLOCK: [c]}, n=n + 1)]
    got = [sentence(f) for f in found(grouped(rows), "clock")]
    assert bool(got) == told
    if told:
        assert "from 1 755 MHz to 1 980 MHz over the rows" in got[0]


# --- all together


def test_nothing_is_said_across_backends_or_scenarios() -> None:
    rows = [
        *runs({TIME: SLOW, READ: [3e8] * 3}, annotation="a", scenario="default"),
        *runs({TIME: FAST, READ: [1e8] * 3}, annotation="b", scenario="strict"),
        *runs({TIME: FAST}, annotation="b", backend="cupti"),
    ]
    assert found(grouped(rows)) == []


def test_each_finding_names_its_backend_and_scenario_and_its_benchmark_where_there_are_several() -> None:
    rows = [
        *two(SLOW, FAST, benchmark="one"),
        *two(FAST, SLOW, benchmark="two"),
        *two(FAST, SLOW, benchmark="two", scenario="strict", workload="range"),
    ]
    got = [sentence(f) for f in found(grouped(rows), "fastest")]
    assert [s[: s.index(" takes")] for s in got] == [
        "one, by kernel: fp16",
        "two, by kernel: fp32",
        "two, by range: fp32",
    ]
    assert [s.rpartition(", ")[2] for s in got] == ["scenario default).", "scenario default).", "scenario strict)."]


def test_two_findings_never_contradict() -> None:
    rows = [row for n in (1, 2, 3) for row in [*pair([3e8] * 3, [1e8] * 3, n=n), *two(SLOW, FAST, n=n)]]
    got = found(grouped(rows))
    rules = [f.rule for f in got]
    assert len(rules) == len(set(rules)), "a rule says one thing of a group"
    assert "alone" not in rules
    assert "region" not in rules


def test_the_strongest_stand_first_and_only_so_many() -> None:
    rows = [row for i in range(9) for row in two([t * (i + 1) for t in SLOW], FAST, benchmark=f"b{i}")]
    got = found(grouped(rows))
    assert len(got) == findings.MOST
    assert sentence(got[0]).startswith("b8: ")


def test_names_that_cannot_be_seen_are_made_visible() -> None:
    rows = [*two(SLOW, FAST, **{"n\u202e": "x\x07", "scenario": "s\u202e"})]
    text = sentence(found(grouped(rows), "fastest")[0])
    assert "at nU+202E = xU+0007" in text
    assert "scenario sU+202E" in text


def test_no_figure_is_without_a_source() -> None:
    rows = [row for n in (1, 2, 3) for row in [*pair([3e8] * 3, [1e8] * 3, n=n), *two(SLOW, FAST, n=n)]]
    for finding in found(grouped(rows)):
        for part in finding.sentence:
            if isinstance(part, Figure):
                assert part.source
