"""Open a CSV as profilers and spreadsheets leave it: any encoding, any delimiter, with a profiler's chatter ahead.

What a CSV is, is told by the names in its header and never by its own name: `sniff_csv` says which reader it is for.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from reportgen.evidence.errors import ReadError

DELIMITERS = (",", ";", "\t")
IDENTITY = (
    *("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context", "Stream"),
    *("Block Size", "Grid Size", "Device", "CC", "Section Name", "Invocations", "Function Name", "Demangled Name"),
)
EXPORT_AGAIN = "export it again with `ncu --import FILE --csv --page raw`"
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HEADER_WORDS = re.compile(r"Kernel Name|Metric|Annotation|\bID\b|__")
_METRIC_NAME = re.compile(r"[A-Za-z0-9:_]+__[^\s]+")
_HEADER_CELLS = frozenset({"ID", "Kernel Name", "Metric Name", "Annotation", "Process ID"})
_LONGEST_HEADER = 1 << 20
_SNIFFED_PREAMBLE = 16 << 20
_MOST_LOSSES = 20


@dataclass(frozen=True)
class Table:
    """The rows of a CSV below its header, each with its line in the file."""

    path: Path
    kind: str
    header: list[str]
    header_line: int
    delimiter: str
    preamble: list[str]
    rows: list[tuple[int, list[str]]]
    cut: bool  # the last row may not be whole
    losses: list[str] = field(default_factory=list)


def kind_of(header: list[str]) -> str | None:
    """Return which CSV the names in `header` stand for: a kind of `sniff_csv`, or None."""
    names = set(header)
    if {"Annotation", "Metric"} <= names and names & {"Value", "AvgValue"}:
        return "nsight-processed" if "AvgValue" in names else "nsight-profiled"
    if "Metric Name" in names and names & {"Metric Value", "Average", "Minimum"}:
        return "ncu-details"
    known = len(names & set(IDENTITY))
    if names & {"Metric", "Metric Name"}:
        return None
    if known >= (2 if "Kernel Name" in names else 4) or (known and any(map(_METRIC_NAME.fullmatch, header))):
        return "ncu-raw"
    return None


def sniff_csv(path: Path) -> str | None:
    """Return "ncu-raw", "ncu-details", "nsight-profiled" or "nsight-processed" by what `path` holds, else None."""
    try:
        with path.open("rb") as file:
            encoding = _encoding(file.read(4096))
        with path.open(encoding=encoding, errors="replace", newline="") as text:
            read = 0
            while read < _SNIFFED_PREAMBLE and (line := text.readline(_LONGEST_HEADER)):
                read += len(line)
                if found := _as_header(line):
                    return found[0]
    except (OSError, UnicodeError):
        return None
    return None


def _as_header(line: str) -> tuple[str, list[str], str] | None:
    """Read one line as a header: its kind, its names and its delimiter."""
    if not _HEADER_WORDS.search(line) or line.startswith("=="):
        return None
    best: tuple[str, list[str], str] | None = None
    for delimiter in DELIMITERS:
        cells = [c.strip() for c in _cells(line.replace("\0", ""), delimiter)]
        kind = kind_of(cells)
        if kind and (best is None or len(cells) > len(best[1])):
            best = kind, cells, delimiter
    return best


def _cells(line: str, delimiter: str) -> list[str]:
    csv.field_size_limit(1 << 30)
    try:
        return next(csv.reader([line.strip(" \r\n\ufeff")], delimiter=delimiter), [])
    except csv.Error:
        return []


def _encoding(head: bytes) -> str:
    for bom, encoding in _BOMS:
        if head.startswith(bom):
            return encoding
    # Without a mark UTF-16 shows by zeros at every other place; zeros at all of them are damage.
    pairs = len(head) // 2
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > 0.6 * pairs and even < 0.1 * pairs:
        return "utf-16-le"
    return "utf-16-be" if even > 0.6 * pairs and odd < 0.1 * pairs else "utf-8"


def read_text(path: Path) -> tuple[str, list[str]]:
    """Return the text of the file at `path`, and one line for each thing in it that could not be read."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ReadError(path, f"cannot be opened ({error.strerror or error})", "give a file that can be read") from None
    if not raw.strip(b" \t\r\n\0"):
        raise ReadError(path, "the file is empty", "copy it again from where it was made")
    if raw.startswith(b"version https://git-lfs"):
        raise ReadError(path, "a Git LFS pointer, not the file itself", "run `git lfs pull`")
    text, losses = _decode(raw)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        losses.append(f"line {line}: the file holds NUL bytes, as after a crash or a full disk; they are left out")
        text = text.replace("\0", "")
    return text, losses


def _decode(raw: bytes) -> tuple[str, list[str]]:
    encoding = _encoding(raw[:4096])
    try:
        return raw.decode(encoding), []
    except UnicodeError:
        text = raw.decode(encoding, "replace")
    broken = text.count("\ufffd")
    whole = sum(1 for c in text if c > "\x7f") - broken
    if encoding == "utf-8" and broken >= whole:
        # A spreadsheet on Windows writes its own code page: every letter beyond ASCII is broken as UTF-8.
        return raw.decode("cp1252", "replace"), []
    line = text.count("\n", 0, text.index("\ufffd")) + 1
    return text, [f"line {line}: {broken} characters are not {encoding.upper()} and are shown as \ufffd"]


def read_table(path: Path, kinds: Collection[str]) -> Table:
    """Read the CSV at `path`, which must be of one of `kinds`; raise `ReadError` if it is not."""
    text, losses = read_text(path)
    lines = list(io.StringIO(text, newline=""))
    headers = ((i, found) for i, line in enumerate(lines) if (found := _as_header(line[:_LONGEST_HEADER])))
    first = next(headers, None)
    if first is None:
        raise _no_header(path, lines, kinds)
    index, (kind, header, delimiter) = first
    if kind not in kinds:
        raise ReadError(
            path, f"line {index + 1}: the header is that of another kind of CSV ({kind})", f"import it as {kind}"
        )
    rows, cut = _rows(path, lines, index + 1, delimiter)
    preamble = [line.strip() for line in lines[:index]]
    return Table(path, kind, header, index + 1, delimiter, preamble, rows, cut, losses)


def _no_header(path: Path, lines: list[str], kinds: Collection[str]) -> ReadError:
    for number, line in enumerate(lines, 1):
        if line.startswith("==ERROR=="):
            what = f"line {number}: no table in it, as ncu stopped with: {line.strip()[10:][:200]}"
            return ReadError(path, what, "mend that and profile again")
        if "No kernels were profiled" in line:
            what = f"line {number}: ncu says that no kernels were profiled"
            return ReadError(path, what, "check the range and kernel filters of the ncu command")
    if any(kind.startswith("ncu") for kind in kinds):
        return ReadError(path, f"line 1: not a CSV of ncu: no header in its {len(lines)} lines", EXPORT_AGAIN)
    what = f"line 1: not a CSV of nsight-python: no header in its {len(lines)} lines"
    return ReadError(path, what, "give the profiled_data or processed_data CSV as nsight-python wrote it")


def _rows(path: Path, lines: list[str], first: int, delimiter: str) -> tuple[list[tuple[int, list[str]]], bool]:
    csv.field_size_limit(1 << 30)
    reader = csv.reader(lines[first:], delimiter=delimiter)
    rows: list[tuple[int, list[str]]] = []
    start = 1
    try:
        for cells in reader:
            if cells and not cells[0].startswith("=="):
                rows.append((first + start, cells))
            start = reader.line_num + 1
    except csv.Error as error:
        raise ReadError(path, f"line {first + start}: not a row of a CSV ({error})", EXPORT_AGAIN) from None
    return rows, bool(rows) and _is_cut(lines, rows)


def _is_cut(lines: list[str], rows: list[tuple[int, list[str]]]) -> bool:
    """Tell whether the last row may have lost its end: an open quote, or no newline after an unquoted new value.

    A last value that another row has too is taken to be whole: most files without a newline at their end are.
    """
    line, cells = rows[-1]
    tail = "".join(lines[line - 1 :])
    if tail.count('"') % 2:
        return True
    if tail.endswith(("\n", "\r", '"')):
        return False
    return not any(len(other) == len(cells) and other[-1] == cells[-1] for _, other in rows[:-1])


def split_tables(table: Table) -> list[Table]:
    """Split a table wherever its header, or another of its kind, stands again: files are written one after another."""
    starts = [i for i, (_, cells) in enumerate(table.rows) if not _HEADER_CELLS.isdisjoint(cells) and kind_of(cells)]
    bounds = [*starts, len(table.rows)]
    parts = [replace(table, rows=table.rows[: bounds[0]], cut=table.cut and not starts)]
    for start, end in pairwise(bounds):
        line, header = table.rows[start][0], [cell.strip() for cell in table.rows[start][1]]
        if kind_of(header) != table.kind:
            table.losses.append(f"line {line}: a table of another kind ({kind_of(header)}) begins here and is left out")
            continue
        cut = table.cut and end == len(table.rows)
        parts.append(replace(table, header=header, header_line=line, rows=table.rows[start + 1 : end], cut=cut))
    return parts


def whole_rows(table: Table, needed: int) -> Iterator[tuple[int, list[str]]]:
    """Give the rows that have a cell for each of the header's first `needed` names, filled up to its whole width.

    What is left out is added to the table's losses, each with its line. Some versions of ncu leave out trailing cells.
    """
    width = len(table.header)
    ragged: list[int] = []
    last = len(table.rows) - 1
    for index, (line, found) in enumerate(table.rows):
        cells = found
        if len(cells) < width and len(cells) >= needed and not (index == last and table.cut):
            cells = cells + [""] * (width - len(cells))
        elif len(cells) > width and not any(cells[width:]):
            cells = cells[:width]
        if index == last and (table.cut or len(cells) < width):
            table.losses.append(
                f"line {line}: the last row may be cut off (cell {min(len(cells), width)} of {width}) and is left out;"
                " if it is whole, end it with a newline"
            )
        elif len(cells) != width:
            ragged.append(line)
            if len(ragged) <= _MOST_LOSSES:
                table.losses.append(
                    f"line {line}: {len(cells)} cells where the header has {width}; the row is left out"
                )
        else:
            yield line, cells
    if len(ragged) > _MOST_LOSSES:
        table.losses.append(
            f"{len(ragged) - _MOST_LOSSES} more rows, up to line {ragged[-1]}, are left out for the same reason"
        )
