"""A dossier as a PDF/A-3 that a reviewer can file: the same words, few rows, and the figures attached."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal
from urllib.parse import quote

from reportgen.dossier import cover, fonts
from reportgen.dossier.attachments import JSON, Attachment
from reportgen.dossier.context import Enclosed, PrintContext
from reportgen.dossier.environment import Templates, verbatim
from reportgen.dossier.model import Dossier
from reportgen.dossier.printed import select
from reportgen.dossier.references import references
from reportgen.dossier.text import visible

Paper = Literal["a4", "letter"]

# The width and height of each paper less print.css's margins, in points.
MEASURES: Mapping[Paper, float] = {"a4": 481.8, "letter": 498.6}
_HEIGHTS: Mapping[Paper, float] = {"a4": 717.1, "letter": 667.2}
_HEAD = 7.0  # print.css sets the running head in this size, in points
_BESIDE = 24.0  # between the two ends of the running head, in points
_MOST_FILES = 120
# Templates escape every quote and bracket that is not markup, so that a link is found by its form.
_LINK = re.compile(r'(<a\b[^>]*\shref="((?:https?:|mailto:)[^"]*)"[^>]*>.*?</a>)', re.DOTALL)


def render(
    dossier: Dossier,
    attachments: Sequence[Attachment] = (),
    paper: Paper = "a4",
    templates: Templates | None = None,
) -> bytes:
    """Print `dossier` with `attachments` inside it."""
    html = fonts.printable(page(dossier, attachments, paper, templates), fonts.characters())
    with fonts.only_ours():
        from reportgen.dossier.press import press

        return press(html, attachments, datetime.fromisoformat(dossier.started))


def page(
    dossier: Dossier,
    attachments: Sequence[Attachment] = (),
    paper: Paper = "a4",
    templates: Templates | None = None,
) -> str:
    """Return the page that is printed; `attachments` are the files that travel inside the PDF."""
    refs = references(dossier)
    names = {attachment.data: attachment.name for attachment in attachments}
    homes = {file.name: names[data] for file in dossier.data if (data := file.text.encode()) in names}
    printed = select(dossier, refs, homes, MEASURES[paper])
    made = templates or Templates()
    context = PrintContext(
        dossier=dossier,
        refs=refs,
        printed=printed,
        drawings={
            chart.id: tuple(fonts.printable(panel, fonts.characters()) for panel in chart.panels)
            for chart in dossier.charts
            if chart.id in printed.charts
        },
        enclosed=tuple(Enclosed(file.name, file.description, file.size, file.sha256) for file in attachments),
        whole=JSON if any(attachment.name == JSON for attachment in attachments) else "",
        files=min(len(dossier.evidence), _MOST_FILES),
        beside=_beside(dossier),
        head=running_head(dossier, paper),
        setting=cover.setting(dossier, MEASURES[paper], _HEIGHTS[paper]),
        paper=paper,
        style=verbatim(made.source("dossier/print.css", "dossier/own-print.css")),
    )
    return with_footnotes(made.render("dossier/print.html.j2", context))


def with_footnotes(html: str) -> str:
    """Return `html` with the address of each outward link after it, which the style sheet makes a footnote."""
    return _LINK.sub(r'\1<span class="address">\2</span>', html)


def running_head(dossier: Dossier, paper: Paper) -> str:
    """Return the suite's name, cut so that it never reaches what stands at the other end of the running head."""
    suite = fonts.printable(visible(dossier.suite), fonts.characters())
    other = fonts.advance(f"version {dossier.version}  ·  page 999 of 999", fonts.SANS)
    room = (MEASURES[paper] - _BESIDE) / _HEAD - other
    if fonts.advance(suite, fonts.SANS) <= room:
        return suite
    while suite and fonts.advance(f"{suite}…", fonts.SANS) > room:
        suite = suite[:-1]
    return f"{suite}…"


def _beside(dossier: Dossier) -> str:
    """Return the folder beside the PDF in which the bundle's files are published, or "" where they are not."""
    file = next((file for file in dossier.evidence if file.href), None)
    return file.href.removesuffix(f"/{quote(file.path)}") if file else ""
