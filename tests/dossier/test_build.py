"""What a dossier makes of a collection: the order of its parts, what was not measured, and what collectors read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reportgen.analysis import groups, processed
from reportgen.analysis.derive import TIME
from reportgen.dossier import steadiness_table, svg
from reportgen.dossier.build import build
from reportgen.dossier.model import Dossier
from reportgen.dossier.text import plain
from reportgen.evidence import bundle, provenance
from reportgen.evidence.bundle import BundleInfo, open_bundle
from tests.analysis.building import Row, grouped, run, runs, table

STEADY = [100.0, 100.5, 101.0]
PLAN = {"backends": ["ncu", "cupti"], "benchmarks": [{"name": "second"}, {"name": "first"}]}


def dossier(tmp_path: Path, rows: list[Row], plan: Any = PLAN) -> Dossier:
    info = BundleInfo("mine", "Mine", "20261201T000000Z", "complete", plan=plan)
    facts = provenance.from_facts({}, "not said")
    return build(open_bundle(bundle.create(tmp_path, info, facts, {}, table(rows), {})))


def test_parts_stand_in_the_order_of_the_plan_the_usual_scenario_first(tmp_path: Path) -> None:
    rows = [
        row
        for benchmark in ("first", "second")
        for backend in ("cupti", "ncu")
        for scenario in ("continuous", "default")
        for row in runs({TIME: STEADY}, benchmark=benchmark, backend=backend, scenario=scenario)
    ]
    made = dossier(tmp_path, rows)

    assert [section.title for section in made.sections] == ["second", "first"]
    assert [block.heading for block in made.sections[0].blocks] == [
        "Nsight Compute, cold cache (default)",
        "Nsight Compute, warm cache (continuous)",
        "CUPTI, cold cache (default)",
        "CUPTI, warm cache (continuous)",
    ]


@pytest.mark.parametrize("plan", [{}, {"benchmarks": 3, "backends": "ncu"}, {"benchmarks": [None, {"title": 1}]}])
def test_a_plan_from_elsewhere_may_say_anything(tmp_path: Path, plan: dict[str, Any]) -> None:
    assert dossier(tmp_path, runs({TIME: STEADY}), plan).sections


def test_a_group_of_which_nothing_was_measured_is_one_sentence(tmp_path: Path) -> None:
    rows = runs({TIME: STEADY})
    never = {
        **rows[0],
        "scenario": "strict",
        "value": float("nan"),
        "state": "skipped",
        "reason": "clocks are left alone",
    }
    made = dossier(tmp_path, [*rows, never])
    (strict,) = [block for section in made.sections for block in section.blocks if "strict" in block.heading]

    assert plain(strict.lead) == "Not measured (skipped): clocks are left alone."
    assert not strict.charts
    assert not strict.tables


def test_what_collectors_read_is_no_case_but_a_table_of_its_own(tmp_path: Path) -> None:
    read = [
        {**row, "kernel": "", "kernel_index": None, "annotation": "", "unit": "°C"}
        for index, value in enumerate((40.0, 42.0, 44.0))
        for row in run({"temperature": value}, index, n=8)
    ]
    rows = [*runs({TIME: STEADY}, n=8), *read]
    whole = processed.table(table(rows))
    made = steadiness_table.readings(whole[groups.readings(whole)], "readings")

    assert [[plain(cell.parts) for cell in row] for row in made.rows] == [
        ["temperature", "square", "ncu", "default", "8", "42 °C", "40 °C", "44 °C", "°C", "3"]
    ]
    assert [case.annotation for group in grouped(rows) for case in group.cases] == ["fp32"]
    assert any(block.heading == "What the suite's collectors read" for block in dossier(tmp_path, rows).method.blocks)


def test_rates_stand_before_bare_numbers() -> None:
    rows = [*runs({TIME: STEADY, "error": [1.0] * 3, "GB/s": [2.0] * 3})]
    for row in rows:
        row["unit"] = {"GB/s": "GB/s"}.get(row["metric"], row["unit"])

    assert grouped(rows)[0].derived == ("GB/s", "error")


def test_a_chart_keeps_what_it_draws_and_little_else() -> None:
    mark = '<use xlink:href="#m" x="{}" y="2.000000" fill="#000" class="f-ink"/>'
    marks = "\n".join(mark.format(f"1.23456{n}") for n in range(3))
    text = f'<svg><g id="unused">\n<g>\n<path id="m" d="M 0 1.23456 L 10 2.5"/>\n{marks}\n</g>\n</g>\n<g id="empty"/></svg>'

    assert (
        svg._compact(text).split()
        == (
            '<svg> <path id="m" d="M 0 1.23 L 10 2.5"/> <g fill="#000" class="f-ink"> '
            + '<use xlink:href="#m" x="1.23" y="2.00"/> ' * 3
            + "</g> </svg>"
        ).split()
    )
