"""Charts of single runs in the order in which they were taken: how far they lie apart, and whether they went one way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from matplotlib.axes import Axes

from reportgen.analysis.drift import Drift, FirstRun
from reportgen.analysis.groups import Case, Runs
from reportgen.dossier import svg
from reportgen.dossier.charts import frame
from reportgen.dossier.charts.frame import Drawn, Palette
from reportgen.dossier.text import clip

MOST_POINTS = 1000
_BAND = 0.62  # of a row's height that its runs take
_GAP = 0.12  # of the band, between two processes
_STRIP = 0.28  # inches for a row
_FEW = 15  # runs whose points have room
_MARKED = 1.1  # inches beside the axes for what is said of a row


@dataclass(frozen=True)
class Strip:
    """A row of the chart: the runs of a case by process and run, and what is to be said of them."""

    heading: str  # what stands above the rows that share it; empty where there is one for all
    case: Case
    runs: Runs
    stable: bool | None
    drift: Drift | None = None  # only where it is to be marked
    first: FirstRun | None = None  # only where it is to be marked


def in_order(strips: Sequence[Strip], palette: Palette, prefix: str, title: str, describe: str) -> Drawn:
    """Draw every run as its distance from its row's mean in percent, the first at the top of its row; each needs two runs.

    The runs of a process are joined. A drift is drawn as a line through each process, and said at the row's end.
    """
    whole = {id(strip): _distances(strip.runs) for strip in strips}
    shown = {id(strip): thinned([d for _, d in whole[id(strip)]], len(strips)) for strip in strips}
    apart = [distance for points in shown.values() for _, distance in points]
    places, names, headings = _rows(strips)
    marked = any(strip.drift or strip.first for strip in strips)
    with svg.settings(prefix):
        canvas, axes = frame.canvas_of(
            0.62 + _STRIP * len(names), frame.label_width(names), _MARKED if marked else 0.35, top=0.06
        )
        axes.axvspan(-2, 2, color=svg.COMPUTE, linewidth=0, zorder=0)
        axes.axvline(0, color=svg.STRONG, linewidth=0.8, zorder=1)
        for place, strip in zip(places, strips, strict=True):
            _strip(axes, place, strip, whole[id(strip)], shown[id(strip)], palette)
            if said := _said(strip):
                axes.annotate(
                    said, (1, place), (6, 0), xycoords=axes.get_yaxis_transform(), textcoords="offset points",
                    va="center", fontsize=8, color=svg.INK, annotation_clip=False,
                )  # fmt: skip
        frame.rows_axis(axes, names)
        for place in headings:
            axes.get_yticklabels()[place].set_color(svg.MUTED)
        axes.set_xlim(min([-2.5, *(1.12 * d for d in apart)]), max([2.5, *(1.12 * d for d in apart)]))
        axes.set_xlabel("distance of a run from its row's mean (%); first run at the top of each row")
        drawn = svg.export(canvas, prefix, title, describe)
    return Drawn(drawn, frame.csv_of(_data(strips, whole, shown)))


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


def _rows(strips: Sequence[Strip]) -> tuple[list[int], list[str], list[int]]:
    """Return the place of each strip, the names of all rows, and the places of the rows that are headings."""
    places: list[int] = []
    names: list[str] = []
    headings: list[int] = []
    for heading, some in groupby(strips, key=lambda strip: strip.heading):
        if heading:
            headings.append(len(names))
            names.append(clip(heading, 40))
        for strip in some:
            places.append(len(names))
            names.append(frame.case_name(strip.case))
    return places, names, headings


def _strip(
    axes: Axes,
    place: int,
    strip: Strip,
    whole: Sequence[tuple[int, float]],
    shown: Sequence[tuple[int, float]],
    palette: Palette,
) -> None:
    """Draw the runs of one row: each process's joined, from the top of the row's band to its foot."""
    colour = palette.colour(strip.case.annotation)
    heights = _heights([process for process, _ in whole], place)
    for _, part in groupby(shown, key=lambda point: whole[point[0]][0]):
        some = list(part)
        axes.plot([d for _, d in some], [heights[o] for o, _ in some], color=colour, linewidth=0.8, zorder=2)
    if strip.drift is not None:
        for _, taken in groupby(range(len(whole)), key=lambda order: whole[order][0]):
            orders = list(taken)
            middle = sorted(whole[order][1] for order in orders)[len(orders) // 2]
            ends = (middle - strip.drift.percent / 2, middle + strip.drift.percent / 2)
            axes.plot(ends, [heights[orders[0]], heights[orders[-1]]], color=svg.INK, linewidth=1.3, zorder=4)
    axes.plot(
        [distance for _, distance in shown],
        [heights[order] for order, _ in shown],
        "o",
        markersize=3.0 if len(whole) <= _FEW else 2.3,
        markerfacecolor=colour if strip.stable else svg.PAPER,
        markeredgecolor=colour,
        markeredgewidth=0.9,
        zorder=3,
    )


def _heights(processes: Sequence[int], place: int) -> list[float]:
    """Return the height of each run within its row's band, with a gap between processes."""
    several = len(dict.fromkeys(processes))
    gap = _GAP * (len(processes) - 1) / max(several - 1, 1) if several > 1 else 0.0
    at = [0.0]
    for before, after in pairwise(processes):
        at.append(at[-1] + 1 + (gap if before != after else 0.0))
    return [place + _BAND * (one / at[-1] - 0.5) for one in at]


def _said(strip: Strip) -> str:
    """Return in a few words what is marked of a row."""
    said = []
    if strip.drift is not None:
        said.append(f"drifts {'up' if strip.drift.percent > 0 else 'down'} {_percent(abs(strip.drift.percent))} %")
    if strip.first is not None:
        sign = "+" if strip.first.percent > 0 else "\N{MINUS SIGN}"
        said.append(f"first run {sign}{_percent(abs(strip.first.percent))} %")
    return "\n".join(said)


def _percent(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _data(
    strips: Sequence[Strip],
    whole: dict[int, list[tuple[int, float]]],
    shown: dict[int, list[tuple[int, float]]],
) -> list[list[Any]]:
    table: list[list[Any]] = [["benchmark", "annotation", "configuration", "process", "order", "distance_pct"]]
    for strip in strips:
        head = [strip.heading, strip.case.annotation, strip.case.configuration]
        table += [[*head, whole[id(strip)][order][0], order, distance] for order, distance in shown[id(strip)]]
    return table


def _distances(runs: Runs) -> list[tuple[int, float]]:
    """Return the process of each run and its distance from the mean in percent, in the order taken."""
    ordered = sorted(runs.items())
    mean = sum(value for _, value in ordered) / len(ordered)
    return [(process, (value / mean - 1) * 100 if mean else 0.0) for (process, _), value in ordered]
