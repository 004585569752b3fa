"""The head of a dossier: in one line what was run, its chips, and the facts that a reader looks for first."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from reportgen.analysis import counts, groups, sources
from reportgen.dossier import words
from reportgen.dossier.findings import phrases
from reportgen.dossier.gathered import Gathered
from reportgen.dossier.model import Chip, HeadFact, Sentence
from reportgen.dossier.text import code, count, plural, say, shorten, visible
from reportgen.evidence import samples

# What an imported report says of its policy.
_IMPORTED = {
    ("policy.clocks", "base"): "locked to base",
    ("policy.clocks", "none"): "not locked",
    ("policy.cache", "flush"): "flushed",
    ("policy.cache", "none"): "kept",
}


def lead(of: Gathered) -> Sentence:
    """Say in one line what was run."""
    annotations = list(dict.fromkeys(a for g in of.groups for a in g.annotations))
    launches = samples.launches(of.samples)
    names = [(shorten(name, 40),) for name in annotations[:3]]
    more = len(annotations) - 3
    axis = next((g.axis for g in of.groups if g.axis), "")
    return say(
        "{names}{more}{axis}{runs}; {launches} profiled {word}.",
        names=phrases.series(names, ", " if more > 0 else " and "),
        more=(" and ", count(more, _others(annotations[:3])), " more") if more > 0 else (),
        axis=_swept(of, axis),
        runs=_runs(of),
        launches=count(launches, "count(launches)"),
        word=plural(launches, "launch", "launches"),
    )


def _others(named: Sequence[str]) -> str:
    return sources.call("count", "other annotations", *map(sources.quoted, named))


def _swept(of: Gathered, axis: str) -> Sentence:
    swept = [
        (float(dict(case.params)[axis]), case, group)
        for group in of.groups
        if axis and group.axis == axis
        for case in group.cases
    ]
    if not swept:
        return ()
    ends = (min(swept, key=itemgetter(0)), max(swept, key=itemgetter(0)))
    low, high = (
        phrases.of_parameter(case, axis, dict(case.params)[axis], of.declared(group.benchmark))
        for _, case, group in ends
    )
    return (f" over {visible(axis)}\u00a0=\u00a0", *low, " to ", *high)


def _runs(of: Gathered) -> Sentence:
    """Say how many runs each row has in how many processes, for each backend: they multiply, and are not the same thing."""
    parts: list[Sentence] = []
    for backend in dict.fromkeys(group.backend for group in of.groups):
        mine = (case.get(group.main) for group in of.groups if group.backend == backend for case in group.cases)
        rows = [row for row in mine if row is not None]
        if rows:
            several = len({group.backend for group in of.groups}) > 1
            parts.append((*_each(rows), *((f" under {visible(words.backend(backend))}",) if several else ())))
    return (", ", *phrases.series(parts)) if parts else ()


def _each(rows: Sequence[groups.Measured]) -> Sentence:
    """Say `10 runs in each of 3 processes`, or between which numbers they lie."""
    least, most = (end(rows, key=lambda row: counts.runs_of_a_process(row.runs, row.processes)) for end in (min, max))
    low, high = (counts.runs_of_a_process(row.runs, row.processes) for row in (least, most))
    runs: Sentence = (
        count(high, sources.call("runs_of_a_process", most.source("NumRuns"), most.source("NumProcesses"))),
    )
    if low != high:
        source = sources.call("runs_of_a_process", least.source("NumRuns"), least.source("NumProcesses"))
        runs = (count(low, source), " to ", *runs)
    fewest, widest = (end(rows, key=lambda row: row.processes) for end in (min, max))
    processes: Sentence = (count(widest.processes, widest.source("NumProcesses")),)
    if fewest.processes != widest.processes:
        processes = (count(fewest.processes, fewest.source("NumProcesses")), " to ", *processes)
    each = "in each of " if widest.processes > 1 else "in "
    return (*runs, f" {plural(high, 'run')} {each}", *processes, f" {plural(widest.processes, 'process', 'processes')}")


def facts(of: Gathered) -> tuple[HeadFact, ...]:
    """Return what a reader looks for first: the driver, the profilers' versions, and whether clocks were locked and caches flushed."""
    backends = {group.backend for group in of.groups}
    asked = [("Driver", "versions.driver", True), ("Nsight Compute", "versions.ncu", "ncu" in backends)]
    asked += [("CUPTI", "versions.cupti", "cupti" in backends), ("PyTorch", "versions.torch", "torch" in backends)]
    found = [HeadFact(label, _version(of, key), "provenance") for label, key, wanted in asked if wanted]
    if backends & {"ncu", "cupti"}:
        found.append(HeadFact("Clocks", (_policy(of, 1, "policy.clocks"),), "method"))
        found.append(HeadFact("Caches", (_policy(of, 0, "policy.cache"),), "method"))
    return tuple(found)


def _version(of: Gathered, key: str) -> Sentence:
    fact = of.provenance.get(key)
    return (code(visible(str(fact.value))),) if fact.recorded else ("not recorded",)


def _policy(of: Gathered, which: int, key: str) -> str:
    """Return in words how clocks or caches were kept: once where all scenarios agree, else each with the scenarios that it was so in."""
    scenarios = dict.fromkeys(g.scenario for g in of.groups if g.measured and g.backend in ("ncu", "cupti"))
    said: dict[str, list[str]] = {}
    for scenario in scenarios:
        told = words.POLICIES.get(scenario)
        word = told[which] if told else _IMPORTED.get((key, str(of.fact(key))), "not recorded")
        said.setdefault(word, []).append(visible(scenario))
    if len(said) == 1:
        return next(iter(said))
    return ", ".join(f"{word} ({', '.join(names)})" for word, names in said.items())


def chips(of: Gathered) -> tuple[Chip, ...]:
    """Return the short marks of a dossier: its status, its backends and its scenarios."""
    chips = [Chip("status", of.info.status, words.STATUSES.get(of.info.status, ""))]
    if of.info.losses:
        chips.append(Chip("status", "partial", words.STATUSES["partial"]))
    chips += [Chip("backend", b, words.BACKENDS.get(b, "")) for b in dict.fromkeys(g.backend for g in of.groups)]
    chips += [
        Chip("scenario", s.replace("-", " "), words.scenario_meaning(s))
        for s in dict.fromkeys(g.scenario for g in of.groups)
    ]
    return tuple(chips)
