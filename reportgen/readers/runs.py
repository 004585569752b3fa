"""Read `runs.jsonl`, the worker's own lines: a region each, in the order taken, and what the suite itself recorded beside it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from reportgen.evidence import samples
from reportgen.evidence.errors import ReadError

RUNS = "runs.jsonl"
# What NVML read right after a region, as metrics: the sensor by the worker's name, then the metric and its unit.
SENSED = {
    "sm_clock_hz": ("nvml__sm_clock", "hz"),
    "power_w": ("nvml__power", "W"),
    "temperature_c": ("nvml__temperature", "°C"),
}
_AGAIN = "collect again"
Line = Mapping[str, Any]


def lines(path: Path) -> list[dict[str, Any]]:
    """Return every line, with its `place` in the file; raises `ReadError` that names the first that is none."""
    found = []
    for number, text in enumerate(path.read_bytes().splitlines(), 1):
        try:
            line = dict(json.loads(text))
            where = {
                name: line[name] for name in ("benchmark", "annotation", "params", "run", "process", "state", "reason")
            }
        except (ValueError, TypeError, KeyError):
            raise ReadError(path, f"line {number}: not a region's line", _AGAIN) from None
        if not isinstance(where["params"], dict):
            raise ReadError(path, f"line {number}: 'params' is not a mapping", _AGAIN)
        found.append({**line, "place": f"L{number}"})
    return found


def identity(line: Line) -> dict[str, Any]:
    """Return the columns of the samples table that say of which run a line is."""
    return {
        "benchmark": line["benchmark"],
        "annotation": line["annotation"],
        "run": line["run"],
        "process": line["process"],
        **{samples.PARAM + name: value for name, value in line["params"].items()},
    }


def recorded(found: Iterable[Line], source: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each value that the suite recorded, and for each of its collectors that failed."""
    for line in found:
        head = {**identity(line), "source": f"{source}/{RUNS}#{line['place']}"}
        for metric, value, unit in line.get("recorded", ()):
            yield {**head, "metric": metric, "unit": unit, ("text" if isinstance(value, str) else "value"): value}
        if "region" not in line and line["state"] != "ok":
            yield {**head, "metric": line.get("metric", "collector"), "state": line["state"], "reason": line["reason"]}


def sensed(line: Line, source: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each sensor that was read after a region that is ok."""
    if line["state"] != "ok":
        return
    head = {**identity(line), "source": f"{source}/{RUNS}#{line['place']}"}
    after = line.get("after") or {}
    for sensor, (metric, unit) in SENSED.items():
        if sensor in after:
            yield {**head, "metric": metric, "value": float(after[sensor]), "unit": unit}


def frame(rows: Sequence[Mapping[str, Any]], backend: str, workload: str) -> pd.DataFrame:
    """Make a samples table of rows; a column that a row lacks is empty there, and its state is ok."""
    params = dict.fromkeys(name for row in rows for name in row if name.startswith(samples.PARAM))
    texts = ("benchmark", *params, "annotation", "kernel", "metric", "unit", "reason", "source", "text")
    data: dict[str, Any] = {name: [row.get(name, "") for row in rows] for name in texts}
    data |= {name: [row.get(name, pd.NA) for row in rows] for name in ("run", "process", "kernel_index")}
    data |= {
        "value": [row.get("value", float("nan")) for row in rows],
        "state": [row.get("state", "ok") for row in rows],
    }
    return samples.make({"backend": backend, "workload": workload, **data}, len(rows))
