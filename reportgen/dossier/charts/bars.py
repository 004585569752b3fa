"""Charts with a line for each case: a metric, and the bytes read and written against the least that must be read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from reportgen.analysis.groups import Case
from reportgen.dossier import svg
from reportgen.dossier.charts import frame
from reportgen.dossier.charts.frame import Drawn, Panel, Sheet
from reportgen.dossier.text import Scale, decimals_for, number, scale_for

_MOST_BESIDE = 1.9  # inches of names beside a narrow chart
_Bytes = tuple[str, str, str]  # the metrics of bytes read, bytes written, and bytes read over the least
_APART = 6.0  # panels whose largest values are further apart than this have an axis each


def share_an_axis(tops: Sequence[float]) -> bool:
    """Tell whether panels with these largest values can be read on one axis."""
    known = [top for top in tops if top > 0]
    return not known or max(known) <= _APART * min(known)


def tops(panels: Sequence[Panel], *metrics: str) -> list[float]:
    """Return the largest value of each panel, NaN left out."""
    found = []
    for panel in panels:
        values = [case.value(metric) for case in panel.cases for metric in metrics]
        found.append(max((value for value in values if not math.isnan(value)), default=0.0))
    return found


@dataclass(frozen=True)
class _Rows:
    """The rows of a panel: its cases, what each is called, and what is written behind the bars of each."""

    panel: Panel
    cases: tuple[Case, ...]
    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class _Frame:
    """How wide panels are, and what each leaves free for the names at its left and the values at its right, in inches."""

    width: float
    left: float
    right: float


def _frame(rows: Sequence[_Rows]) -> _Frame:
    """Return what suits all panels of a chart, so that a length means the same in each."""
    wanted = 0.2 + max((frame.width_of(name, 9) for one in rows for name in one.names), default=0.0)
    width = frame.NARROW if wanted <= _MOST_BESIDE else frame.WIDTH
    values = (frame.width_of(text, 8.5) for one in rows for texts in one.labels for text in texts)
    return _Frame(width, min(wanted, width / 2), 0.3 + max(values, default=0.0))


def _axes(rows: _Rows, each: float, of: _Frame) -> Axes:
    """Return the axes of a panel whose rows are `each` inches high."""
    height = 0.75 + each * len(rows.cases)
    return frame.panel_of(height, of.left, of.right, rows.panel.heading, top=0.12, width=of.width)[1]


def ranked(panels: Sequence[Panel], metric: str, sheet: Sheet) -> Drawn:
    """Draw a metric for each case as a point with its interval on a line of its own, from zero.

    What has no value says so on its line. Panels share one axis where they can be read on it.
    """
    scale = frame.scale_of(row for panel in panels for case in panel.cases if (row := case.get(metric)) is not None)
    rows = [_ranked_rows(panel, metric, scale, sheet) for panel in panels]
    ends = [[v / scale.factor for case in one.cases for v in _reach(case, metric)] for one in rows]
    shared = share_an_axis(tops(panels, metric))
    of = _frame(rows)
    drawn = []
    for index, one in enumerate(rows):
        reached = [v for values in ends for v in values] if shared else ends[index]
        span = frame.span(reached, 1.02)
        drawn.append(_ranked(one, metric, scale, span, of, sheet.of_panel(index, one.panel.heading)))
    return Drawn(drawn[0], frame.data_of(panels, metric, scale), tuple(drawn[1:]))


def _reach(case: Case, metric: str) -> tuple[float, ...]:
    row = case.get(metric)
    return frame.reach(row) if row is not None else ()


def _ranked_rows(panel: Panel, metric: str, scale: Scale, sheet: Sheet) -> _Rows:
    cases = tuple(case for case in panel.cases if case.get(metric) or frame.absent(case, metric))
    labels = tuple((_value_of(case, metric, scale),) for case in cases)
    return _Rows(panel, cases, tuple(frame.case_names(cases, sheet.units)), labels)


def _value_of(case: Case, metric: str, scale: Scale) -> str:
    row = case.get(metric)
    return frame.told(row, scale) if row is not None else f"× {frame.absent(case, metric)}"


def _ranked(rows: _Rows, metric: str, scale: Scale, span: tuple[float, float], of: _Frame, sheet: Sheet) -> str:
    with svg.settings(sheet.prefix):
        axes = _axes(rows, frame.ROW, of)
        for index, (case, (label,)) in enumerate(zip(rows.cases, rows.labels, strict=True)):
            row = case.get(metric)
            if row is None:
                _note(axes, 0, index, label, muted=True)
                continue
            colour = sheet.palette.colour(case.annotation)
            mean = row.mean / scale.factor
            axes.plot([0, mean], [index, index], color=svg.RULE, linewidth=5, solid_capstyle="butt", zorder=1)
            if not math.isnan(row.half):
                ends = [row.ci_low / scale.factor, row.ci_high / scale.factor]
                axes.plot(ends, [index, index], color=colour, linewidth=2.2, solid_capstyle="butt", zorder=2)
            frame.point(axes, mean, index, colour, sheet.palette.marker(case.annotation), row.stable)
            _note(axes, max(0.0, *(v / scale.factor for v in frame.reach(row))), index, label)
        frame.rows_axis(axes, rows.names)
        frame.from_zero(axes, *span)
        axes.set_xlabel(frame.axis_name(metric, scale))
        return svg.export(axes.figure, sheet.prefix, sheet.title, sheet.describe)  # type: ignore[arg-type]


def _note(axes: Axes, x: float, y: float, text: str, *, muted: bool = False) -> None:
    axes.annotate(
        text,
        (x, y),
        (8, 0),
        textcoords="offset points",
        va="center",
        color=svg.MUTED if muted else svg.INK,
        fontsize=8.5,
        annotation_clip=False,
    )


def bytes_moved(panels: Sequence[Panel], read: str, write: str, over_least: str, sheet: Sheet) -> Drawn:
    """Draw the bytes that each case read from and wrote to DRAM, as two bars from zero.

    A mark stands at the least that must be read, where `over_least` is the metric of bytes read over it.
    """
    cases = [case for panel in panels for case in panel.cases]
    metrics = (read, write, over_least)
    shared = share_an_axis(tops(panels, read, write))
    scale = _scale(cases, metrics)
    scales = [scale if shared else _scale(panel.cases, metrics) for panel in panels]
    rows = [_bytes_rows(panel, metrics, mine, sheet) for panel, mine in zip(panels, scales, strict=True)]
    of = _frame(rows)
    drawn = []
    for index, (one, mine) in enumerate(zip(rows, scales, strict=True)):
        sizes = [size / mine.factor for case in (cases if shared else one.cases) for size in _sizes(case, metrics)]
        span = frame.span(sizes, 1.02)
        drawn.append(_bytes(one, metrics, mine, span, of, sheet.of_panel(index, one.panel.heading)))
    return Drawn(drawn[0], _bytes_data(panels, metrics, scale), tuple(drawn[1:]))


def least(case: Case, read: str, over_least: str) -> float:
    """Return the least bytes that a case must read, NaN where it is not known."""
    ratio = case.value(over_least)
    return case.value(read) / ratio if over_least and ratio > 0 else math.nan


def _sizes(case: Case, metrics: _Bytes) -> list[float]:
    read, write, over_least = metrics
    known = (case.value(read), case.value(write), least(case, read, over_least))
    return [value for value in known if not math.isnan(value)]


def _scale(cases: Sequence[Case], metrics: _Bytes) -> Scale:
    return scale_for([max((size for case in cases for size in _sizes(case, metrics)), default=0.0)], "byte")


def _bytes_rows(panel: Panel, metrics: _Bytes, scale: Scale, sheet: Sheet) -> _Rows:
    read, write, _ = metrics
    cases = tuple(case for case in panel.cases if case.get(read) or case.get(write) or frame.absent(case, read, write))
    labels = tuple(tuple(_size_of(case, metric, word, scale) for metric, word in _bars(metrics)) for case in cases)
    return _Rows(panel, cases, tuple(frame.case_names(cases, sheet.units)), labels)


def _bytes(rows: _Rows, metrics: _Bytes, scale: Scale, span: tuple[float, float], of: _Frame, sheet: Sheet) -> str:
    read, write, over_least = metrics
    with svg.settings(sheet.prefix):
        axes = _axes(rows, 0.42, of)
        for index, (case, pair) in enumerate(zip(rows.cases, rows.labels, strict=True)):
            if state := frame.absent(case, read, write):
                _note(axes, 0, index, f"× {state}", muted=True)
                continue
            colour = sheet.palette.colour(case.annotation)
            mark = least(case, read, over_least) / scale.factor
            for offset, (metric, word), label in zip((-0.19, 0.19), _bars(metrics), pair, strict=True):
                value = case.value(metric) / scale.factor
                known = not math.isnan(value)
                if known:
                    face = colour if word == "read" else svg.PAPER
                    axes.barh(index + offset, value, 0.30, facecolor=face, edgecolor=colour, linewidth=1.1, zorder=2)
                beyond = [value if known else 0.0, *([mark] if word == "read" and not math.isnan(mark) else [])]
                _note(axes, max(beyond), index + offset, label, muted=not known)
            if not math.isnan(mark):
                _mark(axes, mark, index - 0.19)
        frame.rows_axis(axes, rows.names)
        frame.from_zero(axes, *span)
        axes.set_xlabel(f"bytes moved between L2 and DRAM ({scale.unit})")
        return svg.export(axes.figure, sheet.prefix, sheet.title, sheet.describe)  # type: ignore[arg-type]


def _bars(metrics: _Bytes) -> tuple[tuple[str, str], tuple[str, str]]:
    return (metrics[0], "read"), (metrics[1], "written")


def _mark(axes: Axes, x: float, y: float) -> None:
    """Draw the mark of the least that must be read: dark with a light edge, so that it is seen on a bar and beside it."""
    for colour, width in ((svg.PAPER, 4.0), (svg.INK, 1.8)):
        axes.plot([x, x], [y - 0.20, y + 0.17], color=colour, linewidth=width, solid_capstyle="butt", zorder=5)


def _size_of(case: Case, metric: str, word: str, scale: Scale) -> str:
    """Return a size as it stands behind its bar; one far smaller than the others stands in a unit of its own."""
    row = case.get(metric)
    if row is None:
        state = frame.absent(case, metric) or "not asked for"
        return f"{word}: {state}"
    if row.mean and row.mean < scale.factor / 100:
        own = scale_for([row.mean], "byte")
        value = row.mean / own.factor
        return f"{number(value, decimals_for(value))} {own.unit} {word}"
    return f"{frame.told(row, scale)} {word}" if row.mean else f"0 {word}"


def _bytes_data(panels: Sequence[Panel], metrics: _Bytes, scale: Scale) -> str:
    read, write, over_least = metrics
    cases = [case for panel in panels for case in panel.cases]
    head = frame.params(cases)
    columns = [f"read ({scale.unit})", f"written ({scale.unit})"]
    columns += [f"least read ({scale.unit})"] if over_least else []
    table: list[list[Any]] = [["annotation", *head, *columns, "state"]]
    for case in cases:
        state = frame.absent(case, read, write)
        if not state and not case.get(read) and not case.get(write):
            continue
        known = dict(case.params)
        moved = [case.value(metric) / scale.factor for metric in (read, write)]
        moved += [least(case, read, over_least) / scale.factor] if over_least else []
        table.append([case.annotation, *(known.get(n, "") for n in head), *moved, state or "ok"])
    return frame.csv_of(table)
