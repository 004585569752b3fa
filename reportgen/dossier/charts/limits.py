"""Charts of what limits a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reportgen.analysis.bottleneck import BUSY_PCT, Verdict
from reportgen.analysis.groups import Case, Group
from reportgen.dossier import svg
from reportgen.dossier.charts import frame
from reportgen.dossier.charts.frame import Drawn, Palette


def limits(
    points: Sequence[tuple[Case, Verdict]], group: Group, palette: Palette, prefix: str, title: str, describe: str
) -> Drawn:
    """Draw SM against DRAM throughput with the three regions: compute, memory, latency."""
    with svg.settings(prefix):
        canvas, axes = frame.canvas_of(4.3, left=0.62, right=2.5)
        axes.fill([BUSY_PCT, 104, 104, BUSY_PCT], [0, 0, 104, BUSY_PCT], color=svg.COMPUTE, linewidth=0, zorder=0)
        axes.fill([0, BUSY_PCT, 104, 0], [BUSY_PCT, BUSY_PCT, 104, 104], color=svg.MEMORY, linewidth=0, zorder=0)
        axes.fill([0, BUSY_PCT, BUSY_PCT, 0], [0, 0, BUSY_PCT, BUSY_PCT], color=svg.LATENCY, linewidth=0, zorder=0)
        for x, y, word, side in ((102, 56, "compute", "right"), (2, 101, "memory", "left"), (2, 57, "latency", "left")):
            axes.text(x, y, word, color=svg.MUTED, ha=side, va="top", fontsize=8.5)
        for case, verdict in points:
            frame.point(
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
            frame.values_beside(axes, [(v.sm_pct, v.dram_pct, str(dict(c.params)[group.axis])) for c, v in points])
        axes.set_xticks(range(0, 101, 20))
        axes.set_yticks(range(0, 101, 20))
        axes.set_xlabel("SM throughput (% of its sustained peak)")
        frame.name_axis(axes, "DRAM throughput (% of its sustained peak)")
        frame.key(axes, [(a, palette) for a in group.annotations if any(c.annotation == a for c, _ in points)])
        drawn = svg.export(canvas, prefix, title, describe)
    table: list[list[Any]] = [["annotation", "configuration", "sm_pct", "dram_pct", "limit"]]
    table += [[case.annotation, case.configuration, v.sm_pct, v.dram_pct, v.limit] for case, v in points]
    return Drawn(drawn, frame.csv_of(table))
