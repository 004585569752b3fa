"""Each figure of a dossier leads to its row, and from there to the files and places of its samples."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from reportgen.dossier import html, origins
from reportgen.dossier.build import build
from reportgen.dossier.model import Dossier, figures
from reportgen.dossier.origins import ranges
from reportgen.evidence.bundle import Bundle, open_bundle
from reportgen.workflow.ingest import ingest

DATA = Path(__file__).parent.parent / "data"


class Links(HTMLParser):
    """Gathers a page's ids, its links, and the sources of its figures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.outside: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        self.ids += [known["id"]] if "id" in known else []
        self.links += [known["href"]] if tag == "a" else []
        self.sources += [known.get("data-source", "")] if tag == "data" else []
        self.outside += [name for name in known if name.startswith("on") or name in ("style", "src")]
        self.outside += [tag] if tag in ("script", "link", "iframe", "img") else []


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    out = tmp_path_factory.mktemp("origins")
    files = [DATA / "matmul.ncu-rep", DATA / "thread.ncu-rep"]
    return open_bundle(ingest(files, out, suite="two", derived=["TFLOP/s=2*n**3/time/1e12"]).path)


@pytest.fixture(scope="module")
def dossier(bundle: Bundle) -> Dossier:
    return build(bundle, "full", "evidence")


def _check_links(dossier: Dossier, pages: dict[str, str]) -> None:
    """Follow every link of a dossier's page and of its pages of rows to an element that is there."""
    found = {f"dossier_files/{name}": Links(text) for name, text in pages.items()}
    found["dossier.html"] = Links(html.render(dossier, rows=len(pages)))
    followed = 0
    for name, page in found.items():
        for link in page.links:
            path, _, fragment = link.partition("#")
            if path.startswith(("data:", "evidence/", "../evidence/")) or path.endswith(".csv"):
                continue
            folder = (
                "dossier_files/" if name.startswith("dossier_files/") and path and not path.startswith("../") else ""
            )
            target = found[f"{folder}{path.removeprefix('../')}" if path else name]
            assert not fragment or unquote(fragment) in target.ids, (name, link)
            followed += bool(fragment)
    assert followed > 200


def test_every_link_leads_to_an_element(dossier: Dossier) -> None:
    pages = html.rows(dossier)

    assert list(pages) == ["rows.html"]
    assert len(set(Links(pages["rows.html"]).ids)) == len(Links(pages["rows.html"]).ids)
    _check_links(dossier, pages)


def test_what_is_too_long_for_one_page_is_split_and_still_found(
    dossier: Dossier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "MOST_BYTES", 60_000)
    pages = html.rows(dossier)

    assert len(pages) >= 2
    assert list(pages) == [f"rows-{part}.html" for part in range(len(pages))]
    assert all(len(page.encode()) <= 60_000 for page in pages.values())
    ids = [name for page in pages.values() for name in Links(page).ids if re.fullmatch("[0-9a-f]{12}", name)]
    assert sorted(ids) == sorted(row.id for row in dossier.sources.rows)
    _check_links(dossier, pages)


def test_pages_of_rows_hold_no_script_and_reach_for_nothing(dossier: Dossier) -> None:
    page = html.rows(dossier)["rows.html"]

    assert Links(page).outside == []
    assert "script-src &#39;none&#39;" in page
    assert "http" not in page.replace("http-equiv", "")


def test_a_page_that_stands_alone_leads_nowhere_beside_it(dossier: Dossier) -> None:
    page = Links(html.render(dossier))

    assert not [link for link in page.links if "rows" in link]


def test_every_row_that_a_figure_names_is_there_with_all_its_samples(dossier: Dossier, bundle: Bundle) -> None:
    rows = {row.id: row for row in dossier.sources.rows}
    named = {
        row
        for figure in figures((dossier.sections, dossier.findings))
        for row in re.findall("[0-9a-f]{12}", figure.source)
    }
    samples = bundle.samples()

    assert named <= set(rows)
    for row in rows.values():
        mine = samples[(samples["metric"] == row.metric) & (samples["annotation"] == row.annotation.whole)]
        counted = sum(int(origin.samples.value) for origin in row.origins)
        assert bool(row.formula) != bool(row.origins)
        assert counted <= len(mine)
        for origin in row.origins:
            file = dossier.sources.files[origin.file]
            assert file.sha256 == bundle.digests[file.path]
            assert file.href == f"evidence/{file.path}"


def test_a_formula_leads_to_the_rows_that_it_reads(dossier: Dossier) -> None:
    rows = {row.id: row for row in dossier.sources.rows}
    derived = [row for row in rows.values() if row.metric == "TFLOP/s"]

    assert derived
    for row in derived:
        assert row.formula == "2*n**3/time/1e12"
        assert [rows[read].metric for read in row.reads] == ["gpu__time_duration.sum"]
        assert [rows[read].configuration for read in row.reads] == [row.configuration]


def test_the_table_of_sources_has_each_row_with_its_files(dossier: Dossier, bundle: Bundle) -> None:
    text = next(file.text for file in dossier.data if file.name == origins.DATA_NAME)
    lines = list(csv.DictReader(io.StringIO(text, newline="")))

    assert {line["row"] for line in lines} == {row.id for row in dossier.sources.rows}
    for line in lines:
        assert bool(line["file"]) != bool(line["formula"])
        if line["file"]:
            assert bundle.digests[line["file"]] == line["sha256"]


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ([], ""),
        (["L7"], "L7"),
        (["0/1", "0/2"], "0/1, 0/2"),
        (["0/9", "0/10", "0/11", "0/13"], "0/9 to 0/11, 0/13"),
        (["0/1", "0/2", "0/3", "1/4", "1/5", "1/6"], "0/1 to 0/3, 1/4 to 1/6"),
        ([f"L{2 * n}" for n in range(11)], "L0 … L20"),
        (["0/*", "a"], "0/*, a"),
    ],
)
def test_places_are_said_in_short(places: list[str], said: str) -> None:
    assert ranges(places) == said
