"""How fast: which annotation is fastest and by how much, what speed costs in error, and what each reaches where none are rivals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from reportgen.analysis import exactness, fastest
from reportgen.analysis.derive import TIME
from reportgen.analysis.fastest import Fastest, Lead, Place
from reportgen.analysis.groups import Case, Group
from reportgen.dossier.declared import Declared
from reportgen.dossier.findings import phrases
from reportgen.dossier.findings.claims import Claim, Evidence, largest
from reportgen.dossier.findings.conditions import in_bursts
from reportgen.dossier.findings.limits import limits_known
from reportgen.dossier.model import Sentence
from reportgen.dossier.text import count, plural, say, visible

WORTH_SAYING = 0.03
MOST_NAMED = 4


def is_fastest(of: Evidence) -> Iterator[Claim]:
    """Say which annotation is fastest at the largest configuration, how much faster than the baseline and than the next.

    The annotations of a benchmark that its suite sets against none do different work, and none is said to be the fastest.
    """
    for group, target in of.shown:
        declared = of.of(group)
        places = () if declared.apart else fastest.places(group, declared.baseline, of.tick(group))
        found = places[-1].found if places else None
        if found is None or (against := _against(found, declared.baseline)) is None:
            continue
        strength = (9 if declared.baseline else 8) + min(9.0, math.log2(against.ratio.value)) / 10
        opening = say(
            "{best} is the fastest{at}{tied}",
            best=phrases.name(found.best),
            tied=_tied(found.tied),
            at=phrases.at(found.best, declared),
        )
        shown = dict.fromkeys((against.other.annotation, found.next.other.annotation))
        leads = [lead for a in shown if (lead := found.over(a)) is not None and (lead.told or lead is against)]
        figures = say(
            "{time}, {leads}, {n}{elsewhere}",
            time=phrases.time_and_rate(group, found.best, declared),
            leads=phrases.series([_lead(found, lead, first=lead is leads[0]) for lead in leads]),
            n=phrases.over_pairs(against.ratio, against.other, found.best),
            elsewhere=_elsewhere(group, places, found, declared),
        )
        yield Claim("fastest", group.benchmark, 10 * strength, opening, figures, group, target)


def _against(found: Fastest, baseline: str) -> Lead | None:
    """Return the lead that is worth saying: over the baseline, or over the slowest where there is none or it is the best itself."""
    lead = found.over(baseline) or found.leads[-1]
    return lead if lead.told and lead.ratio.value - 1 >= WORTH_SAYING else None


def _lead(found: Fastest, lead: Lead, *, first: bool) -> Sentence:
    low_to_high = phrases.interval(lead.interval, lead.other, found.best, comparisons=found.comparisons)
    return say(
        "{times} times as fast as {other} ({level}{interval})",
        times=phrases.times(lead.ratio, lead.other, found.best),
        other=phrases.name(lead.other),
        level="95\u00a0% CI " if first else "",
        interval=low_to_high,
    )


def _tied(cases: Sequence[Case]) -> Sentence:
    return (", not to be told from ", *phrases.names(cases, " or ")) if cases else ()


def _elsewhere(group: Group, places: Sequence[Place], found: Fastest, declared: Declared) -> Sentence:
    """Say over which part of a sweep the same annotation is the fastest and ahead of the next."""
    if not group.axis or found.tied:
        return ()
    alike: list[Place] = []
    for place in reversed(places):
        if place.found is None or place.found.best.annotation != found.best.annotation or place.found.tied:
            break
        alike.append(place)
    axis = visible(group.axis)
    if len(alike) == len(places):
        return (f", and so at every other {axis}",)
    if len(alike) < 2:
        return ()
    case = alike[-1].cases[0]
    least = phrases.of_parameter(case, group.axis, dict(case.params)[group.axis], declared)
    return (f", and so from {axis}\u00a0=\u00a0", *least, " on")


def costs_error(of: Evidence) -> Iterator[Claim]:
    """Say what a faster annotation gives for its speed where the suite recorded an error beside each."""
    for group, target in of.shown:
        declared, metric = of.of(group), exactness.error_metric(group)
        rivals = [cases for cases in group.rivals() if len(cases) > 1]
        if declared.apart or not metric or not rivals:
            continue
        cases = rivals[-1]
        baseline = declared.baseline or min(cases, key=lambda case: _known(case.value(metric))).annotation
        found = exactness.bargains(cases, baseline, metric)
        if not found:
            continue
        base = next(case for case in cases if case.annotation == baseline)
        opening = say(
            "Speed is bought with {metric}, set against {base}{at}",
            metric=visible(metric),
            base=phrases.name(base),
            at=phrases.at(base, declared),
        )
        parts = [
            say(
                "{name} {speed} times as fast with {error} times the error ({value})",
                name=phrases.name(one.case),
                speed=phrases.times(one.speed, base, one.case),
                error=phrases.times(one.error, one.case, base, metric),
                value=phrases.value(one.case.metrics[metric]),
            )
            for one in found[-MOST_NAMED:]
        ]
        yield Claim("error", group.benchmark, 80, opening, phrases.series(parts), group, target)


def _known(value: float) -> float:
    return math.inf if math.isnan(value) else value


def reaches(of: Evidence) -> Iterator[Claim]:
    """Say what each annotation takes and reaches at its largest configuration, where nothing says that one is the fastest."""
    for group, target in of.shown:
        declared = of.of(group)
        rivals = [cases for cases in group.rivals() if sum(case.time is not None for case in cases) > 1]
        cases = largest(group)
        beside = declared.heat == "sustained" and any(in_bursts(case, group, of) for case in cases)
        if not cases or beside or (rivals and not declared.apart):
            continue
        rated = [case for case in cases if phrases.rate(group, case, declared.main) is not None]
        chosen = rated or (cases if len(cases) == 1 else ())
        if not chosen or (len(chosen) > 1 and not declared.main and limits_known(group)):
            continue
        one = all(case.params == chosen[0].params for case in chosen)
        runs = len({case.metrics[TIME].runs for case in chosen}) == 1
        opening = say(
            "{what}{at}{roof}",
            what="What is reached" if len(chosen) > 1 else ("What ", phrases.name(chosen[0]), " takes"),
            at=phrases.at(chosen[0], declared) if one else "",
            roof=_roof(declared),
        )
        parts = [
            say(
                "{name}{at}{reached}{n}",
                name=(phrases.name(case), " ") if len(chosen) > 1 else "",
                at="" if one else (*phrases.of_configuration(case, declared), " "),
                reached=_reached(group, case, declared),
                n="" if runs else (" (", *phrases.over_runs(case.metrics[TIME]), ")"),
            )
            for case in chosen[:MOST_NAMED]
        ]
        figures = say(
            "{parts}{more}{n}",
            parts=phrases.series(parts, ", "),
            more=phrases.limited_to(chosen, MOST_NAMED),
            n=(", ", *phrases.over_runs(chosen[0].metrics[TIME])) if runs else "",
        )
        weight = 78 if declared.main else 70 if rated else 30
        yield Claim("reached", group.benchmark, weight, opening, figures, group, target)


def _roof(declared: Declared) -> str:
    """Say which measured roof a benchmark sets."""
    roofs = {"compute": "arithmetic", "memory": "bytes moved"}
    return f", the measured roof for {roofs[declared.ceiling]}" if declared.ceiling else ""


def _reached(group: Group, case: Case, declared: Declared) -> Sentence:
    row = case.metrics[TIME]
    said = phrases.time_and_rate(group, case, declared)
    if row.kernels < 2:
        return said
    return (*said, " in ", count(row.kernels, row.source("NumKernels")), f" {plural(row.kernels, 'kernel')}")


def splits(of: Evidence) -> Iterator[Claim]:
    """Say where a region launched more kernels than it did elsewhere."""
    for group, target in of.shown:
        declared = of.of(group)
        for annotation in group.annotations:
            timed = [(case, row) for case in group.at(annotation) if (row := case.time) is not None]
            if len({row.kernels for _, row in timed}) < 2:
                continue
            least = min((row for _, row in timed), key=lambda row: row.kernels)
            more = [(case, row) for case, row in timed if row.kernels > least.kernels]
            opening = say(
                "{name} launches {k} {word} at {where} and {one} elsewhere; their times and bytes are added for each run",
                name=phrases.name(more[0][0]),
                k=_from_to([(row.kernels, row.source("NumKernels")) for _, row in more]),
                word=plural(max(row.kernels for _, row in more), "kernel"),
                where=_where([case for case, _ in more], declared),
                one=count(least.kernels, least.source("NumKernels")),
            )
            yield Claim("kernels", f"{group.benchmark}\0{annotation}", 20, opening, (), group, target)


def _from_to(counts: Sequence[tuple[int, str]]) -> Sentence:
    least, most = min(counts), max(counts)
    return (count(*least),) if least[0] == most[0] else (count(*least), " to ", count(*most))


def _where(cases: Sequence[Case], declared: Declared) -> Sentence:
    named = [phrases.of_configuration(case, declared) for case in cases[:MOST_NAMED]]
    more = phrases.limited_to(cases, MOST_NAMED)
    return (*phrases.series(named, ", " if more else " and "), *more)
