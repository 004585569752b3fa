"""How wide the columns of a printed table are: measured with the font, since WeasyPrint's own search costs a third of a PDF's time."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.dossier.fonts import BOLD, MONO, OBLIQUE, SANS, advance
from reportgen.dossier.model import Cell, Column, Figure, Name, Part

# These stand in print.css too.
SIZE = 7.0
CODE = 0.93
GAP = 14.2
REASON = 90.7

_SLACK = 1.5
_SHORT = 18


def widths(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], measure: float) -> tuple[float, ...]:
    """Return the width of each column in points; columns of words give way when the whole is wider than `measure`."""
    gaps = [GAP if index < len(columns) - 1 else 0.0 for index in range(len(columns))]
    heads = [_head(column) for column in columns]
    wanted = [
        max([whole, *(_cell(row[index], columns[index].numeric) for row in rows)]) + gaps[index] + _SLACK
        for index, (whole, _) in enumerate(heads)
    ]
    least = [
        wanted[index] if column.numeric else heads[index][1] + gaps[index] + _SLACK
        for index, column in enumerate(columns)
    ]
    over, spare = sum(wanted) - measure, sum(wanted) - sum(least)
    if over <= 0:
        fitted = wanted
    elif over <= spare:
        fitted = [width - over * (width - low) / spare for width, low in zip(wanted, least, strict=True)]
    else:
        fitted = [low * measure / sum(least) for low in least]
    return tuple(round(width, 2) for width in fitted)


def _head(column: Column) -> tuple[float, float]:
    """Return how wide a head would like to be, and its longest word."""
    unit = advance(column.unit, SANS)
    word = max([unit, *(advance(word, BOLD) for word in column.label.split())])
    whole = max(unit, advance(column.label, BOLD)) if len(column.label) <= _SHORT else word
    return whole * SIZE, word * SIZE


def _cell(cell: Cell, numeric: bool) -> float:
    text = sum(_part(part) for part in cell.parts)
    mark = advance(f"{cell.mark}: ", OBLIQUE) if cell.mark else 0.0
    if not cell.why or cell.parts:
        return (text + mark) * SIZE
    reason = advance(cell.why, SANS) * SIZE
    return max(mark * SIZE, min(reason, REASON)) if numeric else mark * SIZE + min(reason, 2 * REASON)


def _part(part: Part) -> float:
    if isinstance(part, Name):
        return advance(part.text, MONO) * CODE
    if isinstance(part, Figure):
        return advance(f"{part.text} {part.unit}" if part.unit else part.text, SANS)
    return advance(part, SANS)
