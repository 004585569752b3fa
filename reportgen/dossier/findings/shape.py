"""What a sweep shows: whether it goes as the suite expects, and where it leaves the L2; cold beside warm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reportgen.analysis import sweep
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Case, Group
from reportgen.analysis.sweep import Course
from reportgen.dossier import words
from reportgen.dossier.declared import Declared
from reportgen.dossier.findings import phrases
from reportgen.dossier.findings.claims import Claim, Evidence
from reportgen.dossier.model import Sentence
from reportgen.dossier.text import figure, say, shorten, visible

MOST_NAMED = 4
# Scenarios that differ in nothing but the cache: the cold one, then the warm.
COLD_AND_WARM = (("default", "continuous"), ("strict", "continuous-strict"))
_WHY: Sentence = (
    "What fits the L2 may be served from there when it is warm; beyond it a warm cache may cost time, as its dirty lines must be written back first.",
)


def goes_as_expected(of: Evidence) -> Iterator[Claim]:
    """Say whether the main metric goes along the axis as the suite expects, and where it does not."""
    for group, target in of.shown:
        declared = of.of(group)
        metric = declared.main or TIME
        if not declared.expect or (declared.axis and declared.axis != group.axis):
            continue
        courses = sweep.courses(group, metric, declared.expect)
        if not courses:
            continue
        broken = [course for course in courses if course.breaks]
        expected = {"rises": "rise", "falls": "fall", "flat": "stay level"}[declared.expect]
        opening = say(
            "{metric} was expected to {expected} with {axis} and {does}",
            metric=visible(words.label(metric)),
            expected=expected,
            axis=visible(group.axis),
            does="does" if not broken else "does not everywhere" if len(broken) < len(courses) else "does not",
        )
        parts = [_break(course, metric, declared) for course in broken[:MOST_NAMED]]
        figures = phrases.series(parts, ", ")
        if broken:
            yield Claim("shape", group.benchmark, 72, opening, figures, group, target)
        else:
            yield Claim("shape", group.benchmark, 35, opening, _ends(courses, metric), group, target)


def _break(course: Course, metric: str, declared: Declared) -> Sentence:
    step = course.breaks[0]
    return say(
        "{name} goes from {a} at {first} to {b} at {then}",
        name=shorten(course.annotation, phrases.LONGEST_NAME),
        a=phrases.value(step.before.metrics[metric]),
        first=phrases.of_configuration(step.before, declared),
        b=phrases.value(step.after.metrics[metric]),
        then=phrases.of_configuration(step.after, declared),
    )


def _ends(courses: Sequence[Course], metric: str) -> Sentence:
    """Return where each course begins and ends."""
    parts = [
        say(
            "{name} from {a} to {b}",
            name=shorten(course.annotation, phrases.LONGEST_NAME),
            a=phrases.value(course.cases[0].metrics[metric]),
            b=phrases.value(course.cases[-1].metrics[metric]),
        )
        for course in courses[:MOST_NAMED]
    ]
    more = [course.cases[-1] for course in courses]
    return (*phrases.series(parts, ", "), *phrases.limited_to(more, MOST_NAMED))


def leaves_cache(of: Evidence) -> Iterator[Claim]:
    """Say between which sizes of a sweep the rate falls because what is moved no longer fits the L2."""
    size = of.number("gpu.l2_bytes")
    for group, target in of.shown:
        found = sweep.leaves_l2(group, size) if size else ()
        if not found:
            continue
        assert size is not None
        declared = of.of(group)
        opening = say(
            "The rate falls where what is moved outgrows the L2 of {size}",
            size=figure(size, "byte", "provenance:gpu.l2_bytes"),
        )
        parts = [
            say(
                "{name} from {a} at {first} to {b} at {then}",
                name=phrases.name(left.last),
                a=phrases.value(left.last.metrics[left.rate]),
                first=phrases.of_configuration(left.last, declared),
                b=phrases.value(left.first.metrics[left.rate]),
                then=phrases.of_configuration(left.first, declared),
            )
            for left in found[:MOST_NAMED]
        ]
        yield Claim("l2", group.benchmark, 74, opening, phrases.series(parts, ", "), group, target)


def cold_and_warm(of: Evidence) -> Iterator[Claim]:
    """Set the times of one annotation with caches flushed and kept side by side, at the smallest and the largest configuration.

    Either may be the shorter. They are two scenarios, and nothing is computed from one to the other.
    """
    by_place = {(g.benchmark, g.backend, g.workload, g.scenario): (g, target) for g, target in of.shown}
    for cold, warm in COLD_AND_WARM:
        for (benchmark, backend, workload, scenario), (group, target) in by_place.items():
            other = by_place.get((benchmark, backend, workload, warm))
            if scenario != cold or other is None:
                continue
            pairs = _pairs(group, other[0])
            if not pairs:
                continue
            opening = say("Cold and warm caches stand side by side for {name}", name=phrases.name(pairs[0][0]))
            declared = of.of(group)
            yield Claim("cache", benchmark, 64, opening, _both(pairs, 0, declared), group, target, _WHY)
            yield Claim("cache", benchmark, 64, opening, _both(pairs, 1, declared), *other)


def _pairs(cold: Group, warm: Group) -> list[tuple[Case, Case]]:
    """Return the smallest and the largest configuration of the first annotation that both scenarios measured."""
    for annotation in cold.annotations:
        others = {case.params: case for case in warm.at(annotation) if case.time is not None}
        pairs = [(c, others[c.params]) for c in cold.at(annotation) if c.time is not None and c.params in others]
        if pairs:
            return pairs if len(pairs) < 2 else [pairs[0], pairs[-1]]
    return []


def _both(pairs: Sequence[tuple[Case, Case]], which: int, declared: Declared) -> Sentence:
    parts = [(phrases.value(pair[which].metrics[TIME]), *phrases.at(pair[which], declared)) for pair in pairs]
    return phrases.series(parts)
