"""A dossier and a site whose every name is hostile, from files through charts to a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from reportgen.publish.site import build
from reportgen.workflow.ingest import ingest
from tests import hostile
from tests.browser.test_dossier_page import opened

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def dossier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a site of one bundle with hostile names; return its dossier."""
    site = tmp_path_factory.mktemp("site")
    path = hostile.write_csv(site / "names.csv")
    ingest([path], site / "bundles", suite="gather-索引", title=hostile.SCRIPT + hostile.MARKUP)
    (site / "site.toml").write_text('pdf = "none"\n')
    build(site, jobs=1, strict=True, tier="public")
    return next((site / "public").glob("*/*/dossier.html"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_hostile_names_are_text_in_a_browser(browser: Browser, dossier: Path, width: int, scheme: str) -> None:
    with opened(browser, dossier.as_uri(), width, "dark" if scheme == "dark" else "light") as page:
        text = page.locator("body").inner_text()
        drawn = " ".join(page.locator("svg text").all_text_contents())

        assert hostile.SCRIPT in text
        assert hostile.CJK in text
        assert hostile.MARKUP in page.locator("h1").inner_text()
        assert "</script>" in drawn
        assert page.locator("script").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_front_page_shows_the_title_as_text(browser: Browser, dossier: Path) -> None:
    front = dossier.parent.parent.parent / "index.html"
    context = browser.new_context()
    page = context.new_page()
    seen: list[str] = []
    page.on("dialog", lambda dialog: seen.append(dialog.message))
    page.on("console", lambda message: seen.append(message.text))
    page.goto(front.as_uri())

    assert hostile.SCRIPT in page.locator("body").inner_text()
    assert seen == []
    context.close()
