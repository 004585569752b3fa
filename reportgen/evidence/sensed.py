"""What the GPU's sensors read around each run, and how long each process took: the worker's own lines in a bundle.

`runs.jsonl` holds a line for each region in the order taken, `done.json` one answer for each process. A bundle that was imported
has neither, and an older one may lack any of their fields: what is not there is NaN, never 0.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reportgen.evidence.bundle import Bundle

_PLACE = re.compile(r"data/([^/]+)/([^/]+)/(\d+)/(runs\.jsonl|done\.json)")
_SENSORS = ("sm_clock_hz", "memory_clock_hz", "power_w", "temperature_c")


@dataclass(frozen=True, slots=True)
class Reading:
    """One round of the sensors: clocks in hz, power in W, temperature in degrees Celsius, NVML's mask of throttle reasons."""

    sm_clock_hz: float = math.nan
    memory_clock_hz: float = math.nan
    power_w: float = math.nan
    temperature_c: float = math.nan
    throttle: int | None = None


@dataclass(frozen=True, slots=True)
class Region:
    """A region that ran: of what it is, and what the sensors read before and after it.

    `params` holds canonical JSON by name. `start` and `end` are in ns by the device's clock under CUPTI, elsewhere NaN.
    """

    backend: str
    scenario: str
    process: int
    benchmark: str
    annotation: str
    params: Mapping[str, str]
    run: int
    before: Reading
    after: Reading
    start: float = math.nan
    end: float = math.nan


@dataclass(frozen=True, slots=True)
class Process:
    """A process that ended with its answer: `seconds` is its own time, start-up left out, in which it ran so many `regions`."""

    backend: str
    scenario: str
    process: int
    seconds: float
    regions: int
    before: Reading
    after: Reading


@dataclass(frozen=True, slots=True)
class Sensed:
    """The regions of a bundle, each process's in the order taken, and its processes."""

    regions: tuple[Region, ...] = ()
    processes: tuple[Process, ...] = ()


NOTHING = Sensed()


def read(bundle: Bundle) -> Sensed:
    """Read what a collection's worker left in its bundle; lines that are not as the worker writes them say nothing."""
    regions: list[Region] = []
    processes: list[Process] = []
    for path in sorted(bundle.digests):
        if (place := _PLACE.fullmatch(path)) is None:
            continue
        backend, scenario, process, name = place.groups()
        step = (backend, scenario, int(process))
        lines = [one for text in bundle.read(path).splitlines() if (one := _object(text)) is not None]
        if name == "runs.jsonl":
            regions += [region for line in lines if (region := _region(step, line)) is not None]
        else:
            processes += _process(step, lines)
    return Sensed(tuple(regions), tuple(processes))


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _region(step: tuple[str, str, int], line: Mapping[str, Any]) -> Region | None:
    benchmark, annotation, params, run = (line.get(name) for name in ("benchmark", "annotation", "params", "run"))
    good = isinstance(benchmark, str) and isinstance(annotation, str) and isinstance(params, dict)
    if "region" not in line or line.get("state") != "ok" or not good or not isinstance(run, int):
        return None
    assert isinstance(params, dict)
    return Region(
        *step,
        str(benchmark),
        str(annotation),
        {str(name): str(value) for name, value in params.items()},
        run,
        _reading(line.get("before")),
        _reading(line.get("after")),
        _number(line.get("start")),
        _number(line.get("end")),
    )


def _process(step: tuple[str, str, int], lines: list[dict[str, Any]]) -> Iterator[Process]:
    for answer in lines[:1]:
        seconds = _number(answer.get("end")) - _number(answer.get("start"))
        regions = answer.get("regions")
        if seconds > 0 and isinstance(regions, int):
            yield Process(*step, seconds, regions, _reading(answer.get("before")), _reading(answer.get("after")))


def _reading(found: Any) -> Reading:
    if not isinstance(found, dict):
        return Reading()
    mask = _number(found.get("throttle"))
    sm, memory, power, temperature = (_number(found.get(name)) for name in _SENSORS)
    return Reading(sm, memory, power, temperature, None if math.isnan(mask) else int(mask))


def _number(value: Any) -> float:
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if good else math.nan
