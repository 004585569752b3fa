"""The elements of a dossier by their names, in the order in which a reader meets them: what a style guide shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from reportgen.dossier.model import (
    Block,
    Caution,
    Cell,
    Chart,
    Chip,
    Column,
    DataFile,
    Dossier,
    EvidenceFile,
    Figure,
    Finding,
    HeadFact,
    Moment,
    Name,
    ProvenanceEntry,
    Section,
    Table,
    Term,
)

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Element(Generic[Item]):
    """A kind of element: its name, what it is, and which items of a dossier are of it."""

    name: str
    what: str
    of: Callable[[Item], bool]


def _always(_: object) -> bool:
    return True


HEAD: tuple[Element[Dossier], ...] = (
    Element("question", "what a suite asks, in its own words, under the title", lambda it: bool(it.question)),
    Element("prose", "what a suite says of itself, in Markdown", lambda it: bool(it.prose)),
    Element("note on findings", "what holds for all findings", lambda it: bool(it.note)),
)
CHIPS: tuple[Element[Chip], ...] = (
    Element("chip of a backend", "what measured", lambda it: it.kind == "backend"),
    Element("chip of a scenario", "cache and clock policy", lambda it: it.kind == "scenario"),
)
HEAD_FACTS: tuple[Element[HeadFact], ...] = (
    Element("head fact", "what a reader looks for first, with the place that says more", _always),
)
FINDINGS: tuple[Element[Finding], ...] = (
    Element(
        "finding", "one thing that the dossier says, with its figures and where it is shown", lambda it: not it.entries
    ),
    Element("finding with entries", "what several groups show, each under its own name", lambda it: bool(it.entries)),
    Element("finding with a closing", "what holds for all of a finding's entries", lambda it: bool(it.closing)),
)
CAUTIONS: tuple[Element[Caution], ...] = (
    Element("caution", "what to keep in mind, its effect and its mend", lambda it: bool(it.mend) and not it.items),
    Element("caution with items", "a caution in detail: which rows, which reasons", lambda it: bool(it.items)),
    Element("caution without a mend", "a caution about which nothing can be done", lambda it: not it.mend),
)


def _ends(*ends: str) -> Callable[[Chart], bool]:
    return lambda chart: chart.id.endswith(ends)


def _is_error_against_speed(chart: Chart) -> bool:
    return chart.id.endswith("-error") and " against " in chart.title


def _says(words: str) -> Callable[[Chart], bool]:
    return lambda chart: (
        chart.description.startswith(words) and not _named(chart) and not _is_error_against_speed(chart)
    )


_named = _ends("-speedup", "-bytes", "-limits", "-roofline", "-runs", "-sensors")
_KINDS: tuple[Element[Chart], ...] = (
    Element("chart: sweep", "a value over sizes, a line for each annotation, with intervals", _says("A line for each annotation")),
    Element("chart: side by side", "a value of each annotation and configuration, with its interval", _says("A point for each annotation")),
    Element("chart: speed-up", "how many times as fast as the baseline", _ends("-speedup")),
    Element("chart: error against speed", "what precision costs", _is_error_against_speed),
    Element("chart: bytes moved", "bytes read and written against the fewest", _ends("-bytes")),
    Element("chart: SM against DRAM", "compute, memory or latency", _ends("-limits")),
    Element("chart: roofline", "work against bytes under the ceilings", _ends("-roofline")),
    Element("chart: runs in order", "each run's distance from its row's mean", _ends("-runs")),
    Element("chart: sensors", "clock, temperature and power while it was measured", _ends("-sensors")),
)  # fmt: skip
CHARTS: tuple[Element[Chart], ...] = (
    *_KINDS,
    Element("chart: another", "of a kind that has no name here", lambda it: not any(kind.of(it) for kind in _KINDS)),
    Element("panels", "several drawings of one chart, side by side where they fit", lambda it: len(it.panels) > 1),
)


def _part(kind: type, such: Callable[[Any], bool] = _always) -> Callable[[Cell], bool]:
    return lambda cell: any(isinstance(part, kind) and such(part) for part in cell.parts)


def _marked(mark: str, *, with_parts: bool) -> Callable[[Cell], bool]:
    return lambda cell: cell.mark == mark and bool(cell.parts) == with_parts


# Marks that stand beside a value, and those that stand in its place.
BESIDE = ("unstable", "stands apart", "drifts up", "drifts down")
INSTEAD = ("failed", "skipped", "dropped", "not permitted", "not known", "–")
CELLS: tuple[Element[Cell], ...] = (
    Element("cell: figure", "its exact value on hover, its unit in the head", _part(Figure)),
    Element("cell: name", "printed as code", _part(Name, lambda part: part.whole == part.text)),
    Element("cell: shortened name", "the whole of it one click away", _part(Name, lambda part: part.whole != part.text)),
    Element("cell: words", "text that is neither", _part(str, bool)),
    Element("cell: empty", "nothing was to be there", lambda it: not it.mark and not any(part for part in it.parts)),
    *(Element(f"mark: {mark}", "beside a value", _marked(mark, with_parts=True)) for mark in BESIDE),
    *(Element(f"mark: {mark}", "in place of a value, with the reason", _marked(mark, with_parts=False)) for mark in INSTEAD),
)  # fmt: skip
COLUMNS: tuple[Element[Column], ...] = (
    Element("column of names", "set to the left", lambda it: not it.numeric),
    Element("column of figures", "set to the right", lambda it: it.numeric),
    Element("column with a unit", "said once, in the head", lambda it: bool(it.unit)),
    Element("column with a meaning", "shown on hover", lambda it: bool(it.meaning)),
    Element("column whose head is a name", "an annotation's or a parameter's", lambda it: it.code),
)
TABLES: tuple[Element[Table], ...] = (
    Element("table", "its caption, its head and its rows", lambda it: not it.folded),
    Element("table that is folded", "its rows are seen when it is opened", lambda it: it.folded),
    Element("table with rows left out", "how many, and where they stand", lambda it: it.left_out > 0),
    Element("table with more metrics", "the columns that it has no room for", lambda it: bool(it.more)),
)
SECTIONS: tuple[Element[Section], ...] = (
    Element("section lead", "a sentence that says what the section shows", lambda it: bool(it.lead)),
    Element("section note", "what holds for the whole section", lambda it: bool(it.note)),
    Element("section prose", "what a benchmark says of itself, in Markdown", lambda it: bool(it.prose)),
)
BLOCKS: tuple[Element[Block], ...] = (
    Element("block heading", "backend and scenario of what follows", lambda it: bool(it.heading)),
    Element("block lead", "a sentence that says what a block shows", lambda it: bool(it.lead)),
    Element("charts elsewhere", "where the rows of a block are drawn", lambda it: bool(it.seen)),
)
FACTS: tuple[Element[ProvenanceEntry], ...] = (
    Element("fact: figure", "a number in its unit", lambda it: len(it.value) == 1 and isinstance(it.value[0], Figure)),
    Element("fact: range", "two figures", lambda it: sum(isinstance(part, Figure) for part in it.value) > 1),
    Element("fact: moment", "a time in words", lambda it: any(isinstance(part, Moment) for part in it.value)),
    Element("fact: words", "a text as it was read", lambda it: len(it.value) == 1 and isinstance(it.value[0], str)),
    Element("fact: name", "printed as code", lambda it: any(isinstance(part, Name) for part in it.value)),
    Element("fact: origin", "what it was read by", lambda it: bool(it.origin)),
    Element("fact withheld", "what this tier hides", lambda it: it.state == "withheld"),
    Element("fact not recorded", "what could not be read, and why", lambda it: it.state == "not recorded"),
)  # fmt: skip
FILES: tuple[Element[EvidenceFile], ...] = (
    Element("file as is", "published as the bundle holds it", lambda it: it.published == "as is"),
    Element("file redacted", "published with what may name a person taken out", lambda it: it.published == "redacted"),
    Element("file withheld", "listed with its digest alone", lambda it: it.published == "withheld"),
    Element("file with a link", "published beside the dossier, as in a site", lambda it: bool(it.href)),
)
DATA: tuple[Element[DataFile], ...] = (
    Element("data in the page", "a CSV that the page carries", lambda it: it.inline),
    Element("data beside the page", "a CSV too long for the page", lambda it: not it.inline),
)
TERMS: tuple[Element[Term], ...] = (Element("term", "a word of this page and what it means", _always),)
ALWAYS: tuple[Element[Dossier], ...] = (
    Element("title", "the suite's, over all", _always),
    Element("lead", "one line on what was run", lambda it: bool(it.lead)),
    Element("identity", "GPU, date, version and status", _always),
    Element("contents", "slim beside the text, folded on a phone", _always),
    Element("digest", "may break between its groups; copied, it is whole", _always),
    Element("command", "a block of code", lambda it: bool(it.verify_command)),
    Element("link to sources", "each figure leads to what it is computed from", _always),
)
EVERY: tuple[Element[Any], ...] = (
    *ALWAYS, *HEAD, *HEAD_FACTS, *CHIPS, *FINDINGS, *CAUTIONS, *SECTIONS, *BLOCKS, *CHARTS, *TABLES, *COLUMNS, *CELLS, *FACTS,
    *FILES, *DATA, *TERMS,
)  # fmt: skip
