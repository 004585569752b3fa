"""Derived metrics that are functions of a suite: what they are asked of each run, and their answers as samples.

The questions are made of the times that were measured, so anyone can make them again; the answers are the suite's own code's,
and are kept as recorded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from reportgen.analysis import derive, processed
from reportgen.collect.plan import SuitePlan
from reportgen.evidence import samples

Answer = tuple[str, float | str]  # a state, and a value or a reason


@dataclass(frozen=True)
class Questions:
    """What a suite's functions are asked: a line for each, and beside it the run that it is of, the metric and the unit."""

    lines: tuple[Mapping[str, Any], ...]
    runs: pd.DataFrame
    metrics: tuple[tuple[str, str], ...]


def questions(plan: SuitePlan, frame: pd.DataFrame) -> Questions:
    """Return what the functions of `plan` are asked of the samples in `frame`: each of the time of each run."""
    functions = [(b.name, f.metric, f.unit) for b in plan.benchmarks for f in b.derive if not f.formula]
    if not functions:
        return Questions((), frame.iloc[:0], ())
    timed = _timed(processed.runs(frame))
    params = samples.param_columns(timed)
    lines, rows, metrics = [], [], []
    for index, (_, row) in enumerate(timed.iterrows()):
        known = {p.removeprefix(samples.PARAM): json.loads(row[p]) for p in params if row[p]}
        for name, metric, unit in functions:
            if row["benchmark"] == name:
                one = {"benchmark": name, "metric": metric, "annotation": row["annotation"], "params": known}
                lines.append({**one, "time": row["value"] / 1e9})
                rows.append(index)
                metrics.append((metric, unit))
    return Questions(tuple(lines), timed.iloc[rows], tuple(metrics))


def answered(asked: Questions, answers: Sequence[Answer]) -> pd.DataFrame:
    """Return the samples table of the answers to `asked`, in its order."""
    if not asked.lines:
        return samples.make({"value": []}, 0)
    params = samples.param_columns(asked.runs)
    names = (*samples.BEFORE_PARAMS, *params, "annotation", "run")
    data: dict[str, Any] = {name: asked.runs[name].array for name in names}
    known = [(state == "ok", value) for state, value in answers]
    data |= {
        "metric": [metric for metric, _ in asked.metrics],
        "unit": [unit for _, unit in asked.metrics],
        "value": [float("nan") if not ok or isinstance(value, str) else value for ok, value in known],
        "text": [value if ok and isinstance(value, str) else "" for ok, value in known],
        "state": [state for state, _ in answers],
        "reason": ["" if ok else str(value) for ok, value in known],
        "source": [f"{samples.RECORDED}#L{number}" for number in range(1, len(known) + 1)],
    }
    return samples.make(data, len(known))


def _timed(per_run: pd.DataFrame) -> pd.DataFrame:
    """Return for each region of each run the row that formulas call `time`, in the table's order."""
    rank = per_run["metric"].astype("object").map({name: place for place, name in enumerate(derive.TIMES)})
    timed = per_run[(rank.notna() & (per_run["state"] == "ok")).to_numpy()]
    region = [*samples.BEFORE_PARAMS, *samples.param_columns(per_run), "annotation", "run"]
    best = timed.loc[rank[timed.index].sort_values(kind="stable").index].drop_duplicates(region)
    return best.sort_index()
