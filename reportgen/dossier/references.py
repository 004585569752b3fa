"""What a dossier's parts are called when others refer to them: numbers of figures and tables, and where data stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reportgen.dossier.model import Block, Dossier, Section

# The parts that every dossier has; a benchmark's section never takes one of these ids.
_FIXED = {
    "findings": "What this says",
    "cautions": "What to keep in mind",
    "provenance": "Provenance",
    "evidence": "Evidence",
    "glossary": "Glossary",
}


@dataclass(frozen=True, slots=True)
class References:
    """How a page refers to its own elements, by id.

    `labels` names an element ("Figure 3", "Table 2", a section's title); `shown` lists the elements in which a finding with
    that target can be seen; `homes` says under which element each data file is given.
    """

    labels: Mapping[str, str]
    shown: Mapping[str, tuple[str, ...]]
    homes: Mapping[str, str]


def references(dossier: Dossier) -> References:
    """Number the figures and tables in reading order and give each data file one home."""
    labels = dict(_FIXED)
    shown: dict[str, tuple[str, ...]] = {}
    homes: dict[str, str] = {}
    for section in sections(dossier):
        labels[section.id] = section.title
        labels |= {block.id: block.heading or section.title for block in section.blocks}
    for number, chart in enumerate((chart for block in blocks(dossier) for chart in block.charts), 1):
        labels[chart.id] = f"Figure {number}"
        homes.setdefault(chart.data_name, chart.id)
    for number, table in enumerate((table for block in blocks(dossier) for table in block.tables), 1):
        labels[table.id] = f"Table {number}"
    for block in blocks(dossier):
        rows = [table.id for table in block.tables[:1]]
        drawn = [*block.seen, *(chart.id for chart in block.charts)]
        shown[block.id] = (*drawn[:1], *rows) or (block.id,)
        shown |= {chart.id: (chart.id, *rows) for chart in block.charts}
    for number, file in enumerate(dossier.data, 1):
        homes.setdefault(file.name, f"data-{number}")
    return References(labels, {**{name: (name,) for name in labels}, **shown}, homes)


def sections(dossier: Dossier) -> Iterator[Section]:
    """Yield all sections that hold blocks, in reading order."""
    yield from dossier.sections
    if dossier.limits is not None:
        yield dossier.limits
    yield dossier.method


def blocks(dossier: Dossier) -> Iterator[Block]:
    """Yield all blocks in reading order."""
    for section in sections(dossier):
        yield from section.blocks
