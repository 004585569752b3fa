"""The processed table as typed rows, gathered as a dossier reads it: group, case, metric.

A group is what may be looked at together: one benchmark under one backend, workload and scenario. A case is one annotation
and configuration of it. Nothing here reaches across groups.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
import pandas as pd

from reportgen.analysis import processed, statistics
from reportgen.analysis.derive import TIME
from reportgen.analysis.sources import quoted
from reportgen.evidence.samples import PARAM, param_columns

Runs = dict[tuple[int, int], float]  # (process, run) → value

_IDENTITY = ("Suite", "Benchmark", "Backend", "Workload", "Scenario")
# The columns of the processed table in the order of the fields of `Measured`.
_MEASURED = (
    *("Row", "Metric", "Unit", "AvgValue", "StdDev", "MinValue", "MaxValue", "Median", "CI95_Lower", "CI95_Upper"),
    *("RelativeStdDevPct", "StableMeasurement", "NumRuns", "NumProcesses", "NumKernels", "State", "Reason"),
)
_OF_THE_MACHINE = ("device__", "nvlink__", "numa__", "c2clink__", "profiler__")


@dataclass(frozen=True, slots=True)
class Measured:
    """One row of the processed table. NaN stands for what is not known; `row` is its id."""

    row: str
    metric: str
    unit: str
    mean: float
    deviation: float
    low: float
    high: float
    median: float
    ci_low: float
    ci_high: float
    relative_pct: float
    stable: bool | None
    runs: int
    processes: int
    kernels: int
    state: str
    reason: str

    @property
    def known(self) -> bool:
        """Tell whether there is a value at all."""
        return self.state == "ok" and not math.isnan(self.mean)

    @property
    def half(self) -> float:
        """Return half the width of the interval, NaN where there is none."""
        return (self.ci_high - self.ci_low) / 2

    def source(self, column: str = "AvgValue") -> str:
        """Return the source of one of the row's values."""
        return f"{self.row}.{column}"


@dataclass(frozen=True)
class Case:
    """One annotation and configuration; `params` are (name, value) in the table's order, absent ones left out."""

    annotation: str
    params: tuple[tuple[str, Any], ...]
    kernel: str
    metrics: Mapping[str, Measured]
    runs: Mapping[str, Runs] = field(repr=False)

    @property
    def configuration(self) -> str:
        """Return the parameters in words: `n = 2048, dtype = fp16`."""
        return ", ".join(f"{name} = {value}" for name, value in self.params)

    def source(self, parameter: str) -> str:
        """Return the source of a parameter's value, by the row of the case's time where it has one."""
        row = self.metrics.get(TIME) or next(iter(self.metrics.values()))
        return f"parameter:{row.row}.{parameter}"

    @property
    def time(self) -> Measured | None:
        """Return the time of the region's kernels, if it is known."""
        return self.get(TIME)

    def get(self, metric: str) -> Measured | None:
        """Return a metric's row if it has a value."""
        found = self.metrics.get(metric)
        return found if found is not None and found.known else None

    def value(self, metric: str) -> float:
        """Return a metric's mean in base units, NaN where it is not known."""
        found = self.get(metric)
        return math.nan if found is None else found.mean


@dataclass(frozen=True)
class Group:
    """One benchmark under one backend, workload and scenario."""

    suite: str
    benchmark: str
    backend: str
    workload: str
    scenario: str
    cases: tuple[Case, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """Return what tells the group from others of its suite, as the arguments of a source."""
        return tuple(quoted(word) for word in (self.benchmark, self.backend, self.workload, self.scenario))

    @cached_property
    def annotations(self) -> tuple[str, ...]:
        """Return the annotations in the order in which they ran."""
        return tuple(dict.fromkeys(case.annotation for case in self.cases))

    @cached_property
    def axis(self) -> str:
        """Return the one numeric parameter that a sweep goes over, or the empty text.

        It must take three values or more, all positive numbers, and tell the cases of each annotation apart.
        """
        values: dict[str, set[float]] = {}
        for case in self.cases:
            for name, value in case.params:
                good = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
                values.setdefault(name, set()).add(float(value) if good else math.nan)
        swept = [n for n, v in values.items() if len(v) >= 3 and not any(math.isnan(x) for x in v) and n != "launch"]
        for name in swept:
            places = [(case.annotation, dict(case.params).get(name)) for case in self.cases]
            if len(set(places)) == len(places) and None not in [value for _, value in places]:
                return name
        return ""

    @cached_property
    def derived(self) -> tuple[str, ...]:
        """Return the derived metrics: those that bear no name of a profiler's, in the table's order.

        Those with a unit come first: a rate says more of a row than a bare number beside it.
        """
        units = {m: row.unit for case in self.cases for m, row in case.metrics.items() if "__" not in m and row.known}
        return tuple(sorted((n for n in units if len(n) <= 40), key=lambda n: not units[n]))

    @cached_property
    def main(self) -> str:
        """Return the metric that the group is about: the time, else the first that has values.

        What describes a launch (its grid, its registers) is it only where nothing else was measured.
        """
        metrics = dict.fromkeys(m for case in self.cases for m, row in case.metrics.items() if row.known)
        if TIME in metrics:
            return TIME
        return min(metrics, key=lambda m: m.startswith("launch__"), default=TIME)

    @cached_property
    def measured(self) -> bool:
        """Tell whether any case has a value."""
        return any(row.known for case in self.cases for row in case.metrics.values())

    @cached_property
    def why_not(self) -> tuple[str, str]:
        """Return the state and the reason of the first row that has no value, empty where all have one."""
        rows = (row for case in self.cases for row in case.metrics.values() if not row.known)
        return next(((row.state, row.reason) for row in rows), ("", ""))

    def at(self, annotation: str) -> tuple[Case, ...]:
        """Return the cases of one annotation, in order of the axis if there is one."""
        found = [case for case in self.cases if case.annotation == annotation]
        return tuple(sorted(found, key=lambda c: dict(c.params)[self.axis]) if self.axis else found)

    def rivals(self) -> tuple[tuple[Case, ...], ...]:
        """Return, for each configuration, the cases that share it: what may be compared within the group.

        They stand in order of the axis, so that the last is the largest, else in order of the table.
        """
        found: dict[tuple[Any, ...], list[Case]] = {}
        for case in self.cases:
            found.setdefault(tuple((name, type(value), value) for name, value in case.params), []).append(case)
        shared = list(found.values())
        if self.axis:
            shared.sort(key=lambda cases: dict(cases[0].params)[self.axis])
        return tuple(tuple(cases) for cases in shared)


def ratio(numerator: Case, denominator: Case, metric: str) -> statistics.Ratio | None:
    """Return the ratio of two cases' runs, paired where the runs are."""
    return statistics.ratio(dict(numerator.runs.get(metric, {})), dict(denominator.runs.get(metric, {})))


def gather(per_run: pd.DataFrame, table: pd.DataFrame) -> tuple[Group, ...]:
    """Gather `processed.runs` and the processed table made from it into groups, both in their own order."""
    params = [p.removeprefix(PARAM) for p in param_columns(per_run)]
    runs = _runs_by_row(per_run)
    texts = table["Metric"].astype("object")
    wanted = texts.isin([m for m in texts.unique() if not m.startswith(_OF_THE_MACHINE)])
    part = table[wanted.to_numpy() & ~readings(table)]
    identities = zip(*(part[c].astype(str) for c in _IDENTITY), strict=True)
    values = zip(*(part[name].astype("object") for name in params), strict=True) if params else repeat(())
    rows = (Measured(*cells) for cells in zip(*(part[c].tolist() for c in _MEASURED), strict=True))
    found: dict[tuple[str, ...], dict[tuple[Any, ...], _Found]] = {}
    for key, annotation, kernel, given, row in zip(
        identities, part["Annotation"], part["Kernel"], values, rows, strict=False
    ):
        # 1, 1.0 and true are equal in Python, and three configurations.
        place = (annotation, *((type(value), value) for value in given))
        cases = found.setdefault(key, {})
        if place not in cases:
            known = tuple((n, v) for n, v in zip(params, given, strict=True) if not (isinstance(v, str) and v == ""))
            cases[place] = _Found(annotation, known, kernel)
        case = cases[place]
        case.metrics[row.metric] = row
        case.runs[row.metric] = runs.get(row.row, {})
        if row.metric == TIME:
            case.kernel = kernel
    return tuple(_group(key, list(cases.values())) for key, cases in found.items())


def readings(table: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Tell which rows of a processed table are readings of a suite's collectors outside of every region: no case of what was measured."""
    outside = ((table["Annotation"] == "") & (table["Kernel"] == "") & (table["State"] == "ok")).to_numpy()
    return outside & ~table["Metric"].str.contains("__").to_numpy(dtype=bool)


def _group(key: tuple[str, ...], found: Sequence[_Found]) -> Group:
    suite, benchmark, backend, workload, scenario = key
    cases = tuple(Case(c.annotation, c.params, c.kernel, c.metrics, c.runs) for c in found)
    return Group(suite, benchmark, backend, workload, scenario, cases)


@dataclass
class _Found:
    """A case while its metrics are gathered."""

    annotation: str
    params: tuple[tuple[str, Any], ...]
    kernel: str
    metrics: dict[str, Measured] = field(default_factory=dict)
    runs: dict[str, Runs] = field(default_factory=dict)


def _runs_by_row(per_run: pd.DataFrame) -> dict[str, Runs]:
    """Return the single runs of each row that a dossier draws or compares."""
    metric = per_run["metric"].astype("object")
    drawn = [m for m in metric.unique() if not m.startswith((*_OF_THE_MACHINE, "launch__"))]
    kept = per_run[metric.isin(drawn).to_numpy() & (per_run["state"] == "ok").to_numpy()]
    params = param_columns(per_run)
    keys = ["suite", "benchmark", "backend", "workload", "scenario", *params, "annotation", "metric"]
    number = kept.groupby(keys, observed=True, sort=False, dropna=False).ngroup().to_numpy()
    first = np.unique(number, return_index=True)[1]
    head = kept.iloc[first]
    ids = [processed.row_id(identity) for identity in zip(*(head[key].astype("object") for key in keys), strict=True)]
    found: dict[str, Runs] = {}
    process = kept["process"].to_numpy(dtype="int64", na_value=0)
    run = kept["run"].to_numpy(dtype="int64", na_value=0)
    cells = (number.tolist(), process.tolist(), run.tolist(), kept["value"].tolist())
    for group, p, r, value in zip(*cells, strict=True):
        found.setdefault(ids[group], {})[p, r] = value
    return found


def samples_in_order(case: Case, metric: str) -> Sequence[float]:
    """Return a case's values in the order of processes and runs."""
    return [value for _, value in sorted(case.runs.get(metric, {}).items())]
