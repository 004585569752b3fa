"""The front page in a real browser: no request, no word in the console, no sideways scrolling, keys reach the links."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, Request

from reportgen.publish import pages
from tests.publish.test_pages import CARD, PAGE

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>" + "x" * 300

pytestmark = pytest.mark.browser


@pytest.fixture
def front(tmp_path: Path) -> Path:
    card = pages.Card(**{**{name: getattr(CARD, name) for name in CARD.__slots__}, "title": HOSTILE, "gpu": HOSTILE})
    suites = (*PAGE.suites, pages.Suite(HOSTILE, "suite-2", card))
    page = pages.FrontPage(**{**{name: getattr(PAGE, name) for name in PAGE.__slots__}, "suites": suites})
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets/site.css").write_bytes(pages.stylesheet())
    (tmp_path / "index.html").write_bytes(pages.front(page))
    (tmp_path / "404.html").write_bytes(pages.missing(HOSTILE, "/"))
    return tmp_path / "index.html"


class Watched:
    """An open page, and everything that it should not have done."""

    def __init__(self, browser: Browser, path: Path, width: int, scheme: str) -> None:
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
        )
        self.page: Page = context.new_page()
        self.faults: list[str] = []
        self.page.on("console", lambda message: self.faults.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("dialog", self._asks)
        self.page.on("requestfailed", lambda request: self.faults.append(f"failed: {request.url}"))
        self.page.on("request", self._asked)
        self.page.goto(path.as_uri())

    def _asks(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _asked(self, request: Request) -> None:
        if not request.url.startswith(("file:", "data:")):
            self.faults.append(f"request: {request.url}")


@pytest.mark.parametrize("width", [360, 800, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index.html", "404.html"])
def test_a_page_is_quiet_and_fits(browser: Browser, front: Path, name: str, width: int, scheme: str) -> None:
    watched = Watched(browser, front.parent / name, width, scheme)

    assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
    paper = watched.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 26)"}[scheme]
    assert watched.faults == []


def test_the_keyboard_reaches_the_content_first_and_focus_shows(browser: Browser, front: Path) -> None:
    page = Watched(browser, front, 1280, "light").page
    page.keyboard.press("Tab")
    first = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")

    assert first == "Skip to the dossiers"
    assert outline == "solid"


def test_headings_are_in_order(browser: Browser, front: Path) -> None:
    levels = Watched(browser, front, 1280, "light").page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))"
    )

    assert levels == [1, 2, 2]


def test_the_page_reads_in_order_where_style_is_blocked(browser: Browser, front: Path) -> None:
    (front.parent / "assets/site.css").unlink()
    text = Watched(browser, front, 800, "light").page.inner_text("body")

    assert text.index("Site") < text.index(CARD.title) < text.index(CARD.headline) < text.index(CARD.gpu)
