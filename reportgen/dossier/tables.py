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
from reportgen.dossier.declared import Declared
from reportgen.dossier.model import Cell, Column, Sentence, Table
from reportgen.dossier.text import Scale, count, figure, parameter, scale_for, shorten, visible

MOST_ROWS = 500
MOST_COLUMNS = 14  # of a table of results; those beyond are named and stand in its CSV
BYTES = ("dram__bytes_read.sum", "dram__bytes_write.sum")
SPAN, COPIES = "region__span", "memcpy_memset__time_duration.sum"
# The most telling first.
_SHOWN = (
    *BYTES,
    *bottleneck.SM_METRICS,
    *bottleneck.MEMORY_METRICS,
    SPAN,
    COPIES,
    SM_CLOCK,
    *("nvml__sm_clock", "nvml__power", "nvml__temperature"),
)
_MOST_OTHER = 6
_NOTHING = Declared()


@dataclass(frozen=True, slots=True)
class _Metric:
    name: str
    scale: Scale


def results(group: Group, table_id: str, data_name: str, declared: Declared = _NOTHING) -> Table:
    """Make the table of a group's cases: its time and derived metrics first, then how steady they are, then the counters.

    A profiler may have read hundreds of metrics: those beyond `MOST_COLUMNS` are named in `more`.
    """
    main, params = group.main, _params(group)
    derived, counters = _derived(group, declared), _counters(group)
    scale = metric_scale(group, main)
    fixed = 5 + len(params) + _several(group)
    room = max(1, MOST_COLUMNS - fixed)
    chosen = [*derived, *counters][:room]
    before = [_Metric(m, metric_scale(group, m)) for m in chosen if m in derived]
    after = [_Metric(m, metric_scale(group, m)) for m in chosen if m not in derived]
    columns = (
        Column("annotation"),
        *(Column(visible(name), numeric=_numeric(group, name), code=True) for name in params),
        _metric_column(_Metric(main, scale)),
        Column("95 % CI", scale.unit, True, words.TERMS["95 % CI"]),
        *map(_metric_column, before),
        Column("deviation", "%", True, words.TERMS["deviation"]),
        Column("runs", "", True),
        *([Column("kernels", "", True, words.TERMS["kernels"])] if _several(group) else []),
        *map(_metric_column, after),
    )
    rows = []
    for case in group.cases[:MOST_ROWS]:
        row = case.metrics.get(main)
        cells = [_annotation(case), *(param_cell(case, name, declared) for name in params)]
        cells += [value_cell(row, scale), _interval(row, scale)]
        cells += [value_cell(case.metrics.get(m.name), m.scale) for m in before]
        cells += [_deviation(row), _count(row, "NumRuns")]
        cells += [_count(row, "NumKernels")] if _several(group) else []
        cells += [value_cell(case.metrics.get(m.name), m.scale) for m in after]
        rows.append(tuple(cells))
    return Table(
        table_id,
        "Each row is one annotation and configuration; means over runs.",
        columns,
        tuple(rows),
        max(0, len(group.cases) - MOST_ROWS),
        data_name,
        tuple(m for m in _measured(group) if m not in {main, *chosen}),
    )


def _metric_column(metric: _Metric) -> Column:
    label = words.label(metric.name)
    unit = "" if metric.scale.unit == label else metric.scale.unit
    named = any(letter.isdigit() for letter in label)
    return Column(label, unit, True, words.METRICS.get(metric.name, metric.name), code=named)


def kernels(found: Sequence[Kernel], group: Group, table_id: str, declared: Declared = _NOTHING) -> Table:
    """Make the table of what limits each kernel of a group."""
    scale = scale_for([k.metrics[TIME].mean for k in found if TIME in k.metrics], "ns")
    params = _params(group)
    columns = (
        Column("kernel"),
        Column("annotation"),
        *(Column(visible(name), numeric=_numeric(group, name), code=True) for name in params),
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
        row = next(iter(kernel.metrics.values())).source.partition("/")[0]
        cells = [
            Cell((shorten(kernel.name, 46),), kernel.name),
            Cell((shorten(kernel.annotation, 32),), kernel.annotation),
            *(_given(known.get(p, ""), f"parameter:{row}.{p}", declared.units.get(p, "")) for p in params),
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


def stability(group: Group, table_id: str, declared: Declared = _NOTHING) -> Table:
    """Make the table of how steady each row was."""
    scale = metric_scale(group, group.main)
    params = _params(group)
    columns = (
        Column("annotation"),
        *(Column(visible(name), numeric=_numeric(group, name), code=True) for name in params),
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
        cells = [_annotation(case), *(param_cell(case, name, declared) for name in params)]
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
        cells = [
            Cell((visible(str(row[name])),), str(row[name])) for name in ("Metric", "Benchmark", "Backend", "Scenario")
        ]
        cells += [_given(row[name], f"parameter:{row['Row']}.{name}") for name in params]
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


def _measured(group: Group) -> list[str]:
    """Return the metrics of a group that have a value, in the table's order."""
    return list(dict.fromkeys(m for case in group.cases for m, row in case.metrics.items() if row.known))


def _derived(group: Group, declared: Declared) -> list[str]:
    """Return the derived metrics with what the suite is about first."""
    return sorted((m for m in group.derived if m != group.main), key=lambda m: m != declared.main)


def _counters(group: Group) -> list[str]:
    """Choose the counters to show: the known set, or a few others where nothing else was measured."""
    measured = _measured(group)
    known = [m for m in _SHOWN if m in measured and m != group.main]
    if SM_CLOCK in known and "nvml__sm_clock" in known:  # the better of the two: it counts the kernel's own cycles
        known.remove("nvml__sm_clock")
    if SPAN in known and not _several(group):  # of one kernel it is the kernel's time
        known.remove(SPAN)
    if known or group.derived or group.main == TIME:
        return known
    return [m for m in measured if m != group.main and not m.startswith("launch__")][:_MOST_OTHER]


def _params(group: Group) -> list[str]:
    return list(dict.fromkeys(name for case in group.cases for name, _ in case.params))


def _numeric(group: Group, name: str) -> bool:
    return all(isinstance(dict(case.params).get(name, 0), int | float) for case in group.cases)


def _several(group: Group) -> bool:
    return any(row.kernels > 1 for case in group.cases if (row := case.metrics.get(group.main)) is not None)


def metric_scale(group: Group, metric: str) -> Scale:
    """Return the unit in which a column of a metric is printed."""
    rows = [row for case in group.cases if (row := case.get(metric)) is not None]
    return scale_for([row.mean for row in rows], rows[0].unit if rows else "")


def _annotation(case: Case) -> Cell:
    return Cell((shorten(case.annotation, 48),), case.annotation)


def param_cell(case: Case, name: str, declared: Declared = _NOTHING) -> Cell:
    """Return the cell of a parameter of a case."""
    return _given(dict(case.params).get(name, ""), case.source(name), declared.units.get(name, ""))


def _given(value: object, source: str, unit: str = "") -> Cell:
    """Return the cell of a parameter's value: a number in its unit, or a word."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Cell((parameter(value, unit, source),), value)
    return Cell((visible(str(value)),), str(value))


def _unknown(row: Measured | None) -> Cell:
    if row is None:
        return Cell((), -math.inf, "not known", "this metric was not asked for here")
    return Cell((), -math.inf, row.state if row.state != "ok" else "not known", row.reason)


def value_cell(row: Measured | None, scale: Scale) -> Cell:
    """Return the cell of a row's mean: marked where it is unstable, and with the reason where there is none."""
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
