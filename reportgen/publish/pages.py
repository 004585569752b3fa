"""The site's pages: what their templates may use, as types, and the one place that renders them."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache

import jinja2

from reportgen.dossier.model import Tier
from reportgen.resources import templates


@dataclass(frozen=True, slots=True)
class Download:
    """A file beside a dossier, with its size in words."""

    label: str
    href: str
    size: str


@dataclass(frozen=True, slots=True)
class Card:
    """One dossier on the front page."""

    title: str
    href: str
    gpu: str
    date: str
    start: str  # for <time datetime>: 2026-11-30T21:10:06Z
    status: str  # complete, partial, imported
    version: str
    headline: str  # the first finding in words; "" where nothing was found
    lead: str
    backends: tuple[str, ...]
    scenarios: tuple[str, ...]
    downloads: tuple[Download, ...]


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite's dossiers of one GPU, backend and scenario: the newest in full, the earlier ones as a list of links."""

    name: str
    anchor: str
    newest: Card
    earlier: tuple[Card, ...] = ()


@dataclass(frozen=True, slots=True)
class FrontPage:
    """All that `front.html.j2` may use."""

    title: str
    description: str
    summary: str
    newest: str  # the date of the newest evidence, which is the site's clock; "" where there is none
    suites: tuple[Suite, ...]
    tier: Tier
    reportgen_version: str
    stylesheet: str  # relative to the page


@dataclass(frozen=True, slots=True)
class MissingPage:
    """All that `404.html.j2` may use. It is served at any depth, so it carries its style and its link home is absolute."""

    title: str
    home: str
    style: str
    style_digest: str  # the CSP's hash source for `style`


def stylesheet() -> bytes:
    """Return the site's stylesheet: the shared tokens, then the site's own rules."""
    parts = (templates() / "shared" / "tokens.css", templates() / "site" / "site.css")
    return "\n".join(part.read_text(encoding="utf-8") for part in parts).encode()


def front(page: FrontPage) -> bytes:
    """Render the front page."""
    return _render("front.html.j2", page)


def missing(title: str, home: str) -> bytes:
    """Render the page for an address that is not there."""
    # A browser hashes the text of <style> as it stands in the page, so it is put there unchanged.
    style = stylesheet().decode()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return _render("404.html.j2", MissingPage(title, home, style, f"sha256-{digest}"))


def _render(template: str, page: FrontPage | MissingPage) -> bytes:
    return _environment().get_template(template).render(page=page).encode()


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates() / "site"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
