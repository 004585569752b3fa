"""Page one: the findings are set as large as lets all of them stand on it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reportgen.dossier import cover
from reportgen.dossier.cover import SETTINGS, setting
from reportgen.dossier.model import Dossier, Finding
from reportgen.dossier.text import plain
from tests.dossier import specimen
from tests.dossier.pdf.conftest import Print
from tests.dossier.pdf.reading import squeezed

A4, HEIGHT = 481.8, 717.1


def told(words: int, findings: int = 7) -> Dossier:
    """Return a dossier with findings of so many words each."""
    made = tuple(
        Finding("x", (" ".join(f"word{n}of{index}" for n in range(words)) + ".",), "limits")
        for index in range(findings)
    )
    return replace(specimen.dossier(), findings=made)


def test_few_findings_are_set_as_the_text_is() -> None:
    assert setting(specimen.dossier(), A4, HEIGHT) == ""
    assert setting(replace(specimen.dossier(), findings=()), A4, HEIGHT) == ""


def test_longer_findings_are_set_smaller_and_never_below_the_least() -> None:
    chosen = [list(SETTINGS).index(setting(told(words), A4, HEIGHT)) for words in range(5, 150)]

    assert chosen == sorted(chosen)
    assert set(chosen) == set(range(len(SETTINGS)))


@pytest.mark.parametrize("words", [10, 30, 40, 45, 50])
def test_what_is_said_to_fit_does(words: int, printed: Print) -> None:
    dossier = told(words)
    size = SETTINGS[setting(dossier, A4, HEIGHT)]
    fits = cover._height(dossier, size, A4 - cover._INDENT) + cover._cover(dossier, A4) <= HEIGHT
    first = squeezed(printed(dossier).pages[0].text)

    assert fits
    assert all(squeezed(plain(finding.sentence)) in first for finding in dossier.findings)
