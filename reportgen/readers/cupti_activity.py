"""Read what the CUPTI backend left: records of the device, and the regions whose spans they lie in.

The time of a region is the sum of its kernels' times, as ncu has it; copies and fills beside them (cuBLAS clears a workspace
before some products) are a metric of their own. A region of copies alone has their time.

A record belongs to the region whose interval holds its start and its end. One that straddles a boundary shows that the
synchronisation did not hold, and makes the region `dropped`; so does a region with no record, or one with a time of 0.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from reportgen.evidence import tables
from reportgen.evidence.errors import ReadError
from reportgen.evidence.samples import Samples
from reportgen.readers import runs
from reportgen.readers.names import demangle

ACTIVITY = "activity.csv"
COLUMNS = ("kind", "name", "start_ns", "end_ns", "device", "stream", "grid", "block", "bytes")
COPIES = "memcpy_memset__time_duration.sum"
TIME, SPAN = "gpu__time_duration.sum", "region__span"
_AGAIN = "collect again"


@dataclass(frozen=True, slots=True)
class _Record:
    kind: str
    name: str
    start: int
    end: int
    line: int
    grid: str

    @property
    def shape(self) -> _Shape:
        """Return what tells a launch from others: its name and its grid."""
        return self.name, self.grid


_Shape = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Told:
    """What the worker said of its records: how many CUPTI dropped and delivered, and when it flushed for the first time."""

    dropped: int = 0
    records: int | None = None
    flush: tuple[int, int] | None = None


def told(facts: Mapping[str, Any]) -> Told:
    """Read what the worker's answer says of its records."""
    flush = facts.get("flush") or None
    return Told(int(facts.get("dropped", 0)), facts.get("records"), (flush[0], flush[1]) if flush else None)


def read(folder: Path, source: str, said: Told = Told()) -> Samples:
    """Read `activity.csv` (or `activity.csv.zst`) and `runs.jsonl` in `folder`; `source` is the folder's path in the bundle.

    With a record missing no region can be known to be whole, nor one that a cache flush does not directly precede where
    there are flushes.
    """
    name = ACTIVITY if (folder / ACTIVITY).is_file() else ACTIVITY + tables.COMPRESSED
    activity = _Activity(_records(folder / name), f"{source}/{name}")
    found = runs.lines(folder / runs.RUNS)
    lost = f"CUPTI dropped {said.dropped:,} records, and they may be of this region" if said.dropped else ""
    if said.records not in (None, len(activity.records)):
        lost = f"{len(activity.records):,} of {said.records:,} records stand in {name}, and this region may lack some"
    flush = [record.shape for record in activity.within(*said.flush)] if said.flush is not None else []
    rows: list[dict[str, Any]] = []
    for line in found:
        if "region" in line:
            rows += _region(line, activity, lost, flush, source)
    rows += runs.recorded(found, source)
    return Samples(runs.frame(rows, "cupti", "kernel"))


class _Activity:
    """The records in the order of their start, and up to each the latest end: what began early may still run."""

    def __init__(self, records: Sequence[_Record], source: str) -> None:
        self.records, self.source = records, source
        self._starts = [record.start for record in records]
        self._ends = list(accumulate((record.end for record in records), max))

    def within(self, begin: int, end: int) -> Sequence[_Record]:
        """Return the records that start in the interval."""
        return self.records[bisect_left(self._starts, begin) : bisect_right(self._starts, end)]

    def shapes_before(self, begin: int, count: int) -> list[_Shape]:
        """Return the shapes of the last `count` records that start before `begin`."""
        index = bisect_left(self._starts, begin)
        return [record.shape for record in self.records[max(0, index - count) : index]]

    def runs_into(self, begin: int) -> bool:
        """Tell whether a record that started before `begin` ended after it."""
        index = bisect_left(self._starts, begin)
        return index > 0 and self._ends[index - 1] > begin


def _records(path: Path) -> list[_Record]:
    whole = list(tables.csv_rows(tables.load(path), str(path)))
    if not whole or tuple(whole[0]) != COLUMNS:
        raise ReadError(path, "line 1: not the columns of an activity file", _AGAIN)
    found = []
    for line, cells in enumerate(whole[1:], 2):
        try:
            found.append(_Record(cells[0], cells[1], int(cells[2]), int(cells[3]), line, cells[6]))
        except (ValueError, IndexError):
            raise ReadError(path, f"line {line}: not an activity record", _AGAIN) from None
    return sorted(found, key=lambda record: record.start)


def _region(
    line: runs.Line, activity: _Activity, lost: str, flush: Sequence[_Shape], source: str
) -> Iterator[dict[str, Any]]:
    head, place = runs.identity(line), f"{source}/{runs.RUNS}#{line['place']}"
    if line["state"] != "ok" or "start" not in line:
        yield {**head, "metric": TIME, "unit": "ns", "state": line["state"], "reason": line["reason"], "source": place}
        return
    begin, end = int(line["start"]), int(line["end"])
    inside = activity.within(begin, end)
    fault = lost or _fault(activity, inside, begin, end)
    if not fault and flush and activity.shapes_before(begin, len(flush)) != flush:
        fault = "the cache flush does not stand directly before the region"
    if fault:
        yield {**head, "metric": TIME, "unit": "ns", "state": "dropped", "reason": fault, "source": place}
        return
    kernels = [record for record in inside if record.kind == "kernel"]
    for index, record in enumerate(kernels or inside):
        yield {**head, **_time(record, TIME, activity.source), "kernel_index": index}
    for record in inside if kernels else ():
        if record.kind != "kernel":
            yield {**head, **_time(record, COPIES, activity.source)}
    span = float(max(r.end for r in inside) - min(r.start for r in inside))
    yield {**head, "metric": SPAN, "value": span, "unit": "ns", "source": place}
    yield from runs.sensed(line, source)


def _time(record: _Record, metric: str, source: str) -> dict[str, Any]:
    place = {"kernel": demangle(record.name), "source": f"{source}#L{record.line}"}
    return {**place, "metric": metric, "value": float(record.end - record.start), "unit": "ns"}


def _fault(activity: _Activity, inside: Sequence[_Record], begin: int, end: int) -> str:
    if activity.runs_into(begin) or any(record.end > end for record in inside):
        return "a record straddles the region's boundary: other work ran on the device"
    if not inside:
        return "no record of the device lies inside the region"
    if any(record.end <= record.start for record in inside):
        return "a record in the region has no duration"
    return ""
