"""The PDF's fonts: ours, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.dossier import fonts


def test_the_faces_are_there() -> None:
    assert [face for face in fonts.FACES if not (fonts.folder() / face).is_file()] == []


def test_the_signs_that_a_dossier_needs_can_be_printed() -> None:
    needed = "–—…’“”×·±≤≥≠≈√σΔμ²³½°→←↑↓↕\u00a0\u202f"
    assert fonts.printable(needed, fonts.characters()) == needed


def test_a_character_that_the_font_lacks_is_written_out() -> None:
    assert fonts.printable("gather/索引 🚀\n", fonts.characters()) == "gather/U+7D22U+5F15 U+1F680\n"


@given(st.text())
def test_what_is_printable_is_in_the_font_and_stays_so(text: str) -> None:
    once = fonts.printable(text, fonts.characters())
    assert set(map(ord, once)) <= fonts.characters() | {9, 10, 13}
    assert fonts.printable(once, fonts.characters()) == once


def test_only_our_fonts_are_found_and_the_environment_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FONTCONFIG_FILE", "before")
    with fonts.only_ours():
        path = Path(os.environ["FONTCONFIG_FILE"])
        assert path.is_file()
        if shutil.which("fc-list"):
            found = subprocess.run(["fc-list", ":", "file"], check=True, capture_output=True, text=True).stdout
            assert sorted(Path(line.rstrip(": ")).name for line in found.splitlines()) == sorted(fonts.FACES)
    assert os.environ["FONTCONFIG_FILE"] == "before"
    assert not path.parent.exists()


def test_a_width_is_that_of_the_font() -> None:
    assert fonts.advance("0000", fonts.SANS) == pytest.approx(4 * 0.636, abs=0.002)
    assert fonts.advance("il", fonts.MONO) == fonts.advance("WM", fonts.MONO)
    assert fonts.advance("索", fonts.SANS) > 2
