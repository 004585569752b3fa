"""The site's pages: what their templates may use, as types, and the one place that renders them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from reportgen.dossier.environment import Templates
from reportgen.dossier.model import Tier

_STYLES = ("shared/tokens.css", "site/site.css", "site/own.css")


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


@dataclass(frozen=True, slots=True)
class FrontContext:
    """The variable of `site/front.html.j2`."""

    page: FrontPage


@dataclass(frozen=True, slots=True)
class MissingContext:
    """The variable of `site/404.html.j2`."""

    page: MissingPage


CONTEXTS: Mapping[str, type] = {"site/404.html.j2": MissingContext, "site/front.html.j2": FrontContext}


def stylesheet(templates: Templates | None = None) -> bytes:
    """Return the site's stylesheet: the shared tokens, then the site's own rules."""
    return (templates or Templates()).source(*_STYLES).encode()


def front(page: FrontPage, templates: Templates | None = None) -> bytes:
    """Render the front page."""
    return (templates or Templates()).render("site/front.html.j2", FrontContext(page)).encode()


def missing(title: str, home: str, templates: Templates | None = None) -> bytes:
    """Render the page for an address that is not there."""
    made = templates or Templates()
    # A browser hashes the text of <style> as it stands in the page, so it is put there unchanged.
    style = stylesheet(made).decode()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    page = MissingPage(title, home, style, f"sha256-{digest}")
    return made.render("site/404.html.j2", MissingContext(page)).encode()
