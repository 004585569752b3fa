from __future__ import annotations

from reportgen.analysis.derive import TIME
from reportgen.dossier import pivot
from reportgen.dossier.declared import Declared
from reportgen.dossier.model import Cell, Figure, Table
from reportgen.dossier.text import plain
from reportgen.evidence.bundle import Formula
from tests.analysis.building import Row, grouped, runs

SPREAD = (0.999, 1.0, 1.001)
FLOPS = Formula("GFLOP/s", "2*n**3 / time / 1e9", "GFLOP/s")
BASE = Declared("square", baseline="fp32")


def sweep(name: str, times: dict[int, float], spread: tuple[float, ...] = SPREAD, **over: int) -> list[Row]:
    return [
        row
        for n, time in times.items()
        for row in runs({TIME: [time * s for s in spread]}, annotation=name, n=n, **over)
    ]


def of(rows: list[Row], declared: Declared = BASE, *formulas: Formula, tick: float = 0.0) -> Table | None:
    return pivot.by_axis(grouped(rows, formulas)[0], "t", "d.csv", declared, tick)


def shown(made: Table | None) -> list[list[str]]:
    assert made is not None
    assert all(len(row) == len(made.columns) for row in made.rows)
    return [[_text(cell) for cell in row] for row in made.rows]


def _text(cell: Cell) -> str:
    text = "".join(part.text if isinstance(part, Figure) else plain((part,)) for part in cell.parts)
    return f"{text} ({cell.mark})".strip() if cell.mark else text


ROWS = [
    *sweep("fp32", {2: 400.0, 4: 800.0, 8: 1600.0}),
    *sweep("fp16", {2: 400.2, 4: 200.0, 8: 200.0}, (1.001, 1.0, 0.999)),
]


def test_each_place_says_what_is_fastest_and_by_how_much() -> None:
    made = of(ROWS)
    assert made is not None
    assert [(c.label, c.unit) for c in made.columns] == [
        *(("n", ""), ("fp32", "ns"), ("fp16", "ns"), ("fastest", "")),
        *(("times as fast as the baseline", ""), ("95 % CI", "")),
    ]
    assert shown(made) == [
        ["2", "400.0", "400.2", "(cannot tell)", "", ""],
        ["4", "800.0", "200.0", "fp16", "4", "3.980 to 4.020"],
        ["8", "1 600", "200.0", "fp16", "8", "7.96 to 8.04"],
    ]


def test_the_suites_main_metric_is_shown_and_the_time_still_decides() -> None:
    made = of(ROWS, Declared("square", baseline="fp32", main="GFLOP/s"), FLOPS)
    assert made is not None
    assert [c.unit for c in made.columns][1:3] == ["GFLOP/s"] * 2
    assert shown(made)[2][2:4] == ["5.120", "fp16"]
    assert made.caption.startswith("GFLOP/s by n,")


def test_without_a_baseline_the_next_is_what_it_is_set_against() -> None:
    rows = [*ROWS, *sweep("tf32", {2: 900.0, 4: 400.0, 8: 300.0})]
    made = of(rows, Declared("square"))
    assert made is not None
    assert made.columns[-2].label == "times as fast as the next"
    assert [row[-2] for row in shown(made)][1:] == ["2", "1.500"]


def test_who_cannot_be_told_from_the_fastest_is_named_with_it() -> None:
    rows = [*ROWS, *sweep("bf16", {2: 400.0, 4: 200.1, 8: 200.1}, (0.99, 1.0, 1.01))]
    assert shown(of(rows))[1][4] == "fp16, not to be told from bf16"


def test_where_the_baseline_is_the_fastest_no_ratio_is_taken() -> None:
    rows = [*sweep("fp32", {2: 100.0, 4: 100.0, 8: 100.0}), *sweep("fp16", {2: 200.0, 4: 200.0, 8: 200.0})]
    assert shown(of(rows))[0][3:] == ["fp32", "", ""]


def test_annotations_that_do_different_work_stand_beside_each_other_without_a_winner() -> None:
    made = of(ROWS, Declared("square", apart=True))
    assert made is not None
    assert [c.label for c in made.columns] == ["n", "fp32", "fp16"]


def test_a_place_that_lacks_one_says_so_and_an_unstable_one_is_marked() -> None:
    rows = [*sweep("fp32", {2: 400.0, 4: 800.0, 8: 1600.0}), *sweep("fp16", {4: 200.0, 8: 200.0}, (0.9, 1.0, 1.1))]
    made = shown(of(rows))
    assert made[0][2:4] == ["(not known)", "(cannot tell)"]
    assert made[1][2].endswith("(unstable)")


def test_what_is_no_sweep_of_several_has_no_such_table() -> None:
    assert of(sweep("fp32", {2: 1.0, 4: 1.0, 8: 1.0})) is None, "one annotation"
    assert of([*sweep("fp32", {2: 1.0}), *sweep("fp16", {2: 1.0})]) is None, "one place"
    many = [row for i in range(pivot.MOST_ANNOTATIONS + 1) for row in sweep(f"a{i}", {2: 1.0, 4: 1.0, 8: 1.0})]
    assert of(many) is None
    two = [row for k in (1, 2) for a in ("x", "y") for row in sweep(a, {2 * k: 1.0, 8 * k: 1.0, 32 * k: 1.0}, k=k)]
    assert of(two) is None, "another parameter varies too"
