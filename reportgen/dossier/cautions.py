"""What a reader is to keep in mind: what was seen, what it does to the figures, and the mend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd

from reportgen.analysis.groups import Group
from reportgen.analysis.statistics import FEWEST
from reportgen.dossier.model import Caution
from reportgen.dossier.text import count, listed, plural, say, visible
from reportgen.evidence.provenance import Provenance

_UNSAID = ("the report holds no value", "the file holds no value")
_MOST_REASONS = 4


def of_bundle(
    groups: Sequence[Group], samples: pd.DataFrame, losses: Sequence[str], provenance: Provenance
) -> tuple[Caution, ...]:
    """Return all cautions, the gravest first."""
    return (
        *lost(losses),
        *missing(samples),
        *operators(groups),
        *scenario(groups),
        *clocks(provenance),
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
            n=count(n, f"count({state})"),
            samples=plural(n, "sample"),
            state=state,
            reason=visible(reason),
        )
        yield Caution(
            what, "They stand in the tables with this reason and are in no mean.", "See the log of the collection."
        )


def operators(groups: Sequence[Group]) -> Iterator[Caution]:
    """Say that operator times are none of a GPU's kernels."""
    if any(group.main == "self_cpu_time_total" for group in groups):
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


def clocks(provenance: Provenance) -> Iterator[Caution]:
    """Say that the clocks were free."""
    policy = provenance.facts.get("policy.clocks")
    if policy is not None and policy.value == "none":
        yield Caution(
            ("The GPU's clocks were not locked.",),
            "Heat, power and the data itself move the clock, and with it the times; see the SM clock in the tables.",
            "Compare rows taken in one collection, or collect under the scenario strict where clocks may be set.",
        )


def unstable(groups: Sequence[Group]) -> Iterator[Caution]:
    """Count the rows whose time varied by 2 % or more."""
    for group in groups:
        rows = [row for case in group.cases if (row := case.get(group.main)) is not None]
        shaky = [row for row in rows if row.stable is False]
        if not shaky:
            continue
        what = say(
            "{n} of {all} rows of {benchmark} ({backend}, {scenario}) are unstable: their relative deviation is 2 % or more.",
            n=count(len(shaky), "count(unstable rows)"),
            all=count(len(rows), "count(rows)"),
            benchmark=visible(group.benchmark),
            backend=group.backend,
            scenario=group.scenario,
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
    elif rows and max(row.processes for row in rows) < FEWEST:
        yield Caution(
            ("All runs of a row were taken in fewer than three processes.",),
            "Runs within a process are not independent, so the intervals here are over runs and may be too narrow.",
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
