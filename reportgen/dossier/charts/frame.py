"""What all charts share: the canvas, the palette, axes, points, labels, and the CSV beside a chart."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from reportgen.analysis.groups import Case, Group, Measured
from reportgen.dossier import svg
from reportgen.dossier.text import Scale, clip, scale_for, shorten

WIDTH = 7.4


ROW = 0.30


LOWEST = 1.0


LONGEST_AXIS = 80


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart as it was drawn: the SVG and the CSV of its data."""

    svg: str
    data: str


@dataclass(frozen=True)
class Palette:
    """Gives each annotation of a dossier its colour and marker, in the order of their first appearance."""

    annotations: tuple[str, ...]

    def colour(self, annotation: str) -> str:
        """Return the annotation's colour."""
        return svg.SERIES[self.annotations.index(annotation) % len(svg.SERIES)]

    def marker(self, annotation: str) -> str:
        """Return the annotation's marker; it goes on where the colours begin again."""
        index = self.annotations.index(annotation)
        return svg.MARKERS[(index + index // len(svg.SERIES)) % len(svg.MARKERS)]


def canvas_of(height: float, left: float, right: float) -> tuple[Canvas, Axes]:
    """Return a canvas of a height in inches with axes that leave `left` and `right` inches free."""
    height = max(height, LOWEST)
    canvas = Canvas(figsize=(WIDTH, height))
    canvas.patch.set_alpha(0)
    bottom, top = 0.5, 0.30
    axes = canvas.add_axes(
        (left / WIDTH, bottom / height, (WIDTH - left - right) / WIDTH, (height - bottom - top) / height)
    )
    axes.patch.set_alpha(0)
    return canvas, axes


def place(case: Case, axis: str) -> float:
    """Return where a case stands on an axis."""
    return float(dict(case.params)[axis])


def point(axes: Axes, x: float, y: float, colour: str, marker: str, stable: bool | None) -> None:
    """Draw one point: hollow where its row is unstable."""
    face = colour if stable else svg.PAPER
    axes.plot([x], [y], marker, markerfacecolor=face, markeredgecolor=colour, markeredgewidth=1.3, zorder=4)


def interval(axes: Axes, x: float, row: Measured, scale: Scale, colour: str) -> None:
    """Draw the 95 % interval of a row at its place, where it has one."""
    if not math.isnan(row.half):
        axes.plot(
            [x, x], [row.ci_low / scale.factor, row.ci_high / scale.factor], color=colour, linewidth=2.2, zorder=3
        )


def scale_of(rows: Iterable[Measured]) -> Scale:
    """Return the unit in which rows of one metric are drawn."""
    known = list(rows)
    return scale_for([row.mean for row in known], known[0].unit if known else "")


def reach(row: Measured) -> tuple[float, ...]:
    """Return what a point covers: its value, and the ends of its interval if it has one."""
    return tuple(v for v in (row.mean, row.ci_low, row.ci_high) if not math.isnan(v))


def span(values: Sequence[float], margin: float) -> tuple[float, float]:
    """Return the ends of an axis that holds zero and all of `values`."""
    low, high = min([0.0, *values]) * margin, max([0.0, *values]) * margin
    return (low, high) if low < high else (0.0, 1.0)


def params(group: Group) -> list[str]:
    """Return the names of the parameters of a group's cases."""
    return list(dict.fromkeys(n for case in group.cases for n, _ in case.params))


def log_axes(axes: Axes, xs: Sequence[float], rows: Sequence[Measured], scale: Scale) -> None:
    """Make the horizontal axis logarithmic, and the vertical one as well where the values span much."""
    ys = [row.mean / scale.factor for row in rows]
    ends = [v / scale.factor for row in rows for v in reach(row)]
    axes.set_xscale("log")
    measured_ticks(axes, xs)
    if ys and min(ys) > 0 and max(ys) / min(ys) > 8:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0), numticks=12))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_ylim(max(min(ends), min(ys) / 10) / 1.6, max(ends) * 1.6)
    else:
        axes.set_ylim(*span(ends, 1.15))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axes.grid(axis="y")


def measured_ticks(axes: Axes, xs: Sequence[float]) -> None:
    """Put the ticks of the horizontal axis at the values that were measured."""
    axes.xaxis.set_major_locator(FixedLocator(list(xs)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.12g}"))
    axes.set_xlim(min(xs) / 1.15, max(xs) * 1.15)


def name_axis(axes: Axes, name: str) -> None:
    """Write the vertical axis' name level above it, where it is read without turning the head."""
    axes.annotate(
        name, (0, 1), (-0, 9), xycoords="axes fraction", textcoords="offset points", color=svg.MUTED, fontsize=9
    )


def axis_name(metric: str, scale: Scale) -> str:
    """Return a metric's name with its unit, as it stands at an axis."""
    word = "time" if metric == "gpu__time_duration.sum" else metric
    return clip(word if word == scale.unit or not scale.unit else f"{word} ({scale.unit})", LONGEST_AXIS)


def end_labels(axes: Axes, labels: Iterable[tuple[float, float, str, str]]) -> None:
    """Name each line at its end; names that would overlap are moved apart."""
    transform: Callable[[Any], Any] = axes.transData.transform
    placed: list[float] = []
    for x, y, text, colour in sorted(labels, key=lambda label: label[1]):
        height = float(transform((x, y))[1])
        wanted = max(height, placed[-1] + 12) if placed else height
        placed.append(wanted)
        offset = (wanted - height) * 72 / axes.figure.dpi
        axes.annotate(
            clip(text, 24),
            (x, y),
            (9, offset),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize=9,
            annotation_clip=False,
        )


def missing(axes: Axes, missing: Sequence[tuple[float, str]]) -> None:
    """Mark at the foot of a chart what has no point in it, one above another."""
    heights: dict[float, int] = {}
    for x, state in missing:
        heights[x] = heights.get(x, -1) + 1
        axes.annotate(
            f"× {state}",
            (x, 0),
            (0, 4 + 11 * heights[x]),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            color=svg.MUTED,
            fontsize=8,
        )


def rows_axis(axes: Axes, names: Sequence[str]) -> None:
    """Make the vertical axis a list of names, the first at the top."""
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0, labelcolor=svg.INK)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")


def values_beside(axes: Axes, points: Iterable[tuple[float, float, str]]) -> None:
    """Write a value beside each point, but for those whose place another one already took."""
    taken: list[tuple[float, float]] = []
    for x, y, text in sorted(points, key=lambda point: -point[0] - point[1]):
        left, level = (float(v) for v in axes.transData.transform((x, y)))
        if all(abs(left - other) > 26 or abs(level - height) > 11 for other, height in taken):
            axes.annotate(text, (x, y), (5, 4), textcoords="offset points", fontsize=7.5, color=svg.MUTED)
            taken.append((left, level))


def key(axes: Axes, entries: Sequence[tuple[str, Palette]]) -> None:
    """Write the annotations with their markers beside the plot, where lines have no end to be named at."""
    for index, (annotation, palette) in enumerate(entries):
        y = 0.97 - index * 0.068
        axes.plot(
            [1.05],
            [y],
            palette.marker(annotation),
            transform=axes.transAxes,
            clip_on=False,
            color=palette.colour(annotation),
            markeredgewidth=1.3,
        )
        axes.text(1.085, y, clip(annotation, 30), transform=axes.transAxes, va="center", fontsize=9)


def case_name(case: Case) -> str:
    """Return a case's annotation and configuration, shortened."""
    annotation = shorten(case.annotation, 38).text
    return f"{annotation}  {clip(case.configuration, 30)}".rstrip() if case.params else annotation


def label_width(names: Sequence[str]) -> float:
    """Return the inches that names need beside the axes."""
    return min(3.4, 0.35 + 0.072 * max((len(n) for n in names), default=0))


def short(value: float) -> str:
    """Return a number as it stands at an axis or a bar."""
    return f"{value:.4g}" if value < 10_000 else f"{value:,.0f}".replace(",", " ")


def data_of(group: Group, metric: str, rows: Sequence[tuple[Case, Measured]], scale: Scale) -> str:
    """Return the CSV of a metric's rows."""
    head = params(group)
    unit = f" ({scale.unit})" if scale.unit else ""
    table: list[list[Any]] = [
        ["annotation", *head, metric + unit, "ci95_low", "ci95_high", "runs", "relative_std_dev_pct", "row"]
    ]
    for case, row in rows:
        known = dict(case.params)
        numbers = [None if math.isnan(v) else v / scale.factor for v in (row.mean, row.ci_low, row.ci_high)]
        relative = None if math.isnan(row.relative_pct) else row.relative_pct
        table.append([case.annotation, *(known.get(n, "") for n in head), *numbers, row.runs, relative, row.row])
    return csv_of(table)


def csv_of(table: Iterable[Sequence[Any]]) -> str:
    """Return rows of cells as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for line in table:
        writer.writerow([_csv_cell(cell) for cell in line])
    return buffer.getvalue()


def _csv_cell(cell: Any) -> Any:
    if isinstance(cell, float):
        return "" if math.isnan(cell) else f"{cell:.12g}"
    return "" if cell is None else cell
