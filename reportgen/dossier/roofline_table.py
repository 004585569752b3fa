"""The table under a roofline: where each case stands in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from reportgen.analysis import roofline
from reportgen.analysis.groups import Group
from reportgen.analysis.roofline import Ceiling, How, Point, Quantity
from reportgen.dossier import cells, words
from reportgen.dossier.charts.roofline import LEVELS
from reportgen.dossier.declared import Declared
from reportgen.dossier.model import Cell, Column, Table
from reportgen.dossier.text import Scale, figure, scale_for, visible

MOST_ROWS = 24
HOW: Mapping[How, str] = {
    "counters": "counted",
    "recorded": "recorded by the suite",
    "formula": "a formula of the suite",
    "counters without tensor cores": "counted, without tensor cores",
}


def places(
    points: Sequence[Point],
    ceilings: Sequence[Ceiling],
    group: Group,
    table_id: str,
    data_name: str,
    declared: Declared = cells.NOTHING,
) -> Table:
    """Make the table of a roofline's points, in order of the cases."""
    scale = scale_for([point.rate.value for point in points], roofline.FLOP_RATE)
    params = cells.params(group)
    shares = [roofline.share(point, ceilings) for point in points]
    levels = [level for level in LEVELS if any(level in point.intensity for point in points)]
    several = len({point.how for point in points}) > 1
    columns = (
        Column("annotation"),
        *(Column(visible(name), numeric=cells.numeric(group, name), code=True) for name in params),
        Column("rate", scale.unit, True),
        *((Column("of the roof", "%", True, words.TERMS["of the roof"]), Column("roof")) if any(shares) else ()),
        *(Column(level, "FLOP/byte", True, words.TERMS["FLOP/byte"]) for level in levels),
        *((Column("FLOP"),) if several else ()),
    )
    rows = []
    for point, share in list(zip(points, shares, strict=True))[:MOST_ROWS]:
        line = [cells.annotation_cell(point.case), *(cells.param_cell(point.case, n, declared) for n in params)]
        line.append(_cell(point.rate, roofline.FLOP_RATE, scale))
        if any(shares):
            line += [_cell(None if share is None else share[0], "%", Scale("%", 1.0))]
            line.append(Cell((share[1] if share else "",), share[1] if share else "~"))
        line += [
            _cell(point.intensity.get(level), roofline.INTENSITY, Scale(roofline.INTENSITY, 1.0)) for level in levels
        ]
        line += [Cell((HOW[point.how],), point.how)] if several else []
        rows.append(tuple(line))
    caption = "Where each annotation and configuration stands on the roofline."
    return Table(table_id, caption, columns, tuple(rows), max(0, len(points) - MOST_ROWS), data_name)


def _cell(of: Quantity | None, unit: str, scale: Scale) -> Cell:
    if of is None:
        return Cell((), -math.inf, "not known", "not measured")
    return Cell((figure(of.value, unit, of.source, scale),), of.value)
