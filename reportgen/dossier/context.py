"""What the templates of a dossier may use, and nothing else: one type for each, whose fields are the template's variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from reportgen.dossier.model import DataFile, Dossier, Figure, SourceCall, SourceFile, SourceRow, Table
from reportgen.dossier.printed import Printed
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
class FragmentContext:
    """All that `dossier/fragment.html.j2` may use."""

    dossier: Dossier
    refs: References
    table: Table | None  # the main table, or what of it is shown
    more: Sequence[str]  # what of it is not: "4 more rows"
    style: Markup


@dataclass(frozen=True, slots=True)
class Enclosed:
    """A file that travels inside the PDF."""

    name: str
    description: str
    size: Figure
    sha256: str


@dataclass(frozen=True, slots=True)
class PrintContext:
    """All that `dossier/print.html.j2` may use."""

    dossier: Dossier
    refs: References
    printed: Printed  # which charts, tables, rows and columns stand on paper, and which do not
    drawings: Mapping[str, tuple[str, ...]]  # the panels of each printed chart by its id
    enclosed: tuple[Enclosed, ...]
    whole: str  # the name of the enclosed file that holds the whole dossier, or ""
    files: int  # how many of the bundle's files are printed
    beside: str  # the folder beside the PDF in which the bundle's files are published, or ""
    head: str  # the suite's name as the running head has room for it
    setting: str  # the class by which the findings are set so that they stand on page one
    paper: str  # a4 or letter
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
    "dossier/fragment.html.j2": FragmentContext,
    "dossier/page.html.j2": PageContext,
    "dossier/print.html.j2": PrintContext,
    "dossier/rows.html.j2": RowsContext,
}
