from __future__ import annotations

from typing import Any

import pytest

from reportgen.analysis import fusion
from reportgen.analysis.derive import TIME
from reportgen.analysis.fusion import Saving
from reportgen.evidence.bundle import Formula
from tests.analysis.building import READ, Row, grouped, run

LEAST = Formula("read over least", "dram__bytes_read.sum / (4 * n)", "")


def pair(separate: list[Any], fused: list[Any], kernels: int = 3, **over: Any) -> list[Row]:
    rows = []
    for index in range(len(fused)):
        for k in range(kernels):
            rows += run({TIME: 100.0, READ: separate[index] / kernels}, index, k, annotation="separate", **over)
        rows += run({TIME: 150.0, READ: fused[index]}, index, 0, annotation="fused", **over)
    return rows


def of(rows: list[Row], formulas: tuple[Formula, ...] = ()) -> Saving | None:
    return fusion.saving(grouped(rows, formulas)[0], fusion.over_least(formulas, "square"))


def test_fewer_bytes_in_fewer_kernels_are_a_saving_beside_the_least_possible() -> None:
    found = of(pair([300e6, 303e6, 297e6], [100e6, 101e6, 99e6], n=25_000_000), (LEAST,))
    assert found is not None
    assert (found.fused.annotation, found.separate.annotation, found.least) == ("fused", "separate", "read over least")
    assert found.saved_pct == pytest.approx(200 / 3)
    assert found.fused.value("read over least") == pytest.approx(1.0)


def test_without_a_least_the_saving_stands_alone() -> None:
    found = of(pair([300e6] * 3, [100e6] * 3, n=1))
    assert found is not None
    assert found.least == ""


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
def test_without_evidence_nothing_is_saved(separate: list[float], fused: list[float], kernels: int) -> None:
    assert of(pair(separate, fused, kernels)) is None


def test_less_than_the_least_came_from_a_cache_and_is_no_saving() -> None:
    assert of(pair([300e6] * 3, [100e6] * 3, n=26_000_000), (LEAST,)) is None
    assert of(pair([300e6] * 3, [100e6] * 3, n=25_400_000), (LEAST,)) is not None, "within two percent of it"


def test_split_k_is_no_lack_of_fusion() -> None:
    assert of([*pair([300e6] * 3, [100e6] * 3, 2, n=1), *pair([300e6] * 3, [100e6] * 3, 1, n=2)]) is None


@pytest.mark.parametrize(
    ("metric", "formula", "benchmark", "least"),
    [
        ("read over least", "dram__bytes_read.sum / (4 * (n + 1))", "", True),
        ("read over least", "dram__bytes_read.sum / (4 * n)", "square", True),
        ("read over least", "dram__bytes_read.sum / (4 * n)", "other", False),
        ("bytes an element", "dram__bytes_read.sum / n", "", False),
        ("least time", "dram__bytes_read.sum / time", "", False),
        ("least", "n / dram__bytes_read.sum", "", False),
        ("least", "dram__bytes_read.sum / dram__bytes_write.sum", "", False),
        ("least", "dram__bytes_read.sum / rated_bandwidth", "", False),
    ],
)
def test_what_counts_as_the_least(metric: str, formula: str, benchmark: str, least: bool) -> None:
    found = fusion.over_least([Formula(metric, formula, "", benchmark)], "square")
    assert found == (metric if least else "")
