"""A comparison as GitHub's Markdown, for the summary of a CI job."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator, Sequence

from reportgen.analysis.compare import Comparison, Row
from reportgen.analysis.series import Series
from reportgen.dossier.text import plural, visible
from reportgen.publish.comparison import phrases

_COLUMNS = ("benchmark", "annotation", "configuration", "measured by")
_RIGHT = ("OLD", "NEW", "change", "p")


def write(of: Comparison) -> str:
    """Return a comparison as Markdown: what changed first; what stayed the same is folded up."""
    parts = [
        f"### Comparison of {_code(of.suite)}\n\n{phrases.counts(of)}.",
        f"OLD: {_codes(of.old)}. NEW: {_codes(of.new)}. {phrases.tested(of)}",
        _differences(of),
        _table("Slower", of.of("slower")),
        _table("Faster", of.of("faster")),
        _table("Cannot tell", of.of("cannot tell"), reasons=True),
        _folded(of.of("same")),
        _list("New", [(one.series, phrases.absent(one)) for one in of.fresh]),
        _list("Gone", [(one.series, phrases.absent(one)) for one in of.gone]),
        _list("Without a value", [(one.series, phrases.absent(one)) for one in of.failed]),
        _list("Not comparable", [(one.series, phrases.broken(one)) for one in of.broken]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _differences(of: Comparison) -> str:
    found = [one for one in of.differences if not one.usual]
    if not found:
        return "Nothing that was recorded of how it was measured differs."
    rows = [[_text(phrases.label(one)), *(_code(side) for side in phrases.difference(one))] for one in found]
    title = f"{len(found)} {plural(len(found), 'difference')} in how it was measured"
    return _titled(title, ("fact", "in OLD", "in NEW"), rows)


def _table(title: str, rows: Sequence[Row], *, reasons: bool = False) -> str:
    if not rows:
        return ""
    columns = (*_COLUMNS, *_RIGHT, "processes", *(["reason and next step"] if reasons else []))
    return _titled(f"{title} ({len(rows)})", columns, [list(_cells(row, reasons=reasons)) for row in rows])


def _folded(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    return f"<details><summary>Same ({len(rows)})</summary>\n\n{_rows_of_same(rows)}\n\n</details>"


def _rows_of_same(rows: Sequence[Row]) -> str:
    return "\n".join(_lines((*_COLUMNS, *_RIGHT, "processes"), [list(_cells(row)) for row in rows]))


def _cells(row: Row, *, reasons: bool = False) -> Iterator[str]:
    yield from _where(row.series)
    yield from map(_text, phrases.values(row))
    yield "" if row.effect is None else phrases.change(row.effect)
    yield "" if math.isnan(row.p) else phrases.probability(row.p).removeprefix("p ")
    notes = [f"{side}: {units.note}" for side, units in (("OLD", row.old), ("NEW", row.new)) if units.note]
    yield "; ".join([phrases.units(row), *map(_text, notes)])
    if reasons:
        yield _text(phrases.why(row))


def _where(of: Series) -> Iterator[str]:
    yield _code(of.benchmark)
    name = phrases.metric(of)
    yield _code(of.annotation) + ("" if name == "time" else f": {_code(name)}")
    yield _code(of.configuration)
    yield _text(phrases.place(of).removeprefix(f"{visible(of.benchmark)}, "))


def _list(title: str, found: Sequence[tuple[Series, str]]) -> str:
    if not found:
        return ""
    rows = [[*_where(of), _text(why)] for of, why in found]
    return _titled(f"{title} ({len(found)})", (*_COLUMNS, "why"), rows)


def _titled(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join([f"**{title}**", "", *_lines(columns, rows)])


def _lines(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    rules = ["---:" if name in _RIGHT else "---" for name in columns]
    return [f"| {' | '.join(cells)} |" for cells in (columns, rules, *rows)]


def _codes(names: Sequence[str]) -> str:
    return ", ".join(map(_code, names))


def _text(text: str) -> str:
    """Return words that stay words: in a table, in Markdown and to whoever looks for mentions and references."""
    escaped = re.sub(r"([\\`*_\[\]#|~])", r"\\\1", html.escape(visible(text), quote=False))
    return re.sub(r"(@|https?:|www\.)", r"<span>\1</span>", escaped)


def _code(text: str) -> str:
    """Return `text` as code, between more backticks than it holds; a pipe in it ends no cell."""
    seen = visible(text)
    if not seen.strip():
        return ""
    fence = "`" * (max((len(run) for run in re.findall("`+", seen)), default=0) + 1)
    padded = f" {seen} " if seen[0] in "` " or seen[-1] in "` " else seen
    return f"{fence}{padded}{fence}".replace("|", "\\|")
