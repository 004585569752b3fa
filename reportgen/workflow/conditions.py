"""The provenance of a collection: what this machine is, what was asked, and what the sensors said meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from reportgen.analysis.derive import TIME
from reportgen.analysis.statistics import tick
from reportgen.collect import drive, machine, nvml
from reportgen.collect.plan import Step, SuitePlan
from reportgen.collect.scenarios import POLICIES
from reportgen.evidence import provenance, throttle
from reportgen.evidence.bundle import START
from reportgen.evidence.provenance import Fact, Provenance, Value
from reportgen.readers import runs
from reportgen.workflow import steps as step_results

_SENSOR_KEYS = {"power": ("power_w", "_w"), "temperature": ("temperature_c", "_c")}
_CACHE = {
    ("flushed", "ncu"): "flushed by ncu before each kernel and pass",
    ("flushed", "cupti"): "flushed before each region by writing and reading four times L2",
    ("kept", "ncu"): "kept; in several passes as replay restored it",
    ("kept", "cupti"): "kept",
    ("kept", "torch"): "kept",
}
# What the worker's answer carries and the worker did not tell.
_ORIGINS = {"versions.ncu": "ncu --version"}
_NO_SENSORS = "no sensor was read: NVML was not there"


def of(
    suite: Path,
    plan: SuitePlan,
    todo: Sequence[Step],
    partial: Path,
    begun: str,
    frame: pd.DataFrame,
    told: Mapping[str, str],
    command: str,
) -> Provenance:
    """Return every fact of a collection: `told` are those that its reports state, `command` is what started it."""
    ended = [(step, found) for step in todo if (found := step_results.outcome(partial / step.folder)) is not None]
    answers = [(step, found.answer) for step, found in ended if not found.state]
    now = datetime.now(UTC)
    known: dict[str, Fact] = {key: Fact(value, "", "the report") for key, value in told.items()}
    known |= {**machine.facts(suite), **nvml.facts()}
    for _, answer in answers:
        for key, value in answer["facts"].items():
            if "." in key and value is not None:
                known[key] = Fact(value, "", _ORIGINS.get(key, "the worker"))
    known |= _sensed(answers, partial)
    known |= _policies(plan, todo, ended)
    known |= _ticks(frame)
    known |= {
        "command.reportgen": Fact(command, "", "the command line"),
        "command.profiler": _commands(todo, partial),
        "collection.start": Fact(begun, "", "this machine's clock"),
        "collection.end": Fact(f"{now:{START}}", "", "this machine's clock"),
        "collection.duration_s": _duration([answer for _, answer in answers]),
    }
    return provenance.from_facts(known, _why_missing(todo))


def _duration(answers: Sequence[Mapping[str, Any]]) -> Fact:
    if not answers:
        return Fact(None, "no process ended with a measurement")
    seconds = sum(answer["end"] - answer["start"] for answer in answers)
    return Fact(round(seconds, 3), "", "the processes' own time, start-up left out")


def _why_missing(todo: Sequence[Step]) -> str:
    if all(step.backend == "torch" for step in todo):
        return "torch.profiler on this machine does not tell it"
    return "neither the driver nor a backend told it"


def _sensed(answers: Sequence[tuple[Step, Mapping[str, Any]]], partial: Path) -> dict[str, Fact]:
    """Return power, temperature, throttling and clocks before, during and after, from the sensors' readings.

    Before and after are one reading each, at the first process's start and at the last one's end; what was read during the
    runs stands for each scenario and backend by itself.
    """
    during: dict[str, list[Mapping[str, float]]] = {}
    for step, _ in answers:
        lines = runs.lines(path) if (path := partial / step.folder / runs.RUNS).is_file() else []
        mine = during.setdefault(f"{step.scenario}, {step.backend}", [])
        mine += [line[when] for line in lines for when in ("before", "after") if when in line]
    first = answers[0][1].get("before", {}) if answers else {}
    last = answers[-1][1].get("after", {}) if answers else {}
    moments = (("before", {"": [first]}), ("during", during), ("after", {"": [last]}))
    found: dict[str, Fact] = {}
    for when, readings in moments:
        for name, (sensor, suffix) in _SENSOR_KEYS.items():
            found[f"{name}.{when}{suffix}"] = _apart(readings, sensor, _spread)
        found[f"throttle.{when}"] = _apart(readings, "throttle", _throttled)
    for key, sensor in (("clocks.sm_observed_hz", "sm_clock_hz"), ("clocks.memory_observed_hz", "memory_clock_hz")):
        found[key] = _apart(during, sensor, _spread)
    return found


def _apart(
    readings: Mapping[str, Sequence[Mapping[str, float]]], sensor: str, say: Callable[[Sequence[float]], Value]
) -> Fact:
    """Return what a sensor said under each name of `readings`; once, where it said the same under all."""
    read = {name: [one[sensor] for one in ones if sensor in one] for name, ones in readings.items()}
    said = {name: say(values) for name, values in read.items() if values}
    if not said:
        return Fact(None, _NO_SENSORS)
    if len(set(said.values())) == 1:
        return Fact(next(iter(said.values())), "", "NVML")
    words = (
        f"{name}: {value:.12g}" if isinstance(value, float) else f"{name}: {value}" for name, value in said.items()
    )
    return Fact("; ".join(words), "", "NVML")


def _spread(values: Sequence[float]) -> Value:
    """Return one value, or the least and the greatest of several in words."""
    low, high = min(values), max(values)
    return low if low == high else f"{low:.12g} to {high:.12g}"


def _throttled(masks: Sequence[float]) -> Value:
    return throttle.in_words([int(mask) for mask in masks])


def _policies(
    plan: SuitePlan, todo: Sequence[Step], ended: Sequence[tuple[Step, step_results.Outcome]]
) -> dict[str, Fact]:
    measured = [step for step, found in ended if not found.state]
    caches = {s: _CACHE.get((_policy(s.scenario, "cache"), s.backend), "kept") for s in todo}
    by_scenario = dict.fromkeys((step.scenario, step.backend, caches[step]) for step in todo)
    said = "; ".join(f"{scenario}, {backend}: {cache}" for scenario, backend, cache in by_scenario)
    clocks = dict.fromkeys(f"{step.scenario}: {_policy(step.scenario, 'clocks')}" for step in todo)
    modes = dict.fromkeys(f"{s.mode.replay} replay, graphs by {s.mode.graphs}" for s in todo if s.backend == "ncu")
    granular = {"ncu": "kernel and pass", "cupti": "region"}
    flushing = dict.fromkeys(
        f"{s.backend}: {granular[s.backend]}" for s in todo if s.backend in granular and "kept" not in caches[s]
    )
    found = {
        "policy.cache": Fact(said, "", "the plan"),
        "policy.clocks": Fact("; ".join(clocks), "", "the plan"),
        "policy.heat": Fact("; ".join(f"{b.name}: {b.heat}" for b in plan.benchmarks), "", "the plan"),
        "policy.thermal": Fact("; ".join(f"{b.name}: {b.thermal}" for b in plan.benchmarks), "", "the plan"),
        "policy.replay": Fact("; ".join(modes), "", "the plan") if modes else Fact(None, "ncu did not measure"),
        "policy.flush_granularity": Fact("; ".join(flushing), "", "the plan")
        if flushing
        else Fact(None, "no cache was flushed"),
    }
    if any(outcome.state == "not permitted" for _, outcome in ended):
        found["policy.counters_permitted"] = Fact(value=False, origin="ncu")
    elif any(step.backend == "ncu" for step in measured):
        found["policy.counters_permitted"] = Fact(value=True, origin="ncu")
    else:
        found["policy.counters_permitted"] = Fact(None, "ncu did not measure")
    return found


def _policy(scenario: str, what: str) -> str:
    found = POLICIES.get(scenario)
    return str(getattr(found, what)) if found is not None else "kept"


def _ticks(frame: pd.DataFrame) -> dict[str, Fact]:
    """Return each backend's estimated tick."""
    found: dict[str, Fact] = {}
    for backend in ("ncu", "cupti"):
        mine = frame[((frame["backend"] == backend) & (frame["metric"] == TIME) & (frame["state"] == "ok")).to_numpy()]
        step = tick(mine["value"].to_numpy()) if len(mine) else None
        key = f"timer.{backend}_tick_ns"
        reason = "too few times to estimate it from" if len(mine) else f"{backend} did not measure"
        found[key] = Fact(step, "" if step is not None else reason, "its times" if step is not None else "")
    return found


def _commands(todo: Sequence[Step], partial: Path) -> Fact:
    """Return the command of the first step of each backend; every step's own stands beside its files."""
    found: dict[str, str] = {}
    for step in todo:
        path = partial / step.folder / drive.COMMAND
        if step.backend not in found and path.is_file():
            found[step.backend] = " ".join(json.loads(path.read_bytes())["command"])
    if not found:
        return Fact(None, "no process was started")
    return Fact("; ".join(found.values()), "", "the command line")
