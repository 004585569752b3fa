"""Bundles as a notebook shows them, several on one page: in light and in dark, whatever the reader's setting and the theme say."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from reportgen.dossier import fragment
from tests.browser.test_dossier_page import Scheme
from tests.dossier import shipped, specimen

pytestmark = pytest.mark.browser

PAPER = "getComputedStyle(document.querySelector('.reportgen-dossier')).backgroundColor"
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(20, 23, 26)"


@pytest.fixture(scope="module")
def shown() -> str:
    both = (shipped.dossier(shipped.NEWEST[0], "public"), specimen.dossier())
    return "".join(f"<h2>A cell</h2>{fragment.render(one)}" for one in both)


def page_of(shown: str, theme: str) -> str:
    return (
        f'<!DOCTYPE html><html lang="en"><head><title>Notebook</title></head><body {theme}><main><h1>Notebook</h1>'
        f'<p id="ours">A paragraph of the notebook</p>{shown}</main></body></html>'
    )


@pytest.mark.parametrize(
    ("theme", "scheme", "paper"),
    [
        ("", "light", LIGHT),
        ("", "dark", DARK),
        ('data-jp-theme-light="true"', "dark", LIGHT),
        ('data-jp-theme-light="false"', "light", DARK),
        ('class="vscode-light"', "dark", LIGHT),
        ('class="vscode-dark"', "light", DARK),
    ],
)
def test_it_is_light_or_dark_as_its_surroundings_are(
    browser: Browser, shown: str, theme: str, scheme: Scheme, paper: str, tmp_path: Path
) -> None:
    path = tmp_path / "notebook.html"
    path.write_text(page_of(shown, theme), encoding="utf-8", errors="backslashreplace")
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme=scheme)
    try:
        page = context.new_page()
        page.goto(path.as_uri())
        assert page.evaluate(PAPER) == paper
        page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
        page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
        found = page.evaluate("axe.run('.reportgen-dossier')")["violations"]
        assert [(rule["id"], [node["html"][:120] for node in rule["nodes"]][:3]) for rule in found] == []
    finally:
        context.close()


@pytest.mark.parametrize("width", [1280, 360])
def test_it_stays_within_its_width_and_leaves_the_rest_alone(browser: Browser, shown: str, width: int) -> None:
    look = "JSON.stringify([...getComputedStyle(document.getElementById('ours'))].map((it) => getComputedStyle(document.getElementById('ours'))[it]))"
    context = browser.new_context(viewport={"width": width, "height": 800})
    try:
        page = context.new_page()
        page.set_content(page_of("", ""))
        without = page.evaluate(look)
        page.set_content(page_of(shown, ""))
        assert page.evaluate(look) == without
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    finally:
        context.close()
