"""Charts of what limits a kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from reportgen.analysis.bottleneck import BUSY_PCT, Verdict, sure
from reportgen.analysis.groups import Case, Group
from reportgen.dossier import svg
from reportgen.dossier.charts import frame
from reportgen.dossier.charts.frame import Drawn, Palette

END = 104.0  # of both axes, in percent
MOST_NAMED = 12  # annotations in a key


def limits(
    points: Sequence[tuple[Case, Verdict]], group: Group, palette: Palette, prefix: str, title: str, describe: str
) -> Drawn:
    """Draw SM against memory throughput with the three regions: compute, memory, latency.

    A point is hollow where another verdict lies within its intervals, and says beside it where its memory is a cache.
    """
    with svg.settings(prefix):
        canvas, axes = frame.canvas_of(4.3, left=0.62, right=2.5)
        _regions(axes)
        for case, verdict in points:
            _point(axes, case, verdict, palette)
        axes.set_xlim(0, END)
        axes.set_ylim(0, END)
        frame.values_beside(axes, [(v.sm.pct, v.memory.pct, text) for c, v in points if (text := _beside(c, v, group))])
        axes.set_xticks(range(0, 101, 20))
        axes.set_yticks(range(0, 101, 20))
        axes.set_xlabel("SM throughput (% of its sustained peak)")
        frame.name_axis(axes, "memory throughput (% of its sustained peak)")
        drawn_of = {case.annotation for case, _ in points}
        frame.key(axes, [(a, palette) for a in group.annotations if a in drawn_of][:MOST_NAMED])
        drawn = svg.export(canvas, prefix, title, describe)
    table: list[list[Any]] = [
        ["annotation", "configuration", "sm_pct", "dram_pct", "memory_pct", "memory_level", "limit", "margin_points"]
    ]
    table += [
        [c.annotation, c.configuration, v.sm.pct, v.dram.pct, v.memory.pct, v.level, v.limit, v.margin]
        for c, v in points
    ]
    return Drawn(drawn, frame.csv_of(table))


def _regions(axes: Axes) -> None:
    axes.fill([BUSY_PCT, END, END, BUSY_PCT], [0, 0, END, BUSY_PCT], color=svg.COMPUTE, linewidth=0, zorder=0)
    axes.fill([0, BUSY_PCT, END, 0], [BUSY_PCT, BUSY_PCT, END, END], color=svg.MEMORY, linewidth=0, zorder=0)
    axes.fill([0, BUSY_PCT, BUSY_PCT, 0], [0, 0, BUSY_PCT, BUSY_PCT], color=svg.LATENCY, linewidth=0, zorder=0)
    # In the corners that points are least often in.
    for x, y, word, side, level in (
        (END - 2, 3, "compute", "right", "bottom"),
        (2, END - 3, "memory", "left", "top"),
        (BUSY_PCT - 2, 3, "latency", "right", "bottom"),
    ):
        axes.text(x, y, word, color=svg.MUTED, ha=side, va=level, fontsize=8.5)


def _point(axes: Axes, case: Case, verdict: Verdict, palette: Palette) -> None:
    colour = palette.colour(case.annotation)
    x, y = verdict.sm.pct, verdict.memory.pct
    halves = [case.metrics[share.metric].half for share in (verdict.sm, verdict.memory)]
    sm, memory = (0.0 if math.isnan(half) else half for half in halves)
    axes.plot([x - sm, x + sm], [y, y], color=colour, linewidth=1.6, zorder=3)
    axes.plot([x, x], [y - memory, y + memory], color=colour, linewidth=1.6, zorder=3)
    axes.plot(
        [x],
        [y],
        palette.marker(case.annotation),
        markerfacecolor=svg.PAPER if sure(verdict, *halves) == "cannot tell" else colour,
        markeredgecolor=colour,
        markeredgewidth=1.3,
        clip_on=False,
        zorder=4,
    )


def _beside(case: Case, verdict: Verdict, group: Group) -> str:
    """Return what stands beside a point: its place on the sweep's axis, and the cache that limits it."""
    place = str(dict(case.params)[group.axis]) if group.axis else ""
    return " ".join(part for part in (place, verdict.level if verdict.cached else "") if part)
