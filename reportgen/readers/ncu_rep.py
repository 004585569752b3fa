"""Read Nsight Compute reports: `.ncu-rep`, and `.ncu-repz`, which is the same under zstd.

The frame is checked before (`ncu_structure`), `ncu_report` runs in a child process (`ncu_pool`), and what it gives is
compared with what the frame promised: it raises nothing for a file that is cut off, and may abort its interpreter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import zstandard

from reportgen.evidence import samples, write
from reportgen.evidence.errors import ReadError
from reportgen.evidence.samples import Samples
from reportgen.readers import ncu_pool, ncu_structure
from reportgen.readers.device_facts import facts_from
from reportgen.readers.launches import Launch, Range, assign
from reportgen.readers.ncu_structure import Structure

NO_DURATION = "the launch failed: the profiler recorded no duration"
NO_VALUE = "the report holds no value"
NOT_A_NUMBER = "the profiler recorded nan"
_TIMEOUT = 60.0
_SECONDS_PER_BYTE = 2e-6
_SHARE_FROM = 4 << 20
_MOST_AT_ONCE = 64 << 20
_MOST_INFLATED = 16 << 30


def read(path: Path, source: str, metrics: Sequence[str] | None = None, pool: ncu_pool.Pool | None = None) -> Samples:
    """Read every metric (or just `metrics`) of every launch of the report at `path`.

    `source` is the report's path in the bundle. Values are in ncu_report's base units. What could not be read stands in
    `losses`; a report of which nothing can be read raises `ReadError`.
    """
    with _plain(path) as (plain, inflate_loss):
        structure = _structure(path, plain, inflate_loss)
        contents = _contents(path, plain, structure, metrics, pool or ncu_pool.POOL)
    losses = [*inflate_loss, *contents.losses]
    expected = max(structure.launches, contents.count)
    if structure.cut:
        losses.append(f"the report is damaged ({structure.cut}): {len(contents.launches)} launches could be read")
    elif len(contents.launches) != expected or contents.count != structure.launches:
        losses.append(f"{len(contents.launches)} of {expected} launches could be read")
    if not contents.launches:
        raise _nothing(path, structure, losses)
    frame = _frame(contents, source)
    return Samples(frame, _facts(contents, structure), tuple(losses))


def _structure(path: Path, plain: Path, inflate_loss: list[str]) -> Structure:
    """Examine the unpacked report; an error names the file that its user knows."""
    try:
        return ncu_structure.examine(plain)
    except ReadError as error:
        if plain == path:
            raise
        what = "; ".join(inflate_loss) or f"what is compressed in it is no report: {error.what}"
        raise ReadError(path, what, "copy the file again from where it was made") from None


def _nothing(path: Path, structure: Structure, losses: list[str]) -> ReadError:
    if not losses and not structure.launches:
        return ReadError(
            path,
            "a whole report without any profiled launch",
            "check that the range filter (--nvtx-include, --kernel-name) matched and that the program launched kernels",
        )
    return ReadError(path, "; ".join(losses[:2]), "profile again, or copy the file again from where it was made")


@contextmanager
def _plain(path: Path) -> Iterator[tuple[Path, list[str]]]:
    """Give the report as an uncompressed file named `.ncu-rep`: by its content, as the suffix may lie."""
    with path.open("rb") as file:
        head = file.read(4)
    if head != ncu_structure.ZSTD_MAGIC:
        yield path, []
        return
    with write.scratch_folder() as folder:
        plain = folder / "report.ncu-rep"
        losses: list[str] = []
        write.write_file(plain, _inflate(path, losses))
        yield plain, losses


def _inflate(path: Path, losses: list[str]) -> Iterator[bytes]:
    total = 0
    with path.open("rb") as file:
        reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        try:
            # `read1` gives what is there already; `read` would lose it with the error that ends a damaged file.
            while part := reader.read1(1 << 20):
                total += len(part)
                if total > _MOST_INFLATED:
                    raise ReadError(path, f"it unpacks to over {_MOST_INFLATED} bytes", "this is no ordinary report")
                yield part
        except zstandard.ZstdError as error:
            losses.append(f"the compressed report is damaged after {total} bytes ({error})")


@dataclass(frozen=True)
class _Contents:
    """The launches of a report with their metrics; `sets[i]` belongs to the launches whose `set` is `i`."""

    count: int
    launches: list[Launch]
    names: list[list[str]]  # metric names of each launch
    units: dict[str, str]
    values: np.ndarray[Any, np.dtype[np.float64]]
    texts: dict[int, str]
    absent: np.ndarray[Any, np.dtype[np.intp]]
    losses: list[str]


def _contents(
    path: Path, plain: Path, structure: Structure, metrics: Sequence[str] | None, pool: ncu_pool.Pool
) -> _Contents:
    shared = structure.size >= _SHARE_FROM and structure.launches >= 2 * ncu_pool.WORKERS
    parts = max(ncu_pool.WORKERS, -(-structure.size // _MOST_AT_ONCE)) if shared else 1
    spans: list[tuple[int, int | None]] = (
        list(ncu_structure.chunks(structure.launches, parts)) if parts > 1 else [(0, None)]
    )
    if parts > 1:
        spans[-1] = (spans[-1][0], None)
    wanted = None if metrics is None else list(metrics)
    requests = [{"path": str(plain.absolute()), "first": a, "end": b, "metrics": wanted} for a, b in spans]
    try:
        replies = pool.ask_all(requests, _TIMEOUT + structure.size * _SECONDS_PER_BYTE)
    except ncu_pool.ChildDied as error:
        raise ReadError(path, f"the report is damaged: {error}", "copy the file again from where it was made") from None
    for reply in replies:
        if "error" in reply.head:
            raise ReadError(
                path, f"ncu_report cannot read it ({reply.head['error']})", "is ncu_report newer than the report?"
            )
    return _join(replies)


def _join(replies: list[ncu_pool.Reply]) -> _Contents:
    launches: list[Launch] = []
    names: list[list[str]] = []
    units: dict[str, str] = {}
    texts: dict[int, str] = {}
    absent: list[np.ndarray[Any, Any]] = []
    losses: list[str] = []
    offset = 0
    for reply in replies:
        head = reply.head
        for group in head["sets"]:
            units |= {n: u for n, u in zip(group["names"], group["units"], strict=True) if u or n not in units}
        for found in head["launches"]:
            ranges = tuple(Range(*r) for r in found["ranges"])
            launches.append(
                Launch(found["place"], found["kernel"], found["workload"], found["grid"], found["block"], ranges)
            )
            names.append(head["sets"][found["set"]]["names"])
        texts |= {index + offset: text for index, text in head["texts"]}
        absent.append(np.asarray(head["absent"], dtype=np.intp) + offset)
        losses += head["losses"]
        offset += len(reply.values)
    values = np.concatenate([reply.values for reply in replies])
    return _Contents(replies[0].head["count"], launches, names, units, values, texts, np.concatenate(absent), losses)


def _facts(contents: _Contents, structure: Structure) -> dict[str, str]:
    values: dict[str, float | str] = {}
    for index, name in enumerate(contents.names[0]):
        text = contents.texts.get(index)
        values[name] = float(contents.values[index]) if text is None else text
    facts = facts_from(values)
    if structure.created:
        facts["collection.created"] = f"{datetime.fromtimestamp(structure.created, UTC):%Y-%m-%dT%H:%M:%SZ}"
    return facts


def _frame(contents: _Contents, source: str) -> pd.DataFrame:
    """Lay the launches out as a samples table: each column is made of a few texts and their codes, never row by row."""
    places = assign(contents.launches)
    lengths = np.array([len(names) for names in contents.names])
    rows = int(lengths.sum())

    def spread(texts: Sequence[str]) -> pd.Categorical:
        codes, uniques = pd.factorize(np.asarray(texts, dtype="object"))
        return pd.Categorical.from_codes(np.repeat(codes, lengths), categories=pd.Index(uniques, dtype="object"))

    state, reason = _states(contents, lengths)
    metric, unit = _metric_columns(contents)
    params: dict[str, None] = {}
    for place in places:
        params |= dict.fromkeys(name for name, _ in place.params)
    data: dict[str, Any] = {
        "backend": "ncu",
        "workload": spread([launch.workload for launch in contents.launches]),
        "process": 0,
        **{samples.PARAM + p: spread([dict(place.params).get(p, "") for place in places]) for p in params},
        "annotation": spread([place.annotation for place in places]),
        "run": np.repeat([place.run for place in places], lengths),
        "kernel_index": np.repeat([place.kernel_index for place in places], lengths),
        "kernel": spread([launch.kernel for launch in contents.launches]),
        "metric": metric,
        "value": np.where(np.isfinite(contents.values), contents.values, np.nan),
        "unit": unit,
        "state": state,
        "reason": reason,
        "source": spread([f"{source}#{launch.place}" for launch in contents.launches]),
        "text": _text_column(contents, rows),
    }
    return samples.make(data, rows)


def _metric_columns(contents: _Contents) -> tuple[pd.Categorical, pd.Categorical]:
    code_of: dict[str, int] = {}
    sets: dict[int, np.ndarray[Any, Any]] = {}
    parts: list[np.ndarray[Any, Any]] = []
    for names in contents.names:
        if id(names) not in sets:
            sets[id(names)] = np.array([code_of.setdefault(n, len(code_of)) for n in names])
        parts.append(sets[id(names)])
    codes = np.concatenate(parts)
    unit_codes, units = pd.factorize(np.array([contents.units.get(n, "") for n in code_of], dtype="object"))
    metric = pd.Categorical.from_codes(codes, categories=pd.Index(list(code_of), dtype="object"))
    return metric, pd.Categorical.from_codes(unit_codes[codes], categories=pd.Index(units, dtype="object"))


def _states(contents: _Contents, lengths: np.ndarray[Any, Any]) -> tuple[pd.Categorical, pd.Categorical]:
    """Mark values that are not there: the launch failed, the report holds none, or the profiler recorded nan."""
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    codes = np.zeros(len(contents.values), dtype="int8")
    not_finite = ~np.isfinite(contents.values)
    not_finite[list(contents.texts)] = False
    codes[not_finite] = 3
    codes[contents.absent] = 2
    for start, names in zip(starts, contents.names, strict=True):
        if "gpu__time_duration.sum" in names and codes[start + names.index("gpu__time_duration.sum")] == 3:
            launch = slice(start, start + len(names))
            codes[launch] = np.where(codes[launch] == 3, 1, codes[launch])
    reasons = pd.Index(["", NO_DURATION, NO_VALUE, NOT_A_NUMBER], dtype="object")
    states = pd.Index(["ok", "failed", "dropped"], dtype="object")
    return (
        pd.Categorical.from_codes(np.array([0, 1, 2, 2])[codes], categories=states),
        pd.Categorical.from_codes(codes, categories=reasons),
    )


def _text_column(contents: _Contents, rows: int) -> pd.Categorical:
    codes = np.zeros(rows, dtype="int64")
    category: dict[str, int] = {"": 0}
    for index, text in contents.texts.items():
        codes[index] = category.setdefault(text, len(category))
    return pd.Categorical.from_codes(codes, categories=pd.Index(list(category), dtype="object"))
