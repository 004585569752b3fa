"""The worker's own lines: where each stands, what they say of a run, and what else the suite recorded."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reportgen.evidence.errors import ReadError
from reportgen.readers import runs

HEAD = {"benchmark": "f", "annotation": "a", "params": {"n": "8"}, "run": 2, "process": 1, "state": "ok", "reason": ""}


def written(folder: Path, *lines: dict[str, Any]) -> Path:
    path = folder / runs.RUNS
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return path


def recorded(folder: Path, *lines: dict[str, Any]) -> list[dict[str, Any]]:
    return list(runs.recorded(runs.lines(written(folder, *lines)), "data/cupti/default/1"))


def test_each_line_knows_its_place_in_the_file(tmp_path: Path) -> None:
    found = runs.lines(written(tmp_path, HEAD, {**HEAD, "run": 3}))

    assert found == [{**HEAD, "place": "L1"}, {**HEAD, "run": 3, "place": "L2"}]


def test_no_lines_are_no_runs(tmp_path: Path) -> None:
    assert runs.lines(written(tmp_path)) == []


def test_real_lines_are_read(data: Path) -> None:
    found = runs.lines(data / "probe" / "runs.jsonl")

    assert len(found) == 25
    assert [line["run"] for line in found] == [run for run in range(5) for _ in range(5)]
    assert {line["annotation"] for line in found} == {"backward", "streams", "memcpy", "splitk", "nothing"}


def test_what_unicode_calls_a_line_ends_none(tmp_path: Path) -> None:
    found = runs.lines(written(tmp_path, {**HEAD, "params": {"n": '"a\u2028b\x85c\x0bd"'}}, HEAD))

    assert found[0]["params"] == {"n": '"a\u2028b\x85c\x0bd"'}
    assert found[1]["place"] == "L2"


@pytest.mark.parametrize(
    ("second", "says"),
    [
        (b"[", "line 2: not a region's line"),
        (b"", "line 2: not a region's line"),
        (b"3", "line 2: not a region's line"),
        (b"null", "line 2: not a region's line"),
        (b'{"benchmark": "f"}', "line 2: not a region's line"),
        (b'{"benchmark": "\xff"}', "line 2: not a region's line"),
        (json.dumps({**HEAD, "params": [["n", "8"]]}).encode(), "line 2: 'params' is not a mapping"),
    ],
)
def test_a_line_that_is_none_is_named(tmp_path: Path, second: bytes, says: str) -> None:
    path = tmp_path / runs.RUNS
    path.write_bytes(json.dumps(HEAD).encode() + b"\n" + second + b"\n")

    with pytest.raises(ReadError) as caught:
        runs.lines(path)
    assert says in caught.value.line
    assert str(path) in caught.value.line


def test_a_line_says_of_which_run_it_is() -> None:
    assert runs.identity({**HEAD, "params": {"n": "8", "dtype": '"fp16"'}}) == {
        "benchmark": "f",
        "annotation": "a",
        "run": 2,
        "process": 1,
        "param:n": "8",
        "param:dtype": '"fp16"',
    }


def test_each_recorded_value_is_a_row_with_its_place(tmp_path: Path) -> None:
    line = {**HEAD, "region": True, "recorded": [["error", 0.5, "1"], ["kind", "dense", ""]]}
    identity = {"benchmark": "f", "annotation": "a", "run": 2, "process": 1, "param:n": "8"}
    place = {"source": "data/cupti/default/1/runs.jsonl#L2"}

    assert recorded(tmp_path, {**HEAD, "region": True}, line) == [
        {**identity, **place, "metric": "error", "unit": "1", "value": 0.5},
        {**identity, **place, "metric": "kind", "unit": "", "text": "dense"},
    ]


def test_a_collector_that_failed_is_a_row_with_its_reason(tmp_path: Path) -> None:
    failed = {**HEAD, "state": "failed", "reason": "OSError: gone"}
    rows = recorded(tmp_path, {**failed, "metric": "power"}, failed, {**failed, "region": True})

    assert [(r["metric"], r["state"], r["reason"]) for r in rows] == [
        ("power", "failed", "OSError: gone"),
        ("collector", "failed", "OSError: gone"),
    ]


def test_a_table_of_rows_fills_what_a_row_lacks(tmp_path: Path) -> None:
    rows = recorded(
        tmp_path,
        {**HEAD, "recorded": [["error", 0.5, "1"], ["kind", "dense", ""]]},
        {**HEAD, "params": {"m": "1"}, "state": "failed", "reason": "gone", "metric": "power"},
    )
    frame = runs.frame(rows, "cupti", "kernel")

    assert list(frame["param:n"]) == ["8", "8", ""]
    assert list(frame["param:m"]) == ["", "", "1"]
    assert list(frame["state"]) == ["ok", "ok", "failed"]
    assert list(frame["text"]) == ["", "dense", ""]
    assert frame["value"].iloc[0] == 0.5
    assert math.isnan(frame["value"].iloc[1])
    assert frame["kernel_index"].isna().all()
    assert set(zip(frame["backend"], frame["workload"], strict=True)) == {("cupti", "kernel")}


def test_a_table_of_no_rows_is_empty() -> None:
    frame = runs.frame([], "torch", "operator")
    assert isinstance(frame, pd.DataFrame)
    assert frame.empty
