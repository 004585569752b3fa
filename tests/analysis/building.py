"""Samples from which the tests of `analysis` and `dossier` make tables and groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from reportgen.analysis import groups, processed
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Group
from reportgen.evidence.bundle import Formula
from reportgen.evidence.samples import PARAM, canonical
from tests.evidence import making

READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
DRAM = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
CLOCK = "gpc__cycles_elapsed.avg.per_second"
UNITS = {TIME: "ns", READ: "byte", WRITTEN: "byte", SM: "%", DRAM: "%", CLOCK: "hz"}

Row = dict[str, Any]


def run(values: Mapping[str, Any], index: int = 0, kernel_index: int = 0, launch: str = "", **over: Any) -> list[Row]:
    """Make the rows of one launch: a row for each metric; `n=512` and the like are parameters unless they are columns."""
    columns = {"suite", "benchmark", "backend", "workload", "scenario", "process", "annotation", "kernel", "source"}
    given = {k: v for k, v in over.items() if k in columns}
    params = {PARAM + k: canonical(v) for k, v in over.items() if k not in columns}
    rows: list[Row] = []
    for metric, value in values.items():
        what = (
            {"value": value}
            if not isinstance(value, str)
            else {"value": float("nan"), "state": "failed", "reason": value}
        )
        source = f"data/import/m.ncu-rep#0/{launch or f'{index}-{kernel_index}'}"
        place = {"run": index, "kernel_index": kernel_index, "source": source}
        rows.append({"metric": metric, "unit": UNITS.get(metric, ""), **place, **what, **params, **given})
    return rows


def runs(values: Mapping[str, Sequence[Any]], **over: Any) -> list[Row]:
    """Make the rows of several runs of one kernel each: `values[metric][i]` is run i."""
    longest = max(len(v) for v in values.values())
    return [row for i in range(longest) for row in run({m: v[i] for m, v in values.items()}, i, **over)]


def table(rows: Iterable[Row]) -> pd.DataFrame:
    """Make a samples table; a parameter that a row lacks is empty."""
    rows = list(rows)
    params = tuple(dict.fromkeys(name for row in rows for name in row if name.startswith(PARAM)))
    return making.table(rows, params)


def grouped(rows: Iterable[Row], formulas: Sequence[Formula] = ()) -> tuple[Group, ...]:
    """Make the groups of samples, through the processed table as a dossier does."""
    per_run = processed.runs(table(rows), formulas)
    return groups.gather(per_run, processed.from_runs(per_run))
