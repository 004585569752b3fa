"""What a dossier says, as plain typed data: every format is written from this and nothing else.

Each printed figure is a `Figure` and carries the source from which it can be computed again. A sentence is a tuple of
words, figures and names, so that no writer has to look for numbers in a text. The types are the whole contract between
`build` and the templates: a template may use what stands here, under these names.

The grammar of a figure's `source` stands in `analysis.sources`, which reads it; `analysis.evaluate` computes the figure from it
again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Literal

Tier = Literal["public", "full"]
Published = Literal["as is", "redacted", "withheld"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as it is printed, with what it exactly is and where it comes from."""

    value: float  # in base units; never rounded beyond 12 significant digits
    text: str  # as printed, without its unit: "795"
    unit: str  # as printed: "TFLOP/s"; "" where it has none or the column's head says it
    exact: str  # for the reader who asks: "795.21402318 TFLOP/s"
    source: str


@dataclass(frozen=True, slots=True)
class Name:
    """A name that is printed as code, perhaps shortened; `whole` is the name in full."""

    text: str
    whole: str


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment as it is printed, in words and in UTC, and as ISO 8601 (`2026-12-01T03:37:08Z`)."""

    text: str  # "1 December 2026, 03:37 UTC"
    iso: str


Part = str | Figure | Name | Moment
Sentence = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Chip:
    """A short mark in the head: a backend, a scenario, a status."""

    kind: Literal["backend", "scenario", "status"]
    text: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the dossier says, and where the reader sees it shown (`target` is an element's id).

    Where several groups show it, each of `entries` gives the figures of one under its own name; `closing` stands after them.
    """

    rule: str
    sentence: Sentence
    target: str
    entries: tuple[Sentence, ...] = ()
    closing: Sentence = ()

    @property
    def whole(self) -> Sentence:
        """Return all that it says as one run of sentences."""
        said = self.sentence
        for index, entry in enumerate(self.entries):
            said += ("; " if index else " ", *entry)
        return (*said, *((".",) if self.entries else ()), *((" ", *self.closing) if self.closing else ()))


@dataclass(frozen=True, slots=True)
class Caution:
    """Something to keep in mind, one for each kind: what was seen, what it does to the figures, and the mend.

    `items` says it in detail: which rows, which reasons.
    """

    kind: str  # lost, counters, missing, conditions, clocks, throttle, stability, runs, operators, configurations, normalised
    what: Sentence
    effect: str
    mend: Sentence
    items: tuple[Sentence, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; `unit` stands in the head, so that cells need not repeat it."""

    label: str
    unit: str = ""
    numeric: bool = False
    meaning: str = ""  # shown on hover and in the glossary
    code: bool = False  # the label is a name: an annotation's or a parameter's


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its parts, and a mark in words when the value is not to be taken as it stands.

    `mark` is "" or one of unstable, stands apart, drifts up, drifts down, failed, skipped, dropped, not permitted, not known, or
    a dash where nothing was to be there; `why` says the reason, which stands once below the table where the cell has no parts.
    `order` is what the column sorts by.
    """

    parts: Sentence
    order: float | str = ""
    mark: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table; `left_out` rows and the columns named in `more` are not shown here and stand in `data_name`.

    One that is `folded` shows its caption, and its rows when it is opened.
    """

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    left_out: int = 0
    data_name: str = ""  # a file of `Dossier.data`
    more: tuple[str, ...] = ()
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: its panels, its caption, and the name of the CSV of just its data in `Dossier.data`.

    Each panel is a static SVG of its own with a title and a description in words: a page sets as many side by side as fit.
    """

    id: str
    title: str
    description: str
    panels: tuple[str, ...]
    caption: Sentence
    data_name: str

    @property
    def narrow(self) -> bool:
        """Tell whether another chart has room beside it."""
        return len(self.panels) == 1 and 'class="chart narrow"' in self.panels[0]


@dataclass(frozen=True, slots=True)
class Block:
    """What one backend and scenario say within a section; `seen` are the ids of charts elsewhere that show its rows."""

    id: str
    heading: str
    lead: Sentence
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()
    seen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A section with its heading, a lead sentence, and its blocks; `note` stands under the lead.

    One that is of a benchmark bears its `name`: then `title` and `prose` are the suite's own words.
    """

    id: str
    title: str
    lead: Sentence
    blocks: tuple[Block, ...] = ()
    note: str = ""
    name: str = ""
    prose: str = ""  # Markdown


@dataclass(frozen=True, slots=True)
class HeadFact:
    """A fact that a reader looks for first; `place` is the id of the element that says more."""

    label: str
    value: Sentence
    place: str


@dataclass(frozen=True, slots=True)
class ProvenanceEntry:
    """One fact, or why it is not there: `value` is empty unless `state` is recorded."""

    key: str
    label: str
    value: Sentence
    state: Literal["recorded", "not recorded", "withheld"]
    reason: str
    origin: str


@dataclass(frozen=True, slots=True)
class ProvenanceGroup:
    """The facts of one kind."""

    title: str
    entries: tuple[ProvenanceEntry, ...]

    @property
    def missing(self) -> int:
        """Count the facts that were not recorded."""
        return sum(entry.state == "not recorded" for entry in self.entries)


@dataclass(frozen=True, slots=True)
class EvidenceFile:
    """A file of the bundle with its digest; `published` says whether this tier shows it.

    A redacted file has the digest of what was published in its place beside its own. `href` leads to the published file
    where one is published beside the dossier, and is "" elsewhere.
    """

    path: str
    role: str
    size: Figure
    sha256: str
    published: Published
    published_sha256: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class Term:
    """A word or metric used in this dossier, and what it means."""

    word: str
    meaning: str


@dataclass(frozen=True, slots=True)
class DataFile:
    """A CSV that travels with the dossier: a chart's data, or the processed table.

    One that is not `inline` is too large to stand in the page and is written to `dossier_files/` beside it.
    """

    name: str
    description: str
    text: str
    inline: bool = True


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of the bundle that holds samples; its digest is empty where the bundle lacks it."""

    path: str
    sha256: str
    published: Published
    href: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Where samples of a row stand in one file of the bundle."""

    file: int  # the place of the file in `Sources.files`
    places: str  # within the file: "0/0 to 0/29"
    samples: Figure


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A row of the processed table from which the dossier takes figures, and the samples that it was made of."""

    id: str  # the first 12 hex digits of its identity
    benchmark: str
    backend: str
    workload: str
    scenario: str
    annotation: Name
    configuration: str  # the parameters in words: "n = 2048, dtype = fp16"
    kernel: Name  # the kernels of a run, joined by |
    metric: str
    unit: str
    values: tuple[tuple[str, Figure], ...]  # in base units, each with its name: "mean", "95 % from"
    state: str
    reason: str
    formula: str  # of a derived metric
    reads: tuple[str, ...]  # the rows that its formula reads
    recorded: bool  # by a function of the suite
    origins: tuple[Origin, ...]


@dataclass(frozen=True, slots=True)
class SourceCall:
    """A figure that is computed from several rows, counted, or a threshold in the code."""

    source: str
    meaning: str
    value: Figure
    rows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sources:
    """What the figures of a dossier are computed from: rows in the order of the processed table, what is made of several, files."""

    rows: tuple[SourceRow, ...] = ()
    calls: tuple[SourceCall, ...] = ()
    files: tuple[SourceFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Dossier:
    """The report of one bundle."""

    title: str
    suite: str
    bundle_id: str  # <suite>-<start>
    digest: str  # SHA-256 of tagmanifest-sha256.txt
    version: str  # the digest's first 12
    reportgen: str  # the version of reportgen that made this
    status: str  # complete, partial, imported
    tier: Tier
    started: str  # ISO 8601 in UTC; also the dossier's own date
    gpu: str
    lead: Sentence  # one line on what was run
    chips: tuple[Chip, ...]
    findings: tuple[Finding, ...]
    cautions: tuple[Caution, ...]
    sections: tuple[Section, ...]  # one for each benchmark
    limits: Section | None  # why it is so: what limits each kernel (ncu)
    method: Section  # how it was measured
    provenance: tuple[ProvenanceGroup, ...]
    evidence: tuple[EvidenceFile, ...]
    verify_command: str
    render_command: str
    glossary: tuple[Term, ...]
    data: tuple[DataFile, ...]
    sources: Sources = Sources()
    head: tuple[HeadFact, ...] = ()  # driver, profilers, clocks, caches
    question: str = ""  # the suite's own words, as `title` is
    prose: str = ""  # the suite's own words in Markdown
    note: str = ""  # what holds for all findings

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Return all charts in reading order."""
        sections = [*self.sections, *([self.limits] if self.limits else []), self.method]
        return tuple(chart for section in sections for block in section.blocks for chart in block.charts)


def figures(value: object) -> Iterator[Figure]:
    """Yield every figure in a part of a dossier, in reading order."""
    if isinstance(value, Figure):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from figures(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from figures(item)
