"""The tables of a dossier, made from groups: one unit a column, as many digits as the interval supports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from reportgen.analysis import bottleneck
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Case, Group, Measured
from reportgen.analysis.kernels import Kernel
from reportgen.analysis.processed import SM_CLOCK
from reportgen.dossier import words
from reportgen.dossier.model import Cell, Column, Sentence, Table
from reportgen.dossier.text import Scale, count, figure, scale_for, shorten, visible

MOST_ROWS = 500
BYTES = ("dram__bytes_read.sum", "dram__bytes_write.sum")
_SHOWN = (*BYTES, *bottleneck.SM_METRICS, *bottleneck.MEMORY_METRICS, SM_CLOCK)
_MOST_OTHER = 6


@dataclass(frozen=True, slots=True)
class _Metric:
    name: str
    scale: Scale


def results(group: Group, table_id: str, data_name: str) -> Table:
    """Make the table of a group's cases with its time, derived metrics, bytes, throughputs and clock."""
    main = group.main
    others = [_Metric(m, _scale(group, m)) for m in _columns(group) if m != main]
    scale = _scale(group, main)
    params = _params(group)
    columns = (
        Column("annotation"),
        *(Column(name, numeric=_numeric(group, name)) for name in params),
        Column(
            words.label(main), "" if scale.unit == words.label(main) else scale.unit, True, words.METRICS.get(main, "")
        ),
        Column("95 % CI", scale.unit, True, words.TERMS["95 % CI"]),
        Column("deviation", "%", True, words.TERMS["deviation"]),
        Column("runs", "", True),
        *([Column("kernels", "", True, words.TERMS["kernels"])] if _several(group) else []),
        *(
            Column(
                words.label(m.name),
                "" if m.scale.unit == words.label(m.name) else m.scale.unit,
                True,
                words.METRICS.get(m.name, m.name),
            )
            for m in others
        ),
    )
    rows = []
    for case in group.cases[:MOST_ROWS]:
        row = case.metrics.get(main)
        cells = [_annotation(case), *(_param(case, name) for name in params)]
        cells += [_value(row, scale), _interval(row, scale), _deviation(row), _count(row, "NumRuns")]
        cells += [_count(row, "NumKernels")] if _several(group) else []
        cells += [_value(case.metrics.get(m.name), m.scale) for m in others]
        rows.append(tuple(cells))
    left = max(0, len(group.cases) - MOST_ROWS)
    return Table(
        table_id,
        "Each row is one annotation and configuration; means over runs.",
        columns,
        tuple(rows),
        left,
        data_name,
    )


def kernels(found: Sequence[Kernel], group: Group, table_id: str) -> Table:
    """Make the table of what limits each kernel of a group."""
    scale = scale_for([k.metrics[TIME].mean for k in found if TIME in k.metrics], "ns")
    params = _params(group)
    columns = (
        Column("kernel"),
        Column("annotation"),
        *(Column(name, numeric=_numeric(group, name)) for name in params),
        Column("time", scale.unit, True, words.METRICS[TIME]),
        Column("SM", "%", True, words.METRICS[bottleneck.SM_METRICS[0]]),
        Column("DRAM", "%", True, words.METRICS[bottleneck.MEMORY_METRICS[0]]),
        Column("limit", "", False, words.TERMS["limit"]),
        Column("registers", "a thread", True),
        Column("blocks", "", True),
        Column("threads", "a block", True),
        Column("waves", "an SM", True),
    )
    rows = []
    for kernel in found[:MOST_ROWS]:
        verdict = bottleneck.judge({name: value.mean for name, value in kernel.metrics.items()})
        known = dict(kernel.params)
        cells = [
            Cell((shorten(kernel.name, 46),), kernel.name),
            Cell((shorten(kernel.annotation, 32),), kernel.annotation),
            *(Cell((visible(str(known.get(p, ""))),), known.get(p, "")) for p in params),
            _of(kernel, TIME, scale),
            _of(kernel, verdict.sm_metric or bottleneck.SM_METRICS[0], Scale("%", 1)),
            _of(kernel, verdict.dram_metric or bottleneck.MEMORY_METRICS[0], Scale("%", 1)),
            _limit(verdict),
            _of(kernel, "launch__registers_per_thread", Scale("", 1)),
            _of(kernel, "launch__grid_size", Scale("", 1)),
            _of(kernel, "launch__block_size", Scale("", 1)),
            _of(kernel, "launch__waves_per_multiprocessor", Scale("", 1)),
        ]
        rows.append(tuple(cells))
    caption = "Each row is one kernel of a region, by its place among the region's kernels; means over runs."
    return Table(table_id, caption, columns, tuple(rows), max(0, len(found) - MOST_ROWS))


def stability(group: Group, table_id: str) -> Table:
    """Make the table of how steady each row was."""
    scale = _scale(group, group.main)
    params = _params(group)
    columns = (
        Column("annotation"),
        *(Column(name, numeric=_numeric(group, name)) for name in params),
        Column("runs", "", True),
        Column("processes", "", True),
        Column("least", scale.unit, True),
        Column("median", scale.unit, True),
        Column("most", scale.unit, True),
        Column("deviation", "%", True, words.TERMS["deviation"]),
        Column("verdict"),
    )
    rows = []
    for case in group.cases[:MOST_ROWS]:
        row = case.metrics.get(group.main)
        cells = [_annotation(case), *(_param(case, name) for name in params)]
        cells += [_count(row, "NumRuns"), _count(row, "NumProcesses")]
        cells += _spread(row, scale)
        cells += [_deviation(row), _verdict(row)]
        rows.append(tuple(cells))
    return Table(table_id, "How steady each row was.", columns, tuple(rows), max(0, len(group.cases) - MOST_ROWS))


def readings(rows: pd.DataFrame, table_id: str) -> Table:
    """Make the table of what a suite's collectors read outside of every region, from rows of the processed table."""
    params = [name for name in rows.columns[1 : list(rows.columns).index("AvgValue")] if (rows[name] != "").any()]
    columns = (
        *(Column(name) for name in ("reading", "benchmark", "backend", "scenario", *params)),
        *(Column(name, "", True) for name in ("mean", "least", "most")),
        Column("unit"),
        Column("readings", "", True),
    )
    made = []
    for row in rows.head(MOST_ROWS).to_dict("records"):
        scale = scale_for([float(row["AvgValue"])], str(row["Unit"]))
        words_of = (row["Metric"], row["Benchmark"], row["Backend"], row["Scenario"], *(row[name] for name in params))
        cells = [Cell((visible(str(word)),), str(word)) for word in words_of]
        for name in ("AvgValue", "MinValue", "MaxValue"):
            value = float(row[name])
            cells.append(Cell((figure(value, str(row["Unit"]), f"{row['Row']}.{name}", scale),), value))
        cells.append(Cell((visible(scale.unit),), scale.unit))
        cells.append(Cell((count(int(row["NumRuns"]), f"{row['Row']}.NumRuns"),), int(row["NumRuns"])))
        made.append(tuple(cells))
    caption = "Each row is one collector's metric, over the runs in which it was read; it is set against nothing."
    return Table(table_id, caption, columns, tuple(made), max(0, len(rows) - MOST_ROWS))


def _spread(row: Measured | None, scale: Scale) -> list[Cell]:
    """Return the cells for the least, the median and the most of a row's values."""
    if row is None or not row.known:
        return [_unknown(row)] * 3
    columns = (("MinValue", row.low), ("Median", row.median), ("MaxValue", row.high))
    return [Cell((figure(v, row.unit, row.source(column), scale, _tenth(row)),), v) for column, v in columns]


def _tenth(row: Measured) -> float:
    return row.deviation if row.deviation > 0 else math.nan


def _columns(group: Group) -> list[str]:
    """Choose the metrics to show beside the main one: derived, the known set, and a few others where those lack."""
    present = dict.fromkeys(
        m for case in group.cases for m, row in case.metrics.items() if row.state != "dropped" or row.runs
    )
    chosen = [*group.derived, *(m for m in _SHOWN if m in present)]
    chosen = [m for m in chosen if any(case.get(m) for case in group.cases)]
    if len(chosen) < 2:
        chosen += [
            m
            for m in present
            if m not in chosen and not m.startswith("launch__") and any(c.get(m) for c in group.cases)
        ]
        chosen = chosen[: _MOST_OTHER + 1]
    return chosen


def _params(group: Group) -> list[str]:
    return list(dict.fromkeys(name for case in group.cases for name, _ in case.params))


def _numeric(group: Group, name: str) -> bool:
    return all(isinstance(dict(case.params).get(name, 0), int | float) for case in group.cases)


def _several(group: Group) -> bool:
    return any(row.kernels > 1 for case in group.cases if (row := case.metrics.get(group.main)) is not None)


def _scale(group: Group, metric: str) -> Scale:
    rows = [row for case in group.cases if (row := case.get(metric)) is not None]
    return scale_for([row.mean for row in rows], rows[0].unit if rows else "")


def _annotation(case: Case) -> Cell:
    return Cell((shorten(case.annotation, 48),), case.annotation)


def _param(case: Case, name: str) -> Cell:
    value = dict(case.params).get(name, "")
    return Cell((visible(str(value)),), value if isinstance(value, int | float) else str(value))


def _unknown(row: Measured | None) -> Cell:
    if row is None:
        return Cell((), -math.inf, "not known", "this metric was not asked for here")
    return Cell((), -math.inf, row.state if row.state != "ok" else "not known", row.reason)


def _value(row: Measured | None, scale: Scale) -> Cell:
    if row is None or not row.known:
        return _unknown(row)
    mark = "unstable" if row.stable is False and row.metric == TIME else ""
    why = f"relative deviation {row.relative_pct:.3g} %" if mark else row.reason
    return Cell((figure(row.mean, row.unit, row.source(), scale, row.half),), row.mean, mark, why)


def _interval(row: Measured | None, scale: Scale) -> Cell:
    if row is None or not row.known:
        return Cell(("",), -math.inf)
    if math.isnan(row.half):
        return Cell(("none",), -math.inf, "not known", "under three runs")
    ends: Sentence = (
        figure(row.ci_low, row.unit, row.source("CI95_Lower"), scale, row.half),
        " to ",
        figure(row.ci_high, row.unit, row.source("CI95_Upper"), scale, row.half),
    )
    return Cell(ends, row.ci_high - row.ci_low)


def _deviation(row: Measured | None) -> Cell:
    if row is None or not row.known:
        return Cell(("",), -math.inf)
    if math.isnan(row.relative_pct):
        why = "a single run has no deviation" if row.runs < 2 else "its mean is 0"
        return Cell((), -math.inf, "not known", why)
    return Cell(
        (figure(row.relative_pct, "%", row.source("RelativeStdDevPct"), spread=row.relative_pct),), row.relative_pct
    )


def _verdict(row: Measured | None) -> Cell:
    if row is None or not row.known:
        return Cell(("",), 3)
    if row.stable is None:
        return Cell(("one run: cannot tell" if row.runs < 2 else "mean 0: cannot tell",), 2)
    return Cell(("stable",), 0) if row.stable else Cell((), 1, "unstable", "relative deviation of 2 % or more")


def _count(row: Measured | None, column: str) -> Cell:
    if row is None:
        return Cell(("",), 0)
    value = {"NumRuns": row.runs, "NumKernels": row.kernels, "NumProcesses": row.processes}[column]
    return Cell((count(value, row.source(column)),), value)


def _of(kernel: Kernel, metric: str, scale: Scale) -> Cell:
    value = kernel.metrics.get(metric)
    if value is None or math.isnan(value.mean):
        return Cell((), -math.inf, "not known", "this metric was not measured")
    return Cell((figure(value.mean, value.unit, value.source, scale, value.spread),), value.mean)


def _limit(verdict: bottleneck.Verdict) -> Cell:
    if verdict.limit == "not known":
        return Cell((), "~", "not known", "a throughput was not measured")
    return Cell((verdict.limit,), verdict.limit)
