"""The measurement's own story, made of a small collection whose numbers are worked out by hand."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from reportgen.analysis.derive import TIME
from reportgen.dossier.build import build
from reportgen.dossier.model import Block, Dossier, Table
from reportgen.dossier.text import plain
from reportgen.evidence import bundle, provenance
from reportgen.evidence.bundle import BundleInfo, open_bundle
from reportgen.evidence.provenance import Fact
from tests.analysis.building import Row, runs, table

STEADY = [10_000.0, 10_010.0, 10_005.0, 10_002.0, 10_008.0, 10_004.0, 10_006.0, 10_003.0, 10_007.0, 10_001.0]
BENCH = {
    "name": "square",
    "configs": [{"index": 0, "params": [["n", "1"]], "runs": 10}, {"index": 1, "params": [["n", "2"]], "runs": 5}],
    "warmup": 2,
    "heat": "burst",
    "thermal": "off",
    "replay": "kernel",
    "graphs": "node",
}
FACTS: dict[str, Any] = {
    "policy.flush_granularity": "ncu: kernel and pass; cupti: region",
    "policy.flush_bytes": 250_000_000,
    "clocks.sm_rated_hz": 2e9,
    "timer.cupti_tick_ns": 7.0,
}


def line(run: int, n: int, clock: float, throttle: int = 0) -> dict[str, Any]:
    reading = {"sm_clock_hz": clock, "power_w": 100.0 + run, "temperature_c": 30.0 + run, "throttle": throttle}
    return {
        "benchmark": "square", "annotation": "fp32", "params": {"n": str(n)}, "run": run, "state": "ok", "region": True,
        "start": 10**18 + run * 10**9, "end": 10**18 + run * 10**9 + 5 * 10**8, "before": reading, "after": reading,
    }  # fmt: skip


def dossier(tmp_path: Path, rows: list[Row], plan: Any = None, losses: tuple[str, ...] = ()) -> Dossier:
    lines = [line(run, n, 1.5e9 if run else 2e9, 4 * (run == 2)) for run in range(3) for n in (1, 2)]
    files: dict[str, bytes | Path] = {
        "cupti/default/0/runs.jsonl": "".join(json.dumps(one) + "\n" for one in lines).encode(),
        "cupti/default/0/done.json": json.dumps({"start": 5.0, "end": 8.0, "regions": 6}).encode(),
    }
    info = BundleInfo(
        "mine",
        "Mine",
        "20261201T000000Z",
        "complete",
        plan={"benchmarks": [BENCH]} if plan is None else plan,
        losses=losses,
    )
    facts = provenance.from_facts({key: Fact(value, "", "a test") for key, value in FACTS.items()}, "not said")
    return build(open_bundle(bundle.create(tmp_path, info, facts, files, table(rows), {})))


def measured(**over: Any) -> list[Row]:
    return [row for n in (1, 2) for row in runs({TIME: STEADY}, **{"backend": "cupti", "n": n, **over})]


def block(made: Dossier, name: str) -> Block:
    return next(one for one in made.method.blocks if one.id == name)


def shown(made: Table) -> list[list[str]]:
    return [[plain(cell.parts) + (f" ({cell.mark})" if cell.mark else "") for cell in row] for row in made.rows]


def test_the_plan_is_told_in_words_and_numbers(tmp_path: Path) -> None:
    made = block(dossier(tmp_path, measured()), "method-plan")
    assert plain(made.lead) == (
        "Each process measured by itself all that is asked of its backend and scenario. "
        "The configurations of a benchmark took turns: one run of each before the next of any. "
        "Each run was taken by itself, not under sustained load. No run waited for the GPU to cool."
    )
    asked, scenarios = made.tables
    assert shown(asked) == [["square", "2", "2", "5 to 10", "1 (CUPTI)", "default"]]
    assert shown(scenarios) == [
        ["default", "flushed before each region (CUPTI) by 250.0 MB", "not locked", "a cold-cache benchmark"]
    ]


def test_where_benchmarks_differ_the_table_says_how(tmp_path: Path) -> None:
    plan = {"benchmarks": [BENCH, {**BENCH, "name": "hot", "heat": "sustained", "warmup": None}]}
    made = block(dossier(tmp_path, [*measured(), *measured(benchmark="hot")], plan), "method-plan")
    assert [column.label for column in made.tables[0].columns][-1] == "heat"
    assert [(row[2], row[-1]) for row in shown(made.tables[0])] == [
        ("2", "each run by itself"),
        (" (not known)", "after sustained load"),
    ]
    assert "sustained" not in plain(made.lead)


def test_what_collecting_took_stands_by_backend_and_scenario_and_each_tick_once(tmp_path: Path) -> None:
    made = block(dossier(tmp_path, measured()), "method-cost")
    assert shown(made.tables[0]) == [["CUPTI", "default", "1", "6", "3 s", "500.0 ms"]]
    said = "The timer's tick, estimated from all times of a backend, is 1 ns under CUPTI. A difference under two ticks is no difference."
    assert plain(made.lead) == said


def test_a_backend_and_scenario_has_one_block_that_counts_what_it_marks(tmp_path: Path) -> None:
    rising = [10_000.0 + 50 * run for run in range(10)]
    rows = [*measured(), *runs({TIME: rising}, backend="cupti", benchmark="other", n=3)]
    made = dossier(tmp_path, rows)
    ids = [one.id for one in made.method.blocks]
    assert ids == ["method-plan", "method-cost", "how-cupti-default", "method-gaps"]
    mine = block(made, "how-cupti-default")
    assert plain(mine.lead).replace("\N{NO-BREAK SPACE}", " ") == (
        "Of 3 rows 1 drifts from the first run of a process to its last (by 1 % or more)."
    )
    order, sensors = mine.charts
    assert "drifts up 4.4 %" in order.panels[0]
    assert ">first run " not in order.panels[0], "no first run stands apart"
    assert len(mine.tables) == 1
    assert not mine.tables[0].folded
    assert sensors.id == "how-cupti-default-sensors"


def test_the_sensors_chart_says_its_ranges_and_keeps_its_data(tmp_path: Path) -> None:
    made = dossier(tmp_path, measured())
    chart = block(made, "how-cupti-default").charts[1]
    assert plain(chart.caption).replace("\N{NO-BREAK SPACE}", " ") == (
        "SM clock 1 500 MHz to 2 000 MHz, temperature 30 °C to 32 °C, power 100 W to 102 W, as NVML read them before and after "
        "each region; CUPTI, cold cache (default). Power or heat held the GPU back around 2 regions."
    )
    data = next(file for file in made.data if file.name == chart.data_name)
    assert not data.inline
    rows = list(csv.DictReader(io.StringIO(data.text)))
    assert len(rows) == 12
    assert (rows[-1]["seconds"], rows[-1]["configuration"], rows[-1]["when"]) == ("2.5", "n = 2", "after")
    assert (rows[-1]["sm_clock_hz"], rows[-1]["power_w"], rows[-1]["throttle"]) == (
        "1500000000",
        "102",
        "software power cap",
    )
    for said in ("rated", "shaded: held back", "SM clock (MHz)", "time since the first region of the process (s)"):
        assert said in chart.panels[0]


def test_two_scenarios_stand_under_one_heading_with_one_sentence_on_why_they_are_not_compared(tmp_path: Path) -> None:
    made = dossier(tmp_path, [*measured(), *measured(backend="ncu")])
    assert [one.id for one in made.method.blocks if one.id.startswith("how-")] == [
        "how-cupti-default",
        "how-ncu-default",
    ]
    assert made.method.note.endswith("stands side by side and is not computed into each other.")


def test_what_was_not_measured_is_listed_with_its_reason(tmp_path: Path) -> None:
    rows = [*measured(), *runs({TIME: ["out of memory"] * 2}, backend="cupti", n=3)]
    made = block(dossier(tmp_path, rows, losses=("the last launch is damaged",)), "method-gaps")
    assert shown(made.tables[0]) == [
        ["lost", "", "the last launch is damaged", "", "", "", ""],
        ["failed", "2", "out of memory", "square", "CUPTI, default", "fp32", TIME],
    ]


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (None, "Nothing is missing: every sample of every part of the plan has a value."),
        ({}, "Nothing is missing: every sample has a value."),
    ],
)
def test_where_all_was_measured_one_line_says_so(tmp_path: Path, plan: Any, said: str) -> None:
    made = block(dossier(tmp_path, measured(), plan), "method-gaps")
    assert plain(made.lead) == said
    assert not made.tables


def test_a_tick_that_was_estimated_otherwise_at_collection_says_so(tmp_path: Path) -> None:
    made = dossier(tmp_path, measured())
    (entry,) = [one for group in made.provenance for one in group.entries if one.key == "timer.cupti_tick_ns"]
    assert plain(entry.value) == "7 ns as estimated at collection; estimated here 1 ns"
