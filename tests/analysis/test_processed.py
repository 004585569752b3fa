from __future__ import annotations

import csv
import hashlib
import json
import math
import re
import statistics as plain
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from reportgen.analysis import combine, processed
from reportgen.analysis.derive import TIME
from reportgen.evidence import samples
from reportgen.evidence.bundle import Formula
from reportgen.evidence.errors import UserError
from reportgen.evidence.provenance import Fact, from_facts
from reportgen.readers import ncu_rep
from tests.analysis.building import CLOCK, READ, SM, run, runs, table

DATA = Path(__file__).parent.parent / "data"
DESIGNED = [
    *("Annotation", "n", "dtype", "AvgValue", "StdDev", "MinValue", "MaxValue", "NumRuns", "CI95_Lower", "CI95_Upper"),
    *("RelativeStdDevPct", "StableMeasurement", "Metric", "Unit", "Kernel", "GPU", "Host", "ComputeClock"),
    *("MemoryClock", "Median", "Q1", "Q3", "NumProcesses", "SMClockObserved", "NumKernels", "Backend", "Workload"),
    *("Scenario", "State"),
]
TFLOPS = Formula("TFLOP/s", "2*n**3 / time / 1e12", "TFLOP/s")


def only(frame: pd.DataFrame, **where: Any) -> dict[str, Any]:
    for column, wanted in where.items():
        frame = frame[frame[column] == wanted]
    assert len(frame) == 1
    return {str(k): v for k, v in frame.iloc[0].items()}


def test_the_columns_stand_in_the_order_that_is_documented() -> None:
    got = processed.table(table(runs({TIME: [1.0]}, n=512, dtype="fp16")))
    assert list(got.columns) == [*DESIGNED, "Suite", "Benchmark", "Reason", "Row"]
    docs = (DATA.parent.parent / "docs" / "columns.md").read_text(encoding="utf-8")
    described = docs[docs.index("## The processed table") :]
    for column in got.columns:
        assert column in {"n", "dtype"} or f"`{column}`" in described, column


def test_a_row_says_what_its_runs_say() -> None:
    times = [1056.0, 1024.0, 1152.0, 1088.0, 1056.0]
    got = only(processed.table(table(runs({TIME: times}, n=512, dtype="fp16"))), Metric=TIME)
    low, high = stats.t.interval(0.95, 4, loc=plain.mean(times), scale=stats.sem(times))
    want = {
        "Annotation": "fp32",
        "n": 512,
        "dtype": "fp16",
        "AvgValue": 1075.2,
        "StdDev": float(f"{plain.stdev(times):.12g}"),
        "MinValue": 1024.0,
        "MaxValue": 1152.0,
        "NumRuns": 5,
        "CI95_Lower": float(f"{low:.12g}"),
        "CI95_Upper": float(f"{high:.12g}"),
        "RelativeStdDevPct": float(f"{100 * plain.stdev(times) / 1075.2:.12g}"),
        "StableMeasurement": False,
        "Unit": "ns",
        "Kernel": "void k<a, b>(float*)",
        "Median": 1056.0,
        "Q1": 1056.0,
        "Q3": 1088.0,
        "NumProcesses": 1,
        "NumKernels": 1,
        "Backend": "ncu",
        "Workload": "kernel",
        "Scenario": "default",
        "State": "ok",
        "Reason": "",
        "Suite": "matmul",
        "Benchmark": "square",
        "GPU": "",
        "Host": "",
    }
    assert {name: got[name] for name in want} == want


def test_there_is_one_row_for_each_annotation_configuration_metric_and_scenario_in_order_of_the_samples() -> None:
    rows = [
        row
        for scenario in ("strict", "default")
        for annotation in ("b", "a")
        for n in (1024, 512)
        for row in runs({TIME: [1.0, 2.0, 3.0], READ: [5.0, 5.0, 5.0]}, n=n, annotation=annotation, scenario=scenario)
    ]
    got = processed.table(table(rows))
    place = list(zip(got["Scenario"], got["Annotation"], got["n"], got["Metric"], strict=True))
    want = [(s, a, n, m) for s in ("strict", "default") for a in ("b", "a") for n in (1024, 512) for m in (TIME, READ)]
    assert place == want
    assert got["Row"].is_unique


def test_only_runs_that_are_ok_count_and_the_rest_is_told() -> None:
    rows = runs({TIME: [100.0, "the launch failed", 104.0]})
    got = only(processed.table(table(rows)), Metric=TIME)
    assert (got["NumRuns"], got["AvgValue"], got["State"]) == (2, 102.0, "ok")
    assert got["Reason"] == "1 of 3 runs failed: the launch failed"
    assert math.isnan(got["CI95_Lower"])


def test_a_row_without_any_good_run_has_its_state_and_no_value() -> None:
    got = only(processed.table(table(runs({TIME: ["out of memory", "out of memory"]}))), Metric=TIME)
    assert (got["State"], got["Reason"], got["NumRuns"]) == ("failed", "out of memory", 0)
    assert math.isnan(got["AvgValue"])
    assert got["StableMeasurement"] is None


def test_one_run_has_neither_deviation_nor_interval_nor_a_say_on_stability() -> None:
    got = only(processed.table(table(runs({TIME: [100.0]}))), Metric=TIME)
    assert [math.isnan(got[c]) for c in ("StdDev", "RelativeStdDevPct", "CI95_Lower", "CI95_Upper")] == [True] * 4
    assert got["StableMeasurement"] is None


def test_three_processes_give_the_interval() -> None:
    rows = [row for p in range(3) for row in runs({TIME: [100.0 + p, 102.0 + p]}, process=p)]
    got = only(processed.table(table(rows)), Metric=TIME)
    low, _ = stats.t.interval(0.95, 2, loc=102.0, scale=stats.sem([101.0, 102.0, 103.0]))
    assert (got["NumProcesses"], got["NumRuns"]) == (3, 6)
    assert got["CI95_Lower"] == float(f"{low:.12g}")


def test_rows_of_unequal_runs_keep_to_themselves() -> None:
    rows = [
        row for n, values in ((1, [1.0]), (2, [2.0, 4.0]), (3, [3.0, 6.0, 9.0])) for row in runs({TIME: values}, n=n)
    ]
    got = processed.table(table(rows))
    assert list(got["AvgValue"]) == [1.0, 3.0, 6.0]
    assert list(got["NumRuns"]) == [1, 2, 3]


def test_a_derived_metric_is_evaluated_for_each_run_and_then_averaged() -> None:
    times = [1000.0, 2000.0, 4000.0]
    got = only(processed.table(table(runs({TIME: times}, n=512)), [TFLOPS]), Metric="TFLOP/s")
    each = [2 * 512**3 / (t * 1e-9) / 1e12 for t in times]
    assert got["AvgValue"] == float(f"{plain.mean(each):.12g}")
    assert got["StdDev"] == float(f"{plain.stdev(each):.12g}")
    assert (got["Unit"], got["NumRuns"], got["State"], got["n"]) == ("TFLOP/s", 3, "ok", 512)


def test_a_derived_metric_takes_the_time_of_all_kernels_of_the_region() -> None:
    rows = [*run({TIME: 1000.0, READ: 10.0}, 0, 0, kernel="a"), *run({TIME: 3000.0, READ: 30.0}, 0, 1, kernel="b")]
    got = only(processed.table(table(rows), [Formula("B/s", f"{READ} / time", "B/s")]), Metric="B/s")
    assert got["AvgValue"] == 40 / 4e-6
    assert (got["NumKernels"], got["Kernel"]) == (2, "a|b")


def test_a_formula_without_its_metric_gives_a_dropped_row_with_the_reason() -> None:
    got = only(processed.table(table(runs({READ: [1.0]}, n=2)), [TFLOPS]), Metric="TFLOP/s")
    assert (got["State"], got["NumRuns"]) == ("dropped", 0)
    assert got["Reason"] == "the formula needs time, which this run does not have"
    got = only(processed.table(table(runs({TIME: [0.0]}, n=2)), [TFLOPS]), Metric="TFLOP/s")
    assert (got["State"], got["Reason"]) == ("dropped", "the formula has no value here")


def test_the_word_time_is_the_kernels_time_and_never_a_parameter() -> None:
    got = only(processed.table(table(runs({READ: [1.0]}, time=7)), [Formula("x", "time", "s")]), Metric="x")
    assert got["State"] == "dropped"
    got = only(processed.table(table(runs({TIME: [5.0]}, time=7)), [Formula("x", "time", "s")]), Metric="x")
    assert got["AvgValue"] == 5e-9


def test_a_failed_run_is_in_no_derived_mean() -> None:
    got = only(processed.table(table(runs({TIME: [1000.0, "boom", 1000.0]}, n=8)), [TFLOPS]), Metric="TFLOP/s")
    assert got["NumRuns"] == 2
    assert got["Reason"].startswith("1 of 3 runs failed: boom")


@pytest.mark.parametrize("name", ["Metric", "AvgValue", "Annotation", "Row", "Scenario", "GPU"])
def test_a_parameter_by_the_name_of_a_column_is_an_error(name: str) -> None:
    with pytest.raises(UserError, match=re.escape(f"the parameter '{name}' has the name of a column")):
        processed.table(table(runs({TIME: [1.0]}, **{name: 1})))


@pytest.mark.parametrize("formulas", [[Formula(TIME, "1", "")], [TFLOPS, TFLOPS]])
def test_two_metrics_of_one_name_are_an_error(formulas: list[Formula]) -> None:
    with pytest.raises(UserError, match="two metrics by the name"):
        processed.table(table(runs({TIME: [1.0]}, n=1)), formulas)


def test_twelve_digits_are_kept_and_equal_values_have_no_deviation() -> None:
    third = 1000 / 3
    got = only(processed.table(table(runs({TIME: [third] * 3}))), Metric=TIME)
    assert (got["AvgValue"], got["MinValue"], got["StdDev"]) == (333.333333333, 333.333333333, 0.0)
    assert (got["CI95_Lower"], got["CI95_Upper"], got["RelativeStdDevPct"]) == (333.333333333, 333.333333333, 0.0)
    assert got["StableMeasurement"] is True


def test_a_row_is_known_by_a_digest_of_its_identity() -> None:
    rows = runs({TIME: [1.0, 2.0]}, n=512, dtype="größe")
    got = only(processed.table(table(rows)), Metric=TIME)
    identity = ["matmul", "square", "ncu", "kernel", "default", "512", '"größe"', "fp32", TIME]
    text = json.dumps(identity, ensure_ascii=False).encode()
    assert got["Row"] == hashlib.sha256(text).hexdigest()[:12]
    other = processed.table(table([*runs({READ: [1.0]}, n=1, dtype="x"), *reversed(rows)]))
    assert only(other, Metric=TIME)["Row"] == got["Row"]


def test_the_clock_that_was_seen_stands_in_every_row_of_its_case() -> None:
    rows = [*runs({TIME: [1.0, 2.0], CLOCK: [1.9e9, 1.7e9]}, n=1), *runs({TIME: [1.0]}, n=2)]
    got = processed.table(table(rows))
    assert list(got[got["n"] == 1]["SMClockObserved"]) == [1.8e9, 1.8e9]
    assert got[got["n"] == 2]["SMClockObserved"].isna().all()


@pytest.mark.parametrize("first", [CLOCK, "nvml__sm_clock"])
def test_the_clock_of_the_kernels_own_cycles_goes_before_nvmls(first: str) -> None:
    both = sorted({CLOCK: [1.8e9], "nvml__sm_clock": [1.98e9]}.items(), key=lambda item: item[0] != first)
    got = processed.table(table(runs(dict(both), n=1)))
    assert set(got["SMClockObserved"]) == {1.8e9}


def test_the_machine_stands_in_every_row_and_its_clocks_are_in_khz() -> None:
    facts = from_facts(
        {
            "gpu.name": "NVIDIA H200",
            "host.name": "h",
            "clocks.sm_rated_hz": 1.98e9,
            "clocks.memory_rated_hz": 3_201_000_000,
        },
        "no",
        "x",
    )
    got = only(processed.table(table(runs({TIME: [1.0]})), provenance=facts), Metric=TIME)
    assert (got["GPU"], got["Host"], got["ComputeClock"], got["MemoryClock"]) == (
        "NVIDIA H200",
        "h",
        1_980_000.0,
        3_201_000.0,
    )


def test_clocks_that_two_files_state_differently_are_no_number() -> None:
    facts = from_facts({"clocks.sm_rated_hz": Fact("1980000000; 1755000000", "", "two files")}, "no", "x")
    assert only(processed.table(table(runs({TIME: [1.0]})), provenance=facts), Metric=TIME)["ComputeClock"] == ""


def test_parameters_keep_their_types() -> None:
    rows = [row for a in (1, 0.5, True, "1", "", [1, 2], 2**63) for row in runs({TIME: [1.0]}, a=a)]
    rows += runs({TIME: [1.0]})
    got = processed.table(table(rows))
    assert [(type(v), v) for v in got["a"]] == [
        *((int, 1), (float, 0.5), (bool, True), (str, "1"), (str, '""'), (str, "[1,2]"), (int, 2**63), (str, ""))
    ]
    assert processed.table(table(runs({TIME: [1.0]}, n=3)))["n"].dtype == "int64"


def test_no_samples_make_an_empty_table() -> None:
    assert processed.table(table([])).empty


# --- formulas that reach beyond their own run

SPEED_UP = Formula("speed-up", 'time@"fp32" / time', "")


def two(first: list[Any], second: list[Any], process: int = 0, **over: Any) -> list[dict[str, Any]]:
    """Make the runs of the regions `fp32` and `fp16`."""
    return [
        *runs({TIME: first}, annotation="fp32", process=process, **over),
        *runs({TIME: second}, annotation="fp16", process=process, **over),
    ]


def test_a_ratio_pairs_the_regions_of_one_run_and_its_mean_is_geometric() -> None:
    # The ratios are 2, 8 and 4: their geometric mean is 4, of the logarithms 1, 3 and 2 to base 2.
    got = processed.table(table(two([200.0, 800.0, 200.0], [100.0, 100.0, 50.0])), [SPEED_UP])
    row = only(got, Metric="speed-up", Annotation="fp16")
    low, high = stats.t.interval(0.95, 2, loc=2.0, scale=stats.sem([1.0, 3.0, 2.0]))

    assert row["AvgValue"] == pytest.approx(4.0, rel=1e-11)
    assert (row["CI95_Lower"], row["CI95_Upper"]) == pytest.approx((2.0**low, 2.0**high), rel=1e-9)
    assert (row["MinValue"], row["MaxValue"], row["Median"], row["NumRuns"]) == (2.0, 8.0, 4.0, 3)
    # The logarithms to base 2 deviate by 1: one deviation above 4 is 8.
    assert row["StdDev"] == pytest.approx(4.0, rel=1e-11)
    assert (row["RelativeStdDevPct"], row["StableMeasurement"]) == (pytest.approx(100.0, rel=1e-11), False)
    itself = only(got, Metric="speed-up", Annotation="fp32")
    assert (itself["AvgValue"], itself["StdDev"]) == (1.0, 0.0)
    assert (itself["CI95_Lower"], itself["CI95_Upper"]) == (1.0, 1.0)


def test_the_interval_of_a_ratio_is_over_the_logarithms_of_three_processes() -> None:
    fp32 = np.array([[200.0, 210.0], [400.0, 390.0], [300.0, 330.0]])
    fp16 = np.array([[100.0, 104.0], [130.0, 128.0], [90.0, 96.0]])
    rows = [row for p in range(3) for row in two(fp32[p].tolist(), fp16[p].tolist(), p)]
    got = only(processed.table(table(rows), [SPEED_UP]), Metric="speed-up", Annotation="fp16")

    logs = np.log(fp32 / fp16)
    of_processes = logs.mean(axis=1)
    half = stats.t.ppf(0.975, 2) * of_processes.std(ddof=1) / math.sqrt(3)
    assert got["AvgValue"] == pytest.approx(math.exp(logs.mean()), rel=1e-11)
    want = (math.exp(of_processes.mean() - half), math.exp(of_processes.mean() + half))
    assert (got["CI95_Lower"], got["CI95_Upper"]) == pytest.approx(want, rel=1e-9)
    assert (got["NumRuns"], got["NumProcesses"]) == (6, 3)


def test_two_ratios_have_a_mean_and_no_interval() -> None:
    got = only(
        processed.table(table(two([100.0, 400.0], [100.0, 100.0])), [SPEED_UP]), Metric="speed-up", Annotation="fp16"
    )
    assert got["AvgValue"] == pytest.approx(2.0, rel=1e-11)
    assert math.isnan(got["CI95_Lower"])


def test_a_ratio_times_one_is_the_same_ratio() -> None:
    rows = table(two([200.0, 800.0, 200.0], [100.0, 100.0, 50.0]))
    got = processed.table(rows, [SPEED_UP, Formula("again", 'time@"fp32" / time * 1', "")])
    plain, again = (only(got, Metric=name, Annotation="fp16") for name in ("speed-up", "again"))

    for column in ("AvgValue", "StdDev", "RelativeStdDevPct", "CI95_Lower", "CI95_Upper", "MinValue", "Median"):
        assert plain[column] == again[column]


def test_the_geometric_deviation_does_not_depend_on_which_way_round_the_ratio_is() -> None:
    """What is 3 % above on the one is 3 % above on the other: the arithmetic deviations differ."""
    rows = table(two([200.0, 206.0, 212.18], [100.0, 100.0, 100.0]))
    got = processed.table(rows, [SPEED_UP, Formula("slow-down", 'time / (time@"fp32")', "")])
    over, under = (only(got, Metric=name, Annotation="fp16") for name in ("speed-up", "slow-down"))

    assert over["RelativeStdDevPct"] == pytest.approx(3.0, rel=1e-9)
    assert under["RelativeStdDevPct"] == pytest.approx(3.0, rel=1e-9)
    assert over["StdDev"] == pytest.approx(2.06 * 0.03, rel=1e-9)


def test_a_ratio_that_is_not_above_zero_has_no_mean_and_says_so() -> None:
    rows = two([1.0, 2.0, 4.0], [1.0, 1.0, 1.0])
    error = {"kernel": "", "unit": "", "metric": "error"}
    for row, value in zip(list(rows), (0.0, 0.5, 0.25, 0.5, 0.5, 0.5), strict=True):
        rows.append({**row, **error, "value": value})
    got = processed.table(table(rows), [Formula("worse", 'error@"fp32" / error', "")])
    row, itself = (only(got, Metric="worse", Annotation=name) for name in ("fp16", "fp32"))

    assert all(math.isnan(row[name]) for name in ("AvgValue", "StdDev", "CI95_Lower", "RelativeStdDevPct"))
    assert (row["State"], row["Reason"]) == ("dropped", "a ratio that is not above zero has no geometric mean")
    assert (row["MinValue"], row["MaxValue"]) == (0.0, 1.0)
    assert (itself["State"], itself["AvgValue"]) == ("ok", 1.0)


def test_what_is_of_no_kernel_counts_none() -> None:
    launch = runs({TIME: [1.0, 2.0]}, kernel="k")
    other = {"kernel_index": pd.NA, "kernel": ""}
    rows = [
        *launch,
        *({**row, **other, "metric": name} for row in launch for name in ("region__span", "nvml__sm_clock", "error")),
        *({**row, **other, "metric": "memcpy_memset__time_duration.sum", "kernel": "[memset]"} for row in launch),
    ]
    formulas = [Formula("s", "time", "s"), Formula("twice", "2 * error", ""), Formula("both", "error * time", "")]
    got = processed.table(table(rows), formulas)
    counts = dict(zip(got["Metric"], got["NumKernels"], strict=True))

    assert counts == {
        **dict.fromkeys(("region__span", "nvml__sm_clock", "error", "memcpy_memset__time_duration.sum", "twice"), 0),
        **dict.fromkeys((TIME, "s", "both"), 1),
    }


def test_a_paired_value_that_is_not_above_zero_has_the_plain_mean() -> None:
    saved = Formula("saved", 'time@"fp32" - time', "s")
    got = only(
        processed.table(table(two([3e9, 1e9], [1e9, 2e9])), [saved]), Metric="saved", Annotation="fp16"
    )  # 2 s and -1 s
    assert got["AvgValue"] == 0.5


def test_a_plain_formula_beside_a_ratio_keeps_its_plain_mean() -> None:
    seconds = Formula("s", "time", "s")
    got = processed.table(table(two([1e9, 4e9], [1e9, 1e9])), [SPEED_UP, seconds])
    assert only(got, Metric="s", Annotation="fp32")["AvgValue"] == 2.5
    assert only(got, Metric=TIME, Annotation="fp32")["AvgValue"] == 2.5e9


def test_regions_pair_within_their_own_run_process_configuration_and_scenario() -> None:
    rows = [
        *two([200.0, 300.0], [100.0, 100.0], n=1),
        *two([500.0], [100.0], n=2),
        *two([700.0], [100.0], n=1, process=1),
        *two([900.0], [100.0], n=1, scenario="strict"),
        *two([1100.0], [100.0], n=1, backend="cupti"),
    ]
    per_run = processed.runs(table(rows), [SPEED_UP])
    fp16 = per_run[(per_run["metric"] == "speed-up") & (per_run["annotation"] == "fp16")]

    assert list(fp16["value"]) == pytest.approx([2.0, 3.0, 5.0, 7.0, 9.0, 11.0], rel=1e-15)


def test_a_ratio_to_a_run_that_failed_is_dropped_with_the_reason() -> None:
    per_run = processed.runs(table(two([200.0, "boom"], [100.0, 100.0])), [SPEED_UP])
    fp16 = per_run[(per_run["metric"] == "speed-up") & (per_run["annotation"] == "fp16")]

    assert list(fp16["state"]) == ["ok", "dropped"]
    assert fp16["reason"].iloc[1] == "the formula needs time@'fp32', which this run does not have"


def test_a_counter_elsewhere_is_read_like_a_time() -> None:
    rows = [
        *runs({TIME: [1.0], READ: [300.0]}, annotation="naive"),
        *runs({TIME: [1.0], READ: [100.0]}, annotation="fused"),
    ]
    saved = Formula("reads saved", f'{READ}@"naive" / {READ}', "")
    assert only(processed.table(table(rows), [saved]), Metric="reads saved", Annotation="fused")["AvgValue"] == 3.0


RATE = Formula("GB/s", "size / time / 1e9", "GB/s")
SHARE = Formula("share", '100 * (size / time / 1e9) / highest("GB/s")', "%")


def test_the_highest_is_the_highest_mean_over_runs_of_any_region_and_configuration() -> None:
    rows = [
        *runs({TIME: [10.0, 20.0]}, size=100, annotation="a"),  # 10 and 5 GB/s: 7.5
        *runs({TIME: [12.5, 12.5]}, size=100, annotation="b"),  # 8
        *runs({TIME: [50.0, 50.0]}, size=200, annotation="b"),  # 4
    ]
    got = processed.table(table(rows), [RATE, SHARE])

    shares = {(a, n): only(got, Metric="share", Annotation=a, size=n)["AvgValue"] for a, n in (("b", 100), ("b", 200))}
    assert shares == {("b", 100): 100.0, ("b", 200): 50.0}
    # Single runs may lie above the highest mean: 10 of 8 GB/s.
    best = only(got, Metric="share", Annotation="a")
    assert (best["MinValue"], best["AvgValue"], best["MaxValue"]) == (62.5, 93.75, 125.0)


def test_the_highest_is_of_the_same_benchmark_backend_and_scenario() -> None:
    rows = [
        row
        for time, where in (
            (10.0, {}),
            (20.0, {"benchmark": "g"}),
            (25.0, {"backend": "cupti"}),
            (50.0, {"scenario": "s"}),
        )
        for row in runs({TIME: [time]}, size=100, **where)
    ]
    got = processed.table(table(rows), [RATE, SHARE])
    assert list(got[got["Metric"] == "share"]["AvgValue"]) == [100.0] * 4


def test_the_highest_of_what_no_formula_before_it_makes_is_dropped_with_the_reason() -> None:
    got = only(processed.table(table(runs({TIME: [10.0]}, size=100)), [SHARE, RATE]), Metric="share")
    assert got["State"] == "dropped"
    assert got["Reason"] == "the formula needs highest('GB/s'), which this run does not have"


def test_failed_runs_are_in_no_highest() -> None:
    rows = [*runs({TIME: ["boom"]}, size=100, annotation="a"), *runs({TIME: [10.0]}, size=100, annotation="b")]
    got = processed.table(table(rows), [RATE, SHARE])
    assert only(got, Metric="share", Annotation="b")["AvgValue"] == 100.0
    assert only(got, Metric="share", Annotation="a")["State"] == "failed"


RATED = Formula("share of the rated", "100 * size / time / rated_bandwidth", "%")


def test_the_rated_bandwidth_is_two_transfers_in_a_clock_over_the_bus() -> None:
    # An H200: 3.201 GHz and 6,144 bits give 2 * 3.201e9 * 768 byte/s = 4.916736e12; 4,916,736 byte in 2 us are half.
    facts = from_facts({"clocks.memory_rated_hz": 3_201_000_000, "gpu.bus_width_bits": 6144}, "no", "x")
    rows = runs({TIME: [2000.0]}, size=4_916_736)
    got = only(processed.table(table(rows), [RATED], facts), Metric="share of the rated")
    assert got["AvgValue"] == pytest.approx(50.0, rel=1e-12)


@pytest.mark.parametrize(
    "known",
    [
        {},
        {"clocks.memory_rated_hz": 3.2e9},
        {"clocks.memory_rated_hz": Fact("3201000000; 2619000000", "", "two files"), "gpu.bus_width_bits": 6144},
    ],
)
def test_a_rated_bandwidth_that_is_not_known_is_not_guessed(known: dict[str, Any]) -> None:
    rows = table(runs({TIME: [2000.0]}, size=1))
    got = only(processed.table(rows, [RATED], from_facts(known, "no", "x")), Metric="share of the rated")
    assert (got["State"], math.isnan(got["AvgValue"])) == ("dropped", True)
    assert got["Reason"] == "the formula needs rated_bandwidth, which this run does not have"


def test_two_benchmarks_may_have_a_derived_metric_of_one_name() -> None:
    rows = [*runs({TIME: [1e9]}, n=2, benchmark="f"), *runs({TIME: [1e9]}, n=2, benchmark="g")]
    formulas = [Formula("rate", "n / time", "1/s", "f"), Formula("rate", "10 * n / time", "1/s", "g")]
    got = processed.table(table(rows), formulas)

    assert only(got, Metric="rate", Benchmark="f")["AvgValue"] == 2.0
    assert only(got, Metric="rate", Benchmark="g")["AvgValue"] == 20.0


def test_the_highest_of_a_name_that_two_benchmarks_have_is_that_of_each() -> None:
    rows = [*runs({TIME: [1e9]}, n=2, benchmark="f"), *runs({TIME: [1e9]}, n=2, benchmark="g")]
    formulas = [
        Formula("rate", "n / time", "1/s", "f"),
        Formula("rate", "10 * n / time", "1/s", "g"),
        Formula("share", 'n / time / highest("rate")', "", "f"),
        Formula("share", 'n / time / highest("rate")', "", "g"),
    ]
    got = processed.table(table(rows), formulas)
    assert (
        only(got, Metric="share", Benchmark="f")["AvgValue"],
        only(got, Metric="share", Benchmark="g")["AvgValue"],
    ) == (*(1.0, 0.1),)


@pytest.mark.parametrize(("first", "second"), [("f", "f"), ("", "f"), ("f", ""), ("", "")])
def test_one_benchmark_has_one_derived_metric_of_a_name(first: str, second: str) -> None:
    formulas = [Formula("rate", "n", "", first), Formula("rate", "n", "", second)]
    with pytest.raises(UserError, match="two metrics by the name 'rate'"):
        processed.table(table(runs({TIME: [1.0]}, n=1, benchmark="f")), formulas)


def test_what_another_benchmark_measured_by_that_name_is_no_matter() -> None:
    """`g` has a function of the suite by the name that is a formula in `f`; its values are samples."""
    rows = [*runs({TIME: [1e9]}, n=2, benchmark="f"), *runs({TIME: [1e9], "rate": [7.0]}, n=2, benchmark="g")]
    got = processed.table(table(rows), [Formula("rate", "n / time", "1/s", "f")])

    assert only(got, Metric="rate", Benchmark="f")["AvgValue"] == 2.0
    assert only(got, Metric="rate", Benchmark="g")["AvgValue"] == 7.0


def test_a_formula_of_a_benchmark_without_samples_makes_no_rows() -> None:
    got = processed.table(table(runs({TIME: [1.0]}, n=1)), [Formula("rate", "n", "", "absent")])
    assert list(got["Metric"]) == [TIME]


def test_a_formula_whose_counter_a_backend_lacks_is_skipped_there_and_ok_where_it_is() -> None:
    rows = [
        *runs({TIME: [1e9], READ: [4.0]}, backend="ncu"),
        *runs({TIME: [1e9]}, backend="cupti"),
    ]
    got = processed.table(table(rows), [Formula("B/s", f"{READ} / time", "B/s")])

    assert only(got, Metric="B/s", Backend="ncu")["AvgValue"] == 4.0
    cupti = only(got, Metric="B/s", Backend="cupti")
    assert (cupti["State"], cupti["NumRuns"], math.isnan(cupti["AvgValue"])) == ("skipped", 0, True)
    assert cupti["Reason"] == f"the formula needs {READ}, which cupti does not read"


def test_no_formula_speaks_of_what_a_suite_recorded_outside_of_a_region() -> None:
    reading = {"annotation": "", "kernel": "", "metric": "room", "value": 20.0, "unit": "C", "run": 0}
    got = processed.table(table([*runs({TIME: [1e9]}), reading]), [Formula("s", "time", "s")])

    assert list(zip(got["Annotation"], got["Metric"], strict=True)) == [("fp32", TIME), ("", "room"), ("fp32", "s")]


# --- kernels that the suite ignores


def ignored(metric: str, kernel_index: int, run_index: int = 0) -> dict[str, Any]:
    place = {"run": run_index, "kernel_index": kernel_index, "metric": metric, "unit": "ns", "kernel": "fill"}
    return {**place, "value": float("nan"), "state": "skipped", "reason": combine.IGNORED}


def test_an_ignored_kernel_is_in_no_sum_and_no_count() -> None:
    rows = [
        *run({TIME: 100.0, SM: 50.0}, 0, 0, kernel="a"),
        ignored(TIME, 1),
        ignored(SM, 1),
        *run({TIME: 300.0, SM: 10.0}, 0, 2, kernel="b"),
    ]
    got = processed.table(table(rows))

    time = only(got, Metric=TIME)
    assert (time["AvgValue"], time["NumKernels"], time["Kernel"], time["State"]) == (400.0, 2, "a|b", "ok")
    assert only(got, Metric=SM)["AvgValue"] == (100 * 50 + 300 * 10) / 400


def test_a_region_of_ignored_kernels_alone_is_skipped_and_says_so() -> None:
    got = only(processed.table(table([ignored(TIME, 0), ignored(TIME, 1)])), Metric=TIME)
    assert (got["State"], got["Reason"], got["NumRuns"]) == ("skipped", combine.IGNORED, 0)


def test_what_an_ignored_kernel_alone_had_does_not_make_the_others_partial() -> None:
    rows = [*run({TIME: 100.0}, 0, 0, kernel="a"), ignored(TIME, 1)]
    assert only(processed.table(table(rows)), Metric=TIME)["AvgValue"] == 100.0


# --- a real report, against ncu's own export of it

BASE = DATA / "matmul.raw.base.csv"


@pytest.fixture(scope="module")
def real() -> pd.DataFrame:
    return ncu_rep.read(DATA / "matmul.ncu-rep", "data/import/matmul.ncu-rep").frame


def exported(metric: str) -> dict[tuple[str, int], list[list[float]]]:
    """Return the values of each run's kernels, by annotation and n, from the CSV alone."""
    with BASE.open(newline="", encoding="utf-8") as file:
        head, _, *lines = list(csv.reader(file))
    ranges, column = next(i for i, h in enumerate(head) if h.startswith("Id:Domain:Start")), head.index(metric)
    found: dict[tuple[str, int], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        said = re.search(r"bench:(\w+)\|n=(\d+)\|run=(\d+)", line[ranges])
        assert said is not None
        found[said[1], int(said[2])][int(said[3])].append(float(line[column].replace(",", "")))
    return {place: [values for _, values in sorted(by_run.items())] for place, by_run in found.items()}


def test_a_real_report_gives_one_row_for_each_annotation_configuration_and_metric(real: pd.DataFrame) -> None:
    got = processed.table(real)
    numbers = real[(real["state"] != "ok").to_numpy() | real["value"].notna().to_numpy()]
    metrics = numbers["metric"].astype("object").unique()
    want = {(a, n, m) for a in ("fp32", "fp16") for n in (256, 512, 1024, 2048) for m in metrics}
    places = list(zip(got["Annotation"], got["n"], got["Metric"], strict=True))
    assert len(places) == len(want)
    assert set(places) == want
    assert set(got[got["State"] == "ok"]["NumRuns"]) == {3}


def test_a_real_report_counts_split_k(real: pd.DataFrame) -> None:
    got = processed.table(real)
    times = got[got["Metric"] == TIME]
    counts = dict(zip(zip(times["Annotation"], times["n"], strict=True), times["NumKernels"], strict=True))
    assert counts == {
        (a, n): 2 if a == "fp32" and n <= 512 else 1 for a in ("fp32", "fp16") for n in (256, 512, 1024, 2048)
    }


@pytest.mark.parametrize("metric", [TIME, READ])
def test_a_real_reports_sums_are_those_of_ncus_export(real: pd.DataFrame, metric: str) -> None:
    got = processed.table(real)
    for (annotation, n), by_run in exported(metric).items():
        row = only(got, Annotation=annotation, n=n, Metric=metric)
        sums = [sum(values) for values in by_run]
        assert row["AvgValue"] == pytest.approx(plain.fmean(sums), rel=1e-11)
        assert (row["MinValue"], row["MaxValue"]) == pytest.approx((min(sums), max(sums)), rel=1e-11)
        if len(set(sums)) > 1:
            low, high = stats.t.interval(0.95, 2, loc=plain.fmean(sums), scale=stats.sem(sums))
            assert (row["CI95_Lower"], row["CI95_Upper"]) == pytest.approx((low, high), rel=1e-9)
        else:
            assert row["CI95_Lower"] == row["CI95_Upper"] == sums[0]


def test_a_real_reports_shares_weigh_by_time(real: pd.DataFrame) -> None:
    # The export rounds shares to two decimals.
    got = processed.table(real)
    times, shares = exported(TIME), exported(SM)
    for (annotation, n), by_run in shares.items():
        means = [
            sum(t * s for t, s in zip(ts, ss, strict=True)) / sum(ts)
            for ts, ss in zip(times[annotation, n], by_run, strict=True)
        ]
        assert only(got, Annotation=annotation, n=n, Metric=SM)["AvgValue"] == pytest.approx(
            plain.fmean(means), abs=0.006
        )


def test_a_real_reports_launches_differ_where_split_k_does(real: pd.DataFrame) -> None:
    got = processed.table(real)
    split = only(got, Annotation="fp32", n=256, Metric="launch__grid_size")
    assert (split["State"], split["Reason"]) == ("dropped", combine.DIFFERS)
    whole = only(got, Annotation="fp32", n=2048, Metric="launch__grid_size")
    assert whole["AvgValue"] == exported("launch__grid_size")["fp32", 2048][0][0]


def test_the_table_of_constants_spread_again_is_the_same(real: pd.DataFrame) -> None:
    raw, constants = samples.split_constants(real)
    again = processed.table(samples.expand(raw, constants))
    want = processed.table(real)
    key = ["Annotation", "n", "Metric"]
    pd.testing.assert_frame_equal(again.sort_values(key, ignore_index=True), want.sort_values(key, ignore_index=True))


def test_a_derived_metric_of_a_region_that_was_skipped_says_why_the_region_was() -> None:
    rows = runs({TIME: ["no fp8 here"] * 2}, n=8)
    for row in rows:
        row["state"] = "skipped"
    got = only(processed.table(table(rows), [TFLOPS]), Metric="TFLOP/s")

    assert (got["State"], got["Reason"]) == ("skipped", "no fp8 here")
