from __future__ import annotations

from typing import Any

import pytest

from reportgen.analysis.derive import TIME
from reportgen.dossier import cautions
from reportgen.dossier.model import Caution, Figure
from reportgen.dossier.text import plain
from reportgen.evidence.sensed import Reading, Region, Sensed
from tests.analysis.building import READ, Row, runs, table
from tests.dossier.evidence import evidence

STEADY, SHAKY = [100.0, 100.5, 101.0], [100.0, 110.0, 120.0]


def of(rows: list[Row], losses: tuple[str, ...] = (), sensed: Sensed = Sensed(), **facts: Any) -> list[Caution]:  # noqa: B008
    got = cautions.of_bundle(evidence(rows, sensed=sensed, **facts), table(rows), losses)
    assert all(c.kind and c.effect and c.mend for c in got)
    assert len({c.kind for c in got}) == len(got), "one caution for each kind"
    return list(got)


def said(rows: list[Row], losses: tuple[str, ...] = (), **facts: Any) -> list[str]:
    return [plain(c.what).replace("\u00a0", " ") for c in of(rows, losses, **facts)]


def items(caution: Caution) -> list[str]:
    return [plain(item).replace("\u00a0", " ") for item in caution.items]


def three(values: list[Any], **over: Any) -> list[Row]:
    return [row for p in range(3) for row in runs({TIME: values}, process=p, **over)]


def lacking(rows: list[Row], state: str, reason: str) -> list[Row]:
    return [{**row, "value": float("nan"), "state": state, "reason": reason} for row in rows]


def test_good_evidence_needs_no_caution() -> None:
    assert said(three(STEADY, n=1), policy__clocks="base") == []


def test_losses_come_first_and_are_shown_together() -> None:
    first = of(three(STEADY), ("3 of 5 launches\x07 could be read", "a file is cut short"))[0]
    assert plain(first.what) == "Not everything could be read."
    assert items(first) == ["3 of 5 launchesU+0007 could be read", "a file is cut short"]


def test_what_has_no_value_is_one_caution_with_each_reason_counted() -> None:
    rows = three([*STEADY, "out of memory"], n=1) + three([*STEADY, "no clock"], n=2, annotation="b")[:4]
    rows += lacking(runs({TIME: [1.0] * 2}, n=3), "skipped", "needs a GPU")
    (got,) = [caution for caution in of(rows) if caution.kind == "missing"]
    assert plain(got.what) == "Not everything has a value: 4 failed and 2 skipped."
    assert items(got) == [
        "3 samples failed: out of memory",
        "2 samples skipped: needs a GPU",
        "1 sample failed: no clock",
    ]


def test_what_was_only_skipped_asks_for_nothing() -> None:
    rows = [*three(STEADY), *lacking(runs({TIME: [1.0]}, n=3), "skipped", "needs a GPU")]
    (got,) = [caution for caution in of(rows) if caution.kind == "missing"]
    assert plain(got.mend).startswith("Nothing is to be mended")


def test_of_many_reasons_the_first_are_shown_and_all_counted() -> None:
    rows = three(STEADY)
    rows += [row for i in range(12) for row in lacking(runs({TIME: [1.0]}, n=i), "failed", f"reason {i}")]
    (got,) = [caution for caution in of(rows) if caution.kind == "missing"]
    assert len(got.items) == cautions.MOST_ITEMS + 1
    assert items(got)[-1] == "and more: 12 in all"


def test_counters_that_the_host_forbids_have_their_own_mend() -> None:
    rows = [*three(STEADY), *lacking(runs({READ: [1.0]}, n=3), "not permitted", "ERR_NVGPUCTRPERM")]
    got = of(rows)
    assert [caution.kind for caution in got] == ["counters"]
    assert items(got[0]) == ["1 sample not permitted: ERR_NVGPUCTRPERM"]
    assert "NVreg_RestrictProfilingToAdminUsers=0" in plain(got[0].mend)


def test_values_that_a_report_just_does_not_hold_are_no_failure() -> None:
    rows = three(STEADY)
    rows += [{**row, "metric": "numa__x"} for row in lacking(rows[:1], "dropped", "the report holds no value")]
    assert said(rows) == []


def test_unstable_rows_are_named_the_worst_first() -> None:
    rows = [*three([100.0, 105.0, 110.0], n=1), *three(STEADY, n=2), *three(SHAKY, n=3, benchmark="other")]
    (got,) = of(rows)
    assert plain(got.what).replace("\u00a0", " ") == (
        "2 of 3 rows are unstable, their relative deviation being 2 % or more."
    )
    assert items(got) == [
        "fp32 at n = 3: 7.9 % (other, ncu, cold cache (default))",
        "fp32 at n = 1: 4.1 % (square, ncu, cold cache (default))",
    ]


def test_of_many_unstable_rows_the_worst_are_named_and_all_counted() -> None:
    (got,) = of([row for n in range(11) for row in three(SHAKY, n=n)])
    assert len(got.items) == cautions.MOST_ITEMS + 1
    assert items(got)[-1] == "and more: 11 in all"


def test_too_few_runs_are_told_before_too_few_processes() -> None:
    assert said([*runs({TIME: [1.0, 1.0]}, n=1), *runs({TIME: [1.0] * 3}, n=2)]) == [
        "1 of 2 rows have under three runs."
    ]
    assert said(runs({TIME: [1.0] * 3})) == ["All runs of a row under ncu were taken in fewer than three processes."]
    both = [*runs({TIME: [1.0] * 3}), *three(STEADY, backend="cupti")]
    assert said(both) == ["All runs of a row under ncu were taken in fewer than three processes."]


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ("default: free; strict: base", ["The GPU's clocks were not locked."]),
        ("strict: base", []),
        ("default: base", []),
        ("none", ["The GPU's clocks were not locked."]),
        ("base", []),
    ],
)
def test_free_clocks_are_told_where_a_gpu_measured(policy: str, told: list[str]) -> None:
    assert said(three(STEADY), policy__clocks=policy) == told
    assert said(three(STEADY, backend="torch"), policy__clocks=policy) == []


def test_locked_clocks_beside_free_ones_are_the_mend() -> None:
    rows = [*three(STEADY), *three(STEADY, scenario="strict")]
    (got,) = of(rows, policy__clocks="default: free; strict: base")
    assert plain(got.what) == "The GPU's clocks were not locked under default."
    assert plain(got.mend) == "Compare rows of strict, whose clocks were locked."


def test_a_gpu_that_was_held_back_is_told_with_the_rows() -> None:
    held = Region("ncu", "default", 0, "square", "fp32", {"n": "1"}, 0, Reading(), Reading(throttle=0x4))
    (got,) = of([*three(STEADY, n=1), *three(STEADY, n=2)], sensed=Sensed((held,)))
    assert plain(got.what) == "Sensors saw the GPU held back: software power cap."
    assert items(got) == ["1 row of square, ncu, cold cache (default)"]
    assert said(three(STEADY), throttle__during="default, ncu: hardware thermal slowdown") == [
        "Sensors saw the GPU held back: hardware thermal slowdown."
    ]
    assert said(three(STEADY), throttle__during="idle") == []


def test_what_evidence_from_elsewhere_does_not_say_is_told() -> None:
    got = of(three(STEADY, scenario="not-recorded"), policy__clocks="none", versions__driver="580.1")
    assert [caution.kind for caution in got] == ["conditions", "clocks"]
    assert items(got[0]) == ["Not recorded either: the profiler's version and the GPU"]


def test_configurations_told_apart_by_shape_are_told() -> None:
    got = said([row for i in range(2) for row in three(STEADY, launch=f"{i}")])
    assert not got, "a launch in `building.run` is a source, not a parameter"
    rows = [{**row, "param:launch": "1"} for row in three(STEADY)]
    assert said(rows) == ["The ranges in square do not say their configuration."]


def test_a_normalised_table_is_told() -> None:
    rows = [*three(STEADY), *runs({f"{READ}:AvgValue/fp32": [1.0]})]
    assert "The imported table is normalised: its averages are ratios to a baseline." in said(rows)


def test_no_word_of_a_caution_holds_a_digit() -> None:
    rows = [*three(SHAKY, n=1, scenario="not-recorded"), *lacking(runs({READ: [1.0]}, n=3), "not permitted", "no")]
    rows += [{**row, "param:launch": "1"} for row in runs({TIME: [1.0]}, benchmark="b")]
    got = of(rows, ("lost",), policy__clocks="none", throttle__during="software power cap")
    assert len(got) >= 7
    for caution in got:
        pieces = [*caution.what, *caution.mend, *(part for item in caution.items for part in item)]
        words = [caution.effect, *(part for part in pieces if isinstance(part, str))]
        assert not any(letter.isdigit() for letter in "".join(words)), words
        assert all(part.source for part in pieces if isinstance(part, Figure))
