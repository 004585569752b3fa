"""What of a dossier stands on paper: a share of its charts and rows, the columns that fit, and where the rest stands.

Nothing is left out in silence: each block says which of its figures and tables are not printed, each table how many rows and
which columns, and in which attached file they stand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from reportgen.dossier.columns import Fitted, Strip, naming, strips
from reportgen.dossier.model import Cell, Chart, Column, Dossier, Section, Table
from reportgen.dossier.references import References, blocks, sections
from reportgen.dossier.text import listed, plain, plural

# A table's cells decide what a PDF costs, and after them its charts; the rest stands in the attachments.
MOST_ROWS = 250
MOST_PANELS = 24  # of charts; most charts have one
FEWEST_ROWS = 4  # of a longer table: fewer say nothing
_NAMED = 3  # rows to name where a reason is given

Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a table that fits the paper, and how wide its columns are."""

    table: Table
    fitted: Fitted


@dataclass(frozen=True, slots=True)
class Reason:
    """Why cells of a table hold no value; `rows` names theirs where others of that mark have another reason."""

    mark: str
    why: str
    rows: str


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """A table in parts with the same rows; `rows` and `columns` are what is not printed of it and stands in `home`.

    `home` is the name of an attachment, or "" where no attachment holds the table. Cells of the parts give no reasons: each
    stands once below.
    """

    parts: tuple[Part, ...]
    reasons: tuple[Reason, ...]
    rows: int
    columns: tuple[str, ...]
    home: str


@dataclass(frozen=True, slots=True)
class Printed:
    """What is printed: charts by their ids, tables by theirs; `absent` names by block what is not, with its title."""

    charts: frozenset[str]
    tables: Mapping[str, PrintedTable]
    absent: Mapping[str, tuple[str, ...]]
    hidden: frozenset[str]  # the ids of all that is absent: nothing may lead to them

    @property
    def rows(self) -> int:
        """Count the rows of tables that are printed, those of every part."""
        return sum(len(part.table.rows) for table in self.tables.values() for part in table.parts)


def select(dossier: Dossier, refs: References, homes: Mapping[str, str], measure: float) -> Printed:
    """Choose what of `dossier` is printed, on lines of `measure` points.

    `homes` says in which attachment the whole of a data file stands.
    """
    told = {name for finding in dossier.findings for name in refs.shown[finding.target]}
    charts = _charts(dossier, told)
    tables = _tables(dossier, told, homes, measure)
    absent: dict[str, tuple[str, ...]] = {}
    hidden: set[str] = set()
    for block in blocks(dossier):
        lost = {chart.id: chart.title for chart in block.charts if chart.id not in charts}
        lost |= {table.id: _described(table) for table in block.tables if table.id not in tables}
        if lost:
            absent[block.id] = tuple(f"{refs.labels[name]} ({title})" for name, title in lost.items())
            hidden |= set(lost)
    return Printed(charts, tables, absent, frozenset(hidden))


def _described(table: Table) -> str:
    size = len(table.rows) + table.left_out
    return f"{table.caption.rstrip('.')}; {size} {plural(size, 'row')}"


def _charts(dossier: Dossier, told: AbstractSet[str]) -> frozenset[str]:
    """Choose the charts: those that a finding leads to, then each section's share of what is left.

    A section's share goes round its blocks: the main chart of each, which is its first, before the second of any.
    """
    queues = {section.id: list(_rounds(section)) for section in sections(dossier)}
    first = _while_room((chart for queue in queues.values() for chart in queue if chart.id in told), MOST_PANELS)
    others = {name: [chart for chart in queue if chart.id not in told] for name, queue in queues.items()}
    shares = allot({name: _panels(queue) for name, queue in others.items()}, MOST_PANELS - _panels(first))
    chosen = [*first, *(chart for name, queue in others.items() for chart in _while_room(queue, shares[name]))]
    return frozenset(chart.id for chart in chosen)


def _rounds(section: Section) -> Iterator[Chart]:
    for place in range(max((len(block.charts) for block in section.blocks), default=0)):
        yield from (block.charts[place] for block in section.blocks if place < len(block.charts))


def _panels(charts: Iterable[Chart]) -> int:
    return sum(len(chart.panels) for chart in charts)


def _while_room(charts: Iterable[Chart], room: int) -> list[Chart]:
    """Take each chart in turn whose panels still find room."""
    taken: list[Chart] = []
    for chart in charts:
        if len(chart.panels) <= room - _panels(taken):
            taken.append(chart)
    return taken


def _tables(
    dossier: Dossier, told: AbstractSet[str], homes: Mapping[str, str], measure: float
) -> dict[str, PrintedTable]:
    """Choose rows and columns: results and their reasons first, then what is left for how they were measured."""
    method = {table.id for block in dossier.method.blocks for table in block.tables} - told
    everything = [table for block in blocks(dossier) for table in block.tables]
    chosen: dict[str, PrintedTable] = {}
    rows = MOST_ROWS
    for tier in ([t for t in everything if t.id not in method], [t for t in everything if t.id in method]):
        shown = allot({table.id: len(table.rows) for table in tier}, rows, FEWEST_ROWS)
        rows -= sum(shown.values())
        for table in tier:
            if table.rows and not shown[table.id]:
                continue
            some = table.rows[: shown[table.id]]
            first, *further = strips(table.columns, _without_reasons(some), measure)
            room = rows // len(some) if some else len(further)
            rows -= len(some) * len(further[:room])
            places = [place for strip in further[room:] for place in strip.columns if place not in first.columns]
            chosen[table.id] = PrintedTable(
                tuple(_part(table, some, strip) for strip in (first, *further[:room])),
                _reasons(table.columns, some),
                table.left_out + len(table.rows) - len(some),
                tuple(table.columns[place].label for place in places),
                homes.get(table.data_name, ""),
            )
    return chosen


def _part(table: Table, rows: Sequence[Row], strip: Strip) -> Part:
    columns = tuple(table.columns[place] for place in strip.columns)
    cells = tuple(tuple(row[place] for place in strip.columns) for row in _without_reasons(rows))
    return Part(replace(table, columns=columns, rows=cells), strip.fitted)


def _without_reasons(rows: Sequence[Row]) -> list[Row]:
    return [tuple(replace(cell, why="") if cell.why else cell for cell in row) for row in rows]


def _reasons(columns: Sequence[Column], rows: Sequence[Row]) -> tuple[Reason, ...]:
    """Gather the reasons of cells without a value, each once with the rows that it is true of."""
    names = naming(columns, rows)
    found: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        name = " ".join(plain(cell.parts) for cell in row[:names])
        for cell in row:
            if cell.mark and cell.why and not cell.parts:
                found.setdefault((cell.mark, cell.why), {})[name] = None
    several = Counter(mark for mark, _ in found)
    return tuple(Reason(mark, why, _listed(list(of)) if several[mark] > 1 else "") for (mark, why), of in found.items())


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return listed([*names[:_NAMED], *([f"{more} {plural(more, 'other')}"] if more > 0 else [])])


def allot(sizes: Mapping[str, int], most: int, least: int = 1) -> dict[str, int]:
    """Share `most` out: small ones get all that they need, the others equal parts of what is left.

    One that would get fewer than `least`, and needs more, gets nothing and leaves its part to the others, the last one first.
    """
    kept = dict(sizes)
    while True:
        shares = _shares(kept, most)
        short = [name for name, size in kept.items() if shares[name] < min(size, least)]
        if not short:
            return {**dict.fromkeys(sizes, 0), **shares}
        for name in short[min(max(most, 0) // least, len(short) - 1) :]:
            del kept[name]


def _shares(sizes: Mapping[str, int], most: int) -> dict[str, int]:
    shares: dict[str, int] = {}
    left = max(most, 0)
    for index, (name, size) in enumerate(sorted(sizes.items(), key=lambda item: item[1])):
        shares[name] = min(size, left // (len(sizes) - index))
        left -= shares[name]
    return shares
