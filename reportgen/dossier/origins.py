"""What the figures of a dossier lead to: the rows of the processed table, their samples' places, and the files that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from reportgen.analysis import processed, sources
from reportgen.analysis.evaluate import Evaluator, meaning
from reportgen.analysis.measurements import Measurements
from reportgen.analysis.sources import Call, Constant, Place, SourceError
from reportgen.dossier.model import (
    DataFile,
    Dossier,
    EvidenceFile,
    Figure,
    Origin,
    SourceCall,
    SourceFile,
    SourceRow,
    Sources,
    figures,
)
from reportgen.dossier.text import count, exact, plain_number, shorten, visible
from reportgen.evidence import tables
from reportgen.evidence.bundle import Formula

DATA_NAME = "sources.csv"
_VALUES = {
    "mean": "AvgValue",
    "95 % from": "CI95_Lower",
    "95 % to": "CI95_Upper",
    "deviation": "StdDev",
    "deviation in percent": "RelativeStdDevPct",
    "least": "MinValue",
    "median": "Median",
    "most": "MaxValue",
    "runs": "NumRuns",
    "processes": "NumProcesses",
    "kernels": "NumKernels",
}
_NUMBER = re.compile(r"(.*?)(\d+)\Z", re.DOTALL)
_MOST_RANGES = 10
_SHORTEST_RANGE = 3
_HEAD = (
    *("row", "benchmark", "backend", "workload", "scenario", "annotation", "configuration", "metric", "unit"),
    *(_VALUES.values()),
    *("state", "reason", "formula", "reads", "file", "sha256", "places", "samples"),
)


def with_sources(dossier: Dossier, of: Measurements) -> Dossier:
    """Return `dossier` with what its figures are computed from, and the same as a data file."""
    sizes = {file.path: int(file.size.value) for file in dossier.evidence}
    made = _Sources(of, Evaluator(of, sizes), dossier.evidence).of(figures(dossier))
    data = DataFile(DATA_NAME, "What each figure is computed from: rows, files and places.", _csv(made), inline=False)
    return replace(dossier, sources=made, data=(*dossier.data, data))


class _Sources:
    def __init__(self, of: Measurements, evaluate: Evaluator, files: Sequence[EvidenceFile]) -> None:
        self._of, self._evaluate = of, evaluate
        self._by_path = {file.path: file for file in files}
        self._files: dict[str, int] = {}
        self._formulas = {(formula.benchmark, formula.metric): formula for formula in of.info.formulas}

    def of(self, printed: Iterable[Figure]) -> Sources:
        asked = {figure.source: sources.parse(figure.source) for figure in printed}
        rows: dict[str, set[str]] = {}  # with the sources of their single kernels
        for text, source in asked.items():
            for row in sources.rows(source):
                rows.setdefault(row, set())
            if isinstance(source, Place) and source.kernel is not None:
                rows[source.row].add(text)
        reads = self._reads(rows)
        order = [row for row in self._of.table["Row"] if row in reads]
        made = tuple(self._row(row, sorted(rows.get(row, ())), reads[row]) for row in order)
        calls = [(text, source) for text, source in asked.items() if isinstance(source, Call | Constant)]
        return Sources(made, tuple(self._call(*call) for call in calls), tuple(map(self._file, self._files)))

    def _reads(self, rows: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return all of `rows` and those that their formulas read, each with the rows that its own formula reads."""
        found: dict[str, tuple[str, ...]] = {}
        waiting = list(rows)
        while waiting:
            row = waiting.pop()
            if row not in found:
                found[row] = self._of.reads(row)
                waiting += found[row]
        return found

    def _row(self, row: str, kernels: Sequence[str], reads: tuple[str, ...]) -> SourceRow:
        cells = self._of.row(row)
        formula = self._formula(cells)
        values = [(name, f"{row}.{column}") for name, column in _VALUES.items()]
        values += [(f"kernel {source.partition('/k')[2].partition('.')[0]}", source) for source in kernels]
        known = [(name, figure) for name, source in values if (figure := self._figure(source)) is not None]
        return SourceRow(
            id=row,
            benchmark=visible(str(cells["Benchmark"])),
            backend=visible(str(cells["Backend"])),
            workload=visible(str(cells["Workload"])),
            scenario=visible(str(cells["Scenario"])),
            annotation=shorten(str(cells["Annotation"]), 48),
            configuration=visible(self._configuration(cells)),
            kernel=shorten(str(cells["Kernel"]), 96),
            metric=visible(str(cells["Metric"])),
            unit=visible(str(cells["Unit"])),
            values=tuple(known),
            state=str(cells["State"]),
            reason=visible(str(cells["Reason"])),
            formula=visible(formula.formula) if formula else "",
            reads=reads,
            recorded=row in self._of.recorded,
            origins=() if formula else tuple(self._origins(row)),
        )

    def _formula(self, cells: Mapping[str, Any]) -> Formula | None:
        metric = str(cells["Metric"])
        return self._formulas.get((str(cells["Benchmark"]), metric)) or self._formulas.get(("", metric))

    def _configuration(self, cells: Mapping[str, Any]) -> str:
        names = [name for name in cells if name not in (*processed.NUMBERS, *processed.WORDS)]
        return ", ".join(f"{name} = {cells[name]}" for name in names if not (cells[name] is None or cells[name] == ""))

    def _figure(self, source: str) -> Figure | None:
        """Return a figure that prints the exact value of a source in its base unit, None where it has none."""
        try:
            computed = self._evaluate(source)
        except SourceError:
            return None
        return Figure(computed.value, plain_number(computed.value), "", exact(computed.value, computed.unit), source)

    def _file(self, path: str) -> SourceFile:
        file = self._by_path.get(path)
        return (
            SourceFile(path, "", "withheld", "")
            if file is None
            else SourceFile(path, file.sha256, file.published, file.href)
        )

    def _call(self, text: str, source: Call | Constant) -> SourceCall:
        computed = self._evaluate(text)
        value = Figure(
            computed.value, plain_number(computed.value), computed.unit, exact(computed.value, computed.unit), text
        )
        if isinstance(source, Constant):
            return SourceCall(text, "A threshold that stands in the code of reportgen.", value, ())
        return SourceCall(text, meaning(source), value, tuple(dict.fromkeys(sources.rows(source))))

    def _origins(self, row: str) -> Iterable[Origin]:
        """Say of each file which places hold samples of a row."""
        places = [source.rpartition("#")[::2] for source in self._of.places_of(row)]
        for path, found in groupby(sorted(places, key=lambda place: _key(place[0])), key=lambda place: place[0]):
            within = [place for _, place in found]
            number = self._files.setdefault(visible(path), len(self._files))
            samples = count(len(within), sources.call("count", "samples in", row, sources.quoted(path)))
            yield Origin(number, visible(ranges(sorted(dict.fromkeys(within), key=_key))), samples)


def _key(text: str) -> tuple[tuple[int, str], ...]:
    """Return what sorts a text with its numbers as numbers."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text))


def ranges(places: Sequence[str]) -> str:
    """Say places in short: `0/0 to 0/29, 0/35`; of very many the first and the last."""
    pieces: list[tuple[str, ...]] = []
    at = 0
    while at < len(places):
        end = at
        while end + 1 < len(places) and _follows(places[end], places[end + 1]):
            end += 1
        if end - at + 1 >= _SHORTEST_RANGE:
            pieces.append((places[at], places[end]))
        else:
            pieces += [(place,) for place in places[at : end + 1]]
        at = end + 1
    if len(pieces) > _MOST_RANGES:
        return f"{places[0]} … {places[-1]}"
    return ", ".join(" to ".join(piece) for piece in pieces)


def _follows(one: str, other: str) -> bool:
    first, second = _NUMBER.fullmatch(one), _NUMBER.fullmatch(other)
    return bool(first and second and first[1] == second[1] and int(second[2]) == int(first[2]) + 1)


def _csv(found: Sources) -> str:
    """Return a line for each row and each file that it has samples in."""
    lines: list[Sequence[str]] = [_HEAD]
    for row in found.rows:
        values = {
            figure.source.rpartition(".")[2]: figure.text for _, figure in row.values if "/k" not in figure.source
        }
        head = [row.id, row.benchmark, row.backend, row.workload, row.scenario, row.annotation.whole, row.configuration]
        head += [row.metric, row.unit, *(values.get(column, "") for column in _VALUES.values())]
        head += [row.state, row.reason, row.formula, " ".join(row.reads)]
        ends = [
            [found.files[origin.file].path, found.files[origin.file].sha256, origin.places, origin.samples.exact]
            for origin in row.origins
        ]
        lines += [[*head, *end] for end in ends or [["", "", "", ""]]]
    return tables.rows_to_csv(lines).decode()
