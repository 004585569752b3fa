"""What one backend did under one scenario: its runs in order, what the sensors read meanwhile, and how steady each row was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from reportgen.analysis import sensing
from reportgen.analysis.drift import APART_PCT, DRIFTS_PCT
from reportgen.analysis.sensing import Ends
from reportgen.analysis.sources import call, quoted
from reportgen.analysis.statistics import STABLE_BELOW_PCT
from reportgen.analysis.timer import tick
from reportgen.dossier import steadiness_table, words
from reportgen.dossier.charts import order, sensors
from reportgen.dossier.charts.order import Strip
from reportgen.dossier.findings import phrases
from reportgen.dossier.findings.claims import largest
from reportgen.dossier.gathered import Gathered
from reportgen.dossier.model import Block, Chart, DataFile, Figure, Sentence
from reportgen.dossier.steadiness_table import Line
from reportgen.dossier.text import count, figure, number, plural, say, visible
from reportgen.evidence.bundle import slug

MOST_STRIPS = 24
_TITLE = "Runs in the order in which they were taken"
_SENSED = "Clock, temperature and power while it was measured"


def block(of: Gathered, backend: str, scenario: str) -> Block:
    """Make the block of one backend and scenario, over all its benchmarks."""
    name = f"how-{slug(backend)}-{slug(scenario)}"
    step = tick(of.measurements, backend) or 0.0
    lines = [
        Line(group, case, of.declared(group.benchmark), step)
        for group in of.groups
        if (group.backend, group.scenario) == (backend, scenario) and group.measured
        for case in group.cases
    ]
    of.used |= {"deviation", "first run", "drift"}
    abouts = dict.fromkeys(line.group.main for line in lines)
    tables = []
    for index, about in enumerate(abouts):
        mine = [line for line in lines if line.group.main == about]
        table_id = f"{name}-steady" + (f"-{index + 1}" if index else "")
        metric = about if len(abouts) > 1 else ""
        tables.append(steadiness_table.stability(mine, table_id, metric))
    charts = (*_in_order(of, lines, name, backend, scenario), *_sensed(of, name, backend, scenario))
    return Block(name, _heading(lines, backend, scenario), _told(lines), charts, tuple(tables))


def _heading(lines: Sequence[Line], backend: str, scenario: str) -> str:
    known = {"ncu": "Nsight Compute", "cupti": "CUPTI", "torch": "PyTorch Profiler"}
    workloads = {line.group.workload for line in lines} - {"kernel"}
    by = f", by {next(iter(workloads))}" if len({line.group.workload for line in lines}) == 1 and workloads else ""
    return f"{visible(known.get(backend, backend))}{visible(by)}, {visible(words.conditions(scenario))}: runs in order"


def _told(lines: Sequence[Line]) -> Sentence:
    """Say how many rows are unstable, drift, or begin apart."""
    known = [line for line in lines if line.known is not None]
    kinds = (
        (
            "unstable",
            [line for line in known if line.unstable],
            "constant:statistics.STABLE_BELOW_PCT",
            STABLE_BELOW_PCT,
        ),
        ("drift", [line for line in known if line.drifts], "constant:drift.DRIFTS_PCT", DRIFTS_PCT),
        ("first", [line for line in known if line.first_alone], "constant:drift.APART_PCT", APART_PCT),
    )
    said: list[Sentence] = []
    for kind, some, source, limit in kinds:
        if some:
            said.append(_kind(kind, some, figure(limit, "%", source)))
    if len(known) == 1:
        alone = phrases.series([part[1:] for part in said])
        return say(
            "The only row{said}.", said=alone or " is stable, does not drift, and begins with no run that stands apart"
        )
    whole = count(len(known), _these(known))
    if not said:
        return say("None of {n} rows is unstable, drifts or begins with a run that stands apart.", n=whole)
    return say("Of {n} rows {said}.", n=whole, said=phrases.series(said))


def _kind(kind: str, some: Sequence[Line], limit: Figure) -> Sentence:
    n, one = count(len(some), _these(some)), len(some) == 1
    match kind:
        case "unstable":
            return (n, " is" if one else " are", " unstable (", limit, " or more)")
        case "drift":
            return (
                n,
                " drifts" if one else " drift",
                " from the first run of a process to its last (by ",
                limit,
                " or more)",
            )
    return (n, " begins" if one else " begin", " with a run that stands apart (by ", limit, " or more)")


def _these(lines: Iterable[Line]) -> str:
    return call("count", "these", *(line.row.row for line in lines if line.row is not None))


def _in_order(of: Gathered, lines: Sequence[Line], name: str, backend: str, scenario: str) -> Iterator[Chart]:
    """Make the chart of the rows of which something is to be told, and of each annotation's largest configuration."""
    drawn = [line for line in lines if line.known is not None and len(line.runs) >= 2]
    chosen = _chosen(drawn)
    if not chosen:
        return
    strips = [_strip(line, _above(line, chosen)) for line in chosen]
    describe = (
        "Each point is a run, as its distance from its row's mean in percent; what drifts is said at the row's end."
    )
    made = order.in_order(strips, of.palette, f"{name}-runs", _TITLE, describe)
    most = order.most_points(len(strips))
    thin = any(len(line.runs) > most for line in chosen)
    caption = say(
        "Each point is one run, joined within a process; the band is ±{limit}, within which a row counts as stable. {hollow}{which}; {backend}, {scenario}.{thin}",
        limit=figure(STABLE_BELOW_PCT, "%", "constant:statistics.STABLE_BELOW_PCT"),
        hollow="Hollow points belong to unstable rows. " if any(line.unstable for line in chosen) else "",
        which=_which(chosen, drawn),
        backend=words.backend(visible(backend)),
        scenario=visible(words.conditions(scenario)),
        thin=f" Of a row of more than {most:,} runs the lowest and the highest of each stretch are shown."
        if thin
        else "",
    )
    yield of.chart(f"{name}-runs", _TITLE, describe, caption, made)


def _chosen(lines: Sequence[Line]) -> list[Line]:
    """Choose the rows to draw, in the table's order: those of which something is told before the main ones of the others."""
    main = {id(case) for group in dict.fromkeys(line.group.words for line in lines) for case in _largest(lines, group)}
    told = sorted(
        (line for line in lines if line.told), key=lambda line: -line.known.relative_pct if line.known else 0.0
    )
    others = [line for line in lines if id(line.case) in main and not line.told]
    if len(lines) <= MOST_STRIPS // 2:
        others = [line for line in lines if not line.told]
    kept = {id(line) for line in [*told, *others][:MOST_STRIPS]}
    return [line for line in lines if id(line) in kept]


def _largest(lines: Sequence[Line], group: tuple[str, ...]) -> tuple[object, ...]:
    return largest(next(line.group for line in lines if line.group.words == group))


def _which(chosen: Sequence[Line], drawn: Sequence[Line]) -> Sentence:
    n, all_of = count(len(chosen), _these(chosen)), count(len(drawn), _these(drawn))
    if len(chosen) == len(drawn):
        return ("All ", all_of, f" {plural(len(drawn), 'row')}") if len(drawn) > 1 else ("The only row",)
    return (
        "Shown are ",
        n,
        " of ",
        all_of,
        " rows: those of which something is to be told, and the main ones of the others",
    )


def _above(line: Line, chosen: Sequence[Line]) -> str:
    """Return what tells a row's group from others of the chart, empty where there is one group."""
    said = [line.group.benchmark] if len({one.group.benchmark for one in chosen}) > 1 else []
    said += [f"by {line.group.workload}"] if len({one.group.workload for one in chosen}) > 1 else []
    return visible(", ".join(said))


def _strip(line: Line, heading: str) -> Strip:
    return Strip(
        heading,
        line.case,
        line.runs,
        line.known.stable if line.known else None,
        line.drift if line.drifts else None,
        line.first if line.first_alone else None,
    )


def _sensed(of: Gathered, name: str, backend: str, scenario: str) -> Iterator[Chart]:
    """Make the chart of what the sensors read, with its data in a file beside the page."""
    processes = sensing.of_step(of.measurements.sensed, backend, scenario)
    rated = of.fact("clocks.sm_rated_hz")
    rated_hz = float(rated) if isinstance(rated, int | float) and not isinstance(rated, bool) else None
    chart_id = f"{name}-sensors"
    describe = "A line for each process shows the SM clock, the temperature and the power that NVML read before and after each region."
    drawn = sensors.over_time(processes, rated_hz, chart_id, _SENSED, describe)
    if drawn is None:
        return
    data = DataFile(f"{chart_id}.csv", f"The data of the chart “{_SENSED}”.", drawn.data, inline=False)
    of.data.append(data)
    caption = say(
        "{ranges}, as NVML read them before and after each region; {backend}, {scenario}.{held}{left}",
        ranges=_ranges(of, backend, scenario),
        backend=words.backend(visible(backend)),
        scenario=visible(words.conditions(scenario)),
        held=_held(of, backend, scenario),
        left=f" The first {sensors.MOST_PROCESSES} processes are drawn; the data hold all."
        if len(processes) > sensors.MOST_PROCESSES
        else "",
    )
    yield Chart(chart_id, _SENSED, describe, drawn.panels, caption, data.name)


def _ranges(of: Gathered, backend: str, scenario: str) -> Sentence:
    place = (quoted(backend), quoted(scenario))
    found = (
        ("SM clock", "sm_clock", "hz", sensing.clock(of.measurements, backend, scenario)),
        ("temperature", "temperature", "°C", sensing.temperature(of.measurements, backend, scenario)),
        ("power", "power", "W", sensing.power(of.measurements, backend, scenario)),
    )
    said = []
    for word, function, unit, ends in found:
        if ends.known:
            said.append((f"{word} ", *_ends(ends, unit, function, place)))
    first, *others = phrases.series(said, ", ")
    return (str(first)[:1].upper() + str(first)[1:], *others)


def _ends(ends: Ends, unit: str, function: str, place: tuple[str, str]) -> Sentence:
    low, high = (
        _sensed_figure(v, unit, call(f"{function}_{w}", *place))
        for v, w in ((ends.least, "least"), (ends.most, "most"))
    )
    return (low,) if low.text == high.text else (low, " to ", high)


def _sensed_figure(value: float, unit: str, source: str) -> Figure:
    if unit == "hz":
        return phrases.megahertz(value, source)
    return Figure(value, number(value, 0), unit, f"{value:.12g} {unit}", source)


def _held(of: Gathered, backend: str, scenario: str) -> Sentence:
    regions = sensing.regions_held_back(of.measurements, backend, scenario)
    if not regions:
        return (" Power and heat held nothing back.",) if _masks(of, backend, scenario) else ()
    n = count(regions, call("count", "regions held back", quoted(backend), quoted(scenario)))
    return (" Power or heat held the GPU back around ", n, f" {plural(regions, 'region')}.")


def _masks(of: Gathered, backend: str, scenario: str) -> bool:
    """Tell whether NVML said anything of throttling."""
    processes = sensing.of_step(of.measurements.sensed, backend, scenario)
    return any(region.after.throttle is not None for part in processes.values() for region in part)
