from __future__ import annotations

from typing import Any

from reportgen.analysis.derive import TIME
from reportgen.dossier import cautions
from reportgen.dossier.text import plain
from reportgen.evidence import provenance
from tests.analysis.building import READ, Row, grouped, runs, table

STEADY, SHAKY = [100.0, 100.5, 101.0], [100.0, 110.0, 120.0]


def said(rows: list[Row], losses: tuple[str, ...] = (), **facts: Any) -> list[str]:
    known = provenance.from_facts({k.replace("__", "."): v for k, v in facts.items()}, "not said", "a test")
    got = cautions.of_bundle(grouped(rows), table(rows), losses, known)
    assert all(c.effect and c.mend for c in got)
    return [plain(c.what).replace("\u00a0", " ") for c in got]


def three(values: list[Any], **over: Any) -> list[Row]:
    return [row for p in range(3) for row in runs({TIME: values}, process=p, **over)]


def test_good_evidence_needs_no_caution() -> None:
    assert said(three(STEADY, n=1), policy__clocks="base") == []


def test_losses_come_first_and_are_shown() -> None:
    got = said(three(STEADY), ("3 of 5 launches\x07 could be read",))
    assert got == ["Not everything could be read: 3 of 5 launchesU+0007 could be read."]


def test_what_failed_is_counted_by_its_reason() -> None:
    rows = three([*STEADY, "out of memory"], n=1) + three([*STEADY, "no clock"], n=2, annotation="b")[:4]
    got = said(rows)
    assert got[0] == "3 samples failed: out of memory."
    assert got[1] == "1 sample failed: no clock."


def test_values_that_a_report_just_does_not_hold_are_no_failure() -> None:
    rows = three(STEADY)
    rows.append(
        {
            **rows[0],
            "metric": "numa__x",
            "value": float("nan"),
            "state": "dropped",
            "reason": "the report holds no value",
        }
    )
    assert said(rows) == []


def test_unstable_rows_are_counted_for_each_benchmark() -> None:
    rows = [*three(SHAKY, n=1), *three(STEADY, n=2), *three(SHAKY, n=3, benchmark="other")]
    got = said(rows)
    assert got == [
        "2 of 3 rows are unstable, their relative deviation being 2 % or more: 1 in square (ncu, default), 1 in other (ncu, default)."
    ]


def test_too_few_runs_are_told_before_too_few_processes() -> None:
    assert said([*runs({TIME: [1.0, 1.0]}, n=1), *runs({TIME: [1.0] * 3}, n=2)]) == [
        "1 of 2 rows have under three runs."
    ]
    assert said(runs({TIME: [1.0] * 3})) == ["All runs of a row under ncu were taken in fewer than three processes."]
    both = [*runs({TIME: [1.0] * 3}), *three(STEADY, backend="cupti")]
    assert said(both) == ["All runs of a row under ncu were taken in fewer than three processes."]


def test_free_clocks_are_told_where_a_gpu_measured() -> None:
    free = "default: free; strict: base"
    assert said(three(STEADY), policy__clocks=free) == ["The GPU's clocks were not locked."]
    assert said(three(STEADY), policy__clocks="strict: base") == []


def test_what_was_not_recorded_and_free_clocks_are_told() -> None:
    got = said(three(STEADY, scenario="not-recorded"), policy__clocks="none")
    assert got == [
        "The cache and clock policy of this collection was not recorded.",
        "The GPU's clocks were not locked.",
    ]


def test_configurations_told_apart_by_shape_are_told() -> None:
    got = said([row for i in range(2) for row in three(STEADY, launch=f"{i}")])
    assert not got, "a launch in `building.run` is a source, not a parameter"
    rows = [{**row, "param:launch": "1"} for row in three(STEADY)]
    assert said(rows) == ["The ranges in square do not say their configuration."]


def test_a_normalised_table_is_told() -> None:
    rows = [*three(STEADY), *runs({f"{READ}:AvgValue/fp32": [1.0]})]
    assert "The imported table is normalised: its averages are ratios to a baseline." in said(rows)
