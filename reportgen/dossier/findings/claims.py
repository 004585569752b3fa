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
    """Put claims together: ahead of all what they share, then the figures of each group under its own name."""
    order = tuple(words.SCENARIOS)
    ordered = sorted(claims, key=lambda c: order.index(c.group.scenario) if c.group.scenario in order else len(order))
    names = [_names(claim, of) for claim in ordered]
    same = [len(set(column)) == 1 for column in zip(*names, strict=True)]
    head = keep_together(", ".join(word for word, one in zip(names[0], same, strict=True) if one and word))
    openings: dict[str, list[_Labelled]] = {}
    for claim, words_of in zip(ordered, names, strict=True):
        label = ", ".join(word for word, one in zip(words_of, same, strict=True) if not one and word)
        openings.setdefault(plain(claim.opening), []).append(_Labelled(claim, keep_together(label)))
    closing: Sentence = ()
    for said in {plain(claim.closing): claim.closing for claim in ordered if claim.closing}.values():
        closing += (*((" ",) if closing else ()), *said)
    sentence, entries = _together(list(openings.values()))
    first = ordered[0]
    return Finding(first.rule, (*((f"{head}: ",) if head else ()), *sentence), first.target, entries, closing)


@dataclass(frozen=True, slots=True)
class _Labelled:
    """A claim with what tells its group from the others of its finding."""

    claim: Claim
    label: str


def _together(openings: Sequence[Sequence[_Labelled]]) -> tuple[Sentence, tuple[Sentence, ...]]:
    """Return what is said of all groups, and what of each: all of it where the groups do not say the same."""
    if len(openings) > 1:
        entries = [entry for some in openings for entry in _entries(some, opened=True)]
        return ("This is not the same everywhere.",), tuple(entries)
    some = openings[0]
    opening, only = some[0].claim.opening, some[0].claim.figures
    if len(some) == 1 and only and not some[0].label:
        return (*opening, ": ", *only, "."), ()
    bare = [one.label for one in some if not one.claim.figures and one.label]
    where = f" ({'; '.join(bare)})" if bare else ""
    return (*opening, f"{where}."), tuple(_entries(some))


def _entries(some: Sequence[_Labelled], *, opened: bool = False) -> Iterator[Sentence]:
    """Yield the figures of each group under its own name; of groups that say the same only the first few give theirs."""
    alike: dict[str, list[_Labelled]] = {}
    for one in some:
        if one.claim.figures or opened:
            alike.setdefault(one.claim.key, []).append(one)
    for those in alike.values():
        most = those[0].claim.most
        for one in those[:most]:
            opening = (*one.claim.opening, *((": ",) if one.claim.figures else ())) if opened else ()
            yield (*((f"{one.label}: ",) if one.label else ()), *opening, *one.claim.figures)
        if more := [one.label for one in those[most:]]:
            yield (f"and so under {listed(more)}",)


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


def largest(group: Group) -> tuple[Case, ...]:
    """Return each annotation's case at its largest configuration that has a time."""
    found = []
    for annotation in group.annotations:
        timed = [case for case in group.at(annotation) if case.time is not None]
        found += timed[-1:]
    return tuple(found)
