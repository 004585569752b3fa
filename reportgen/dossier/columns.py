"""How wide the columns of a printed table are, and which of them fit: measured with the font, so that nothing is ever cut.

WeasyPrint's own search for widths costs a third of a PDF's time. A table's columns stand in the order of their worth: where
they do not fit beside one another, the first ones stay and the others go into a further part with the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reportgen.dossier.fonts import BOLD, MONO, OBLIQUE, SANS, advance
from reportgen.dossier.model import Cell, Column, Figure, Name, Part

# print.css sets these too: the size of code, and each fit's size and gap in points.
CODE = 0.93
FITS = {"": (7.0, 14.0), "close": (7.0, 9.0), "small": (6.4, 8.0)}

_SLACK = 1.5  # kerning
_NAME = 17.0  # ems; a name may be broken, but not below this
_HEAD_LINES = 3  # a head of several words is broken into no more lines than this, if its words allow it
_KEYS = 0.6  # of the measure; columns that name a row give way to values beyond it
_FEW = 2  # strips; more are avoided by smaller type


@dataclass(frozen=True, slots=True)
class Fitted:
    """The widths of columns in points, and the name of their fit: how small the type is and how close the columns are."""

    fit: str
    widths: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Strip:
    """Columns of a table that fit beside one another, by their places in it; those that name its rows come first."""

    columns: tuple[int, ...]
    fitted: Fitted


@dataclass(frozen=True, slots=True)
class _Width:
    """How wide a column would like to be and how narrow it may be, in ems."""

    wanted: float
    least: float


def strips(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], measure: float) -> tuple[Strip, ...]:
    """Part a table's columns into strips of at most `measure` points, in their order; one strip where they all fit.

    The columns that name the rows stand in every strip. A cell's reason is not printed in it. Only a single column that is wider than the measure by itself is
    made narrower than its words, and then its words are broken.
    """
    widths = [_width(column, [row[index] for row in rows]) for index, column in enumerate(columns)]
    for fit in FITS:
        if (fitted := _fit(widths, fit, measure)) is not None:
            return (Strip(tuple(range(len(columns))), fitted),)
    names = naming(columns, rows)
    closer = list(FITS)[1:]
    tried = [_parted(widths, names, fit, measure) for fit in closer]
    return next((found for found in tried if len(found) <= _FEW), tried[-1])


def _parted(widths: Sequence[_Width], names: int, fit: str, measure: float) -> tuple[Strip, ...]:
    """Part columns into strips, each filled before the next is begun; the first `names` columns name the rows."""
    keys = _keys(widths, names, fit, measure)
    found: list[Strip] = []
    taken: list[int] = []
    for place in range(len(keys), len(widths)):
        if taken and _fit([widths[i] for i in (*keys, *taken, place)], fit, measure) is None:
            found.append(_strip((*keys, *taken), widths, fit, measure))
            taken = []
        taken.append(place)
    return (*found, _strip((*keys, *taken), widths, fit, measure))


def naming(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> int:
    """Count the leading columns that name a row: its first one, and those after it that hold no measured value."""
    count = 1
    while count < len(columns) and not any(_measured(row[count]) for row in rows):
        count += 1
    return count if count < len(columns) else 1


def _measured(cell: Cell) -> bool:
    figures = [part for part in cell.parts if isinstance(part, Figure)]
    return bool(cell.mark) or any(not figure.source.startswith("parameter:") for figure in figures)


def _keys(widths: Sequence[_Width], names: int, fit: str, measure: float) -> tuple[int, ...]:
    """Return the columns that every strip repeats: as many of those that name a row as leave room for values."""
    for count in range(names, 0, -1):
        if _fit(widths[:count], fit, measure * _KEYS) is not None:
            return tuple(range(count))
    return ()


def _strip(places: tuple[int, ...], widths: Sequence[_Width], fit: str, measure: float) -> Strip:
    chosen = [widths[place] for place in places]
    fitted = _fit(chosen, fit, measure)
    if fitted is None:  # one column that is too wide for any page
        narrow = _points([width.least for width in chosen], fit)
        fitted = Fitted(fit, tuple(round(width * measure / sum(narrow), 2) for width in narrow))
    return Strip(places, fitted)


def _fit(widths: Sequence[_Width], fit: str, measure: float) -> Fitted | None:
    """Fit columns into `measure`, columns of words giving way; return None where that is not enough."""
    narrow = _points([width.least for width in widths], fit)
    if sum(narrow) > measure:
        return None
    wide = _points([width.wanted for width in widths], fit)
    over, spare = sum(wide) - measure, sum(wide) - sum(narrow)
    if over > 0:
        wide = [width - over * (width - low) / spare for width, low in zip(wide, narrow, strict=True)]
    return Fitted(fit, tuple(round(width, 2) for width in wide))


def _points(ems: Sequence[float], fit_name: str) -> list[float]:
    """Turn widths in ems into points, each but the last with its gap."""
    size, gap = FITS[fit_name]
    last = len(ems) - 1
    return [em * size + _SLACK + (gap if index < last else 0) for index, em in enumerate(ems)]


def _width(column: Column, cells: Sequence[Cell]) -> _Width:
    head = max(advance(column.unit, SANS), _code(column.label) if column.code else _head(column.label))
    whole = max([head, *(_cell(cell, column) for cell in cells)])
    return _Width(whole, whole if column.numeric else max([head, *(_longest(cell) for cell in cells)]))


def _code(text: str) -> float:
    return advance(text, MONO) * CODE


def _head(label: str) -> float:
    """Return the width in which a head's words need no more than a few lines."""
    words = [advance(word, BOLD) for word in label.split()]
    space = advance(" ", BOLD)
    width = max(words, default=0.0)
    while _lines(words, space, width) > _HEAD_LINES:
        width *= 1.1
    return width


def _lines(words: Sequence[float], space: float, width: float) -> int:
    lines, filled = 1, 0.0
    for word in words:
        if filled and filled + space + word > width:
            lines, filled = lines + 1, word
        else:
            filled += (space if filled else 0.0) + word
    return lines


def _cell(cell: Cell, column: Column) -> float:
    mark = advance(f"{cell.mark} ", OBLIQUE) if cell.mark else 0.0
    return mark + sum(_part(part, column.unit or column.label) for part in cell.parts)


def _part(part: Part, said: str) -> float:
    if isinstance(part, Name):
        return _code(part.text)
    if isinstance(part, Figure):
        return advance(f"{part.text} {part.unit}" if part.unit and part.unit != said else part.text, SANS)
    return advance(part if isinstance(part, str) else part.text, SANS)


def _longest(cell: Cell) -> float:
    """Return the width of the longest piece of a cell that may not be broken; a name may be, but not below a length."""
    pieces = [advance(cell.mark, OBLIQUE)]
    piece = 0.0
    for part in cell.parts:
        if isinstance(part, str):
            first, *others = part.split(" ")  # a no-break space holds its words together
            piece += advance(first, SANS)
            for word in others:
                pieces.append(piece)
                piece = advance(word, SANS)
        else:
            width = _part(part, "")
            piece += min(width, _NAME) if isinstance(part, Name) else width
    return max(*pieces, piece)
