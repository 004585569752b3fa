"""A dossier as a PDF/A-3 that a reviewer can file: the same words, few rows, and the figures attached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from reportgen.dossier import fonts
from reportgen.dossier.columns import fit
from reportgen.dossier.context import PrintContext
from reportgen.dossier.environment import Templates, verbatim
from reportgen.dossier.model import Dossier
from reportgen.dossier.references import blocks, references

Paper = Literal["a4", "letter"]
Relationship = Literal["Source", "Data", "Alternative", "Supplement", "Unspecified"]

# A table's cells decide what a PDF costs; the rest of its rows stand in the attachments.
MOST_ROWS = 250
# The width of each paper less print.css's margins, in points.
_MEASURES: Mapping[Paper, float] = {"a4": 481.8, "letter": 498.6}
_MOST_FILES = 60


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that travels inside the PDF; `relationship` says what it is to the document."""

    name: str
    data: bytes
    description: str
    relationship: Relationship = "Data"


def render(
    dossier: Dossier,
    attachments: Sequence[Attachment] = (),
    paper: Paper = "a4",
    templates: Templates | None = None,
) -> bytes:
    """Print `dossier` with `attachments` inside it."""
    names = {attachment.name for attachment in attachments}
    html = fonts.printable(page(dossier, names, paper, templates), fonts.characters())
    with fonts.only_ours():
        from reportgen.dossier.press import press

        return press(html, attachments, datetime.fromisoformat(dossier.started))


def page(dossier: Dossier, attached: set[str], paper: Paper = "a4", templates: Templates | None = None) -> str:
    """Return the page that is printed; `attached` are the names of the files that travel inside the PDF."""
    files = min(len(dossier.evidence), _MOST_FILES)
    tables = {table.id: len(table.rows) for block in blocks(dossier) for table in block.tables}
    made = templates or Templates()
    context = PrintContext(
        dossier=dossier,
        refs=references(dossier),
        shown=allot(tables, MOST_ROWS - files),
        files=files,
        attached=attached,
        drawings={chart.id: fonts.printable(chart.panels[0], fonts.characters()) for chart in dossier.charts},
        paper=paper,
        fit=lambda columns, rows: fit(columns, rows, _MEASURES[paper]),
        style=verbatim(made.source("dossier/print.css", "dossier/own-print.css")),
    )
    return made.render("dossier/print.html.j2", context)


def allot(sizes: Mapping[str, int], most: int) -> dict[str, int]:
    """Share `most` rows out over tables: small ones are shown whole, the others get equal parts of what is left."""
    shown: dict[str, int] = {}
    for index, (name, size) in enumerate(sorted(sizes.items(), key=lambda item: item[1])):
        shown[name] = min(size, (most - sum(shown.values())) // (len(sizes) - index))
    return shown
