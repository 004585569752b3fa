"""Which charts show what a benchmark gave, in which order, and what stands under each.

The suite's main metric first, then the time, then what only some benchmarks have: error against speed, the bytes moved against
the least, the speed against the baseline. What is the same for all annotations is a bound and no result, and what a formula
reads is what went into a result: neither has a chart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reportgen.analysis import derive, exactness, fusion, groups
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Case, Group, Measured
from reportgen.analysis.processed import of_the_machine
from reportgen.analysis.sources import call
from reportgen.dossier import charts, tables, words
from reportgen.dossier.charts import Advantage, Panel, Regions, Sheet
from reportgen.dossier.declared import Declared
from reportgen.dossier.gathered import MOST_RANKED, Gathered, Shown, capital, scenario
from reportgen.dossier.model import Chart, Sentence
from reportgen.dossier.text import count, figure, plural, say, shorten, visible
from reportgen.evidence.bundle import slug

MOST = 4  # charts of a block
MOST_PANELS = 6  # of a chart
MOST_OF_BYTES = 16  # cases without a least that a chart of bytes shows


@dataclass(frozen=True)
class BlockCharts:
    """The charts of a block; `seen` are the ids of those of another block that show its rows too."""

    made: tuple[Chart, ...] = ()
    seen: tuple[str, ...] = ()


@dataclass
class _Told:
    """The charts of a benchmark while they are made, by the ids of their blocks."""

    made: dict[str, list[Chart]] = field(default_factory=dict)
    seen: dict[str, list[str]] = field(default_factory=dict)


def of_benchmark(of: Gathered, shown: Sequence[Shown]) -> Mapping[str, BlockCharts]:
    """Return the charts of each block of one benchmark, by the block's id.

    The scenarios of one backend and workload stand in one chart beside one another, under the first of them.
    """
    told = _Told({s.id: [] for s in shown}, {s.id: [] for s in shown})
    kinds: dict[tuple[str, str], list[Shown]] = {}
    for one in shown:
        if one.group.measured:
            kinds.setdefault((one.group.backend, one.group.workload), []).append(one)
    for together in kinds.values():
        for metric in _metrics(of, together):
            for alike in _alike(together, metric):
                chart = _metric_chart(of, alike, metric)
                if chart is not None:
                    told.made[alike[0].id].append(chart)
                    for other in alike[1:]:
                        told.seen[other.id].append(chart.id)
        for one in together:
            mine = told.made[one.id]
            mine += [*_error_chart(of, one), *_bytes_chart(of, one), *_speedup_chart(of, one)]
            del mine[MOST:]
    return {s.id: BlockCharts(tuple(told.made[s.id]), tuple(told.seen[s.id])) for s in shown}


def _metrics(of: Gathered, together: Sequence[Shown]) -> list[str]:
    """Return what has a chart of its own: the metric that the benchmark is about, and the time."""
    group = together[0].group
    declared = of.declared(group.benchmark)
    found = [speed_metric(g.group, declared) for g in together]
    results = [*found, *(m for g in together for m in (g.group.main, *_recorded(of, g.group)))]
    return list(dict.fromkeys(m for m in results if m and _is_result(of, together, m)))


def speed_metric(group: Group, declared: Declared) -> str:
    """Return the metric that says best how fast a group is: the suite's main one, else the first rate, else what it is about."""
    known = {m: row.unit for case in group.cases for m, row in case.metrics.items() if row.known}
    rates = [metric for metric in group.derived if known[metric].endswith("/s")]
    return next((metric for metric in (declared.main, *rates) if metric in known), group.main)


def _recorded(of: Gathered, group: Group) -> list[str]:
    """Return the first metric that the suite recorded as a result; an error stands against the speed, in a chart of its own."""
    formulas = _formulas(of, group.benchmark)
    inputs = {name for expression in formulas.values() for name in expression.names}
    recorded = [m for m in group.derived if m not in formulas and m not in inputs]
    return [m for m in recorded if m != exactness.error_metric(group)][:1]


def _formulas(of: Gathered, benchmark: str) -> dict[str, derive.Expression]:
    mine = [formula for formula in of.info.formulas if formula.benchmark in ("", benchmark)]
    return {formula.metric: derive.parse(formula.metric, formula.formula) for formula in mine}


def _is_result(of: Gathered, together: Sequence[Shown], metric: str) -> bool:
    """Tell whether a metric was measured at all: what parameters alone say is a bound, and so is what no annotation changes."""
    if not any(case.get(metric) for shown in together for case in shown.group.cases):
        return False
    group = together[0].group
    expression = _formulas(of, group.benchmark).get(metric)
    if expression is not None:
        given = {name for case in group.cases for name, _ in case.params} | {derive.RATED_BANDWIDTH}
        return bool(expression.names - given)
    if "__" in metric:
        return True
    shared = [{case.value(metric) for case in cases} for s in together for cases in s.group.rivals() if len(cases) > 1]
    return not shared or any(len(values) > 1 for values in shared)


def _alike(together: Sequence[Shown], metric: str) -> list[list[Shown]]:
    """Put groups whose panels can stand in one chart together: they go over the same axis, or have few configurations."""
    able = [s for s in together if any(case.get(metric) for case in s.group.cases)]
    panels = sum(len(_configurations(s.group)) for s in able)
    same = len({s.group.axis for s in able}) == 1 and (bool(able[0].group.axis) or panels <= MOST_PANELS)
    return [able] if able and same and len(able) <= MOST_PANELS else [[s] for s in able]


def _configurations(group: Group) -> list[tuple[Case, ...]]:
    """Return the cases of each panel: of each configuration by itself where several annotations share each of a few."""
    rivals = [cases for cases in group.rivals() if cases]
    apart = 1 < len(rivals) <= MOST_PANELS and len(group.annotations) > 1 and all(len(c) > 1 for c in rivals)
    return list(rivals) if apart and not group.axis else [group.cases]


def _panels(of: Gathered, alike: Sequence[Shown]) -> list[Panel]:
    """Return the panels of a chart of several groups or configurations, each under its heading."""
    found = []
    for shown in alike:
        group = shown.group
        units = of.declared(group.benchmark).units
        parts = _configurations(group)
        varying = _varying(group)
        for cases in parts:
            heads = [visible(words.conditions(group.scenario))] if len(alike) > 1 else []
            heads += [charts.configuration_of(cases[0], units, varying)] if len(parts) > 1 else []
            found.append(Panel(", ".join(heads), group, cases))
    return found


def _sheet(of: Gathered, benchmark: str, chart_id: str, title: str, describe: str) -> Sheet:
    return Sheet(of.palette, chart_id, visible(title), visible(describe), of.declared(benchmark).units)


def _metric_chart(of: Gathered, alike: Sequence[Shown], metric: str) -> Chart | None:
    group = alike[0].group
    word = words.label(metric)
    chart_id = f"{alike[0].id}-{slug(word)}"
    panels = _panels(of, alike)
    if group.axis:
        title = f"{capital(word)} over {group.axis}"
        describe = f"A line for each annotation shows {word} over {group.axis}, with intervals."
        sheet = _sheet(of, group.benchmark, chart_id, title, describe)
        behind = _regions(of, alike, metric)
        drawn = charts.sweep(panels, metric, sheet, behind)
        look = (*_shared(alike, panels, metric, axis=True), *_behind(of, behind))
    elif 1 < len(group.cases) <= MOST_RANKED or len(alike) > 1:
        title = f"{capital(word)} by {_by(group)}"
        describe = f"A point for each annotation and configuration shows {word}, with its interval."
        sheet = _sheet(of, group.benchmark, chart_id, title, describe)
        drawn = charts.ranked(panels, metric, sheet)
        look = _shared(alike, panels, metric, axis=False)
    else:
        return None
    caption = (*_caption([shown.group for shown in alike], metric), *look)
    return of.chart(chart_id, sheet.title, sheet.describe, caption, drawn)


def _by(group: Group) -> str:
    if len(group.annotations) > 1:
        return "annotation"
    varying = _varying(group)
    return visible(varying[0]) if len(varying) == 1 else "configuration"


def _varying(group: Group) -> list[str]:
    """Return the parameters that tell the cases of a group apart, in their order."""
    values: dict[str, set[object]] = {}
    for case in group.cases:
        known = dict(case.params)
        for name in charts.params(group.cases):
            values.setdefault(name, set()).add(known.get(name))
    return [name for name, found in values.items() if len(found) > 1]


def _regions(of: Gathered, alike: Sequence[Shown], metric: str) -> Regions:
    l2 = of.fact("gpu.l2_bytes")
    size = float(l2) if isinstance(l2, int | float) and not isinstance(l2, bool) else 0.0
    rated = of_the_machine(of.provenance).get(derive.RATED_BANDWIDTH, 0.0)
    units = of.declared(alike[0].group.benchmark).units
    return charts.regions([shown.group for shown in alike], metric, units, size, rated)


def _behind(of: Gathered, behind: Regions) -> Sentence:
    """Say what stands behind a chart of a rate."""
    said: Sentence = ()
    if behind.edge:
        said += say(
            " Shaded at the left is where all that a region moves fits the L2 of {size}, and at the right where DRAM must serve it.",
            size=figure(float(str(of.fact("gpu.l2_bytes"))), "byte", "provenance:gpu.l2_bytes"),
        )
    if behind.rated:
        said += (" The thin line is the bandwidth by the memory's rated clock and bus width.",)
    return said


def _shared(alike: Sequence[Shown], panels: Sequence[Panel], metric: str, *, axis: bool) -> Sentence:
    """Say what the panels of a chart are, and whether they share their axes."""
    if len(panels) < 2:
        return ()
    one = axis or charts.share_an_axis(charts.tops(panels, metric))
    return (_each_panel(alike, panels, one=one),)


def _each_panel(alike: Sequence[Shown], panels: Sequence[Panel], *, one: bool) -> str:
    what = (
        "configuration" if len(alike) < 2 else "scenario" if len(panels) == len(alike) else "scenario and configuration"
    )
    return f" Each panel is one {what}, {'all on the same axes' if one else 'with an axis of its own'}."


def _caption(of_groups: Sequence[Group], metric: str) -> Sentence:
    rows = [row for group in of_groups for case in group.cases if (row := case.get(metric)) is not None]
    look = (
        "Bars at the points are 95 % intervals"
        if any(not math.isnan(row.half) for row in rows)
        else "There are too few runs for intervals"
    )
    hollow = "; hollow points are unstable (2 % or more)" if any(row.stable is False for row in rows) else ""
    return say(
        "{metric}, mean of {runs}; {under}. {look}{hollow}.",
        metric=capital(visible(words.label(metric))),
        runs=_runs(rows),
        under=_under(of_groups),
        look=look,
        hollow=hollow,
    )


def _runs(rows: Sequence[Measured]) -> Sentence:
    """Say over how many runs rows are means: `10 runs`, or `8 to 10 runs`."""
    least, most = min(rows, key=lambda row: row.runs), max(rows, key=lambda row: row.runs)
    runs: Sentence = (count(least.runs, least.source("NumRuns")),)
    if least.runs != most.runs:
        runs = (*runs, " to ", count(most.runs, most.source("NumRuns")))
    return (*runs, f" {plural(most.runs, 'run')}")


def _under(of_groups: Sequence[Group]) -> str:
    """Say under which backend and scenarios groups were measured."""
    if len(of_groups) == 1:
        return f"{of_groups[0].backend}, {scenario(of_groups[0])}"
    named = [visible(group.scenario) for group in of_groups]
    return f"{of_groups[0].backend}, scenarios {', '.join(named[:-1])} and {named[-1]}"


def _error_chart(of: Gathered, shown: Shown) -> list[Chart]:
    group = shown.group
    error, speed = exactness.error_metric(group), speed_metric(group, of.declared(group.benchmark))
    both = [case for case in group.cases if case.get(error) is not None and case.get(speed) is not None]
    if not error or len({case.annotation for case in both}) < 2 or not any(case.value(error) > 0 for case in both):
        return []
    fast = "left" if speed == TIME else "right"
    chart_id = f"{shown.id}-error"
    title = f"{capital(error)} against {words.label(speed)}"
    describe = (
        f"A point for each annotation and configuration shows {error} over {words.label(speed)}: what speed costs."
    )
    sheet = _sheet(of, group.benchmark, chart_id, title, describe)
    drawn = charts.error_against_speed(group, speed, error, sheet)
    joined = (
        f" A thin line joins one annotation's points over {visible(group.axis)}; its largest is named."
        if group.axis
        else ""
    )
    caption = say(
        "{error} as the suite recorded it, over {speed}, means of {runs}; {under}. Further {fast} is faster, lower is more exact.{joined}",
        error=capital(visible(error)),
        speed=visible(words.label(speed)),
        runs=_runs([case.metrics[error] for case in both]),
        under=_under([group]),
        fast=fast,
        joined=joined,
    )
    return [of.chart(chart_id, sheet.title, sheet.describe, caption, drawn)]


def _bytes_chart(of: Gathered, shown: Shown) -> list[Chart]:
    group = shown.group
    read, write = tables.BYTES
    known = [case for case in group.cases if case.get(read) or case.get(write)]
    over_least = fusion.over_least(of.info.formulas, group.benchmark)
    if not known or len(known) > (MOST_RANKED if over_least else MOST_OF_BYTES):
        return []
    chart_id = f"{shown.id}-bytes"
    title = "Bytes read from and written to DRAM"
    describe = "Two bars for each annotation and configuration show the bytes read and written."
    if over_least:
        title += ", and the least"
        describe += " A mark stands at the least that must be read."
    panels = _panels(of, [shown])
    sheet = _sheet(of, group.benchmark, chart_id, title, describe)
    drawn = charts.bytes_moved(panels, read, write, over_least, sheet)
    caption = say(
        "Mean bytes between L2 and DRAM over {runs}; {under}. Filled bars are bytes read{mark}. Bytes written leave out what still lay dirty in L2 when the kernel ended.{panels}",
        runs=_runs([row for case in known for m in (read, write) if (row := case.get(m)) is not None]),
        under=_under([group]),
        mark="; the mark is the least that must be read" if over_least else "",
        panels=_each_panel([shown], panels, one=charts.share_an_axis(charts.tops(panels, read, write)))
        if len(panels) > 1
        else "",
    )
    return [of.chart(chart_id, sheet.title, sheet.describe, caption, drawn)]


def _speedup_chart(of: Gathered, shown: Shown) -> list[Chart]:
    group, declared = shown.group, of.declared(shown.group.benchmark)
    if not group.axis or len(group.annotations) < 2 or declared.apart:
        return []
    baseline = declared.baseline if declared.baseline in group.annotations else group.annotations[0]
    found = list(_advantages(group, baseline))
    if not found:
        return []
    chart_id = f"{shown.id}-speedup"
    title = f"Speed against {baseline} over {group.axis}"
    describe = f"A line for each annotation shows how many times as fast as {baseline} it is."
    sheet = _sheet(of, group.benchmark, chart_id, title, describe)
    drawn = charts.speedups(group, found, sheet)
    interval = found[0].ratio.interval
    n, unit = (interval.n, interval.unit) if interval else (0, "run")
    source = call("ratio_n", found[0].baseline.metrics[TIME].row, found[0].case.metrics[TIME].row)
    caption = say(
        "Time of {baseline} over the time of each, geometric mean of {kind}runs{n}; {under}. The line at 1 is {baseline} itself.",
        baseline=shorten(baseline, 40),
        kind="paired " if found[0].ratio.paired else "",
        n=(
            " with 95\u00a0% intervals (n\u00a0=\u00a0",
            count(n, source),
            f" {plural(n, unit, 'processes' if unit == 'process' else '')})",
        )
        if n
        else (),
        under=_under([group]),
    )
    return [of.chart(chart_id, sheet.title, sheet.describe, caption, drawn)]


def _advantages(group: Group, baseline: str) -> Iterable[Advantage]:
    for cases in group.rivals():
        base = next((case for case in cases if case.annotation == baseline), None)
        for case in cases:
            if base is not None and case is not base and (ratio := groups.ratio(base, case, TIME)) is not None:
                yield Advantage(case, base, ratio)
