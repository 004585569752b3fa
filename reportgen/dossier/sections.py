"""The sections of a dossier: one for each benchmark, with a block for each backend and scenario."""

from __future__ import annotations

import math

from reportgen.analysis import groups
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Group
from reportgen.analysis.sources import call
from reportgen.analysis.timer import tick
from reportgen.dossier import charts, pivot, tables, words
from reportgen.dossier.charts import Advantage
from reportgen.dossier.declared import Declared
from reportgen.dossier.findings import phrases
from reportgen.dossier.gathered import MOST_RANKED, Gathered, Shown, capital, heading, processed_name, scenario
from reportgen.dossier.model import Block, Chart, Section, Sentence
from reportgen.dossier.text import count, plural, say, shorten, visible
from reportgen.evidence.bundle import slug

MOST_NAMED = 6


def section(of: Gathered, benchmark: str) -> Section:
    """Make the section of one benchmark."""
    shown = [s for s in of.shown if s.group.benchmark == benchmark]
    declared = of.declared(benchmark)
    question, rest = _question(declared.title)
    return Section(
        id=f"b-{slug(benchmark)}",
        title=visible(question or benchmark),
        lead=_lead(shown[0].group, declared),
        blocks=tuple(_block(of, s) for s in shown),
        note=words.SIDE_BY_SIDE if len(shown) > 1 else "",
        name=visible(benchmark),
        prose="\n\n".join(part for part in (rest, declared.prose) if part),
    )


def _question(title: str) -> tuple[str, str]:
    """Split what a suite asks: the question itself, which makes a heading, and what is said after it."""
    question, mark, rest = title.partition("? ")
    return (f"{question}?", rest) if mark else (title, "")


def _lead(group: Group, declared: Declared) -> Sentence:
    """Say what was measured: the annotations, over what, against which, and how the suite expects it to go."""
    annotations = [shorten(annotation, 40) for annotation in group.annotations[:MOST_NAMED]]
    more = group.annotations[MOST_NAMED:]
    names = phrases.series([(name,) for name in annotations], ", " if more else " and ")
    left: Sentence = ()
    if more:
        cases = [next(case for case in group.cases if case.annotation == annotation) for annotation in more]
        left = (" and ", count(len(more), phrases.these(cases)), " others")
    return say(
        "{n} {word}: {names}{left}{axis}.{against}{shape}",
        n=count(len(group.annotations), call("count", "annotations", *group.words)),
        word=plural(len(group.annotations), "annotation"),
        names=names,
        left=left,
        axis=f", over {visible(group.axis)}" if group.axis else "",
        against=_against(group, declared),
        shape=_expected(group, declared),
    )


def _against(group: Group, declared: Declared) -> Sentence:
    if declared.baseline not in group.annotations:
        return ()
    return (" Each is set against ", shorten(declared.baseline, 40), ", run by run.")


def _expected(group: Group, declared: Declared) -> Sentence:
    """Say in words how the suite expects the main metric to go."""
    axis = declared.axis or group.axis
    if not declared.expect or not axis:
        return ()
    metric = visible(words.label(declared.main or group.main))
    shape = {"rises": "rise with", "falls": "fall with", "flat": "stay level over"}[declared.expect]
    return (f" The suite expects {metric} to {shape} {visible(axis)}.",)


def _block(of: Gathered, shown: Shown) -> Block:
    group = shown.group
    if not group.measured:
        state, reason = group.why_not
        return Block(shown.id, heading(group), (f"Not measured ({state}): {visible(reason)}.",), (), ())
    made = [*_main_charts(of, shown), *_speedup_chart(of, shown), *_bytes_chart(of, shown)]
    declared = of.declared(group.benchmark)
    name = processed_name(group)
    glance = pivot.by_axis(group, f"{shown.id}-sweep", name, declared, tick(of.measurements, group.backend) or 0.0)
    table = tables.results(group, f"{shown.id}-table", name, declared)
    of.used |= {m for case in group.cases for m in case.metrics if case.get(m)} | {
        column.label for column in table.columns
    }
    lead: Sentence = (words.scenario_meaning(group.scenario), " ", words.WORKLOADS.get(group.workload, ""))
    both = (glance, table) if glance is not None else (table,)
    return Block(shown.id, heading(group), lead, tuple(made), both)


def _main_charts(of: Gathered, shown: Shown) -> list[Chart]:
    group = shown.group
    known = [m for m in (group.main, *_leading(of, group)) if any(case.get(m) for case in group.cases)]
    made = []
    for metric in reversed(dict.fromkeys(known)):
        word = words.label(metric)
        chart_id = f"{shown.id}-{slug(word)}"
        if group.axis:
            title = f"{capital(word)} over {group.axis}"
            describe = f"A line for each annotation shows {word} over {group.axis}, with intervals."
            drawn = charts.sweep(group, metric, of.palette, chart_id, title, describe)
        elif 1 < len(group.cases) <= MOST_RANKED:
            title = f"{capital(word)} by annotation"
            describe = f"A point for each annotation and configuration shows {word}, with its interval."
            drawn = charts.ranked(group, metric, of.palette, chart_id, title, describe)
        else:
            continue
        made.append(of.chart(chart_id, visible(title), visible(describe), _caption(group, metric), drawn))
    return made


def _leading(of: Gathered, group: Group) -> list[str]:
    """Return the first derived metric of a group that is a formula's, and the first that is recorded."""
    formulas = {formula.metric for formula in of.info.formulas}
    of_formula = [metric for metric in group.derived if metric in formulas]
    recorded = [metric for metric in group.derived if metric not in formulas]
    return [*recorded[:1], *of_formula[:1]]


def _caption(group: Group, metric: str) -> Sentence:
    rows = [row for case in group.cases if (row := case.get(metric)) is not None]
    least, most = min(rows, key=lambda row: row.runs), max(rows, key=lambda row: row.runs)
    runs: Sentence = (count(least.runs, least.source("NumRuns")),)
    if least.runs != most.runs:
        runs = (*runs, " to ", count(most.runs, most.source("NumRuns")))
    look = (
        "Bars at the points are 95 % intervals"
        if any(not math.isnan(row.half) for row in rows)
        else "There are too few runs for intervals"
    )
    hollow = "; hollow points are unstable (2 % or more)" if any(row.stable is False for row in rows) else ""
    return say(
        "{metric}, mean of {runs} {word}; {backend}, {scenario}. {look}{hollow}.",
        metric=capital(visible(words.label(metric))),
        runs=runs,
        word=plural(most.runs, "run"),
        backend=group.backend,
        scenario=scenario(group),
        look=look,
        hollow=hollow,
    )


def _speedup_chart(of: Gathered, shown: Shown) -> list[Chart]:
    group = shown.group
    if not group.axis or len(group.annotations) < 2:
        return []
    baseline = group.annotations[0]
    found = []
    for cases in group.rivals():
        base = next((case for case in cases if case.annotation == baseline), None)
        for case in cases:
            if base is not None and case is not base and (ratio := groups.ratio(base, case, TIME)) is not None:
                found.append(Advantage(case, base, ratio))
    if not found:
        return []
    chart_id = f"{shown.id}-speedup"
    title = f"Speed against {visible(baseline)} over {visible(group.axis)}"
    describe = f"A line for each annotation shows how many times as fast as {visible(baseline)} it is."
    drawn = charts.speedups(group, found, of.palette, chart_id, title, describe)
    interval = found[0].ratio.interval
    n, unit = (interval.n, interval.unit) if interval else (0, "run")
    source = call("ratio_n", found[0].baseline.metrics[TIME].row, found[0].case.metrics[TIME].row)
    caption = say(
        "Time of {baseline} over the time of each, geometric mean of {kind}runs{n}; {backend}, {scenario}. The line at 1 is {baseline} itself.",
        baseline=shorten(baseline, 40),
        kind="paired " if found[0].ratio.paired else "",
        n=(
            " with 95\u00a0% intervals (n\u00a0=\u00a0",
            count(n, source),
            f" {plural(n, unit, 'processes' if unit == 'process' else '')})",
        )
        if n
        else (),
        backend=group.backend,
        scenario=scenario(group),
    )
    return [of.chart(chart_id, title, describe, caption, drawn)]


def _bytes_chart(of: Gathered, shown: Shown) -> list[Chart]:
    group = shown.group
    read, write = tables.BYTES
    known = [case for case in group.cases if case.get(read) or case.get(write)]
    if not known or len(known) > 16:
        return []
    chart_id = f"{shown.id}-bytes"
    title = "Bytes read from and written to DRAM"
    describe = "Two bars for each annotation and configuration show the bytes read and written."
    drawn = charts.bytes_moved(group, read, write, of.palette, chart_id, title, describe)
    caption = say(
        "Mean bytes between L2 and DRAM; {backend}, {scenario}. Filled bars are bytes read. Bytes written leave out what still lay dirty in L2 when the kernel ended.",
        backend=group.backend,
        scenario=scenario(group),
    )
    return [of.chart(chart_id, title, describe, caption, drawn)]
