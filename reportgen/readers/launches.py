"""A launch as any reader finds it, and the grammar by which range messages give it a place.

A range's message is `annotation[|key=value]…[|run=N]`. Without `run`, consecutive launches under one message are
one run. Without a range, launches are grouped by kernel and launch shape, each launch a run of its own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from reportgen.evidence.samples import canonical


@dataclass(frozen=True, slots=True)
class Range:
    """An NVTX range that was open when the kernel was launched."""

    domain: str
    kind: str  # "start/end" or "push/pop"
    message: str


@dataclass(frozen=True, slots=True)
class Launch:
    """One profiled workload of a report, before it has a place in a benchmark."""

    place: str  # where it stands in its file: "0/12" (range 0, action 12) or "L31"
    kernel: str  # demangled, whole
    workload: str  # kernel, range or graph
    grid: str = ""  # "(8, 8, 4)"
    block: str = ""
    ranges: tuple[Range, ...] = ()

    @property
    def shape(self) -> tuple[str, str, str]:
        """Return what tells one launch of a kernel from another: the kernel and its grid and block."""
        return self.kernel, self.grid, self.block


@dataclass(frozen=True, slots=True)
class Place:
    """Where a launch belongs: its annotation, configuration, run, and its index among the kernels of that run."""

    annotation: str
    params: tuple[tuple[str, str], ...]  # (name, canonical JSON), in the message's order
    run: int
    kernel_index: int


@dataclass(frozen=True, slots=True)
class Message:
    """A range's message, taken apart; `run` is None where it does not say it."""

    annotation: str
    params: tuple[tuple[str, str], ...]
    run: int | None


@lru_cache(maxsize=1 << 16)
def parse_message(message: str) -> Message:
    """Parse a range's message by the grammar; what does not keep to it is an annotation as it stands."""
    head, *rest = message.split("|")
    params: list[tuple[str, str]] = []
    run: int | None = None
    for part in rest:
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            return Message(message, (), None)
        if key == "run" and value.isdecimal():
            run = int(value)
        else:
            params.append((key.strip(), canonical(_value(value))))
    return Message(head, tuple(params), run)


def _value(text: str) -> object:
    try:
        value = json.loads(text, parse_constant=lambda name: name)
    except (ValueError, RecursionError):
        return text
    return value


def _choose(ranges: Sequence[Range]) -> Range | None:
    """Take the range that a benchmark set: our own domain first, then one with a run or parameters, then the innermost."""
    if not ranges:
        return None

    def rank(item: tuple[int, Range]) -> tuple[int, int, int, int]:
        index, found = item
        parsed = parse_message(found.message)
        return found.domain == "reportgen", parsed.run is not None, len(parsed.params), index

    return max(enumerate(ranges), key=rank)[1]


def assign(launches: Sequence[Launch]) -> list[Place]:
    """Give each launch, in the order in which they ran, its annotation, configuration, run and kernel index."""
    chosen = [_choose(launch.ranges) for launch in launches]
    messages = [None if c is None else parse_message(c.message) for c in chosen]
    runs = _consecutive_runs(messages)
    shapes = _shapes_of_runs(launches, messages, runs)
    places: list[Place] = []
    counts: dict[tuple[str, tuple[tuple[str, str], ...], int], int] = {}
    for index, message in enumerate(messages):
        if message is None:
            annotation, params = shapes[index][0], shapes[index][1]
        else:
            annotation, params = message.annotation, message.params + shapes[index][1]
        run = runs[index]
        key = (annotation, params, run)
        counts[key] = counts.get(key, -1) + 1
        places.append(Place(annotation, params, run, counts[key]))
    return _renumber(places, messages)


def _consecutive_runs(messages: Sequence[Message | None]) -> list[int]:
    """Number the runs: as the message says, else a new one wherever the message changes, else one for each launch."""
    runs: list[int] = []
    counter = -1
    for index, message in enumerate(messages):
        if message is not None and message.run is not None:
            runs.append(message.run)
            continue
        if index == 0 or message is None or messages[index - 1] != message:
            counter += 1
        runs.append(counter)
    return runs


def _shapes_of_runs(
    launches: Sequence[Launch], messages: Sequence[Message | None], runs: Sequence[int]
) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    """Tell configurations apart that the messages don't: by kernel and launch shape.

    A launch without a range is named by its kernel, with its grid and block as parameters. Runs under one message
    without parameters and run numbers that launched different shapes are different configurations (nsight-python
    names its ranges so); they get a parameter `launch` that counts the shapes from 0 in order of appearance.
    """
    sequences: dict[tuple[str, int], list[tuple[str, str, str]]] = {}
    for launch, message, run in zip(launches, messages, runs, strict=True):
        if message is not None and message.run is None and not message.params:
            sequences.setdefault((message.annotation, run), []).append(launch.shape)
    kinds: dict[str, list[tuple[tuple[str, str, str], ...]]] = {}
    for (annotation, _), shapes in sequences.items():
        seen = kinds.setdefault(annotation, [])
        if tuple(shapes) not in seen:
            seen.append(tuple(shapes))
    told: list[tuple[str, tuple[tuple[str, str], ...]]] = []
    for launch, message, run in zip(launches, messages, runs, strict=True):
        if message is None:
            params = (("grid", canonical(launch.grid)), ("block", canonical(launch.block)))
            told.append((launch.kernel or "(no name)", params))
        elif (message.annotation, run) in sequences and len(kinds[message.annotation]) > 1:
            kind = kinds[message.annotation].index(tuple(sequences[message.annotation, run]))
            told.append((message.annotation, (("launch", canonical(kind)),)))
        else:
            told.append((message.annotation, ()))
    return told


def _renumber(places: list[Place], messages: Sequence[Message | None]) -> list[Place]:
    """Count runs that the messages did not number from 0 within each annotation and configuration."""
    numbers: dict[tuple[str, tuple[tuple[str, str], ...]], dict[int, int]] = {}
    result: list[Place] = []
    for place, message in zip(places, messages, strict=True):
        if message is not None and message.run is not None:
            result.append(place)
            continue
        known = numbers.setdefault((place.annotation, place.params), {})
        run = known.setdefault(place.run, len(known))
        result.append(Place(place.annotation, place.params, run, place.kernel_index))
    return result
