"""Columns of printed tables: measured, and parted where they do not fit; nothing is ever cut."""

from __future__ import annotations

import pytest

from reportgen.dossier import columns, pdf
from reportgen.dossier.columns import FITS, Strip, naming, strips
from reportgen.dossier.fonts import BOLD, MONO, SANS, advance
from reportgen.dossier.model import Cell, Column, Name
from tests.dossier import specimen

A4 = pdf.MEASURES["a4"]


def wide(count: int, label: str = "DRAM read", value: str = "16.7812") -> tuple[list[Column], list[tuple[Cell, ...]]]:
    """Return an annotation, a parameter and `count` columns of measured values, over two rows."""
    heads = [Column("annotation"), Column("n", numeric=True), *(Column(label, "MB", True) for _ in range(count))]
    figures = tuple(Cell((specimen.figure(index, value),)) for index in range(count))
    rows = [(Cell((Name(name, name),)), Cell((n,)), *figures) for name, n in (("copy", "512"), ("scale", "1024"))]
    return heads, rows


def places(found: tuple[Strip, ...]) -> list[tuple[int, ...]]:
    return [strip.columns for strip in found]


def test_what_fits_is_one_strip_in_full_size() -> None:
    (strip,) = strips(*wide(4), A4)

    assert strip.columns == (0, 1, 2, 3, 4, 5)
    assert strip.fitted.fit == ""
    assert sum(strip.fitted.widths) < A4


def test_a_table_that_fits_is_as_wide_as_its_cells() -> None:
    (strip,) = strips(specimen.COLUMNS, specimen.many_rows(3).rows, A4)
    row = specimen.many_rows(3).rows[0]
    size, gap = FITS[""]
    cells = [advance("annotation 0", MONO) * columns.CODE, advance("10.00", SANS)]

    assert strip.fitted.widths[0] - gap == pytest.approx(cells[0] * size, abs=2)
    assert strip.fitted.widths[2] - gap == pytest.approx(max(cells[1], advance("Time", BOLD)) * size, abs=2)
    assert len(row) == len(strip.columns)


def test_words_give_way_before_numbers() -> None:
    heads = (Column("Kernel"), Column("Time", "us", numeric=True))
    rows = [(Cell((Name("k" * 200, "k" * 200),)), Cell(("123456.78",)))]
    (strip,) = strips(heads, rows, 300)

    assert sum(strip.fitted.widths) == pytest.approx(300, abs=0.05)
    assert strip.fitted.widths[1] >= advance("123456.78", SANS) * 7


def test_columns_come_closer_and_then_smaller_before_they_are_parted() -> None:
    found = [strips(*wide(count), A4) for count in range(1, 14)]
    fits = [strip[0].fitted.fit for strip in found if len(strip) == 1]

    assert fits == sorted(fits, key=list(FITS).index)
    assert set(fits) == set(FITS)


@pytest.mark.parametrize("count", [12, 20, 40])
def test_further_columns_stand_in_further_strips_with_the_names_of_the_rows(count: int) -> None:
    found = strips(*wide(count), A4)

    assert len(found) > 1
    for strip in found:
        assert strip.columns[:2] == (0, 1)
        assert sum(strip.fitted.widths) <= A4 + 0.1
    assert [place for strip in found for place in strip.columns[2:]] == list(range(2, count + 2))
    assert len({strip.fitted.fit for strip in found}) == 1


def test_no_cell_and_no_word_of_a_head_is_wider_than_its_column() -> None:
    heads, rows = wide(30, "share of the rated bandwidth", "16.7812 to 17.2")
    for strip in strips(heads, rows, A4):
        size, gap = FITS[strip.fitted.fit]
        for place, width in zip(strip.columns, strip.fitted.widths, strict=True):
            room = width - (0 if place == strip.columns[-1] else gap)
            words = [advance(word, BOLD) for word in heads[place].label.split()]
            assert max(words) * size <= room
            if place > 1:
                assert advance("16.7812 to 17.2", SANS) * size <= room


def test_a_long_head_is_broken_into_three_lines_at_most() -> None:
    words = ["share", "of", "the", "best", "that", "was", "seen", "anywhere", "here"]
    width = columns._head(" ".join(words))

    assert width < advance(" ".join(words), BOLD) / 2
    assert columns._lines([advance(word, BOLD) for word in words], advance(" ", BOLD), width) <= 3


def test_rows_are_named_by_what_is_not_measured() -> None:
    heads, rows = wide(3)
    assert naming(heads, rows) == 2
    with_figure = [(row[0], Cell((specimen.figure(4, "4", source="parameter:n"),)), *row[2:]) for row in rows]
    assert naming(heads, with_figure) == 2
    failed = [(row[0], Cell((), mark="failed", why="no memory"), *row[2:]) for row in rows]
    assert naming(heads, failed) == 1
    assert naming(heads[:2], [row[:2] for row in rows]) == 1


def test_names_of_rows_give_way_where_they_leave_no_room() -> None:
    heads = [*(Column(f"parameter_{index}_of_many") for index in range(12)), Column("time", "us", True)]
    rows = [(*(Cell((f"value_of_parameter_{index}",)) for index in range(12)), Cell((specimen.figure(1, "1.5"),)))]
    found = strips(heads, rows, A4)

    kept = [strip.columns for strip in found]
    assert {place for columns_ in kept for place in columns_} == set(range(13))
    assert all(columns_[0] == 0 for columns_ in kept)
    assert all(sum(strip.fitted.widths) <= A4 + 0.1 for strip in found)


def test_a_column_that_no_page_holds_is_made_narrower() -> None:
    heads = [Column("a"), Column("x" * 300, numeric=True)]
    (strip,) = strips(heads, [(Cell(("a",)), Cell((specimen.figure(1, "1"),)))], A4)

    assert sum(strip.fitted.widths) == pytest.approx(A4, abs=0.1)


def test_a_table_without_rows_has_its_heads() -> None:
    heads, _ = wide(3)
    assert places(strips(heads, [], A4)) == [(0, 1, 2, 3, 4)]
