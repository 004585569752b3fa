"""Pages as they are laid out: nothing collides whatever names and titles are, links are footnotes, tall charts fit."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from reportgen.dossier import fonts, pdf
from reportgen.dossier.environment import Templates
from reportgen.dossier.model import Block, Dossier, Section
from tests.dossier import specimen
from tests.dossier.pdf.conftest import Print
from tests.dossier.pdf.reading import Document, collisions, squeezed

LONG = {
    "words": "the memory bandwidth of everything that there is and more " * 4,
    "one word": "W" * 150,
    "another script": "索引" * 40,
    "narrow": "il" * 90,
}


@pytest.fixture(scope="module")
def document(printed: Print) -> Document:
    return printed(specimen.dossier())


def test_nothing_collides_even_among_names_that_break_templates(document: Document) -> None:
    assert collisions(document) == []


@pytest.mark.parametrize("name", LONG.values(), ids=LONG.keys())
def test_the_running_head_has_room_whatever_the_name(name: str, printed: Print) -> None:
    document = printed(replace(specimen.dossier(), suite=name, title=name))

    assert collisions(document) == []
    for number, page in enumerate(document.pages, 1):
        head = [word for word in page.words if word.box.bottom < 24 / 25.4 * 72]
        text = " ".join(word.text for word in head)
        assert len({round(word.box.bottom) for word in head}) == 1
        assert text.endswith(f"version 1f0c2ab94e57 · page {number} of {len(document.pages)}")
        assert "…" in text


@pytest.mark.parametrize("paper", ["a4", "letter"])
def test_a_name_that_fits_is_whole_in_the_running_head(paper: pdf.Paper) -> None:
    dossier = specimen.dossier()
    assert pdf.running_head(dossier, paper) == dossier.suite
    assert pdf.running_head(replace(dossier, suite="索"), paper) == "U+7D22"
    cut = pdf.running_head(replace(dossier, suite="m" * 500), paper)
    assert 20 < len(cut) < 60


def test_page_one_has_the_identity_and_every_finding(document: Document) -> None:
    dossier = specimen.dossier()
    first = squeezed(document.pages[0].text)
    for said in (dossier.title, dossier.gpu, dossier.digest, "30 November 2026, 21:10 UTC", "What this says", "795"):
        assert squeezed(said) in first


def test_outward_links_are_footnotes(printed: Print) -> None:
    dossier = specimen.dossier()
    linked = pdf.with_footnotes(
        '<p>See <a class="x" href="https://example.org/a?b=1&amp;c=2">this <b>page</b></a> and <a href="#b">that</a>.</p>'
    )

    assert linked == (
        '<p>See <a class="x" href="https://example.org/a?b=1&amp;c=2">this <b>page</b></a>'
        '<span class="address">https://example.org/a?b=1&amp;c=2</span> and <a href="#b">that</a>.</p>'
    )
    assert 'class="address"' not in pdf.page(dossier)


@pytest.mark.parametrize("links", [1, 2, 3, 7])
def test_footnotes_stand_at_the_foot_of_their_page(links: int, tmp_path: Path) -> None:
    from reportgen.dossier.press import press

    style = Templates().source("dossier/print.css")
    named = " ".join(f'<a href="https://example.org/{n}">link</a>' for n in range(links))
    body = pdf.with_footnotes(f"<h1>Title</h1><p>See {named}.</p><p>Below.</p>")
    page = f'<html lang="en"><title>x</title><style>{style}</style><body>{body}'
    path = tmp_path / "footnotes.pdf"
    with fonts.only_ours():
        path.write_bytes(press(page, (), datetime(2026, 1, 1, tzinfo=UTC)))
    document = Document(path)
    (only,) = document.pages
    places = {word.text: word.box for word in only.words}

    for n in range(links):
        assert places[f"https://example.org/{n}"].top > places["Below."].bottom + 200
    assert collisions(document) == []


def _tall(height: int) -> Dossier:
    base = specimen.dossier()
    chart = base.sections[0].blocks[0].charts[0]
    tall = re.sub(
        r'height="\d+" viewBox="0 0 532.8 \d+"', f'height="{height}" viewBox="0 0 532.8 {height}"', chart.panels[0]
    )
    section = Section("tall", "Tall", (), (Block("b", "B", ("Words.",), (replace(chart, panels=(tall,)),)),))
    return replace(base, sections=(section,), limits=None, findings=())


@pytest.mark.parametrize("paper", ["a4", "letter"])
@pytest.mark.parametrize("height", [900, 1500])
def test_a_tall_chart_stays_on_one_page_with_its_caption(
    paper: pdf.Paper, height: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("tall") / "dossier.pdf"
    path.write_bytes(pdf.render(_tall(height), (), paper))
    document = Document(path)
    drawing = document.drawings()[0]
    page = document.pages[drawing.page]
    caption = next(word for word, after in pairwise(page.words) if (word.text, after.text) == ("Figure", "1."))

    assert drawing.box.top > 60
    assert drawing.box.bottom <= caption.box.top + 2
    assert caption.box.bottom < page.height - 20 / 25.4 * 72 + 1
