"""The NVTX ranges in a cell of ncu's CSV, each in quotes: `0:bench:fp32|n=256:none:none:RGB:0xff:ASCII:fp32|n=256`.

A range's name and message may hold colons, quotes and commas. The fields between them do not, and are looked for first.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from reportgen.readers.launches import Range

# :PL_Type:PL_Value:CLR_Type:Color:Msg_Type: wherever it could stand, as a name may look like the start of one.
_MIDDLE = re.compile(r"(?=(:\w+:[^:\"]*:\w+:(?:none|0x[0-9a-fA-F]+|[0-9]+):\w+:))")
_TRIES = 8


def kind_of_column(name: str) -> str | None:
    """Return "push/pop" or "start/end" if `name` is a column of NVTX ranges, else None."""
    if "Push/Pop_Range" in name or name.startswith("NVTX"):
        return "push/pop"
    return "start/end" if "Start/Stop_Range" in name else None


def ranges_in(cell: str, kind: str) -> tuple[Range, ...]:
    """Return the ranges of `kind` in one cell, outermost first; a cell that is none of ncu's making is one message."""
    if not cell.strip():
        return ()
    middles = list(_MIDDLE.finditer(cell))
    starts = [m.start() for m in middles]
    found: list[Range] = []
    position = cell.find('"')
    while position >= 0:
        near = bisect_left(starts, position)
        result = _range_at(cell, position + 1, kind, middles[near : near + _TRIES])
        if result is not None:
            found.append(result[0])
        position = cell.find('"', position + 1 if result is None else result[1])
    if not found and not middles:
        return (Range("", kind, cell.strip()),)
    return tuple(found)


def _range_at(cell: str, start: int, kind: str, middles: list[re.Match[str]]) -> tuple[Range, int] | None:
    """Read the range whose text begins at `start`; also return where the next one is to be looked for."""
    for middle in middles:
        head = cell[start : middle.start()]
        if kind == "start/end":
            number, colon, rest = head.partition(":")
            head = rest if colon and number.strip().isdecimal() else head
        end = middle.end(1)
        close = end - 1
        for _ in range(_TRIES):
            close = cell.find('"', close + 1)
            if close < 0:
                break
            message = cell[end:close]
            if message != "none" and head.endswith(f":{message}"):
                return Range(head[: -len(message) - 1], kind, message), close + 1
            if message == "none":
                domain, _, name = head.partition(":")
                return Range(domain, kind, name), close + 1
    return None
