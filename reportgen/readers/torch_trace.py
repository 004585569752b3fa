"""Read a chrome trace of `torch.profiler`: operators and their self times, region by region.

A region is a `user_annotation` whose name is a range message. An operator (`cpu_op`) belongs to the region in whose span it
began, on whatever thread. Its self time is its span less that of the operators directly inside it on its own thread: self
times alone add up. A trace's times are microseconds; samples are in ns.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from reportgen.evidence import samples
from reportgen.evidence.errors import ReadError
from reportgen.evidence.samples import Samples
from reportgen.readers.launches import Message, parse_message

SELF_TIME = "self_cpu_time_total"
DEVICE_TIME = "self_device_time_total"
MEMORY = "self_memory_usage"
CALLS = "calls"
_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
MARK = "reportgen:"
_AGAIN = "export it again with torch.profiler's export_chrome_trace"


@dataclass(frozen=True, slots=True)
class _Event:
    name: str
    thread: tuple[Any, Any]
    start: float
    end: float
    line: int  # its index among the trace's events


@dataclass(frozen=True, slots=True)
class _Region:
    message: Message
    start: float
    end: float


def read(path: Path, source: str) -> Samples:
    """Read the operators of every region of the trace at `path`; `source` is its path in the bundle."""
    whole = _load(path)
    events = whole["traceEvents"]
    regions = [
        _Region(parsed, event.start, event.end)
        for event in _spans(events, "user_annotation")
        if (parsed := parse_message(_message(event.name))).run is not None
    ]
    if not regions:
        raise ReadError(path, "the trace holds no measured region", "mark regions with record_function('name|run=0')")
    regions.sort(key=lambda region: region.start)
    operators, on_device = list(_spans(events, "cpu_op")), _on_device(events)
    memory = _memory(events, operators)
    found = _operators(operators, regions, on_device, memory)
    return Samples(_frame(found, source, bool(on_device), bool(memory)), _facts(whole))


def mark(message: str) -> str:
    """Return the name of a region in a trace: torch writes names into its JSON without escaping them."""
    return MARK + quote(message, safe="|=,.:_- ")


def _message(name: str) -> str:
    return unquote(name.removeprefix(MARK)) if name.startswith(MARK) else name


def _load(path: Path) -> dict[str, Any]:
    try:
        whole = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ReadError(path, f"not a whole JSON file ({error})", _AGAIN) from None
    if not isinstance(whole, dict) or not isinstance(whole.get("traceEvents"), list):
        raise ReadError(path, "not a chrome trace: it has no list 'traceEvents'", _AGAIN)
    return whole


def _spans(events: Sequence[Any], category: str) -> Iterator[_Event]:
    for index, event in enumerate(events):
        if not isinstance(event, Mapping) or event.get("cat") != category or event.get("ph") != "X":
            continue
        start, length = event.get("ts"), event.get("dur", 0)
        if isinstance(start, int | float) and isinstance(length, int | float):
            thread = (event.get("pid"), event.get("tid"))
            yield _Event(str(event.get("name", "")), thread, float(start), float(start) + float(length), index)


@dataclass(slots=True)
class _Operator:
    self_time: float = 0.0
    device_time: float = 0.0
    calls: int = 0
    memory: float = 0.0
    line: int = -1


def _operators(
    events: list[_Event], regions: Sequence[_Region], on_device: Mapping[int, float], memory: Mapping[int, float]
) -> list[tuple[_Region, dict[str, _Operator]]]:
    """Add up self times, device times, memory and calls by operator within each region."""
    found: list[tuple[_Region, dict[str, _Operator]]] = [(region, {}) for region in regions]
    starts = [region.start for region in regions]
    inside = _inside(events)
    for event in events:
        index = bisect_right(starts, event.start) - 1
        if index < 0 or event.start >= regions[index].end:
            continue
        operator = found[index][1].setdefault(event.name, _Operator(line=event.line))
        operator.self_time += (event.end - event.start) - inside.get(event.line, 0.0)
        operator.device_time += on_device.get(event.line, 0.0)
        operator.memory += memory.get(event.line, 0.0)
        operator.calls += 1
    return found


def _on_device(events: Sequence[Any]) -> dict[int, float]:
    """Return for each operator the time of the kernels, copies and fills that it launched itself, by external id."""
    operators = {
        event["args"]["External id"]: index
        for index, event in enumerate(events)
        if isinstance(event, Mapping) and event.get("cat") == "cpu_op" and "External id" in (event.get("args") or {})
    }
    found: dict[int, float] = {}
    for event in events:
        if isinstance(event, Mapping) and event.get("cat") in _DEVICE and event.get("ph") == "X":
            index = operators.get((event.get("args") or {}).get("External id"))
            if index is not None and isinstance(event.get("dur"), int | float):
                found[index] = found.get(index, 0.0) + float(event["dur"])
    return found


def _memory(events: Sequence[Any], operators: Sequence[_Event]) -> dict[int, float]:
    """Return for each operator the bytes that it itself allocated less those it freed: the innermost one at that time."""
    waiting: dict[tuple[Any, Any], list[_Event]] = {}
    for operator in sorted(operators, key=lambda e: (e.start, -e.end), reverse=True):
        waiting.setdefault(operator.thread, []).append(operator)
    stacks: dict[tuple[Any, Any], list[_Event]] = {thread: [] for thread in waiting}
    found: dict[int, float] = {}
    for thread, at, size in _allocations(events):
        if thread not in stacks:
            continue
        later, stack = waiting[thread], stacks[thread]
        while later and later[-1].start <= at:
            stack.append(later.pop())
        while stack and stack[-1].end < at:
            stack.pop()
        if stack:
            found[stack[-1].line] = found.get(stack[-1].line, 0.0) + size
    return found


def _allocations(events: Sequence[Any]) -> list[tuple[tuple[Any, Any], float, float]]:
    """Return the thread, time and size (less than zero: freed) of each change of memory, in order of time."""
    found = []
    for event in events:
        if not isinstance(event, Mapping) or event.get("name") != "[memory]":
            continue
        at, size = event.get("ts"), (event.get("args") or {}).get("Bytes")
        if isinstance(at, int | float) and isinstance(size, int | float):
            found.append(((event.get("pid"), event.get("tid")), float(at), float(size)))
    return sorted(found, key=lambda change: change[1])


def _inside(events: Sequence[_Event]) -> dict[int, float]:
    """Return for each event the time of those directly inside it on its thread."""
    inside: dict[int, float] = {}
    stacks: dict[tuple[Any, Any], list[_Event]] = {}
    for event in sorted(events, key=lambda e: (e.start, -e.end)):
        stack = stacks.setdefault(event.thread, [])
        while stack and stack[-1].end <= event.start:
            stack.pop()
        if stack:
            inside[stack[-1].line] = inside.get(stack[-1].line, 0.0) + event.end - event.start
        stack.append(event)
    return inside


def _frame(
    found: Sequence[tuple[_Region, dict[str, _Operator]]], source: str, any_device: bool, any_memory: bool
) -> Any:
    rows: list[dict[str, Any]] = []
    for region, operators in found:
        for index, (name, operator) in enumerate(operators.items()):
            place = {
                "annotation": region.message.annotation,
                "run": region.message.run,
                "kernel_index": index,
                "kernel": name,
                "source": f"{source}#{operator.line}",
                **{samples.PARAM + n: v for n, v in region.message.params},
            }
            rows.append({**place, "metric": SELF_TIME, "value": operator.self_time * 1000, "unit": "ns"})
            rows.append({**place, "metric": CALLS, "value": float(operator.calls), "unit": ""})
            if any_device:
                rows.append({**place, "metric": DEVICE_TIME, "value": operator.device_time * 1000, "unit": "ns"})
            if any_memory:
                rows.append({**place, "metric": MEMORY, "value": operator.memory, "unit": "byte"})
    names = dict.fromkeys(name for row in rows for name in row)
    data: dict[str, Any] = {name: [row.get(name, "") for row in rows] for name in names}
    return samples.make({"backend": "torch", "workload": "operator", "process": 0, "state": "ok", **data}, len(rows))


def _facts(whole: Mapping[str, Any]) -> dict[str, str]:
    devices = whole.get("deviceProperties")
    first = devices[0] if isinstance(devices, list) and devices and isinstance(devices[0], dict) else {}
    return {"gpu.name": str(first["name"])} if "name" in first else {}
