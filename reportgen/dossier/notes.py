"""The notes below a table: why cells hold no value, each reason once, under the sign that its cells bear."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence

from reportgen.dossier.model import Cell

Noted = tuple[str, str]  # a cell's mark, and why
DASH = "–"


def notes(rows: Sequence[Sequence[Cell]]) -> Mapping[Noted, str]:
    """Return the sign of each mark and reason of the cells without a value, in reading order.

    Signs are letters, which no one takes for digits of a number. A dash is its own sign where it has one reason only.
    """
    found = dict.fromkeys(
        (cell.mark, cell.why) for row in rows for cell in row if cell.mark and cell.why and not cell.parts
    )
    dashes = [key for key in found if key[0] == DASH]
    lettered = [key for key in found if key[0] != DASH or len(dashes) > 1]
    signs = {key: _letters(place) for place, key in enumerate(lettered)}
    return {key: signs.get(key, "") for key in found}


def _letters(place: int) -> str:
    """Return the sign of a place: a to z, then aa, ab and so on."""
    before, last = divmod(place, len(string.ascii_lowercase))
    return (_letters(before - 1) if before else "") + string.ascii_lowercase[last]
