"""Tell whether a figure is printed as its value: the right digits in the right unit, whatever file it stands in."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from reportgen.analysis.statistics import same
from reportgen.dossier.text import Scale, scales

_WORDS = {"not known": math.nan, "infinite": math.inf}
_POWER = re.compile(r"(-?[\d.]+)×10(⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_OTHER_NAMES: dict[str, tuple[Scale, ...]] = {
    "byte": (Scale("bytes", 1.0),),
    "byte/s": (Scale("byte/s", 1.0),),
    "hz": (Scale("hz", 1.0),),
    "%": (Scale("points", 1.0),),  # of a difference of two percentages
}
_HALF = Decimal("0.5")  # of a unit of the last digit
_KNOWN = Decimal("1e-12")  # of a value, which is known in 12 digits


def number(text: str) -> float | None:
    """Return what a printed number says, None where it is no number."""
    if text in _WORDS:
        return _WORDS[text]
    found = _decimal(text)
    return None if found is None else float(found)


def misprint(text: str, value: float, unit: str, after: str = "", heads: Sequence[str] = ()) -> str:
    """Say what is wrong with a printed figure, nothing where all is right.

    `value` is in the base unit `unit`; `after` is what follows the text directly, `heads` are the name and unit of its column.
    The last digit that is printed must be the value's own, rounded; it may never print 0 for what is not, nor 100 %.
    """
    if not math.isfinite(value):
        return "" if text in _WORDS and same(_WORDS[text], value) else "it is no number"
    scale = _scale(text, value, unit, after, heads)
    if scale is None:
        if not _said(after):
            return "no unit stands by it, and it is not the exact value"
        choices = " or ".join(choice.unit for choice in scales(unit))
        return f"its unit is not {choices}"
    found = _decimal(text)
    if found is None:
        return "it is no number"
    exact = Decimal(value) / Decimal(scale.factor)
    exponent = found.as_tuple().exponent
    assert isinstance(exponent, int)
    if abs(found - exact) > _HALF * Decimal(1).scaleb(exponent) + abs(exact) * _KNOWN:
        return "it is not the value rounded"
    if value and not found:
        return "it prints 0 for what is not"
    if scale.unit == "%" and found == 100 and not same(value, 100.0):
        return "it prints 100 % for what is not"
    return ""


def _decimal(text: str) -> Decimal | None:
    plain = "".join(text.split()).replace("\N{MINUS SIGN}", "-")
    if power := _POWER.fullmatch(plain):
        plain = f"{power[1]}e{power[2].translate(_LOWERED)}"
    try:
        found = Decimal(plain)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def _said(after: str) -> str:
    """Return what stands directly behind a figure, on the same line."""
    return after[1:] if after.startswith("\N{NO-BREAK SPACE}") else ""


def _scale(text: str, value: float, unit: str, after: str, heads: Sequence[str]) -> Scale | None:
    """Return the unit in which a figure is printed, by what stands behind it or at the head of its column; None for a wrong one."""
    choices: tuple[Scale, ...] = (*scales(unit), *_OTHER_NAMES.get(unit, ()))
    said = _said(after)
    for choice in sorted(choices, key=lambda choice: -len(choice.unit)):
        rest = said[len(choice.unit) :]
        if choice.unit and said.startswith(choice.unit) and not rest[:1].isalnum() and rest[:1] != "/":
            return choice
    if said[:1].isalpha() and unit:
        return None
    for choice in choices:
        if choice.unit and choice.unit in heads:
            return choice
    # A unit of its own need not be printed with each figure; one of several must be, unless the figure is exact.
    if len(choices) == 1 or (number(text) is not None and same(number(text) or 0.0, value)):
        return Scale("%" if unit == "%" else "", 1.0)
    return None
