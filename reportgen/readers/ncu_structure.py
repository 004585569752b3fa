r"""The frame of an `.ncu-rep`: is the file whole, and how many launches should it hold?

`ncu_report` never says that a report is damaged: it loads what it can and stays silent. So the frame is checked first.
A report is `NVR\0`, a u32 header length and a header; then blocks, each a u32 length, a protobuf block header of that
length whose fields 1, 2, 7, 8 and 9 count the block's sources, kernels, ranges, command lists and graphs and whose field 5 is the payload's size in bytes, and the payload. The last
block ends where the file ends. The layout is published in `extras/FileFormat` of every Nsight Compute package.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reportgen.evidence.errors import ReadError

MAGIC = b"NVR\0"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_MOST_HEADER = 1 << 20
_SOURCES = 1
_COUNTS = (2, 7, 8, 9)
_PROFILE_AGAIN = "profile again, or copy the file again from where it was made"


@dataclass(frozen=True, slots=True)
class Structure:
    """What the frame says: blocks, launches, and whether the file ends where its last block does."""

    blocks: int
    launches: int
    size: int
    cut: str  # "" or what is wrong with the end of the file
    created: int = 0  # seconds since 1970 in UTC, 0 where the first block does not say


def examine(path: Path) -> Structure:
    """Walk over the blocks of the report at `path`.

    Raises `ReadError` when the file is no report at all; a report that is cut short is told by `Structure.cut`.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        _check_head(path, file.read(64), size)
        file.seek(4)
        header = struct.unpack("<I", file.read(4))[0]
        position = 8 + header
        if header > _MOST_HEADER or position > size:
            raise ReadError(path, "the report's header is damaged", _PROFILE_AGAIN)
        blocks = launches = created = 0
        while position < size:
            file.seek(position)
            prefix = file.read(4)
            length = struct.unpack("<I", prefix)[0] if len(prefix) == 4 else 0
            body = file.read(length) if 0 < length <= _MOST_HEADER else b""
            if len(body) != length or not length:
                return Structure(blocks, launches, size, f"block {blocks} is cut off at byte {position}", created)
            fields = _varint_fields(body)
            if not blocks:
                created = _created(body)
            if fields is None or 5 not in fields:
                what = f"the header of block {blocks} at byte {position} is damaged"
                return Structure(blocks, launches, size, what, created)
            if fields[5] and not any(fields.get(number, 0) for number in (_SOURCES, *_COUNTS)):
                what = f"block {blocks} at byte {position} holds data but counts nothing"
                return Structure(blocks, launches, size, what, created)
            position += 4 + length + fields[5]
            blocks += 1
            launches += sum(fields.get(number, 0) for number in _COUNTS)
        if not blocks:
            raise ReadError(path, "a report's header with nothing after it", _PROFILE_AGAIN)
        cut = "" if position == size else f"the last block ends {position - size} bytes after the end of the file"
        return Structure(blocks, launches, size, cut, created)


def _check_head(path: Path, head: bytes, size: int) -> None:
    if not size:
        raise ReadError(path, "the file is empty", _PROFILE_AGAIN)
    if head.startswith(b"version https://git-lfs"):
        raise ReadError(path, "a Git LFS pointer, not the report itself", "run `git lfs pull` in its repository")
    if not head.startswith(MAGIC):
        raise ReadError(path, "not an Nsight Compute report (it does not begin with NVR)", _guess(head))
    if size < 10:
        raise ReadError(path, "a report's header with nothing after it", _PROFILE_AGAIN)


def _guess(head: bytes) -> str:
    if head.startswith(b"SQLite format 3"):
        return "this looks like an Nsight Systems export; only Nsight Compute reports are read"
    if head.startswith(ZSTD_MAGIC):
        return "it is zstd-compressed; if it is an .ncu-repz, give it that name"
    if head.startswith((b"PK", b"\x1f\x8b", b"\xfd7zXZ")):
        return "it is compressed; unpack it first"
    return "give the file that `ncu -o` wrote; an .nsys-rep is a report of another tool"


def _fields(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield (number, value, bytes) of a protobuf message's fields; raises `IndexError` when it is no message."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        kind, number = key & 7, key >> 3
        value, length = 0, 0
        if kind == 0:
            value, position = _varint(data, position)
        elif kind == 2:
            length, position = _varint(data, position)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        if kind not in (0, 1, 2, 5) or position + length > len(data):
            raise IndexError
        yield number, value, data[position : position + length]
        position += length


def _varint_fields(data: bytes) -> dict[int, int] | None:
    """Return the varint fields of a protobuf message (repeated ones added up), or None when it is no message."""
    found: dict[int, int] = {}
    try:
        for number, value, _ in _fields(data):
            found[number] = found.get(number, 0) + value
    except IndexError:
        return None
    return found


def _created(body: bytes) -> int:
    """Return when the report was made: field 2 of field 3 (the session) of the first block's header."""
    try:
        session = next((part for number, _, part in _fields(body) if number == 3), b"")
        seconds = next((value for number, value, _ in _fields(session) if number == 2), 0)
    except IndexError:
        return 0
    return seconds if 1_262_304_000 < seconds < 4_102_444_800 else 0  # 2010 to 2100


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
        if shift > 63:
            raise IndexError


def chunks(count: int, parts: int) -> Iterator[tuple[int, int]]:
    """Share `count` launches out into at most `parts` spans `(first, end)` of nearly one size."""
    parts = max(1, min(parts, count))
    for part in range(parts):
        yield count * part // parts, count * (part + 1) // parts
