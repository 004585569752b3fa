"""The templates use what their types declare, and the shared colours can be read."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from reportgen import resources
from reportgen.publish import pages

CARD = pages.Card(
    title="A title",
    href="a/b/dossier.html",
    gpu="NVIDIA H200",
    date="30 November 2026",
    start="2026-11-30T21:10:06Z",
    status="complete",
    version="1f0c2ab94e57",
    headline="fp16 is 15.5 times as fast as fp32.",
    lead="30 launches.",
    backends=("ncu", "cupti"),
    scenarios=("default",),
    downloads=(pages.Download("PDF", "a/b/dossier.pdf", "412 kB"),),
)
PAGE = pages.FrontPage(
    title="Site",
    description="About it.",
    summary="1 dossier.",
    newest="30 November",
    suites=(pages.Suite("matmul", "suite-1", CARD, (CARD,)),),
    tier="public",
    reportgen_version="0.1.0",
    stylesheet="assets/site.css",
)


def test_the_front_page_shows_every_field_of_its_type() -> None:
    page = pages.front(PAGE).decode()

    shown = [
        CARD.title,
        CARD.href,
        CARD.gpu,
        CARD.date,
        CARD.start,
        CARD.status,
        CARD.version,
        CARD.headline,
        CARD.lead,
    ]
    shown += ["ncu, cupti", "default", "a/b/dossier.pdf", "412 kB", "Site", "About it.", "1 dossier.", "0.1.0"]
    assert [text for text in shown if text not in page] == []


def test_the_missing_page_s_hash_is_that_of_its_style() -> None:
    page = pages.missing("Site", "/").decode()
    style = page.split("<style>")[1].split("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()

    assert f"style-src 'sha256-{digest}'" in page


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_texts_and_series_have_aa_contrast(mode: str) -> None:
    css = (resources.templates() / "shared" / "tokens.css").read_text(encoding="utf-8")
    light, dark = css.split("@media screen and (prefers-color-scheme: dark)")
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", light if mode == "light" else dark))
    texts = ["ink", "muted", "accent", "good", "bad", "unsure", *(f"s{number}" for number in range(8))]

    for name in texts:
        for ground in ("paper", "sunken"):
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
    for name in ("accent", "good", "bad", "unsure"):
        assert contrast(colours[name], colours[f"{name}-soft"]) >= 4.5, name
    assert contrast(colours["rule-strong"], colours["paper"]) >= 3


def test_dark_has_every_colour_that_light_has() -> None:
    css = (resources.templates() / "shared" / "tokens.css").read_text(encoding="utf-8")
    light, dark = (
        set(re.findall(r"--([\w-]+): #", part)) for part in css.split("@media screen and (prefers-color-scheme: dark)")
    )

    assert light == dark
