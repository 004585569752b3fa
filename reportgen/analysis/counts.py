"""Counts over the measurements of a bundle, as a dossier prints them: each is `count(<what>, …)` in the grammar of sources.

A group is named by its benchmark, backend, workload and scenario (`Group.words`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from reportgen.analysis.groups import Group, Measured
from reportgen.analysis.measurements import Measurements
from reportgen.analysis.sources import computes, counts
from reportgen.analysis.statistics import FEWEST
from reportgen.evidence import samples

UNSAID = ("the report holds no value", "the file holds no value")  # reasons that are no loss


@counts("launches")
def launches(of: Measurements) -> int:
    """The launches that were profiled."""
    return samples.launches(of.samples)


@counts("samples", "text", "text")
def with_reason(of: Measurements, state: str, reason: str) -> int:
    """The samples that are in a state for a reason."""
    return int(((of.samples["state"] == state) & (of.samples["reason"] == reason)).sum())


@counts("samples in", "row", "text")
def in_file(of: Measurements, row: Mapping[str, Any], path: str) -> int:
    """The samples that a row has in a file."""
    return sum(place.rpartition("#")[0] == path for place in of.places_of(str(row["Row"])))


@counts("samples in state", "text")
def in_state(of: Measurements, state: str) -> int:
    """The samples that are in a state, those left out for which the profiler merely has no value."""
    return int(((of.samples["state"] == state) & ~of.samples["reason"].isin(UNSAID)).sum())


@counts("reasons")
def reasons(of: Measurements) -> int:
    """The different reasons for which samples failed, were skipped or dropped."""
    bad = of.samples[~of.samples["state"].isin(("ok", "not permitted")) & ~of.samples["reason"].isin(UNSAID)]
    return len(bad[["state", "reason"]].drop_duplicates())


@counts("annotations", "text", ...)
def of_group(of: Measurements, *group: str) -> int:
    """The annotations of a group."""
    return len(_group(of, group).annotations)


@counts("other annotations", "text", ...)
def other_annotations(of: Measurements, *named: str) -> int:
    """The annotations of the whole collection beside those that are named."""
    return len({annotation for group in of.groups for annotation in group.annotations} - set(named))


@counts("rows")
def rows(of: Measurements) -> int:
    """The rows of the metric that each group is about, those that have a value."""
    return sum(1 for _ in _main(of.groups))


@counts("unstable rows", "text", ...)
def unstable_rows(of: Measurements, *group: str) -> int:
    """The rows whose relative deviation is 2 % or more, of all groups or of the one that is named."""
    return sum(row.stable is False for row in _main((_group(of, group),) if group else of.groups))


@counts("rows under three runs")
def rows_of_few_runs(of: Measurements) -> int:
    """The rows that have neither three runs nor three processes."""
    return sum(max(row.runs, row.processes) < FEWEST for row in _main(of.groups))


@computes("runs_of_a_process", "value", "value")
def runs_of_a_process(runs: float, processes: float) -> int:
    """Return how many runs a row has in each of its processes; the most, where some of them failed in one."""
    return math.ceil(runs / processes) if processes else 0


@computes("count these", "row", ...)
def these(*given: Mapping[str, Any]) -> int:
    """As many as the rows that are named."""
    return len(given)


@counts("imported files")
def imported_files(of: Measurements) -> int:
    """The files that were imported."""
    return len(_files(of))


@counts("sampled files")
def sampled_files(of: Measurements) -> int:
    """The imported files from which samples were taken."""
    return sum(file.get("use") == "sampled" for file in _files(of))


def _files(of: Measurements) -> list[dict[str, Any]]:
    return [file for file in of.info.plan.get("files", []) if isinstance(file, dict)]


def _group(of: Measurements, named: tuple[str, ...]) -> Group:
    """Return the group of these words; raises `KeyError` where there is none."""
    for group in of.groups:
        if (group.benchmark, group.backend, group.workload, group.scenario) == named:
            return group
    raise KeyError(", ".join(named))


def _main(groups: tuple[Group, ...]) -> Iterator[Measured]:
    return (row for group in groups for case in group.cases if (row := case.get(group.main)) is not None)
