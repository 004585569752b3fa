"""Read what `ncu --import FILE --page session` says of how a report was made.

The text is a row of tables. A long value wraps at the width of its column, in the middle of a word if it must.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from reportgen.evidence.errors import ReadError
from reportgen.readers import csv_text, device_facts
from reportgen.readers.numerals import NUMBER, examine

_DASHES = re.compile(r"-{3,}(?: +-{3,})+\s*")
_MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
# Options of ncu that take no value. After any other one a value follows; the first word that is neither is the program.
_ALONE = frozenset(
    (
        *("-f", "--force-overwrite", "--nvtx", "--csv", "--quiet", "--verbose", "--print-fp", "--call-stack"),
        *(
            "--disable-profiler-start-stop",
            "--null-stdin",
            "--open-in-ui",
            "--disable-extra-suffixes",
            "--support-32bit",
        ),
    )
)
_FACTS = {
    "Profiler Command Line": "command.profiler",
    "CUDA Version": "versions.cuda",
    "PerfWorks": "versions.perfworks",
}
_HOST_FACTS = {"Name": "host.name", "OS": "host.os", "Processor": "host.cpu", "Architecture": "host.architecture"}
_SCENARIOS = {("flush", "none"): "default", ("flush", "base"): "strict", ("none", "none"): "continuous"}


@dataclass(frozen=True, slots=True)
class _Pair:
    name: str
    values: tuple[str, ...]


def read(path: Path) -> dict[str, str]:
    """Return the provenance facts that the session page at `path` states; raise `ReadError` if it is none."""
    text, _ = csv_text.read_text(path)
    pairs = list(_pairs(text.splitlines()))
    if not any(p.name in ("Launch Attribute", "Session Attribute", "Device Attribute") for p in pairs):
        raise ReadError(path, "line 1: not a session page of ncu", "write one with `ncu --import FILE --page session`")
    said = {p.name: p.values[0] for p in pairs if p.values and p.values[0]}
    facts = {key: said[name] for name, key in _FACTS.items() if name in said}
    for name, key in _HOST_FACTS.items():
        # The target is where the kernels ran; the host only drove it.
        value = said.get(f"Target {name}") or said.get(f"Host {name}")
        if value:
            facts[key] = value
    if target := said.get("Nsight Compute Target"):
        facts["versions.ncu"] = target.split()[0]
    if created := said.get("Created"):
        facts["collection.created"] = _iso(created)
    return facts | _gpu_facts(pairs) | policies(facts.get("command.profiler", ""))


def _pairs(lines: list[str]) -> Iterator[_Pair]:
    """Give the header and the rows of each table, wrapped values joined."""
    widths: list[int] = []
    name, pieces = "", list[list[str]]()
    for line in [*lines, ""]:
        if _DASHES.fullmatch(line):
            widths = [len(part) for part in line.split()]
            continue
        wraps = bool(widths) and line.strip() != "" and not line[: widths[0]].strip()
        if wraps and name:
            pieces.append(_cells(line, widths))
            continue
        if name:
            yield _Pair(
                name,
                tuple(
                    _join(column, width) for column, width in zip(zip(*pieces, strict=True), widths[1:], strict=True)
                ),
            )
        name = line[: widths[0]].strip() if widths else ""
        pieces = [_cells(line, widths)] if name else []
        if not line.strip():
            widths = []


def _cells(line: str, widths: list[int]) -> list[str]:
    cells: list[str] = []
    start = widths[0] + 1
    for index, width in enumerate(widths[1:], 2):
        end = None if index == len(widths) else start + width
        cells.append(line[start:end].rstrip())
        start += width + 1
    return cells


def _join(pieces: Sequence[str], width: int) -> str:
    """Join a wrapped value: a line as wide as its column was cut in the middle of a word, a shorter one at a space."""
    joined = pieces[0]
    for before, piece in pairwise(pieces):
        if not piece:
            continue
        joined += piece if len(before) >= width or piece.startswith(" ") else f" {piece}"
    return joined.strip()


def _iso(created: str) -> str:
    found = re.fullmatch(r"(\d{4})-([A-Z][a-z]{2})-(\d{1,2}) (\d{2}:\d{2}:\d{2})", created)
    if found is None or found[2] not in _MONTHS:
        return created
    return f"{found[1]}-{_MONTHS[found[2]]:02}-{int(found[3]):02}T{found[4]}"


def _gpu_facts(pairs: list[_Pair]) -> dict[str, str]:
    devices: list[dict[str, float | str]] = []
    for pair in pairs:
        for index, text in enumerate(pair.values):
            if re.fullmatch(r"[a-z][a-z0-9_]*", pair.name) and text:
                while len(devices) <= index:
                    devices.append({})
                cell = examine(text)
                number = pair.name != "display_name" and cell.kind == NUMBER
                devices[index]["device__attribute_" + pair.name] = float(cell.text) if number else text
    return device_facts.join(device_facts.facts_from(device) for device in devices)


def policies(command: str) -> dict[str, str]:
    """Return the cache, clock and replay policy that ncu's `command` line sets, or leaves to ncu's defaults."""
    if not command:
        return {}
    options = _options(command)
    cache = options.get("--cache-control", "all")
    return {
        "policy.cache": "flush" if cache == "all" else cache,
        "policy.clocks": options.get("--clock-control", "base"),
        "policy.replay": options.get("--replay-mode", "kernel"),
    }


def _options(command: str) -> dict[str, str]:
    """Return ncu's own options: those before the program, which may have options of the same name."""
    try:
        words = shlex.split(command)[1:]
    except ValueError:
        words = command.split()[1:]
    options: dict[str, str] = {}
    index = 0
    while index < len(words) and words[index].startswith("-"):
        name, equals, value = words[index].partition("=")
        index += 1
        if not equals and name not in _ALONE and index < len(words) and not words[index].startswith("-"):
            value = words[index]
            index += 1
        options[name] = value
    return options


def scenario_of(facts: Mapping[str, str]) -> str | None:
    """Return the scenario that the policies in `facts` amount to, by DESIGN's names; None if they are not recorded."""
    cache, clocks = facts.get("policy.cache"), facts.get("policy.clocks")
    if not cache or not clocks:
        return None
    warm = "warm" if cache == "none" else cache
    return _SCENARIOS.get((cache, clocks)) or f"{warm}-{clocks}"
