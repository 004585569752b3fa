"""What all charts share: the canvas, the palette, axes, points, labels, and the CSV beside a chart.

A chart is drawn as one panel of `NARROW` inches or several: so a page sets two side by side where it is wide, and on a phone a
panel is still read without a glass. What needs more is `WIDTH` inches wide and scrolls there.
"""

from __future__ import annotations

import csv
import io
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from reportgen.analysis.groups import Case, Group, Measured
from reportgen.dossier import svg
from reportgen.dossier.text import (
    Scale,
    clip,
    decimals_for,
    number,
    parameter,
    scale_for,
    shorten,
    visible,
    with_power,
)

WIDTH = 7.4
NARROW = 4.6


ROW = 0.27


LOWEST = 1.0


LONGEST_AXIS = 80
LONGEST_NAME = 20  # characters beside a narrow chart
LONGEST_BRIEF = 26  # characters of a configuration behind an annotation
LINE = 11.5  # points from one label to the next


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart as it was drawn: the SVG, the CSV of its data, and `more` panels beside the first."""

    svg: str
    data: str
    more: tuple[str, ...] = ()

    @property
    def panels(self) -> tuple[str, ...]:
        """Return the SVG of every panel."""
        return (self.svg, *self.more)


@dataclass(frozen=True)
class Palette:
    """Gives each annotation of a dossier its colour and marker, in the order of their first appearance."""

    annotations: tuple[str, ...]

    def colour(self, annotation: str) -> str:
        """Return the annotation's colour."""
        return svg.SERIES[self.annotations.index(annotation) % len(svg.SERIES)]

    def marker(self, annotation: str) -> str:
        """Return the annotation's marker; it goes on where the colours begin again."""
        index = self.annotations.index(annotation)
        return svg.MARKERS[(index + index // len(svg.SERIES)) % len(svg.MARKERS)]


@dataclass(frozen=True)
class Sheet:
    """What a chart is drawn with: the palette, what its ids begin with, its title and description, the units of parameters."""

    palette: Palette
    prefix: str
    title: str
    describe: str
    units: Mapping[str, str] = field(default_factory=dict)

    def of_panel(self, index: int, heading: str) -> Sheet:
        """Return what one of several panels is drawn with; the one without a heading is the whole chart."""
        if not heading:
            return self
        return Sheet(self.palette, f"{self.prefix}-{index + 1}", f"{self.title}: {heading}", self.describe, self.units)


@dataclass(frozen=True)
class Panel:
    """A part of a chart: cases of one group under a heading, which is empty where it is the only part."""

    heading: str
    group: Group
    cases: tuple[Case, ...]


def canvas_of(height: float, left: float, right: float, width: float = WIDTH, top: float = 0.30) -> tuple[Canvas, Axes]:
    """Return a canvas of a height in inches with axes that leave `left`, `right` and `top` inches free."""
    height = max(height, LOWEST)
    canvas = Canvas(figsize=(width, height))
    canvas.patch.set_alpha(0)
    bottom = 0.5
    axes = canvas.add_axes(
        (left / width, bottom / height, (width - left - right) / width, (height - bottom - top) / height)
    )
    axes.patch.set_alpha(0)
    return canvas, axes


def panel_of(
    height: float, left: float, right: float, heading: str, top: float = 0.30, width: float = NARROW
) -> tuple[Canvas, Axes]:
    """Return the canvas and axes of a panel with its heading above them."""
    above = 0.22 if heading else 0.0
    canvas, axes = canvas_of(height + above, left, right, width, top + above)
    if heading:
        text = clip_to(heading, width - 0.1, 9)
        canvas.text(0.04 / width, 1 - 0.15 / canvas.get_size_inches()[1], text, va="center", fontsize=9)
    return canvas, axes


def place(case: Case, axis: str) -> float:
    """Return where a case stands on an axis."""
    return float(dict(case.params)[axis])


def point(axes: Axes, x: float, y: float, colour: str, marker: str, stable: bool | None) -> None:
    """Draw one point: hollow where its row is unstable."""
    face = colour if stable else svg.PAPER
    axes.plot(
        [x], [y], marker, markerfacecolor=face, markeredgecolor=colour, markeredgewidth=1.3, zorder=4, clip_on=False
    )


def points(axes: Axes, places: Sequence[tuple[float, float, bool | None]], colour: str, marker: str) -> None:
    """Draw points of one look, (x, y, stable) each, as `point` does one; those that are alike at once."""
    for alike in (True, False):
        some = [(x, y) for x, y, stable in places if bool(stable) == alike]
        if some:
            face = colour if alike else svg.PAPER
            axes.plot(
                [x for x, _ in some], [y for _, y in some], marker, markerfacecolor=face, markeredgecolor=colour,
                markeredgewidth=1.3, zorder=4, clip_on=False,
            )  # fmt: skip


def interval(axes: Axes, x: float, row: Measured, scale: Scale, colour: str) -> None:
    """Draw the 95 % interval of a row at its place, where it has one."""
    if not math.isnan(row.half):
        axes.plot(
            [x, x], [row.ci_low / scale.factor, row.ci_high / scale.factor], color=colour, linewidth=2.2, zorder=3
        )


def scale_of(rows: Iterable[Measured]) -> Scale:
    """Return the unit in which rows of one metric are drawn."""
    known = list(rows)
    return scale_for([row.mean for row in known], known[0].unit if known else "")


def reach(row: Measured) -> tuple[float, ...]:
    """Return what a point covers: its value, and the ends of its interval if it has one."""
    return tuple(v for v in (row.mean, row.ci_low, row.ci_high) if not math.isnan(v))


def span(values: Iterable[float], margin: float) -> tuple[float, float]:
    """Return the ends of an axis that holds zero and all of `values`."""
    known = [0.0, *values]
    low, high = min(known) * margin, max(known) * margin
    return (low, high) if low < high else (0.0, 1.0)


def params(cases: Iterable[Case]) -> list[str]:
    """Return the names of the parameters of cases."""
    return list(dict.fromkeys(n for case in cases for n, _ in case.params))


def absent(case: Case, *metrics: str) -> str:
    """Return the state of a case that has none of these metrics; empty where it has one, or was not asked for any.

    A case of which nothing at all is known was asked for everything.
    """
    if any(case.get(metric) for metric in metrics):
        return ""
    asked = [case.metrics[m] for m in metrics if m in case.metrics]
    if not asked and not any(row.known for row in case.metrics.values()):
        asked = list(case.metrics.values())
    return next((row.state if row.state != "ok" else "not known" for row in asked), "")


# Axes


def log_span(ends: Iterable[float], margin: float = 1.6) -> tuple[float, float]:
    """Return the ends of a logarithmic axis that holds all of `ends`, which are above 0."""
    known = [value for value in ends if value > 0]
    return (min(known) / margin, max(known) * margin) if known else (0.1, 10.0)


def spans_much(values: Iterable[float]) -> bool:
    """Tell whether values are so far apart that they need a logarithmic axis, and can have one."""
    known = list(values)
    return bool(known) and min(known) > 0 and max(known) / min(known) > 8


def log_ticks(axis: Axis, low: float, high: float, most: int = 9) -> None:
    """Put ticks on a logarithmic axis from `low` to `high`: at 1, 2 and 5 in each decade where they fit, else at decades."""
    decades = math.log10(high / low)
    subs = (1.0, 2.0, 5.0) if 3 * decades <= most else (1.0, 3.0) if 2 * decades <= most else (1.0,)
    axis.set_major_locator(LogLocator(base=10, subs=subs, numticks=max(12, most)))
    axis.set_minor_locator(NullLocator())
    powers = low < 1e-3 or high >= 1e6
    axis.set_major_formatter(FuncFormatter(lambda value, _: power(value) if powers else short(value)))


def log_axes(
    axes: Axes, xs: Mapping[float, str], values: Sequence[float], ends: Sequence[float], headroom: float = 1.0
) -> None:
    """Make the horizontal axis logarithmic, and the vertical one as well where `values` span much; `ends` are all to be seen.

    `headroom` is left above them, as a factor.
    """
    axes.set_xscale("log")
    measured_ticks(axes, xs)
    if spans_much(values):
        low, high = log_span([max(min(ends), min(values) / 10), *values, *ends])
        low = max(low, min(values) / 16)
        axes.set_yscale("log")
        log_ticks(axes.yaxis, low, high * headroom)
        axes.set_ylim(low, high * headroom)
    else:
        low, high = span(ends, 1.15)
        axes.set_ylim(low, high * headroom)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axes.grid(axis="y")


def measured_ticks(axes: Axes, xs: Mapping[float, str]) -> None:
    """Put the ticks of the horizontal axis at the values that were measured, by their labels; of those too close, some are blank."""
    low, high = min(xs) / 1.15, max(xs) * 1.15
    axes.set_xlim(low, high)
    room = axes.get_position().width * axes.get_figure().get_size_inches()[0]  # type: ignore[union-attr]
    kept: dict[float, str] = {}
    end = -math.inf
    last = max(xs)
    for x in sorted(xs):
        at, half = (room * math.log(v / low) / math.log(high / low) for v in (x, x)), width_of(xs[x], 9) / 2
        middle = next(at)
        far = room * math.log(last / low) / math.log(high / low) - width_of(xs[last], 9) / 2
        fits = middle - half >= end + 0.02 and (x == last or middle + half + 0.02 <= far)
        if fits or x == last:
            kept[x] = xs[x]
            end = middle + half
    axes.xaxis.set_major_locator(FixedLocator(sorted(xs)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _nearest(kept, value)))


def _nearest(labels: Mapping[float, str], value: float) -> str:
    return next((label for x, label in labels.items() if math.isclose(x, value, rel_tol=1e-9)), "")


def places(cases: Iterable[Case], axis: str, units: Mapping[str, str]) -> dict[float, str]:
    """Return where the cases stand on an axis, and how each place is called."""
    return {place(case, axis): value_of(dict(case.params)[axis], units.get(axis, "")) for case in cases}


def name_axis(axes: Axes, name: str) -> None:
    """Write the vertical axis' name level above it, where it is read without turning the head."""
    axes.annotate(
        name, (0, 1), (-0, 9), xycoords="axes fraction", textcoords="offset points", color=svg.MUTED, fontsize=9
    )


def axis_name(metric: str, scale: Scale) -> str:
    """Return a metric's name with its unit, as it stands at an axis."""
    word = "time" if metric == "gpu__time_duration.sum" else metric
    return clip(word if word == scale.unit or not scale.unit else f"{word} ({scale.unit})", LONGEST_AXIS)


def rows_axis(axes: Axes, names: Sequence[str]) -> None:
    """Make the vertical axis a list of names, the first at the top."""
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0, labelcolor=svg.INK)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")


def from_zero(axes: Axes, low: float, high: float) -> None:
    """Make the horizontal axis of a chart whose values are written beside their rows: few ticks, no lines that cross them."""
    axes.grid(visible=False)
    axes.set_xlim(low, high)
    axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))


# Labels


def end_labels(axes: Axes, labels: Iterable[Label], longest: int = 24) -> None:
    """Name each line at the right of the axes; names that would overlap are moved apart, both ways, and stay beside the axes.

    From a line that ends earlier than others a thin one leads to its name.
    """
    ordered = sorted(labels, key=lambda label: label.y)
    if not ordered:
        return
    dots = axes.figure.dpi / 72
    edge = axes.get_xlim()[1]
    across = float(axes.transAxes.transform((1, 0))[0]) / dots
    last = max(float(axes.transData.transform((label.x, label.y))[0]) / dots for label in ordered)
    heights = [float(axes.transData.transform((label.x, label.y))[1]) / dots for label in ordered]
    low, high = (float(axes.transAxes.transform((0, y))[1]) / dots for y in (0, 1))
    for label, height, wanted in zip(ordered, heights, apart(heights, low, high), strict=True):
        if float(axes.transData.transform((label.x, label.y))[0]) / dots < last - 1:
            axes.plot([label.x, edge], [label.y, label.y], ":", color=label.colour, linewidth=0.8, zorder=1)
        axes.annotate(
            shorten(label.text, longest).text,
            (edge, label.y),
            (max(4, last + 8 - across), wanted - height),
            textcoords="offset points",
            va="center",
            color=label.colour,
            fontsize=9,
            annotation_clip=False,
        )


def apart(wanted: Sequence[float], low: float, high: float, line: float = LINE) -> list[float]:
    """Return places as near to those wanted, which rise, as lets each be a line from the next and all lie from `low` to `high`.

    Where there is no room for all, they go on above `high`.
    """
    blocks: list[tuple[float, int]] = []  # the middle of a block of touching labels, and their number
    for height in wanted:
        blocks.append((height, 1))
        while len(blocks) > 1 and blocks[-1][0] - blocks[-2][0] < line * (blocks[-1][1] + blocks[-2][1]) / 2:
            (b, n), (a, m) = blocks.pop(), blocks.pop()
            blocks.append((_within((a * m + b * n) / (m + n), m + n, low, high, line), m + n))
        middle, count = blocks[-1]
        blocks[-1] = (_within(middle, count, low, high, line), count)
    return [middle + line * (i - (count - 1) / 2) for middle, count in blocks for i in range(count)]


def _within(middle: float, count: int, low: float, high: float, line: float) -> float:
    half = line * (count - 1) / 2
    return max(low + half, min(middle, high - half))


def missing(axes: Axes, missing: Sequence[tuple[float, str]]) -> None:
    """Mark at the foot of a chart what has no point in it, one above another."""
    heights: dict[float, int] = {}
    low, high = axes.get_xlim()
    for x, state in missing:
        heights[x] = heights.get(x, -1) + 1
        share = math.log(x / low) / math.log(high / low) if axes.get_xscale() == "log" else (x - low) / (high - low)
        axes.annotate(
            f"× {state}",
            (x, 0),
            (0, 4 + 11 * heights[x]),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="left" if share < 0.2 else "right" if share > 0.8 else "center",
            color=svg.MUTED,
            fontsize=8,
        )


def values_beside(axes: Axes, points: Iterable[tuple[float, float, str]]) -> None:
    """Write a value beside each point, but for those whose place another one already took."""
    taken: list[tuple[float, float]] = []
    for x, y, text in sorted(points, key=lambda point: -point[0] - point[1]):
        left, level = (float(v) for v in axes.transData.transform((x, y)))
        if all(abs(left - other) > 26 or abs(level - height) > 11 for other, height in taken):
            axes.annotate(text, (x, y), (5, 4), textcoords="offset points", fontsize=7.5, color=svg.MUTED)
            taken.append((left, level))


@dataclass(frozen=True, slots=True)
class Box:
    """A place that a label or a point takes, in points."""

    left: float
    low: float
    right: float
    high: float

    def meets(self, other: Box) -> bool:
        """Tell whether two places overlap."""
        beside = self.right <= other.left or other.right <= self.left
        return not beside and self.low < other.high and other.low < self.high

    def inside(self, other: Box) -> bool:
        """Tell whether it lies within another."""
        return (
            other.left <= self.left and self.right <= other.right and other.low <= self.low and self.high <= other.high
        )


@dataclass(frozen=True, slots=True)
class Label:
    """A name that belongs to a point of the data."""

    x: float
    y: float
    text: str
    colour: str


def names_beside(axes: Axes, labels: Sequence[Label], points: Iterable[tuple[float, float]], size: float = 9) -> None:
    """Write each name beside its own point, where it covers neither a point nor another name and stays on the canvas."""
    dots = axes.figure.dpi / 72
    width, height = (72 * float(inches) for inches in axes.get_figure().get_size_inches())  # type: ignore[union-attr]
    canvas = Box(2, 34, width - 2, height - 16)

    def at(x: float, y: float) -> tuple[float, float]:
        across, up = axes.transData.transform((x, y))
        return float(across) / dots, float(up) / dots

    taken = [Box(x - 3.5, y - 3.5, x + 3.5, y + 3.5) for x, y in (at(*point) for point in points)]
    for label in labels:
        x, y = at(label.x, label.y)
        wide = 72 * width_of(label.text, size)
        choices = [
            (Box(x + dx - wide * back, y + dy - 5.5, x + dx + wide * (1 - back), y + dy + 5.5), dx, dy, align)
            for dx, dy, back, align in _AROUND
        ]
        free = [
            choice for choice in choices if choice[0].inside(canvas) and not any(choice[0].meets(box) for box in taken)
        ]
        box, dx, dy, align = (free or [choice for choice in choices if choice[0].inside(canvas)] or choices)[0]
        taken.append(box)
        axes.annotate(
            label.text,
            (label.x, label.y),
            (dx, dy),
            textcoords="offset points",
            ha=align,
            va="center",
            color=label.colour,
            fontsize=size,
            annotation_clip=False,
        )


# Where a name may stand: how far from its point, the share of its width that lies left of there, and its alignment.
_AROUND: tuple[tuple[float, float, float, str], ...] = (
    *((7, 0, 0.0, "left"), (-7, 0, 1.0, "right"), (0, 10, 0.5, "center"), (0, -10, 0.5, "center")),
    *(
        (side * 6, up * step, 0.0 if side > 0 else 1.0, "left" if side > 0 else "right")
        for step in (10, 21, 32, 43)
        for side in (1, -1)
        for up in (1, -1)
    ),
)


def key(axes: Axes, entries: Sequence[tuple[str, Palette]]) -> None:
    """Write the annotations with their markers beside the plot, where lines have no end to be named at."""
    for index, (annotation, palette) in enumerate(entries):
        y = 0.97 - index * 0.068
        axes.plot(
            [1.05],
            [y],
            palette.marker(annotation),
            transform=axes.transAxes,
            clip_on=False,
            color=palette.colour(annotation),
            markeredgewidth=1.3,
        )
        axes.text(1.085, y, clip(annotation, 30), transform=axes.transAxes, va="center", fontsize=9)


def case_name(case: Case) -> str:
    """Return a case's annotation and configuration, shortened."""
    annotation = shorten(case.annotation, 38).text
    return f"{annotation}  {clip(case.configuration, 30)}".rstrip() if case.params else annotation


def case_names(cases: Sequence[Case], units: Mapping[str, str], longest: int = LONGEST_NAME) -> list[str]:
    """Return what tells each case from the others: its annotation, its configuration, or both."""
    annotations = len({case.annotation for case in cases}) > 1
    configurations = len({case.params for case in cases}) > 1
    both = annotations and configurations
    varying = [n for n in params(cases) if len({dict(case.params).get(n) for case in cases}) > 1]
    named = []
    for case in cases:
        annotation = shorten(case.annotation, longest).text
        if both:
            named.append(f"{annotation} · {shorten(_briefly(case, units, varying), LONGEST_BRIEF).text}")
        else:
            named.append(
                shorten(configuration_of(case, units, varying), longest).text if configurations else annotation
            )
    return named


def _briefly(case: Case, units: Mapping[str, str], only: Sequence[str]) -> str:
    """Return what tells a configuration from the others: a word by itself, a number with its parameter's name."""
    chosen = [(name, value) for name, value in case.params if name in only]
    return ", ".join(
        value if isinstance(value, str) else f"{visible(name)} = {value_of(value, units.get(name, ''))}"
        for name, value in chosen
    )


def configuration_of(case: Case, units: Mapping[str, str], only: Sequence[str] | None = None) -> str:
    """Return the parameters of a case in words, each in its declared unit: `size = 4 MiB`; all, or only those that are named."""
    chosen = [(name, value) for name, value in case.params if only is None or name in only]
    return ", ".join(f"{visible(name)} = {value_of(value, units.get(name, ''))}" for name, value in chosen)


def value_of(value: object, unit: str) -> str:
    """Return a parameter's value as it stands in a chart."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return visible(str(value))
    if unit:
        found = parameter(value, unit, "")
        return f"{found.text} {found.unit}".rstrip()
    return f"{value:.12g}"


def clip_to(text: str, width: float, size: float) -> str:
    """Return `text`, cut in the middle to what `width` inches hold."""
    seen = visible(text)
    while len(seen) > 4 and width_of(seen, size) > width:
        seen = shorten(seen, len(seen) - 1).text
        if len(seen) > 200:
            seen = shorten(seen, 200).text
    return seen


def width_of(text: str, size: float) -> float:
    """Return about how many inches a text takes in so many points; rather too many than too few."""
    ems = sum(1.0 if unicodedata.east_asian_width(c) in "WF" else 0.62 for c in text)
    return ems * size / 72


def label_width(names: Sequence[str]) -> float:
    """Return the inches that names need beside the axes."""
    return min(3.4, 0.35 + 0.072 * max((len(n) for n in names), default=0))


def short(value: float) -> str:
    """Return a number as it stands at an axis: four digits, with a power of ten where it is very small or large."""
    size = abs(value)
    if size and (size < 1e-3 or size >= 1e6):
        return power(value)
    text = f"{value:.4g}"
    return text if "e" not in text and size < 1e4 else f"{value:,.0f}".replace(",", "\u00a0")


def power(value: float) -> str:
    """Return a number with a power of ten, `5 × 10⁻⁵`, and a power itself without a factor, `10⁻⁵`."""
    if not value:
        return "0"
    digits = len(f"{value:.3e}".partition("e")[0].rstrip("0").partition(".")[2])
    text = with_power(value, digits)
    factor, times, rest = text.partition("\u00a0×\u00a0")
    if factor == "1":
        return "1" if rest == "10⁰" else rest
    return factor if rest == "10⁰" else f"{factor}{times}{rest}"


def told(row: Measured, scale: Scale) -> str:
    """Return a row's mean as it stands beside its point: as many digits as its interval supports, four at most."""
    mean = row.mean / scale.factor
    with_spread = number(mean, decimals_for(mean, row.half / scale.factor))
    return min(with_spread, number(mean, decimals_for(mean)), key=len)


# Data


def data_of(panels: Sequence[Panel], metric: str, scale: Scale) -> str:
    """Return the CSV of a metric's rows, those without a value among them; several groups are told apart by their scenario."""
    head = params(case for panel in panels for case in panel.cases)
    several = len({panel.group.scenario for panel in panels}) > 1
    unit = f" ({scale.unit})" if scale.unit else ""
    numbers = [metric + unit, "ci95_low", "ci95_high", "runs", "relative_std_dev_pct", "row", "state"]
    table: list[list[Any]] = [[*(["scenario"] if several else []), "annotation", *head, *numbers]]
    for panel in panels:
        for case in panel.cases:
            if line := _data_line(case, metric, scale, head):
                table.append([*([panel.group.scenario] if several else []), *line])
    return csv_of(table)


def _data_line(case: Case, metric: str, scale: Scale, head: Sequence[str]) -> list[Any]:
    known, row = dict(case.params), case.get(metric)
    line: list[Any] = [case.annotation, *(known.get(n, "") for n in head)]
    if row is None:
        state = absent(case, metric)
        return [*line, None, None, None, None, None, None, state] if state else []
    numbers = [None if math.isnan(v) else v / scale.factor for v in (row.mean, row.ci_low, row.ci_high)]
    relative = None if math.isnan(row.relative_pct) else row.relative_pct
    return [*line, *numbers, row.runs, relative, row.row, row.state]


def csv_of(table: Iterable[Sequence[Any]]) -> str:
    """Return rows of cells as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for line in table:
        writer.writerow([_csv_cell(cell) for cell in line])
    return buffer.getvalue()


def _csv_cell(cell: Any) -> Any:
    if isinstance(cell, float):
        return "" if math.isnan(cell) else f"{cell:.12g}"
    return "" if cell is None else cell
