"""Kernels by name and launch shape, with values computed by hand."""

from __future__ import annotations

import math

import pytest

from reportgen.analysis import advice, kernels
from reportgen.analysis.derive import TIME
from reportgen.analysis.evaluate import Evaluator
from reportgen.analysis.kernels import BLOCK, GRID, Kind
from reportgen.analysis.measurements import Measurements
from tests.analysis.building import DRAM, SM, Row, grouped, run, table
from tests.dossier.fuller import STALLED
from tests.evidence import making

LIMITS = dict(zip(kernels.LIMITERS, (4.0, 2.0, 8.0, 32.0, 2.0), strict=True))


def launch(
    time: float, index: int, kernel: str = "k", grid: float = 64.0, n: int = 0, annotation: str = "a"
) -> list[Row]:
    values = {TIME: time, GRID: grid, BLOCK: 128.0, SM: time / 10, DRAM: 1.0}
    return run(values, n, index, kernel=kernel, annotation=annotation)


def of(rows: list[Row], *, apart: bool) -> tuple[Kind, ...]:
    found = kernels.of_group(table(rows), grouped(rows)[0], kernels.facts(table(rows)))
    return kernels.kinds(found, apart=apart)


ROWS = [
    row
    for n in (0, 1)
    for row in (*launch(100.0 + 20 * n, 0, n=n), *launch(200.0, 1, n=n), *launch(90.0, 2, grid=8.0, n=n))
]
ROWS += launch(30.0, 0, annotation="b")


def test_launches_of_one_kernel_in_one_shape_are_one_kind_the_most_time_first() -> None:
    first, second, third = of(ROWS, apart=True)
    assert [(kind.annotation, kind.launches, kind.time) for kind in (first, second, third)] == [
        ("a", 4, 620.0),
        ("a", 2, 180.0),
        ("b", 1, 30.0),
    ]
    mean = first.metrics[TIME]
    assert (mean.mean, mean.count) == (155.0, 4)
    assert mean.spread == pytest.approx(math.sqrt((55**2 + 35**2 + 45**2 + 45**2) / 3))
    assert kernels.share_of_time(first, (first, second, third)) == pytest.approx(77.5)  # of its region


def test_kinds_of_a_whole_group_join_annotations() -> None:
    first, second = of(ROWS, apart=False)
    assert (first.annotations, first.launches, first.time, first.metrics[TIME].mean) == (("a", "b"), 5, 650.0, 130.0)
    assert kernels.share_of_time(first, (first, second)) == pytest.approx(100 * 650 / 830)


def test_figures_of_a_kind_are_computed_again_from_their_sources() -> None:
    evaluate = Evaluator(Measurements(table(ROWS), making.info(formulas=()), making.facts()), {})
    for apart in (True, False):
        kinds = of(ROWS, apart=apart)
        for kind in kinds:
            for value in kind.metrics.values():
                assert evaluate(value.source).value == value.mean
                assert evaluate(value.source).unit == value.unit
            share = evaluate(f"time_share({kind.any_row},{kind.id})")
            assert share.value == pytest.approx(kernels.share_of_time(kind, kinds))
            assert evaluate(f"count(launches of a kernel,{kind.any_row},{kind.id})").value == kind.launches


def test_what_holds_a_block_back_is_what_runs_out_first() -> None:
    (kind,) = of(run({TIME: 1.0, **LIMITS}), apart=True)
    assert kind.limiters == ("shared memory", "barriers")
    assert of(run({TIME: 1.0}), apart=True)[0].limiters == ()


def test_the_longest_waits_come_first_and_issuing_is_none() -> None:
    values = {
        STALLED.format(word): cycles
        for word, cycles in (("barrier", 3.0), ("long_scoreboard", 12.0), ("selected", 4.0))
    }
    (kind,) = of(run({TIME: 1.0, **values, kernels.STALLS_OF_ALL: 20.0}), apart=True)
    assert [(stall.reason, stall.share) for stall in kind.stalls()] == [("long scoreboard", 60.0), ("barrier", 15.0)]
    (bare,) = of(run({TIME: 1.0, **values}), apart=True)
    assert bare.stalls() == ()  # without the whole there are no shares


def test_what_rules_say_comes_with_its_promise_first() -> None:
    rows = run({TIME: 1.0, "rule__A": 0.0, "rule__B": 0.0, "rule__B.speedup": 12.5})
    rows[1] |= {"value": float("nan"), "text": "Only this"}
    rows[2] |= {"value": float("nan"), "text": "Stalls: wait: 3 cycles"}
    frame = table(rows)
    group = grouped(rows)[0]
    found = kernels.kinds(kernels.of_group(frame, group, (*kernels.FACTS, *advice.names(frame))), apart=True)
    said = advice.of_kinds(frame, group, found)
    assert [(one.rule, one.title, one.message, one.promise) for one in said] == [
        ("B", "Stalls", "wait: 3 cycles", 12.5),
        ("A", "A", "Only this", 0.0),
    ]
    assert advice.of_kinds(table(ROWS), grouped(ROWS)[0], of(ROWS, apart=True)) == ()
