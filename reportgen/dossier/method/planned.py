"""The plan in words: what was asked for of each benchmark, how its processes went about it, and what the scenarios mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reportgen.analysis import effort
from reportgen.analysis import planned as plans
from reportgen.analysis.sources import call, quoted
from reportgen.dossier import words
from reportgen.dossier.findings import phrases
from reportgen.dossier.gathered import Gathered
from reportgen.dossier.model import Block, Cell, Column, Sentence, Table
from reportgen.dossier.text import count, figure, listed, say, visible

_WAYS = {"heat": "heat", "thermal": "thermal mode", "replay": "ncu replays by", "graphs": "graphs by"}
_IN_WORDS = {
    ("heat", "burst"): "Each run was taken by itself, not under sustained load.",
    ("heat", "sustained"): "Each run followed on the same work, run back to back until the GPU was hot.",
    ("thermal", "off"): "No run waited for the GPU to cool.",
    ("thermal", "auto"): "Runs waited for a hot GPU to cool.",
}
_IN_A_TABLE = {
    ("heat", "burst"): "each run by itself",
    ("heat", "sustained"): "after sustained load",
    ("thermal", "off"): "no wait",
    ("thermal", "auto"): "waits for a hot GPU to cool",
}
_NCU = {"replay": "ncu replayed by", "graphs": "It profiled CUDA graphs by"}
_FLUSHED = {"kernel and pass": "before each kernel and pass", "region": "before each region"}


def policy(of: Gathered) -> Sentence:
    """Say what evidence from elsewhere tells of caches and clocks; nothing of a collection, whose scenarios say it."""
    said = {
        "policy.cache": {
            "flush": "Caches were flushed before each kernel and pass.",
            "none": "Caches were left as they were.",
        },
        "policy.clocks": {"base": "Clocks were locked to base.", "none": "Clocks were free."},
    }
    parts = [table.get(str(of.fact(key)), "") for key, table in said.items()]
    text = " ".join(part for part in parts if part)
    return (text,) if text else ()


def block(of: Gathered) -> Iterator[Block]:
    """Make the block of the plan; none where the evidence has no plan and names no scenario."""
    tables = [*_benchmarks(of), *_scenarios(of)]
    if tables:
        yield Block("method-plan", "What was asked for", _course(of), (), tuple(tables))


def _course(of: Gathered) -> Sentence:
    """Say how the processes went through the plan: by the order of their regions, and by the plan where all benchmarks agree."""
    benches = list(plans.benchmarks(of.info.plan))
    if not benches:
        return ()
    order = {
        True: "The configurations of a benchmark took turns: one run of each before the next of any.",
        False: "The configurations of a benchmark followed one another, each with all of its runs.",
        None: "",
    }[effort.in_rounds(of.measurements.sensed.regions)]
    said = ["Each process measured by itself all that is asked of its backend and scenario.", order]
    said += [_IN_WORDS.get((key, _agreed(benches, key)), "") for key in ("heat", "thermal")]
    if any(group.backend == "ncu" for group in of.groups):
        said += [f"{way} {visible(how)}." for key, way in _NCU.items() if (how := _agreed(benches, key))]
    return (" ".join(part for part in said if part),)


def _agreed(benches: Sequence[Mapping[str, Any]], key: str) -> str:
    """Return what all benchmarks say of something, empty where they differ or do not say it."""
    found = {str(bench.get(key) or "") for bench in benches}
    return found.pop() if len(found) == 1 else ""


def _benchmarks(of: Gathered) -> Iterator[Table]:
    measured = {group.benchmark for group in of.groups}
    benches = [bench for bench in plans.benchmarks(of.info.plan) if bench["name"] in measured]
    if not benches:
        return
    kept = [key for key in _WAYS if any(key in bench for bench in benches) and not _agreed(benches, key)]
    columns = (
        Column("benchmark"),
        Column("configurations", "", True),
        Column("warm-up", "runs", True, "Runs of each configuration ahead of the others, which are not recorded."),
        Column("runs", "in a process", True, "Recorded runs of each configuration in each process."),
        Column("processes"),
        Column("scenarios"),
        *(Column(_WAYS[key]) for key in kept),
    )
    rows = []
    for bench in benches:
        name = bench["name"]
        scenarios = dict.fromkeys(group.scenario for group in of.groups if group.benchmark == name)
        row = [Cell((visible(name),), name), *_numbers(of, name), _processes(of, name)]
        row += [_word(visible(", ".join(scenarios))), *(_word(_way(bench, key)) for key in kept)]
        rows.append(tuple(row))
    caption = "What was asked for of each benchmark, and in how many processes."
    yield Table("method-benchmarks", caption, columns, tuple(rows))


def _word(text: str) -> Cell:
    return Cell((text,), text)


def _way(bench: Mapping[str, Any], key: str) -> str:
    """Return in a few words how a benchmark is measured in one respect."""
    said = str(bench.get(key) or "not recorded")
    return _IN_A_TABLE.get((key, said), visible(said))


def _numbers(of: Gathered, name: str) -> Iterator[Cell]:
    """Yield the cells of a benchmark's configurations, warm-up runs and runs; those that its plan does not say, so."""
    word = quoted(name)
    unsaid = Cell((), "", "not known", "the plan does not say it")
    configurations = plans.configurations(of.measurements, name)
    yield Cell((count(configurations, call("count", "planned configurations", word)),), configurations)
    try:
        warm = plans.warm_ups(of.measurements, name)
    except ValueError:
        yield unsaid
    else:
        yield Cell((count(warm, call("count", "warm-up runs", word)),), warm)
    try:
        least, most = plans.fewest_runs(of.measurements, name), plans.most_runs(of.measurements, name)
    except ValueError:
        yield unsaid
        return
    runs: Sentence = (count(least, call("count", "fewest planned runs", word)),)
    if least != most:
        runs = (*runs, " to ", count(most, call("count", "most planned runs", word)))
    yield Cell(runs, most)


def _processes(of: Gathered, benchmark: str) -> Cell:
    """Return the cell of how many processes each backend measured a benchmark in."""
    parts: list[Sentence] = []
    for backend in dict.fromkeys(group.backend for group in of.groups if group.benchmark == benchmark):
        found = effort.processes_of(of.measurements, benchmark, backend)
        number = count(found, call("count", "processes of", quoted(benchmark), quoted(backend)))
        parts.append((number, f" ({words.backend(visible(backend))})"))
    said = phrases.series(parts, ", ")
    return Cell(said, " ".join(str(part) for part in said if isinstance(part, str)))


def _scenarios(of: Gathered) -> Iterator[Table]:
    found = list(dict.fromkeys(group.scenario for group in of.groups))
    if not [scenario for scenario in found if scenario != "not-recorded"]:
        return
    of.used |= set(found)
    columns = (Column("scenario"), Column("caches"), Column("clocks"), Column("what it stands for"))
    rows = []
    for scenario in found:
        caches, clocks = words.POLICIES.get(scenario, ("not recorded", "not recorded"))
        meaning = words.scenario_meaning(scenario)
        stands = meaning.partition(": ")[2].rstrip(".") if scenario in words.POLICIES else meaning
        cache = Cell(_flush(of, scenario), caches) if caches == "flushed" else _word(caches)
        rows.append((_word(visible(scenario)), cache, _word(clocks), _word(visible(stands))))
    yield Table("method-scenarios", "The scenarios in words.", columns, tuple(rows))


def _flush(of: Gathered, scenario: str) -> Sentence:
    """Say when a scenario flushes, in each backend that measured under it, and how much."""
    told = str(of.fact("policy.flush_granularity") or "").split("; ")
    how = dict(part.split(": ", 1) for part in told if ": " in part)
    backends = dict.fromkeys(group.backend for group in of.groups if group.scenario == scenario)
    said = [f"{_FLUSHED.get(how[b], visible(how[b]))} ({words.backend(b)})" for b in backends if b in how]
    size = of.fact("policy.flush_bytes")
    flush: Sentence = ()
    if "cupti" in backends and isinstance(size, int | float) and not isinstance(size, bool):
        flush = (" by ", figure(float(size), "byte", "provenance:policy.flush_bytes"))
    return say("flushed{said}{size}", said=f" {listed(said)}" if said else "", size=flush)
