"""A comparison as text for a terminal of 100 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from reportgen.analysis.compare import Absent, Broken, Comparison, Row
from reportgen.dossier.text import plural, visible
from reportgen.publish.comparison import phrases

WIDTH = 100
_NAME = 46
_T = TypeVar("_T", Row, Absent, Broken)


def write(of: Comparison) -> str:
    """Return a comparison as text: the counts, what differs in how it was measured, and every series."""
    parts = [list(_head(of)), list(_differences(of))]
    parts += [list(_changed(of.of(kind), kind)) for kind in ("slower", "faster")]
    parts += list(_untold(of.of("cannot tell")))
    parts.append(list(_rows("Same", of.of("same"), phrases.effect)))
    parts += [list(_rows(name, found, phrases.absent)) for name, found in (("New", of.fresh), ("Gone", of.gone))]
    parts.append(list(_rows("Without a value", of.failed, phrases.absent)))
    parts.append(list(_rows("Not comparable", of.broken, phrases.broken)))
    return "\n\n".join("\n".join(line.replace("\u00a0", " ") for line in part) for part in parts if part) + "\n"


def _head(of: Comparison) -> Iterator[str]:
    yield from _wrapped(f"{visible(of.suite)}: {phrases.counts(of)}")
    for name, side in (("OLD", of.old), ("NEW", of.new)):
        yield from _wrapped(f"{name}  {', '.join(side)}", hang=5)
    yield from _wrapped(phrases.tested(of))


def _differences(of: Comparison) -> Iterator[str]:
    found = [one for one in of.differences if not one.usual]
    if not found:
        yield "Nothing that was recorded of how it was measured differs."
        return
    yield f"{len(found)} {plural(len(found), 'difference')} in how it was measured"
    width = min(30, max(len(phrases.label(one)) for one in found))
    for one in found:
        old, new = phrases.difference(one)
        yield from _wrapped(f"{phrases.label(one):{width}}  {old} → {new}", indent=2, hang=width + 2)


def _changed(rows: Sequence[Row], kind: str) -> Iterator[str]:
    """Yield the rows that changed, each with both values and its threshold in a line of their own."""

    def more(row: Row) -> Iterator[str]:
        old, new = phrases.values(row)
        said = [f"{phrases.metric(row.series)} {old} to {new}", phrases.beside(row), f"threshold {phrases.limit(row)}"]
        yield "; ".join(part for part in said if part)

    yield from _rows(kind.capitalize(), rows, phrases.effect, more)


def _untold(rows: Sequence[Row]) -> Iterator[list[str]]:
    """Yield the rows of which nobody can tell, by question and reason: first those that may have changed."""
    found: dict[tuple[bool, str], list[Row]] = {}
    for row in rows:
        found.setdefault((not phrases.may_have_changed(row), row.verdict.reason), []).append(row)
    for (stays, _), some in sorted(found.items(), key=lambda item: item[0][0]):
        question = "it stayed the same" if stays else "it changed"
        title = f"Cannot tell whether {question}, {phrases.why_of(some)}"
        yield list(_rows(title, some, lambda row: ", ".join(filter(None, (phrases.effect(row), phrases.needs(row))))))


def _rows(
    title: str,
    rows: Sequence[_T],
    say: Callable[[_T], str],
    more: Callable[[_T], Iterable[str]] = lambda _: (),
) -> Iterator[str]:
    """Yield rows below their title, with the benchmark and what it was measured by once above those that share it."""
    if not rows:
        return
    yield from _wrapped(f"{title} ({len(rows)})")
    for place, some in groupby(sorted(rows, key=_order(rows)), key=lambda row: phrases.place(row.series)):
        yield from _wrapped(place, indent=2, hang=2)
        listed = list(some)
        width = max((len(_name(row)) for row in listed if len(_name(row)) <= _NAME), default=0)
        for row in listed:
            yield from _line(_name(row), say(row), width)
            for line in more(row):
                yield from _wrapped(line, indent=6, hang=2)
            if isinstance(row, Row):
                for note in (
                    f"{side}: {units.note}" for side, units in (("OLD", row.old), ("NEW", row.new)) if units.note
                ):
                    yield from _wrapped(visible(note), indent=6, hang=2)


def _order(rows: Sequence[_T]) -> Callable[[_T], int]:
    """Return the order of the places in which they first stand; rows of one place keep theirs."""
    places = {place: index for index, place in enumerate(dict.fromkeys(phrases.place(row.series) for row in rows))}
    return lambda row: places[phrases.place(row.series)]


def _name(row: _T) -> str:
    name = phrases.case(row.series)
    return name if phrases.metric(row.series) == "time" else f"{name}: {phrases.metric(row.series)}"


def _line(name: str, said: str, width: int) -> Iterator[str]:
    if len(name) <= width and 4 + width + 2 + len(said) <= WIDTH:
        yield f"    {name:{width}}  {said}"
        return
    yield from _wrapped(name, indent=4, hang=2)
    yield from _wrapped(said, indent=6, hang=2)


def _wrapped(text: str, indent: int = 0, hang: int = 4) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + hang),
        break_long_words=False,
        break_on_hyphens=False,
    )
