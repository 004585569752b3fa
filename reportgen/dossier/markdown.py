"""Write a dossier as Markdown, for a pull request or a CI summary: what it says, its main tables, where the rest is.

The dialect is GitHub's. Names are code, so that none is taken for markup, a mention, an issue or an address; other words
are escaped. A table of more than a few rows is folded, and no dossier has more than `MOST_ROWS` rows in all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from html import escape

from reportgen.dossier import prose
from reportgen.dossier.model import Cell, Column, Dossier, Figure, Name, Part, Section, Sentence, Table
from reportgen.dossier.notes import Noted, notes
from reportgen.dossier.references import References, references
from reportgen.dossier.text import moment, visible

MOST_ROWS = 200
_OPEN_ROWS = 12  # a table up to this long is not folded
_FOLDED_ROWS = 40
_COLUMNS = 9
_MOST_NAMED = 12  # columns that are not shown
_SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>|~$&"})
# What makes a line a list, a heading or a rule.
_START = re.compile(r"^(\s*)(\d*)([-=.+#)])(?=\s|$|[-=#])")
# What GitHub would make a mention, an issue, an emoji or an address of: the sign that begins it stands in an element of its own.
_LIVE = re.compile(r"@(?=[\w-])|#(?=\d)|:(?=[\w+-]+:|//)|(?<=\bwww)\.|(?<=\bGH)-(?=\d)", re.IGNORECASE)


def render(dossier: Dossier, page: str = "") -> str:
    """Return `dossier` as GitHub-flavoured Markdown.

    `page` is the address, relative to the Markdown, of the dossier's HTML where that stands beside it: then figures, tables
    and evidence are linked.
    """
    return "\n".join(_Writer(dossier, page).lines())


class _Writer:
    def __init__(self, dossier: Dossier, page: str) -> None:
        self.dossier, self.page = dossier, page
        self.refs: References = references(dossier)
        self.left = MOST_ROWS

    def lines(self) -> Iterator[str]:
        dossier = self.dossier
        yield from (f"# {_text(dossier.title)}", "")
        yield from (" · ".join(self._head()), "")
        if dossier.question:
            yield from (_line(_text(dossier.question)), "")
        yield from (_line(_sentence(dossier.lead)), "")
        if dossier.head:
            yield from (" · ".join(f"{_text(fact.label)}: {_sentence(fact.value)}" for fact in dossier.head), "")
        yield from _prose(dossier.prose)
        if dossier.findings:
            yield from ("## What this says", "")
            for number, finding in enumerate(dossier.findings, 1):
                yield f"{number}. {_line(_sentence(finding.sentence))} ({self._seen(finding.target)})"
                yield from (f"   - {_line(_sentence(entry))}" for entry in finding.entries)
                yield from (("", f"   {_line(_sentence(finding.closing))}", "") if finding.closing else ())
            yield ""
            if dossier.note:
                yield from (_text(dossier.note), "")
        if dossier.cautions:
            yield from ("## What to keep in mind", "")
            for caution in dossier.cautions:
                mend = f" *Mend:* {_sentence(caution.mend)}" if caution.mend else ""
                yield f"- **{_sentence(caution.what).strip()}** {_text(caution.effect)}{mend}"
                yield from (f"  - {_line(_sentence(item))}" for item in caution.items)
            yield ""
        for section in (*dossier.sections, *([dossier.limits] if dossier.limits else [])):
            yield from self._section(section)
        yield from self._evidence()

    def _head(self) -> Iterator[str]:
        dossier = self.dossier
        yield f"**{_text(dossier.gpu).strip()}**"
        yield moment(dossier.started).text
        yield _text(dossier.status)
        for kind in ("backend", "scenario"):
            chips = list(dict.fromkeys(chip.text for chip in dossier.chips if chip.kind == kind))
            if chips:
                yield f"{kind}{'s' if len(chips) > 1 else ''} {', '.join(_code(text) for text in chips)}"
        yield f"version {_code(dossier.version)}"

    def _seen(self, target: str) -> str:
        return ", ".join(self._link(self.refs.labels[name], f"#{name}") for name in self.refs.shown[target])

    def _link(self, words: str, place: str) -> str:
        return f"[{_text(words)}]({self.page}{place})" if self.page else _text(words)

    def _section(self, section: Section) -> Iterator[str]:
        yield from (f"## {_text(section.title)}", "")
        yield from _prose(section.prose)
        if section.lead:
            yield from (_line(_sentence(section.lead)), "")
        for block in section.blocks:
            if block.heading:
                yield from (f"### {_text(block.heading)}", "")
            if block.lead and not block.tables:
                yield from (_line(_sentence(block.lead)), "")
            for table in block.tables:
                yield from self._table(table)

    def _table(self, table: Table) -> Iterator[str]:
        most = min(self.left, _FOLDED_ROWS)
        rows = table.rows[:most]
        self.left -= len(rows)
        columns = table.columns[:_COLUMNS]
        label = self.refs.labels[table.id]
        caption = f"{self._link(label, f'#{table.id}')}. {_text(table.caption)}"
        folded = len(rows) > _OPEN_ROWS
        if folded:
            count = f"{len(rows)} rows"
            yield from ("<details>", f"<summary>{_html(label)}. {_html(table.caption)} ({count})</summary>", "")
        elif rows:
            yield from (caption, "")
        if rows:
            yield _row([_head(column) for column in columns])
            yield _row(["---:" if column.numeric else "---" for column in columns])
            signs = notes([row[:_COLUMNS] for row in rows])
            for row in rows:
                yield _row([_cell(cell, column.unit, signs) for cell, column in zip(row, columns, strict=False)])
            yield ""
            if signs:
                yield from (f"- {_sign(signs[key])}*{_text(key[0]).strip()}*: {_line(_text(key[1]))}" for key in signs)
                yield ""
        if folded:
            yield from ("</details>", "")
        yield from self._not_shown(table, len(rows), label)

    def _not_shown(self, table: Table, shown: int, label: str) -> Iterator[str]:
        more = table.left_out + len(table.rows) - shown
        columns = [column.label for column in table.columns[_COLUMNS:]] + list(table.more) if shown else []
        said = []
        if more:
            said.append(f"{more} more {'row' if more == 1 else 'rows'}")
        if columns:
            words = ", ".join(map(_text, columns[:_MOST_NAMED]))
            words += " and others" if len(columns) > _MOST_NAMED else ""
            said.append(f"{'the column' if len(columns) == 1 else 'the columns'} {words}")
        if said:
            where = self._link(label, f"#{table.id}")
            yield from (f"Not shown here of {where}: {' and '.join(said)}.", "")

    def _evidence(self) -> Iterator[str]:
        dossier = self.dossier
        yield from ("## Evidence", "")
        whole = f"; {self._link('the whole dossier', '')}" if self.page else ""
        bundle = f"Bundle {_code(dossier.bundle_id)}, digest {_code(dossier.digest)}"
        yield from (
            f"{bundle}, rendered by reportgen {_text(dossier.reportgen)} in the {dossier.tier} tier{whole}.",
            "",
            "Check the evidence, and make this dossier again:",
            "",
            *_fenced(dossier.verify_command, dossier.render_command),
            "",
        )


def _prose(text: str) -> Iterator[str]:
    """Yield a suite's own words, paragraph by paragraph, with nothing in them that GitHub would bring to life."""
    for sentence in prose.sentences(text):
        yield from (_line(_sentence(sentence)), "")


def _head(column: Column) -> str:
    label = _code(column.label).replace("|", "\\|") if column.code else _text(column.label)
    return f"{label} ({_text(column.unit)})" if column.unit else label


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _sign(letters: str) -> str:
    return f"<sup>{letters}</sup> " if letters else ""


def _cell(cell: Cell, unit: str, signs: Mapping[Noted, str]) -> str:
    """Return a cell in one line; a pipe in it is no border, also within code. Its reason stands below, by its sign."""
    text = "".join(
        _part(part, unit).replace("|", "\\|") if isinstance(part, Name) else _part(part, unit) for part in cell.parts
    )
    if not cell.mark:
        return text
    return f"{text} *{_text(cell.mark).strip()}*{_sign(signs.get((cell.mark, cell.why), ''))}".strip()


def _sentence(sentence: Sentence) -> str:
    return "".join(_part(part) for part in sentence)


def _part(part: Part, said: str = "") -> str:
    """Return a part; `said` is a unit that the head of the column says already."""
    if isinstance(part, Figure):
        return _text(part.text if part.unit == said else f"{part.text} {part.unit}")
    if isinstance(part, Name):
        return _code(part.text)
    return _text(part if isinstance(part, str) else part.text)


def _text(text: str) -> str:
    """Escape words, on one line."""
    return _asleep(text, lambda words: words.translate(_SPECIAL))


def _html(text: str) -> str:
    """Escape words that stand within an element's own line, where Markdown's escapes do not count."""
    return _asleep(text, escape)


def _asleep(text: str, escaped: Callable[[str], str]) -> str:
    """Escape the pieces of a line between the signs that GitHub would bring to life, and put those into elements."""
    line = visible(re.sub(r"[\r\n]+", " ", text))
    pieces, start = [], 0
    for found in _LIVE.finditer(line):
        pieces += [escaped(line[start : found.start()]), f"<span>{found.group()}</span>"]
        start = found.end()
    return "".join([*pieces, escaped(line[start:])])


def _code(text: str) -> str:
    """Return `text` as code, between more backticks than it holds."""
    line = visible(re.sub(r"[\r\n]+", " ", text))
    if not line.strip():
        return _text(line)
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    padded = f" {line} " if line[0] in "` " or line[-1] in "` " else line
    return f"{fence}{padded}{fence}"


def _fenced(*lines: str) -> list[str]:
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}sh", *lines, fence]


def _line(text: str) -> str:
    """Return a line of text that does not begin as a list, a heading or a rule does."""
    return _START.sub(r"\1\2\\\3", text)
