"""Why it is so: what limits each kernel, the roofline, the tables of many kernels."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from reportgen.analysis.derive import TIME
from reportgen.analysis.evaluate import Evaluator
from reportgen.analysis.measurements import Measurements
from reportgen.dossier import kernel_table
from reportgen.dossier.build import build
from reportgen.dossier.model import Block, Dossier, Table, figures
from reportgen.dossier.text import LONGEST_WHOLE, plain
from reportgen.evidence.bundle import open_bundle
from tests.analysis.building import DRAM, SM, run
from tests.dossier import fuller, many
from tests.dossier.test_tables import shown


def made(tmp_path: Path) -> Dossier:
    return build(open_bundle(fuller.make(tmp_path)))


def block(dossier: Dossier, index: int = 0) -> Block:
    assert dossier.limits is not None
    return dossier.limits.blocks[index]


def table(of: Block, end: str) -> Table:
    return next(one for one in of.tables if one.id.endswith(end))


def test_every_figure_is_computed_again_from_its_source(tmp_path: Path) -> None:
    bundle = open_bundle(fuller.make(tmp_path))
    dossier = build(bundle)
    evaluate = Evaluator(Measurements(bundle.samples(), bundle.info, bundle.provenance), {})
    assert dossier.limits is not None
    printed = list(figures(dossier.limits))
    assert len(printed) > 100
    for figure in printed:
        assert evaluate(figure.source).value == pytest.approx(figure.value, rel=1e-12), figure.source
    asked = {figure.source.partition("(")[0] for figure in printed}
    assert {"flop_rate", "intensity", "share_of_roof", "stall_share", "flop_rate_of", "byte_rate_of"} <= asked


def test_the_roofline_says_what_was_counted_and_where_its_ceilings_are_from(tmp_path: Path) -> None:
    dossier = made(tmp_path)
    first = block(dossier)
    limits, roof = first.charts
    assert (limits.title, roof.title) == ("SM against memory throughput", "Roofline")
    said = plain(roof.caption).replace("\u00a0", " ")
    assert (
        "FLOP are those that the suite records of each region; bytes are what the profiler counted to and from DRAM."
        in said
    )
    assert (
        "The ceiling of compute is measured, 785.4 TFLOP/s: the most that most_arithmetic reached, with matmul fp16."
        in said
    )
    assert "The ceiling of memory is measured, 4.295 TB/s: the most that most_bytes reached, with x *= 2." in said
    assert "gather has no place, for there are no FLOP." in said
    rows = {row["annotation"]: row for row in shown(table(first, "-roof"))}
    assert list(rows) == ["matmul", "scale", "softmax", "small"]
    scale = rows["scale"]  # 2²⁶ FLOP in 125 us over 5e8 bytes
    assert (scale["rate [TFLOP/s]"], scale["roof"]) == ("0.5369", "memory")
    assert (scale["DRAM [FLOP/byte]"], scale["L2 [FLOP/byte]"]) == ("0.1342", "0.08389")
    assert scale["of the roof [%]"] == "93.13"  # 4 TB/s of 4.295
    data = next(file for file in dossier.data if file.name == roof.data_name)
    assert [row["flop_known_by"] for row in csv.DictReader(io.StringIO(data.text))][-2:] == [
        "measured by most_arithmetic",
        "measured by most_bytes",
    ]


def test_a_benchmark_that_sets_a_ceiling_has_no_roofline_of_its_own(tmp_path: Path) -> None:
    dossier = made(tmp_path)
    assert [chart.title for chart in block(dossier, 1).charts] == []
    assert [one.id.rpartition("-")[2] for one in block(dossier, 1).tables] == ["kernels", "launches"]


def test_kernels_say_what_limits_them_and_what_they_waited_for(tmp_path: Path) -> None:
    first = block(made(tmp_path))
    limits = {row["annotation"]: row for row in shown(table(first, "-kernels"))}
    assert {name: row["limit"] for name, row in limits.items()} == {
        "matmul": "compute",
        "scale": "memory",
        "gather": "memory (L2)",
        "softmax": "memory (L2)",
        "small": "latency",
    }
    facts = shown(table(first, "-launches"))[0]
    assert facts["longest waits"] == "long scoreboard 60.0, barrier 15.0"
    assert (facts["occupancy [%]"], facts["at most [%]"], facts["held by"]) == ("85", "100", "registers")
    rules = shown(table(first, "-rules"))
    assert [(row["rule"], row["annotation"], row["may gain [%]"]) for row in rules] == [
        ("Long Scoreboard Stalls", "scale", "14.6"),
        ("High Throughput", "scale", "0"),
    ]
    assert rules[0]["what it says"].endswith("…")


def test_what_was_not_measured_is_no_column_and_said_where_only_some_lack_it(tmp_path: Path) -> None:
    rows = [
        *run({TIME: 3000.0, SM: 80.0, DRAM: 20.0, "launch__grid_size": 1024.0}, 0, 0, kernel="void gemm<a>(int)", n=1),
        *run({TIME: 50.0, SM: 3.0, "launch__grid_size": 1.0}, 0, 1, kernel="reduce", n=1),
        *run({TIME: 9000.0, SM: 80.0, DRAM: 20.0, "launch__grid_size": 1024.0}, 0, 0, kernel="void gemm<a>(int)", n=2),
    ]
    for row in rows:
        row["suite"] = "s"
    first = block(build(open_bundle(fuller.make(tmp_path, rows, {}, ()))))
    got = shown(table(first, "-kernels"))
    assert [(r["n"], r["kernel"], r["SM [%]"], r["DRAM [%]"], r["limit"]) for r in got] == [
        ("2", "gemm<a>(int)", "80", "20", "compute"),
        ("1", "gemm<a>(int)", "80", "20", "compute"),
        ("1", "reduce", "3", "(not known)", "(not known)"),
    ]
    assert [r["share [%]"] for r in got] == ["100.0", "98.4", "1.64"]
    assert "L2 [%]" not in got[0]


# --- many kernels


@pytest.mark.parametrize("region", ["", "step"])
def test_many_launches_stand_together_by_name_and_shape(tmp_path: Path, region: str) -> None:
    dossier = build(open_bundle(many.make(tmp_path, launches=600, metrics=12, kernels=40, region=region)))
    first = block(dossier)
    limits = table(first, "-kernels")
    assert (len(limits.rows), limits.left_out) == (kernel_table.MOST_KINDS, 200 - kernel_table.MOST_KINDS)
    top = shown(limits)[0]
    assert top["time [us]"] == "40.00"  # kernel 39: 40 of 820 parts of all time, in five shapes alike
    assert top["share [%]"] == "0.98"
    data = next(file for file in dossier.data if file.name == limits.data_name)
    assert not data.inline
    assert len(list(csv.reader(io.StringIO(data.text)))) == 201


def test_a_very_long_name_stands_whole_in_the_csv_alone(tmp_path: Path) -> None:
    dossier = build(open_bundle(many.make(tmp_path, launches=40, metrics=12, kernels=40, longest=8000, region="step")))
    whole = many.names(1, 8000)[0]
    shown_names = [
        part.whole
        for row in table(block(dossier), "-kernels").rows
        for cell in row
        for part in cell.parts
        if hasattr(part, "whole")
    ]
    assert max(map(len, shown_names)) <= LONGEST_WHOLE
    assert whole in next(file for file in dossier.data if file.name.endswith("-kernels.csv")).text
