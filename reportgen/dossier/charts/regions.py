"""What a chart of a rate of bytes is read against: where the L2 ends on its axis, and what the memory's clock would allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from reportgen.analysis import sweep
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Group
from reportgen.dossier import svg
from reportgen.dossier.charts import frame
from reportgen.dossier.charts.frame import Label
from reportgen.dossier.text import scales

_ALIKE = 0.02  # cases move the same share of their axis' value, within so much
_BYTE_RATES = {scale.unit: scale.factor for scale in scales("byte/s")} | {"byte/s": 1.0}
_MOST_ABOVE = 4.0  # a line this many times above all that was measured would only press it down


@dataclass(frozen=True, slots=True)
class Regions:
    """What stands behind a chart: `edge` is where on the axis the L2 is full, `rated` the memory's bandwidth in the chart's unit.

    Either is 0 where it is not known or not of this chart.
    """

    edge: float = 0.0
    rated: float = 0.0


NONE = Regions()


def regions(
    groups: Sequence[Group], metric: str, units: Mapping[str, str], l2_bytes: float, rated_bandwidth: float
) -> Regions:
    """Return what a chart of `metric` over the axis of `groups` is read against; the L2 in bytes, the bandwidth in bytes a second."""
    rows = [row for group in groups for case in group.cases if (row := case.get(metric)) is not None]
    factor = _BYTE_RATES.get(rows[0].unit, 0.0) if rows else 0.0
    if not factor:
        return NONE
    rated = rated_bandwidth / factor if rated_bandwidth > 0 else 0.0
    if rated > _MOST_ABOVE * max(row.mean for row in rows):
        rated = 0.0
    return Regions(edge(groups, units, l2_bytes), rated)


def edge(groups: Sequence[Group], units: Mapping[str, str], l2_bytes: float) -> float:
    """Return where on the axis that groups share what is moved fills the L2; 0 where it does not lie between two of its places.

    What a region moves is known by its rate and time; where it is no fixed share of the axis' value there is no such place.
    An axis in bytes without a rate is taken as it is.
    """
    axis = groups[0].axis
    if not axis or not l2_bytes > 0:
        return 0.0
    xs = [frame.place(case, axis) for group in groups for case in group.cases]
    shares = [share for group in groups for share in _shares(group)]
    if shares and max(shares) > (1 + _ALIKE) * min(shares):
        return 0.0
    if not shares and units.get(axis) != "byte":
        return 0.0
    found = l2_bytes / (sum(shares) / len(shares)) if shares else l2_bytes
    return found if min(xs) < found < max(xs) else 0.0


def _shares(group: Group) -> list[float]:
    """Return the bytes that each case moves over its place on the axis."""
    metric = sweep.rate_metric(group)
    return [
        sweep.bytes_moved(case.metrics[metric], case.metrics[TIME]) / frame.place(case, group.axis)
        for case in group.cases
        if metric and case.get(metric) is not None and case.time is not None
    ]


def shade(axes: Axes, found: Regions) -> tuple[Label, ...]:
    """Shade what fits the L2 and what does not, each with its name, and draw the rated bandwidth as a thin line.

    Returns that line's name, to stand beside the axes with the others.
    """
    low, high = axes.get_xlim()
    if found.edge:
        for start, end, colour, word in (
            (low, found.edge, svg.COMPUTE, "fits L2"),
            (found.edge, high, svg.MEMORY, "DRAM"),
        ):
            axes.axvspan(start, end, color=colour, linewidth=0, zorder=0)
            across = (start * end) ** 0.5
            axes.annotate(
                word,
                (across, 1),
                (0, -4),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                ha="center",
                va="top",
                color=svg.MUTED,
                fontsize=8.5,
            )
    if not found.rated:
        return ()
    axes.axhline(found.rated, color=svg.STRONG, linewidth=0.9, zorder=1)
    text = f"rated {frame.short(float(f'{found.rated:.4g}'))}"
    return (Label(high / 1.15, found.rated, text, svg.MUTED),)
