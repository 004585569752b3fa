"""The processed table as typed rows, gathered as a dossier reads it: group, case, metric.

A group is what may be looked at together: one benchmark under one backend, workload and scenario. A case is one annotation
and configuration of it. Nothing here reaches across groups.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from reportgen.analysis import processed, statistics
from reportgen.analysis.derive import TIME
from reportgen.evidence.samples import PARAM, param_columns

Runs = dict[tuple[int, int], float]  # (process, run) → value

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
        """Return the derived metrics: those that bear no name of a profiler's, in the table's order."""
        names = dict.fromkeys(m for case in self.cases for m, row in case.metrics.items() if "__" not in m and row.known)
        return tuple(n for n in names if len(n) <= 40)

    @cached_property
    def main(self) -> str:
        """Return the metric that the group is about: the time, else the first that has values."""
        metrics = [m for case in self.cases for m, row in case.metrics.items() if row.known]
        return TIME if TIME in metrics else next(iter(metrics), TIME)

    def at(self, annotation: str) -> tuple[Case, ...]:
        """Return the cases of one annotation, in order of the axis if there is one."""
        found = [case for case in self.cases if case.annotation == annotation]
        return tuple(sorted(found, key=lambda c: dict(c.params)[self.axis]) if self.axis else found)

    def rivals(self) -> tuple[tuple[Case, ...], ...]:
        """Return, for each configuration, the cases that share it: what may be compared within the group."""
        found: dict[str, list[Case]] = {}
        for case in self.cases:
            found.setdefault(case.configuration, []).append(case)
        return tuple(tuple(cases) for cases in found.values())


def ratio(numerator: Case, denominator: Case, metric: str) -> statistics.Ratio | None:
    """Return the ratio of two cases' runs, paired where the runs are."""
    return statistics.ratio(dict(numerator.runs.get(metric, {})), dict(denominator.runs.get(metric, {})))


def gather(per_run: pd.DataFrame, table: pd.DataFrame) -> tuple[Group, ...]:
    """Gather `processed.runs` and the processed table made from it into groups, both in their own order."""
    params = [p.removeprefix(PARAM) for p in param_columns(per_run)]
    runs = _runs_by_row(per_run)
    cases: dict[tuple[str, ...], dict[tuple[Any, ...], dict[str, Any]]] = {}
    wanted = ~table["Metric"].astype("object").str.startswith(_OF_THE_MACHINE)
    for record in table[wanted].to_dict("records"):
        key = tuple(str(record[c]) for c in ("Suite", "Benchmark", "Backend", "Workload", "Scenario"))
        place = (record["Annotation"], tuple((n, record[n]) for n in params if record[n] != ""))
        case = cases.setdefault(key, {}).setdefault(place, {"metrics": {}, "runs": {}, "kernel": record["Kernel"]})
        row = _measured(record)
        case["metrics"][row.metric] = row
        case["runs"][row.metric] = runs.get(row.row, {})
        if row.metric == TIME:
            case["kernel"] = record["Kernel"]
    return tuple(
        Group(*key, tuple(Case(a, p, c["kernel"], c["metrics"], c["runs"]) for (a, p), c in found.items()))
        for key, found in cases.items()
    )


def _measured(record: Mapping[Any, Any]) -> Measured:
    return Measured(
        row=record["Row"],
        metric=record["Metric"],
        unit=record["Unit"],
        mean=record["AvgValue"],
        deviation=record["StdDev"],
        low=record["MinValue"],
        high=record["MaxValue"],
        ci_low=record["CI95_Lower"],
        ci_high=record["CI95_Upper"],
        relative_pct=record["RelativeStdDevPct"],
        stable=record["StableMeasurement"],
        runs=record["NumRuns"],
        processes=record["NumProcesses"],
        kernels=record["NumKernels"],
        state=record["State"],
        reason=record["Reason"],
    )


def _runs_by_row(per_run: pd.DataFrame) -> dict[str, Runs]:
    """Return the single runs of each row that a dossier draws or compares."""
    metric = per_run["metric"].astype("object")
    kept = per_run[~metric.str.startswith((*_OF_THE_MACHINE, "launch__")) & (per_run["state"] == "ok").to_numpy()]
    params = param_columns(per_run)
    keys = ["suite", "benchmark", "backend", "workload", "scenario", *params, "annotation", "metric"]
    number = kept.groupby(keys, observed=True, sort=False, dropna=False).ngroup().to_numpy()
    first = np.unique(number, return_index=True)[1]
    ids = [processed.row_id(identity) for identity in kept.iloc[first][keys].astype("object").to_numpy()]
    found: dict[str, Runs] = {}
    process = kept["process"].to_numpy(dtype="int64", na_value=0)
    run = kept["run"].to_numpy(dtype="int64", na_value=0)
    for group, p, r, value in zip(number, process, run, kept["value"].to_numpy(), strict=True):
        found.setdefault(ids[group], {})[int(p), int(r)] = float(value)
    return found


def samples_in_order(case: Case, metric: str) -> Sequence[float]:
    """Return a case's values in the order of processes and runs."""
    return [value for _, value in sorted(case.runs.get(metric, {}).items())]
