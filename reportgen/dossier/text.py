"""How a number is printed: without lying, in one unit, with as many digits as its interval supports."""

from __future__ import annotations

import math
import re
import string
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from reportgen.dossier.model import Figure, Moment, Name, Part, Sentence

# Longest first.
_SCALES: dict[str, tuple[tuple[str, float], ...]] = {
    "ns": (("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)),
    "byte": (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)),
    "hz": (("GHz", 1e9), ("MHz", 1e6), ("kHz", 1e3), ("Hz", 1.0)),
    "byte/s": (("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("B/s", 1.0)),
    "FLOP/s": (("TFLOP/s", 1e12), ("GFLOP/s", 1e9), ("MFLOP/s", 1e6), ("FLOP/s", 1.0)),
}
_BINARY = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
# Splits a C++ name at its brackets, operators and arrows left whole.
_BRACKETS = re.compile(r"(operator\s*(?:<=>|<<=?|>>=?|->\*?|<=|>=|<|>|\(\))|->\*?|[<>()])")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_DIGITS = 4
_MOST_DIGITS = 5
_LONGEST_WHOLE = 24
LONGEST_WHOLE = 400  # characters
_MOST_DECIMALS = 7  # a number that deserves more is printed with its power of ten


@dataclass(frozen=True, slots=True)
class Scale:
    """The unit in which a column is printed; `factor` base units make one of it."""

    unit: str
    factor: float


def scales(unit: str) -> tuple[Scale, ...]:
    """Return the units in which a value in the base unit `unit` may be printed."""
    return tuple(Scale(*choice) for choice in _SCALES.get(unit, ((unit, 1.0),)))


def scale_for(values: Iterable[float], unit: str) -> Scale:
    """Choose the unit in which the median of the values' sizes stands at 1 or above: one unit within a column."""
    sizes = sorted(abs(v) for v in values if math.isfinite(v) and v)
    choices = _SCALES.get(unit)
    if choices is None:
        return Scale(unit, 1.0)
    if not sizes:
        return Scale(*choices[-1])
    middle = sizes[len(sizes) // 2]
    for name, factor in choices:
        if middle >= factor:
            return Scale(name, factor)
    return Scale(*choices[-1])


def decimals_for(value: float, spread: float = math.nan) -> int:
    """Return how many decimals `value` deserves: as `spread` (its interval's half) supports, else four digits.

    Of the spread one digit is kept, and two where it begins with 1 or 2.
    """
    if not value or not math.isfinite(value):
        return 0
    size = math.floor(math.log10(abs(value)))
    wanted = _DIGITS - 1 - size
    if math.isfinite(spread) and spread / 3 > 0:
        wanted = min(max(-math.floor(math.log10(spread / 3)), 1 - size), _MOST_DIGITS - 1 - size)
    return max(0, wanted)


def number(value: float, decimals: int, percent: bool = False) -> str:
    """Print `value`, adding decimals until it is not rounded to a 0 or to a 100 % that it is not.

    One that deserves over seven decimals is printed with a power of ten and as many digits: `2.071 × 10⁻⁷`.
    """
    if math.isnan(value):
        return "not known"
    if math.isinf(value):
        return "infinite"
    value += 0.0  # -0 is 0
    if value and decimals > _MOST_DECIMALS:
        return with_power(value, max(0, decimals + math.floor(math.log10(abs(value)))))
    for more in range(decimals, 18):
        text = f"{value:,.{more}f}".replace(",", " ")
        rounded = float(f"{value:.{more}f}")
        if (value and not rounded) or (percent and value != 100 and rounded == 100):
            continue
        return text
    return with_power(value, 2) if abs(value) < 1 else f"{value:,.{decimals}f}".replace(",", " ")


def with_power(value: float, digits: int) -> str:
    """Print a value with a power of ten, `digits` of it after the point: `2.07 × 10⁻⁷`."""
    mantissa, _, power = f"{value:.{digits}e}".partition("e")
    return f"{mantissa}\u00a0×\u00a010{str(int(power)).translate(_RAISED)}"


def plain_number(value: float) -> str:
    """Return a value with the 12 digits that a dossier knows of it."""
    return f"{value:.12g}"


def exact(value: float, unit: str) -> str:
    """Print the exact value in its base unit."""
    text = f"{value:.12g}"
    return f"{text} {unit}".rstrip()


def figure(value: float, unit: str, source: str, scale: Scale | None = None, spread: float = math.nan) -> Figure:
    """Make a figure of `value` in the base unit `unit`; `spread` is its interval's half-width in the same unit."""
    value = float(f"{value:.12g}")  # further digits differ between processors
    chosen = scale or scale_for([value], unit)
    scaled = value / chosen.factor
    whole = scaled.is_integer() and chosen.factor == 1 and not spread > 0
    decimals = 0 if whole else decimals_for(scaled, spread / chosen.factor)
    return Figure(value, number(scaled, decimals, chosen.unit == "%"), chosen.unit, exact(value, unit), source)


def parameter(value: float, unit: str, source: str) -> Figure:
    """Make a figure of a parameter as the suite gives it; bytes stand in the largest binary unit that holds them whole."""
    exactly = f"{value} {unit}".rstrip()
    if unit == "byte":
        for name, factor in _BINARY:
            if value and value % factor == 0:
                return Figure(float(value), str(int(value // factor)), name, exactly, source)
        return Figure(float(value), str(value), "B", exactly, source)
    return Figure(float(value), str(value), unit, exactly, source)


def code(text: str) -> Name:
    """Return what is typed as it is: an option, a setting, a file's name."""
    return Name(text, text)


def count(value: int, source: str) -> Figure:
    """Make a figure of a count."""
    return Figure(float(value), f"{value:,d}".replace(",", " "), "", str(value), source)


def moment(iso: str) -> Moment:
    """Return a moment in ISO 8601, extended or basic, as it is printed; one that names no zone is in UTC.

    Raises `ValueError` where it is none.
    """
    at = datetime.fromisoformat(iso)
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return Moment(f"{day(iso)}, {at:%H:%M} UTC", at.strftime("%Y-%m-%dT%H:%M:%SZ"))


def day(iso: str) -> str:
    """Return the day of a moment in words and in UTC: `30 November 2026`."""
    at = datetime.fromisoformat(iso)
    at = at if at.tzinfo is None else at.astimezone(UTC)
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


def visible(text: str) -> str:
    """Return `text` with what cannot be seen or turns the line around (control, bidi, surrogates) as `U+202E`."""
    if text.isprintable():
        return text
    hidden = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    return "".join(f"U+{ord(c):04X}" if unicodedata.category(c) in hidden else c for c in text)


def clip(text: str, longest: int) -> str:
    """Return `text`, visible, cut to `longest` characters with an ellipsis."""
    seen = visible(text)
    return seen if len(seen) <= longest else seen[: longest - 1] + "…"


def say(template: str, **parts: Part | Sentence) -> Sentence:
    """Make a sentence of a template with {places}: words stay words, figures and names stay what they are.

    `n = 3` and `95 %` stay on one line.
    """
    out: list[Part] = []
    for words, place, _, _ in string.Formatter().parse(template):
        if words:
            out.append(keep_together(words))
        if place:
            part = parts[place]
            out += list(part) if isinstance(part, tuple) else [part]
    return tuple(out)


def keep_together(text: str) -> str:
    """Put no-break spaces around equals signs and ahead of percent signs."""
    return text.replace(" = ", "\u00a0=\u00a0").replace(" %", "\u00a0%")


def plain(sentence: Sentence) -> str:
    """Return a sentence as plain text, as a screen reader or a summary has it."""
    words = [
        p if isinstance(p, str) else f"{p.text} {p.unit}".rstrip() if isinstance(p, Figure) else p.text
        for p in sentence
    ]
    return "".join(words)


@dataclass(frozen=True, slots=True)
class Run:
    """Parts of a sentence that follow one another; no line may end within a run that is `whole`."""

    parts: Sentence
    whole: bool


def runs(sentence: Sentence) -> tuple[Run, ...]:
    """Part a sentence where a line may end; what a no-break space or nothing at all joins to a figure is whole with it.

    WeasyPrint ends a line far too early where an element follows a no-break space. A long name may always be broken.
    """
    found: list[Run] = []
    joined: list[Part] = []

    def finish() -> None:
        if joined:
            long = any(isinstance(part, Name) and len(part.text) > _LONGEST_WHOLE for part in joined)
            words = all(isinstance(part, str) for part in joined)
            found.append(Run(tuple(joined), whole=not long and not words))
            joined.clear()

    for part in sentence:
        if not isinstance(part, str):
            joined.append(part)
            continue
        first, space, rest = part.partition(" ")
        if first:
            joined.append(first)
        if not space:
            continue
        finish()
        free, space, last = rest.rpartition(" ")
        found.append(Run((f" {free}{space}",), whole=False))
        if last:
            joined.append(last)
    finish()
    return tuple(found)


def shorten(name: str, longest: int = 64) -> Name:
    """Shorten a kernel's name: its parameters and template arguments first, then in the middle."""
    whole = visible(name)
    text = whole.removeprefix("void ")
    if len(text) > longest:
        text = _without_arguments(text)
    if len(text) > longest:
        half = (longest - 1) // 2
        text = f"{text[: longest - 1 - half]}…{text[-half:]}"
    return Name(text, whole)


def brief(name: str, longest: int = 64) -> Name:
    """Shorten a name that stands in many places: one of hundreds of characters is whole in the CSVs and on the pages of rows alone."""
    short = shorten(name, longest)
    return Name(short.text, clip(short.whole, LONGEST_WHOLE))


def _without_arguments(name: str) -> str:
    """Put … in place of what stands in the outermost brackets; the signs of an operator's name are no brackets."""
    out: list[str] = []
    depth = 0
    for part in _BRACKETS.split(name):
        if part in ("<", "("):
            if not depth:
                out.append(part + "…")
            depth += 1
        elif part in (">", ")"):
            if depth <= 1:
                out.append(part)
            depth = max(0, depth - 1)
        elif not depth:
            out.append(part)
    return "".join(out)


def listed(words: Iterable[str]) -> str:
    """Join words as a sentence does: a, b and c."""
    items = list(words)
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def plural(n: int, one: str, many: str = "") -> str:
    """Return the word for `n` of something."""
    return one if n == 1 else many or one + "s"
