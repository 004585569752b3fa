from __future__ import annotations

from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from reportgen.dossier import markdown
from reportgen.dossier.model import (
    Block,
    Caution,
    Cell,
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

NASTY = (
    *(visible(name) for name in hostile.NAMES),
    "1. not a list",
    "- not a list",
    "= not a rule",
    "&lt;b&gt; &amp;",
    "![x](http://x) [y](z) <http://z>",
    "a|b||c",
    "**bold** __b__ ~~s~~ `c` ``d``",
    "# no heading",
    "> no quote",
    "back\\slash\\",
    "two\nlines",
)
METHOD = Section("method", "How it was measured", ())


def dossier(name: str) -> Dossier:
    figure = Figure(1.0, "1 000", "u*|<i>", "1000", "r.AvgValue")
    table = Table(
        "t",
        "A table.",
        (Column(name), Column("time", "u*|<i>", True)),
        (
            (Cell((Name(name, name),), name), Cell((figure,), 1.0, "unstable", "why")),
            (Cell((name,)), Cell((), 0, "failed", "boom")),
        ),
        3,
        "processed-ncu-cold_l2.csv",
    )
    return Dossier(
        title=name,
        suite="s",
        bundle_id="s-20261130T211006Z",
        digest="0" * 64,
        version="0" * 12,
        reportgen="0.1",
        status="complete",
        tier="full",
        started="2026-11-30T21:10:06Z",
        gpu=name,
        lead=(Name(name, name), " took ", figure),
        chips=(),
        findings=(Finding("fastest", (name, " and ", Name(name, name), " ", figure), "g"),),
        cautions=(Caution((name,), name, name),),
        sections=(Section("b", name, (name,), (Block("g", name, (), (), (table,)),)),),
        limits=None,
        method=METHOD,
        provenance=(),
        evidence=(),
        verify_command="reportgen verify x",
        render_command="reportgen render x",
        glossary=(),
        data=(),
    )


def parsed(text: str) -> list[tuple[str, str]]:
    """Return the kinds of tokens with their texts, inline ones as well."""
    made = MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(text)
    return [(t.type, t.content) for token in made for t in (token, *(token.children or ()))]


@pytest.mark.parametrize("name", NASTY, ids=range(len(NASTY)))
def test_no_name_is_taken_for_markup(name: str) -> None:
    got = parsed(markdown.render(dossier(name)))
    plain = parsed(markdown.render(dossier("name")))
    assert [kind for kind, _ in got if kind != "text_special"] == [kind for kind, _ in plain if kind != "text_special"]


@pytest.mark.parametrize("name", NASTY, ids=range(len(NASTY)))
def test_every_name_is_read_as_it_is(name: str) -> None:
    html = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(markdown.render(dossier(name)))
    want = (
        " ".join(name.splitlines())
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace('"', "&quot;")
    )
    assert html.count(want) >= 10


def test_a_dossier_says_its_findings_cautions_tables_and_evidence() -> None:
    text = markdown.render(dossier("name"))
    assert "\n1. name and name 1 000 u\\*\\|\\<i\\>\n" in text
    assert "\n- **name** name *name*\n" in text
    assert (
        "\n| name | time (u\\*\\|\\<i\\>) |\n| --- | ---: |\n| name | 1 000 (unstable) |\n| name |  (failed) |\n"
        in text
    )
    assert "3 more rows stand in `processed-ncu-cold_l2.csv`." in text
    assert f"Bundle `{'0' * 64}`; check it with `reportgen verify x`." in text
    assert text.endswith("\n")


def test_limits_stand_where_there_are_some() -> None:
    with_limits = replace(dossier("name"), limits=Section("why", "Why it is so", ("Because.",)))
    assert "\n## Why it is so\n\nBecause.\n" in markdown.render(with_limits)
