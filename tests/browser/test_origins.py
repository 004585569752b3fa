"""From a figure of a dossier to its row, with the pointer, with the keyboard, and without a script."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from reportgen.dossier.render import render
from reportgen.workflow.ingest import ingest

DATA = Path(__file__).parent.parent / "data"

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("origins")
    bundle = ingest([DATA / "matmul.ncu-rep"], folder / "bundles").path
    render(bundle, folder / "out", formats=("html",))
    return (folder / "out" / "dossier.html").as_uri()


def _row(source: str) -> str:
    """Return the row of a figure, be it a parameter of it (`parameter:<row>.<name>`) or one of its values (`<row>.<column>`)."""
    return source.removeprefix("parameter:")[:12]


def _told(page: Page, source: str) -> None:
    """Hold that the page shows the row of a source, and that its values stand in it."""
    row = _row(source)
    page.wait_for_url(f"**/dossier_files/rows.html#{row}")
    target = page.locator("article:target")
    assert target.get_attribute("id") == row
    assert target.is_visible()
    assert target.locator(f'data[data-source="{source}"]').count() == 1
    assert "report" in target.inner_text() or ".ncu-rep" in target.inner_text()


def test_a_click_on_a_figure_opens_its_row(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(address)
    figure = page.locator("main table td data[data-source$='.AvgValue']").nth(3)
    source = figure.get_attribute("data-source") or ""
    figure.click()
    _told(page, source)
    page.close()


def test_one_figure_of_a_table_takes_the_focus_and_arrows_lead_to_the_others(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(address)
    table = page.locator("figure.listing table").first
    assert table.locator("data[tabindex='0']").count() == 1
    table.locator("data[tabindex='0']").focus()
    first = page.evaluate("document.activeElement.dataset.source")
    page.keyboard.press("ArrowRight")
    second = page.evaluate("document.activeElement.dataset.source")
    page.keyboard.press("ArrowDown")
    below = page.evaluate("document.activeElement.dataset.source")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.dataset.source") == second
    assert len({first, second, below}) == 3
    assert _row(first) == _row(second) != _row(below)
    page.keyboard.press("Enter")
    _told(page, second)
    page.close()


def test_the_filter_and_the_order_leave_rows_where_their_links_lead(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(address)
    table = page.locator("figure.listing table").first
    table.locator("thead button").first.click()
    link = table.locator("tbody tr").last.locator("a.from")
    link.click()
    page.wait_for_url("**/dossier_files/rows.html#*")
    assert page.locator("article:target").is_visible()
    page.close()


def test_without_a_script_links_lead_to_rows_and_back(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert page.locator("main table [role=link]").count() == 0
    page.locator("#findings a.from, header a.from").first.click()
    page.wait_for_url("**/dossier_files/rows.html#*")
    assert page.locator("article:target").count() == 1
    page.locator("header a").click()
    page.wait_for_url(address)
    page.locator("tbody tr a.from").first.click()
    page.wait_for_url("**/dossier_files/rows.html#*")
    assert page.locator("article:target").is_visible()
    context.close()


@pytest.mark.parametrize("width", [1280, 360])
def test_the_page_of_rows_never_scrolls_sideways(browser: Browser, address: str, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(address.replace("dossier.html", "dossier_files/rows.html"))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert complaints == []
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["dossier.html", "dossier_files/rows.html"])
def test_axe_finds_nothing(browser: Browser, address: str, name: str, scheme: Literal["light", "dark"]) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 800}, color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(address.replace("dossier.html", name))
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    assert [(v["id"], [node["html"][:120] for node in v["nodes"]][:3]) for v in found] == []
    context.close()
