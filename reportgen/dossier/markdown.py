"""Write a dossier as Markdown, for a pull request or a CI summary: what it says, its main tables, where the rest is."""

from __future__ import annotations

import re
from collections.abc import Iterable

from reportgen.dossier.model import Cell, Dossier, Figure, Name, Section, Sentence, Table

_LIST = re.compile(r"^(\d*)([-=.](?:\s|$))")
_SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]()<>#+!|~$&"})


def render(dossier: Dossier) -> str:
    """Return `dossier` as GitHub-flavoured Markdown in which no name is taken for markup."""
    lines = [
        f"# {_escape(dossier.title)}",
        "",
        f"{_line(_escape(dossier.gpu))} · {dossier.started} · version `{dossier.version}` · {dossier.status} · reportgen {dossier.reportgen}",
        "",
        _line(_sentence(dossier.lead)),
        "",
    ]
    lines += [
        "## What this says",
        "",
        *(f"{i}. {_line(_sentence(f.sentence))}" for i, f in enumerate(dossier.findings, 1)),
        "",
    ]
    if dossier.cautions:
        lines += ["## What to keep in mind", ""]
        lines += [f"- **{_sentence(c.what)}** {_escape(c.effect)} *{_escape(c.mend)}*" for c in dossier.cautions] + [""]
    for section in (*dossier.sections, *([dossier.limits] if dossier.limits else [])):
        lines += _section(section)
    lines += ["## Evidence", "", f"Bundle `{dossier.digest}`; check it with `{dossier.verify_command}`.", ""]
    return "\n".join(lines)


def _section(section: Section) -> Iterable[str]:
    yield from (f"## {_escape(section.title)}", "", _line(_sentence(section.lead)), "")
    for block in section.blocks:
        yield from (f"### {_escape(block.heading)}", "")
        for table in block.tables:
            yield from _table(table)


def _table(table: Table) -> Iterable[str]:
    heads = [f"{_escape(c.label)} ({_escape(c.unit)})" if c.unit else _escape(c.label) for c in table.columns]
    yield _row(heads)
    yield _row(["---:" if column.numeric else "---" for column in table.columns])
    for row in table.rows:
        yield _row([_cell(cell) for cell in row])
    if table.left_out:
        yield from ("", f"{table.left_out} more rows stand in `{table.data_name}`.")
    yield ""


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    text = _sentence(cell.parts, units=False)
    return f"{text} ({_escape(cell.mark)})" if cell.mark and cell.mark not in text else text


def _sentence(sentence: Sentence, units: bool = True) -> str:
    return "".join(_part(part, units) for part in sentence)


def _part(part: str | Figure | Name, units: bool) -> str:
    if isinstance(part, Figure):
        return _escape(f"{part.text} {part.unit}".rstrip() if units else part.text)
    if isinstance(part, Name):
        return _escape(part.text)
    return _escape(part)


def _escape(text: str) -> str:
    return " ".join(text.translate(_SPECIAL).splitlines())


def _line(text: str) -> str:
    """Return a line of text that does not begin as a list or a rule does."""
    return _LIST.sub(r"\1\\\2", text)
