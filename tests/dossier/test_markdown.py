"""The Markdown form, as GitHub's own parser reads it: names are text, tables are tables, links lead to the page."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options

from reportgen.dossier import markdown
from reportgen.dossier.model import (
    Block,
    Caution,
    Cell,
    Chip,
    Column,
    Dossier,
    Figure,
    Finding,
    Name,
    Section,
    Table,
)
from reportgen.dossier.text import visible
from tests import hostile
from tests.dossier import specimen

NASTY = (
    *(visible(name) for name in hostile.NAMES),
    "1. not a list",
    "1) not a list",
    "- not a list",
    "+ not a list",
    "= not a rule",
    "===",
    "---",
    "&lt;b&gt; &amp;",
    "![x](http://x) [y](z) <http://z>",
    "a|b||c\\|d",
    "**bold** __b__ ~~s~~ `c` ``d``",
    "`",
    " `` ",
    "# no heading",
    "> no quote",
    "back\\slash\\",
    "@someone, #12 and GH-7 :tada: see www.example.org or https://example.org, me@example.org",
    "</details><img src=x onerror=alert(1)>",
)


class Seen(HTMLParser):
    """What GitHub makes of a text: its elements, its words, and its links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = [""]
        self.links: list[str] = []
        self.feed(cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "span":  # an element without a meaning, put in by us
            self.tags.append(tag)
            self.words.append("")
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_endtag(self, tag: str) -> None:
        if tag != "span":
            self.words.append("")

    def handle_data(self, data: str) -> None:
        self.words[-1] += data


def dossier(name: str) -> Dossier:
    figure = Figure(1.0, "1 000", "u*|<i>", "1000", "r.AvgValue")
    table = Table(
        "t",
        name,
        (Column(name), Column("time", "u*|<i>", True)),
        (
            (Cell((Name(name, name),), name), Cell((figure,), 1.0, "unstable", "why")),
            (Cell((name,)), Cell((), 0, "failed", name)),
        ),
        3,
        "processed-ncu-cold_l2.csv",
    )
    return replace(
        specimen.dossier(),
        title=name,
        gpu=name,
        lead=(name, " took ", figure),
        chips=(Chip("backend", name, ""), Chip("scenario", name, "")),
        findings=(Finding("fastest", (name, " and ", Name(name, name), " ", figure), "g"),),
        cautions=(Caution("clocks", (name,), name, (name,), ((name,),)),),
        sections=(Section("b", name, (name,), (Block("g", name, (), (), (table,)),)),),
        limits=None,
    )


@pytest.mark.parametrize("name", NASTY, ids=range(len(NASTY)))
def test_no_name_is_taken_for_markup_a_mention_or_an_address(name: str) -> None:
    got, plain = Seen(markdown.render(dossier(name))), Seen(markdown.render(dossier("name")))

    assert got.tags == plain.tags
    assert got.links == plain.links == []


@pytest.mark.parametrize("name", NASTY, ids=range(len(NASTY)))
def test_every_name_is_read_as_it_is(name: str) -> None:
    said = [" ".join(words.split()) for words in Seen(markdown.render(dossier(name))).words]
    want = " ".join(name.split())

    assert sum(want in words for words in said) >= 12


@pytest.mark.parametrize("name", NASTY, ids=range(len(NASTY)))
def test_what_github_brings_to_life_is_cut_apart_outside_code(name: str) -> None:
    text = re.sub(r"(`+) ?.*?[^`]\1(?!`)", "", markdown.render(dossier(name)))

    assert not re.search(r"@\w|(?<!&)#\d|\bGH-\d|:\w+:|://|www\.\w", text)


def test_a_dossier_says_its_head_findings_cautions_tables_and_evidence() -> None:
    text = markdown.render(dossier("name"))

    assert text.startswith(
        "# name\n\n**name** · 30 November 2026, 21:10 UTC · complete · backend `name` · scenario `name` · version `1f0c2ab94e57`\n"
    )
    assert "\n1. name and `name` 1 000 u\\*\\|\\<i\\> (Table 1)\n" in text
    assert "\n- **name** name *Mend:* name\n" in text
    assert "\nTable 1. name\n\n| name | time (u\\*\\|\\<i\\>) |\n| --- | ---: |\n" in text
    assert "\n| `name` | 1 000 *unstable* |\n| name | *failed*<sup>a</sup> |\n" in text
    assert "Not shown here of Table 1: 3 more rows." in text
    assert "```sh\nreportgen verify " in text
    assert text.endswith("```\n")


def test_links_lead_into_the_page_where_it_stands_beside() -> None:
    seen = Seen(markdown.render(dossier("name"), "dossier.html"))

    assert set(seen.links) == {"dossier.html", "dossier.html#t"}


def test_a_long_table_is_folded_and_cut_and_a_wide_one_says_what_is_not_shown() -> None:
    wide = replace(
        specimen.many_rows(100),
        columns=(*specimen.COLUMNS, *(Column(f"more {n}", "", True) for n in range(5))),
    )
    wide = replace(wide, rows=tuple((*row, *[Cell(("x",))] * 5) for row in wide.rows))
    base = dossier("name")
    block = replace(base.sections[0].blocks[0], tables=(wide,) * 7)
    text = markdown.render(replace(base, sections=(replace(base.sections[0], blocks=(block,)),), findings=()))
    seen = Seen(text)

    assert seen.tags.count("details") == 5
    assert seen.tags.count("tr") == 5 + markdown.MOST_ROWS
    assert {line.count(" | ") for line in text.splitlines() if line.startswith("| ")} == {8}
    left = len(wide.columns) - 9
    assert text.count(f"60 more rows and the columns {', '.join(c.label for c in wide.columns[-left:])}.") == 5
    assert text.count("100 more rows.") == 2
    assert len(text) < 65_536


def test_the_specimen_is_markdown_without_loss() -> None:
    seen = Seen(markdown.render(specimen.dossier(), "dossier.html"))
    whole = " ".join("".join(seen.words).split())

    assert seen.tags.count("table") == 4
    for part in ("What this says", "What to keep in mind", "Why it is so", "795 TFLOP/s", specimen.SCRIPT):
        assert part in whole
    assert all(link.startswith("dossier.html") for link in seen.links)


def test_limits_stand_where_there_are_some() -> None:
    with_limits = replace(dossier("name"), limits=Section("why", "Why it is so", ("Because.",)))
    assert "\n## Why it is so\n\nBecause.\n" in markdown.render(with_limits)
