"""Rooflines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from reportgen.analysis.bottleneck import BUSY_PCT, Level
from reportgen.analysis.groups import Group
from reportgen.analysis.roofline import Ceiling, Point
from reportgen.dossier import svg
from reportgen.dossier.charts import frame
from reportgen.dossier.charts.frame import Drawn, Palette
from reportgen.dossier.charts.limits import MOST_NAMED
from reportgen.dossier.text import Scale, clip

LEVELS: tuple[Level, ...] = ("DRAM", "L2", "L1")
_SIZES = {"L2": 4.0, "L1": 2.6}
_ROOM = 2.5  # around the points and the ceilings, as a factor
_STEPS = 60


def roofline(
    points: Sequence[Point],
    ceilings: Sequence[Ceiling],
    group: Group,
    palette: Palette,
    scale: Scale,
    prefix: str,
    title: str,
    describe: str,
) -> Drawn:
    """Draw FLOP/s over FLOP a byte of DRAM under the ceilings that are known; L2 and L1 are smaller points on a thin line.

    Measured ceilings are solid, rated ones dashed. Where both are known the three regions are tinted as in the chart of limits.
    """
    memory = next((one for one in ceilings if one.kind == "memory" and one.level == "DRAM"), None)
    compute = next((one for one in ceilings if one.kind == "compute"), None)
    with svg.settings(prefix):
        canvas, axes = frame.canvas_of(4.3, left=0.72, right=2.5)
        left, right, low, high = _ends(points, memory, compute)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(left, right)
        axes.set_ylim(low / scale.factor, high / scale.factor)
        if memory is not None and compute is not None:
            _regions(axes, memory.of.value / scale.factor, compute.of.value / scale.factor)
        for ceiling in ceilings:
            _ceiling(axes, ceiling, compute, memory, scale)
        for point in points:
            _point(axes, point, palette, scale)
        if group.axis:
            places = [(_at(p), p.rate.value / scale.factor, str(dict(p.case.params)[group.axis])) for p in points]
            frame.values_beside(axes, [place for place in places if not math.isnan(place[0])])
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(base=10, numticks=9))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.12g}"))
        axes.grid(visible=True)
        axes.set_xlabel("FLOP for each byte of DRAM")
        frame.name_axis(axes, f"rate ({scale.unit})")
        drawn_of = {point.case.annotation for point in points}
        named = [(a, palette) for a in group.annotations if a in drawn_of][:MOST_NAMED]
        frame.key(axes, named)
        _key(axes, ceilings, len(named), scale)
        drawn = svg.export(canvas, prefix, title, describe)
    return Drawn(drawn, _data(points, ceilings))


def _at(point: Point) -> float:
    """Return where a point stands, NaN for one that moved nothing to or from DRAM."""
    return point.intensity["DRAM"].value if "DRAM" in point.intensity else math.nan


def _ends(
    points: Sequence[Point], memory: Ceiling | None, compute: Ceiling | None
) -> tuple[float, float, float, float]:
    """Return the ends of both axes: room around the points, and the ridge in sight where there is one."""
    xs = [quantity.value for point in points for quantity in point.intensity.values()]
    ys = [point.rate.value for point in points]
    if memory is not None and compute is not None:
        xs.append(compute.of.value / memory.of.value)
    if compute is not None:
        ys.append(compute.of.value)
    left, right = min(xs) / _ROOM, max(xs) * _ROOM
    if memory is not None and compute is None:
        ys.append(min(memory.of.value * max(xs), 10 * max(ys)))
    return left, right, min(ys) / _ROOM, max(ys) * _ROOM


def _regions(axes: Axes, bandwidth: float, compute: float) -> None:
    """Tint what lies under the roof: memory and compute from `BUSY_PCT` of it on, latency below."""
    left, right = axes.get_xlim()
    bottom = axes.get_ylim()[0]
    ridge = compute / bandwidth
    xs = [left * (right / left) ** (step / _STEPS) for step in range(_STEPS + 1)]
    xs = sorted({*xs, min(max(ridge, left), right)})
    roof = [min(x * bandwidth, compute) for x in xs]
    floor = [y * BUSY_PCT / 100 for y in roof]
    axes.fill_between(xs, [bottom] * len(xs), floor, color=svg.LATENCY, linewidth=0, zorder=0)
    for colour, chosen in ((svg.MEMORY, [x <= ridge for x in xs]), (svg.COMPUTE, [x >= ridge for x in xs])):
        axes.fill_between(xs, floor, roof, where=chosen, color=colour, linewidth=0, zorder=0)


def _ceiling(axes: Axes, ceiling: Ceiling, compute: Ceiling | None, memory: Ceiling | None, scale: Scale) -> None:
    left, right = axes.get_xlim()
    value = ceiling.of.value / scale.factor
    if ceiling.kind == "compute":
        start = left if memory is None else max(left, ceiling.of.value / memory.of.value)
        xs, ys = [start, right], [value, value]
    else:
        end = right if compute is None else min(right, compute.of.value / ceiling.of.value)
        xs, ys = [left, end], [left * value, end * value]
    main = ceiling.kind == "compute" or ceiling.level == "DRAM"
    style = "-" if ceiling.measured else (0, (5, 3))
    axes.plot(xs, ys, color=svg.INK if main else svg.STRONG, linestyle=style, linewidth=1.4 if main else 0.9, zorder=1)


def _point(axes: Axes, point: Point, palette: Palette, scale: Scale) -> None:
    colour, marker = palette.colour(point.case.annotation), palette.marker(point.case.annotation)
    y = point.rate.value / scale.factor
    known = {level: point.intensity[level].value for level in LEVELS if level in point.intensity}
    if len(known) > 1:
        axes.plot([min(known.values()), max(known.values())], [y, y], color=colour, linewidth=0.8, zorder=2)
    for level, size in _SIZES.items():
        if level in known:
            axes.plot(
                [known[level]],
                [y],
                marker,
                markersize=size,
                markerfacecolor=svg.PAPER,
                markeredgecolor=colour,
                markeredgewidth=1.0,
                zorder=3,
            )
    if "DRAM" in known:
        frame.point(axes, known["DRAM"], y, colour, marker, True)


def _key(axes: Axes, ceilings: Sequence[Ceiling], above: int, scale: Scale) -> None:
    """Write what each ceiling is below the annotations of the key."""
    for index, ceiling in enumerate(ceilings):
        y = 0.97 - (above + 0.6 + index) * 0.068
        style = "-" if ceiling.measured else (0, (5, 3))
        main = ceiling.kind == "compute" or ceiling.level == "DRAM"
        axes.plot(
            [1.03, 1.07],
            [y, y],
            linestyle=style,
            color=svg.INK if main else svg.STRONG,
            linewidth=1.4 if main else 0.9,
            transform=axes.transAxes,
            clip_on=False,
        )
        axes.text(1.085, y, clip(_name(ceiling, scale), 36), transform=axes.transAxes, va="center", fontsize=9)


def _name(ceiling: Ceiling, scale: Scale) -> str:
    how = "measured" if ceiling.measured else "rated"
    if ceiling.kind == "memory":
        return f"{ceiling.level} {frame.short(ceiling.of.value / 1e12)} TB/s, {how}"
    return f"{frame.short(ceiling.of.value / scale.factor)} {scale.unit}, {how}{' FP32' if ceiling.single else ''}"


def _data(points: Sequence[Point], ceilings: Sequence[Ceiling]) -> str:
    levels = [f"flop_per_byte_{level.lower()}" for level in LEVELS]
    table: list[list[Any]] = [["what", "configuration", "flop_per_s", *levels, "flop_known_by", "bytes_per_s"]]
    for point in points:
        known = [point.intensity[level].value if level in point.intensity else None for level in LEVELS]
        table.append([point.case.annotation, point.case.configuration, point.rate.value, *known, point.how, None])
    for one in ceilings:
        what = f"ceiling: {one.kind} {one.level}".rstrip()
        how = f"measured by {one.benchmark}" if one.measured else one.what
        rates = (one.of.value, None) if one.kind == "compute" else (None, one.of.value)
        table.append([what, "", rates[0], *[None] * len(LEVELS), how, rates[1]])
    return frame.csv_of(table)
