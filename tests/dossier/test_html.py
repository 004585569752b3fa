"""The HTML page: whole in one file, names as text, every link with its target."""

from __future__ import annotations

import base64
import hashlib
import html as entities
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from jinja2 import UndefinedError

from reportgen.dossier import html
from reportgen.dossier.model import Cell, Finding
from tests.dossier import specimen

VOID = {"meta", "wbr", "br", "col", "img", "input", "link", "hr"}


class Page(HTMLParser):
    """Read a page strictly: every element is closed in order; keeps attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"an attribute stands twice in {tag}: {attrs}"
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.setdefault(self.open[-1] if self.open else "", []).append(data)

    def all(self, name: str) -> list[str]:
        return [attributes[name] for _, attributes in self.elements if name in attributes]


@pytest.fixture(scope="module")
def text() -> str:
    return html.render(specimen.dossier())


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_is_the_same_each_time(text: str) -> None:
    assert html.render(specimen.dossier()) == text


def test_ids_are_unique_and_every_link_has_its_target(page: Page) -> None:
    ids = page.all("id")
    assert [name for name, times in Counter(ids).items() if times > 1] == []
    targets = [href[1:] for href in page.all("href") if href.startswith("#")]
    assert len(targets) > 20
    assert set(targets) <= set(ids)
    for name in ("aria-labelledby", "aria-describedby", "for"):
        assert {word for value in page.all(name) for word in value.split()} <= set(ids)


def test_asks_for_nothing_from_outside(page: Page) -> None:
    asked = [value for name in ("src", "href", "srcset", "action", "data", "poster") for value in page.all(name)]
    assert [value for value in asked if not value.startswith(("#", "data:text/csv"))] == []
    assert {tag for tag, _ in page.elements} & {"link", "img", "iframe", "object", "embed", "base", "form"} == set()


def test_has_no_inline_style_and_no_event_attribute(page: Page) -> None:
    assert page.all("style") == []
    assert [name for _, attributes in page.elements for name in attributes if name.startswith("on")] == []


def test_policy_names_its_one_style_and_one_script(text: str, page: Page) -> None:
    policy = next(
        a["content"] for tag, a in page.elements if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    )
    for tag in ("style", "script"):
        found = re.findall(rf"<{tag}>(.*?)</{tag}>", text, flags=re.DOTALL)
        assert len(found) == 1
        digest = base64.b64encode(hashlib.sha256(found[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    for rule in ("default-src 'none'", "img-src data:", "base-uri 'none'", "form-action 'none'"):
        assert rule in policy


def test_the_script_is_small(page: Page) -> None:
    assert len("".join(page.text["script"])) < 7000


@pytest.mark.parametrize("name", [specimen.SCRIPT, specimen.MARKUP, specimen.CHINESE, specimen.LONG])
def test_a_hostile_name_is_text(page: Page, name: str) -> None:
    assert name in page.text["code"]
    assert name in page.all("title")


def test_what_cannot_be_seen_is_written_out(text: str, page: Page) -> None:
    assert "copyU+202Egnp.exeU+202C" in page.text["code"]
    assert "bellU+0007 and nullU+0000 and half U+DCFF" in page.text["code"]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)


def test_every_figure_carries_its_value_and_source(text: str, page: Page) -> None:
    figures = [attributes for tag, attributes in page.elements if tag == "data"]
    assert len(figures) > 100
    assert all(float(figure["value"]) == float(figure["value"]) and figure["data-source"] for figure in figures)
    assert (
        '<data value="795214023180000" data-source="1f0c2ab94e57.AvgValue" title="795.21402318 TFLOP/s">795</data>&nbsp;TFLOP/s'
        in text
    )


def test_a_unit_that_stands_in_the_head_is_not_repeated() -> None:
    columns = (replace(specimen.COLUMNS[0]), replace(specimen.COLUMNS[2], unit="us"))
    table = replace(specimen.many_rows(1), columns=columns, rows=(_row("us"), _row("ms")))
    dossier = specimen.dossier()
    block = replace(dossier.method.blocks[0], tables=(table,))
    text = html.render(replace(dossier, method=replace(dossier.method, blocks=(block,))))
    assert text.count(">7.25</data></td>") == 1
    assert text.count(">7.25</data>&nbsp;ms</td>") == 1


def _row(unit: str) -> tuple[Cell, ...]:
    return Cell(("row",)), Cell((specimen.figure(7250, "7.25", unit),))


def test_headings_stand_in_order_under_one_h1(page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_landmarks_language_and_a_way_past_the_contents(page: Page) -> None:
    tags = [tag for tag, _ in page.elements]
    assert [tags.count(tag) for tag in ("header", "nav", "main", "footer")] == [1, 1, 1, 1]
    tag, attributes = page.elements[0]
    assert (tag, attributes["lang"]) == ("html", "en")
    assert next(a["href"] for tag, a in page.elements if tag == "a") == "#main"


def test_what_scrolls_can_be_reached_by_keyboard_and_has_a_name(page: Page) -> None:
    regions = [attributes for _, attributes in page.elements if "scroll" in attributes.get("class", "").split()]
    assert len(regions) > 8
    assert all(
        r["tabindex"] == "0" and r["role"] == "group" and ("aria-label" in r or "aria-labelledby" in r) for r in regions
    )


def test_numeric_columns_are_marked_in_head_and_body(text: str) -> None:
    table = re.search(r'<table aria-labelledby="matmul-ncu-rows-caption">.*?</table>', text, flags=re.DOTALL)
    assert table is not None
    for row in re.findall(r"<tr>.*?</tr>", table.group(), flags=re.DOTALL):
        assert [' class="n"' in cell for cell in re.findall("<t[hd][^>]*>", row)] == [
            c.numeric for c in specimen.COLUMNS
        ]


def test_a_cell_without_a_value_says_why(text: str) -> None:
    reason = "cudaErrorInvalidValue: the shape is not a multiple of 16"
    assert f'<span class="mark mark-failed" title="{reason}">failed<sup>a</sup></span>' in text
    assert f'<li><sup>a</sup> <span class="mark mark-failed">failed</span>: {reason}</li>' in text
    assert '<span class="mark mark-skipped">skipped</span>' in text


def test_rows_left_out_are_told_with_their_place(text: str) -> None:
    assert '12 more rows stand in the data. <a href="#data-6">processed.csv</a>' in text


def test_provenance_is_complete_without_script(page: Page) -> None:
    said = " ".join(page.text["dd"])
    assert "NVML has no right to read it in this container" in said
    assert "the public tier hides it" in said
    assert "580.159.04" in said


def test_data_is_carried_within_and_only_once(page: Page) -> None:
    carried = [a for tag, a in page.elements if tag == "a" and "download" in a]
    assert sorted(a["download"] for a in carried) == sorted(file.name for file in specimen.dossier().data)
    assert base64.b64decode(carried[0]["href"].partition(",")[2]).decode() == f"n,{specimen.CHINESE}\n512,1.5\n"


def test_a_long_data_file_is_linked_beside_the_page() -> None:
    dossier = specimen.dossier()
    text = html.render(replace(dossier, data=tuple(replace(file, inline=False) for file in dossier.data)))
    assert 'href="dossier_files/processed.csv"' in text
    assert "data:text/csv" not in text


def test_a_finding_whose_target_is_missing_is_an_error() -> None:
    lost = replace(specimen.dossier(), findings=(Finding("rule", ("words",), "nowhere"),))
    with pytest.raises(UndefinedError, match="nowhere"):
        html.render(lost)


def test_parts_that_a_dossier_lacks_are_left_out_of_the_contents() -> None:
    bare = replace(
        specimen.dossier(),
        findings=(),
        cautions=(),
        sections=(),
        limits=None,
        glossary=(),
        data=(),
        evidence=(),
        chips=(),
    )
    page = Page(html.render(bare))
    targets = {href[1:] for href in page.all("href") if href.startswith("#")}
    assert targets <= set(page.all("id"))
    assert "findings" not in targets


def test_is_light() -> None:
    assert len(html.render(specimen.dossier()).encode()) < 250_000


def test_charts_stand_as_they_were_drawn(text: str) -> None:
    for chart in specimen.dossier().charts:
        assert all(panel in text for panel in chart.panels)
        assert f'<title id="{chart.id}-title">{entities.escape(chart.title)}</title>' in text
