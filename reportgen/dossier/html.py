"""A dossier as one self-contained HTML file: one style, one script, no network. Beside it lie what its figures come from, as pages."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from urllib.parse import quote

from reportgen.analysis import sources
from reportgen.analysis.sources import Call, Constant, Fact, File, Source
from reportgen.dossier.context import PageContext, RowsContext
from reportgen.dossier.environment import Templates, anchor, verbatim
from reportgen.dossier.model import Dossier, figures
from reportgen.dossier.references import references

_SHARED = ("shared/tokens.css", "shared/charts.css", "dossier/dossier.css")
_OWN = "dossier/own.css"
_SCRIPTS = ("dossier/dossier.js",)
MOST_BYTES = 1_000_000
_BUCKETS = 256


def render(
    dossier: Dossier, templates: Templates | None = None, rows: int = 0, origins: Mapping[str, str] | None = None
) -> str:
    """Render `dossier` as a page that opens from a folder and reads in order even without style and script.

    Its figures lead to the pages of rows where such pages lie beside it: so many as `rows` says; or to the places that
    `origins` gives by their sources.
    """
    made = templates or Templates()
    style, script = made.source(*_SHARED, _OWN), made.source(*_SCRIPTS)
    context = PageContext(
        dossier=dossier,
        refs=references(dossier),
        data={file.name: file for file in dossier.data},
        origins=origins or (_origins(dossier, rows) if rows else {}),
        rows=rows,
        policy=_policy(style, script),
        style=verbatim(style),
        script=verbatim(script),
    )
    return made.render("dossier/page.html.j2", context)


def rows(dossier: Dossier, templates: Templates | None = None) -> dict[str, str]:
    """Render what the figures of `dossier` are computed from, as pages by their names: one, or several where it would be too long."""
    made = templates or Templates()
    parts = 1
    while True:
        pages = {_name(part, parts): _rows(dossier, made, part, parts) for part in range(parts)}
        if parts >= _BUCKETS or all(len(page.encode("utf-8", "replace")) <= MOST_BYTES for page in pages.values()):
            return pages
        parts *= 2


def _rows(dossier: Dossier, templates: Templates, part: int, parts: int) -> str:
    style = templates.source(*_SHARED, "dossier/rows.css", _OWN)
    found = [row for row in dossier.sources.rows if _part(row.id, parts) == part]
    used = sorted({origin.file for row in found for origin in row.origins})
    here = _name(part, parts)
    places = {row.id: _place(row.id, parts) for row in dossier.sources.rows}
    context = RowsContext(
        dossier=dossier,
        rows=found,
        calls=dossier.sources.calls if part == 0 else (),
        files={number: dossier.sources.files[number] for number in used},
        places={row: place.removeprefix(here) for row, place in places.items()},
        part=part,
        parts=parts,
        policy=_policy(style, ""),
        style=verbatim(style),
    )
    return templates.render("dossier/rows.html.j2", context)


def _origins(dossier: Dossier, parts: int) -> Mapping[str, str]:
    """Say for each source of the page where it stands what it gives."""
    found: dict[str, str] = {}
    for figure in figures(tuple(getattr(dossier, name) for name in _WITH_ORIGINS)):
        if figure.source not in found:
            found[figure.source] = _origin(figure.source, sources.parse(figure.source), parts)
    return found


_WITH_ORIGINS = ("lead", "findings", "cautions", "sections", "limits", "method")


def _origin(text: str, source: Source, parts: int) -> str:
    match source:
        case Fact():
            return "#provenance"
        case File():
            return "#files"
        case Call() | Constant():
            return f"dossier_files/{_name(0, parts)}#{quote(anchor(text))}"
    return f"dossier_files/{_place(next(sources.rows(source)), parts)}"


def _name(part: int, parts: int) -> str:
    """Return the name of one of the files of rows; a script tells it too, in dossier.js."""
    return f"rows-{part}.html" if parts > 1 else "rows.html"


def _part(row: str, parts: int) -> int:
    """Return the number of the file in which a row stands, by the first digits of its id."""
    return int(row[:2], 16) * parts // _BUCKETS


def _place(row: str, parts: int) -> str:
    return f"{_name(_part(row, parts), parts)}#{row}"


def _policy(style: str, script: str) -> str:
    """Return the content security policy under which only this style and this script count."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src {_allowed(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _allowed(script: str) -> str:
    return f"'{_hash(script)}'" if script else "'none'"


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
