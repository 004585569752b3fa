"""What collecting took in each backend and scenario, and the tick of each backend's timer."""

from __future__ import annotations

from collections.abc import Iterator

from reportgen.analysis import effort
from reportgen.analysis.sources import call, quoted
from reportgen.analysis.timer import tick
from reportgen.dossier import words
from reportgen.dossier.findings import phrases
from reportgen.dossier.gathered import Gathered
from reportgen.dossier.model import Block, Cell, Column, Sentence, Table
from reportgen.dossier.text import Scale, count, figure, say, visible

_MS = Scale("ms", 1e6)


def block(of: Gathered) -> Iterator[Block]:
    """Make the block; none where nothing is known of either."""
    tables, ticks = tuple(_cost(of)), _ticks(of)
    if tables or ticks:
        heading = "What collecting took, and the timer's tick" if tables else "The timer's tick"
        yield Block("method-cost", heading, ticks, (), tables)


def _ticks(of: Gathered) -> Sentence:
    """Say each backend's tick once."""
    said, unknown = [], []
    for backend in dict.fromkeys(group.backend for group in of.groups if group.measured):
        step = tick(of.measurements, backend)
        if step is None:
            unknown.append((words.backend(visible(backend)),))
        else:
            source = call("tick", quoted(backend))
            said.append((figure(step, "ns", source), f" under {words.backend(visible(backend))}"))
    sentence: Sentence = ()
    if said:
        of.used.add("tick")
        sentence = say(
            "The timer's tick, estimated from all times of a backend, is {said}. A difference under two ticks is no difference.",
            said=phrases.series(said),
        )
    if unknown:
        space = " " if said else ""
        sentence += say(
            "{space}It could not be estimated under {of}, whose times are too few or no whole numbers."
            if said
            else "{space}The timer's tick could not be estimated under {of}: there are too few times, or they are no whole numbers.",
            space=space,
            of=phrases.series(unknown),
        )
    return sentence


def _cost(of: Gathered) -> Iterator[Table]:
    sensed = of.measurements.sensed
    ran = dict.fromkeys((process.backend, process.scenario) for process in sensed.processes)
    order = list(dict.fromkeys((group.backend, group.scenario) for group in of.groups))
    steps = sorted(ran, key=lambda step: order.index(step) if step in order else len(order))
    if not steps:
        return
    columns = (
        Column("backend"),
        Column("scenario"),
        Column("processes", "", True),
        Column("regions", "", True),
        Column("time", "s", True),
        Column("time of a region", "ms", True),
    )
    rows = []
    for backend, scenario in steps:
        place = (quoted(backend), quoted(scenario))
        numbers = (
            (effort.processes(of.measurements, backend, scenario), "processes"),
            (effort.regions(of.measurements, backend, scenario), "measured regions"),
        )
        seconds = effort.seconds(of.measurements, backend, scenario)
        row = [Cell((words.backend(visible(backend)),), backend), Cell((visible(scenario),), scenario)]
        row += [Cell((count(n, call("count", what, *place)),), n) for n, what in numbers]
        row.append(Cell((figure(seconds, "s", call("measuring", *place)),), seconds))
        row.append(_each(of, backend, scenario))
        rows.append(tuple(row))
    caption = "What measuring took by the processes' own clocks, start-up of Python and of the framework left out. Time of a region is all of that time over the regions: what the suite does between them is in it."
    yield Table("method-effort", caption, columns, tuple(rows))


def _each(of: Gathered, backend: str, scenario: str) -> Cell:
    if not effort.regions(of.measurements, backend, scenario):
        return Cell((), "", "not known", "no region ran")
    each = effort.each(of.measurements, backend, scenario)
    source = call("measuring_each", quoted(backend), quoted(scenario))
    return Cell((figure(each, "ns", source, _MS),), each)
