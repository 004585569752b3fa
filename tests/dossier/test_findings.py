"""What findings have in common: one fact said once, each figure with its source, never two that contradict."""

from __future__ import annotations

from typing import Any

import pytest

from reportgen.analysis.derive import TIME
from reportgen.dossier import findings
from reportgen.dossier.declared import Declared
from reportgen.dossier.model import Figure
from tests.analysis.building import CLOCK, DRAM, READ, SM, Row, runs
from tests.dossier.evidence import evidence, figures, found, said

SLOW, FAST = [4000.0, 4100.0, 3900.0], [1000.0, 1010.0, 990.0]


def two(slow: list[Any], fast: list[Any], metric: str = TIME, **over: Any) -> list[Row]:
    return [*runs({metric: slow}, annotation="fp32", **over), *runs({metric: fast}, annotation="fp16", **over)]


def test_what_two_backends_show_is_said_once_with_the_figures_of_each() -> None:
    rows = [*two(SLOW, FAST), *two(SLOW, [2 * time for time in FAST], backend="cupti")]
    (got,) = said(evidence(rows), "fastest")
    assert got == (
        "cold cache (default): fp16 is the fastest. "
        "ncu: 1.000 us, 4.00 times as fast as fp32 (95 % CI 3.85 to 4.15), n = 3 paired runs; "
        "CUPTI: 2.00 us, 2.00 times as fast as fp32 (95 % CI 1.93 to 2.08), n = 3 paired runs."
    )


def test_what_two_scenarios_show_is_said_once_too() -> None:
    rows = [*two(SLOW, FAST, scenario="continuous"), *two(SLOW, FAST)]
    (got,) = said(evidence(rows), "fastest")
    assert got.startswith("ncu: fp16 is the fastest. cold cache (default): 1.000 us,")
    assert "; warm cache (continuous): 1.000 us," in got


def test_backends_that_differ_are_each_said_under_their_own_name_in_one_finding() -> None:
    rows = [*two(SLOW, FAST), *two(FAST, SLOW, backend="cupti")]
    (got,) = said(evidence(rows), "fastest")
    assert "ncu: fp16 is the fastest: 1.000 us, 4.00 times as fast as fp32" in got
    assert "; CUPTI: fp32 is the fastest: 1.000 us, 4.00 times as fast as fp16" in got


def test_beyond_four_groups_those_that_say_the_same_are_only_named() -> None:
    rows = [row for scenario in ("a", "b", "c", "d", "e", "f") for row in two(SLOW, FAST, scenario=scenario)]
    (got,) = said(evidence(rows), "fastest")
    assert got.count("times as fast") == 4
    assert got.endswith("; and so under scenario e and scenario f.")


def test_nothing_is_said_across_backends_scenarios_or_workloads() -> None:
    rows = [
        *runs({TIME: SLOW, READ: [3e8] * 3}, annotation="a", scenario="default"),
        *runs({TIME: FAST, READ: [1e8] * 3}, annotation="b", scenario="strict"),
        *runs({TIME: FAST, READ: [1e8] * 3}, annotation="b", workload="range"),
        *runs({TIME: FAST}, annotation="b", backend="cupti"),
    ]
    assert not {finding.rule for finding in found(evidence(rows))} & {"fastest", "fused", "error"}


def test_each_finding_names_its_benchmark_and_workload_where_there_are_several() -> None:
    rows = [
        *two(SLOW, FAST, benchmark="one"),
        *two(FAST, SLOW, benchmark="two"),
        *two(FAST, SLOW, benchmark="two", scenario="strict", workload="range"),
    ]
    got = said(evidence(rows), "fastest")
    assert [text[: text.index(" is the fastest")] for text in got] == [
        "one, ncu, by kernel, cold cache (default): fp16",
        "two, ncu: fp32",
    ]
    assert "by range, cold cache, base clocks (strict): 1.000 us" in got[1]


def test_the_strongest_stand_first_and_only_so_many() -> None:
    rows = [row for i in range(9) for row in two([t * (i + 1) for t in SLOW], FAST, benchmark=f"b{i}")]
    got = said(evidence(rows), most=findings.MOST)
    assert len(got) == findings.MOST
    assert got[0].startswith("b8, ")


def test_of_one_rule_there_are_four_where_others_have_something_to_say() -> None:
    rows = [row for i in range(9) for row in two([t * (i + 1) for t in SLOW], FAST, benchmark=f"b{i}")]
    rows += [row for n, c in ((1, 1.98e9), (2, 1.7e9)) for row in runs({TIME: [1.0], CLOCK: [c]}, n=n, benchmark="c")]
    got = [finding.rule for finding in found(evidence(rows), most=5)]
    assert got == ["fastest"] * 4 + ["clock"]


def test_what_the_reader_asks_first_stands_first() -> None:
    """The suite's own comparison comes before what a rule finds by itself."""
    rows = [*two(SLOW, FAST, benchmark="asked"), *two([10 * t for t in SLOW], FAST, benchmark="other")]
    of = evidence(rows, {"asked": Declared("asked", baseline="fp32")})
    assert said(of, "fastest")[0].startswith("asked, ")


def test_what_limits_leads_to_its_own_part_where_there_is_one() -> None:
    of = evidence(runs({TIME: [1.0] * 3, SM: [80.0] * 3, DRAM: [5.0] * 3}))
    assert [f.target for f in findings.find(of, why=True) if f.rule == "limited"] == ["g0-why"]
    assert [f.target for f in findings.find(of, why=False) if f.rule == "limited"] == ["g0"]


def test_a_rule_says_one_thing_of_a_benchmark() -> None:
    rows = [
        row
        for n in (1, 2, 3)
        for backend in ("ncu", "cupti")
        for row in two(SLOW, FAST, n=n, backend=backend, scenario="default")
    ]
    got = [finding.rule for finding in found(evidence(rows))]
    assert len(got) == len(set(got))
    assert "reached" not in got, "what is compared is not said again by itself"


@pytest.mark.parametrize("apart", [True, False])
def test_annotations_that_do_different_work_are_not_set_against_each_other(apart: bool) -> None:
    of = evidence(two(SLOW, FAST), Declared("square", apart=apart))
    assert bool(said(of, "fastest")) != apart


def test_names_that_cannot_be_seen_are_made_visible() -> None:
    rows = two(SLOW, FAST, **{"n\u202e": "x\x07", "scenario": "s\u202e"})
    (text,) = said(evidence(rows), "fastest")
    assert "at nU+202E = xU+0007" in text
    assert "scenario sU+202E" in text


def test_no_figure_is_without_a_source_and_no_word_holds_a_digit() -> None:
    rows = [row for n in (1, 2, 3) for row in two(SLOW, FAST, n=n)]
    rows += [row for n in (1, 2, 3) for row in runs({TIME: [1.0] * 3, SM: [80.0] * 3, DRAM: [5.0] * 3}, n=n)]
    for finding in found(evidence(rows)):
        assert all(one.source for one in figures(finding))
        words = "".join(part for part in finding.sentence if isinstance(part, str)).replace("95\u00a0% CI", "")
        assert not any(letter.isdigit() for letter in words), words
        assert any(isinstance(part, Figure) for part in finding.sentence)
