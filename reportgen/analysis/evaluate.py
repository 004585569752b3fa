"""Compute a figure again from its source: the one evaluator of the grammar that `sources` reads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from reportgen.analysis import processed, sources
from reportgen.analysis.measurements import Measurements
from reportgen.analysis.sources import (
    Call,
    Constant,
    Fact,
    File,
    Function,
    Kind,
    Parameter,
    Place,
    Source,
    SourceError,
    Text,
)
from reportgen.analysis.statistics import round_digits
from reportgen.evidence.provenance import key_of

_COUNTS = ("NumRuns", "NumProcesses", "NumKernels")
_UNITS_OF_CONSTANTS = {"_PCT": "%", "_NS": "ns", "_HZ": "hz", "_BYTES": "byte"}  # by the ends of their names
_UNITS = {
    **dict.fromkeys(_COUNTS, ""),
    "RelativeStdDevPct": "%",
    **dict.fromkeys(("ComputeClock", "MemoryClock"), "khz"),
    "SMClockObserved": "hz",
}


@dataclass(frozen=True, slots=True)
class Computed:
    """What a source gives: its value in base units, their name, and whether a suite's own function gave any of it."""

    value: float
    unit: str
    recorded: bool = False


class Evaluator:
    """Evaluates sources against the measurements of a bundle; `sizes` are the bytes of its files by path."""

    def __init__(self, of: Measurements, sizes: Mapping[str, int]) -> None:
        self._of, self._sizes = of, sizes
        self._known: dict[str, Computed | SourceError] = {}

    def __call__(self, source: str) -> Computed:
        """Return what a source gives; raises `SourceError` for one that is none or leads nowhere."""
        if source not in self._known:
            try:
                self._known[source] = self._evaluate(sources.parse(source))
            except SourceError as error:
                self._known[source] = error
        found = self._known[source]
        if isinstance(found, SourceError):
            raise found
        return found

    def _evaluate(self, source: Source) -> Computed:
        match source:
            case Place(kernel=None):
                return self._cell(source)
            case Place():
                return self._kernel(source)
            case Parameter():
                return self._parameter(source)
            case Fact():
                return self._fact(source)
            case File(path):
                if path not in self._sizes:
                    raise SourceError(f"the bundle has no file '{path}'")
                return Computed(float(self._sizes[path]), "byte")
            case Constant(module, name):
                return _constant(module, name)
            case Call():
                return self._call(source)
            case Text(text):
                raise SourceError(f"'{text}' is no source")

    def _row(self, row: str) -> Mapping[str, Any]:
        try:
            return self._of.row(row)
        except KeyError:
            raise SourceError(f"the processed table has no row {row}") from None

    def _cell(self, place: Place) -> Computed:
        row = self._row(place.row)
        if place.column not in processed.NUMBERS:
            raise SourceError(f"the processed table has no column '{place.column}' of numbers")
        unit = _UNITS.get(place.column, str(row["Unit"]))
        value = _number(row[place.column])
        if value is None:
            raise SourceError(f"row {place.row} has no number in its column '{place.column}'")
        recorded = place.row in self._of.recorded and place.column not in _COUNTS
        return Computed(value, unit, recorded)

    def _parameter(self, source: Parameter) -> Computed:
        row = self._row(source.row)
        value = None if source.name in (*processed.NUMBERS, *processed.WORDS) else _number(row.get(source.name))
        if value is None:
            raise SourceError(f"row {source.row} has no number as its parameter '{source.name}'")
        return Computed(value, "")

    def _kernel(self, place: Place) -> Computed:
        if place.column != "AvgValue":
            raise SourceError("a single kernel has a mean (AvgValue) and no more")
        samples = self._of.samples_of(place.row)
        mine = samples[(samples["kernel_index"] == place.kernel).to_numpy(dtype=bool, na_value=False)]
        mine = mine[(mine["state"] == "ok").to_numpy()]
        names = list(dict.fromkeys(mine["kernel"].astype("object")))
        if place.name >= len(names):
            raise SourceError(f"row {place.row} has no such kernel")
        values = mine["value"].to_numpy()[(mine["kernel"] == names[place.name]).to_numpy()]
        mean = values[0] if values.min() == values.max() else values.mean()
        return Computed(float(round_digits(np.array([mean]))[0]), str(mine["unit"].iloc[0]))

    def _fact(self, source: Fact) -> Computed:
        fact = self._of.provenance.facts.get(source.key)
        if fact is None or not fact.recorded:
            raise SourceError(f"provenance does not record '{source.key}'")
        value: Any = fact.value
        if source.end is not None:
            ends = str(value).split(" to ")
            value = ends[source.end] if len(ends) == 2 else ""
        number = _number(value)
        if number is None:
            raise SourceError(f"the fact '{source.key}' is no number: '{value}'")
        return Computed(number, key_of(source.key).unit)

    def _call(self, call: Call) -> Computed:
        name, arguments = _named(call)
        found = sources.function(name)
        given = [self._argument(kind, argument) for kind, argument in _taken(name, found, arguments)]
        of_all = [self._of] if found.takes[:1] == ("measurements",) else []
        try:
            value = found.part(found.call(*of_all, *given))
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise SourceError(f"{name} gives nothing here ({type(error).__name__}: {error})") from None
        rows = set(sources.rows(call))
        unit = self._evaluate(arguments[0]).unit if found.unit == sources.SAME else found.unit
        return Computed(float(value), unit, bool(rows & self._of.recorded))

    def _argument(self, kind: Kind, argument: Source) -> Any:
        if kind == "text":
            if not isinstance(argument, Text):
                raise SourceError("a name is to be given in quotation marks here")
            return argument.text
        if kind == "number":
            if not isinstance(argument, Text) or not argument.text.isdecimal():
                raise SourceError("a whole number is to be given here")
            return int(argument.text)
        if kind == "value":
            return self._evaluate(argument).value
        if not isinstance(argument, Place) or argument.column:
            raise SourceError("a row is to be given here, by the 12 digits of its identity")
        cells = self._row(argument.row)
        return cells if kind == "row" else self._of.runs(argument.row)


def _named(call: Call) -> tuple[str, tuple[Source, ...]]:
    """Return the name under which a call's function is registered, and the arguments that it is given."""
    if call.function == "count" and call.arguments and isinstance(call.arguments[0], Text):
        return f"count {call.arguments[0].text}", call.arguments[1:]
    return call.function, call.arguments


def meaning(call: Call) -> str:
    """Return in one sentence what a call gives; raises `SourceError` where there is no such function."""
    return sources.function(_named(call)[0]).meaning


def _taken(name: str, found: Function, arguments: tuple[Source, ...]) -> Iterator[tuple[Kind, Source]]:
    """Pair each argument with the kind that the function takes in its place."""
    kinds = [kind for kind in found.takes if kind not in ("measurements", ...)]
    if found.takes[-1:] == (...,):
        kinds = [*kinds[:-1], *kinds[-1:] * (len(arguments) - len(kinds) + 1)]
    if not len(kinds) - found.optional <= len(arguments) <= len(kinds):
        raise SourceError(f"{name} takes {len(kinds)} arguments, not {len(arguments)}")
    yield from zip(kinds, arguments, strict=False)


def _constant(module: str, name: str) -> Computed:
    try:
        value = getattr(import_module(f"reportgen.analysis.{module}"), name)
    except (ImportError, AttributeError):
        raise SourceError(f"analysis has no constant '{module}.{name}'") from None
    number = _number(value)
    if number is None:
        raise SourceError(f"the constant '{module}.{name}' is no number")
    unit = next((unit for end, unit in _UNITS_OF_CONSTANTS.items() if name.endswith(end)), "")
    return Computed(number, unit)


def _number(value: Any) -> float | None:
    """Return a value as a number, a text that is one included; None for a word, a truth, and for what is missing."""
    if isinstance(value, bool | np.bool_) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return None if math.isnan(number) else number
