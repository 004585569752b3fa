"""Charts with a line for each case: a metric, and the bytes read and written."""

from __future__ import annotations

import math
from typing import Any

from reportgen.analysis.groups import Group
from reportgen.dossier import svg
from reportgen.dossier.charts import frame
from reportgen.dossier.charts.frame import Drawn, Palette
from reportgen.dossier.text import scale_for


def ranked(group: Group, metric: str, palette: Palette, prefix: str, title: str, describe: str) -> Drawn:
    """Draw a metric for each case as a point with its interval on a line of its own, from zero."""
    rows = [(case, row) for case in group.cases if (row := case.get(metric)) is not None]
    scale = frame.scale_of(row for _, row in rows)
    names = [frame.case_name(case) for case, _ in rows]
    with svg.settings(prefix):
        canvas, axes = frame.canvas_of(0.75 + frame.ROW * len(rows), left=frame.label_width(names), right=0.75)
        for index, (case, row) in enumerate(rows):
            colour = palette.colour(case.annotation)
            mean = row.mean / scale.factor
            axes.plot([0, mean], [index, index], color=svg.RULE, linewidth=5, solid_capstyle="butt", zorder=1)
            if not math.isnan(row.half):
                ends = [row.ci_low / scale.factor, row.ci_high / scale.factor]
                axes.plot(ends, [index, index], color=colour, linewidth=2.2, solid_capstyle="butt", zorder=2)
            frame.point(axes, mean, index, colour, palette.marker(case.annotation), row.stable)
            axes.annotate(
                frame.short(mean),
                (mean, index),
                (9, 0),
                textcoords="offset points",
                va="center",
                color=svg.INK,
                fontsize=8.5,
            )
        frame.rows_axis(axes, names)
        axes.set_xlim(*frame.span([v / scale.factor for _, row in rows for v in frame.reach(row)], 1.12))
        axes.set_xlabel(frame.axis_name(metric, scale))
        drawn = svg.export(canvas, prefix, title, describe)
    return Drawn(drawn, frame.data_of(group, metric, rows, scale))


def bytes_moved(group: Group, read: str, write: str, palette: Palette, prefix: str, title: str, describe: str) -> Drawn:
    """Draw the bytes that each case read from and wrote to DRAM, as two bars from zero."""
    cases = [case for case in group.cases if case.get(read) or case.get(write)]
    sizes = [case.value(m) for case in cases for m in (read, write) if not math.isnan(case.value(m))]
    scale = scale_for([max(sizes, default=0.0)], "byte")
    names = [frame.case_name(case) for case in cases]
    with svg.settings(prefix):
        canvas, axes = frame.canvas_of(0.85 + 0.46 * len(cases), left=frame.label_width(names), right=0.95)
        for index, case in enumerate(cases):
            colour = palette.colour(case.annotation)
            for offset, metric, word in ((-0.19, read, "read"), (0.19, write, "written")):
                value = case.value(metric) / scale.factor
                if math.isnan(value):
                    continue
                face = colour if word == "read" else svg.PAPER
                axes.barh(index + offset, value, 0.30, facecolor=face, edgecolor=colour, linewidth=1.1, zorder=2)
                axes.annotate(
                    f"{frame.short(value)} {word}",
                    (value, index + offset),
                    (5, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=8,
                )
        frame.rows_axis(axes, names)
        axes.set_xlim(*frame.span([size / scale.factor for size in sizes], 1.05))
        axes.set_xlabel(f"bytes moved between L2 and DRAM ({scale.unit})")
        drawn = svg.export(canvas, prefix, title, describe)
    head = frame.params(group)
    table: list[list[Any]] = [["annotation", *head, f"read ({scale.unit})", f"written ({scale.unit})"]]
    for case in cases:
        known, moved = dict(case.params), (case.value(metric) / scale.factor for metric in (read, write))
        table.append([case.annotation, *(known.get(n, "") for n in head), *moved])
    return Drawn(drawn, frame.csv_of(table))
