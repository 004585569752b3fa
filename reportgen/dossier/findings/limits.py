"""What limits each annotation, and how sure that is; what fusion saves in bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reportgen.analysis import bottleneck, fusion
from reportgen.analysis.bottleneck import Sureness, Verdict
from reportgen.analysis.fusion import READ
from reportgen.analysis.groups import Case, Group
from reportgen.analysis.sources import call
from reportgen.dossier.findings import phrases
from reportgen.dossier.findings.claims import Claim, Evidence
from reportgen.dossier.model import Sentence
from reportgen.dossier.text import Scale, count, figure, plural, say

MOST_NAMED = 4
MOST_GROUPS = 2


@dataclass(frozen=True, slots=True)
class _Judged:
    """A case with its verdict and how sure that is."""

    case: Case
    verdict: Verdict
    sure: Sureness


def is_limited(of: Evidence) -> Iterator[Claim]:
    """Say what limits each annotation at its largest configuration, and how far that is from another verdict."""
    for group, target in of.shown:
        declared, judged = of.of(group), _judged(group)
        if not judged:
            continue
        one = all(found.case.params == judged[0].case.params for found in judged)
        opening = ("What limits it", *(phrases.at(judged[0].case, declared) if one else ()))
        parts = [_said(found, () if one else phrases.at(found.case, declared)) for found in judged[:MOST_NAMED]]
        more = phrases.limited_to([found.case for found in judged], MOST_NAMED, " in the table")
        figures = (*phrases.series(parts, ", "), *more)
        weight = 76.0 if declared.apart and not declared.main else 62.0
        closing = (
            "The busier of SM and memory decides from ",
            figure(bottleneck.BUSY_PCT, "%", "constant:bottleneck.BUSY_PCT"),
            " of its sustained peak on; below that neither is busy, and latency is what remains.",
        )
        verdicts = "\0".join(f"{found.case.annotation}: {found.verdict.words}, {found.sure}" for found in judged)
        yield Claim("limited", group.benchmark, weight, opening, figures, group, target, closing, verdicts, MOST_GROUPS)


def limits_known(group: Group) -> bool:
    """Tell whether the counters say of any annotation what limits it."""
    return bool(_judged(group))


def _judged(group: Group) -> list[_Judged]:
    found = []
    for annotation in group.annotations:
        case = group.at(annotation)[-1]
        verdict = bottleneck.judge({name: case.value(name) for name in case.metrics})
        if verdict.limit != "not known":
            halves = (case.metrics[share.metric].half for share in (verdict.sm, verdict.memory))
            found.append(_Judged(case, verdict, bottleneck.sure(verdict, *halves)))
    return found


def _said(found: _Judged, at: Sentence) -> Sentence:
    """Say what limits a case, how busy both ends were, and how near another verdict is where it is near."""
    verdict, metrics = found.verdict, found.case.metrics
    sm, dram, memory = (metrics[share.metric] for share in (verdict.sm, verdict.dram, verdict.memory))
    cache = verdict.level != "DRAM" and verdict.limit != "compute"
    return say(
        "{name}{at} by {limit} (SM {sm}, DRAM {dram}{cache}{near})",
        name=phrases.name(found.case),
        at=at,
        limit=f"memory at {verdict.level}" if verdict.cached else verdict.limit,
        sm=phrases.value(sm),
        dram=phrases.value(dram),
        cache=(f", {verdict.level} ", phrases.value(memory)) if cache else (),
        near=_near(found, call("margin", sm.source(), memory.source())),
    )


def _near(found: _Judged, source: str) -> Sentence:
    if found.sure == "clear":
        return ("; both are busy",) if found.verdict.both else ()
    if found.sure == "cannot tell":
        return ("; another limit lies within the intervals",)
    return ("; ", figure(found.verdict.margin, "%", source, Scale("points", 1.0)), " from another limit")


def saves_bytes(of: Evidence) -> Iterator[Claim]:
    """Say how many bytes fewer an annotation reads that launches fewer kernels, and how near that is to the least possible."""
    for group, target in of.shown:
        declared = of.of(group)
        least = fusion.over_least(of.formulas, group.benchmark)
        found = None if declared.apart else fusion.saving(group, least)
        if found is None:
            continue
        fused, separate = found.fused.metrics[READ], found.separate.metrics[READ]
        figures = say(
            "{fused} reads {a}{over} where {separate} reads {b}{other}: {share} fewer, in {k} {word} instead of {m}{at}",
            fused=phrases.name(found.fused),
            a=phrases.value(fused),
            over=_over(found.fused, found.least, first=True),
            separate=phrases.name(found.separate),
            b=phrases.value(separate),
            other=_over(found.separate, found.least, first=False),
            share=figure(found.saved_pct, "%", call("share_saved", fused.source(), separate.source())),
            k=count(fused.kernels, fused.source("NumKernels")),
            word=plural(fused.kernels, "kernel"),
            m=count(separate.kernels, separate.source("NumKernels")),
            at=phrases.at(found.fused, declared) if len(group.rivals()) > 1 else "",
        )
        opening = ("Fusion saves bytes read from DRAM",)
        yield Claim("fused", "", 85 + found.saved_pct / 100, opening, figures, group, target)


def _over(case: Case, least: str, *, first: bool) -> Sentence:
    """Return ` (1.000 times the least)`, nothing where the suite declares no least."""
    row = case.get(least) if least else None
    if row is None:
        return ()
    return (" (", phrases.value(row), " times the least possible)" if first else " times)")
