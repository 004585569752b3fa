"""Charts over a sweep's axis: a metric, and the speed against the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Case, Group
from reportgen.analysis.statistics import Ratio
from reportgen.dossier import svg
from reportgen.dossier.charts import frame
from reportgen.dossier.charts.frame import Drawn, Label, Panel, Sheet
from reportgen.dossier.charts.regions import NONE, Regions, shade
from reportgen.dossier.text import Scale, clip, shorten

_LONGEST_END = 20  # characters of a name at the end of a line
_LEFT = 0.55
_ABOVE = 1.25  # what is named at the top of the axes has that much room


def sweep(panels: Sequence[Panel], metric: str, sheet: Sheet, behind: Regions = NONE) -> Drawn:
    """Draw a metric over the axis of each panel's group: one line for each annotation, named at its end.

    Panels share their axes. What has no value stands at the foot; `behind` is what the metric is read against.
    """
    rows = [row for panel in panels for case in panel.cases if (row := case.get(metric)) is not None]
    scale = frame.scale_of(rows)
    drawn = tuple(
        _sweep(panel, panels, metric, scale, behind, sheet.of_panel(index, panel.heading))
        for index, panel in enumerate(panels)
    )
    return Drawn(drawn[0], frame.data_of(panels, metric, scale), drawn[1:])


def _sweep(panel: Panel, panels: Sequence[Panel], metric: str, scale: Scale, behind: Regions, sheet: Sheet) -> str:
    axis = panel.group.axis
    known = [(case, row) for case in panel.cases if (row := case.get(metric)) is not None]
    with svg.settings(sheet.prefix):
        axes = _axes(panel.heading, [case.annotation for p in panels for case in p.cases], named=bool(behind.rated))
        labels: list[Label] = []
        for annotation in panel.group.annotations:
            line = [(frame.place(case, axis), row) for case, row in known if case.annotation == annotation]
            if not line:
                continue
            line.sort(key=lambda point: point[0])
            colour, marker = sheet.palette.colour(annotation), sheet.palette.marker(annotation)
            axes.plot([x for x, _ in line], [r.mean / scale.factor for _, r in line], color=colour, zorder=2)
            for x, row in line:
                frame.interval(axes, x, row, scale, colour)
            frame.points(axes, [(x, row.mean / scale.factor, row.stable) for x, row in line], colour, marker)
            labels.append(Label(line[-1][0], line[-1][1].mean / scale.factor, annotation, colour))
        everything = [row for p in panels for case in p.cases if (row := case.get(metric)) is not None]
        ends = [v / scale.factor for row in everything for v in frame.reach(row)]
        frame.log_axes(
            axes,
            {x: name for p in panels for x, name in frame.places(p.cases, axis, sheet.units).items()},
            [row.mean / scale.factor for row in everything],
            [*ends, *([behind.rated] if behind.rated else [])],
            _ABOVE if behind.edge else 1.0,
        )
        labels += shade(axes, behind)
        frame.missing(axes, [(frame.place(c, axis), said) for c in panel.cases if (said := _absent(c, metric))])
        axes.set_xlabel(clip(axis, frame.LONGEST_AXIS))
        frame.name_axis(axes, frame.axis_name(metric, scale))
        frame.end_labels(axes, labels, _LONGEST_END)
        return svg.export(axes.figure, sheet.prefix, sheet.title, sheet.describe)  # type: ignore[arg-type]


def _absent(case: Case, metric: str) -> str:
    state = frame.absent(case, metric)
    return f"{clip(case.annotation, 12)} {state}" if state else ""


def _axes(heading: str, annotations: Sequence[str], *, named: bool = False) -> Axes:
    """Return axes with room for the names at the ends of their lines; many lines make a chart higher."""
    ends = {shorten(annotation, _LONGEST_END).text for annotation in annotations} | (
        {"rated 10000"} if named else set()
    )
    right = 0.2 + max(frame.width_of(text, 9) for text in ends) if ends else 0.3
    height = max(2.75, 0.8 + (len(ends) + 1) * frame.LINE / 72)
    return frame.panel_of(height, _LEFT, right, heading)[1]


@dataclass(frozen=True, slots=True)
class Advantage:
    """How many times one case is faster than the baseline at the same configuration."""

    case: Case
    baseline: Case
    ratio: Ratio


def speedups(group: Group, advantages: Sequence[Advantage], sheet: Sheet) -> Drawn:
    """Draw how many times faster each annotation is than the baseline, over the group's axis."""
    with svg.settings(sheet.prefix):
        axes = _axes("", [a.case.annotation for a in advantages])
        labels: list[Label] = []
        for annotation in dict.fromkeys(a.case.annotation for a in advantages):
            line = sorted(
                ((frame.place(a.case, group.axis), a.ratio) for a in advantages if a.case.annotation == annotation),
                key=lambda p: p[0],
            )
            colour = sheet.palette.colour(annotation)
            axes.plot([x for x, _ in line], [r.value for _, r in line], color=colour, zorder=2)
            for x, ratio in line:
                if ratio.interval:
                    axes.plot([x, x], [ratio.interval.low, ratio.interval.high], color=colour, linewidth=2.2, zorder=3)
            marked = [(x, ratio.value, ratio.interval is not None) for x, ratio in line]
            frame.points(axes, marked, colour, sheet.palette.marker(annotation))
            labels.append(Label(line[-1][0], line[-1][1].value, annotation, colour))
        axes.set_xscale("log")
        frame.measured_ticks(axes, frame.places([a.case for a in advantages], group.axis, sheet.units))
        axes.axhline(1, color=svg.STRONG, linewidth=1, zorder=1)
        tops = [a.ratio.interval.high if a.ratio.interval else a.ratio.value for a in advantages]
        axes.set_ylim(*frame.span([1.0, *tops], 1.15))
        axes.grid(axis="y")
        baseline = advantages[0].baseline.annotation
        without = {a.case.annotation: a.case for a in advantages}
        frame.missing(axes, [m for annotation in without for m in _without(group, annotation, advantages)])
        axes.set_xlabel(clip(group.axis, frame.LONGEST_AXIS))
        frame.name_axis(axes, f"times as fast as {shorten(baseline, 30).text}")
        frame.end_labels(axes, labels, _LONGEST_END)
        drawn = svg.export(axes.figure, sheet.prefix, sheet.title, sheet.describe)  # type: ignore[arg-type]
    table: list[list[Any]] = [["annotation", group.axis, "baseline", "ratio", "ci95_low", "ci95_high", "ci95_n"]]
    for a in advantages:
        low, high, n = (
            (a.ratio.interval.low, a.ratio.interval.high, a.ratio.interval.n) if a.ratio.interval else ("", "", "")
        )
        table.append(
            [a.case.annotation, frame.place(a.case, group.axis), a.baseline.annotation, a.ratio.value, low, high, n]
        )
    return Drawn(drawn, frame.csv_of(table))


def _without(group: Group, annotation: str, advantages: Sequence[Advantage]) -> list[tuple[float, str]]:
    """Return where an annotation of the chart has no time, and why."""
    shown = {frame.place(a.case, group.axis) for a in advantages}
    cases = [case for case in group.at(annotation) if frame.place(case, group.axis) in shown]
    return [(frame.place(case, group.axis), said) for case in cases if (said := _absent(case, TIME))]
