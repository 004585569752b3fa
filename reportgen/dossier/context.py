"""What the templates of a dossier may use, and nothing else: one type for each, whose fields are the template's variables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from reportgen.dossier.columns import Fitted
from reportgen.dossier.model import Cell, Column, DataFile, Dossier, SourceCall, SourceFile, SourceRow
from reportgen.dossier.references import References


@dataclass(frozen=True, slots=True)
class PageContext:
    """All that `dossier/page.html.j2` may use."""

    dossier: Dossier
    refs: References
    data: Mapping[str, DataFile]  # the dossier's data files by name
    origins: Mapping[str, str]  # where it stands what a figure is computed from, by the figure's source
    rows: int  # how many files of rows lie beside the page; 0 where it stands alone
    policy: str  # the content security policy that names the style and the script by hash
    style: Markup
    script: Markup


@dataclass(frozen=True, slots=True)
class PrintContext:
    """All that `dossier/print.html.j2` may use."""

    dossier: Dossier
    refs: References
    shown: Mapping[str, int]  # how many rows of each table are printed, by the table's id
    files: int  # how many of the bundle's files are printed
    attached: Collection[str]  # the names of the files that travel inside the PDF
    drawings: Mapping[str, str]  # each chart's SVG by its id
    paper: str  # a4 or letter
    fit: Callable[[Sequence[Column], Sequence[Sequence[Cell]]], Fitted]  # how wide a table's columns are printed
    style: Markup


@dataclass(frozen=True, slots=True)
class RowsContext:
    """All that `dossier/rows.html.j2` may use: the rows of one file, and what is computed from several."""

    dossier: Dossier
    rows: Sequence[SourceRow]
    calls: Sequence[SourceCall]
    files: Mapping[int, SourceFile]  # those that hold samples of these rows, by their number
    places: Mapping[str, str]  # where each row stands, by its id
    part: int  # the number of this file among `parts`
    parts: int
    policy: str
    style: Markup


CONTEXTS: Mapping[str, type] = {
    "dossier/page.html.j2": PageContext,
    "dossier/print.html.j2": PrintContext,
    "dossier/rows.html.j2": RowsContext,
}
