"""Render a bundle: the files of one dossier, as bytes, or written into a folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reportgen.dossier.build import build
from reportgen.dossier.environment import Templates
from reportgen.dossier.model import Dossier, Finding, Tier
from reportgen.dossier.text import plain
from reportgen.evidence import write
from reportgen.evidence.bundle import Bundle, open_bundle, refuse_inside
from reportgen.evidence.errors import BundleError, UserError
from reportgen.evidence.verify import in_short, verify

FORMATS = ("html", "pdf", "json", "markdown")
DEFAULT_FORMATS = ("html", "pdf")
BESIDE = "dossier_files"


def render(
    bundle_path: Path,
    out: Path,
    formats: Sequence[str] = DEFAULT_FORMATS,
    tier: Tier = "public",
    paper: str = "a4",
    templates: Path | None = None,
) -> list[Path]:
    """Render the bundle at `bundle_path` into the folder `out`, replacing only the files that it writes; return them.

    `templates` is a folder of templates that go before those that ship.
    """
    refuse_inside(out / "dossier.html")
    Templates(templates).check()
    if faults := verify(bundle_path):
        raise BundleError(bundle_path, in_short(faults), "take the bundle from a copy")
    made = pages(bundle_path, tier, paper, tuple(formats), templates=templates)
    del made["summary.json"]
    # What a page links to stands there before the page does.
    for name in sorted(made, key=lambda name: not name.startswith(f"{BESIDE}/")):
        write.write_file(out / name, made[name])
    return [out / name for name in made]


def pages(
    bundle_path: Path,
    tier: Tier = "public",
    paper: str = "a4",
    formats: tuple[str, ...] = DEFAULT_FORMATS,
    beside: str = "",
    templates: Path | None = None,
) -> dict[str, bytes]:
    """Return the dossier's files by their relative names, and a `summary.json` for the pages of a site.

    `beside` is the folder, relative to the dossier, into which the caller publishes the bundle's files, if it does;
    `templates` a folder of templates that go before those that ship.
    """
    chosen = Templates(templates)
    bundle = open_bundle(bundle_path)
    dossier = build(bundle, tier, beside)
    made: dict[str, bytes] = {}
    rows: dict[str, str] = {}
    if "html" in formats:
        from reportgen.dossier import html

        rows = html.rows(dossier, chosen)
    for name in formats:
        page = "dossier.html" if "html" in formats else ""
        file = f"dossier.{'md' if name == 'markdown' else name}"
        made[file] = _write(name, dossier, bundle, paper, chosen, page, len(rows))
    if "html" in formats:
        made |= {f"{BESIDE}/{name}": text.encode() for name, text in rows.items()}
        made |= {f"{BESIDE}/{file.name}": file.text.encode() for file in dossier.data if not file.inline}
    made["summary.json"] = json.dumps(summary(dossier), ensure_ascii=False, sort_keys=True).encode()
    return made


def _write(
    name: str, dossier: Dossier, bundle: Bundle, paper: str, templates: Templates, page: str, rows: int
) -> bytes:
    """Return a dossier in one format; `page` is the name of its HTML where that lies beside it, `rows` counts its pages of rows."""
    if name == "html":
        from reportgen.dossier import html

        return html.render(dossier, templates, rows).encode()
    if name == "pdf":
        from reportgen.dossier import pdf
        from reportgen.dossier.attachments import attachments

        return pdf.render(dossier, attachments(dossier, bundle), "letter" if paper == "letter" else "a4", templates)
    if name == "json":
        from reportgen.dossier import jsonform

        return jsonform.render(dossier)
    if name == "markdown":
        from reportgen.dossier import markdown

        return markdown.render(dossier, page).encode()
    raise UserError(None, f"'{name}' is not a format", f"use one of {', '.join(FORMATS)}")


def _headline(finding: Finding) -> str:
    """Return the first finding in a line: with the figures of one group, where several have theirs."""
    return plain(replace(finding, entries=finding.entries[:1], closing=()).whole)


def summary(dossier: Dossier) -> dict[str, object]:
    """Return what a site's pages say of a dossier in a few words."""
    return {
        "title": dossier.title,
        "gpu": dossier.gpu,
        "date": dossier.started[:10],
        "status": dossier.status,
        "version": dossier.version,
        "lead": plain(dossier.lead),
        "headline": _headline(dossier.findings[0]) if dossier.findings else "",
        "scenarios": [chip.text for chip in dossier.chips if chip.kind == "scenario"],
        "backends": [chip.text for chip in dossier.chips if chip.kind == "backend"],
    }
