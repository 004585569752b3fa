"""A sweep at a glance: one row for each place on its axis, a column for each annotation, and which is the fastest."""

from __future__ import annotations

from reportgen.analysis import fastest
from reportgen.analysis.fastest import Lead, Place
from reportgen.analysis.groups import Case, Group
from reportgen.dossier import cells, words
from reportgen.dossier.declared import Declared
from reportgen.dossier.findings import phrases
from reportgen.dossier.model import Cell, Column, Sentence, Table
from reportgen.dossier.text import Scale, visible

MOST_ANNOTATIONS = 8


def by_axis(group: Group, table_id: str, data_name: str, declared: Declared, tick: float) -> Table | None:
    """Make the table of a sweep of several annotations, nothing for what is no sweep or has too many of them.

    Its metric is the suite's main one. Which is the fastest is judged by the time, and not at all where annotations do different
    work.
    """
    annotations = group.annotations
    if not group.axis or not 1 < len(annotations) <= MOST_ANNOTATIONS or len(_others(group)) > 0:
        return None
    metric = _metric(group, declared)
    places = [Place(cases, None) for cases in group.rivals()]
    if not declared.apart:
        places = [Place(cases, fastest.fastest(cases, declared.baseline, tick)) for cases in group.rivals()]
    compared = any(place.found is not None for place in places)
    against = declared.baseline if declared.baseline in annotations else ""
    scale = cells.metric_scale(group, metric)
    columns = [
        Column(visible(group.axis), "", True, code=True),
        *(Column(visible(annotation), scale.unit, True, code=True) for annotation in annotations),
    ]
    if compared:
        columns += [
            Column("fastest", "", meaning="By the time; one that cannot be told from another is named with it.")
        ]
        columns += [
            Column("times as fast as the baseline", "", True, f"The baseline is {visible(against)}.")
            if against
            else Column("times as fast as the next", "", True),
            Column("95 % CI", "", True, words.TERMS["95 % CI of the fastest"]),
        ]
    rows = tuple(_row(place, group, metric, scale, declared, against, compared=compared) for place in places)
    label = words.label(metric)
    caption = f"{label[:1].upper()}{label[1:]} by {visible(group.axis)}, a column for each annotation; means over runs."
    return Table(table_id, caption, tuple(columns), rows[: cells.MOST_ROWS], 0, data_name)


def _metric(group: Group, declared: Declared) -> str:
    """Return what the sweep is about: the suite's main metric, else the first rate, else the time."""
    rates = [m for m in group.derived if any((row := case.get(m)) and row.unit.endswith("/s") for case in group.cases)]
    return next((m for m in (declared.main, *rates) if any(case.get(m) for case in group.cases)), group.main)


def _others(group: Group) -> list[str]:
    """Return the parameters beside the axis that vary: then a place on the axis is no single configuration."""
    values: dict[str, set[object]] = {}
    for case in group.cases:
        for name, value in case.params:
            values.setdefault(name, set()).add(value)
    return [name for name, known in values.items() if name != group.axis and len(known) > 1]


def _row(
    place: Place, group: Group, metric: str, scale: Scale, declared: Declared, against: str, *, compared: bool
) -> tuple[Cell, ...]:
    by_name = {case.annotation: case for case in place.cases}
    line = [cells.param_cell(place.cases[0], group.axis, declared)]
    for annotation in group.annotations:
        case = by_name.get(annotation)
        line.append(
            Cell((), "", "not known", "it was not asked for here") if case is None else _cell(case, metric, scale)
        )
    if not compared:
        return tuple(line)
    found = place.found
    if found is None:
        told = sum(case.time is not None for case in place.cases) > 1
        why = "the intervals do not tell" if told else "there is nothing to compare"
        return (*line, Cell((), "", "cannot tell", why), Cell(("",), ""), Cell(("",), ""))
    names: Sentence = (phrases.name(found.best),)
    if found.tied:
        names = (*names, ", not to be told from ", *phrases.names(found.tied, " or "))
    lead = found.over(against) if against else found.next
    return (*line, Cell(names, found.best.annotation), *_lead(lead, found.best, found.comparisons))


def _cell(case: Case, metric: str, scale: Scale) -> Cell:
    """Return a case's value, marked where its time is unstable."""
    row = case.metrics.get(metric)
    cell = cells.value_cell(row, scale)
    time = case.time
    if cell.mark or not cell.parts or time is None or time.stable is not False:
        return cell
    return Cell(cell.parts, cell.order, "unstable", f"relative deviation of the time {time.relative_pct:.3g} %")


def _lead(lead: Lead | None, best: Case, comparisons: int) -> tuple[Cell, Cell]:
    if lead is None:  # the baseline itself is the fastest
        return Cell(("",), ""), Cell(("",), "")
    ratio = phrases.times(lead.ratio, lead.other, best)
    interval = phrases.interval(lead.interval, lead.other, best, comparisons=comparisons)
    width = lead.interval.high - lead.interval.low
    mark, why = ("", "") if lead.told else ("cannot tell", "its interval holds 1, or it is within two ticks")
    return Cell((ratio,), lead.ratio.value, mark, why), Cell(interval, width)
