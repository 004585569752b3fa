"""Read the CSVs of nsight-python: `profiled_data` (one row for each run and metric) and `processed_data` (summaries).

Columns are found by name; those that are none of nsight-python's are parameters. The pickle beside them stays shut.
A mean is no sample: what `processed_data` holds is kept as recorded summaries, under `<metric>:AvgValue` and the like.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reportgen.evidence import samples
from reportgen.evidence.errors import ReadError
from reportgen.evidence.samples import Samples, canonical
from reportgen.readers import csv_text, device_facts, units
from reportgen.readers.csv_text import Table
from reportgen.readers.names import demangle, is_mangled
from reportgen.readers.numerals import EMPTY, INF, MISSING, NAN, NUMBER, WORD, Numerals

NO_VALUE = "the file holds no value"
_MEND = "give the CSV as nsight-python wrote it"
_SUMMARIES = ("AvgValue", "StdDev", "MinValue", "MaxValue", "NumRuns")
_KNOWN = frozenset(
    {
        *(
            "Annotation",
            "Value",
            "Metric",
            "Transformed",
            "Kernel",
            "GPU",
            "Host",
            "ComputeClock",
            "MemoryClock",
            "Unit",
        ),
        *(*_SUMMARIES, "CI95_Lower", "CI95_Upper", "RelativeStdDevPct", "StableMeasurement"),
        *("Normalized", "NormalizationValue", "Geomean"),
    }
)
_OURS = frozenset(
    ("Median", "Q1", "Q3", "NumProcesses", "SMClockObserved", "NumKernels", "Backend", "Workload", "Scenario", "State")
)
_REASONS = {
    EMPTY: NO_VALUE,
    NAN: "the profiler recorded nan",
    INF: "the profiler recorded inf",
    MISSING: "the profiler recorded n/a",
    WORD: "the file holds a word in place of a value",
}
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,4000})")
_FLOAT = re.compile(r"-?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass
class _Rows:
    """The columns of the samples table that are being filled, one entry for each sample."""

    params: list[dict[str, str]] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(
        default_factory=lambda: {
            name: [] for name in ("annotation", "run", "kernel", "metric", "value", "unit", "state", "reason", "source")
        }
    )

    def add(self, params: dict[str, str], **cells: Any) -> None:
        """Add one sample."""
        self.params.append(params)
        for name, column in self.columns.items():
            column.append(cells[name])


def read(path: Path, source: str) -> Samples:
    """Read the nsight-python CSV at `path`, profiled or processed; `source` is the file's path in the bundle."""
    table = csv_text.read_table(path, ("nsight-profiled", "nsight-processed"))
    parts = csv_text.split_tables(table)
    rows = [
        (part, line, cells)
        for part in parts
        for line, cells in csv_text.whole_rows(part, len(part.header))
        if any(cell.strip() for cell in cells)
    ]
    if not rows:
        raise _no_rows(table)
    for name in dict.fromkeys(name for part in parts for name in part.header if part.header.count(name) > 1):
        table.losses.append(f"line {table.header_line}: the column '{name}' stands twice; the first is read")
    found = [_named(part, line, cells) for part, line, cells in rows]
    numerals = _numerals(found, table)
    made = _Rows()
    (_profiled if table.kind == "nsight-profiled" else _processed)(found, numerals, source, made)
    mangled = any(is_mangled(k) for row in found for k in row.cell("Kernel").split("|"))
    return Samples(_frame(made, "cupti" if mangled else "ncu"), _facts(found, mangled), tuple(table.losses))


def _no_rows(table: Table) -> ReadError:
    if table.losses:
        return ReadError(table.path, f"no row could be read; {table.losses[0]}", _MEND)
    return ReadError(
        table.path, f"line {table.header_line}: a header, and no row below it", "nothing was profiled: run again"
    )


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    cells: dict[str, str]
    params: dict[str, str]  # name to canonical JSON

    def cell(self, name: str) -> str:
        return self.cells.get(name, "").strip()


def _named(table: Table, line: int, cells: Sequence[str]) -> _Row:
    named: dict[str, str] = {}
    for name, cell in zip(table.header, cells, strict=True):
        named.setdefault(name, cell)
    known = _KNOWN | _OURS if "NumProcesses" in named else _KNOWN
    params = {n: c for n, c in named.items() if n and n not in known and not n.startswith("Unnamed: ")}
    return _Row(line, named, {name: _canonical(cell) for name, cell in params.items()})


def _canonical(cell: str) -> str:
    """Return a parameter's cell as canonical JSON; the empty text where the row has no such parameter."""
    text = cell.strip()
    if not text:
        return ""
    if _INTEGER.fullmatch(text):
        # Not by way of int: a number of thousands of digits is a parameter all the same.
        return "0" if text == "-0" else text
    if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return canonical(float(text))
    if text in ("True", "False"):
        return canonical(text == "True")
    if text.startswith('"'):
        try:
            return canonical(json.loads(text, parse_constant=str))
        except (ValueError, RecursionError):
            return canonical(cell)
    return canonical(cell)


def _numerals(found: list[_Row], table: Table) -> Numerals:
    numerals = Numerals({row.cell(name) for row in found for name in ("Value", *_SUMMARIES)}, table.delimiter)
    if numerals.loss:
        table.losses.append(numerals.loss)
    return numerals


def _profiled(found: list[_Row], numerals: Numerals, source: str, made: _Rows) -> None:
    runs: dict[tuple[Any, ...], int] = {}
    for row in found:
        metric = row.cell("Metric") or "(no name)"
        unit = row.cell("Unit") or units.base_unit_of(metric)
        key = (row.cell("Annotation"), metric, *row.params.items())
        runs[key] = runs.get(key, -1) + 1
        _add(made, row, metric, runs[key], row.cell("Value"), unit, numerals, source)


def _processed(found: list[_Row], numerals: Numerals, source: str, made: _Rows) -> None:
    for row in found:
        metric = row.cell("Metric") or "(no name)"
        stated = row.cell("Unit") or units.base_unit_of(metric)
        against = row.cell("Normalized")
        for summary in _SUMMARIES:
            if summary not in row.cells:
                continue
            name, unit = f"{metric}:{summary}", "" if summary == "NumRuns" else stated
            if summary == "AvgValue" and against not in ("", "False", "0"):
                # Only the mean is divided by the other annotation's; all else stays in the metric's own unit.
                name, unit = f"{name}/{against}", ""
            _add(made, row, name, 0, row.cell(summary), unit, numerals, source)


def _add(made: _Rows, row: _Row, metric: str, run: int, text: str, unit: str, numerals: Numerals, source: str) -> None:
    cell = numerals.cells[text]
    exponent, base = units.scale_of(unit)
    value = units.shift(cell.text, exponent) if cell.kind == NUMBER else math.nan
    kind = INF if cell.kind == NUMBER and not math.isfinite(value) else cell.kind
    made.add(
        row.params,
        annotation=row.cell("Annotation"),
        run=run,
        kernel=" | ".join(_demangled(row.cell("Kernel"))),
        metric=metric,
        value=value if kind == NUMBER else math.nan,
        unit=base,
        state="ok" if kind == NUMBER else "dropped",
        reason=_REASONS.get(kind, ""),
        source=f"{source}#L{row.line}",
    )


def _demangled(kernel: str) -> list[str]:
    """Demangle a name, or each of several that nsight-python joined when it combined kernels."""
    parts = kernel.split("|")
    return [demangle(part) for part in parts] if any(map(is_mangled, parts)) else [kernel]


def _frame(made: _Rows, backend: str) -> Any:
    names = dict.fromkeys(name for params in made.params for name in params)
    data: dict[str, Any] = {
        "backend": backend,
        "workload": "kernel",
        "process": 0,
        **{samples.PARAM + name: [params.get(name, "") for params in made.params] for name in names},
        "kernel_index": 0,
        **made.columns,
    }
    return samples.make(data, len(made.params))


def _facts(found: list[_Row], mangled: bool) -> dict[str, str]:
    machines = dict.fromkeys(
        tuple(row.cell(name) for name in ("GPU", "Host", "ComputeClock", "MemoryClock")) for row in found
    )
    facts = device_facts.join(_facts_of(machine) for machine in machines)
    reason = "its kernel names are mangled, as CUPTI gives them" if mangled else "none of its kernel names is mangled"
    return facts | {"import.backend_reason": reason}


def _facts_of(machine: Iterable[str]) -> dict[str, str]:
    gpu, host, compute, memory = machine
    facts = {"gpu.name": gpu, "host.name": host}
    # Rated clocks, in kHz, from the device's attributes: not what was seen while the kernels ran.
    for key, text in (("clocks.sm_rated_hz", compute), ("clocks.memory_rated_hz", memory)):
        if re.fullmatch(r"[0-9]{1,12}(\.0*)?", text):
            facts[key] = str(int(text.split(".")[0]) * 1000)
    return {key: value for key, value in facts.items() if value}
