"""How it was measured: scenarios, runs in order, stability, the timer's tick."""

from __future__ import annotations

from reportgen.analysis import groups, sources
from reportgen.analysis.groups import Group
from reportgen.analysis.timer import tick
from reportgen.dossier import charts, keeping, steadiness_table
from reportgen.dossier.gathered import MOST_RANKED, Gathered, heading
from reportgen.dossier.model import Block, Section, Sentence
from reportgen.dossier.text import figure, say, visible


def method(of: Gathered) -> Section:
    """Make the section."""
    blocks = []
    for shown in of.shown:
        group = shown.group
        if not group.measured:
            continue
        made = []
        if any(len(case.runs.get(group.main, {})) >= 2 for case in group.cases) and len(group.cases) <= MOST_RANKED:
            chart_id = f"{shown.id}-runs"
            title, describe = (
                "Runs in the order in which they were taken",
                "Each point is a run, as its distance from its row's mean in percent.",
            )
            drawn = charts.in_order(group, group.main, of.palette, chart_id, title, describe)
            caption = (
                "Each point is one run; the band is ±2 %, within which a row counts as stable. Hollow points belong to unstable rows.",
            )
            most = charts.most_points(sum(len(case.runs.get(group.main, {})) >= 2 for case in group.cases))
            if any(len(case.runs.get(group.main, {})) > most for case in group.cases):
                thin = f" Of a row of more than {most:,} runs the lowest and the highest of each stretch are shown."
                caption = (caption[0] + thin,)
            made.append(of.chart(chart_id, title, describe, caption, drawn))
        table = steadiness_table.stability(group, f"{shown.id}-stability", of.declared(group.benchmark))
        blocks.append(
            Block(
                f"{shown.id}-how",
                f"{visible(group.benchmark)}: {heading(group)}",
                _tick(of, group),
                tuple(made),
                (table,),
            )
        )
    read = of.table[groups.readings(of.table)]
    if len(read):
        table = steadiness_table.readings(read, "readings")
        blocks.append(Block("readings-how", "What the suite's collectors read", (), (), (table,)))
    files = keeping.files_read(of.info)
    lead: Sentence = (*files, *_policy(of))
    return Section("method", "How it was measured", lead, tuple(blocks))


def _policy(of: Gathered) -> Sentence:
    said = {
        "policy.cache": {
            "flush": "Caches were flushed before each kernel and pass.",
            "none": "Caches were left as they were.",
        },
        "policy.clocks": {"base": "Clocks were locked to base.", "none": "Clocks were free."},
    }
    parts = [table.get(str(of.fact(key)), "") for key, table in said.items()]
    return tuple(f" {part}" for part in parts if part)


def _tick(of: Gathered, group: Group) -> Sentence:
    step = tick(of.measurements, group.backend)
    if step is None:
        return ("The timer's tick could not be estimated from so few times.",)
    of.used.add("tick")
    source = sources.call("tick", sources.quoted(group.backend))
    return say(
        "The timer's tick, estimated from all times of this backend here, is {tick}.",
        tick=figure(step, "ns", source),
    )
