"""In what two sides of a comparison differ besides what was measured: the facts of their provenance, and the suite's source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from reportgen.analysis.series import Collected
from reportgen.evidence.bundle import DIGEST_SHOWN
from reportgen.evidence.provenance import KEYS, SUITE, Fact, Key, key_of

Kind = Literal["differs", "not recorded in OLD", "not recorded in NEW"]

# They differ between any two collections and say nothing of what was measured.
_ALWAYS = ("collection.", "temperature.", "power.before", "power.during", "power.after", "command.")
_GONE = "not there"


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact in which two sides differ: every value that each of them has, none where it was not recorded.

    The values of a `sensitive` one name a person, a machine or a place in it. `usual` is one that differs between any two
    collections.
    """

    key: Key
    kind: Kind
    old: tuple[str, ...]
    new: tuple[str, ...]
    usual: bool = False

    @property
    def sensitive(self) -> bool:
        """Tell whether the values are for the machine's owner alone."""
        return self.key.sensitive


def differences(old: Sequence[Collected], new: Sequence[Collected]) -> tuple[Difference, ...]:
    """Return in what two sides differ, in the order of a dossier's provenance; the suite's source stands in its place."""
    names = dict.fromkeys([key.name for key in KEYS])
    names |= dict.fromkeys(name for one in (*old, *new) for name in one.facts.facts)
    found = [_fact(key_of(name), old, new) for name in names]
    sources = dict.fromkeys(name for one in (*old, *new) for name in one.sources)
    found += [_source(name, old, new) for name in sources]
    known = [one for one in found if one is not None]
    groups = list(dict.fromkeys(key.group for key in KEYS))
    return tuple(sorted(known, key=lambda one: _place(groups, one.key.group)))


def _place(groups: Sequence[str], group: str) -> int:
    return groups.index(group) if group in groups else len(groups)


def _fact(key: Key, old: Sequence[Collected], new: Sequence[Collected]) -> Difference | None:
    said = [_values(one.facts.get(key.name) for one in side) for side in (old, new)]
    return _difference(key, said[0], said[1], usual=key.name.startswith(_ALWAYS))


def _values(facts: Iterable[Fact]) -> tuple[str, ...]:
    """Return the values that a side has of one fact, each once; what was not recorded is none."""
    return tuple(dict.fromkeys(fact.text for fact in facts if fact.value is not None))


def _source(name: str, old: Sequence[Collected], new: Sequence[Collected]) -> Difference | None:
    """Return the difference of one file of the suite; its values are the beginnings of its digests."""
    said = [
        tuple(dict.fromkeys(one.sources.get(name, "")[:DIGEST_SHOWN] or _GONE for one in side)) for side in (old, new)
    ]
    return _difference(Key(f"suite.source.{name}", f"Source, {name}", SUITE), said[0], said[1])


def _difference(key: Key, old: tuple[str, ...], new: tuple[str, ...], *, usual: bool = False) -> Difference | None:
    if set(old) == set(new) and len(old) < 2:
        return None
    kind: Kind = "differs"
    if not old or not new:
        kind = "not recorded in NEW" if old else "not recorded in OLD"
    return Difference(key, kind, old, new, usual)
