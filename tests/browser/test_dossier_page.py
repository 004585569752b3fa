"""A dossier opened from a folder in a real browser, on a desk and on a phone, in light and in dark."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from reportgen.dossier import html
from tests.dossier import specimen

Scheme = Literal["light", "dark"]

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "dossier.html"
    path.write_text(html.render(specimen.dossier()), encoding="utf-8")
    return path.as_uri()


@contextmanager
def opened(
    browser: Browser, address: str, width: int = 1280, scheme: Scheme = "light", script: bool = True
) -> Generator[Page]:
    """Open the page and fail at the end if it complained, asked for anything, or ran what a name holds."""
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, java_script_enabled=script
    )
    page = context.new_page()
    seen: list[str] = []
    page.on("console", lambda message: seen.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: seen.append(f"error: {error}"))
    page.on("dialog", lambda dialog: seen.append(f"dialog: {dialog.message}"))
    page.on("request", lambda request: seen.append(f"request: {request.url}") if request.url != address else None)
    try:
        page.goto(address)
        yield page
        assert seen == []
    finally:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 768, 360])
def test_opens_in_peace_and_never_scrolls_sideways(browser: Browser, address: str, width: int, scheme: Scheme) -> None:
    with opened(browser, address, width, scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("h1").inner_text() == "Matrix multiplication by precision"
        page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_recolours_page_and_charts(browser: Browser, address: str) -> None:
    painted = "(it) => getComputedStyle(document.querySelector(it[0]))[it[1]]"
    seen = {}
    for scheme in ("light", "dark"):
        with opened(browser, address, scheme=scheme) as page:
            seen[scheme] = [
                page.evaluate(painted, what)
                for what in (["body", "backgroundColor"], ["svg .f-s0", "fill"], ["svg .l-rule", "stroke"])
            ]
    assert all(light != dark for light, dark in zip(seen["light"], seen["dark"], strict=True))


def test_sorts_up_down_and_back(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        table = page.locator("#matmul-cupti-rows table")
        column = (
            "[...document.querySelectorAll('#matmul-cupti-rows tbody tr')].map((row) => row.cells[4].innerText.trim())"
        )
        head = table.get_by_role("button", name="Speed")
        printed = page.evaluate(column)
        for order, reverse in (("ascending", False), ("descending", True)):
            head.press("Enter")
            assert table.locator("[aria-sort]").get_attribute("aria-sort") == order
            values = page.evaluate(column)
            numbers = [float(value) for value in values[:-1]]
            assert numbers == sorted(numbers, reverse=reverse)
            assert values[-1].startswith("not permitted")
        head.press("Enter")
        assert table.locator("[aria-sort]").count() == 0
        assert page.evaluate(column) == printed


def test_filters_rows_and_facts(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        page.get_by_label("Filter rows").fill("BF16 2048")
        assert page.locator("#matmul-cupti-rows tbody tr:visible").count() == 1
        assert page.locator("#matmul-cupti-rows output").inner_text() == "1 of 17"
        page.get_by_label("Find a fact").fill("gpu.clock")
        assert page.locator(".facts dl > div:visible dt").all_inner_texts() == ["SM clock seen"]
        assert page.locator(".facts .group:visible").count() == 1
        assert page.locator("#matmul-ncu-rows .filter").count() == 0


def test_contents_follow_the_reader_on_a_desk_and_fold_on_a_phone(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        page.locator("#provenance").scroll_into_view_if_needed()
        page.evaluate("document.getElementById('provenance').scrollIntoView()")
        page.wait_for_selector("nav [aria-current=location]")
        assert page.locator("nav [aria-current]").inner_text() == "Provenance"
        assert page.locator("nav").bounding_box()["y"] >= 0  # type: ignore[index]
    with opened(browser, address, 360) as page:
        assert not page.locator("nav li").first.is_visible()
        page.locator("nav summary").click()
        page.get_by_role("link", name="Evidence", exact=True).click()
        assert not page.locator("nav li").first.is_visible()
        assert page.url.endswith("#evidence")


def test_the_keyboard_sees_where_it_is(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.locator(".skip").bounding_box()["x"] >= 0  # type: ignore[index]
        for _ in range(6):
            page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_a_long_name_unfolds_without_breaking_the_page(browser: Browser, address: str) -> None:
    with opened(browser, address, 360) as page:
        folded = page.locator("#hostile-rows details.whole").last
        folded.locator("summary").click()
        assert folded.locator("> code").inner_text() == specimen.LONG
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_data_can_be_saved(browser: Browser, address: str) -> None:
    with opened(browser, address) as page, page.expect_download() as saved:
        page.locator("#matmul-cupti-speed a[download]").click()
    assert saved.value.suggested_filename == "matmul-cupti-speed.csv"


def test_is_whole_without_script(browser: Browser, address: str) -> None:
    with opened(browser, address, script=False) as page:
        assert page.locator("tbody tr").count() > 30
        assert page.locator("dl > div").count() > 15
        assert page.locator("nav li").first.is_visible()
        assert page.locator("thead button, input").count() == 0


def test_prints_without_its_controls(browser: Browser, address: str) -> None:
    with opened(browser, address, scheme="dark") as page:
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.locator("nav:visible, .filter:visible, .skip:visible").count() == 0
