"""Why it is so: what limits each kernel, where a profiler read the counters that say it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reportgen.analysis import advice, bottleneck, kernels, roofline
from reportgen.analysis.bottleneck import BUSY_PCT, Verdict
from reportgen.analysis.groups import Case, Group
from reportgen.analysis.roofline import Ceiling, Kind, Point, Points
from reportgen.dossier import advice_table, charts, kernel_table, roofline_table
from reportgen.dossier.findings import phrases
from reportgen.dossier.gathered import Gathered, Shown, heading, scenario
from reportgen.dossier.model import Block, Chart, Figure, Section, Sentence, Table
from reportgen.dossier.text import count, figure, plural, say, scale_for, visible

MOST_POINTS = 60  # in a chart; those that took most time
_UNKNOWN_NAMED = 3


def limits(of: Gathered) -> Section | None:
    """Make the section, or nothing where no group has the counters."""
    blocks = [block for shown in of.shown if (block := _block(of, shown)) is not None]
    if not blocks:
        return None
    judged = any(_verdicts(shown.group) for shown in of.shown)
    lead = say(
        "{rule}This says where to look first, not how much there is to gain.",
        rule=(
            "The busier of SM and memory decides from ",
            _busy(),
            " of its sustained peak on; below that a kernel waits. ",
        )
        if judged
        else (),
    )
    return Section("why", "Why it is so", lead, tuple(blocks))


def _block(of: Gathered, shown: Shown) -> Block | None:
    group = shown.group
    known = _verdicts(group)
    roof = _roofline(of, shown)
    if not known and roof is None:
        return None
    if known:
        of.used |= {"limit", *bottleneck.SM_METRICS, *(share.metric for _, v in known for share in (v.dram, v.memory))}
    limits_chart = (_limits_chart(of, shown, known),) if len(known) > 1 else ()
    drawn = (*limits_chart, *((roof[0],) if roof else ()))
    tables = _kernel_tables(of, shown, (roof[1],) if roof else (), judged=bool(known))
    return Block(f"{shown.id}-why", f"{visible(group.benchmark)}: {heading(group)}", (), drawn, tables)


def _verdicts(group: Group) -> list[tuple[Case, Verdict]]:
    """Return the cases of which the counters say what limits them, each with its verdict."""
    judged = [(case, bottleneck.judge({m: case.value(m) for m in bottleneck.METRICS})) for case in group.cases]
    return [(case, verdict) for case, verdict in judged if verdict.limit != "not known"]


def _busy() -> Figure:
    return figure(BUSY_PCT, "%", "constant:bottleneck.BUSY_PCT")


# What limits


def _limits_chart(of: Gathered, shown: Shown, points: Sequence[tuple[Case, Verdict]]) -> Chart:
    group = shown.group
    kept = _longest([case for case, _ in points])
    chart_id = f"{shown.id}-limits"
    title = "SM against memory throughput"
    describe = "Each point is one annotation and configuration, in one of three regions: compute, memory, latency."
    drawn = charts.limits([one for one in points if one[0] in kept], group, of.palette, chart_id, title, describe)
    caption = say(
        "Each point is one annotation and configuration{axis}, kernels weighed by time; {backend}, {scenario}. Right and low is limited by compute, left and high by memory; below {busy} of both peaks the kernel waits.{cache}{more}",
        axis=f" ({visible(group.axis)} beside it)" if group.axis else "",
        backend=group.backend,
        scenario=scenario(group),
        busy=_busy(),
        cache=" Memory is the busier of DRAM and L2, or DRAM where that is busy; beside a point stands the cache that limits it."
        if any(verdict.level != "DRAM" for _, verdict in points)
        else "",
        more=_not_drawn(len(points) - len(kept)),
    )
    return of.chart(chart_id, title, describe, caption, drawn)


def _longest(cases: Sequence[Case]) -> list[Case]:
    """Return the cases that a chart shows: those that took most time, where there are too many."""
    if len(cases) <= MOST_POINTS:
        return list(cases)
    return sorted(cases, key=lambda case: -(case.time.mean if case.time else 0.0))[:MOST_POINTS]


def _not_drawn(left: int) -> Sentence:
    """Say that a chart leaves cases out: those that took least time."""
    return (" Only those that took most time are drawn.",) if left else ()


def _kernel_tables(of: Gathered, shown: Shown, roof: tuple[Table, ...], *, judged: bool) -> tuple[Table, ...]:
    """Make the tables of a group's kernels: what limits them where they are `judged`, how they were launched, the roofline's, what rules say."""
    group = shown.group
    names = (*kernels.facts(of.samples), *advice.names(of.samples))
    found = kernel_table.chosen(kernels.of_group(of.samples, group, names), group, of.declared(group.benchmark))
    name = f"{shown.id}-kernels.csv"
    of.data.append(kernel_table.data(found, name))
    first = kernel_table.limits(found, f"{shown.id}-kernels", name) if judged else None
    second = kernel_table.launches(found, f"{shown.id}-launches", name, whole=not judged)
    if second is not None:
        of.used |= {column.label for column in second.columns}
    said = advice.of_kinds(of.samples, group, found.every)
    third = advice_table.advice(said, found, f"{shown.id}-rules", f"{shown.id}-rules.csv")
    if third is not None:
        of.data.append(advice_table.data(said, f"{shown.id}-rules.csv"))
    return tuple(table for table in (first, second, *roof, third) if table is not None)


# Roofline


def _roofline(of: Gathered, shown: Shown) -> tuple[Chart, Table] | None:
    """Make the roofline of a group with the table of its points; None where no case has a place in it."""
    group = shown.group
    if of.declared(group.benchmark).ceiling:  # it is on the roof that it sets
        return None
    found = roofline.points(group)
    placed = [point for point in found.points if "DRAM" in point.intensity]
    if not placed:
        return None
    kept = _longest([point.case for point in placed])
    drawn_points = [point for point in placed if point.case in kept]
    ceilings = tuple(_ceilings(of, group, drawn_points))
    tops = [one.of.value for one in ceilings if one.kind == "compute"] or [one.rate.value for one in drawn_points]
    scale = scale_for([max(tops)], roofline.FLOP_RATE)
    chart_id, title = f"{shown.id}-roofline", "Roofline"
    describe = "Each point is one annotation and configuration: its FLOP a second over its FLOP for each byte of DRAM, under the ceilings that are known."
    drawn = charts.roofline(drawn_points, ceilings, group, of.palette, scale, chart_id, title, describe)
    chart = of.chart(chart_id, title, describe, _roofline_caption(group, found, drawn_points, ceilings), drawn)
    of.used |= {"FLOP/byte", "of the roof", "roofline"}
    table = roofline_table.places(
        placed, ceilings, group, f"{shown.id}-roof", chart.data_name, of.declared(group.benchmark)
    )
    return chart, table


def _ceilings(of: Gathered, group: Group, points: Sequence[Point]) -> Iterator[Ceiling]:
    """Yield the ceilings of a group: measured under the same backend, workload and scenario, else rated."""
    same = [
        other
        for other in of.groups
        if (other.suite, other.backend, other.workload, other.scenario)
        == (group.suite, group.backend, group.workload, group.scenario)
    ]
    kinds: tuple[Kind, ...] = ("compute", "memory")
    for kind in kinds:
        setting = [(g, of.declared(g.benchmark).main) for g in same if of.declared(g.benchmark).ceiling == kind]
        ceiling = roofline.measured(kind, setting) or roofline.rated(kind, group, of.provenance)
        if ceiling is not None:
            yield ceiling
    for level in ("L2", "L1"):
        if any(level in point.intensity for point in points):
            ceiling = roofline.rated("memory", group, of.provenance, "L2" if level == "L2" else "L1")
            if ceiling is not None:
                yield ceiling


def _roofline_caption(group: Group, found: Points, points: Sequence[Point], ceilings: Sequence[Ceiling]) -> Sentence:
    main = [one for one in ceilings if one.kind == "compute" or one.level == "DRAM"]
    said: Sentence = ()
    for kind in ("compute", "memory"):
        ceiling = next((one for one in main if one.kind == kind), None)
        said += (" ", *(_said(ceiling) if ceiling else (f"No ceiling of {kind} is known here, and none is drawn.",)))
    return say(
        "FLOP a second over FLOP for each byte of DRAM{axis}; {backend}, {scenario}. {how}{levels}{said}{regions}{left}",
        axis=f" ({visible(group.axis)} beside each)" if group.axis else "",
        backend=group.backend,
        scenario=scenario(group),
        how=_how(points),
        levels=" Smaller points on a thin line count the bytes of L2 and L1 instead."
        if any(len(point.intensity) > 1 for point in points)
        else "",
        said=said,
        regions=(
            " In the tint of memory or compute a point reaches ",
            _busy(),
            " of the roof or more; below, it waits.",
        )
        if len(main) > 1
        else (),
        left=(*_left(found), *_not_drawn(len(found.points) - len(points))),
    )


def _how(points: Sequence[Point]) -> Sentence:
    """Say what was counted: as FLOP, and as bytes."""
    ways = dict.fromkeys(point.how for point in points)
    told = {
        "counters": "those that the profiler counted (additions, multiplications and, twice, fused ones of threads that were on, and the tensor cores' where they ran)",
        "recorded": "those that the suite records of each region",
        "formula": "those of the suite's own formula",
        "counters without tensor cores": "those that the profiler counted, the tensor cores' not among them",
    }
    joined = phrases.series([(told[way],) for way in ways])
    return ("FLOP are ", *joined, "; bytes are what the profiler counted to and from DRAM.")


def _said(ceiling: Ceiling) -> Sentence:
    """Say what a ceiling is and where it comes from."""
    unit = roofline.FLOP_RATE if ceiling.kind == "compute" else roofline.BYTE_RATE
    value = figure(ceiling.of.value, unit, ceiling.of.source)
    if ceiling.case is None:
        return (f"The ceiling of {ceiling.kind} is rated, ", value, f": {ceiling.what}.")
    return (
        f"The ceiling of {ceiling.kind} is measured, ",
        value,
        f": the most that {visible(ceiling.benchmark)} reached, with ",
        phrases.name(ceiling.case),
        ".",
    )


def _left(found: Points) -> Sentence:
    """Say which cases have no place, and why."""
    said: Sentence = ()
    tensor = all(case.value(roofline.TENSOR_BUSY) > 0 for case in found.unknown)
    because = ": tensor cores ran, and their work was not counted" if tensor else ""
    for cases, word in (
        (found.unknown, f"no place, for the FLOP are not known{because}"),
        (found.idle, "no place, for there are no FLOP"),
    ):
        if cases:
            named = list(cases[:_UNKNOWN_NAMED])
            more = len(cases) - len(named)
            last: Sentence = (" and ", count(more, phrases.these(cases[len(named) :])), " more") if more else ()
            verb = plural(len(cases), "has", "have")
            said += (" ", *phrases.names(named, ", " if more else " and "), *last, f" {verb} {word}.")
    return said
