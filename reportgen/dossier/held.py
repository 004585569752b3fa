"""Hold a finished file of a dossier to its evidence: each figure to what its source gives, and all of it to what should stand there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Literal

from reportgen.analysis.evaluate import Computed, Evaluator
from reportgen.analysis.sources import SourceError
from reportgen.analysis.statistics import same, same_cell
from reportgen.dossier.finished import GAP, Finished, Line, Printed
from reportgen.dossier.model import Cell, Dossier, Figure, Name, Part, Sentence, Sources, Table
from reportgen.dossier.references import blocks, sections
from reportgen.dossier.rounding import misprint, number
from reportgen.dossier.text import exact, plain
from reportgen.evidence import tables
from reportgen.evidence.errors import UserError

Kind = Literal["differs", "no source", "missing"]
_SHOWN = 60  # characters of a sentence that name it


@dataclass(frozen=True, slots=True)
class Wrong:
    """Something in a finished file that its evidence does not give: where, what is printed and what would be right."""

    kind: Kind
    place: str
    what: str
    printed: str = ""
    recomputed: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Counted:
    """How many figures were recomputed and equal; of `recorded` ones the values that a suite's own function gave were taken as they are."""

    equal: int
    recorded: int
    wrong: tuple[Wrong, ...]


def figures(found: Finished, evaluate: Evaluator) -> Counted:
    """Compute every figure of a file again: its value, its exact value and its printed text must all be what its source gives."""
    equal = recorded = 0
    wrong: list[Wrong] = []
    for printed in found.figures:
        fault = _figure(printed, evaluate)
        if isinstance(fault, Wrong):
            wrong.append(fault)
        elif fault.recorded:
            recorded += 1
        else:
            equal += 1
    if not found.figures:
        wrong.append(Wrong("missing", "", "it holds no figure at all: nothing was computed again"))
    return Counted(equal, recorded, tuple(wrong))


def _figure(printed: Printed, evaluate: Evaluator) -> Wrong | Computed:
    """Return what is wrong with a figure, or what its source gives where nothing is."""
    shown = f"{printed.text} {_unit(printed.after)}".rstrip()
    if printed.source is None:
        return Wrong("no source", printed.place, f"'{shown}' has no source", shown)
    try:
        computed = evaluate(printed.source)
    except SourceError as error:
        return Wrong(
            "no source", printed.place, f"the source of '{shown}' leads nowhere: {error}", shown, "", printed.source
        )
    right = exact(computed.value, computed.unit)
    said = number(printed.value or "")
    if said is None or not same(said, computed.value):
        what = f"the value of '{shown}' is {printed.value or 'not said'}, and its source gives {right}"
    elif printed.exact is not None and printed.exact != right and not _same_exact(printed.exact, computed):
        what = f"the exact value of '{shown}' is said to be {printed.exact}, and its source gives {right}"
    elif fault := misprint(printed.text, computed.value, computed.unit, printed.after, printed.heads):
        what = f"prints '{shown}': {fault}; its source gives {right}"
    else:
        return computed
    return Wrong("differs", printed.place, what, shown, right, printed.source)


def _unit(after: str) -> str:
    return after[1:].split(" ", 1)[0].rstrip(",.;:()") if after.startswith("\N{NO-BREAK SPACE}") else ""


def _same_exact(text: str, computed: Computed) -> bool:
    said, _, unit = text.partition(" ")
    value = number(said)
    return value is not None and unit == computed.unit and same(value, computed.value)


# What should stand there


def whole(found: Finished, dossier: Dossier, folder: Path) -> Iterator[Wrong]:
    """Yield what `dossier`, made anew from the evidence, says and the file does not; `folder` is where the file lies.

    A data file that the file links to is read beside it.
    """
    yield from _missing_figures(found.figures, _placed(dossier, ""))
    yield from _missing_sentences(found, dossier)
    for block in blocks(dossier):
        for table in block.tables:
            yield from _table(found, table)
        for chart in block.charts:
            if found.words and found.drawings.get(chart.id) != chart.panels:
                what = (
                    "the drawing is not that of its data" if chart.id in found.drawings else "the drawing is not there"
                )
                yield Wrong("differs", f"#{chart.id}", what)
    yield from _files(found, dossier)
    for file in dossier.data:
        yield from _data(found, file.name, file.text, folder)


def rows(found: Sequence[Finished], sources: Sources) -> Iterator[Wrong]:
    """Yield the figures of rows that should stand on the pages of rows, and do not."""
    yield from _missing_figures([figure for page in found for figure in page.figures], _placed(sources, "rows"))


def _missing_figures(printed: Sequence[Printed], wanted: Iterator[tuple[str, Figure]]) -> Iterator[Wrong]:
    there = Counter(figure.source for figure in printed)
    places: dict[str, list[tuple[str, Figure]]] = {}
    for place, figure in wanted:
        places.setdefault(figure.source, []).append((place, figure))
    for source, found in places.items():
        if (lacking := len(found) - there[source]) > 0:
            place, figure = found[-1]
            of = f", one of {len(found)} places" if len(found) > 1 else ""
            shown = f"{figure.text} {figure.unit}".rstrip()
            times = f" {lacking} times" if lacking > 1 else ""
            yield Wrong("missing", f"{place}{of}", f"'{shown}' is not there{times}", "", figure.exact, source)


def _placed(value: object, place: str) -> Iterator[tuple[str, Figure]]:
    """Yield every figure of a part of the model with its place there."""
    if isinstance(value, Figure):
        yield place, value
    elif is_dataclass(value):
        name = getattr(value, "id", "") or getattr(value, "key", "") or getattr(value, "path", "")
        for field in fields(value):
            if isinstance(value, Dossier) and field.name == "sources":
                continue
            inner = field.name if isinstance(value, Dossier) else f"#{name}" if name else place
            yield from _placed(getattr(value, field.name), inner)
    elif isinstance(value, tuple):
        for one in value:
            yield from _placed(one, place)


def _missing_sentences(found: Finished, dossier: Dossier) -> Iterator[Wrong]:
    said: list[tuple[str, Sentence | str]] = [
        ("lead", dossier.lead),
        ("digest", dossier.digest),
        ("title", dossier.title),
    ]
    said += [("findings", finding.sentence) for finding in dossier.findings]
    for caution in dossier.cautions:
        said += [("cautions", caution.what), ("cautions", caution.effect), ("cautions", caution.mend)]
    for section in sections(dossier):
        said += [(f"#{section.id}", section.title), (f"#{section.id}", section.lead), (f"#{section.id}", section.note)]
    for block in blocks(dossier):
        said += [(f"#{block.id}", block.heading), (f"#{block.id}", block.lead)]
        said += [(f"#{chart.id}", part) for chart in block.charts for part in (chart.title, chart.caption)]
        said += [(f"#{table.id}", table.caption) for table in block.tables]
    for place, sentence in said:
        parts = (sentence,) if isinstance(sentence, str) else sentence
        text = " ".join("".join(map(_words, parts)).split())
        if text and text not in found.text:
            whole = " ".join(plain(parts).split())
            shown = whole if len(whole) <= _SHOWN else f"{whole[:_SHOWN]}…"
            yield Wrong("missing", place, f"'{shown}' is not there, or in other words")


def _words(part: Part) -> str:
    """Return a part of a sentence as it stands in a file's text, where figures have their own say."""
    if isinstance(part, Figure):
        return f"{GAP} {part.unit}".rstrip()
    return part if isinstance(part, str) else part.text


def _table(found: Finished, table: Table) -> Iterator[Wrong]:
    lines = found.tables.get(table.id)
    if lines is None:
        yield Wrong("missing", f"#{table.id}", "the table is not there")
        return
    if len(lines) != len(table.rows):
        yield Wrong("differs", f"#{table.id}", f"the table has {len(lines)} rows, and should have {len(table.rows)}")
        return
    for index, (line, row) in enumerate(zip(lines, table.rows, strict=True), 1):
        yield from _row(line, row, index)


def _row(line: Line, row: tuple[Cell, ...], index: int) -> Iterator[Wrong]:
    place = f"{line.place} (row {index})"
    wanted = [part.source for cell in row for part in cell.parts if isinstance(part, Figure)]
    if [figure.source for figure in line.figures] != wanted:
        yield Wrong("differs", place, "the row does not hold the figures that it should, in their order")
    words = [
        part.text if isinstance(part, Name) else part
        for cell in row
        for part in cell.parts
        if isinstance(part, Name | str)
    ]
    words += [cell.mark for cell in row]
    for word in words:
        text = " ".join(word.split())
        if text not in line.text:
            yield Wrong("differs", place, f"the row does not say '{text}', which it should")


def _files(found: Finished, dossier: Dossier) -> Iterator[Wrong]:
    """Hold the digests that a file prints to the bundle's."""
    printed = {line.codes[0]: line for line in found.tables.get("files", ()) if line.codes}
    for file in dossier.evidence:
        line = printed.get(file.path)
        if line is None:
            yield Wrong("missing", "#files", f"{file.path} is not listed")
        elif line.codes[1:] != tuple(code for code in (file.sha256, file.published_sha256) if code):
            yield Wrong(
                "differs",
                f"#files, {file.path}",
                "its digest is not the one that is printed",
                " ".join(line.codes[1:]),
                file.sha256,
            )


def _data(found: Finished, name: str, wanted: str, folder: Path) -> Iterator[Wrong]:
    if name in found.data:
        text = found.data[name]
    elif name in found.beside:
        try:
            text = (folder / found.beside[name]).read_bytes().decode("utf-8", "backslashreplace")
        except OSError:
            yield Wrong("missing", name, "the file is not there")
            return
    else:
        yield Wrong("missing", name, "the data are not there")
        return
    if text != wanted:
        yield from _lines_differ(name, text, wanted)


def _lines_differ(name: str, text: str, wanted: str) -> Iterator[Wrong]:
    """Name the cells in which two CSVs differ, numbers in 12 significant digits."""
    try:
        mine, theirs = (list(tables.csv_rows(one.encode("utf-8", "backslashreplace"), name)) for one in (text, wanted))
    except UserError as error:
        yield Wrong("differs", name, error.what)
        return
    if mine[:1] != theirs[:1] or len(mine) != len(theirs):
        what = (
            f"it has {len(mine)} lines, and should have {len(theirs)}"
            if mine[:1] == theirs[:1]
            else "its columns are others"
        )
        yield Wrong("differs", name, what)
        return
    for line, (one, other) in enumerate(zip(mine, theirs, strict=True), 1):
        for column, cell, right in zip(theirs[0], one, other, strict=True):
            if not same_cell(cell, right):
                place = f"{name}, line {line} ({other[0]}), {column}"
                yield Wrong("differs", place, f"it says '{cell}', and the evidence gives '{right}'", cell, right)
