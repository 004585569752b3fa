"""Error against speed: what a faster annotation gives for its speed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from reportgen.analysis.groups import Case, Group
from reportgen.dossier import svg
from reportgen.dossier.charts import frame
from reportgen.dossier.charts.frame import Drawn, Label, Sheet
from reportgen.dossier.text import Scale, clip, shorten


def error_against_speed(group: Group, speed: str, error: str, sheet: Sheet) -> Drawn:
    """Draw the error of each case, on a logarithmic axis, over how fast it is (`speed` is a rate or a time).

    One line for each annotation, named at its last place on the group's axis. An error of exactly 0 stands at the foot, as does
    what has no value.
    """
    both = [case for case in group.cases if case.get(speed) is not None and case.get(error) is not None]
    scale = frame.scale_of(case.metrics[speed] for case in both)
    xs = [case.value(speed) / scale.factor for case in both]
    exact = [case for case in both if not case.value(error) > 0]
    drawn_of = [case for case in both if case.value(error) > 0]
    shown, named = {id(case) for case in drawn_of}, {id(case) for case in both}
    with svg.settings(sheet.prefix):
        axes = frame.panel_of(3.1, 0.62, 0.3, "")[1]
        _span_speed(axes, xs)
        low, high = frame.log_span([case.value(error) for case in drawn_of], 2.5)
        axes.set_yscale("log")
        axes.set_ylim(low, high)
        frame.log_ticks(axes.yaxis, low, high, most=8)
        axes.grid(axis="y")
        labels = []
        for annotation in group.annotations:
            line = [case for case in group.at(annotation) if id(case) in shown]
            if line:
                labels.append(_line(axes, line, (speed, error), scale, sheet))
        at_foot = [
            f"× {clip(case.annotation, 20)} {_why(case, speed, error)}" for case in group.cases if id(case) not in named
        ]
        at_foot += [f"{clip(case.annotation, 20)}: no error at all" for case in exact]
        _foot(axes, list(dict.fromkeys(at_foot)))
        axes.set_xlabel(frame.axis_name(speed, scale))
        frame.name_axis(axes, clip(error, frame.LONGEST_AXIS))
        points = [(case.value(speed) / scale.factor, case.value(error)) for case in drawn_of]
        frame.names_beside(axes, sorted(labels, key=lambda label: -label.y), points)
        drawn = svg.export(axes.figure, sheet.prefix, sheet.title, sheet.describe)  # type: ignore[arg-type]
    return Drawn(drawn, _data(group, both, speed, error, scale))


def _span_speed(axes: Axes, xs: Sequence[float]) -> None:
    """Set the horizontal axis: logarithmic where speeds are far apart."""
    if frame.spans_much(xs):
        low, high = frame.log_span(xs, 1.5)
        axes.set_xscale("log")
        axes.set_xlim(low, high)
        frame.log_ticks(axes.xaxis, low, high, most=10)
    else:
        axes.set_xlim(*frame.span(xs, 1.15))
        axes.locator_params(axis="x", nbins=6)


def _line(axes: Axes, line: Sequence[Case], metrics: tuple[str, str], scale: Scale, sheet: Sheet) -> Label:
    """Draw the cases of one annotation, the last one with its intervals, and return its name with where it belongs."""
    speed, error = metrics
    annotation = line[-1].annotation
    colour, marker = sheet.palette.colour(annotation), sheet.palette.marker(annotation)
    places = [(case.value(speed) / scale.factor, case.value(error)) for case in line]
    axes.plot([x for x, _ in places], [y for _, y in places], color=colour, linewidth=0.9, zorder=2)
    axes.plot([x for x, _ in places[:-1]], [y for _, y in places[:-1]], marker, color=colour, markersize=2.8, zorder=3)
    x, y = places[-1]
    fast, wrong = line[-1].metrics[speed], line[-1].metrics[error]
    if not math.isnan(fast.half):
        axes.plot(
            [fast.ci_low / scale.factor, fast.ci_high / scale.factor], [y, y], color=colour, linewidth=2.2, zorder=3
        )
    if wrong.ci_low > 0:
        axes.plot([x, x], [wrong.ci_low, wrong.ci_high], color=colour, linewidth=2.2, zorder=3)
    frame.point(axes, x, y, colour, marker, fast.stable)
    return Label(x, y, shorten(annotation, frame.LONGEST_NAME).text, colour)


def _why(case: Case, speed: str, error: str) -> str:
    return frame.absent(case, speed) or frame.absent(case, error) or "has no error recorded"


def _foot(axes: Axes, notes: Sequence[str]) -> None:
    """Write what has no point in the chart at its foot, one above another."""
    for index, note in enumerate(reversed(notes)):
        axes.annotate(
            note,
            (0, 0),
            (5, 4 + 11 * index),
            xycoords="axes fraction",
            textcoords="offset points",
            color=svg.MUTED,
            fontsize=8,
        )


def _data(group: Group, both: Sequence[Case], speed: str, error: str, scale: Scale) -> str:
    head = frame.params(group.cases)
    unit = f" ({scale.unit})" if scale.unit else ""
    ends = [f"{name} {end}" for name in (speed, error) for end in ("ci95_low", "ci95_high")]
    table: list[list[Any]] = [["annotation", *head, speed + unit, error, *ends, "state"]]
    shown = {id(case) for case in both}
    for case in group.cases:
        known = dict(case.params)
        line: list[Any] = [case.annotation, *(known.get(n, "") for n in head)]
        if id(case) not in shown:
            table.append([*line, *[None] * 6, _why(case, speed, error)])
            continue
        fast, wrong = case.metrics[speed], case.metrics[error]
        cells = [fast.mean / scale.factor, wrong.mean, fast.ci_low / scale.factor, fast.ci_high / scale.factor]
        table.append([*line, *cells, wrong.ci_low, wrong.ci_high, "ok"])
    return frame.csv_of(table)
