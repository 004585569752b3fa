"""A style guide: each element of a dossier once, by its name, taken from real dossiers.

The page is a dossier itself, put together from parts of others and made by the same template and style. So what it shows is
what a dossier's reader sees, in light, in dark and with templates of one's own. An element that none of the bundles has is
named at the end and not made up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Generic

from reportgen.dossier import html
from reportgen.dossier.build import build
from reportgen.dossier.elements import (
    ALWAYS,
    BLOCKS,
    CAUTIONS,
    CELLS,
    CHARTS,
    CHIPS,
    COLUMNS,
    DATA,
    EVERY,
    FACTS,
    FILES,
    FINDINGS,
    HEAD,
    HEAD_FACTS,
    SECTIONS,
    TABLES,
    TERMS,
    Element,
    Item,
)
from reportgen.dossier.environment import Templates
from reportgen.dossier.model import (
    Block,
    Cell,
    Chart,
    Column,
    DataFile,
    Dossier,
    Name,
    Part,
    ProvenanceGroup,
    Section,
    Sentence,
    Sources,
    Table,
    figures,
)
from reportgen.dossier.text import listed, shorten
from reportgen.evidence import write
from reportgen.evidence.bundle import open_bundle, refuse_inside

PAGE = "styleguide.html"
NOT_SHOWN = "not shown by these bundles"
MOST_COLUMNS = 12
_MOST_TERMS = 3
_SOURCES = "sources"


@dataclass(frozen=True, slots=True)
class Known:
    """An element as the guide lists it; `bundle` is the one that it is taken from, "" where none has it."""

    name: str
    what: str
    bundle: str


# --- choosing


@dataclass(frozen=True, slots=True)
class Pick(Generic[Item]):
    """An item with the names of the elements that it shows, and the dossier that it is taken from."""

    item: Item
    names: tuple[str, ...]
    dossier: Dossier


@dataclass
class Guide:
    """Chooses items, and remembers which element was found in which dossier."""

    dossiers: Sequence[Dossier]
    found: dict[str, str] = field(default_factory=dict)  # the name of an element -> the id of a bundle

    def cover(self, elements: Sequence[Element[Item]], items: Callable[[Dossier], Iterable[Item]]) -> list[Pick[Item]]:
        """Choose the fewest items, first come first, that show each element which any of the dossiers has."""
        picks: list[Pick[Item]] = []
        for element in elements:
            if any(element.of(pick.item) for pick in picks):
                continue
            pick = next(
                (Pick(one, (), it) for it in self.dossiers for one in items(it) if element.of(one)),
                None,
            )
            if pick is not None:
                picks.append(pick)
        return [self._named(elements, pick) for pick in picks]

    def note(self, elements: Sequence[Element[Item]], items: Iterable[Item], dossier: Dossier) -> None:
        """Remember the elements that these items show."""
        for one in items:
            for element in elements:
                if element.of(one):
                    self.found.setdefault(element.name, dossier.bundle_id)

    def known(self) -> tuple[Known, ...]:
        """List every element, and where it is taken from."""
        return tuple(Known(one.name, one.what, self.found.get(one.name, "")) for one in EVERY)

    def _named(self, elements: Sequence[Element[Item]], pick: Pick[Item]) -> Pick[Item]:
        self.note(elements, [pick.item], pick.dossier)
        return replace(pick, names=tuple(one.name for one in elements if one.of(pick.item)))


def guide(dossiers: Sequence[Dossier]) -> tuple[Dossier, tuple[Known, ...]]:
    """Put together a dossier that shows each element once, from parts of `dossiers`; list the elements."""
    made = Guide(dossiers)
    first = dossiers[0]
    heads = made.cover(HEAD, lambda it: [it])
    charts, tables, blocks = _charts(made), _tables(made), _blocks(made)
    data = made.cover(DATA, _data)
    of = {
        name: next((p.dossier for p in heads if name in p.names), first)
        for name in ("question", "prose", "note on findings")
    }
    made.note(ALWAYS, [first], first)
    parts = replace(
        first,
        title="Each element of a dossier, by its name",
        suite="styleguide",
        question=of["question"].question,
        prose=of["prose"].prose,
        note=of["note on findings"].note,
        head=tuple(pick.item for pick in made.cover(HEAD_FACTS, lambda it: it.head)),
        chips=tuple(pick.item for pick in made.cover(CHIPS, lambda it: it.chips)),
        findings=tuple(
            _labelled(pick, "sentence", target="charts") for pick in made.cover(FINDINGS, lambda it: it.findings)
        ),
        cautions=tuple(_labelled(pick, "what") for pick in made.cover(CAUTIONS, lambda it: it.cautions)),
        sections=(charts, tables, blocks),
        limits=None,
        provenance=(_facts(made),),
        evidence=tuple(pick.item for pick in made.cover(FILES, lambda it: it.evidence)),
        data=tuple(_moved(pick.item, "data") for pick in data),
        glossary=first.glossary[:_MOST_TERMS],
        sources=Sources(),
    )
    made.note(TERMS, parts.glossary, first)
    known = made.known()
    used = [it for it in dossiers if it.bundle_id in made.found.values()]
    return replace(parts, method=_listing(known, used), bundle_id=", ".join(it.bundle_id for it in used)), known


def _labelled(pick: Pick[Any], name: str, **others: Any) -> Any:
    """Return an item whose sentence `name` begins with what it is."""
    label = Name(listed(pick.names), listed(pick.names))
    return replace(pick.item, **{name: (label, ": ", *getattr(pick.item, name))}, **others)


def _sections(dossier: Dossier) -> Iterator[Section]:
    yield from (*dossier.sections, *([dossier.limits] if dossier.limits else []), dossier.method)


def _all_tables(dossier: Dossier) -> Iterator[Table]:
    for section in _sections(dossier):
        for block in section.blocks:
            yield from block.tables


def _charts(made: Guide) -> Section:
    """Return a section with a chart of each kind."""
    picks = made.cover(CHARTS, lambda it: it.charts)
    shown = []
    for number, pick in enumerate(picks, 1):
        chart = _renamed(pick.item, f"chart-{number}-{pick.item.id.rpartition('-')[2]}")
        shown.append(replace(chart, title=f"{listed(pick.names)}: {chart.title}", data_name=""))
    heading = "Each kind of chart"
    return Section("charts", "Charts", (), (Block("charts-all", heading, (), tuple(shown)),) if shown else ())


def _renamed(chart: Chart, name: str) -> Chart:
    """Return a chart under another id: those of several dossiers may be alike."""
    old = re.compile(rf'(?<=[#" ]){re.escape(chart.id)}(?=[-")])')

    def panel(svg: str) -> str:
        return re.sub(r"<[^>]*>", lambda tag: old.sub(name, tag.group()), svg)

    return replace(chart, id=name, panels=tuple(map(panel, chart.panels)))


def _tables(made: Guide) -> Section:
    """Return a section with tables in which each kind of table, column and cell is seen."""
    chosen: list[tuple[Table, Dossier]] = []
    picks: tuple[Pick[Any], ...] = (
        *made.cover(TABLES, _all_tables),
        *made.cover(COLUMNS, lambda it: (column for table in _all_tables(it) for column in table.columns)),
        *made.cover(CELLS, lambda it: (cell for table in _all_tables(it) for row in table.rows for cell in row)),
    )
    for pick in picks:
        table = next(table for table in _all_tables(pick.dossier) if _has(table, pick.item))
        if not any(table is other for other, _ in chosen):
            chosen.append((table, pick.dossier))
    left = {element.name for element in CELLS}
    told: set[str] = set()
    samples = [_sample(table, it, number, left, told) for number, (table, it) in enumerate(chosen, 1)]
    shown = tuple(table for table in samples if table is not None)
    heading = "Each kind of table, column, cell and mark"
    return Section("tables", "Tables", (), (Block("tables-all", heading, (), (), shown),) if shown else ())


def _sample(table: Table, dossier: Dossier, number: int, left: set[str], told: set[str]) -> Table | None:
    """Return a table with the rows that show one of the kinds of cells `left`, under what no table before it is `told` to show.

    None where the tables before it show all that it does.
    """
    rows = _telling(table, left)
    columns = _needed(table, rows)
    heads = [table.columns[place] for place in columns]
    cells = [row[place] for row in rows for place in columns]
    names = [one.name for one in TABLES if one.of(table)]
    names += [one.name for one in COLUMNS if any(map(one.of, heads))] + [
        one.name for one in CELLS if any(map(one.of, cells))
    ]
    new = [name for name in names if name not in told]
    told.update(new)
    if not new:
        return None
    return replace(
        table,
        id=f"table-{number}",
        caption=f"Shows {listed(new)}. Of {dossier.bundle_id}: {table.caption}",
        columns=tuple(heads),
        rows=tuple(tuple(row[place] for place in columns) for row in rows),
        data_name="",
    )


def _has(table: Table, item: object) -> bool:
    return (
        item is table
        or any(item is column for column in table.columns)
        or any(item is cell for row in table.rows for cell in row)
    )


def _telling(table: Table, left: set[str]) -> tuple[tuple[Cell, ...], ...]:
    """Return the first row of a table, and each that shows a kind of cell which no row before it did."""
    rows = []
    for index, row in enumerate(table.rows):
        kinds = {element.name for element in CELLS for cell in row if element.of(cell)}
        if index == 0 or kinds & left:
            rows.append(row)
            left -= kinds
    return tuple(rows)


def _needed(table: Table, rows: Sequence[Sequence[Cell]]) -> list[int]:
    """Return the places of the columns to show: the first ones, and those with a kind of cell that none of these has."""
    places = list(range(min(MOST_COLUMNS, len(table.columns))))
    kinds = {e.name for e in CELLS for row in rows for place in places if e.of(row[place])}
    for place in range(len(places), len(table.columns)):
        further = {e.name for e in CELLS for row in rows if e.of(row[place])} - kinds
        further |= {
            e.name for e in COLUMNS if e.of(table.columns[place]) and not any(e.of(table.columns[p]) for p in places)
        }
        if further:
            places.append(place)
            kinds |= further
    return places


def _blocks(made: Guide) -> Section:
    """Return a section with what stands around charts and tables: leads, notes, prose and headings."""
    sections = made.cover(SECTIONS, _sections)
    blocks = made.cover(BLOCKS, lambda it: (block for section in _sections(it) for block in section.blocks))
    by_name = {name: pick.item for pick in reversed(sections) for name in pick.names}
    lead, note, prose = (by_name.get(element.name) for element in SECTIONS)
    shown = tuple(
        Block(
            f"block-{number}",
            f"{listed(pick.names)}: {pick.item.heading}",
            pick.item.lead,
            (),
            (),
            ("charts",) if pick.item.seen else (),
        )
        for number, pick in enumerate(blocks, 1)
    )
    return Section(
        "around",
        "Around them",
        lead.lead if lead else (),
        shown,
        note.note if note else "",
        prose.name if prose else "",
        prose.prose if prose else "",
    )


def _facts(made: Guide) -> ProvenanceGroup:
    picks = made.cover(FACTS, lambda it: (entry for group in it.provenance for entry in group.entries))
    entries = (replace(pick.item, label=f"{pick.item.label} ({listed(pick.names)})") for pick in picks)
    return ProvenanceGroup("Facts in a group", tuple(entries))


def _data(dossier: Dossier) -> list[DataFile]:
    """Return the data files of a dossier, the shortest first."""
    return sorted(dossier.data, key=lambda file: (len(file.text), file.name))


def _moved(file: DataFile, folder: str) -> DataFile:
    return replace(file, name=f"{folder}-{file.name}")


def _listing(known: Sequence[Known], dossiers: Sequence[Dossier]) -> Section:
    """Return the section that names every element: those shown with their bundle, then those that none of the bundles has."""
    shown = [one for one in known if one.bundle]
    lacking = [one for one in known if not one.bundle]
    columns = (Column("element"), Column("what it is"))
    tables = [
        Table(
            "elements",
            "The elements of this page",
            (*columns, Column("taken from")),
            tuple((_code(one.name), Cell((one.what,)), _code(one.bundle)) for one in shown),
        )
    ]
    if lacking:
        tables.append(
            Table(
                "lacking",
                f"Elements {NOT_SHOWN}",
                columns,
                tuple((_code(one.name), Cell((one.what,))) for one in lacking),
            )
        )
    names: Sequence[Part] = [part for it in dossiers for part in (", ", Name(it.bundle_id, it.bundle_id))][1:]
    lead: Sentence = (
        "This page is put together from the dossiers of ",
        *names,
        "; what it says of a bundle and of its files is of the first. ",
        "In a dossier each figure leads to what it is computed from; here it leads to this place.",
    )
    return Section(_SOURCES, "What these elements are", lead, (Block("elements-all", "", (), (), tuple(tables)),))


def _code(text: str) -> Cell:
    return Cell((shorten(text, 60),), text)


# --- writing


def render(dossiers: Sequence[Dossier], templates: Templates | None = None) -> tuple[str, tuple[Known, ...], Dossier]:
    """Return the page, the elements, and the dossier that was put together."""
    made, known = guide(dossiers)
    parts = tuple(getattr(made, one.name) for one in fields(made) if one.name not in ("evidence", "provenance"))
    origins = {figure.source: f"#{_SOURCES}" for figure in figures(parts)}
    return html.render(made, templates, origins=origins), known, made


def write_guide(
    bundles: Sequence[Path], out: Path, templates: Path | None = None
) -> tuple[list[Path], tuple[Known, ...]]:
    """Write the style guide of `bundles` into the folder `out`; return the files written, and the elements.

    `templates` is a folder of templates that go before those that ship. Raises `UserError` for what is no bundle and for
    templates that cannot be used.
    """
    refuse_inside(out / PAGE)
    chosen = Templates(templates)
    chosen.check()
    page, known, made = render([build(open_bundle(path), "public") for path in bundles], chosen)
    files = {f"dossier_files/{file.name}": file.text for file in made.data if not file.inline} | {PAGE: page}
    for name, text in files.items():
        write.write_file(out / name, text.encode())
    return [out / name for name in files], known
