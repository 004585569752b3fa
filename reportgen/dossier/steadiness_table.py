"""The tables of how steady each row was, and of what collectors read."""

from __future__ import annotations

import math

import pandas as pd

from reportgen.analysis.groups import Group, Measured
from reportgen.dossier import cells, words
from reportgen.dossier.declared import Declared
from reportgen.dossier.model import Cell, Column, Table
from reportgen.dossier.text import Scale, count, figure, scale_for, visible


def stability(group: Group, table_id: str, declared: Declared = cells.NOTHING) -> Table:
    """Make the table of how steady each row was."""
    scale = cells.metric_scale(group, group.main)
    params = cells.params(group)
    columns = (
        Column("annotation"),
        *(Column(visible(name), numeric=cells.numeric(group, name), code=True) for name in params),
        Column("runs", "", True),
        Column("processes", "", True),
        Column("least", scale.unit, True),
        Column("median", scale.unit, True),
        Column("most", scale.unit, True),
        Column("deviation", "%", True, words.TERMS["deviation"]),
        Column("verdict"),
    )
    rows = []
    for case in group.cases[: cells.MOST_ROWS]:
        row = case.metrics.get(group.main)
        line = [cells.annotation_cell(case), *(cells.param_cell(case, name, declared) for name in params)]
        line += [cells.count_cell(row, "NumRuns"), cells.count_cell(row, "NumProcesses")]
        line += _spread(row, scale)
        line += [cells.deviation_cell(row), _verdict(row)]
        rows.append(tuple(line))
    return Table(table_id, "How steady each row was.", columns, tuple(rows), max(0, len(group.cases) - cells.MOST_ROWS))


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
    for row in rows.head(cells.MOST_ROWS).to_dict("records"):
        scale = scale_for([float(row["AvgValue"])], str(row["Unit"]))
        line = [
            Cell((visible(str(row[name])),), str(row[name])) for name in ("Metric", "Benchmark", "Backend", "Scenario")
        ]
        line += [cells.given(row[name], f"parameter:{row['Row']}.{name}") for name in params]
        for name in ("AvgValue", "MinValue", "MaxValue"):
            value = float(row[name])
            line.append(Cell((figure(value, str(row["Unit"]), f"{row['Row']}.{name}", scale),), value))
        line.append(Cell((visible(scale.unit),), scale.unit))
        line.append(Cell((count(int(row["NumRuns"]), f"{row['Row']}.NumRuns"),), int(row["NumRuns"])))
        made.append(tuple(line))
    caption = "Each row is one collector's metric, over the runs in which it was read; it is set against nothing."
    return Table(table_id, caption, columns, tuple(made), max(0, len(rows) - cells.MOST_ROWS))


def _spread(row: Measured | None, scale: Scale) -> list[Cell]:
    """Return the cells for the least, the median and the most of a row's values."""
    if row is None or not row.known:
        return [cells.unknown(row)] * 3
    columns = (("MinValue", row.low), ("Median", row.median), ("MaxValue", row.high))
    return [Cell((figure(v, row.unit, row.source(column), scale, _tenth(row)),), v) for column, v in columns]


def _tenth(row: Measured) -> float:
    return row.deviation if row.deviation > 0 else math.nan


def _verdict(row: Measured | None) -> Cell:
    if row is None or not row.known:
        return Cell(("",), 3)
    if row.stable is None:
        return Cell(("one run: cannot tell" if row.runs < 2 else "mean 0: cannot tell",), 2)
    return Cell(("stable",), 0) if row.stable else Cell((), 1, "unstable", "relative deviation of 2 % or more")
