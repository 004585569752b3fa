"""A chart of what the GPU's sensors read while it was measured: SM clock, temperature and power over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from reportgen.analysis import sensing
from reportgen.analysis.processed import decoded
from reportgen.dossier import svg
from reportgen.dossier.charts import frame
from reportgen.dossier.charts.frame import Drawn
from reportgen.evidence import throttle
from reportgen.evidence.sensed import Reading, Region

MOST_PROCESSES = 4  # that find room side by side
_HIGH, _BETWEEN, _ABOVE, _BELOW, _LEFT = 0.72, 0.30, 0.52, 0.5, 0.62  # inches
_APART = 0.14  # inches between two processes


@dataclass(frozen=True, slots=True)
class _Sensor:
    """A sensor: what its panel is called, what is read of it, and the least that its axis spans, in the panel's unit."""

    name: str
    read: Callable[[Reading], float]
    least: float


_SENSORS = (
    _Sensor("SM clock (MHz)", lambda reading: reading.sm_clock_hz / 1e6, 120.0),
    _Sensor("temperature (°C)", lambda reading: reading.temperature_c, 6.0),
    _Sensor("power (W)", lambda reading: reading.power_w, 40.0),
)


@dataclass(frozen=True, slots=True)
class _Point:
    """A reading with its place on the axis: seconds since the process's first region, else regions since then."""

    at: float
    reading: Reading
    region: Region


def over_time(
    processes: Mapping[int, Sequence[Region]], rated_hz: float | None, prefix: str, title: str, describe: str
) -> Drawn | None:
    """Draw the readings around each region, a panel for each sensor and a column for each process; None where nothing was read.

    Across stand the seconds since a process's first region where the regions have a time, else their places in the order taken.
    """
    points = {process: _points(regions) for process, regions in processes.items()}
    points = {process: found for process, found in points.items() if found}
    sensors = [s for s in _SENSORS if any(not math.isnan(s.read(p.reading)) for ps in points.values() for p in ps)]
    if not sensors:
        return None
    shown = dict(list(points.items())[:MOST_PROCESSES])
    with svg.settings(prefix):
        canvas, grid = _grid(len(sensors), len(shown))
        for row, sensor in enumerate(sensors):
            low, high = _span([sensor.read(p.reading) for ps in shown.values() for p in ps], sensor, rated_hz)
            for column, found in enumerate(shown.values()):
                axes = grid[row][column]
                axes.set_ylim(low, high)
                _draw(axes, found, sensor)
                if sensor is _SENSORS[0] and rated_hz:
                    axes.axhline(rated_hz / 1e6, color=svg.STRONG, linewidth=0.8, dashes=(3, 2), zorder=1)
        _name(grid, sensors, shown, timed=_timed(shown))
        if rated_hz and sensors[0] is _SENSORS[0]:
            _rated(grid[0][-1], rated_hz / 1e6)
        drawn = svg.export(canvas, prefix, title, describe)
    return Drawn(drawn, frame.csv_of(_data(points)))


def _points(regions: Sequence[Region]) -> list[_Point]:
    """Return the readings before and after each region, by its own time or by its place."""
    if not regions:
        return []
    timed = all(not math.isnan(region.start) and not math.isnan(region.end) for region in regions)
    found = []
    for place, region in enumerate(regions):
        begin, end = (
            ((region.start - regions[0].start) / 1e9, (region.end - regions[0].start) / 1e9)
            if timed
            else (float(place), place + 1.0)
        )
        found += [_Point(begin, region.before, region), _Point(end, region.after, region)]
    return found


def _timed(points: Mapping[int, Sequence[_Point]]) -> bool:
    return all(not math.isnan(found[0].region.start) for found in points.values())


def _grid(rows: int, columns: int) -> tuple[Canvas, list[list[Axes]]]:
    """Return a canvas with panels below one another that share their horizontal axis, in columns that share the vertical one."""
    above = _ABOVE if columns > 1 else _ABOVE - 0.2
    height = above + rows * _HIGH + (rows - 1) * _BETWEEN + _BELOW
    canvas = Canvas(figsize=(frame.WIDTH, height))
    canvas.patch.set_alpha(0)
    wide = (frame.WIDTH - _LEFT - 0.75 - (columns - 1) * _APART) / columns
    grid: list[list[Axes]] = []
    for row in range(rows):
        line: list[Axes] = []
        for column in range(columns):
            left = _LEFT + column * (wide + _APART)
            bottom = _BELOW + (rows - 1 - row) * (_HIGH + _BETWEEN)
            axes = canvas.add_axes((left / frame.WIDTH, bottom / height, wide / frame.WIDTH, _HIGH / height))
            axes.patch.set_alpha(0)
            axes.grid(axis="y")
            axes.yaxis.set_major_locator(MaxNLocator(3, steps=(1, 2, 5, 10), integer=True))
            axes.tick_params(axis="x", labelbottom=row == rows - 1)
            axes.tick_params(axis="y", labelleft=column == 0, left=column == 0)
            axes.spines["left"].set_visible(column == 0)
            line.append(axes)
        grid.append(line)
    return canvas, grid


def _span(values: Sequence[float], sensor: _Sensor, rated_hz: float | None) -> tuple[float, float]:
    """Return the ends of a sensor's axis: all that was read, and the rated clock; never so near that noise looks large."""
    known = [value for value in values if not math.isnan(value)]
    if sensor is _SENSORS[0] and rated_hz:
        known.append(rated_hz / 1e6)
    low, high = min(known), max(known)
    short = max(0.0, sensor.least - (high - low))
    margin = (high - low + short) * 0.08
    return low - short / 2 - margin, high + short / 2 + margin


def _draw(axes: Axes, found: Sequence[_Point], sensor: _Sensor) -> None:
    known = [(point.at, sensor.read(point.reading)) for point in found]
    turns = _turns([(at, value) for at, value in known if not math.isnan(value)])
    axes.plot([at for at, _ in turns], [v for _, v in turns], color=svg.SERIES[0], linewidth=1.1, zorder=3)
    axes.set_xlim(found[0].at, max(found[-1].at, found[0].at + 1e-9))
    axes.xaxis.set_major_locator(MaxNLocator(3, prune="upper"))
    for begin, end in _held(found):
        axes.axvspan(begin, end, color=svg.LATENCY, linewidth=0, zorder=0)


def _turns(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Leave out the points between two equal ones: a line through the others looks the same."""
    last = len(points) - 1
    return [
        point
        for index, point in enumerate(points)
        if index in (0, last) or not points[index - 1][1] == point[1] == points[index + 1][1]
    ]


def _held(found: Sequence[_Point]) -> list[tuple[float, float]]:
    """Return the stretches of regions around which the GPU was held back."""
    pairs = zip(found[::2], found[1::2], strict=True)
    stretches = []
    for slow, some in groupby(pairs, key=lambda pair: sensing.slowed(pair[0].region)):
        if slow:
            part = list(some)
            stretches.append((part[0][0].at, part[-1][1].at))
    return stretches


def _name(
    grid: Sequence[Sequence[Axes]],
    sensors: Sequence[_Sensor],
    shown: Mapping[int, Sequence[_Point]],
    *,
    timed: bool,
) -> None:
    for row, sensor in enumerate(sensors):
        _text(grid[row][0], sensor.name, 0, 5, svg.INK)
    begun = min(found[0].region.start for found in shown.values()) if timed else math.nan
    for column, (process, found) in enumerate(shown.items()):
        after = "" if math.isnan(begun) else f", from {(found[0].region.start - begun) / 1e9:.3g} s"
        if len(shown) > 1:
            _text(grid[0][column], f"process {process}{after}", 0, 20, svg.MUTED)
    said = "time since the first region of the process (s)" if timed else "regions in the order taken"
    foot = grid[-1][0]
    foot.annotate(
        said, (0, 0), (0, -26), xycoords="axes fraction", textcoords="offset points", color=svg.MUTED, fontsize=9
    )
    if any(_held(found) for found in shown.values()):
        grid[0][-1].annotate(
            "shaded: held back", (1, 1), (0, 5), xycoords="axes fraction", textcoords="offset points", ha="right",
            color=svg.MUTED, fontsize=8,
        )  # fmt: skip


def _rated(axes: Axes, level: float) -> None:
    axes.annotate(
        "rated", (1, level), (4, 0), xycoords=axes.get_yaxis_transform(), textcoords="offset points", va="center",
        color=svg.MUTED, fontsize=8, annotation_clip=False,
    )  # fmt: skip


def _text(axes: Axes, text: str, x: float, y: float, colour: str) -> None:
    axes.annotate(
        text, (x, 1), (0, y), xycoords="axes fraction", textcoords="offset points", color=colour, fontsize=8.5
    )


def _data(points: Mapping[int, Sequence[_Point]]) -> list[list[Any]]:
    head = ["process", "seconds", "benchmark", "annotation", "configuration", "run", "when"]
    table: list[list[Any]] = [[*head, "sm_clock_hz", "temperature_c", "power_w", "throttle"]]
    for process, found in points.items():
        for index, point in enumerate(found):
            region, reading = point.region, point.reading
            config = ", ".join(f"{name} = {decoded(value)}" for name, value in region.params.items() if value)
            held = "" if reading.throttle is None else throttle.in_words([reading.throttle])
            seconds = math.nan if math.isnan(region.start) else point.at
            row = [process, seconds, region.benchmark, region.annotation, config, region.run]
            sensed = [reading.sm_clock_hz, reading.temperature_c, reading.power_w]
            table.append([*row, ("before", "after")[index % 2], *sensed, held])
    return table
