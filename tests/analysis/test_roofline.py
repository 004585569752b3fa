"""Rooflines, with values computed by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from reportgen.analysis import roofline
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Group
from reportgen.analysis.roofline import Points, points
from reportgen.evidence import provenance
from reportgen.evidence.bundle import Formula
from tests.analysis.building import READ, WRITTEN, Row, grouped, run

OP = "sm__sass_thread_inst_executed_op_{}_pred_on.sum"
CYCLE = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum.per_cycle_elapsed"
HZ = "smsp__cycles_elapsed.avg.per_second"
TENSOR = "sm__ops_path_tensor_src_{}.sum"
FP32 = {OP.format("fadd"): 1e6, OP.format("fmul"): 2e6, OP.format("ffma"): 5e6}  # 13 MFLOP
IDLE = {roofline.TENSOR_BUSY: 0.0}
MOVED = {READ: 3e6, WRITTEN: 1e6}


def case(values: Mapping[str, float], annotation: str = "a", flop: float | None = None, **over: Any) -> list[Row]:
    rows = run({TIME: 2000.0, **MOVED, **values}, annotation=annotation, **over)
    if flop is not None:
        (row,) = run({"FLOP": flop}, annotation=annotation, **over)
        rows.append({**row, "kernel": "", "kernel_index": None, "unit": "FLOP"})
    return rows


def group(*rows: list[Row], formulas: tuple[Formula, ...] = ()) -> Group:
    (one,) = grouped([row for some in rows for row in some], formulas)
    return one


def only(found: Points) -> roofline.Point:
    (point,) = found.points
    return point


def test_flop_are_counted_a_fused_one_twice_and_divided_by_bytes() -> None:
    point = only(points(group(case({**FP32, **IDLE, "lts__t_bytes.sum": 8e6, "l1tex__t_bytes.sum": 13e6}))))
    assert point.how == "counters"
    assert point.rate.value == pytest.approx(13e6 / 2e-6)  # 6.5 TFLOP/s
    assert {level: found.value for level, found in point.intensity.items()} == pytest.approx(
        {"DRAM": 13 / 4, "L2": 13 / 8, "L1": 1.0}
    )


def test_operations_in_a_cycle_stand_in_for_counts() -> None:
    values = {CYCLE.format("fadd"): 10.0, CYCLE.format("fmul"): 20.0, CYCLE.format("ffma"): 50.0, HZ: 2e9, **IDLE}
    assert only(points(group(case(values)))).rate.value == pytest.approx(130 * 2e9)


def test_the_tensor_cores_work_is_added_and_counted_once() -> None:
    values = {
        **FP32,
        TENSOR.format("fp16"): 100e6,
        TENSOR.format("fp16_dst_fp32"): 60e6,  # within the one above
        TENSOR.format("bf16_dst_fp32"): 7e6,
        TENSOR.format("int8"): 1e9,
    }
    assert only(points(group(case(values)))).rate.value == pytest.approx(120e6 / 2e-6)


def test_counters_without_the_tensor_cores_give_way_to_what_the_suite_says() -> None:
    recorded = only(points(group(case({**FP32, roofline.TENSOR_BUSY: 5.0}, flop=80e6))))
    assert recorded.how == "recorded"
    assert recorded.rate.value == pytest.approx(80e6 / 2e-6)
    formula = (Formula("GFLOP/s", "2*n**3 / time / 1e9", "GFLOP/s"),)
    told = only(points(group(case({**FP32, roofline.TENSOR_BUSY: 5.0}, n=100), formulas=formula)))
    assert told.how == "formula"
    assert told.rate.value == pytest.approx(2e6 / 2e-6)
    assert told.rate.source.startswith("flop_rate_of(")
    assert only(points(group(case(FP32)))).how == "counters without tensor cores"
    lost = points(group(case({**FP32, roofline.TENSOR_BUSY: 5.0})))
    assert (lost.points, [one.annotation for one in lost.unknown]) == ((), ["a"])


def test_one_way_is_taken_for_all_where_it_knows_all() -> None:
    both = group(case({**FP32, **IDLE}, "a", 1e6), case({roofline.TENSOR_BUSY: 9.0}, "b", 3e6))
    assert {point.case.annotation: point.how for point in points(both).points} == {"a": "recorded", "b": "recorded"}
    mixed = group(case({**FP32, **IDLE}, "a"), case({}, "b", 3e6))
    assert {point.case.annotation: point.how for point in points(mixed).points} == {"a": "counters", "b": "recorded"}


def test_no_arithmetic_no_bytes_and_no_time_have_no_place() -> None:
    idle = points(group(case({}, flop=0.0)))
    assert (idle.points, [one.annotation for one in idle.idle]) == ((), ["a"])
    assert points(group(run({TIME: 2000.0, **FP32, **IDLE}))) == Points((), (), ())
    assert points(group(run({**MOVED, **FP32, **IDLE}))) == Points((), (), ())
    assert points(group(run({TIME: 2000.0, READ: 3e6, **FP32, **IDLE}))) == Points((), (), ())  # writes not counted


def test_the_highest_rate_of_the_benchmarks_that_set_it_is_the_measured_ceiling() -> None:
    formulas = (Formula("TFLOP/s", "2*n**3 / time / 1e12", "TFLOP/s"), Formula("GB/s", "size / time / 1e9", "GB/s"))
    small, large = case({}, n=100), case({}, n=1000)
    setting = group(small, large, formulas=formulas[:1])
    ceiling = roofline.measured("compute", [(setting, "TFLOP/s")])
    assert ceiling is not None
    assert ceiling.of.value == pytest.approx(2e9 / 2e-6)
    assert (ceiling.measured, ceiling.case is not None and ceiling.case.configuration) == (True, "n = 1000")
    moved = group(case({}, size=9_000_000), formulas=formulas[1:])
    told = roofline.measured("memory", [(moved, "GB/s")])
    assert told is not None
    assert told.of.value == pytest.approx(9e6 / 2e-6)
    counted = roofline.measured("memory", [(moved, "")])
    assert counted is not None
    assert counted.of.value == pytest.approx(4e6 / 2e-6)
    assert roofline.measured("memory", []) is None


def test_rated_ceilings_are_those_of_the_report_at_the_clock_seen_else_of_provenance() -> None:
    peaks = {"dram__bytes.sum.peak_sustained": 1504.0, "dram__cycles_elapsed.avg.per_second": 3.2e9}
    compute = {
        "derived__sm__sass_thread_inst_executed_op_ffma_pred_on_x2": 33792.0,
        "sm__cycles_elapsed.avg.per_second": 1.9e9,
    }
    facts = provenance.from_facts({"clocks.memory_rated_hz": 3.201e9, "gpu.bus_width_bits": 6016}, "not said", "a test")
    nothing = provenance.from_facts({}, "not said", "a test")
    slow = case({**peaks, "dram__cycles_elapsed.avg.per_second": 1e9}, "slow")
    of = group(case({**peaks, **compute}), slow)
    memory, flop = roofline.rated("memory", of, facts), roofline.rated("compute", of, facts)
    assert memory is not None
    assert flop is not None
    assert memory.of.value == pytest.approx(1504 * 3.2e9)
    assert not memory.measured
    assert flop.of.value == pytest.approx(33792 * 1.9e9)
    assert flop.single
    from_facts = roofline.rated("memory", group(case({})), facts)
    assert from_facts is not None
    assert from_facts.of.value == pytest.approx(6016 / 8 * 2 * 3.201e9)
    assert roofline.rated("memory", group(case({})), nothing) is None
    assert roofline.rated("compute", group(case({})), facts) is None
    assert roofline.rated("memory", group(case({})), facts, "L2") is None


@pytest.mark.parametrize(("at", "roof", "kind"), [(1.0, 4e12, "memory"), (100.0, 66e12, "compute")])
def test_the_roof_is_the_lower_of_both_ceilings(at: float, roof: float, kind: str) -> None:
    assert roofline.roof(at, 4e12, 66e12) == roof
    flop = at * 4e6
    point = only(points(group(case({}, flop=flop))))
    ceilings = [
        roofline.Ceiling("compute", roofline.Quantity(66e12, "c")),
        roofline.Ceiling("memory", roofline.Quantity(4e12, "m"), "DRAM"),
    ]
    found = roofline.share(point, ceilings)
    assert found is not None
    assert found[0].value == pytest.approx(100 * flop / 2e-6 / roof)
    assert found[1] == kind
    assert roofline.share(point, ceilings[:1]) is None
    fp32 = roofline.Ceiling("compute", roofline.Quantity(66e12, "c"), single=True)
    assert roofline.share(point, [fp32, ceilings[1]]) is None  # what was recorded may be the tensor cores' work
    assert roofline.ridge(66e12, 4e12) == 16.5
    assert not math.isnan(point.rate.value)
