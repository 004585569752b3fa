"""Read a finished dossier: what stands in its HTML or JSON, by those files alone and not by the model that they were written from."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from reportgen.dossier.jsonform import FORMAT
from reportgen.dossier.markup import Node, tree
from reportgen.evidence.errors import ReadError

GAP = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands for a figure."""

_MEND = "name a dossier.html or a dossier.json that reportgen wrote"
_INLINE = {"a", "abbr", "b", "bdi", "em", "i", "span", "strong", "sub", "sup", "var", "wbr"}
# What stands in these is no word of the page: figures, names and moments have their own say, the others are not read.
_APART = {"code", "data", "pre", "time"}
_UNREAD = {"script", "style", "svg"}
_CSV = "data:text/csv;charset=utf-8;base64,"


@dataclass(frozen=True, slots=True)
class Printed:
    """A figure as it stands in a file; None stands for what the file does not say."""

    place: str  # for a person: "What this says, 2"
    text: str
    after: str  # what follows it directly, its unit first
    heads: tuple[str, ...]  # the name and the unit of the column in whose cell it stands
    value: str | None
    exact: str | None
    source: str | None


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table: its text, its figures, and what stands in it as code."""

    place: str
    text: str
    figures: tuple[Printed, ...]
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """Words that stand together, with a `GAP` for each figure, name and moment."""

    place: str
    text: str


@dataclass(frozen=True)
class Finished:
    """What stands in one file of a dossier."""

    digest: str  # of the bundle; this and the next two are empty where the file does not say them
    tier: str
    reportgen: str
    figures: tuple[Printed, ...]
    tables: Mapping[str, tuple[Line, ...]]  # by id
    drawings: Mapping[str, tuple[str, ...]]  # the SVG of each chart's panels, by its id; JSON has none
    data: Mapping[str, str]  # the data files that it carries, by name
    beside: Mapping[str, str]  # the data files that lie beside it: their places, by name
    words: tuple[Words, ...]
    text: str  # all of it, with single spaces, and a `GAP` for each figure


def read_html(text: str) -> Finished:
    """Read a page."""
    root = tree(text)
    meta = {node.get("name"): node.get("content") for node in root.find("meta")}
    body, html = next(root.find("body"), root), next(root.find("html"), root)
    reader = _Page(text)
    reader.walk(body, _Place())
    links = [node for node in body.find("a") if "download" in node.attributes]
    inline = {node.get("download"): node.get("href") for node in links}
    return Finished(
        digest=html.get("data-bundle"),
        tier=html.get("data-tier"),
        reportgen=meta.get("generator", "").removeprefix("reportgen "),
        figures=tuple(reader.figures),
        tables=reader.tables,
        drawings={name: tuple(panels) for name, panels in reader.drawings.items()},
        data={name: _inflated(href) for name, href in inline.items() if href.startswith(_CSV)},
        beside={name: unquote(href) for name, href in inline.items() if not href.startswith("data:")},
        words=tuple(reader.words),
        text=" ".join("".join(reader.whole).split()),
    )


def _inflated(href: str) -> str:
    try:
        return base64.b64decode(href.removeprefix(_CSV), validate=True).decode("utf-8", "backslashreplace")
    except binascii.Error:
        return ""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where on a page the reader is."""

    section: str = ""
    block: str = ""
    item: int = 0
    figure: str = ""
    row: str = ""
    column: tuple[str, ...] = ()

    def __str__(self) -> str:
        said = [self.section, self.block, str(self.item or ""), f"#{self.figure}" if self.figure else ""]
        said += [f"row '{self.row}'" if self.row else "", f"column '{self.column[0]}'" if self.column else ""]
        return ", ".join(word for word in said if word) or "head"


class _Page:
    """Gathers what stands in a page, in its order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.figures: list[Printed] = []
        self.tables: dict[str, tuple[Line, ...]] = {}
        self.drawings: dict[str, list[str]] = {}
        self.words: list[Words] = []
        self.whole: list[str] = []
        self._plain: list[str] = []
        self._watched: int | None = None  # the figure whose following words are read

    def walk(self, node: Node, place: _Place) -> None:
        """Read an element and all in it."""
        self._flush(place)
        item = 0
        for one in node.inside:
            if isinstance(one, str):
                self._say(one)
                continue
            if one.tag == "li":
                item += 1
            place = self._element(one, replace(place, item=item) if one.tag == "li" else place)
        self._flush(place)

    def _element(self, node: Node, place: _Place) -> _Place:
        """Read one element; return the place of what comes after it."""
        if node.tag in _UNREAD:
            if node.tag == "svg":
                self.drawings.setdefault(place.figure, []).append(self._text[node.begin : node.end])
        elif node.tag == "data":
            self._figure(node, place)
        elif node.tag in _APART:
            self.whole.append(node.text)
            self._plain.append(GAP)
            self._watched = None
        elif node.tag in _INLINE:
            for one in node.inside:
                if isinstance(one, str):
                    self._say(one)
                else:
                    self._element(one, place)
        elif node.tag == "table":
            self._table(node, place)
        elif node.tag in ("h1", "h2", "h3"):
            self.walk(node, place)
            name = node.words
            return _Place(section=name) if node.tag != "h3" else replace(place, block=name, item=0)
        elif node.tag in ("figure", "article") and node.get("id"):
            self.walk(node, replace(place, figure=node.get("id")))
        else:
            self.walk(node, place)
        return place

    def _say(self, words: str) -> None:
        self._plain.append(words)
        self.whole.append(words)
        if self._watched is not None:
            figure = self.figures[self._watched]
            self.figures[self._watched] = replace(figure, after=figure.after + words)

    def _flush(self, place: _Place) -> None:
        """End words that stand together."""
        text = " ".join("".join(self._plain).split(" "))
        if text.strip():
            self.words.append(Words(str(place), text))
        self._plain.clear()
        self.whole.append(" ")
        self._watched = None

    def _figure(self, node: Node, place: _Place) -> None:
        known = node.attributes
        self._watched = len(self.figures)
        self.figures.append(
            Printed(
                str(place),
                node.text.strip(),
                "",
                place.column,
                known.get("value"),
                known.get("title"),
                known.get("data-source") or None,
            )
        )
        self.whole.append(GAP)
        self._plain.append(GAP)

    def _table(self, node: Node, place: _Place) -> None:
        columns: list[tuple[str, ...]] = []
        lines: list[Line] = []
        for row in node.find("tr"):
            cells = [cell for cell in row.inside if isinstance(cell, Node) and cell.tag in ("td", "th")]
            head = all(cell.tag == "th" for cell in cells)
            if head and not columns:
                columns = [_head(cell) for cell in cells]
            name = "" if head else cells[0].words if cells else ""
            begun, before = len(self.figures), len(self.whole)
            for index, cell in enumerate(cells):
                column = columns[index] if not head and index < len(columns) else ()
                self.walk(cell, replace(place, row=name, column=column))
            if not head:
                text = " ".join("".join(self.whole[before:]).split())
                codes = tuple(code.text for code in row.find("code"))
                lines.append(Line(str(replace(place, row=name)), text, tuple(self.figures[begun:]), codes))
        self.tables[place.figure] = tuple(lines)


def _head(cell: Node) -> tuple[str, ...]:
    """Return the name and the unit of a column."""
    unit = next((node.words for node in cell.find("span") if node.get("class") == "unit"), "")
    name = cell.words.removesuffix(unit).strip() if unit else cell.words
    return (name, unit) if unit else (name,)


# JSON


def read_json(data: bytes, where: str) -> Finished:
    """Read a dossier's JSON; raises `ReadError` for what is none."""
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError):
        raise ReadError(where, "it is no JSON", _MEND) from None
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise ReadError(where, "it is not the JSON of a dossier", _MEND)
    figures: list[Printed] = []
    texts: list[str] = []
    _objects(whole, "", figures, texts)
    tables = {str(one.get("id")): tuple(_lines(one)) for one in _with(whole, "rows")}
    tables["files"] = tuple(_files(whole.get("evidence")))
    kept = [one for one in _list(whole.get("data")) if isinstance(one, dict)]
    words = {name: str(whole.get(name, "")) for name in ("digest", "tier", "reportgen")}
    return Finished(
        **words,
        figures=tuple(figures),
        tables=tables,
        drawings={},
        data={str(one.get("name")): str(one.get("text")) for one in kept},
        beside={},
        words=(),
        text=" ".join("".join(texts).split()),
    )


def _files(evidence: Any) -> Iterator[Line]:
    for one in _list(evidence):
        if isinstance(one, dict):
            path = str(one.get("path"))
            codes = (path, str(one.get("sha256")), str(one.get("published_sha256", "")))
            yield Line(f"evidence[{path}]", path, (), tuple(code for code in codes if code))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _with(value: Any, key: str) -> Iterator[dict[str, Any]]:
    """Yield every object in a JSON value that has a key."""
    if isinstance(value, dict):
        if key in value:
            yield value
        for one in value.values():
            yield from _with(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from _with(one, key)


def _objects(value: Any, place: str, figures: list[Printed], texts: list[str]) -> None:
    """Gather the figures and words of a JSON value in its order."""
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, list):
        for index, one in enumerate(value):
            name = one.get("id") or one.get("key") or one.get("path") if isinstance(one, dict) else None
            _objects(one, f"{place}[{name if isinstance(name, str) else index}]", figures, texts)
    elif isinstance(value, dict):
        kind = value.get("kind")
        if kind == "figure" and "source" in value:
            figures.append(_of_json(value, place))
            texts.append(f"{GAP}\N{NO-BREAK SPACE}{value['unit']}" if value.get("unit") else GAP)
        elif kind in ("name", "moment") and "text" in value:
            texts.append(str(value["text"]))
        else:
            for key, one in value.items():
                texts.append(" ")
                _objects(one, f"{place}.{key}" if place else key, figures, texts)
            texts.append(" ")


def _of_json(value: Mapping[str, Any], place: str) -> Printed:
    unit, number = value.get("unit"), value.get("value")
    return Printed(
        place,
        str(value.get("text", "")),
        f"\N{NO-BREAK SPACE}{unit}" if unit else "",
        (),
        None if number is None else repr(number),
        str(value.get("exact", "")),
        str(value["source"]) or None,
    )


def _lines(table: Mapping[str, Any]) -> Iterator[Line]:
    for index, row in enumerate(_list(table["rows"])):
        figures: list[Printed] = []
        texts: list[str] = []
        place = f"{table.get('id')}.rows[{index}]"
        _objects(row, place, figures, texts)
        yield Line(place, " ".join("".join(texts).split()), tuple(figures), ())
