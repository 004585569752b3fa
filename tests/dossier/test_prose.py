from __future__ import annotations

import pytest

from reportgen.dossier import prose
from reportgen.dossier.model import Name


def test_what_a_suite_writes_is_read_as_markdown() -> None:
    got = prose.html(
        "A *larger* product has **more** work for `n`.\n\n- one\n- two\n\n[see](https://example.org/a?b=1)"
    )
    assert got == (
        "<p>A <em>larger</em> product has <strong>more</strong> work for <code>n</code>.</p>\n"
        "<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n"
        '<p><a href="https://example.org/a?b=1">see</a></p>\n'
    )


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("<script>alert(1)</script>", "<script"),
        ('<img src=x onerror="alert(1)">', "<img"),
        ("![a](https://example.org/a.png)", "<img"),
        ("![a](data:image/png;base64,AAAA)", "<img"),
        ("[a](javascript:alert(1))", "<a"),
        ("[a](data:text/html,x)", "<a"),
        ("[a](../secret.html)", "<a"),
        ("[a](//example.org)", "<a"),
        ("<https:evil>", "<a"),
        ("# a heading", "<h"),
        ("a heading\n===", "<h"),
        ("---", "<hr"),
        ("<!-- hidden -->", "<!--"),
        ("a\u202eb", "\u202e"),
        ("a\x00b", "\x00"),
    ],
)
def test_nothing_in_it_runs_is_fetched_or_hides(text: str, never: str) -> None:
    assert never not in prose.html(text)
    assert prose.html(text).strip()


def test_as_sentences_it_keeps_its_words_and_its_code() -> None:
    got = prose.sentences("A *larger* product\nof `n`.\n\n- an [item](https://example.org)\n\n```\ncode  here\n```\n")
    assert got == (
        ("A larger product of ", Name("n", "n"), "."),
        ("an item",),
        (Name("code here", "code here"),),
    )
    assert prose.sentences("") == ()


def test_a_suite_that_writes_nonsense_is_shown_as_it_is() -> None:
    assert prose.html("*" * 5000 + "[" * 5000)
    assert prose.html("> " * 200 + "deep")
