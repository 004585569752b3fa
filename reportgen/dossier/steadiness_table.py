"""The tables of how steady each row was, and of what collectors read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from reportgen.analysis import drift
from reportgen.analysis.drift import Drift, FirstRun
from reportgen.analysis.groups import Case, Group, Measured, Runs
from reportgen.analysis.sources import call
from reportgen.dossier import cells, words
from reportgen.dossier.declared import Declared
from reportgen.dossier.findings import phrases
from reportgen.dossier.model import Cell, Column, Figure, Table
from reportgen.dossier.text import Scale, count, figure, scale_for, visible

FOLDED_ROWS = 12  # a table of more is folded
_MOST_PARAMS = 4  # that have columns of their own


@dataclass(frozen=True)
class Line:
    """A case with its group, what its suite declares, and what can be said of the order of its runs."""

    group: Group
    case: Case
    declared: Declared
    tick: float = 0.0

    @property
    def row(self) -> Measured | None:
        """Return the row of the metric that the group is about, with or without a value."""
        return self.case.metrics.get(self.group.main)

    @property
    def known(self) -> Measured | None:
        """Return the row where it has a value."""
        return self.case.get(self.group.main)

    @property
    def runs(self) -> Runs:
        """Return the values of its runs."""
        return dict(self.case.runs.get(self.group.main, {}))

    @cached_property
    def drift(self) -> Drift | None:
        """Return how its runs moved, None where they are too few."""
        return drift.drift(self.runs) if self.known else None

    @cached_property
    def first(self) -> FirstRun | None:
        """Return how its first run differs, None where the runs are too few."""
        return drift.first_run(self.runs) if self.known else None

    @property
    def unstable(self) -> bool:
        """Tell whether it is marked unstable."""
        return self.known is not None and self.known.stable is False

    @property
    def drifts(self) -> bool:
        """Tell whether it is marked as drifting."""
        return self.drift is not None and self.drift.marked(self.tick)

    @property
    def first_alone(self) -> bool:
        """Tell whether its first run is marked."""
        return self.first is not None and self.first.marked(self.tick)

    @property
    def told(self) -> bool:
        """Tell whether anything is marked of it."""
        return self.unstable or self.drifts or self.first_alone


def stability(lines: Sequence[Line], table_id: str, metric: str = "") -> Table:
    """Make the table of how steady each row was; all lines are about one metric, which is named where `metric` is not empty."""
    shown = lines[: cells.MOST_ROWS]
    rows = [line.row for line in lines]
    scale = scale_for([row.mean for row in rows if row], next((row.unit for row in rows if row), ""))
    several = len({line.group.benchmark for line in lines}) > 1
    mixed = len({line.group.workload for line in lines}) > 1
    params = list(dict.fromkeys(name for line in lines for name, _ in line.case.params))
    apart = len(params) <= _MOST_PARAMS and all(set(cells.params(line.group)) == set(params) for line in lines)
    numeric = {name: all(cells.numeric(line.group, name) for line in lines) for name in params}
    columns = (
        Column("annotation"),
        *([Column("benchmark")] if several else []),
        *([Column("workload")] if mixed else []),
        *((Column(visible(name), "", numeric[name], code=True) for name in params) if apart else ()),
        *(() if apart else (Column("configuration"),)),
        Column("deviation", "%", True, words.TERMS["deviation"]),
        Column("verdict"),
        Column("first run", "%", True, words.TERMS["first run"]),
        Column("drift", "%", True, words.TERMS["drift"]),
        Column("least", scale.unit, True),
        Column("median", scale.unit, True),
        Column("most", scale.unit, True),
        Column("runs", "", True),
        Column("processes", "", True),
    )
    made = []
    for line in shown:
        cell = [cells.annotation_cell(line.case)]
        cell += [Cell((visible(line.group.benchmark),), line.group.benchmark)] if several else []
        cell += [Cell((line.group.workload,), line.group.workload)] if mixed else []
        if apart:
            cell += [cells.param_cell(line.case, name, line.declared) for name in params]
        else:
            cell.append(Cell(phrases.of_configuration(line.case, line.declared), line.case.configuration))
        cell += [cells.deviation_cell(line.row), _verdict(line.row), _first(line), _drift(line)]
        cell += _spread(line.row, scale)
        cell += [cells.count_cell(line.row, "NumRuns"), cells.count_cell(line.row, "NumProcesses")]
        made.append(tuple(cell))
    about = f"How steady each row of {visible(words.label(metric))} was" if metric else "How steady each row was"
    caption = (
        f"{about}. The first run is set against the median of the later ones of its process; a drift is what a row "
        "moved by from the first run of a process to its last, by Sen's slope."
    )
    return Table(table_id, caption, columns, tuple(made), len(lines) - len(shown), folded=len(made) > FOLDED_ROWS)


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
    return Table(
        table_id,
        caption,
        columns,
        tuple(made),
        max(0, len(rows) - cells.MOST_ROWS),
        folded=len(made) > FOLDED_ROWS,
    )


def _spread(row: Measured | None, scale: Scale) -> list[Cell]:
    """Return the cells for the least, the median and the most of a row's values."""
    if row is None or not row.known:
        return [Cell(("",), -math.inf), cells.unknown(row), Cell(("",), -math.inf)]
    columns = (("MinValue", row.low), ("Median", row.median), ("MaxValue", row.high))
    return [Cell((figure(v, row.unit, row.source(column), scale, _tenth(row)),), v) for column, v in columns]


def _tenth(row: Measured) -> float:
    return row.deviation if row.deviation > 0 else math.nan


def _first(line: Line) -> Cell:
    """Return the cell of how far a row's first run lies from the others."""
    if line.row is None or line.first is None:
        return Cell(("",), -math.inf)
    source = call("first_run", line.row.row)
    mark = "stands apart" if line.first_alone else ""
    return Cell((percent(line.first.percent, source),), line.first.percent, mark)


def _drift(line: Line) -> Cell:
    """Return the cell of how far a row's runs moved."""
    if line.row is None or line.drift is None:
        return Cell(("",), -math.inf)
    mark = f"drifts {'up' if line.drift.percent > 0 else 'down'}" if line.drifts else ""
    return Cell((percent(line.drift.percent, call("drift", line.row.row)),), line.drift.percent, mark)


def percent(value: float, source: str) -> Figure:
    """Return a change in percent as a table has it: to a tenth, and nearer where that would be nothing."""
    return figure(value, "%", source, spread=max(abs(value), 0.3))


def _verdict(row: Measured | None) -> Cell:
    if row is None or not row.known:
        return Cell(("",), 3)
    if row.stable is None:
        return Cell(("one run: cannot tell" if row.runs < 2 else "mean 0: cannot tell",), 2)
    return Cell(("stable",), 0) if row.stable else Cell((), 1, "unstable")
