"""What stands ahead of the figures: the line on what was run, the facts that are looked for first, a section's own words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reportgen.analysis.derive import TIME
from reportgen.dossier.build import build
from reportgen.dossier.model import Dossier, Name
from reportgen.dossier.text import plain
from reportgen.evidence import bundle, provenance
from reportgen.evidence.bundle import BundleInfo, open_bundle
from tests.analysis.building import Row, runs, table

STEADY = [100.0, 100.5, 101.0]
BENCH = {
    "name": "square",
    "title": "How fast is a product? The larger the better.",
    "prose": "It *rises*.",
    "normalize_against": "fp32",
    "expect": "rises",
    "axis": "n",
    "main": "GB/s",
    "units": [["n", "byte"]],
}


def dossier(tmp_path: Path, rows: list[Row], bench: dict[str, Any] | None = None, **facts: Any) -> Dossier:
    plan = {"benchmarks": [bench]} if bench else {}
    info = BundleInfo("mine", "Mine", "20261201T000000Z", "complete", plan=plan, question="Why?", prose="So.")
    known = provenance.from_facts({key.replace("__", "."): value for key, value in facts.items()}, "not said")
    return build(open_bundle(bundle.create(tmp_path, info, known, {}, table(rows), {})))


def three(**over: Any) -> list[Row]:
    return [row for p in range(3) for row in runs({TIME: STEADY}, process=p, **over)]


def head(made: Dossier) -> dict[str, str]:
    return {fact.label: plain(fact.value) for fact in made.head}


def lead(made: Dossier) -> str:
    return plain(made.lead).replace("\u00a0", " ")


# --- the line on what was run


def test_runs_and_processes_are_told_apart_for_each_backend(tmp_path: Path) -> None:
    rows = [*runs({TIME: STEADY}, n=8), *three(n=8, backend="cupti")]
    assert lead(dossier(tmp_path, rows)).endswith(
        "3 runs in each of 3 processes under CUPTI and 3 runs in 1 process under ncu; 12 profiled launches."
    )


def test_numbers_that_differ_are_given_from_the_least_to_the_most(tmp_path: Path) -> None:
    rows = [*three(n=8), *runs({TIME: STEADY * 2}, n=16)]
    assert "3 to 6 runs in each of 1 to 3 processes;" in lead(dossier(tmp_path, rows))


def test_a_process_in_which_a_run_failed_counts_as_the_others(tmp_path: Path) -> None:
    assert "3 runs in each of 3 processes;" in lead(dossier(tmp_path, three(n=8)[:-1]))


def test_sizes_of_a_sweep_stand_in_the_unit_that_the_suite_gives_them(tmp_path: Path) -> None:
    rows = [row for n in (1 << 10, 1 << 20, 1 << 32) for row in runs({TIME: STEADY}, n=n)]
    assert "over n = 1 KiB to 4 GiB, 3 runs" in lead(dossier(tmp_path, rows, BENCH))


def test_of_many_annotations_three_are_named(tmp_path: Path) -> None:
    rows = [row for i in range(5) for row in runs({TIME: STEADY}, annotation=f"a{i}")]
    made = dossier(tmp_path, rows)
    assert lead(made).startswith("a0, a1, a2 and 2 more, ")
    assert [part.text for part in made.lead if isinstance(part, Name)] == ["a0", "a1", "a2"]


# --- the facts that are looked for first


def test_the_head_tells_driver_profilers_clocks_and_caches(tmp_path: Path) -> None:
    rows = [*runs({TIME: STEADY}), *runs({TIME: STEADY}, scenario="strict"), *runs({TIME: STEADY}, backend="cupti")]
    made = dossier(tmp_path, rows, versions__driver="580.1", versions__ncu="2025.3.1.0", versions__cupti="13.0.1")
    assert head(made) == {
        "Driver": "580.1",
        "Nsight Compute": "2025.3.1.0",
        "CUPTI": "13.0.1",
        "Clocks": "not locked (default), locked to base (strict)",
        "Caches": "flushed",
    }


def test_what_was_not_recorded_says_so(tmp_path: Path) -> None:
    made = dossier(tmp_path, runs({TIME: STEADY}, scenario="not-recorded"))
    assert head(made) == {
        "Driver": "not recorded",
        "Nsight Compute": "not recorded",
        "Clocks": "not recorded",
        "Caches": "not recorded",
    }
    said = dossier(tmp_path, runs({TIME: STEADY}, scenario="mine"), policy__clocks="base", policy__cache="none")
    assert (head(said)["Clocks"], head(said)["Caches"]) == ("locked to base", "kept")


def test_a_scenario_of_which_nothing_was_measured_is_not_in_the_head(tmp_path: Path) -> None:
    never = [{**row, "value": float("nan"), "state": "skipped", "reason": "no"} for row in runs({TIME: [1.0]})]
    made = dossier(tmp_path, [*runs({TIME: STEADY}), *({**row, "scenario": "strict"} for row in never)])
    assert head(made)["Clocks"] == "not locked"


def test_operators_on_a_cpu_have_no_clocks(tmp_path: Path) -> None:
    rows = runs({"self_cpu_time_total": STEADY}, backend="torch", workload="operator", scenario="continuous")
    assert head(dossier(tmp_path, rows, versions__torch="2.11.0")) == {"Driver": "not recorded", "PyTorch": "2.11.0"}


def test_the_suites_own_words_and_the_note_on_what_is_not_compared(tmp_path: Path) -> None:
    one = dossier(tmp_path, runs({TIME: STEADY}))
    assert (one.question, one.prose, one.note) == ("Why?", "So.", "")
    two = dossier(tmp_path, [*runs({TIME: STEADY}), *runs({TIME: STEADY}, backend="cupti")])
    assert "is not computed into each other" in two.note


# --- a section's head


def test_a_section_is_headed_by_its_question_with_what_is_said_of_it(tmp_path: Path) -> None:
    rows = [row for n in (1, 2, 3) for a in ("fp32", "fp16") for row in runs({TIME: STEADY}, n=n, annotation=a)]
    (section,) = dossier(tmp_path, rows, BENCH).sections
    assert (section.title, section.name) == ("How fast is a product?", "square")
    assert section.prose == "The larger the better.\n\nIt *rises*."
    assert plain(section.lead) == (
        "2 annotations: fp32 and fp16, over n. Each is set against fp32, run by run. The suite expects GB/s to rise with n."
    )
    assert [part.text for part in section.lead if isinstance(part, Name)] == ["fp32", "fp16", "fp32"]


@pytest.mark.parametrize("title", ["", "Products"])
def test_a_section_without_a_question_bears_its_title_or_its_name(tmp_path: Path, title: str) -> None:
    bench = {"name": "square", "title": title, "normalize_against": "fp64"}
    (section,) = dossier(tmp_path, runs({TIME: STEADY}), bench).sections
    assert section.title == (title or "square")
    assert plain(section.lead) == "1 annotation: fp32.", "a baseline that was not measured is none"


def test_of_many_annotations_a_section_names_six(tmp_path: Path) -> None:
    rows = [row for i in range(9) for row in runs({TIME: STEADY}, annotation=f"a{i}")]
    (section,) = dossier(tmp_path, rows).sections
    assert plain(section.lead) == "9 annotations: a0, a1, a2, a3, a4, a5 and 3 others."
