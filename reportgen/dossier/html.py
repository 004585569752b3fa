"""A dossier as one self-contained HTML file: one style, one script, no network."""

from __future__ import annotations

import base64
import hashlib

from reportgen.dossier.context import PageContext
from reportgen.dossier.environment import Templates, verbatim
from reportgen.dossier.model import Dossier
from reportgen.dossier.references import references

_STYLES = ("shared/tokens.css", "shared/charts.css", "dossier/dossier.css", "dossier/own.css")
_SCRIPTS = ("dossier/dossier.js",)


def render(dossier: Dossier, templates: Templates | None = None) -> str:
    """Render `dossier` as a page that opens from a folder and reads in order even without style and script."""
    made = templates or Templates()
    style, script = made.source(*_STYLES), made.source(*_SCRIPTS)
    context = PageContext(
        dossier=dossier,
        refs=references(dossier),
        data={file.name: file for file in dossier.data},
        policy=_policy(style, script),
        style=verbatim(style),
        script=verbatim(script),
    )
    return made.render("dossier/page.html.j2", context)


def _policy(style: str, script: str) -> str:
    """Return the content security policy under which only this style and this script count."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
