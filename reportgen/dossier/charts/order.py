"""Charts of single runs in the order in which they were taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reportgen.analysis.groups import Group, samples_in_order
from reportgen.dossier import svg
from reportgen.dossier.charts import frame
from reportgen.dossier.charts.frame import Drawn, Palette

MOST_POINTS = 1000


def in_order(group: Group, metric: str, palette: Palette, prefix: str, title: str, describe: str) -> Drawn:
    """Draw every run as its distance from its row's mean in percent, in the order in which the runs were taken."""
    cases = [case for case in group.cases if len(case.runs.get(metric, {})) >= 2]
    names = [frame.case_name(case) for case in cases]
    whole = {id(case): _distances(samples_in_order(case, metric)) for case in cases}
    offsets = {key: thinned(values, len(cases)) for key, values in whole.items()}
    reach = max([2.5, *(abs(d) * 1.15 for points in offsets.values() for _, d in points)])
    with svg.settings(prefix):
        canvas, axes = frame.canvas_of(0.8 + 0.27 * len(cases), left=frame.label_width(names), right=0.35)
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
        frame.rows_axis(axes, names)
        axes.set_xlim(-reach, reach)
        axes.set_xlabel("distance of a run from its row's mean (%); first run at the top of each row")
        drawn = svg.export(canvas, prefix, title, describe)
    table: list[list[Any]] = [["annotation", "configuration", "order", "distance_pct"]]
    table += [[c.annotation, c.configuration, i, d] for c in cases for i, d in offsets[id(c)]]
    return Drawn(drawn, frame.csv_of(table))


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
