from __future__ import annotations

import math

import pytest

from reportgen.analysis import groups, kernels
from reportgen.analysis.derive import TIME
from reportgen.evidence.bundle import Formula
from tests.analysis.building import READ, SM, Row, grouped, run, runs, table


def sweep(*values: object, name: str = "n", annotation: str = "fp32") -> list[Row]:
    return [row for v in values for row in runs({TIME: [1.0, 2.0, 3.0]}, annotation=annotation, **{name: v})]


@pytest.mark.parametrize(
    ("values", "axis"),
    [
        ((512, 1024, 2048), "n"),
        ((2048, 512, 1024), "n"),
        ((0.5, 1, 2), "n"),
        ((512, 1024), ""),
        ((0, 1, 2), ""),
        ((-1, 1, 2), ""),
        (("a", "b", "c"), ""),
        ((1, 2, 3, "auto"), ""),
        ((True, 2, 3), ""),
    ],
)
def test_an_axis_is_three_positive_numbers(values: tuple[object, ...], axis: str) -> None:
    assert grouped(sweep(*values))[0].axis == axis


def test_an_axis_tells_the_cases_of_each_annotation_apart() -> None:
    rows = [row for n in (1, 2, 3) for d in ("a", "b") for row in runs({TIME: [1.0]}, n=n, dtype=d)]
    assert grouped(rows)[0].axis == ""
    both = [*sweep(1, 2, 3), *sweep(1, 2, 3, annotation="fp16")]
    assert grouped(both)[0].axis == "n"
    assert grouped([*sweep(1, 2, 3), *runs({TIME: [1.0]}, annotation="x")])[0].axis == ""
    assert grouped(sweep(1, 2, 3, name="launch"))[0].axis == ""


def test_rivals_share_their_configuration_and_the_last_are_the_largest() -> None:
    rows = [*sweep(2048, 512, 1024), *sweep(512, 2048, annotation="fp16")]
    got = grouped(rows)[0].rivals()
    assert [[(c.annotation, dict(c.params)["n"]) for c in cases] for cases in got] == [
        [("fp32", 512), ("fp16", 512)],
        [("fp32", 1024)],
        [("fp32", 2048), ("fp16", 2048)],
    ]


def test_a_number_and_a_word_that_look_alike_are_no_rivals() -> None:
    rows = [
        *sweep(1, annotation="a"),
        *sweep("1", annotation="b"),
        *sweep(1.0, annotation="c"),
        *sweep(True, annotation="d"),
    ]
    assert [len(cases) for cases in grouped(rows)[0].rivals()] == [1, 1, 1, 1]


def test_configurations_that_python_takes_for_equal_stay_apart() -> None:
    assert [c.params for c in grouped(sweep(1, 1.0, True, "", name="a"))[0].cases] == [
        (("a", 1),),
        (("a", 1.0),),
        (("a", True),),
        (("a", '""'),),
    ]


def test_groups_never_reach_across_backends_workloads_or_scenarios() -> None:
    rows = [
        row
        for over in ({}, {"scenario": "strict"}, {"backend": "cupti"}, {"workload": "range"}, {"benchmark": "other"})
        for row in runs({TIME: [1.0, 2.0]}, n=1, **over)
    ]
    got = grouped(rows)
    assert len(got) == 5
    assert all(len(g.cases) == 1 and len(g.rivals()) == 1 for g in got)
    assert {(g.backend, g.workload, g.scenario, g.benchmark) for g in got} == {
        ("ncu", "kernel", "default", "square"),
        ("ncu", "kernel", "strict", "square"),
        ("cupti", "kernel", "default", "square"),
        ("ncu", "range", "default", "square"),
        ("ncu", "kernel", "default", "other"),
    }


def test_a_case_has_its_rows_and_its_runs() -> None:
    rows = runs({TIME: [10.0, "boom", 14.0], SM: [50.0, 50.0, 51.0]}, n=7, process=3)
    case = grouped(rows)[0].cases[0]
    assert case.configuration == "n = 7"
    time = case.time
    assert time is not None
    assert (time.mean, time.runs, time.reason) == (12.0, 2, "1 of 3 runs failed: boom")
    assert (time.low, time.median, time.high) == (10.0, 12.0, 14.0)
    assert case.runs[TIME] == {(3, 0): 10.0, (3, 2): 14.0}
    assert groups.samples_in_order(case, SM) == [50.0, 50.0, 51.0]
    assert time.source() == f"{time.row}.AvgValue"


def test_every_field_of_a_row_is_that_column_of_the_table() -> None:
    got = grouped(runs({TIME: [10.0, 11.0, 15.0]}, n=7))[0].cases[0].metrics[TIME]
    assert (got.metric, got.unit, got.mean, got.low, got.high, got.median) == (TIME, "ns", 12.0, 10.0, 15.0, 11.0)
    assert (got.runs, got.processes, got.kernels, got.state, got.reason) == (3, 1, 1, "ok", "")
    assert got.deviation == pytest.approx(math.sqrt(7))
    assert (got.ci_low + got.ci_high) / 2 == pytest.approx(12.0)
    assert got.half == pytest.approx(4.302652729749464 * math.sqrt(7 / 3))
    assert got.relative_pct == pytest.approx(100 * math.sqrt(7) / 12)
    assert got.stable is False


def test_what_failed_is_not_known_and_never_0() -> None:
    case = grouped(runs({TIME: ["boom"], SM: [1.0]}))[0].cases[0]
    assert case.time is None
    assert math.isnan(case.value(TIME))
    assert math.isnan(case.value("never__asked.sum"))
    assert case.metrics[TIME].state == "failed"
    assert not case.metrics[TIME].known


def test_the_main_metric_is_the_time_else_what_was_measured_and_a_launch_last() -> None:
    assert grouped(runs({SM: [1.0], TIME: [1.0]}))[0].main == TIME
    assert grouped(runs({"launch__grid_size": [1.0], SM: [1.0]}))[0].main == SM
    assert grouped(runs({"launch__grid_size": [1.0]}))[0].main == "launch__grid_size"
    assert grouped(runs({TIME: ["boom"]}))[0].main == TIME


def test_attributes_of_the_machine_are_in_no_case() -> None:
    case = grouped(runs({TIME: [1.0], "device__attribute_l2": [5.0], "launch__grid_size": [5.0]}))[0].cases[0]
    assert set(case.metrics) == {TIME, "launch__grid_size"}


def test_ratios_are_of_paired_runs() -> None:
    rows = [*runs({TIME: [20.0, 44.0, 30.0]}, annotation="a"), *runs({TIME: [10.0, 11.0, 10.0]}, annotation="b")]
    a, b = grouped(rows)[0].cases
    got = groups.ratio(a, b, TIME)
    assert got is not None
    assert got.paired
    assert got.value == pytest.approx((2 * 4 * 3) ** (1 / 3))
    assert groups.ratio(a, b, READ) is None


def test_derived_metrics_are_found_by_their_names() -> None:
    got = grouped(
        runs({TIME: [1000.0]}, n=10), [Formula("GFLOP/s", "n / time / 1e9", "GFLOP/s"), Formula("none", "m", "")]
    )
    assert got[0].derived == ("GFLOP/s",)
    assert got[0].cases[0].value("GFLOP/s") == pytest.approx(0.01)


def test_at_gives_an_annotations_cases_in_order_of_the_axis() -> None:
    group = grouped([*sweep(2048, 512, 1024), *sweep(4096, annotation="fp16")])[0]
    assert [dict(c.params)["n"] for c in group.at("fp32")] == [512, 1024, 2048]


def test_kernels_are_means_over_runs_by_their_place() -> None:
    rows: list[Row] = []
    for index, (first, second) in enumerate([(10.0, 1.0), (14.0, 1.0)]):
        rows += run({TIME: first}, index, 0, kernel="a", n=1) + run({TIME: second}, index, 1, kernel="b", n=1)
    frame = table(rows)
    group = grouped(rows)[0]
    got = kernels.of_group(frame, group, [TIME])
    assert [(k.name, k.index, k.params, k.metrics[TIME].mean) for k in got] == [
        ("a", 0, (("n", 1),), 12.0),
        ("b", 1, (("n", 1),), 1.0),
    ]
    row = group.cases[0].metrics[TIME].row
    assert [k.metrics[TIME].source for k in got] == [f"{row}/k0.AvgValue", f"{row}/k1.AvgValue"]
    assert got[0].metrics[TIME].spread == pytest.approx(math.sqrt(8))
    assert math.isnan(got[1].metrics[TIME].spread)
    assert kernels.of_group(frame, group, ["no__such.sum"]) == ()
