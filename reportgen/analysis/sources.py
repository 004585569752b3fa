"""The grammar of sources: from what each printed figure is computed, as a text that a reader and `evaluate` both read.

    <row>.<column>            a cell of the processed table: `<row>` is the first 12 hex digits of its identity (`processed.row_id`),
                              `<column>` the name of a column that holds numbers
    parameter:<row>.<name>    a parameter of a row's configuration, which is no measurement
    <row>/k<index>.AvgValue   the mean over runs of one kernel of a row's region by its place there; where kernels of other names
                              took that place in other runs, `/k<index>@<n>` is the n-th name to do so
    <function>(<argument>, …) what a function of `analysis` gives; an argument is a source, a row, a word or a JSON string
    count(<what>, …)          a count, by the functions that are registered with `counts`
    provenance:<key>          a fact of provenance.json; `[0]` and `[1]` after it are the ends of one that is a range
    file:<path>.bytes         the size of a file of the bundle
    constant:<module>.<NAME>  a threshold that stands in `reportgen.analysis` under that name, whose end says the unit: `BUSY_PCT`

A function comes into the grammar by `computes` (or `counts`) where it is defined, and nowhere else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import EllipsisType
from typing import Any, Literal, TypeVar

Kind = Literal["value", "runs", "row", "text", "number", "measurements"]
"""What a function takes: a source's `value`; a row's `runs`, {(process, run): value}, or its cells, {column: value}; a `text`; a whole
`number` as it stands; or, first and not written in the source, the `measurements` of the whole bundle."""

SAME = "="
"""The unit of a function whose result is in the unit of its first argument."""

_PLACE = re.compile(r"([0-9a-f]{12})(?:/k(\d+)(?:@(\d+))?)?(?:\.(.+))?", re.DOTALL)
_PARAMETER = re.compile(r"parameter:([0-9a-f]{12})\.(.+)", re.DOTALL)
_CALL = re.compile(r"([A-Za-z_]\w*)\(")
_FACT = re.compile(r"provenance:(.+?)(?:\[([01])\])?", re.DOTALL)
_FILE = re.compile(r"file:(.+)\.bytes", re.DOTALL)
_CONSTANT = re.compile(r"constant:([a-z_]\w*)\.([A-Z][A-Z0-9_]*)")
_F = TypeVar("_F", bound=Callable[..., Any])


class SourceError(ValueError):
    """A text that is no source, or one that leads nowhere: what is wrong with it, in words."""


@dataclass(frozen=True, slots=True)
class Place:
    """A row of the processed table, a `column` of it, or one kernel of its region; `column` is "" for the row itself."""

    row: str
    column: str = ""
    kernel: int | None = None
    name: int = 0  # which of the names that kernels had at this place


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a row's configuration."""

    row: str
    name: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of provenance.json, or one end of it."""

    key: str
    end: int | None = None


@dataclass(frozen=True, slots=True)
class File:
    """The size of a file of the bundle."""

    path: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A threshold in the code."""

    module: str
    name: str


@dataclass(frozen=True, slots=True)
class Text:
    """A word or a name given to a function."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function of `analysis` and what it is given."""

    function: str
    arguments: tuple[Source, ...]


Source = Place | Parameter | Fact | File | Constant | Text | Call


def parse(text: str) -> Source:
    """Read a source; raises `SourceError` where it is none."""
    if (found := _CALL.match(text)) is not None:
        call, end = _call(text, found)
        if end != len(text):
            raise SourceError(f"'{text}' goes on after its last bracket")
        return call
    source = _plain(text)
    if isinstance(source, Text) or (isinstance(source, Place) and not source.column):
        raise SourceError(f"'{text}' is no source" if text else "it is empty")
    return source


def _plain(text: str) -> Source:
    """Read what is no call; anything that is nothing else is a text."""
    if found := _PLACE.fullmatch(text):
        row, kernel, name, column = found.groups()
        if kernel is not None and column is None:
            raise SourceError(f"'{text}' names no column")
        return Place(row, column or "", None if kernel is None else int(kernel), int(name or 0))
    if found := _PARAMETER.fullmatch(text):
        return Parameter(found[1], found[2])
    if found := _FACT.fullmatch(text):
        return Fact(found[1], None if found[2] is None else int(found[2]))
    if found := _FILE.fullmatch(text):
        return File(found[1])
    if found := _CONSTANT.fullmatch(text):
        return Constant(found[1], found[2])
    return Text(text)


def _call(text: str, found: re.Match[str]) -> tuple[Call, int]:
    """Read a call that begins at `found`, and return it with the place behind its bracket."""
    arguments: list[Source] = []
    at = _past_spaces(text, found.end())
    if text[at : at + 1] == ")":
        return Call(found[1], ()), at + 1
    while True:
        at = _past_spaces(text, at)
        argument: Source
        if text[at : at + 1] == '"':
            try:
                word, length = json.JSONDecoder().raw_decode(text[at:])
            except ValueError:
                raise SourceError(f"'{text}' holds a quotation mark that does not end") from None
            argument, at = Text(str(word)), at + length
        elif (inner := _CALL.match(text, at)) is not None:
            argument, at = _call(text, inner)
        else:
            end = at
            while end < len(text) and text[end] not in ",()":
                end += 1
            argument, at = _plain(text[at:end].rstrip()), end
        arguments.append(argument)
        at = _past_spaces(text, at)
        if text[at : at + 1] == ",":
            at += 1
        elif text[at : at + 1] == ")":
            return Call(found[1], tuple(arguments)), at + 1
        else:
            raise SourceError(f"'{text}' lacks a closing bracket")


def _past_spaces(text: str, at: int) -> int:
    while text[at : at + 1] == " ":
        at += 1
    return at


def call(function: str, *arguments: str) -> str:
    """Write a call; an argument is a source, a row or a plain word as it stands, or a name from outside as `quoted` gives it."""
    return f"{function}({','.join(arguments)})"


def quoted(name: str) -> str:
    """Return a name as a call holds it, whatever characters it has; it holds no space, so that it can be an element's id."""
    return json.dumps(name, ensure_ascii=False).replace(" ", "\\u0020")


def rows(source: Source) -> Iterator[str]:
    """Yield the rows that a source is computed from, in its order."""
    if isinstance(source, Place | Parameter):
        yield source.row
    elif isinstance(source, Call):
        for argument in source.arguments:
            yield from rows(argument)


# Functions


@dataclass(frozen=True, slots=True)
class Function:
    """A function that is in the grammar: what it takes, and how a number is made of its result.

    `takes` may end in `...`: then what stands before it may come any number of times. So many of the last as `optional` says may be
    left out. `unit` is the result's: "" where it is a
    bare number, `SAME` where it is that of the first argument.
    """

    call: Callable[..., Any]
    takes: tuple[Kind | EllipsisType, ...]
    part: Callable[[Any], float]
    unit: str
    optional: int
    meaning: str


_functions: dict[str, Function] = {}


def computes(
    name: str,
    *takes: Kind | EllipsisType,
    part: Callable[[Any], float] = float,
    unit: str = "",
    optional: int = 0,
    meaning: str = "",
) -> Callable[[_F], _F]:
    """Bring a function of `analysis` into the grammar as `name`; `part` takes the figure out of what it returns.

    `meaning` says to a reader what the figure is, in a sentence; where it is empty, the first of the docstring does. May stand several times above one function, for its several figures. Raises `ValueError` for a name that is taken.
    """

    def register(function: _F) -> _F:
        if name in _functions:
            raise ValueError(f"there are two functions '{name}' in the grammar of sources")
        said = meaning or (function.__doc__ or "").split("\n\n", 1)[0].strip()
        _functions[name] = Function(function, takes, part, unit, optional, said)
        return function

    return register


def counts(what: str, *takes: Kind | EllipsisType) -> Callable[[_F], _F]:
    """Bring a count over the measurements of a bundle into the grammar as `count(<what>, …)`."""
    return computes(f"count {what}", "measurements", *takes)


def function(name: str) -> Function:
    """Return the function that is in the grammar as `name`; raises `SourceError` where there is none."""
    _load()
    try:
        return _functions[name]
    except KeyError:
        raise SourceError(f"there is no function '{name}'") from None


def functions() -> dict[str, Function]:
    """Return all functions of the grammar by their names, in order."""
    _load()
    return dict(sorted(_functions.items()))


@cache
def _load() -> None:
    """Import all of `analysis`, so that every function that is registered there is known."""
    package = import_module("reportgen.analysis")
    for module in iter_modules(package.__path__, f"{package.__name__}."):
        import_module(module.name)
