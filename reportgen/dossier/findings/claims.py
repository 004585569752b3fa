"""What the rules read, what they claim, and how claims become findings: one fact is said once, however many groups show it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from reportgen.analysis.groups import Case, Group
from reportgen.dossier import declared, words
from reportgen.dossier.declared import Declared
from reportgen.dossier.model import Finding, Sentence
from reportgen.dossier.text import keep_together, listed, plain, visible
from reportgen.evidence.bundle import Formula
from reportgen.evidence.provenance import Provenance
from reportgen.evidence.sensed import NOTHING, Sensed

MOST_ENTRIES = 4  # groups whose figures one finding gives; the others are named


@dataclass(frozen=True)
class Evidence:
    """All that the rules read. `shown` holds each group with the id of the block that shows it; `ticks` are in ns by backend."""

    shown: Sequence[tuple[Group, str]]
    facts: Provenance = field(default_factory=lambda: Provenance({}))
    formulas: Sequence[Formula] = ()
    declared: Mapping[str, Declared] = field(default_factory=dict)
    ticks: Mapping[str, float] = field(default_factory=dict)
    sensed: Sensed = NOTHING

    def of(self, group: Group) -> Declared:
        """Return what the suite declares of a group's benchmark."""
        return declared.of(self.declared, group.benchmark)

    def tick(self, group: Group) -> float:
        """Return the tick of a group's backend in ns, 0 where it is not known."""
        return self.ticks.get(group.backend, 0.0)

    def number(self, key: str) -> float | None:
        """Return a fact of provenance that is a number, None where it is none."""
        value = self.facts.get(key).value
        good = isinstance(value, int | float) and not isinstance(value, bool)
        return float(value) if good and value is not None else None

    @property
    def several(self) -> bool:
        """Tell whether there is more than one benchmark, so that a finding must name its own."""
        return len({(group.suite, group.benchmark) for group, _ in self.shown}) > 1

    @property
    def mixed(self) -> bool:
        """Tell whether there is more than one kind of workload, so that a finding must name its own."""
        return len({group.workload for group, _ in self.shown}) > 1


@dataclass(frozen=True, slots=True)
class Claim:
    """What a rule says of one group.

    Claims of one rule that are `about` the same become one finding. What they share is the `opening`, which holds no figure of a
    measurement; `figures` are the group's own. The greater `weight` comes first.
    """

    rule: str
    about: str
    weight: float
    opening: Sentence
    figures: Sentence
    group: Group
    target: str
    closing: Sentence = ()
    key: str = ""  # claims whose openings and keys agree say the same, each with its own figures
    most: int = MOST_ENTRIES
    whole_backend: bool = False  # the figures are of all that the group's backend measured


Rule = Callable[[Evidence], Iterator[Claim]]


def findings(claims: Iterable[Claim], of: Evidence) -> tuple[Finding, ...]:
    """Make findings of claims, the weightiest first."""
    together: dict[tuple[str, str], list[Claim]] = {}
    for claim in claims:
        together.setdefault((claim.rule, claim.about), []).append(claim)
    weighed = [(max(claim.weight for claim in some), _finding(some, of)) for some in together.values()]
    return tuple(finding for _, finding in sorted(weighed, key=lambda pair: -pair[0]))


def _finding(claims: Sequence[Claim], of: Evidence) -> Finding:
    """Put claims together: ahead of all what they share, then each opening once, with the figures of its groups under their own names."""
    order = tuple(words.SCENARIOS)
    ordered = sorted(claims, key=lambda c: order.index(c.group.scenario) if c.group.scenario in order else len(order))
    names = [_names(claim, of) for claim in ordered]
    same = [len(set(column)) == 1 for column in zip(*names, strict=True)]
    head = keep_together(", ".join(word for word, one in zip(names[0], same, strict=True) if one and word))
    openings: dict[str, list[tuple[Claim, str]]] = {}
    for claim, words_of in zip(ordered, names, strict=True):
        label = ", ".join(word for word, one in zip(words_of, same, strict=True) if not one and word)
        openings.setdefault(plain(claim.opening), []).append((claim, keep_together(label)))
    sentence: Sentence = (f"{head}: ",) if head else ()
    for index, some in enumerate(openings.values()):
        sentence += (*((" ",) if index else ()), *some[0][0].opening, *_entries(some), ".")
    closings = {plain(claim.closing): claim.closing for claim in ordered if claim.closing}
    for closing in closings.values():
        sentence += (" ", *closing)
    return Finding(ordered[0].rule, sentence, ordered[0].target)


def _names(claim: Claim, of: Evidence) -> tuple[str, str, str, str]:
    """Return by what a claim's group is told from the others: its benchmark, backend, workload and scenario, in words."""
    group = claim.group
    if claim.whole_backend:
        return ("", visible(words.backend(group.backend)), "", "")
    return (
        visible(group.benchmark) if of.several else "",
        visible(words.backend(group.backend)),
        f"by {visible(group.workload)}" if of.mixed else "",
        visible(words.conditions(group.scenario)),
    )


def _entries(claims: Sequence[tuple[Claim, str]]) -> Sentence:
    """Return the figures of each group under its own name; of groups that say the same only the first few give theirs."""
    if len(claims) == 1 and claims[0][0].figures and not claims[0][1]:
        return (": ", *claims[0][0].figures)
    alike: dict[str, list[tuple[Claim, str]]] = {}
    for claim, label in claims:
        alike.setdefault(claim.key, []).append((claim, label))
    said: Sentence = ()
    for some in alike.values():
        given = [(claim, label) for claim, label in some if claim.figures]
        for claim, label in given[: some[0][0].most]:
            said += ("; " if said else ". ", f"{label}: ", *claim.figures)
        if more := [label for _, label in given[some[0][0].most :]]:
            said += (f"; and so under {listed(more)}",)
    bare = [label for claim, label in claims if not claim.figures and label]
    return (*said, f" ({'; '.join(bare)})") if bare else said


def largest(group: Group) -> tuple[Case, ...]:
    """Return each annotation's case at its largest configuration that has a time."""
    found = []
    for annotation in group.annotations:
        timed = [case for case in group.at(annotation) if case.time is not None]
        found += timed[-1:]
    return tuple(found)
