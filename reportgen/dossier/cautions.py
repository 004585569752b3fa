"""What a reader is to keep in mind, one caution for each kind: what was seen and where, what it does to the figures, and the mend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from reportgen.analysis import sensing
from reportgen.analysis.counts import UNSAID
from reportgen.analysis.groups import Case, Group, Measured
from reportgen.analysis.sources import call, quoted
from reportgen.analysis.statistics import FEWEST, STABLE_BELOW_PCT
from reportgen.dossier import words
from reportgen.dossier.declared import Declared
from reportgen.dossier.findings import phrases
from reportgen.dossier.findings.claims import Evidence
from reportgen.dossier.model import Caution, Sentence
from reportgen.dossier.text import code, count, figure, listed, plural, say, visible
from reportgen.evidence import throttle

MOST_ITEMS = 8
_NOT_PERMITTED = "not permitted"


def of_bundle(of: Evidence, samples: pd.DataFrame, losses: Sequence[str]) -> tuple[Caution, ...]:
    """Return all cautions, the gravest first."""
    groups = tuple(group for group, _ in of.shown)
    return (
        *lost(losses),
        *not_permitted(samples),
        *missing(samples),
        *operators(groups),
        *foreign(groups, of),
        *clocks(groups, of),
        *throttled(groups, of),
        *unstable(groups, of),
        *few(groups),
        *told_by_shape(groups),
        *normalised(groups),
    )


def lost(losses: Sequence[str]) -> Iterator[Caution]:
    """Say what could not be read: this is a part of the evidence, not the whole."""
    if losses:
        yield Caution(
            "lost",
            ("Not everything could be read.",),
            "What is missing is missing from every table and chart here.",
            ("Profile again, or copy the file again from where it was made, and import it anew.",),
            tuple((visible(loss),) for loss in losses),
        )


def _bad(samples: pd.DataFrame) -> Counter[tuple[str, str]]:
    """Count the samples without a value by their state and reason; what the profiler merely has no value for is none of them."""
    bad = samples[(samples["state"] != "ok").to_numpy() & ~samples["reason"].isin(UNSAID).to_numpy()]
    return Counter(zip(bad["state"].astype("object"), bad["reason"].astype("object"), strict=True))


def not_permitted(samples: pd.DataFrame) -> Iterator[Caution]:
    """Say that the host forbids hardware counters, and who can mend it."""
    reasons = {reason: n for (state, reason), n in _bad(samples).items() if state == _NOT_PERMITTED}
    if reasons:
        yield Caution(
            "counters",
            ("Hardware counters were not permitted on this machine.",),
            "What Nsight Compute would have counted is not here; nothing in its place was guessed.",
            (
                "Ask the host's owner to set ",
                code("NVreg_RestrictProfilingToAdminUsers=0"),
                " for the driver, which nothing inside a container can; times under CUPTI need no counters.",
            ),
            tuple(_counted(_NOT_PERMITTED, reason, n) for reason, n in reasons.items()),
        )


def missing(samples: pd.DataFrame) -> Iterator[Caution]:
    """Count what failed, was skipped or dropped, by its reason."""
    counts = Counter({key: n for key, n in _bad(samples).items() if key[0] != _NOT_PERMITTED})
    if not counts:
        return
    states = Counter[str]()
    for (state, _), n in counts.items():
        states[state] += n
    said = [(count(n, call("count", "samples in state", quoted(state))), f" {state}") for state, n in states.items()]
    items = [_counted(state, reason, n) for (state, reason), n in counts.most_common()]
    skipped = set(states) == {"skipped"}
    yield Caution(
        "missing",
        say("Not everything has a value: {said}.", said=phrases.series(said)),
        "It stands in the tables with its reason and is in no mean.",
        (
            "Nothing is to be mended unless it was meant to be measured."
            if skipped
            else "See the log of the collection.",
        ),
        _some(items, len(counts), call("count", "reasons")),
    )


def _counted(state: str, reason: str, n: int) -> Sentence:
    return say(
        "{n} {samples} {state}: {reason}",
        n=count(n, call("count", "samples", quoted(state), quoted(reason))),
        samples=plural(n, "sample"),
        state=state,
        reason=visible(reason),
    )


def _some(items: Sequence[Sentence], all_of_them: int, source: str) -> tuple[Sentence, ...]:
    """Return the first few items, and how many there are in all where that is more."""
    if len(items) <= MOST_ITEMS:
        return tuple(items)
    return (*items[:MOST_ITEMS], ("and more: ", count(all_of_them, source), " in all"))


def operators(groups: Sequence[Group]) -> Iterator[Caution]:
    """Say that operator times are none of a GPU's kernels."""
    mine = [group for group in groups if group.workload == "operator"]
    if any(case.get("self_device_time_total") for group in mine for case in group.cases):
        yield Caution(
            "operators",
            ("These are times of PyTorch's operators, on the host and on the GPU, as torch.profiler has them.",),
            "An operator's device time is that of the kernels which it launched itself; the host's time is none of a kernel.",
            ("Collect with ", code("--backend cupti"), " or ", code("--backend ncu"), " to measure kernels."),
        )
    elif mine:
        yield Caution(
            "operators",
            ("These are times of PyTorch's operators on the CPU, not of kernels on a GPU.",),
            "They say how long the host was busy, and nothing of what a GPU would take.",
            ("Collect on a machine with a GPU to measure kernels.",),
        )


def foreign(groups: Sequence[Group], of: Evidence) -> Iterator[Caution]:
    """Say what evidence from elsewhere does not tell of how it was measured."""
    if not any(group.scenario == "not-recorded" for group in groups):
        return
    asked = {"versions.driver": "the driver", "versions.ncu": "the profiler's version", "gpu.name": "the GPU"}
    unknown = [word for key, word in asked.items() if of.facts.get(key).value is None]
    yield Caution(
        "conditions",
        ("The cache and clock policy of this collection was not recorded.",),
        "A cold and a warm cache, or free and locked clocks, may differ by more than any difference shown here.",
        (
            "Import with ",
            code("--session FILE"),
            ", made by ",
            code("ncu --page session"),
            ", or state it with ",
            code("--scenario"),
            ".",
        ),
        ((f"Not recorded either: {listed(unknown)}",),) if unknown else (),
    )


def clocks(groups: Sequence[Group], of: Evidence) -> Iterator[Caution]:
    """Say where the clocks were free."""
    policy = str(of.facts.get("policy.clocks").value)
    mine = [group for group in groups if group.backend in ("ncu", "cupti") and group.measured]
    free = [scenario for scenario in dict.fromkeys(g.scenario for g in mine) if _free(scenario, policy)]
    if not free:
        return
    locked = [scenario for scenario in dict.fromkeys(g.scenario for g in mine) if scenario not in free]
    where = f" under {visible(listed(free))}" if locked else ""
    yield Caution(
        "clocks",
        (f"The GPU's clocks were not locked{where}.",),
        "Heat, power and the data itself move the clock, and with it the times; see the SM clock in the tables.",
        (
            f"Compare rows of {visible(listed(locked))}, whose clocks were locked."
            if locked
            else "Compare rows taken in one collection, or collect under the scenario strict where clocks may be set.",
        ),
    )


def _free(scenario: str, policy: str) -> bool:
    """Tell whether the clocks were free under a scenario, by a policy in words (`default: free; strict: base`)."""
    said = dict(part.split(": ", 1) for part in policy.split("; ") if ": " in part)
    return said.get(scenario, "") == "free" if said else policy == "none"


def throttled(groups: Sequence[Group], of: Evidence) -> Iterator[Caution]:
    """Say that sensors saw power or heat hold the GPU back, and in which rows."""
    during = throttle.slowing(str(of.facts.get("throttle.during").value))
    held = [
        (group, case, some)
        for group in groups
        for case in group.cases
        if (some := sensing.held_back(of.sensed, group, case))
    ]
    reasons = dict.fromkeys([*during, *(reason for _, _, some in held for reason in some)])
    if not reasons:
        return
    by_group: dict[tuple[str, str, str], list[Case]] = {}
    for group, case, _ in held:
        by_group.setdefault((group.benchmark, group.backend, group.scenario), []).append(case)
    items = [
        say(
            "{n} {rows} of {where}",
            n=count(len(cases), phrases.these(cases)),
            rows=plural(len(cases), "row"),
            where=_where(*place),
        )
        for place, cases in by_group.items()
    ]
    yield Caution(
        "throttle",
        (f"Sensors saw the GPU held back: {listed(reasons)}.",),
        "Times taken then are longer than those of a GPU that is cool and has power to spare; the two are different figures.",
        (
            "Compare what was taken under the same load; let runs wait for a cool GPU with ",
            code('thermal="auto"'),
            ", or ask for ",
            code('heat="sustained"'),
            " where the load is meant.",
        ),
        tuple(items[:MOST_ITEMS]),
    )


def _where(benchmark: str, backend: str, scenario: str) -> str:
    return visible(f"{benchmark}, {words.backend(backend)}, {words.conditions(scenario)}")


@dataclass(frozen=True, slots=True)
class _Row:
    group: Group
    case: Case
    row: Measured


def _main(groups: Sequence[Group]) -> list[_Row]:
    return [
        _Row(group, case, row) for group in groups for case in group.cases if (row := case.get(group.main)) is not None
    ]


def unstable(groups: Sequence[Group], of: Evidence) -> Iterator[Caution]:
    """Name the rows whose time varied by 2 % or more, the most unstable first."""
    rows = _main(groups)
    shaky = sorted((one for one in rows if one.row.stable is False), key=lambda one: -one.row.relative_pct)
    if not shaky:
        return
    what = say(
        "{n} of {all} rows are unstable, their relative deviation being {limit} or more.",
        n=count(len(shaky), "count(unstable rows)"),
        all=count(len(rows), "count(rows)"),
        limit=figure(STABLE_BELOW_PCT, "%", "constant:statistics.STABLE_BELOW_PCT"),
    )
    yield Caution(
        "stability",
        what,
        "Their means may move by as much from one collection to the next; they are marked in the tables and hollow in the charts.",
        (
            "Take more runs and processes; for kernels of a few microseconds the timer's tick and the clock are most of it.",
        ),
        _some([_shaky(one, of.of(one.group)) for one in shaky], len(shaky), "count(unstable rows)"),
    )


def _shaky(one: _Row, declared: Declared) -> Sentence:
    return say(
        "{name}{at}: {spread} ({where})",
        name=phrases.name(one.case),
        at=phrases.at(one.case, declared),
        spread=figure(one.row.relative_pct, "%", one.row.source("RelativeStdDevPct"), spread=one.row.relative_pct),
        where=_where(one.group.benchmark, one.group.backend, one.group.scenario),
    )


def few(groups: Sequence[Group]) -> Iterator[Caution]:
    """Say where there are too few runs or processes for an interval that can be trusted."""
    rows = _main(groups)
    short = [one for one in rows if max(one.row.runs, one.row.processes) < FEWEST]
    if short:
        what = say(
            "{n} of {all} rows have under three runs.",
            n=count(len(short), "count(rows under three runs)"),
            all=count(len(rows), "count(rows)"),
        )
        yield Caution(
            "runs",
            what,
            "They have no interval, and nothing tells how far they would move.",
            ("Take at least three runs, better ten.",),
        )
        return
    most: dict[str, int] = {}
    for one in rows:
        most[one.group.backend] = max(most.get(one.group.backend, 0), one.row.processes)
    of_few = [words.backend(backend) for backend, processes in most.items() if processes < FEWEST]
    if of_few:
        yield Caution(
            "runs",
            (f"All runs of a row under {visible(listed(of_few))} were taken in fewer than three processes.",),
            "Runs within a process are not independent, so the intervals there are over runs and may be too narrow.",
            ("Collect with three processes or more before deciding on small differences.",),
        )


def told_by_shape(groups: Sequence[Group]) -> Iterator[Caution]:
    """Say where configurations were told apart by their launch shape because the ranges did not name them."""
    names = [g.benchmark for g in groups if any(n == "launch" for case in g.cases for n, _ in case.params)]
    if names:
        yield Caution(
            "configurations",
            (f"The ranges in {visible(listed(dict.fromkeys(names)))} do not say their configuration.",),
            "Runs that launched other kernels or grids were told apart and numbered by a parameter of its own, launch; two configurations of one shape would stand in one row.",
            ("Name the configuration in the range's message: ", code("annotation|n=1024|run=0"), "."),
        )


def normalised(groups: Sequence[Group]) -> Iterator[Caution]:
    """Say where an imported table was divided by a baseline."""
    if any(":AvgValue/" in m for group in groups for case in group.cases for m in case.metrics):
        yield Caution(
            "normalised",
            ("The imported table is normalised: its averages are ratios to a baseline.",),
            "Minimum, maximum and deviation in the same table are raw values and do not belong to those ratios.",
            ("Import the table of single runs as well, ", code("profiled_data"), "."),
        )
