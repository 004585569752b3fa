"""Names in formulas that stand for nothing are told: before anything is measured, or once it turned out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reportgen.analysis.derive import TIME
from reportgen.collect.plan import Formula, PlannedBenchmark, SuitePlan
from reportgen.workflow import formulas
from tests.evidence import making
from tests.workflow.test_steps import bench, plan

READ = "dram__bytes_read.sum"
SELF = "self_cpu_time_total"


def planned(formula: str, **over: Any) -> SuitePlan:
    return plan(bench("f", derive=(Formula("rate", formula, "1"),), **over))


def unknown(formula: str, source: str = "", **over: Any) -> list[str]:
    whole = planned(formula, **over)
    return [lack.line for lack in formulas.unknown(whole, formulas.of_plan(Path("mine.py"), whole), source)]


def absent(whole: SuitePlan, frame: pd.DataFrame, *, rated: bool = False) -> list[str]:
    return [lack.line for lack in formulas.absent(whole, formulas.of_plan(Path("mine.py"), whole), frame, rated)]


def measured(*rows: tuple[str, str], annotation: str = "a", **over: Any) -> list[dict[str, Any]]:
    """Make a row for each backend and metric."""
    return [
        {"benchmark": "f", "backend": backend, "metric": metric, "annotation": annotation, "value": 1.0, **over}
        for backend, metric in rows
    ]


def table(*rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    return making.table([row for some in rows for row in some])


# before


@pytest.mark.parametrize(
    "formula",
    [
        *("2 * n**3 / time / 1e12", "rated_bandwidth / n", f"{TIME} * n", "gpc__cycles_elapsed.max", "region__span"),
        *("nvml__sm_clock * time", "nvml__power"),
        *(SELF, "launch__registers_per_thread", "device__attribute_l2_cache_size", READ, '(time@"b") / time'),
        *("max(n, 2) + sqrt(n)", f'({READ}@"b") / {READ}'),
    ],
)
def test_what_can_be_measured_is_not_told(formula: str) -> None:
    assert unknown(formula, metrics=(READ,)) == []


def test_a_name_that_nothing_gives_is_told_with_the_near_ones() -> None:
    head, tail = "benchmark f: the formula of 'rate' names", "neither a metric asked for, nor a parameter, nor `time`"

    assert unknown("n / tiem") == [f"{head} 'tiem', which is {tail}; did you mean time?"]
    assert unknown("dram__bytes_raed.sum / time", metrics=(READ,)) == [
        f"{head} 'dram__bytes_raed.sum', which is {tail}; did you mean {READ}?"
    ]
    assert unknown("zzzzzz / time") == [f"{head} 'zzzzzz', which is {tail}"]


def test_a_metric_that_was_not_asked_for_is_told_unless_a_set_may_hold_it() -> None:
    assert len(unknown(f"{READ} / time")) == 1
    assert unknown(f"{READ} / time", metrics=("set:full",)) == []
    assert unknown(f"{READ} / time", metrics=("section:MemoryWorkloadAnalysis",)) == []
    assert len(unknown("tiem", metrics=("set:full",))) == 1


def test_a_value_that_the_suite_records_is_not_told() -> None:
    assert unknown("error / n", 'region.record("error", 0.5)') == []
    assert unknown("error / n", "@collector()\ndef error(): return 1") == []
    assert len(unknown("error / n", "# an error")) == 1
    assert unknown("errror / n", 'region.record("error", 0.5)')[0].endswith("nor `time`; did you mean error?")


def test_a_parameter_that_is_no_number_is_told() -> None:
    whole = planned("n / time", configs=[('"fp16"', 1), ('"fp32"', 1)])
    (lack,) = formulas.unknown(whole, formulas.of_plan(Path("mine.py"), whole), "")
    assert lack.line == "benchmark f: the formula of 'rate' names 'n', which is a parameter that is no number"
    assert unknown("n / time", configs=[('"fp16"', 1), ("3", 1)]) == []


def test_a_formula_reads_no_other_derived_metric_by_its_name() -> None:
    both = (Formula("rate", "n / time", "1"), Formula("share", "rate / 2", "1"))
    whole = plan(bench("f", derive=both))
    (lack,) = formulas.unknown(whole, formulas.of_plan(Path("mine.py"), whole), 'derive={"rate": "n / time"}')
    assert lack.line == (
        "benchmark f: the formula of 'share' names 'rate', which is a derived metric, of which a formula can only read the highest"
    )


# afterwards


def test_what_is_there_is_not_told() -> None:
    frame = table(measured(("ncu", TIME), ("ncu", READ), ("ncu", "error")))
    for formula in (f"{READ} / time", "error / n", f'({READ}@"a") / n'):
        assert absent(planned(formula), frame) == []


def test_what_no_run_has_is_told_under_the_backends_that_could_have_had_it() -> None:
    frame = table(measured(("ncu", TIME), ("cupti", TIME), ("torch", SELF)))

    assert absent(planned(f"{READ} / time"), frame) == [
        f"benchmark f: the formula of 'rate' names '{READ}', which no run under ncu has"
    ]
    assert absent(planned("errror / n"), frame) == [
        "benchmark f: the formula of 'rate' names 'errror', which no run under ncu or cupti or torch has"
    ]
    assert absent(planned("region__span / n"), frame) == [
        "benchmark f: the formula of 'rate' names 'region__span', which no run under cupti has"
    ]
    assert absent(planned("nvml__power / n"), frame) == [
        "benchmark f: the formula of 'rate' names 'nvml__power', which no run under ncu or cupti has"
    ]
    assert absent(planned(f"{READ} / time"), table(measured(("cupti", TIME), ("torch", SELF)))) == []


def test_the_near_names_are_of_what_was_measured() -> None:
    frame = table(measured(("ncu", TIME), ("ncu", READ), ("ncu", "error")))

    assert absent(planned("errror / n"), frame) == [
        "benchmark f: the formula of 'rate' names 'errror', which no run under ncu has; did you mean error?"
    ]
    assert absent(planned('(time@"aa") / time'), frame) == []
    assert absent(planned(f'({READ}@"aa") / {READ}'), frame) == [
        f"benchmark f: the formula of 'rate' names {READ}@'aa', which no run under ncu has; did you mean {READ}@'a'?"
    ]


def test_what_failed_is_not_there() -> None:
    frame = table(measured(("ncu", TIME)), measured(("ncu", READ), state="failed", reason="why", value=float("nan")))
    assert len(absent(planned(f"{READ} / time"), frame)) == 1


def test_a_benchmark_of_which_nothing_was_measured_says_nothing() -> None:
    frame = table(measured(("ncu", TIME), state="dropped", reason="why", value=float("nan")))
    assert absent(planned("errror / n"), frame) == []


def test_the_rated_bandwidth_is_told_where_it_is_not_known() -> None:
    frame = table(measured(("cupti", TIME), ("torch", SELF)))
    assert absent(planned("n / rated_bandwidth"), frame, rated=True) == []
    assert absent(planned("n / rated_bandwidth"), frame) == [
        "benchmark f: the formula of 'rate' names 'rated_bandwidth', which no run under cupti has"
    ]


def test_what_was_told_before_is_not_told_again() -> None:
    whole = planned("tiem / n")
    found = formulas.of_plan(Path("mine.py"), whole)
    told = formulas.unknown(whole, found, "")

    assert len(told) == 1
    assert formulas.absent(whole, found, table(measured(("ncu", TIME))), rated=False, told=told) == ()


def test_a_baseline_that_is_not_there_is_told_once() -> None:
    whole = plan(bench("f", normalize_against="b"))
    frame = table(measured(("ncu", TIME)))

    assert absent(whole, frame) == []
    assert formulas.without_baseline(whole, frame) == [
        "benchmark f: normalize_against names 'b', and there is no such annotation"
    ]
    assert (
        formulas.without_baseline(whole, table(measured(("ncu", TIME)), measured(("ncu", TIME), annotation="b"))) == []
    )


def test_another_benchmarks_values_are_not_taken_for_its_own() -> None:
    frame = table(measured(("ncu", TIME)), measured(("ncu", "error"), benchmark="g"))
    benches: tuple[PlannedBenchmark, ...] = tuple(
        bench(name, derive=(Formula("rate", "error / n", "1"),)) for name in ("f", "g")
    )
    assert [line.partition(":")[0] for line in absent(plan(*benches), frame)] == ["benchmark f"]
