"""The charts that a dossier needs, drawn from groups. Each returns the SVG, and a CSV of just what it shows.

One colour and one marker for one annotation through the whole dossier. Intervals are drawn; an unstable point is hollow; what
failed stands at the foot of its chart.
"""

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

from reportgen.analysis.bottleneck import BUSY_PCT, Verdict
from reportgen.analysis.groups import Case, Group, Measured, samples_in_order
from reportgen.analysis.statistics import Ratio
from reportgen.dossier import svg
from reportgen.dossier.text import Scale, clip, scale_for, shorten

WIDTH = 7.4
_ROW = 0.30
_LOWEST = 1.0
MOST_POINTS = 1000
_LONGEST_AXIS = 80


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


def sweep(group: Group, metric: str, palette: Palette, prefix: str, title: str, describe: str) -> Drawn:
    """Draw a metric over the group's axis: one line for each annotation, named at its end."""
    rows = [(case, row) for case in group.cases if (row := case.get(metric)) is not None]
    scale = _scale(row for _, row in rows)
    with svg.settings(prefix):
        canvas, axes = _canvas(3.5, left=0.62, right=1.5)
        labels: list[tuple[float, float, str, str]] = []
        for annotation in group.annotations:
            line = [(_x(case, group.axis), row) for case, row in rows if case.annotation == annotation]
            if not line:
                continue
            line.sort(key=lambda point: point[0])
            colour, marker = palette.colour(annotation), palette.marker(annotation)
            axes.plot([x for x, _ in line], [r.mean / scale.factor for _, r in line], color=colour, zorder=2)
            for x, row in line:
                _interval(axes, x, row, scale, colour)
                _point(axes, x, row.mean / scale.factor, colour, marker, row.stable)
            labels.append((line[-1][0], line[-1][1].mean / scale.factor, annotation, colour))
        _log_axes(axes, sorted({_x(case, group.axis) for case in group.cases}), [row for _, row in rows], scale)
        _missing(
            axes,
            [
                (_x(c, group.axis), f"{clip(c.annotation, 12)} {c.metrics[metric].state}")
                for c in group.cases
                if metric in c.metrics and not c.get(metric)
            ],
        )
        axes.set_xlabel(clip(group.axis, _LONGEST_AXIS))
        _name_axis(axes, _axis_name(metric, scale))
        _end_labels(axes, labels)
        drawn = svg.export(canvas, prefix, title, describe)
    return Drawn(drawn, _data(group, metric, rows, scale))


def ranked(group: Group, metric: str, palette: Palette, prefix: str, title: str, describe: str) -> Drawn:
    """Draw a metric for each case as a point with its interval on a line of its own, from zero."""
    rows = [(case, row) for case in group.cases if (row := case.get(metric)) is not None]
    scale = _scale(row for _, row in rows)
    names = [_case_name(case) for case, _ in rows]
    with svg.settings(prefix):
        canvas, axes = _canvas(0.75 + _ROW * len(rows), left=_label_width(names), right=0.75)
        for index, (case, row) in enumerate(rows):
            colour = palette.colour(case.annotation)
            mean = row.mean / scale.factor
            axes.plot([0, mean], [index, index], color=svg.RULE, linewidth=5, solid_capstyle="butt", zorder=1)
            if not math.isnan(row.half):
                ends = [row.ci_low / scale.factor, row.ci_high / scale.factor]
                axes.plot(ends, [index, index], color=colour, linewidth=2.2, solid_capstyle="butt", zorder=2)
            _point(axes, mean, index, colour, palette.marker(case.annotation), row.stable)
            axes.annotate(
                _short(mean),
                (mean, index),
                (9, 0),
                textcoords="offset points",
                va="center",
                color=svg.INK,
                fontsize=8.5,
            )
        _rows_axis(axes, names)
        axes.set_xlim(*_span([v / scale.factor for _, row in rows for v in _reach(row)], 1.12))
        axes.set_xlabel(_axis_name(metric, scale))
        drawn = svg.export(canvas, prefix, title, describe)
    return Drawn(drawn, _data(group, metric, rows, scale))


@dataclass(frozen=True, slots=True)
class Advantage:
    """How many times one case is faster than the baseline at the same configuration."""

    case: Case
    baseline: Case
    ratio: Ratio


def speedups(
    group: Group, advantages: Sequence[Advantage], palette: Palette, prefix: str, title: str, describe: str
) -> Drawn:
    """Draw how many times faster each annotation is than the baseline, over the group's axis."""
    with svg.settings(prefix):
        canvas, axes = _canvas(2.7, left=0.62, right=1.5)
        labels: list[tuple[float, float, str, str]] = []
        for annotation in dict.fromkeys(a.case.annotation for a in advantages):
            line = sorted(
                ((_x(a.case, group.axis), a.ratio) for a in advantages if a.case.annotation == annotation),
                key=lambda p: p[0],
            )
            colour = palette.colour(annotation)
            axes.plot([x for x, _ in line], [r.value for _, r in line], color=colour, zorder=2)
            for x, ratio in line:
                if ratio.interval:
                    axes.plot([x, x], [ratio.interval.low, ratio.interval.high], color=colour, linewidth=2.2, zorder=3)
                _point(axes, x, ratio.value, colour, palette.marker(annotation), ratio.interval is not None)
            labels.append((line[-1][0], line[-1][1].value, annotation, colour))
        xs = sorted({_x(a.case, group.axis) for a in advantages})
        axes.set_xscale("log")
        _measured_ticks(axes, xs)
        axes.axhline(1, color=svg.STRONG, linewidth=1, zorder=1)
        tops = [a.ratio.interval.high if a.ratio.interval else a.ratio.value for a in advantages]
        axes.set_ylim(*_span([1.0, *tops], 1.15))
        axes.grid(axis="y")
        baseline = advantages[0].baseline.annotation
        axes.set_xlabel(clip(group.axis, _LONGEST_AXIS))
        _name_axis(axes, f"times as fast as {clip(baseline, 40)}")
        _end_labels(axes, labels)
        drawn = svg.export(canvas, prefix, title, describe)
    table: list[list[Any]] = [["annotation", group.axis, "baseline", "ratio", "ci95_low", "ci95_high", "ci95_n"]]
    for a in advantages:
        low, high, n = (
            (a.ratio.interval.low, a.ratio.interval.high, a.ratio.interval.n) if a.ratio.interval else ("", "", "")
        )
        table.append([a.case.annotation, _x(a.case, group.axis), a.baseline.annotation, a.ratio.value, low, high, n])
    return Drawn(drawn, _csv(table))


def bytes_moved(group: Group, read: str, write: str, palette: Palette, prefix: str, title: str, describe: str) -> Drawn:
    """Draw the bytes that each case read from and wrote to DRAM, as two bars from zero."""
    cases = [case for case in group.cases if case.get(read) or case.get(write)]
    sizes = [case.value(m) for case in cases for m in (read, write) if not math.isnan(case.value(m))]
    scale = scale_for([max(sizes, default=0.0)], "byte")
    names = [_case_name(case) for case in cases]
    with svg.settings(prefix):
        canvas, axes = _canvas(0.85 + 0.46 * len(cases), left=_label_width(names), right=0.95)
        for index, case in enumerate(cases):
            colour = palette.colour(case.annotation)
            for offset, metric, word in ((-0.19, read, "read"), (0.19, write, "written")):
                value = case.value(metric) / scale.factor
                if math.isnan(value):
                    continue
                face = colour if word == "read" else svg.PAPER
                axes.barh(index + offset, value, 0.30, facecolor=face, edgecolor=colour, linewidth=1.1, zorder=2)
                axes.annotate(
                    f"{_short(value)} {word}",
                    (value, index + offset),
                    (5, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=8,
                )
        _rows_axis(axes, names)
        axes.set_xlim(*_span([size / scale.factor for size in sizes], 1.05))
        axes.set_xlabel(f"bytes moved between L2 and DRAM ({scale.unit})")
        drawn = svg.export(canvas, prefix, title, describe)
    head = _params(group)
    table: list[list[Any]] = [["annotation", *head, f"read ({scale.unit})", f"written ({scale.unit})"]]
    for case in cases:
        known, moved = dict(case.params), (case.value(metric) / scale.factor for metric in (read, write))
        table.append([case.annotation, *(known.get(n, "") for n in head), *moved])
    return Drawn(drawn, _csv(table))


def limits(
    points: Sequence[tuple[Case, Verdict]], group: Group, palette: Palette, prefix: str, title: str, describe: str
) -> Drawn:
    """Draw SM against DRAM throughput with the three regions: compute, memory, latency."""
    with svg.settings(prefix):
        canvas, axes = _canvas(4.3, left=0.62, right=2.5)
        axes.fill([BUSY_PCT, 104, 104, BUSY_PCT], [0, 0, 104, BUSY_PCT], color=svg.COMPUTE, linewidth=0, zorder=0)
        axes.fill([0, BUSY_PCT, 104, 0], [BUSY_PCT, BUSY_PCT, 104, 104], color=svg.MEMORY, linewidth=0, zorder=0)
        axes.fill([0, BUSY_PCT, BUSY_PCT, 0], [0, 0, BUSY_PCT, BUSY_PCT], color=svg.LATENCY, linewidth=0, zorder=0)
        for x, y, word, side in ((102, 56, "compute", "right"), (2, 101, "memory", "left"), (2, 57, "latency", "left")):
            axes.text(x, y, word, color=svg.MUTED, ha=side, va="top", fontsize=8.5)
        for case, verdict in points:
            _point(
                axes,
                verdict.sm_pct,
                verdict.dram_pct,
                palette.colour(case.annotation),
                palette.marker(case.annotation),
                True,
            )
        axes.set_xlim(0, 104)
        axes.set_ylim(0, 104)
        if group.axis:
            _values_beside(axes, [(v.sm_pct, v.dram_pct, str(dict(c.params)[group.axis])) for c, v in points])
        axes.set_xticks(range(0, 101, 20))
        axes.set_yticks(range(0, 101, 20))
        axes.set_xlabel("SM throughput (% of its sustained peak)")
        _name_axis(axes, "DRAM throughput (% of its sustained peak)")
        _key(axes, [(a, palette) for a in group.annotations if any(c.annotation == a for c, _ in points)])
        drawn = svg.export(canvas, prefix, title, describe)
    table: list[list[Any]] = [["annotation", "configuration", "sm_pct", "dram_pct", "limit"]]
    table += [[case.annotation, case.configuration, v.sm_pct, v.dram_pct, v.limit] for case, v in points]
    return Drawn(drawn, _csv(table))


def in_order(group: Group, metric: str, palette: Palette, prefix: str, title: str, describe: str) -> Drawn:
    """Draw every run as its distance from its row's mean in percent, in the order in which the runs were taken."""
    cases = [case for case in group.cases if len(case.runs.get(metric, {})) >= 2]
    names = [_case_name(case) for case in cases]
    whole = {id(case): _distances(samples_in_order(case, metric)) for case in cases}
    offsets = {key: thinned(values, len(cases)) for key, values in whole.items()}
    reach = max([2.5, *(abs(d) * 1.15 for points in offsets.values() for _, d in points)])
    with svg.settings(prefix):
        canvas, axes = _canvas(0.8 + 0.27 * len(cases), left=_label_width(names), right=0.35)
        axes.axvspan(-2, 2, color=svg.COMPUTE, linewidth=0, zorder=0)
        axes.axvline(0, color=svg.STRONG, linewidth=0.8, zorder=1)
        for index, case in enumerate(cases):
            values = [distance for _, distance in offsets[id(case)]]
            row = case.metrics[metric]
            colour = palette.colour(case.annotation)
            count = len(whole[id(case)])
            heights = [index + 0.5 * (order / (count - 1) - 0.5) for order, _ in offsets[id(case)]]
            axes.plot(values, heights, color=colour, linewidth=0.8, zorder=2)
            face = colour if row.stable else svg.PAPER
            axes.plot(
                values,
                heights,
                "o",
                markersize=3.4,
                markerfacecolor=face,
                markeredgecolor=colour,
                markeredgewidth=0.9,
                zorder=3,
            )
        _rows_axis(axes, names)
        axes.set_xlim(-reach, reach)
        axes.set_xlabel("distance of a run from its row's mean (%); first run at the top of each row")
        drawn = svg.export(canvas, prefix, title, describe)
    table: list[list[Any]] = [["annotation", "configuration", "order", "distance_pct"]]
    table += [[c.annotation, c.configuration, i, d] for c in cases for i, d in offsets[id(c)]]
    return Drawn(drawn, _csv(table))


def most_points(rows: int) -> int:
    """Return how many runs of one row a chart of so many rows shows: more would be one upon another, and weigh too much."""
    return max(30, MOST_POINTS // max(rows, 1))


def thinned(values: Sequence[float], rows: int) -> list[tuple[int, float]]:
    """Return (order, value) of the values that are shown: all of a few; of many, the ends of each stretch of them."""
    most = most_points(rows)
    if len(values) <= most:
        return list(enumerate(values))
    kept: set[int] = set()
    stretches = most // 2
    for n in range(stretches):
        stretch = range(len(values) * n // stretches, len(values) * (n + 1) // stretches)
        kept |= {min(stretch, key=values.__getitem__), max(stretch, key=values.__getitem__)}
    return [(order, values[order]) for order in sorted(kept)]


def _distances(values: Sequence[float]) -> list[float]:
    mean = sum(values) / len(values)
    return [(v / mean - 1) * 100 if mean else 0.0 for v in values]


def _canvas(height: float, left: float, right: float) -> tuple[Canvas, Axes]:
    height = max(height, _LOWEST)
    canvas = Canvas(figsize=(WIDTH, height))
    canvas.patch.set_alpha(0)
    bottom, top = 0.5, 0.30
    axes = canvas.add_axes(
        (left / WIDTH, bottom / height, (WIDTH - left - right) / WIDTH, (height - bottom - top) / height)
    )
    axes.patch.set_alpha(0)
    return canvas, axes


def _x(case: Case, axis: str) -> float:
    return float(dict(case.params)[axis])


def _point(axes: Axes, x: float, y: float, colour: str, marker: str, stable: bool | None) -> None:
    face = colour if stable else svg.PAPER
    axes.plot([x], [y], marker, markerfacecolor=face, markeredgecolor=colour, markeredgewidth=1.3, zorder=4)


def _interval(axes: Axes, x: float, row: Measured, scale: Scale, colour: str) -> None:
    if not math.isnan(row.half):
        axes.plot(
            [x, x], [row.ci_low / scale.factor, row.ci_high / scale.factor], color=colour, linewidth=2.2, zorder=3
        )


def _scale(rows: Iterable[Measured]) -> Scale:
    known = list(rows)
    return scale_for([row.mean for row in known], known[0].unit if known else "")


def _reach(row: Measured) -> tuple[float, ...]:
    """Return what a point covers: its value, and the ends of its interval if it has one."""
    return tuple(v for v in (row.mean, row.ci_low, row.ci_high) if not math.isnan(v))


def _span(values: Sequence[float], margin: float) -> tuple[float, float]:
    """Return the ends of an axis that holds zero and all of `values`."""
    low, high = min([0.0, *values]) * margin, max([0.0, *values]) * margin
    return (low, high) if low < high else (0.0, 1.0)


def _params(group: Group) -> list[str]:
    return list(dict.fromkeys(n for case in group.cases for n, _ in case.params))


def _log_axes(axes: Axes, xs: Sequence[float], rows: Sequence[Measured], scale: Scale) -> None:
    """Make the horizontal axis logarithmic, and the vertical one as well where the values span much."""
    ys = [row.mean / scale.factor for row in rows]
    ends = [v / scale.factor for row in rows for v in _reach(row)]
    axes.set_xscale("log")
    _measured_ticks(axes, xs)
    if ys and min(ys) > 0 and max(ys) / min(ys) > 8:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0), numticks=12))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_ylim(max(min(ends), min(ys) / 10) / 1.6, max(ends) * 1.6)
    else:
        axes.set_ylim(*_span(ends, 1.15))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    axes.grid(axis="y")


def _measured_ticks(axes: Axes, xs: Sequence[float]) -> None:
    axes.xaxis.set_major_locator(FixedLocator(list(xs)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.12g}"))
    axes.set_xlim(min(xs) / 1.15, max(xs) * 1.15)


def _name_axis(axes: Axes, name: str) -> None:
    """Write the vertical axis' name level above it, where it is read without turning the head."""
    axes.annotate(
        name, (0, 1), (-0, 9), xycoords="axes fraction", textcoords="offset points", color=svg.MUTED, fontsize=9
    )


def _axis_name(metric: str, scale: Scale) -> str:
    word = "time" if metric == "gpu__time_duration.sum" else metric
    return clip(word if word == scale.unit or not scale.unit else f"{word} ({scale.unit})", _LONGEST_AXIS)


def _end_labels(axes: Axes, labels: Iterable[tuple[float, float, str, str]]) -> None:
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


def _missing(axes: Axes, missing: Sequence[tuple[float, str]]) -> None:
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


def _rows_axis(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0, labelcolor=svg.INK)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")


def _values_beside(axes: Axes, points: Iterable[tuple[float, float, str]]) -> None:
    """Write a value beside each point, but for those whose place another one already took."""
    taken: list[tuple[float, float]] = []
    for x, y, text in sorted(points, key=lambda point: -point[0] - point[1]):
        left, level = (float(v) for v in axes.transData.transform((x, y)))
        if all(abs(left - other) > 26 or abs(level - height) > 11 for other, height in taken):
            axes.annotate(text, (x, y), (5, 4), textcoords="offset points", fontsize=7.5, color=svg.MUTED)
            taken.append((left, level))


def _key(axes: Axes, entries: Sequence[tuple[str, Palette]]) -> None:
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


def _case_name(case: Case) -> str:
    annotation = shorten(case.annotation, 38).text
    return f"{annotation}  {clip(case.configuration, 30)}".rstrip() if case.params else annotation


def _label_width(names: Sequence[str]) -> float:
    return min(3.4, 0.35 + 0.072 * max((len(n) for n in names), default=0))


def _short(value: float) -> str:
    return f"{value:.4g}" if value < 10_000 else f"{value:,.0f}".replace(",", " ")


def _data(group: Group, metric: str, rows: Sequence[tuple[Case, Measured]], scale: Scale) -> str:
    head = _params(group)
    unit = f" ({scale.unit})" if scale.unit else ""
    table: list[list[Any]] = [
        ["annotation", *head, metric + unit, "ci95_low", "ci95_high", "runs", "relative_std_dev_pct", "row"]
    ]
    for case, row in rows:
        known = dict(case.params)
        numbers = [None if math.isnan(v) else v / scale.factor for v in (row.mean, row.ci_low, row.ci_high)]
        relative = None if math.isnan(row.relative_pct) else row.relative_pct
        table.append([case.annotation, *(known.get(n, "") for n in head), *numbers, row.runs, relative, row.row])
    return _csv(table)


def _csv(table: Iterable[Sequence[Any]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for line in table:
        writer.writerow([_csv_cell(cell) for cell in line])
    return buffer.getvalue()


def _csv_cell(cell: Any) -> Any:
    if isinstance(cell, float):
        return "" if math.isnan(cell) else f"{cell:.12g}"
    return "" if cell is None else cell
