"""Numbers as people's locales print them: grouped digits, decimal commas, nan and n/a.

A cell such as `1,234` says nothing of its own; the whole file does. `Numerals` looks at all its numbers, and lets the
ambiguous ones follow the others: ncu's own English, unless the unambiguous ones (or a `;` between cells) say otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_SPACES = " \u00a0\u2007\u2009\u202f'\u2019"
_SPACE = re.compile(f"[{_SPACES}]")
_PLAIN = re.compile(r"[0-9]+\.(?:[0-9]{1,2}|[0-9]{4,})")
_SHAPE = re.compile(rf"([+\-\u2212]?)([0-9][0-9.,{_SPACES}]*|[.,][0-9]+)([eE][+\-]?[0-9]{{1,4}})?")
_SPACED = re.compile(rf"([0-9]{{1,3}}(?:([{_SPACES}])[0-9]{{3}})(?:\2[0-9]{{3}})*)(?:([.,])([0-9]*))?")
_GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}")
_AMBIGUOUS = re.compile(r"[1-9][0-9]{0,2}[.,][0-9]{3}")
_INSTANCES = re.compile(r"([^()]*?)\s*\([^()]*[;:][^()]*\)")
_NAN = re.compile(r"[+-]?nan(\(.*\))?", re.IGNORECASE)
_INF = re.compile(r"[+-]?inf(inity)?|[+-]?∞", re.IGNORECASE)
_MISSING = re.compile(r"n/?a|n\.a\.|<na>", re.IGNORECASE)

NUMBER, EMPTY, NAN, INF, MISSING, WORD = range(6)


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell is: for a number `text` is its digits with a decimal point, for a word the word."""

    kind: int
    text: str
    decimal: str = ""  # the decimal sign that the cell proves: "." or ","
    other: str = ""  # what an ambiguous cell would be in the other locale; `text` is then the English reading


def examine(cell: str) -> Cell:
    """Say what `cell` is, on its own evidence."""
    stripped = cell.strip()
    stripped = stripped.removeprefix("(!)").strip() if stripped.startswith("(!)") else stripped
    if not stripped:
        return Cell(EMPTY, "")
    found = _number(stripped)
    if found is None and (instances := _INSTANCES.fullmatch(stripped)):
        found = _number(instances[1].strip())
    if found is not None:
        return found
    for pattern, kind in ((_NAN, NAN), (_INF, INF), (_MISSING, MISSING)):
        if pattern.fullmatch(stripped):
            return Cell(kind, stripped)
    return Cell(WORD, stripped)


def _number(text: str) -> Cell | None:
    if text.isascii() and text.isdigit():
        return Cell(NUMBER, text)
    if _PLAIN.fullmatch(text):
        return Cell(NUMBER, text, ".")
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        return None
    sign = "-" if shape[1] in ("-", "\u2212") else ""
    body, power = shape[2].rstrip(_SPACES), shape[3] or ""
    if _SPACE.search(body):
        return _spaced(sign, body, power)
    dots, commas = body.count("."), body.count(",")
    if not dots and not commas:
        return Cell(NUMBER, f"{sign}{body}{power}")
    if dots and commas:
        decimal = "." if body.rindex(".") > body.rindex(",") else ","
        whole, _, fraction = body.rpartition(decimal)
        return _cell(sign, whole, fraction, power, decimal) if _is_grouped(whole, decimal) else None
    mark = "." if dots else ","
    if dots + commas > 1:
        decimal = "," if mark == "." else "."
        return _cell(sign, body, "", power, decimal) if _is_grouped(body, decimal) else None
    whole, _, fraction = body.partition(mark)
    if _AMBIGUOUS.fullmatch(body) and not power:
        small, large = f"{sign}{whole}.{fraction}", f"{sign}{whole}{fraction}"
        return Cell(NUMBER, small, "", large) if mark == "." else Cell(NUMBER, large, "", small)
    return _cell(sign, whole, fraction, power, mark)


def _spaced(sign: str, body: str, power: str) -> Cell | None:
    found = _SPACED.fullmatch(body)
    if found is None:
        return None
    return _cell(sign, found[1].replace(found[2], ""), found[4] or "", power, found[3] or "")


def _is_grouped(whole: str, decimal: str) -> bool:
    grouping = "," if decimal == "." else "."
    return decimal not in whole and _GROUPED.fullmatch(whole.replace(grouping, ",")) is not None


def _cell(sign: str, whole: str, fraction: str, power: str, decimal: str) -> Cell:
    digits = whole.replace(",", "").replace(".", "") or "0"
    return Cell(NUMBER, f"{sign}{digits}{'.' if fraction else ''}{fraction}{power}", decimal)


class Numerals:
    """All different cells of a file, read in the locale that the file itself shows."""

    def __init__(self, cells: Iterable[str], delimiter: str = ",") -> None:
        """Read `cells`; `delimiter` decides where no cell does: spreadsheets use `;` where the comma is decimal."""
        found = {cell: examine(cell) for cell in cells}
        points = sum(1 for c in found.values() if c.decimal == ".")
        commas = sum(1 for c in found.values() if c.decimal == ",")
        self.decimal = "," if commas > points or (commas == points and delimiter == ";") else "."
        self.mixed = min(points, commas)
        self.ambiguous = sum(1 for c in found.values() if c.other)
        if self.decimal == ",":
            found = {k: Cell(NUMBER, c.other) if c.other else c for k, c in found.items()}
        self.cells = found

    @property
    def loss(self) -> str:
        """Return what must be said of a file in two locales, or the empty text."""
        if not (self.mixed and self.ambiguous):
            return ""
        sign = "comma" if self.decimal == "," else "point"
        return (
            f"numbers are written in two locales; {self.ambiguous} that could be either were read with a decimal"
            f" {sign}, as most of the file has it"
        )
