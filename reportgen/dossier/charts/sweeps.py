"""Charts over a sweep's axis: a metric, and the speed against the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reportgen.analysis.groups import Case, Group
from reportgen.analysis.statistics import Ratio
from reportgen.dossier import svg
from reportgen.dossier.charts import frame
from reportgen.dossier.charts.frame import Drawn, Palette
from reportgen.dossier.text import clip


def sweep(group: Group, metric: str, palette: Palette, prefix: str, title: str, describe: str) -> Drawn:
    """Draw a metric over the group's axis: one line for each annotation, named at its end."""
    rows = [(case, row) for case in group.cases if (row := case.get(metric)) is not None]
    scale = frame.scale_of(row for _, row in rows)
    with svg.settings(prefix):
        canvas, axes = frame.canvas_of(3.5, left=0.62, right=1.5)
        labels: list[tuple[float, float, str, str]] = []
        for annotation in group.annotations:
            line = [(frame.place(case, group.axis), row) for case, row in rows if case.annotation == annotation]
            if not line:
                continue
            line.sort(key=lambda point: point[0])
            colour, marker = palette.colour(annotation), palette.marker(annotation)
            axes.plot([x for x, _ in line], [r.mean / scale.factor for _, r in line], color=colour, zorder=2)
            for x, row in line:
                frame.interval(axes, x, row, scale, colour)
                frame.point(axes, x, row.mean / scale.factor, colour, marker, row.stable)
            labels.append((line[-1][0], line[-1][1].mean / scale.factor, annotation, colour))
        frame.log_axes(
            axes, sorted({frame.place(case, group.axis) for case in group.cases}), [row for _, row in rows], scale
        )
        frame.missing(
            axes,
            [
                (frame.place(c, group.axis), f"{clip(c.annotation, 12)} {c.metrics[metric].state}")
                for c in group.cases
                if metric in c.metrics and not c.get(metric)
            ],
        )
        axes.set_xlabel(clip(group.axis, frame.LONGEST_AXIS))
        frame.name_axis(axes, frame.axis_name(metric, scale))
        frame.end_labels(axes, labels)
        drawn = svg.export(canvas, prefix, title, describe)
    return Drawn(drawn, frame.data_of(group, metric, rows, scale))


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
        canvas, axes = frame.canvas_of(2.7, left=0.62, right=1.5)
        labels: list[tuple[float, float, str, str]] = []
        for annotation in dict.fromkeys(a.case.annotation for a in advantages):
            line = sorted(
                ((frame.place(a.case, group.axis), a.ratio) for a in advantages if a.case.annotation == annotation),
                key=lambda p: p[0],
            )
            colour = palette.colour(annotation)
            axes.plot([x for x, _ in line], [r.value for _, r in line], color=colour, zorder=2)
            for x, ratio in line:
                if ratio.interval:
                    axes.plot([x, x], [ratio.interval.low, ratio.interval.high], color=colour, linewidth=2.2, zorder=3)
                frame.point(axes, x, ratio.value, colour, palette.marker(annotation), ratio.interval is not None)
            labels.append((line[-1][0], line[-1][1].value, annotation, colour))
        xs = sorted({frame.place(a.case, group.axis) for a in advantages})
        axes.set_xscale("log")
        frame.measured_ticks(axes, xs)
        axes.axhline(1, color=svg.STRONG, linewidth=1, zorder=1)
        tops = [a.ratio.interval.high if a.ratio.interval else a.ratio.value for a in advantages]
        axes.set_ylim(*frame.span([1.0, *tops], 1.15))
        axes.grid(axis="y")
        baseline = advantages[0].baseline.annotation
        axes.set_xlabel(clip(group.axis, frame.LONGEST_AXIS))
        frame.name_axis(axes, f"times as fast as {clip(baseline, 40)}")
        frame.end_labels(axes, labels)
        drawn = svg.export(canvas, prefix, title, describe)
    table: list[list[Any]] = [["annotation", group.axis, "baseline", "ratio", "ci95_low", "ci95_high", "ci95_n"]]
    for a in advantages:
        low, high, n = (
            (a.ratio.interval.low, a.ratio.interval.high, a.ratio.interval.n) if a.ratio.interval else ("", "", "")
        )
        table.append(
            [a.case.annotation, frame.place(a.case, group.axis), a.baseline.annotation, a.ratio.value, low, high, n]
        )
    return Drawn(drawn, frame.csv_of(table))
