"""What a reader is to keep in mind: what was seen, what it does to the figures, and the mend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd

from reportgen.analysis.groups import Group
from reportgen.analysis.sources import call, quoted
from reportgen.analysis.statistics import FEWEST
from reportgen.dossier.model import Caution, Sentence
from reportgen.dossier.text import count, listed, plural, say, visible
from reportgen.evidence.provenance import Provenance

_UNSAID = ("the report holds no value", "the file holds no value")
_MOST_REASONS = 4
_SEE = "See the log of the collection."


def of_bundle(
    groups: Sequence[Group], samples: pd.DataFrame, losses: Sequence[str], provenance: Provenance
) -> tuple[Caution, ...]:
    """Return all cautions, the gravest first."""
    return (
        *lost(losses),
        *missing(samples),
        *operators(groups),
        *scenario(groups),
        *clocks(groups, provenance),
        *unstable(groups),
        *few(groups),
        *told_by_shape(groups),
        *normalised(groups),
    )


def lost(losses: Sequence[str]) -> Iterator[Caution]:
    """Say what could not be read: this is a part of the evidence, not the whole."""
    for loss in losses:
        yield Caution(
            (f"Not everything could be read: {visible(loss)}.",),
            "What is missing is missing from every table and chart here.",
            "Profile again, or copy the file again from where it was made, and import it anew.",
        )


def missing(samples: pd.DataFrame) -> Iterator[Caution]:
    """Count what failed, was skipped, dropped or not permitted, by its reason."""
    bad = samples[(samples["state"] != "ok").to_numpy() & ~samples["reason"].isin(_UNSAID).to_numpy()]
    counts = Counter(zip(bad["state"].astype("object"), bad["reason"].astype("object"), strict=True))
    for (state, reason), n in counts.most_common(_MOST_REASONS):
        what = say(
            "{n} {samples} {state}: {reason}.",
            n=count(n, call("count", "samples", quoted(state), quoted(reason))),
            samples=plural(n, "sample"),
            state=state,
            reason=visible(reason),
        )
        mend = "Nothing is to be mended unless it was meant to be measured." if state == "skipped" else _SEE
        yield Caution(what, "They stand in the tables with this reason and are in no mean.", mend)


def operators(groups: Sequence[Group]) -> Iterator[Caution]:
    """Say that operator times are none of a GPU's kernels."""
    mine = [group for group in groups if group.workload == "operator"]
    if any(case.get("self_device_time_total") for group in mine for case in group.cases):
        yield Caution(
            ("These are times of PyTorch's operators, on the host and on the GPU, as torch.profiler has them.",),
            "An operator's device time is that of the kernels which it launched itself; the host's time is none of a kernel.",
            "Collect with --backend cupti or --backend ncu to measure kernels.",
        )
    elif mine:
        yield Caution(
            ("These are times of PyTorch's operators on the CPU, not of kernels on a GPU.",),
            "They say how long the host was busy, and nothing of what a GPU would take.",
            "Collect on a machine with a GPU to measure kernels.",
        )


def scenario(groups: Sequence[Group]) -> Iterator[Caution]:
    """Say that the cache and clock policy is not known."""
    if any(group.scenario == "not-recorded" for group in groups):
        yield Caution(
            ("The cache and clock policy of this collection was not recorded.",),
            "A cold and a warm cache, or free and locked clocks, may differ by more than any difference shown here.",
            "Import with --session FILE (`ncu --page session`) or state it with --scenario.",
        )


def clocks(groups: Sequence[Group], provenance: Provenance) -> Iterator[Caution]:
    """Say that the clocks were free."""
    policy = provenance.facts.get("policy.clocks")
    on_gpu = any(group.backend in ("ncu", "cupti") for group in groups)
    if policy is not None and on_gpu and (policy.value == "none" or ": free" in str(policy.value)):
        yield Caution(
            ("The GPU's clocks were not locked.",),
            "Heat, power and the data itself move the clock, and with it the times; see the SM clock in the tables.",
            "Compare rows taken in one collection, or collect under the scenario strict where clocks may be set.",
        )


def unstable(groups: Sequence[Group]) -> Iterator[Caution]:
    """Count the rows whose time varied by 2 % or more, over all and where they are."""
    total, where = 0, list[Sentence]()
    for group in groups:
        shaky = [row for case in group.cases if (row := case.get(group.main)) is not None and row.stable is False]
        if shaky:
            total += len(shaky)
            place = f" in {visible(group.benchmark)} ({group.backend}, {group.scenario})"
            where.append((count(len(shaky), call("count", "unstable rows", *group.words)), place))
    if not where:
        return
    rows = sum(case.get(group.main) is not None for group in groups for case in group.cases)
    places = [part for index, one in enumerate(where) for part in ((", ", *one) if index else one)]
    what = say(
        "{n} of {all} rows are unstable, their relative deviation being 2 % or more: {where}.",
        n=count(total, "count(unstable rows)"),
        all=count(rows, "count(rows)"),
        where=tuple(places),
    )
    yield Caution(
        what,
        "Their means may move by as much from one collection to the next; they are marked in the tables and hollow in the charts.",
        "Take more runs and processes; for kernels of a few microseconds the timer's tick and the clock are most of it.",
    )


def few(groups: Sequence[Group]) -> Iterator[Caution]:
    """Say where there are too few runs for an interval."""
    rows = [row for group in groups for case in group.cases if (row := case.get(group.main)) is not None]
    short = [row for row in rows if max(row.runs, row.processes) < FEWEST]
    if short:
        what = say(
            "{n} of {all} rows have under three runs.",
            n=count(len(short), "count(rows under three runs)"),
            all=count(len(rows), "count(rows)"),
        )
        yield Caution(
            what,
            "They have no interval, and nothing tells how far they would move.",
            "Take at least three runs, better ten.",
        )
        return
    of_few = {
        group.backend: None
        for group in groups
        if (some := [row for case in group.cases if (row := case.get(group.main)) is not None])
        and max(row.processes for row in some) < FEWEST
    }
    if of_few:
        yield Caution(
            (f"All runs of a row under {listed(of_few)} were taken in fewer than three processes.",),
            "Runs within a process are not independent, so the intervals there are over runs and may be too narrow.",
            "Collect with three processes or more before deciding on small differences.",
        )


def told_by_shape(groups: Sequence[Group]) -> Iterator[Caution]:
    """Say where configurations were told apart by their launch shape because the ranges did not name them."""
    names = [g.benchmark for g in groups if any(n == "launch" for case in g.cases for n, _ in case.params)]
    if names:
        yield Caution(
            (f"The ranges in {visible(listed(dict.fromkeys(names)))} do not say their configuration.",),
            "Runs that launched other kernels or grids were told apart and numbered (launch = 0, 1, …); two configurations of one shape would stand in one row.",
            "Name the configuration in the range's message: annotation|n=1024|run=0.",
        )


def normalised(groups: Sequence[Group]) -> Iterator[Caution]:
    """Say where an imported table was divided by a baseline."""
    if any(":AvgValue/" in m for group in groups for case in group.cases for m in case.metrics):
        yield Caution(
            ("The imported table is normalised: its averages are ratios to a baseline.",),
            "Minimum, maximum and deviation in the same table are raw values and do not belong to those ratios.",
            "Import the table of single runs (profiled_data) as well.",
        )
