from __future__ import annotations

import math
import re
from typing import Any

import pytest

from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Group
from reportgen.dossier import cells, steadiness_table, tables
from reportgen.dossier.declared import Declared
from reportgen.dossier.model import Cell, Figure, Table
from reportgen.dossier.text import plain
from reportgen.evidence.bundle import Formula
from tests.analysis.building import CLOCK, DRAM, READ, SM, WRITTEN, Row, grouped, run, runs


def shown(made: Table) -> list[dict[str, str]]:
    assert all(len(row) == len(made.columns) for row in made.rows)
    heads = [f"{c.label} [{c.unit}]" if c.unit else c.label for c in made.columns]
    return [dict(zip(heads, (clear(cell) for cell in row), strict=True)) for row in made.rows]


def clear(cell: Cell) -> str:
    text = "".join(p.text if isinstance(p, Figure) else plain((p,)) for p in cell.parts)
    return re.sub(r"\s", " ", f"{text} ({cell.mark})" if cell.mark else text).strip()


def results(rows: list[Row], *formulas: Formula) -> Table:
    return tables.results(grouped(rows, formulas)[0], "t", "processed.csv")


def test_a_table_says_what_was_measured_in_one_unit_a_column() -> None:
    rows = [
        *runs({TIME: [900.0, 910.0, 920.0], READ: [2e6] * 3, SM: [99.96] * 3, CLOCK: [1.98e9] * 3}, n=256),
        *runs({TIME: [90_000.0, 90_100.0, 90_200.0], READ: [3e9] * 3, SM: [50.0] * 3, CLOCK: [1.9e9] * 3}, n=2048),
        *runs({TIME: [9_000.0, 9_001.0, 9_002.0], READ: [4e6] * 3, SM: [50.0] * 3, CLOCK: [1.9e9] * 3}, n=1024),
    ]
    got = shown(results(rows))
    assert [row["time [us]"] for row in got] == ["0.910", "90.10", "9.0010"]
    assert [row["95 % CI [us]"] for row in got] == ["0.885 to 0.935", "89.85 to 90.35", "8.9985 to 9.0035"]
    assert [row["runs"] for row in got] == ["3", "3", "3"]
    assert [row["DRAM read [MB]"] for row in got] == ["2.000", "3 000", "4.000"]
    assert [row["SM [%]"] for row in got] == ["99.96", "50", "50"]
    assert "kernels" not in got[0]
    for row in results(rows).rows:
        for cell in row:
            for part in cell.parts:
                if isinstance(part, Figure):
                    assert part.source
                    assert part.exact


def test_an_unstable_row_is_marked_and_says_why() -> None:
    made = results([*runs({TIME: [100.0, 110.0, 120.0]}, n=1), *runs({TIME: [100.0, 101.0, 100.0]}, n=2)])
    time = [row[2] for row in made.rows]
    assert [c.mark for c in time] == ["unstable", ""]
    assert time[0].why == "relative deviation 9.09 %"


def test_what_failed_stands_there_with_its_reason_and_without_a_number() -> None:
    made = results([*runs({TIME: ["out of memory"]}, n=1), *runs({TIME: [5.0]}, n=2)])
    failed = made.rows[0]
    assert (failed[2].mark, failed[2].why, failed[2].parts) == ("failed", "out of memory", ())
    assert failed[4] == Cell(("",), -math.inf), "nothing is said of the deviation of what failed"
    assert clear(failed[5]) == "0"
    alone = made.rows[1]
    assert (alone[3].why, alone[4].why) == ("under three runs", "a single run has no deviation")


def test_a_metric_that_was_not_asked_for_is_not_known() -> None:
    made = results([*runs({TIME: [5.0], READ: [1.0], SM: [1.0]}, n=1), *runs({TIME: [5.0]}, n=2)])
    cell = made.rows[1][[c.label for c in made.columns].index("DRAM read")]
    assert (cell.mark, cell.parts) == ("–", ())


def test_kernels_are_counted_where_a_region_has_several() -> None:
    rows = [*run({TIME: 1.0}, 0, 0, n=1), *run({TIME: 1.0}, 0, 1, n=1), *run({TIME: 1.0}, 0, 0, n=2)]
    assert [row["kernels"] for row in shown(results(rows))] == ["2", "1"]


def test_derived_metrics_come_before_bytes() -> None:
    rows = runs({TIME: [1000.0], WRITTEN: [5.0], READ: [5.0], DRAM: [4.0]}, n=1)
    labels = [c.label for c in results(rows, Formula("GFLOP/s", "n / time / 1e9", "GFLOP/s")).columns]
    assert labels == [
        *("annotation", "n", "time", "95 % CI", "GFLOP/s", "deviation", "runs"),
        *("DRAM read", "DRAM written", "DRAM"),
    ]


def test_what_a_suite_is_about_comes_first_of_the_derived() -> None:
    rows = runs({TIME: [1000.0] * 3}, n=1)
    formulas = [Formula("B/s", "n / time", "B/s"), Formula("GFLOP/s", "n / time / 1e9", "GFLOP/s")]
    made = tables.results(grouped(rows, formulas)[0], "t", "d", Declared("square", main="GFLOP/s"))
    assert [c.label for c in made.columns][2:6] == ["time", "95 % CI", "GFLOP/s", "B/s"]


def test_hundreds_of_metrics_do_not_flood_a_table_and_are_named() -> None:
    many = {f"smsp__warps_stalled_{i}.avg": [1.0] * 3 for i in range(300)}
    derived = [Formula(f"d{i}", f"n + {i}", "") for i in range(12)]
    rows = runs({TIME: [1000.0] * 3, READ: [5.0] * 3, CLOCK: [1e9] * 3, **many}, n=1)
    made = tables.results(grouped(rows, derived)[0], "t", "processed.csv")
    assert len(made.columns) == tables.MOST_COLUMNS
    assert [c.label for c in made.columns][4:12] == [f"d{i}" for i in range(8)]
    assert len(made.more) == 4 + 2 + 300
    assert READ in made.more
    few = tables.results(grouped(rows)[0], "t", "processed.csv")
    assert [c.label for c in few.columns][-2:] == ["DRAM read", "SM clock"]
    assert len(few.more) == 300


def test_of_two_clocks_the_kernels_own_is_shown_and_a_span_only_of_several_kernels() -> None:
    values = {TIME: [10.0] * 3, CLOCK: [1e9] * 3, "nvml__sm_clock": [2e9] * 3, "region__span": [10.0] * 3}
    labels = [c.label for c in results(runs(values, n=1)).columns]
    assert labels.count("SM clock") == 1
    assert "span" not in labels
    two = [*run({TIME: 10.0, "region__span": 30.0}, 0, 0), *run({TIME: 10.0}, 0, 1)]
    assert "span" in [c.label for c in results(two).columns]


def test_parameters_are_figures_in_their_unit_and_words_are_words() -> None:
    rows = runs({TIME: [1.0]}, size=4096, kind="fp16")
    made = tables.results(grouped(rows)[0], "t", "d", Declared("square", units={"size": "byte"}))
    size, kind = made.rows[0][1:3]
    assert clear(size) == "4"
    (part,) = size.parts
    assert isinstance(part, Figure)
    assert (part.value, part.unit, part.exact) == (4096.0, "KiB", "4096 byte")
    assert part.source.startswith("parameter:")
    assert kind.parts == ("fp16",)


def test_long_tables_say_how_many_rows_are_left_out() -> None:
    made = results([row for n in range(cells.MOST_ROWS + 3) for row in runs({TIME: [1.0]}, n=n)])
    assert (len(made.rows), made.left_out, made.data_name) == (cells.MOST_ROWS, 3, "processed.csv")


def lines(group: Group) -> list[steadiness_table.Line]:
    """Return the lines of a table of how steady a group's cases were."""
    return [steadiness_table.Line(group, case, Declared()) for case in group.cases]


def test_a_drift_and_a_first_run_that_stands_apart_are_marked_with_their_size() -> None:
    rows = [
        *runs({TIME: [1000.0 + 5 * r for r in range(10)]}, n=1),
        *runs({TIME: [1100.0, *[1000.0, 1001.0, 999.0] * 3]}, n=2),
    ]
    made = steadiness_table.stability(lines(grouped(rows)[0]), "t")
    (first, second) = made.rows
    assert [(cell.mark, clear(cell)) for cell in first[4:6]] == [("", "-2.4"), ("drifts up", "4.4 (drifts up)")], (
        "-25 of 1025; 45 of 1022.5"
    )
    assert (second[4].mark, clear(second[4])) == ("stands apart", "10 (stands apart)")
    assert second[5].mark == ""
    ticking = steadiness_table.Line(grouped(rows)[0], grouped(rows)[0].cases[0], Declared(), tick=60.0)
    assert steadiness_table.stability([ticking], "t").rows[0][5].mark == "", "45 ns are within two ticks"


def test_rows_of_several_benchmarks_stand_in_one_table() -> None:
    rows = [*runs({TIME: [1.0] * 3}, benchmark="a", n=1), *runs({TIME: [2.0] * 3}, benchmark="b", m=2)]
    got = shown(steadiness_table.stability([line for group in grouped(rows) for line in lines(group)], "t"))
    assert [(r["benchmark"], r["configuration"].replace("\N{NO-BREAK SPACE}", " "), r["median [ns]"]) for r in got] == [
        ("a", "n = 1", "1"),
        ("b", "m = 2", "2"),
    ]


def test_stability_shows_least_median_and_most() -> None:
    rows = [
        *runs({TIME: [100.0, 104.0, 120.0]}, n=1),
        *runs({TIME: [100.0]}, n=2),
        *runs({TIME: ["boom"]}, n=3),
        *runs({TIME: [100.0, 100.0]}, n=4),
    ]
    made = steadiness_table.stability(lines(grouped(rows)[0]), "t")
    got = shown(made)
    assert [(r["least [ns]"], r["median [ns]"], r["most [ns]"]) for r in got] == [
        ("100", "104", "120"),
        ("100", "100", "100"),
        ("", "(failed)", ""),
        ("100", "100", "100"),
    ]
    assert [r["verdict"] for r in got] == ["(unstable)", "one run: cannot tell", "", "stable"]
    assert got[3]["deviation [%]"] == "0"


@pytest.mark.parametrize(
    "metrics", [{"launch__grid_size": [8.0] * 3}, {"x__y.sum": [0.0] * 3}, {"x__y.sum": [-1.0, 1.0, 0.0]}]
)
def test_tables_stand_for_any_metric(metrics: dict[str, Any]) -> None:
    group = grouped(runs(metrics, n=1))[0]
    assert len(tables.results(group, "t", "d").rows) == 1
    assert len(steadiness_table.stability(lines(group), "t").rows) == 1


def test_a_mean_of_0_has_no_relative_deviation() -> None:
    made = results(runs({"x__y.sum": [-1.0, 1.0, 0.0]}, n=1))
    assert made.rows[0][4].why == "its mean is 0"


def test_names_are_shortened_and_made_visible() -> None:
    made = results(runs({TIME: [1.0]}, annotation="a\x07" + "b" * 100, p="x\u202ey"))
    name, parameter = made.rows[0][:2]
    assert len(clear(name)) <= 48
    assert "U+0007" in clear(name)
    assert clear(parameter) == "xU+202Ey"
