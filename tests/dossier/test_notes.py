from __future__ import annotations

from reportgen.dossier.model import Cell
from reportgen.dossier.notes import DASH, notes

LOST, BROKEN = ("failed", "out of memory"), ("failed", "a bad shape")
NONE = (DASH, "this row has no sample of this metric")


def cell(key: tuple[str, str]) -> Cell:
    return Cell((), mark=key[0], why=key[1])


def test_each_reason_has_one_sign_in_reading_order() -> None:
    rows = [
        (Cell(("x",)), cell(LOST)),
        (cell(BROKEN), cell(LOST)),
        (Cell(("1",), mark="unstable", why="3 %"), Cell((), mark="skipped")),
    ]
    assert dict(notes(rows)) == {LOST: "a", BROKEN: "b"}


def test_a_dash_is_its_own_sign_unless_dashes_have_several_reasons() -> None:
    other = (DASH, "no region ran")
    assert dict(notes([(cell(NONE), cell(LOST))])) == {NONE: "", LOST: "a"}
    assert dict(notes([(cell(NONE), cell(LOST), cell(other))])) == {NONE: "a", LOST: "b", other: "c"}


def test_signs_go_on_after_z() -> None:
    found = list(notes([tuple(cell(("failed", str(n))) for n in range(54))]).values())
    assert (found[0], found[25], found[26], found[27], found[52]) == ("a", "z", "aa", "ab", "ba")
