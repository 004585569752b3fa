"""The cells of tables: as many digits as the interval supports, a mark and a reason where a value is not to be taken as it stands."""

from __future__ import annotations

import math

from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Case, Group, Measured
from reportgen.dossier.declared import Declared
from reportgen.dossier.model import Cell, Sentence
from reportgen.dossier.notes import DASH
from reportgen.dossier.text import Scale, brief, count, figure, parameter, scale_for, visible

MOST_ROWS = 500


NOTHING = Declared()


def annotation_cell(case: Case) -> Cell:
    """Return the cell of a case's annotation."""
    name = brief(case.annotation, 48)
    return Cell((name,), name.whole)


def param_cell(case: Case, name: str, declared: Declared = NOTHING) -> Cell:
    """Return the cell of a parameter of a case."""
    return given(dict(case.params).get(name, ""), case.source(name), declared.units.get(name, ""))


def given(value: object, source: str, unit: str = "") -> Cell:
    """Return the cell of a parameter's value: a number in its unit, or a word."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Cell((parameter(value, unit, source),), value)
    return Cell((visible(str(value)),), str(value))


def unknown(row: Measured | None) -> Cell:
    """Return the cell of a row that has no value, with the reason."""
    if row is None:
        return Cell((), -math.inf, DASH, "this row has no sample of this metric")
    return Cell((), -math.inf, row.state if row.state != "ok" else "not known", row.reason)


def value_cell(row: Measured | None, scale: Scale) -> Cell:
    """Return the cell of a row's mean: marked where it is unstable, and with the reason where there is none."""
    if row is None or not row.known:
        return unknown(row)
    mark = "unstable" if row.stable is False and row.metric == TIME else ""
    why = f"relative deviation {row.relative_pct:.3g} %" if mark else row.reason
    return Cell((figure(row.mean, row.unit, row.source(), scale, row.half),), row.mean, mark, why)


def interval_cell(row: Measured | None, scale: Scale) -> Cell:
    """Return the cell of a row's interval, marked where there is none."""
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


def deviation_cell(row: Measured | None) -> Cell:
    """Return the cell of a row's relative deviation in percent."""
    if row is None or not row.known:
        return Cell(("",), -math.inf)
    if math.isnan(row.relative_pct):
        why = "a single run has no deviation" if row.runs < 2 else "its mean is 0"
        return Cell((), -math.inf, "not known", why)
    return Cell(
        (figure(row.relative_pct, "%", row.source("RelativeStdDevPct"), spread=row.relative_pct),), row.relative_pct
    )


def count_cell(row: Measured | None, column: str) -> Cell:
    """Return the cell of one of a row's counts: NumRuns, NumKernels or NumProcesses."""
    if row is None:
        return Cell(("",), 0)
    value = {"NumRuns": row.runs, "NumKernels": row.kernels, "NumProcesses": row.processes}[column]
    return Cell((count(value, row.source(column)),), value)


def params(group: Group) -> list[str]:
    """Return the names of the parameters of a group's cases."""
    return list(dict.fromkeys(name for case in group.cases for name, _ in case.params))


def numeric(group: Group, name: str) -> bool:
    """Say whether a parameter is a number in every case of a group."""
    return all(isinstance(dict(case.params).get(name, 0), int | float) for case in group.cases)


def metric_scale(group: Group, metric: str) -> Scale:
    """Return the unit in which a column of a metric is printed."""
    rows = [row for case in group.cases if (row := case.get(metric)) is not None]
    return scale_for([row.mean for row in rows], rows[0].unit if rows else "")
