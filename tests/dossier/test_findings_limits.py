"""The rules on what limits a kernel and on what fusion saves."""

from __future__ import annotations

from typing import Any

import pytest

from reportgen.analysis.derive import TIME
from reportgen.dossier.declared import Declared
from reportgen.evidence.bundle import Formula
from tests.analysis.building import DRAM, READ, SM, Row, run, runs
from tests.dossier.evidence import by_function, evidence, found, said

L2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed"
LEAST = Formula("read over least", "dram__bytes_read.sum / (4 * n)", "")


def busy(annotation: str, sm: float, dram: float, spread: float = 0.1, **over: Any) -> list[Row]:
    values = {TIME: [1.0, 1.0, 1.0], SM: [sm - spread, sm, sm + spread], DRAM: [dram] * 3}
    return runs(values, annotation=annotation, **over)


def test_what_limits_is_told_with_how_busy_both_ends_were() -> None:
    rows = [*busy("matmul", 90.0, 21.0), *busy("scale", 6.0, 85.0), *busy("gather", 9.0, 54.0)]
    assert said(evidence(rows), "limited") == [
        (
            "ncu, cold cache (default): What limits it: matmul by compute (SM 90 %, DRAM 21 %), "
            "scale by memory (SM 6 %, DRAM 85 %), gather by latency (SM 9 %, DRAM 54 %). "
            "The busier of SM and memory decides from 60 % of its sustained peak on; below that neither is busy, and latency is what remains."
        )
    ]


def test_how_near_another_limit_is_is_told_where_it_is_near() -> None:
    (close,) = found(evidence(busy("a", 63.0, 21.0)), "limited")
    assert by_function(close)["margin"].value == pytest.approx(3.0)
    assert by_function(close)["margin"].unit == "points"
    (unsure,) = said(evidence(busy("a", 61.0, 21.0, spread=2.0)), "limited")
    assert "; another limit lies within the intervals)" in unsure
    (clear,) = said(evidence(busy("a", 90.0, 21.0)), "limited")
    assert "another limit" not in clear


def test_a_cache_that_limits_is_named_with_how_busy_it_was() -> None:
    cache = [{**row, "unit": "%"} for row in runs({L2: [81.0, 81.0, 81.0]}, annotation="gather")]
    rows = [*busy("gather", 9.0, 54.0), *cache]
    (text,) = said(evidence(rows), "limited")
    assert "gather by memory at L2 (SM 9 %, DRAM 54 %, L2 81 %)" in text


def test_both_busy_is_told() -> None:
    (text,) = said(evidence(busy("a", 90.0, 70.0)), "limited")
    assert "a by compute (SM 90 %, DRAM 70 %; both are busy)" in text


def test_what_limits_is_told_at_the_configuration_where_it_was_seen() -> None:
    rows = [
        row
        for name, largest in (("a", 3), ("b", 4))
        for n in range(1, largest + 1)
        for row in busy(name, 20.0 * n, 5, n=n)
    ]
    (text,) = said(evidence(rows), "limited")
    assert "What limits it: a at n = 3 by compute" in text
    assert "b at n = 4 by compute" in text
    (same,) = said(evidence([row for row in rows if row["param:n"] != "4"]), "limited")
    assert "What limits it at n = 3: a by" in same


def test_a_throughput_that_is_missing_says_nothing() -> None:
    assert not said(evidence(runs({TIME: [1.0], SM: [99.0]})), "limited")
    assert not said(evidence(runs({TIME: [1.0], DRAM: [99.0]})), "limited")
    assert not said(evidence(runs({TIME: [1.0], SM: ["not there"], DRAM: [99.0]})), "limited")


def test_many_annotations_are_counted_with_a_source() -> None:
    (got,) = found(evidence([row for i in range(6) for row in busy(f"a{i}", 10.0, 9.0)]), "limited")
    assert by_function(got)["count"].value == 2
    assert by_function(got)["count"].source.startswith("count(these,")


def test_scenarios_with_the_same_limits_are_one_finding_and_others_are_told_apart() -> None:
    same = [row for s in ("default", "strict", "continuous") for row in busy("a", 90.0, 21.0, scenario=s)]
    (text,) = said(evidence(same), "limited")
    assert text.count("a by compute") == 2
    assert "; and so under warm cache (continuous)." in text
    other = [*busy("a", 90.0, 21.0), *busy("a", 40.0, 21.0, scenario="continuous")]
    (text,) = said(evidence(other), "limited")
    assert text.count("What limits it") == 1
    assert "cold cache (default): a by compute" in text
    assert "warm cache (continuous): a by latency" in text


# --- fusion


def pair(separate: list[Any], fused: list[Any], kernels: int = 3, **over: Any) -> list[Row]:
    rows = []
    for index in range(len(fused)):
        for k in range(kernels):
            rows += run({TIME: 100.0, READ: separate[index] / kernels}, index, k, annotation="separate", **over)
        rows += run({TIME: 150.0, READ: fused[index]}, index, 0, annotation="fused", **over)
    return rows


def test_fewer_bytes_in_fewer_kernels_are_told_beside_the_least_possible() -> None:
    rows = pair([300e6] * 3, [100e6] * 3, n=25_000_000)
    of = evidence(rows, formulas=[LEAST])
    assert said(of, "fused") == [
        (
            "ncu, cold cache (default): Fusion saves bytes read from DRAM: fused reads 100.0 MB (1 times the least possible) "
            "where separate reads 300.0 MB (3 times): 66.67 % fewer, in 1 kernel instead of 3."
        )
    ]
    (got,) = found(of, "fused")
    assert by_function(got)["share_saved"].value == pytest.approx(200 / 3)


def test_every_benchmark_that_saves_is_told_in_one_finding() -> None:
    rows = [*pair([300e6] * 3, [100e6] * 3, benchmark="a"), *pair([200e6] * 3, [100e6] * 3, 2, benchmark="b")]
    (text,) = said(evidence(rows), "fused")
    assert text.startswith("ncu, cold cache (default): Fusion saves bytes read from DRAM. a: fused reads")
    assert "; b: fused reads 100.0 MB where separate reads 200.0 MB: 50 % fewer, in 1 kernel instead of 2." in text


def test_less_than_the_least_is_no_saving_and_different_work_none_either() -> None:
    assert not said(evidence(pair([300e6] * 3, [100e6] * 3, n=26_000_000), formulas=[LEAST]), "fused")
    assert not said(evidence(pair([300e6] * 3, [100e6] * 3), Declared("square", apart=True)), "fused")
    assert not said(evidence(pair([300e6], [100e6])), "fused")


def test_of_kernels_that_read_alike_the_fastest_is_named_as_it_is_where_speed_is_told() -> None:
    rows = pair([300e6] * 3, [100e6] * 3)
    rows += [row for i in range(3) for row in run({TIME: 140.0, READ: 100.1e6}, i, 0, annotation="quicker")]
    (text,) = said(evidence(rows), "fused")
    assert ": quicker reads 100.1 MB where separate reads" in text
