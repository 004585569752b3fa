"""Every link of a built site of all shipped bundles leads to a file and an element that are there, and no id stands twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from reportgen.dossier.markup import Node, tree
from reportgen.publish.site import build
from tests.dossier import shipped

_ADDRESSES = ("href", "src", "srcset", "data", "poster", "action", "xlink:href")
_REFERENCES = ("aria-labelledby", "aria-describedby", "aria-controls", "for", "headers")
_URL = re.compile(r"url\(([^)]*)\)")


@dataclass
class Page:
    """A page of a site: its ids, and what it refers to."""

    path: Path
    text: str

    @cached_property
    def ids(self) -> Counter[str]:
        return Counter(node.get("id") for node in self._root.nodes() if "id" in node.attributes)

    @cached_property
    def addresses(self) -> list[str]:
        """Return each address that the page names, in its elements and in what paints its drawings."""
        found = [node.get(name) for node in self._root.nodes() for name in _ADDRESSES if name in node.attributes]
        values = (value for node in self._root.nodes() for value in node.attributes.values())
        return found + [address.strip("'\" ") for value in values for address in _URL.findall(value)]

    @cached_property
    def references(self) -> list[str]:
        values = [node.get(name) for node in self._root.nodes() for name in _REFERENCES if name in node.attributes]
        return [word for value in values for word in value.split()]

    @cached_property
    def _root(self) -> Node:
        return tree(self.text)


Pages = dict[Path, Page]


def faults(site: Path, found: Pages, *, of: Sequence[Page] = ()) -> Iterator[str]:
    """Name each link that leads nowhere, each reference without an element, and each id that stands twice.

    All pages are looked at unless `of` names some.
    """
    for page in of or found.values():
        here = page.path.relative_to(site).as_posix()
        yield from (f"{here}: the id '{name}' stands {times} times" for name, times in page.ids.items() if times > 1)
        yield from (f"{here}: '{name}' names no element" for name in page.references if name not in page.ids)
        for address in page.addresses:
            if said := _fault(address, page, site, found):
                yield f"{here}: '{address[:120]}' {said}"


def _fault(address: str, page: Page, site: Path, found: Pages) -> str:
    parts = urlsplit(address)
    if parts.scheme == "data":
        return ""
    if parts.scheme or parts.netloc:
        return "leads out of the site"
    folder = (
        site if parts.path.startswith("/") else page.path.parent
    )  # only the page for what is missing names the root
    target = (folder / unquote(parts.path).lstrip("/")).resolve() if parts.path else page.path
    if target == site:
        target = site / "index.html"
    if not target.is_file():
        return "leads to no file"
    if parts.fragment and (target not in found or unquote(parts.fragment) not in found[target].ids):
        return "leads to no element"
    return ""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a site of the shipped bundles, of pages only: a link to a PDF is none where there is no PDF."""
    site = tmp_path_factory.mktemp("links")
    (site / "bundles").symlink_to(shipped.BUNDLES[0].parent.parent)
    (site / "site.toml").write_text('pdf = "none"\n', encoding="utf-8")
    built = build(site, jobs=1)
    assert built.warnings == ()
    return (site / "public").resolve()


@pytest.fixture(scope="module")
def found(site: Path) -> Pages:
    return {path: Page(path, path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def test_every_link_leads_somewhere(site: Path, found: Pages) -> None:
    assert list(faults(site, found)) == []


def test_every_dossier_was_looked_at_with_its_rows(site: Path, found: Pages) -> None:
    dossiers = [page for path, page in found.items() if path.name == "dossier.html"]
    rows = [page for path, page in found.items() if path.parent.name == "dossier_files"]

    assert len(dossiers) == len(shipped.BUNDLES)
    assert len(rows) >= len(dossiers)
    for page in dossiers:
        kinds = Counter(
            "data" if address.startswith("data:")
            else "rows" if "dossier_files/rows" in address
            else "evidence" if address.startswith("evidence/")
            else "here" if address.startswith("#")
            else "other"
            for address in page.addresses
        )  # fmt: skip
        assert min(kinds[kind] for kind in ("data", "rows", "evidence", "here")) >= 3, kinds
    assert all(any(address.startswith("../evidence/") for address in page.addresses) for page in rows)


@pytest.mark.parametrize(
    ("name", "pattern", "other", "says"),
    [
        ("dossier.html", r'href="#provenance"', 'href="#provenances"', "leads to no element"),
        ("dossier.html", r"dossier_files/rows(-\d+)?\.html#", "dossier_files/row.html#", "leads to no file"),
        ("dossier.html", r'href="evidence/', 'href="evidences/', "leads to no file"),
        ("dossier.html", r'id="evidence-title"', 'id="provenance-title"', "the id 'provenance-title' stands 2 times"),
        ("dossier.html", r'aria-labelledby="cautions-title"', 'aria-labelledby="lost"', "'lost' names no element"),
        ("dossier.html", r'href="#provenance"', 'href="https://example.org/"', "leads out of the site"),
        ("rows*.html", r'href="\.\./evidence/', 'href="evidence/', "leads to no file"),
        ("rows*.html", r'href="#file-', 'href="#files-', "leads to no element"),
        ("index.html", r"/dossier\.html", "/dossiers.html", "leads to no file"),
    ],
)
def test_a_link_that_was_spoiled_is_named(
    site: Path, found: Pages, name: str, pattern: str, other: str, says: str
) -> None:
    path = next(path for path in found if path.match(name))
    changed, times = re.subn(pattern, other, found[path].text, count=1)
    assert times == 1
    told = list(faults(site, found, of=[Page(path, changed)]))

    assert any(says in line and line.startswith(path.relative_to(site).as_posix()) for line in told), told[:3]
