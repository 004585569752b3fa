"""The PDF's fonts: ours, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.dossier import columns, fonts
from reportgen.dossier.model import Cell, Column, Name
from tests.dossier import specimen


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


def test_a_table_that_fits_is_as_wide_as_its_cells() -> None:
    fitted = columns.fit(specimen.COLUMNS, specimen.many_rows(3).rows, 481.8)
    assert fitted.fit == ""
    assert sum(fitted.widths) < 481.8


def test_words_give_way_before_numbers() -> None:
    heads = (Column("Kernel"), Column("Time", "us", numeric=True))
    rows = [(Cell((Name("k" * 200, "k" * 200),)), Cell(("123456.78",)))]
    fitted = columns.fit(heads, rows, 300)
    assert sum(fitted.widths) == pytest.approx(300, abs=0.1)
    assert fitted.widths[1] >= fonts.advance("123456.78", fonts.SANS) * 7


def test_a_wide_table_comes_closer_and_then_shrinks() -> None:
    heads = tuple(Column(f"metric {index}", "us", numeric=True) for index in range(14))
    fits = [columns.fit(heads[:n], [tuple(Cell(("123.45",)) for _ in heads[:n])], 481.8) for n in (4, 9, 11, 14)]
    assert [list(columns.FITS).index(fitted.fit) for fitted in fits] == sorted(
        list(columns.FITS).index(f.fit) for f in fits
    )
    assert fits[-1].fit != ""
    assert all(sum(fitted.widths) <= 482 for fitted in fits)
