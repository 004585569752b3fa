"""Read what `ncu --csv` prints: the raw page (one row for each launch) and the details page (one for each metric)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reportgen.evidence import samples
from reportgen.evidence.errors import ReadError
from reportgen.evidence.samples import Samples
from reportgen.readers import csv_text, device_facts, nvtx_text, units
from reportgen.readers.csv_text import Table
from reportgen.readers.launches import Launch, Range, assign
from reportgen.readers.numerals import EMPTY, INF, MISSING, NAN, NUMBER, WORD, Cell, Numerals

NO_DURATION = "the launch failed: the profiler recorded no duration"
NO_VALUE = "the file holds no value"
_REASONS = (
    ("ok", ""),
    ("failed", NO_DURATION),
    ("dropped", NO_VALUE),
    ("dropped", "the profiler recorded nan"),
    ("dropped", "the profiler recorded inf"),
    ("dropped", "the profiler recorded n/a"),
    ("dropped", "the file holds a word in place of a value"),
)
_FAILED, _NO_NUMBER = 1, 6
_REASON_OF_KIND = {NUMBER: 0, EMPTY: 2, NAN: 3, INF: 4, MISSING: 5, WORD: 0}
_DURATIONS = re.compile(r"gpu__time_duration(\.|_measured|$)|Duration$")
_RANGE_OR_GRAPH = re.compile(r"(?:cuda )?(graph|range)(?:$|[ _#:\d(])", re.IGNORECASE)
_LOOPBACK = ("", "127.0.0.1", "localhost", "::1")

_Codes = np.ndarray[Any, np.dtype[np.intp]]


@dataclass
class _Cells:
    """The cells of a file in one long list, ordered by launch: whose each is, of which metric, and in which unit."""

    launches: list[Launch] = field(default_factory=list)
    devices: dict[str, dict[str, str]] = field(default_factory=dict)  # cells of one launch on each device
    metrics: dict[str, int] = field(default_factory=dict)
    units: dict[str, int] = field(default_factory=dict)
    launch: list[_Codes] = field(default_factory=list)
    metric: list[_Codes] = field(default_factory=list)
    unit: list[_Codes] = field(default_factory=list)
    line: list[_Codes] = field(default_factory=list)
    section: list[str] = field(default_factory=list)  # of each cell, in the details page only
    texts: list[str] = field(default_factory=list)

    def metric_codes(self, names: Iterable[str]) -> _Codes:
        """Return a code for each of `names`."""
        return np.array([self.metrics.setdefault(n, len(self.metrics)) for n in names], dtype=np.intp)

    def unit_codes(self, names: Iterable[str]) -> _Codes:
        """Return a code for each of the units in `names`."""
        return np.array([self.units.setdefault(n, len(self.units)) for n in names], dtype=np.intp)


def read(path: Path, source: str) -> Samples:
    """Read every launch of an ncu CSV at `path`; `source` is the file's path in the bundle.

    Values are in base units, whatever units and locale the file was printed in. What could not be read stands in
    `losses`; a file of which nothing can be read raises `ReadError`, which names the line.
    """
    table = csv_text.read_table(path, ("ncu-raw", "ncu-details"))
    cells = _Cells()
    for part in csv_text.split_tables(table):
        (_read_raw if table.kind == "ncu-raw" else _read_details)(part, cells)
    if not cells.launches:
        raise _no_launch(table)
    numerals = Numerals(set(cells.texts), table.delimiter)
    if numerals.loss:
        table.losses.append(numerals.loss)
    parsed = _parse(cells, numerals)
    if table.kind == "ncu-details":
        parsed = _tell_apart(parsed, cells)
    parsed = _once(parsed, cells, table.losses)
    return Samples(_frame(parsed, cells, source), _facts(table, cells, numerals), tuple(table.losses))


def _no_launch(table: Table) -> ReadError:
    if table.losses:
        return ReadError(table.path, f"no launch could be read; {table.losses[0]}", csv_text.EXPORT_AGAIN)
    what = f"line {table.header_line}: a header, and no launch below it"
    mend = "check that the range and kernel filters of the ncu command matched and that the program launched kernels"
    return ReadError(table.path, what, mend)


# ---------------------------------------------------------------------------------------------- the two pages


def _read_raw(table: Table, cells: _Cells) -> None:
    columns = [i for i, name in enumerate(table.header) if name and not _is_identity(name)]
    if not columns:
        raise ReadError(table.path, f"line {table.header_line}: the header names no metric", csv_text.EXPORT_AGAIN)
    rows = list(csv_text.whole_rows(table, len(table.header)))
    if not rows:
        return
    line, printed = rows[0]
    measured = set(columns)
    if any(cell.strip() for i, cell in enumerate(printed) if i not in measured):
        what = f"line {line}: no row of units below the header, so that ns cannot be told from ms"
        raise ReadError(table.path, what, f"{csv_text.EXPORT_AGAIN} and keep its second row")
    metric = cells.metric_codes(table.header[i] for i in columns)
    unit = cells.unit_codes(printed[i].strip() for i in columns)
    first = len(cells.launches)
    add_launch = _launch_adder(table.header, cells)
    lines = [line for line, row in rows[1:] if any(row)]
    for line, row in rows[1:]:
        if any(row):
            add_launch(line, row)
            cells.texts.extend([row[i] for i in columns])
    count = len(lines)
    cells.launch.append(np.repeat(np.arange(first, first + count), len(columns)))
    cells.line.append(np.repeat(np.array(lines, dtype=np.intp), len(columns)))
    cells.metric.append(np.tile(metric, count))
    cells.unit.append(np.tile(unit, count))


def _read_details(table: Table, cells: _Cells) -> None:
    header = table.header
    if "Metric Value" not in header:
        what = f"line {table.header_line}: a summary over several launches (--print-summary), which holds no samples"
        raise ReadError(table.path, what, csv_text.EXPORT_AGAIN)
    name, value = header.index("Metric Name"), header.index("Metric Value")
    unit = header.index("Metric Unit") if "Metric Unit" in header else None
    section = header.index("Section Name") if "Section Name" in header else None
    identity = [i for i, n in enumerate(header) if n != "Section Name" and _is_identity(n)]
    needed = max([name, value, unit or 0, section or 0, *identity]) + 1
    rows = list(csv_text.whole_rows(table, needed))
    if table.cut and rows:
        rows = _without_the_cut_launch(table, rows, identity)
    kept = [(line, row) for line, row in rows if row[name].strip()]  # other rows hold a rule's advice
    sections = ["" if section is None else row[section].strip() for _, row in kept]
    things = [(where, row[name]) for where, (_, row) in zip(sections, kept, strict=True)]
    keys = _launch_keys([tuple([row[i] for i in identity]) for _, row in kept], things, "ID" in header)
    add_launch = _launch_adder(header, cells)
    known: dict[tuple[str, ...], int] = {}
    launch: list[int] = []
    for key, (line, row) in zip(keys, kept, strict=True):
        if key not in known:
            known[key] = add_launch(line, row)
        launch.append(known[key])
    cells.launch.append(np.array(launch, dtype=np.intp))
    cells.line.append(np.array([line for line, _ in kept], dtype=np.intp))
    cells.metric.append(cells.metric_codes(row[name].strip() for _, row in kept))
    cells.unit.append(cells.unit_codes(_unit_of(row, name, unit) for _, row in kept))
    cells.texts.extend(row[value] for _, row in kept)
    cells.section.extend(sections)


def _launch_keys(
    rows: list[tuple[str, ...]], things: list[tuple[str, str]], numbered: bool
) -> Iterator[tuple[str, ...]]:
    """Tell for each row which launch it is of; without an ID a metric that comes again is of the next launch."""
    rounds: dict[tuple[str, ...], int] = {}
    seen: dict[tuple[str, ...], set[tuple[str, str]]] = {}
    for row, thing in zip(rows, things, strict=True):
        of_launch = seen.setdefault(row, set())
        if not numbered and thing in of_launch:
            rounds[row] = rounds.get(row, 0) + 1
            of_launch.clear()
        of_launch.add(thing)
        yield (*row, str(rounds.get(row, 0)))


def _unit_of(row: Sequence[str], name: int, unit: int | None) -> str:
    return units.base_unit_of(row[name].strip()) if unit is None else row[unit].strip()


def _without_the_cut_launch(
    table: Table, rows: list[tuple[int, list[str]]], identity: list[int]
) -> list[tuple[int, list[str]]]:
    """Leave out the rows of the launch that the file was cut off in: a launch is kept whole or not at all."""
    cut = table.rows[-1][1]
    same = [i for i in identity if i < len(cut) - 1]
    whole = [(line, row) for line, row in rows if not same or any(row[i] != cut[i] for i in same)]
    if len(whole) < len(rows):
        table.losses.append(f"line {table.rows[-1][0]}: the launch that the cut row belongs to is left out")
    return whole


def _is_identity(name: str) -> bool:
    return name in csv_text.IDENTITY or name.startswith("Unnamed: ") or nvtx_text.kind_of_column(name) is not None


def _launch_adder(header: Sequence[str], cells: _Cells) -> Callable[[int, Sequence[str]], int]:
    """Return a function that adds the launch of a row to `cells` and returns its index there."""
    place = {name: i for i, name in reversed(list(enumerate(header)))}
    nvtx = [(i, kind) for i, name in enumerate(header) if (kind := nvtx_text.kind_of_column(name))]
    seen: dict[tuple[str, str], tuple[Range, ...]] = {}

    def cell(row: Sequence[str], name: str) -> str:
        return row[place[name]].strip() if name in place else ""

    def ranges(text: str, kind: str) -> tuple[Range, ...]:
        if (text, kind) not in seen:
            seen[text, kind] = nvtx_text.ranges_in(text, kind)
        return seen[text, kind]

    def add(line: int, row: Sequence[str]) -> int:
        kernel = cell(row, "Kernel Name") or cell(row, "Demangled Name") or cell(row, "Function Name")
        grid = cell(row, "Grid Size")
        found = tuple(r for i, kind in nvtx for r in ranges(row[i], kind))
        cells.launches.append(Launch(f"L{line}", kernel, _workload(kernel, grid), grid, cell(row, "Block Size"), found))
        device = cell(row, "Device")
        if device not in cells.devices:
            cells.devices[device] = dict(zip(header, row, strict=True))
        return len(cells.launches) - 1

    return add


def _workload(kernel: str, grid: str) -> str:
    """Tell a range or graph from a kernel: ncu names it just so (a graph has a grid even), or it has no grid."""
    if kernel in ("range", "graph"):
        return kernel
    found = _RANGE_OR_GRAPH.match(kernel)
    return found[1].lower() if found and not grid.strip("(0, )") else "kernel"


# ---------------------------------------------------------------------------------------------- from cells to samples


@dataclass
class _Parsed:
    """Each cell as a value in its base unit; `kind` is one of the kinds of `numerals`."""

    launch: _Codes
    metric: _Codes
    unit: _Codes  # of `unit_names`
    unit_names: list[str]
    line: _Codes
    kind: _Codes
    value: np.ndarray[Any, np.dtype[np.float64]]
    text: _Codes  # of `text_names`
    text_names: list[str]

    def take(self, chosen: Any) -> _Parsed:
        """Return the chosen cells only."""
        columns = (self.launch, self.metric, self.unit, self.line, self.kind, self.value, self.text)
        launch, metric, unit, line, kind, value, text = (c[chosen] for c in columns)
        return _Parsed(launch, metric, unit, self.unit_names, line, kind, value, text, self.text_names)


def _parse(cells: _Cells, numerals: Numerals) -> _Parsed:
    """Turn the texts into numbers, each different text in each different scale once."""
    codes, distinct = pd.factorize(np.asarray(cells.texts, dtype="object"))
    found = [numerals.cells[text] for text in distinct]
    scales = [units.scale_of(unit) for unit in cells.units]
    names = list(dict.fromkeys(base for _, base in scales))
    unit = np.concatenate(cells.unit)
    exponents, scale_code = np.unique([e for e, _ in scales], return_inverse=True)
    pair = codes.astype(np.int64) * len(exponents) + scale_code[unit]
    pairs, inverse = np.unique(pair, return_inverse=True)
    numbers = [_number(found[p // len(exponents)], int(exponents[p % len(exponents)])) for p in pairs.tolist()]
    words, word_codes = (
        ["", *dict.fromkeys(c.text for c in found if c.kind == WORD)],
        np.zeros(len(found), dtype=np.intp),
    )
    word_of = {word: i for i, word in enumerate(words)}
    for index, cell in enumerate(found):
        word_codes[index] = word_of[cell.text] if cell.kind == WORD else 0
    launch = np.concatenate(cells.launch)
    parsed = _Parsed(
        launch,
        np.concatenate(cells.metric),
        np.array([names.index(base) for _, base in scales], dtype=np.intp)[unit],
        names,
        np.concatenate(cells.line),
        np.array([c.kind for c in found], dtype=np.intp)[codes],
        np.array(numbers, dtype="float64")[inverse],
        word_codes[codes],
        words,
    )
    order = np.argsort(launch, kind="stable")
    cells.section = [cells.section[i] for i in order] if cells.section else []
    return parsed.take(order)


def _number(cell: Cell, exponent: int) -> float:
    if cell.kind != NUMBER:
        return np.nan
    value = units.shift(cell.text, exponent)
    return value if np.isfinite(value) else np.nan


def _tell_apart(parsed: _Parsed, cells: _Cells) -> _Parsed:
    """Give a name that two sections use for two things (`Memory Throughput` in % and in byte/s) its section's name.

    The thing that stands first in the file keeps the plain name.
    """
    frame = pd.DataFrame({"launch": parsed.launch, "metric": parsed.metric, "unit": parsed.unit})
    per_launch = frame.groupby(["launch", "metric"])["unit"].nunique()
    doubtful = set(per_launch[per_launch > 1].index.get_level_values("metric"))
    if not doubtful:
        return parsed
    names = list(cells.metrics)
    first: dict[int, int] = {}
    metric = parsed.metric.copy()
    for index in np.flatnonzero(np.isin(metric, list(doubtful))).tolist():
        code, unit = int(metric[index]), int(parsed.unit[index])
        if first.setdefault(code, unit) != unit:
            where = cells.section[index] or parsed.unit_names[unit]
            metric[index] = cells.metric_codes([f"{where}: {names[code]}"])[0]
    parsed.metric = metric
    return parsed


def _once(parsed: _Parsed, cells: _Cells, losses: list[str]) -> _Parsed:
    """Keep each metric of a launch once; where two values of one name differ, keep the first and say so."""
    key = parsed.launch.astype(np.int64) * len(cells.metrics) + parsed.metric
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    if len(first) == len(key):
        return parsed
    origin = first[inverse]
    same = (parsed.value == parsed.value[origin]) | (np.isnan(parsed.value) & np.isnan(parsed.value[origin]))
    same &= (parsed.unit == parsed.unit[origin]) & (parsed.text == parsed.text[origin])
    names = list(cells.metrics)
    differing = np.flatnonzero(~same)
    for code in dict.fromkeys(parsed.metric[differing].tolist()):
        at = differing[parsed.metric[differing] == code]
        losses.append(
            f"line {parsed.line[at[0]]}: '{names[code]}' stands {len(at)} times beside another value of the same name"
            " and launch; the first is kept"
        )
    return parsed.take(np.sort(first))


def _states(parsed: _Parsed, cells: _Cells) -> _Codes:
    """Return for each cell which of `_REASONS` it has."""
    reason = np.array([_REASON_OF_KIND[kind] for kind in range(6)], dtype=np.intp)[parsed.kind]
    reason[(parsed.kind == NUMBER) & np.isnan(parsed.value)] = _REASON_OF_KIND[INF]
    # What has a unit is a number: a word in its place is damage, and not what a metric of words says.
    reason[(parsed.kind == WORD) & (np.array(parsed.unit_names, dtype="object") != "")[parsed.unit]] = _NO_NUMBER
    # An empty cell is an empty word where the metric's others are words, or where it is always empty.
    count = len(cells.metrics)
    numeric = np.bincount(parsed.metric[np.isin(parsed.kind, (NUMBER, NAN, INF))], minlength=count) > 0
    marked = np.bincount(parsed.metric[parsed.kind == MISSING], minlength=count) > 0
    worded = np.bincount(parsed.metric[parsed.kind == WORD], minlength=count) > 0
    empty_word = ~numeric & (worded | ~marked)
    reason[(parsed.kind == EMPTY) & empty_word[parsed.metric]] = 0
    durations = np.array([_DURATIONS.match(name) is not None for name in cells.metrics])
    failed = np.unique(parsed.launch[durations[parsed.metric] & (parsed.kind == NAN)])
    in_failed = np.isin(parsed.launch, failed) & np.isin(parsed.kind, (NAN, INF, MISSING))
    reason[in_failed] = _FAILED
    return reason


def _frame(parsed: _Parsed, cells: _Cells, source: str) -> pd.DataFrame:
    launches = cells.launches
    places = assign(launches)
    reason = _states(parsed, cells)

    def of_launch(texts: Sequence[str]) -> pd.Categorical:
        codes, distinct = pd.factorize(np.asarray(texts, dtype="object"))
        return _categorical(codes[parsed.launch], list(distinct))

    values = np.where(reason == 0, parsed.value, np.nan)
    lines, line = np.unique(parsed.line, return_inverse=True)
    params = dict.fromkeys(name for place in places for name, _ in place.params)
    given = [dict(place.params) for place in places]
    states = ["ok", "failed", "dropped"]
    data: dict[str, Any] = {
        "backend": "ncu",
        "workload": of_launch([launch.workload for launch in launches]),
        "process": 0,
        **{samples.PARAM + name: of_launch([g.get(name, "") for g in given]) for name in params},
        "annotation": of_launch([place.annotation for place in places]),
        "run": np.array([place.run for place in places])[parsed.launch],
        "kernel_index": np.array([place.kernel_index for place in places])[parsed.launch],
        "kernel": of_launch([launch.kernel for launch in launches]),
        "metric": _categorical(parsed.metric, list(cells.metrics)),
        "value": values,
        "unit": _categorical(parsed.unit, parsed.unit_names),
        "state": _categorical(np.array([states.index(state) for state, _ in _REASONS])[reason], states),
        "reason": _categorical(reason, [text for _, text in _REASONS]),
        "source": _categorical(line, [f"{source}#L{number}" for number in lines]),
        "text": _categorical(parsed.text, parsed.text_names),
    }
    return samples.make(data, len(parsed.launch))


def _categorical(codes: Any, names: list[str]) -> pd.Categorical:
    return pd.Categorical.from_codes(codes, categories=pd.Index(names, dtype="object"))


def _facts(table: Table, cells: _Cells, numerals: Numerals) -> dict[str, str]:
    facts = device_facts.join(_facts_of(row, numerals) for row in cells.devices.values())
    if any("Running with unmodified GPU clocks" in line for line in table.preamble):
        facts["policy.clocks"] = "none"
    return facts


def _facts_of(row: Mapping[str, str], numerals: Numerals) -> dict[str, str]:
    values: dict[str, float | str] = {}
    for name, text in row.items():
        if name.startswith("device__attribute_") and text in numerals.cells:
            cell = numerals.cells[text]
            values[name] = _number(cell, 0) if cell.kind == NUMBER else cell.text
    facts: dict[str, str] = {}
    if re.fullmatch(r"\d+[.,]\d+", row.get("CC", "").strip()):
        facts["gpu.compute_capability"] = row["CC"].strip().replace(",", ".")
    if row.get("Host Name", "").strip() not in _LOOPBACK:
        facts["host.name"] = row["Host Name"].strip()
    return device_facts.facts_from(values) | facts
