"""How wide the columns of a printed table are: measured with the font, since WeasyPrint's own search costs a third of a PDF's time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reportgen.dossier.fonts import BOLD, MONO, OBLIQUE, SANS, advance
from reportgen.dossier.model import Cell, Column, Figure, Name, Part

# print.css sets these too: the size of code, and each fit's size and gap in points.
CODE = 0.93
FITS = {"": (7.0, 14.0), "close": (7.0, 8.0), "small": (6.4, 7.0), "smaller": (5.8, 6.0), "least": (5.2, 5.0)}

_SLACK = 1.5  # kerning
_REASON = 13.0  # ems; a reason is wrapped at this
_NAME = 17.0  # ems; a name may be broken, but not below this
_SHORT = 18  # characters; a head this short is not broken


@dataclass(frozen=True, slots=True)
class Fitted:
    """The widths of a table's columns in points, and the name of its fit: how small its type is and how close its columns are."""

    fit: str
    widths: tuple[float, ...]


def fit(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], measure: float) -> Fitted:
    """Fit a table into `measure`: first columns of words give way, then the columns come closer, then the type shrinks."""
    wanted, least = _ems(columns, rows)
    fits = iter(FITS)
    chosen = next(fits)
    while sum(narrow := _points(least, chosen)) > measure and (smaller := next(fits, None)):
        chosen = smaller
    wide = _points(wanted, chosen)
    over, spare = sum(wide) - measure, sum(wide) - sum(narrow)
    if over > spare:
        wide = [low * measure / sum(narrow) for low in narrow]
    elif over > 0:
        wide = [width - over * (width - low) / spare for width, low in zip(wide, narrow, strict=True)]
    return Fitted(chosen, tuple(round(width, 2) for width in wide))


def _points(ems: Sequence[float], fit_name: str) -> list[float]:
    """Turn widths in ems into points, each but the last with its gap."""
    size, gap = FITS[fit_name]
    last = len(ems) - 1
    return [em * size + _SLACK + (gap if index < last else 0) for index, em in enumerate(ems)]


def _ems(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> tuple[list[float], list[float]]:
    """Return for each column how wide it would like to be and how narrow it may be, in ems."""
    wanted, least = [], []
    for index, column in enumerate(columns):
        cells = [row[index] for row in rows]
        word = max([advance(column.unit, SANS), *(advance(word, BOLD) for word in column.label.split())])
        head = max(word, advance(column.label, BOLD)) if len(column.label) <= _SHORT else word
        whole = max([head, *(_cell(cell, column) for cell in cells)])
        wanted.append(whole)
        least.append(whole if column.numeric else max([word, *(_longest(cell) for cell in cells)]))
    return wanted, least


def _cell(cell: Cell, column: Column) -> float:
    text = sum(_part(part, column.unit) for part in cell.parts)
    mark = advance(f"{cell.mark}: ", OBLIQUE) if cell.mark else 0.0
    if not cell.why or cell.parts:
        return text + mark
    reason = min(advance(cell.why, SANS), _REASON)
    return max(mark, reason) if column.numeric else mark + reason


def _part(part: Part, unit: str) -> float:
    if isinstance(part, Name):
        return advance(part.text, MONO) * CODE
    if isinstance(part, Figure):
        return advance(f"{part.text} {part.unit}" if part.unit and part.unit != unit else part.text, SANS)
    return advance(part if isinstance(part, str) else part.text, SANS)


def _longest(cell: Cell) -> float:
    """Return the width of the longest piece of a cell that may not be broken."""
    words = [word for part in cell.parts if isinstance(part, str) for word in part.split()]
    names = [min(_part(part, ""), _NAME) for part in cell.parts if isinstance(part, Name)]
    return max([*(advance(word, SANS) for word in words), *names, advance(cell.mark, OBLIQUE)])
