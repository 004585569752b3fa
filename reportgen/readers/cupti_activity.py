"""Read what the CUPTI backend left: records of the device, and the regions whose spans they lie in.

A record belongs to the region whose interval holds its start and its end. One that straddles a boundary shows that the
synchronisation did not hold, and makes the region `dropped`; so does a region with no record, or one with a time of 0.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from reportgen.evidence import samples, tables
from reportgen.evidence.errors import ReadError
from reportgen.evidence.samples import Samples
from reportgen.readers.names import demangle

ACTIVITY, RUNS = "activity.csv", "runs.jsonl"
COLUMNS = ("kind", "name", "start_ns", "end_ns", "device", "stream", "grid", "block", "bytes")
TIME, SPAN, CLOCK = "gpu__time_duration.sum", "region__span", "nvml__sm_clock"
_AGAIN = "collect again"


@dataclass(frozen=True, slots=True)
class _Record:
    name: str
    start: int
    end: int
    line: int


def read(folder: Path, source: str) -> Samples:
    """Read `activity.csv` and `runs.jsonl` in `folder`; `source` is the folder's path in the bundle."""
    records = _records(folder / ACTIVITY)
    starts = [record.start for record in records]
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(_lines(folder / RUNS), 1):
        rows += _region(line, records, starts, source, f"{source}/{RUNS}#L{number}")
    return Samples(_frame(rows))


def _records(path: Path) -> list[_Record]:
    whole = list(tables.csv_rows(path.read_bytes(), str(path)))
    if not whole or tuple(whole[0]) != COLUMNS:
        raise ReadError(path, "line 1: not the columns of an activity file", _AGAIN)
    found = []
    for line, cells in enumerate(whole[1:], 2):
        try:
            found.append(_Record(cells[1], int(cells[2]), int(cells[3]), line))
        except (ValueError, IndexError):
            raise ReadError(path, f"line {line}: not an activity record", _AGAIN) from None
    return sorted(found, key=lambda record: record.start)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for number, text in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            yield dict(json.loads(text))
        except (ValueError, TypeError):
            raise ReadError(path, f"line {number}: not a region's line", _AGAIN) from None


def _region(
    line: Mapping[str, Any], records: Sequence[_Record], starts: Sequence[int], source: str, place: str
) -> Iterator[dict[str, Any]]:
    head = {
        "benchmark": line["benchmark"],
        "annotation": line["annotation"],
        "run": line["run"],
        "process": line["process"],
        **{samples.PARAM + name: value for name, value in line["params"].items()},
    }
    if line["state"] != "ok" or "start" not in line:
        yield {**head, "metric": TIME, "unit": "ns", "state": line["state"], "reason": line["reason"], "source": place}
        return
    begin, end = int(line["start"]), int(line["end"])
    near = records[max(0, bisect_left(starts, begin) - 1) : bisect_left(starts, end)]
    inside = [record for record in near if begin <= record.start and record.end <= end]
    fault = _fault(near, inside, begin, end)
    if fault:
        yield {**head, "metric": TIME, "unit": "ns", "state": "dropped", "reason": fault, "source": place}
        return
    for index, record in enumerate(inside):
        where = {
            "kernel_index": index,
            "kernel": demangle(record.name),
            "source": f"{source}/{ACTIVITY}#L{record.line}",
        }
        yield {**head, **where, "metric": TIME, "value": float(record.end - record.start), "unit": "ns"}
    span = float(max(r.end for r in inside) - min(r.start for r in inside))
    yield {**head, "metric": SPAN, "value": span, "unit": "ns", "source": place}
    if "sm_clock_hz" in line.get("after", {}):
        yield {**head, "metric": CLOCK, "value": line["after"]["sm_clock_hz"], "unit": "hz", "source": place}


def _fault(near: Sequence[_Record], inside: Sequence[_Record], begin: int, end: int) -> str:
    if any(r.start < begin < r.end or r.start < end < r.end for r in near):
        return "a record straddles the region's boundary: other work ran on the device"
    if not inside:
        return "no record of the device lies inside the region"
    if any(record.end <= record.start for record in inside):
        return "a record in the region has no duration"
    return ""


def _frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    params = dict.fromkeys(name for row in rows for name in row if name.startswith(samples.PARAM))
    texts = ("benchmark", *params, "annotation", "kernel", "metric", "unit", "reason", "source")
    data: dict[str, Any] = {name: [row.get(name, "") for row in rows] for name in texts}
    data |= {name: [row.get(name, pd.NA) for row in rows] for name in ("run", "process", "kernel_index")}
    data |= {
        "value": [row.get("value", float("nan")) for row in rows],
        "state": [row.get("state", "ok") for row in rows],
    }
    return samples.make({"backend": "cupti", "workload": "kernel", **data}, len(rows))
