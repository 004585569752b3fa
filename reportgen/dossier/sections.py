"""The sections of a dossier: one for each benchmark, with a block for each backend and scenario."""

from __future__ import annotations

from reportgen.analysis.groups import Group
from reportgen.analysis.sources import call
from reportgen.analysis.timer import tick
from reportgen.dossier import pivot, result_charts, tables, words
from reportgen.dossier.declared import Declared
from reportgen.dossier.findings import phrases
from reportgen.dossier.gathered import Gathered, Shown, heading, processed_name
from reportgen.dossier.model import Block, Section, Sentence
from reportgen.dossier.result_charts import BlockCharts
from reportgen.dossier.text import count, plural, say, shorten, visible
from reportgen.evidence.bundle import slug

MOST_NAMED = 6


def section(of: Gathered, benchmark: str) -> Section:
    """Make the section of one benchmark."""
    shown = [s for s in of.shown if s.group.benchmark == benchmark]
    declared = of.declared(benchmark)
    question, rest = _question(declared.title)
    drawn = result_charts.of_benchmark(of, shown)
    return Section(
        id=f"b-{slug(benchmark)}",
        title=visible(question or benchmark),
        lead=_lead(shown[0].group, declared),
        blocks=tuple(_block(of, s, drawn[s.id]) for s in shown),
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


def _block(of: Gathered, shown: Shown, drawn: BlockCharts) -> Block:
    group = shown.group
    if not group.measured:
        state, reason = group.why_not
        return Block(shown.id, heading(group), (f"Not measured ({state}): {visible(reason)}.",), (), ())
    declared = of.declared(group.benchmark)
    name = processed_name(group)
    glance = pivot.by_axis(group, f"{shown.id}-sweep", name, declared, tick(of.measurements, group.backend) or 0.0)
    table = tables.results(group, f"{shown.id}-table", name, declared)
    of.used |= {m for case in group.cases for m in case.metrics if case.get(m)} | {
        column.label for column in table.columns
    }
    lead: Sentence = (words.scenario_meaning(group.scenario), " ", words.WORKLOADS.get(group.workload, ""))
    both = (glance, table) if glance is not None else (table,)
    return Block(shown.id, heading(group), lead, drawn.made, both, drawn.seen)
