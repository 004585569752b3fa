"""The table of a benchmark's results, made from groups: one unit a column."""

from __future__ import annotations

from dataclasses import dataclass

from reportgen.analysis import bottleneck
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Group
from reportgen.analysis.processed import SM_CLOCK
from reportgen.dossier import cells, words
from reportgen.dossier.declared import Declared
from reportgen.dossier.model import Column, Table
from reportgen.dossier.text import Scale, visible

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


@dataclass(frozen=True, slots=True)
class _Metric:
    name: str
    scale: Scale


def results(group: Group, table_id: str, data_name: str, declared: Declared = cells.NOTHING) -> Table:
    """Make the table of a group's cases: its time and derived metrics first, then how steady they are, then the counters.

    A profiler may have read hundreds of metrics: those beyond `MOST_COLUMNS` are named in `more`.
    """
    main, params = group.main, cells.params(group)
    derived, counters = _derived(group, declared), _counters(group)
    scale = cells.metric_scale(group, main)
    fixed = 5 + len(params) + _several(group)
    room = max(1, MOST_COLUMNS - fixed)
    chosen = [*derived, *counters][:room]
    before = [_Metric(m, cells.metric_scale(group, m)) for m in chosen if m in derived]
    after = [_Metric(m, cells.metric_scale(group, m)) for m in chosen if m not in derived]
    columns = (
        Column("annotation"),
        *(Column(visible(name), numeric=cells.numeric(group, name), code=True) for name in params),
        _metric_column(_Metric(main, scale)),
        Column("95 % CI", scale.unit, True, words.TERMS["95 % CI"]),
        *map(_metric_column, before),
        Column("deviation", "%", True, words.TERMS["deviation"]),
        Column("runs", "", True),
        *([Column("kernels", "", True, words.TERMS["kernels"])] if _several(group) else []),
        *map(_metric_column, after),
    )
    rows = []
    for case in group.cases[: cells.MOST_ROWS]:
        row = case.metrics.get(main)
        line = [cells.annotation_cell(case), *(cells.param_cell(case, name, declared) for name in params)]
        line += [cells.value_cell(row, scale), cells.interval_cell(row, scale)]
        line += [cells.value_cell(case.metrics.get(m.name), m.scale) for m in before]
        line += [cells.deviation_cell(row), cells.count_cell(row, "NumRuns")]
        line += [cells.count_cell(row, "NumKernels")] if _several(group) else []
        line += [cells.value_cell(case.metrics.get(m.name), m.scale) for m in after]
        rows.append(tuple(line))
    return Table(
        table_id,
        "Each row is one annotation and configuration; means over runs.",
        columns,
        tuple(rows),
        max(0, len(group.cases) - cells.MOST_ROWS),
        data_name,
        tuple(m for m in _measured(group) if m not in {main, *chosen}),
    )


def _metric_column(metric: _Metric) -> Column:
    label = words.label(metric.name)
    unit = "" if metric.scale.unit == label else metric.scale.unit
    named = any(letter.isdigit() for letter in label)
    return Column(label, unit, True, words.METRICS.get(metric.name, metric.name), code=named)


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


def _several(group: Group) -> bool:
    return any(row.kernels > 1 for case in group.cases if (row := case.metrics.get(group.main)) is not None)
