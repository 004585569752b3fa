r"""Tables as bytes: CSV that comes back exactly, and the compression of long ones.

The same table gives the same bytes: UTF-8, `\\n` line ends, the shortest digits that give the same float64 back,
whole numbers without `.0`, and nothing for NaN and for what is missing.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import zstandard

from reportgen.evidence import samples
from reportgen.evidence.errors import BundleError, UserError

COMPRESS_OVER = 1_000_000  # bytes
LEVEL = 9
LIMIT = 4 << 30  # bytes that a compressed table may have when inflated
COMPRESSED = ".zst"

_LONGEST_FIELD = 1 << 30
_MAGIC = b"\x28\xb5\x2f\xfd"
# Whatever ends a line for some reader is quoted, so that no reader takes a field for two.
_TO_QUOTE = re.compile('[",\n\r\x00-\x1f\x7f\x85\u2028\u2029]|^\ufeff|^ | $')
_MEND = "the file was changed by hand or by another program; take it from a copy"


def samples_to_csv(frame: pd.DataFrame) -> bytes:
    """Return the samples table `frame` as CSV; raises `UserError` if it breaks the schema."""
    return frame_to_csv(samples.check(frame))


def samples_from_csv(data: bytes, where: str) -> pd.DataFrame:
    """Read a samples table from CSV; raises `BundleError` that names `where` and the line."""
    header = next(csv_rows(data, where), [])
    _check_header(header, where)
    made: dict[str, Any] = {}
    for name, (codes, uniques) in zip(header, _columns(data, len(header), where), strict=True):
        made[name] = _column(name, uniques, codes, where)
    try:
        return samples.check(pd.DataFrame(made), where)
    except BundleError:
        raise
    except UserError as error:
        raise BundleError(where, error.what, error.mend) from error


def frame_to_csv(frame: pd.DataFrame) -> bytes:
    """Return any table as CSV, without its index; floats, integers, booleans and texts, nothing where one is missing.

    Raises `UserError` for text that is not Unicode (a lone surrogate).
    """
    columns = [_texts(frame.iloc[:, index]) for index in range(frame.shape[1])]
    header = [_quoted(str(name)) for name in frame.columns]
    lines = [",".join(header), *map(",".join, zip(*columns, strict=True))]
    if len(header) == 1:  # an empty line would be no row
        lines = [line or '""' for line in lines]
    return _encoded(lines)


def csv_rows(data: bytes, where: str) -> Iterator[list[str]]:
    """Yield the rows of a CSV, its header first, each as long as the header; raises `BundleError` with the line."""
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        # Decoded piece by piece: as one text a large table would take four times its size.
        reader = csv.reader(io.TextIOWrapper(io.BytesIO(data), "utf-8", newline=""), strict=True)
        width = 0
        for row in reader:
            width = width or len(row)
            if len(row) != width or not row:
                what = f"line {reader.line_num} has {len(row)} fields where the header has {width}"
                raise BundleError(where, what, _MEND)
            yield row
    except csv.Error as error:
        raise BundleError(where, f"line {reader.line_num}: {error}", _MEND) from error
    except UnicodeDecodeError as error:
        raise BundleError(where, f"line {_undecoded_line(data)} is not UTF-8", _MEND) from error
    finally:
        csv.field_size_limit(before)


def _undecoded_line(data: bytes) -> int:
    """Return the number of the first line that is not UTF-8, 0 where all are."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data.count(b"\n", 0, error.start) + 1
    return 0


def rows_to_csv(rows: Iterable[Sequence[str]]) -> bytes:
    """Return rows of texts, the header first, as CSV in the form that `frame_to_csv` gives."""
    return _encoded([",".join(map(_quoted, row)) or '""' for row in rows])


def store(name: str, data: bytes) -> tuple[str, bytes]:
    """Return the name and bytes under which a table is kept: over 1 MB compressed, as `<name>.zst`."""
    return (name, data) if len(data) <= COMPRESS_OVER else (name + COMPRESSED, compress(data))


def compress(data: bytes) -> bytes:
    """Compress with zstd by one thread (more give other bytes), with checksum and size in the frame."""
    packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True, write_content_size=True, threads=0)
    return packer.compress(data)


def load(path: str | Path, limit: int = LIMIT) -> bytes:
    """Read a table's bytes, inflated where `path` ends in `.zst`; raises `BundleError`, also above `limit` bytes."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise BundleError(path, f"cannot be read: {error.strerror or error}") from error
    return inflate(data, str(path), limit) if str(path).endswith(COMPRESSED) else data


def inflate(data: bytes, where: str, limit: int = LIMIT) -> bytes:
    """Inflate what `compress` made; raises `BundleError` for damage, or for more than `limit` bytes."""
    damaged = "is damaged: not a whole zstd frame with its size"
    try:
        if data[:4] != _MAGIC:
            raise BundleError(where, damaged, _MEND)
        size = zstandard.get_frame_parameters(data).content_size
        if size in (zstandard.CONTENTSIZE_UNKNOWN, zstandard.CONTENTSIZE_ERROR):
            raise BundleError(where, damaged, _MEND)
        if size > limit:
            raise BundleError(where, f"would inflate to {size} bytes, over the limit of {limit}")
        return zstandard.ZstdDecompressor().decompress(data, allow_extra_data=False)
    except (zstandard.ZstdError, MemoryError) as error:
        raise BundleError(where, damaged, _MEND) from error


# Writing


def _encoded(lines: list[str]) -> bytes:
    try:
        return ("\n".join(lines) + "\n").encode("utf-8")
    except UnicodeEncodeError as error:
        line = error.object.count("\n", 0, error.start) + 1
        raise UserError(None, f"line {line} of the table holds text that is not Unicode", "mend the name") from error


def _quoted(text: str) -> str:
    if _TO_QUOTE.search(text) is None:
        return text
    return '"' + text.replace('"', '""') + '"'


def _texts(column: pd.Series[Any]) -> list[str]:
    """Return one printed and quoted field for each row."""
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        known = [_field(x) for x in column.cat.categories]
        return _taken(known, column.cat.codes.to_numpy())
    if pd.api.types.is_bool_dtype(kind) or pd.api.types.is_integer_dtype(kind):
        return ["" if x is pd.NA else str(x) for x in column.tolist()]
    if pd.api.types.is_float_dtype(kind):
        return _numbers(column.to_numpy(dtype="float64", na_value=np.nan))
    values = column.tolist()
    if all(type(x) is str for x in values):
        code, known_texts = pd.factorize(np.asarray(values, dtype="object"))
        return _taken([_quoted(x) for x in known_texts], code)
    return [_field(x) for x in values]


def _taken(known: list[str], codes: npt.NDArray[Any]) -> list[str]:
    known = [*known, ""]  # code -1: missing
    return [known[code] for code in codes.tolist()]


def _field(value: Any) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, float | np.floating):
        return _number(float(value))
    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    return _quoted(str(value))


def _numbers(values: npt.NDArray[np.float64]) -> list[str]:
    return [_number(x) for x in values.tolist()]


def _number(value: float) -> str:
    if math.isnan(value):
        return ""
    text = repr(value)
    return text[:-2] if text.endswith(".0") and text != "-0.0" else text


# Reading


def _check_header(header: list[str], where: str) -> None:
    expected = samples.columns([name for name in header if name.startswith(samples.PARAM)])
    if header != expected:
        missing = sorted(set(expected) - set(header))
        unknown = sorted(set(header) - set(expected))
        what = f"missing columns {missing}, unknown columns {unknown}" if missing or unknown else "columns out of order"
        raise BundleError(where, f"line 1 is not the header of a samples table: {what}", _MEND)
    if len(set(header)) != len(header):
        raise BundleError(where, "line 1 names a column twice", _MEND)


def distinct(data: bytes, names: Sequence[str], where: str) -> dict[str, list[str]]:
    """Return the different texts of those of the named columns that a CSV has, each once; raises `BundleError` for a damaged one.

    Columns of one name are taken together.
    """
    header = next(csv_rows(data, where), [])
    places = {index: name for index, name in enumerate(header) if name in names}
    if not places:
        return {}
    if b"\0" in data or b"\r" in data:
        known: dict[str, dict[str, None]] = {name: {} for name in places.values()}
        rows = csv_rows(data, where)
        next(rows)
        for row in rows:
            for index, name in places.items():
                known[name][row[index]] = None
        return {name: list(texts) for name, texts in known.items()}
    frame = _read(data, len(header), where, list(places))
    seen: dict[str, dict[str, None]] = {name: {} for name in places.values()}
    for index, name in places.items():
        seen[name] |= dict.fromkeys(_appearing(frame[index])[1])
    return {name: list(texts) for name, texts in seen.items()}


def _read(data: bytes, width: int, where: str, only: list[int] | None = None) -> pd.DataFrame:
    """Read the columns of a CSV, or `only` those at these places, as categoricals of texts, its header among them."""
    try:
        return pd.read_csv(
            io.BytesIO(data),
            header=None,
            names=range(width),
            usecols=only,
            index_col=False,
            dtype="category",
            na_filter=False,
        )
    except (pd.errors.ParserError, UnicodeDecodeError) as error:
        raise BundleError(where, f"cannot be read: {error}", _MEND) from error


def _appearing(column: pd.Series[Any]) -> tuple[npt.NDArray[np.intp], list[str]]:
    """Return the codes of a column's rows below its header and its texts, in the order in which they appear."""
    codes, appearing = pd.factorize(column.cat.codes.to_numpy()[1:])
    texts = column.cat.categories.to_numpy(dtype="object")
    return codes, texts[appearing].tolist()


def _columns(data: bytes, width: int, where: str) -> list[tuple[npt.NDArray[np.intp], list[str]]]:
    """Return each column below the header as codes and the texts that they stand for, in order of appearance."""
    if b"\0" in data or b"\r" in data:  # pandas ends a text at the one and a line at the other
        whole = list(csv_rows(data, where))[1:]
        columns = (np.array([row[index] for row in whole], dtype="object") for index in range(width))
        return [(codes, list(uniques)) for codes, uniques in map(pd.factorize, columns)]
    # pandas is fast, but silent about a row that is too short: Python's reader has the say on the structure.
    length = sum(1 for _ in csv_rows(data, where))
    frame = _read(data, width, where)
    if len(frame) != length:
        raise BundleError(where, "holds quotation marks in the wrong places", _MEND)
    return [_appearing(frame[index]) for index in range(width)]


def _column(name: str, uniques: list[str], codes: npt.NDArray[np.intp], where: str) -> Any:
    if name in samples.INTEGERS:
        return _integers(name, uniques, codes, where)
    if name == "value":
        return _floats(name, uniques, codes, where)
    return pd.Categorical.from_codes(codes, categories=pd.Index(uniques, dtype="object"))


def _integers(name: str, uniques: list[str], codes: npt.NDArray[np.intp], where: str) -> Any:
    known = np.zeros(len(uniques) + 1, dtype=np.int64)
    for index, text in enumerate(uniques):
        if text and re.fullmatch(r"-?\d{1,18}", text, re.ASCII) is None:
            raise _bad_value(name, text, "whole number", codes, index, where)
        known[index] = int(text or 0)
    missing = np.array([not text for text in uniques] + [False])
    return pd.arrays.IntegerArray(known[codes], missing[codes])


def _floats(name: str, uniques: list[str], codes: npt.NDArray[np.intp], where: str) -> npt.NDArray[np.float64]:
    known = np.full(len(uniques) + 1, np.nan)
    for index, text in enumerate(uniques):
        if not text:
            continue
        try:
            known[index] = float(text)
        except ValueError:
            raise _bad_value(name, text, "number", codes, index, where) from None
        if "_" in text or text != text.strip() or known[index] != known[index]:
            raise _bad_value(name, text, "number", codes, index, where)
    return known[codes]


def _bad_value(name: str, text: str, kind: str, codes: npt.NDArray[np.intp], index: int, where: str) -> BundleError:
    row = int(np.flatnonzero(codes == index)[0])
    shown = text if len(text) <= 40 else text[:40] + "…"
    return BundleError(
        where,
        f"row {row} (line {row + 2} if no text holds a line end): column '{name}' holds '{shown}', not a {kind}",
        _MEND,
    )
