"""Templates of one's own go before those that ship, and what goes wrong in one is named with its place."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from reportgen.dossier import html
from reportgen.dossier.environment import TemplateFault, Templates, replaceable
from reportgen.dossier.model import Dossier
from tests.dossier import specimen


@dataclass(frozen=True)
class Said:
    word: str = "<b>"


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def dossier() -> Dossier:
    return replace(specimen.dossier(), sections=(), findings=())


def test_a_file_goes_before_the_one_that_ships(tmp_path: Path) -> None:
    write(tmp_path, "dossier/page.html.j2", "{{ dossier.title }}: {{ style }}")
    write(tmp_path, "shared/tokens.css", ":root { --ink: #123456; }")

    text = html.render(dossier(), Templates(tmp_path))

    assert text.startswith("Matrix multiplication by precision: :root { --ink: #123456; }\n")
    assert "svg.chart" in text


def test_a_page_may_extend_the_one_that_ships(tmp_path: Path) -> None:
    own = '{% extends "shipped/dossier/page.html.j2" %}{% block footer %}{{ super() }}<p>Of {{ dossier.gpu }}.</p>{% endblock %}'
    write(tmp_path, "dossier/page.html.j2", own)

    text = html.render(dossier(), Templates(tmp_path))

    shipped = html.render(dossier())
    assert text == shipped.replace("</footer>", "<p>Of NVIDIA H200.</p></footer>")


def test_an_added_style_sheet_comes_last_and_its_hash_stands_in_the_policy(tmp_path: Path) -> None:
    write(tmp_path, "dossier/own.css", "h1 { color: #123456; }\n")

    text = html.render(dossier(), Templates(tmp_path))

    assert text.split("</style>")[0].endswith("}\nh1 { color: #123456; }")
    assert text.split("style-src ")[1][:60] != html.render(dossier()).split("style-src ")[1][:60]


def test_names_are_escaped_in_a_template_of_one_s_own(tmp_path: Path) -> None:
    write(tmp_path, "dossier/page.html.j2", "{{ word }}")

    assert Templates(tmp_path).render("dossier/page.html.j2", Said()) == "&lt;b&gt;"


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("\n{{ dossier.titel }}", 2, "has no attribute 'titel'"),
        ("\n\n{{ lost }}", 3, "'lost' is undefined"),
        ("{{ 1 / 0 }}", 1, "division by zero"),
        ("{% for %}", 1, "Expected an expression"),
        ("\n{% include 'none.j2' %}", 2, "none.j2"),
        ("{{ dossier.__class__.__mro__ }}", 1, "access to attribute '__class__' of 'Dossier' object is unsafe"),
        ("{% import 'dossier/parts.html.j2' as parts %}\n{{ parts.lost() }}", 2, "has no attribute 'lost'"),
    ],
)
def test_a_fault_is_named_with_its_file_and_line(tmp_path: Path, text: str, line: int, what: str) -> None:
    path = write(tmp_path, "dossier/page.html.j2", text)

    with pytest.raises(TemplateFault) as caught:
        html.render(dossier(), Templates(tmp_path))

    assert caught.value.line.startswith(f"{path}:{line}: cannot be rendered: ")
    assert what in caught.value.line
    assert "docs/templates.md" in caught.value.line
    assert pickle.loads(pickle.dumps(caught.value)).line == caught.value.line  # noqa: S301 - our own


def test_a_macro_that_is_missing_is_named_with_the_template_that_asks_for_it(tmp_path: Path) -> None:
    write(tmp_path, "dossier/parts.html.j2", "{% macro part(it) %}{% endmacro %}")

    with pytest.raises(TemplateFault, match=r"page\.html\.j2:\d+: cannot be rendered: .*sentence"):
        html.render(specimen.dossier(), Templates(tmp_path))


@pytest.mark.parametrize(("name", "end"), [("dossier/own.css", "</STYLE "), ("dossier/dossier.js", "'</script>'")])
def test_a_style_or_script_that_would_end_itself_is_refused(tmp_path: Path, name: str, end: str) -> None:
    write(tmp_path, name, f"/* {end} */")

    with pytest.raises(TemplateFault, match="would end it within the page"):
        Templates(tmp_path).check()
    with pytest.raises(TemplateFault, match="would end it within the page"):
        html.render(dossier(), Templates(tmp_path))


def test_a_style_sheet_that_is_no_text_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "dossier/own.css", "").write_bytes(b"\xff")

    with pytest.raises(TemplateFault, match=r"own\.css: cannot be read: .*UTF-8"):
        Templates(tmp_path).check()


def test_a_folder_that_changes_nothing_or_is_none_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "page.html.j2", "")

    with pytest.raises(
        TemplateFault, match=r"holds nothing in place of what ships; it may hold .*dossier/page\.html\.j2"
    ):
        Templates(tmp_path).check()
    with pytest.raises(TemplateFault, match="there is no such folder"):
        Templates(tmp_path / "none").check()


def test_what_cannot_be_compiled_is_found_before_anything_is_rendered(tmp_path: Path) -> None:
    write(tmp_path, "dossier/own.css", "")
    path = write(tmp_path, "dossier/mine.j2", "{% if %}")

    with pytest.raises(TemplateFault) as caught:
        Templates(tmp_path).check()

    assert str(caught.value).startswith(f"{path}:1: ")


def test_what_may_be_replaced_is_what_ships_and_three_sheets() -> None:
    assert set(replaceable()) >= {"dossier/page.html.j2", "shared/tokens.css", "site/front.html.j2", "dossier/own.css"}
