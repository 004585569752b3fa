"""Single kernels of a region: the mean of each metric over the runs, by the kernel's place among its region's; and kernels of a kind.

A kind is a kernel by one name in one launch shape. Where few are to be told apart, a kind is of one annotation and configuration;
where there are many, it is all such launches of its group.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from reportgen.analysis import bottleneck, processed
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Group
from reportgen.analysis.measurements import Measurements
from reportgen.analysis.sources import SAME, call, computes, counts
from reportgen.analysis.statistics import round_digits
from reportgen.evidence.samples import PARAM, param_columns

GRID, BLOCK = "launch__grid_size", "launch__block_size"
REGISTERS, SHARED = "launch__registers_per_thread", "launch__shared_mem_per_block"
WAVES = "launch__waves_per_multiprocessor"
OCCUPANCY, OCCUPANCY_MOST = (
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__maximum_warps_per_active_cycle_pct",
)
L1_HITS, L2_HITS = "l1tex__t_sector_hit_rate.pct", "lts__t_sector_hit_rate.pct"
# How many blocks of a kernel an SM has room for, by what there is only so much of.
LIMITERS = {
    "launch__occupancy_limit_registers": "registers",
    "launch__occupancy_limit_shared_mem": "shared memory",
    "launch__occupancy_limit_warps": "warps",
    "launch__occupancy_limit_blocks": "blocks",
    "launch__occupancy_limit_barriers": "barriers",
}
STALL, STALL_END = "smsp__average_warps_issue_stalled_", "_per_issue_active.ratio"
STALLS_OF_ALL = "smsp__average_warp_latency_per_inst_issued.ratio"
IDENTITY = ("suite", "benchmark", "backend", "workload", "scenario")
FACTS = (
    *(TIME, *bottleneck.METRICS, GRID, BLOCK, REGISTERS, SHARED, WAVES),
    *(OCCUPANCY, OCCUPANCY_MOST, L1_HITS, L2_HITS, *LIMITERS, STALLS_OF_ALL),
)
_ISSUED = f"{STALL}selected{STALL_END}"  # the cycle in which a warp issues is no stall


@dataclass(frozen=True, slots=True)
class Value:
    """A mean of one metric over `count` launches with its `source`; `spread` is the deviation over them."""

    mean: float
    spread: float
    unit: str
    source: str
    row: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel at one place of one annotation and configuration."""

    name: str
    annotation: str
    params: tuple[tuple[str, Any], ...]
    index: int
    metrics: Mapping[str, Value]
    place: tuple[Any, ...] = ()  # the parameters as JSON, annotation, index and name, as samples have them

    @property
    def shape(self) -> tuple[float, float]:
        """Return how many blocks and threads a block it was launched with, -1 for what is not known."""
        known = (self.metrics.get(name) for name in (GRID, BLOCK))
        grid, block = (-1.0 if value is None else value.mean for value in known)
        return grid, block


@dataclass(frozen=True)
class Kind:
    """The launches of one kernel in one shape: of one annotation and configuration, or, where `annotation` is None, of a whole group."""

    id: str
    name: str
    annotation: str | None
    params: tuple[tuple[str, Any], ...]
    kernels: tuple[Kernel, ...]

    @cached_property
    def metrics(self) -> Mapping[str, Value]:
        """Return the mean of each metric over all launches."""
        names = dict.fromkeys(name for kernel in self.kernels for name in kernel.metrics)
        return {name: self._value(name) for name in names}

    @property
    def any_row(self) -> str:
        """Return the row of one of its metrics: that of its time where it has one."""
        return (self.metrics.get(TIME) or next(iter(self.metrics.values()))).row

    @property
    def launches(self) -> int:
        """Return how many launches were profiled."""
        return sum(max((value.count for value in kernel.metrics.values()), default=0) for kernel in self.kernels)

    @property
    def time(self) -> float:
        """Return the time of all its launches in ns, 0 where none is known."""
        values = (kernel.metrics.get(TIME) for kernel in self.kernels)
        return math.fsum(value.mean * value.count for value in values if value is not None)

    @property
    def annotations(self) -> tuple[str, ...]:
        """Return the annotations that launched it, in their order."""
        return tuple(dict.fromkeys(kernel.annotation for kernel in self.kernels))

    @property
    def verdict(self) -> bottleneck.Verdict:
        """Return what limits it."""
        return bottleneck.judge({name: value.mean for name, value in self.metrics.items()})

    @property
    def limiters(self) -> tuple[str, ...]:
        """Return in words what lets no more blocks of it onto an SM; nothing where that is not known."""
        known = {word: self.metrics[name].mean for name, word in LIMITERS.items() if name in self.metrics}
        return tuple(word for word, blocks in known.items() if blocks == min(known.values()))

    def stalls(self) -> tuple[Stall, ...]:
        """Return what its warps waited for, the longest first; without a whole there are no shares, and nothing is returned."""
        whole = self.metrics.get(STALLS_OF_ALL)
        if whole is None or whole.mean <= 0:
            return ()
        found = [
            Stall(name[len(STALL) : -len(STALL_END)].replace("_", " "), value, whole)
            for name, value in self.metrics.items()
            if name.startswith(STALL) and name.endswith(STALL_END) and name != _ISSUED and value.mean > 0
        ]
        return tuple(sorted(found, key=lambda stall: -stall.value.mean))

    def _value(self, metric: str) -> Value:
        values = [kernel.metrics[metric] for kernel in self.kernels if metric in kernel.metrics]
        first = values[0]
        if len(self.kernels) == 1:
            return first
        count = sum(value.count for value in values)
        mean = _mean(values)
        squares = math.fsum(
            value.count * (value.mean - mean) ** 2 + _or_zero(value.spread) ** 2 * (value.count - 1) for value in values
        )
        spread = math.sqrt(squares / (count - 1)) if squares else math.nan
        return Value(mean, spread, first.unit, call("kernels_mean", first.source, first.row, self.id), first.row, count)


@dataclass(frozen=True, slots=True)
class Stall:
    """A reason for which warps waited: cycles for each issued instruction, and the `whole` of which they are a part."""

    reason: str
    value: Value
    whole: Value

    @property
    def share(self) -> float:
        """Return the reason's part in percent."""
        return stall_share(self.value.mean, self.whole.mean)

    @property
    def source(self) -> str:
        """Return the source of the share."""
        return call("stall_share", self.value.source, self.whole.source)


@computes("stall_share", "value", "value", unit="%")
def stall_share(cycles: float, of_all: float) -> float:
    """Return the warp cycles that one reason took for each issued instruction, in percent of all of them."""
    return 100.0 * cycles / of_all


def facts(samples: pd.DataFrame) -> tuple[str, ...]:
    """Return the names of the metrics of a samples table that say something of single kernels."""
    names = samples["metric"].cat.categories if hasattr(samples["metric"], "cat") else samples["metric"].unique()
    stalls = (name for name in names if name.startswith(STALL) and name.endswith(STALL_END))
    return (*FACTS, *sorted(stalls))


def kinds(found: Sequence[Kernel], *, apart: bool) -> tuple[Kind, ...]:
    """Put kernels of a group together by name and launch shape, `apart` by annotation and configuration too; the most time first."""
    together: dict[str, list[Kernel]] = {}
    for kernel in found:
        key = [kernel.name, *kernel.shape, *([kernel.annotation, kernel.params] if apart else [])]
        together.setdefault(_id(key), []).append(kernel)
    made = [
        Kind(id_, some[0].name, some[0].annotation if apart else None, some[0].params if apart else (), tuple(some))
        for id_, some in together.items()
    ]
    return tuple(sorted(made, key=lambda kind: -kind.time))


def _id(key: Sequence[Any]) -> str:
    """Return a word that stands for a key; it is no row's id."""
    text = json.dumps(key, ensure_ascii=False, default=str)
    return f"k{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:11]}"


def _mean(values: Iterable[Value]) -> float:
    known = list(values)
    low, high = min(value.mean for value in known), max(value.mean for value in known)
    if low == high:
        return low
    mean = math.fsum(value.mean * value.count for value in known) / sum(value.count for value in known)
    return float(round_digits(np.array([mean]))[0])


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value


def of_group(samples: pd.DataFrame, group: Group, metrics: Sequence[str]) -> tuple[Kernel, ...]:
    """Return the kernels of a group with those of `metrics` that have values, in the order of the samples."""
    part = _part(samples, group, metrics)
    if part.empty:
        return ()
    params = param_columns(samples)
    keys = [*params, "annotation", "kernel_index", "kernel"]
    identity = [getattr(group, name) for name in IDENTITY]
    kernels: dict[tuple[Any, ...], dict[str, Value]] = {}
    names: dict[tuple[str, Any], list[str]] = {}  # of the kernels that took one place of a row, each once
    for key, metric, unit, mean, spread, count in _means(part, keys):
        row = processed.row_id([*identity, *key[: len(params)], key[len(params)], metric])
        taken = names.setdefault((row, key[-2]), [])
        if key[-1] not in taken:
            taken.append(key[-1])
        which = f"@{n}" if (n := taken.index(key[-1])) else ""
        source = f"{row}/k{key[-2]}{which}.AvgValue"
        kernels.setdefault(key, {})[metric] = Value(mean, spread, unit, source, row, count)
    return tuple(
        Kernel(
            name=key[-1],
            annotation=key[len(params)],
            params=tuple(
                (p.removeprefix(PARAM), processed.decoded(t)) for p, t in zip(params, key, strict=False) if t != ""
            ),
            index=int(key[-2]),
            metrics=found,
            place=key,
        )
        for key, found in kernels.items()
    )


def _part(samples: pd.DataFrame, group: Group, metrics: Sequence[str]) -> pd.DataFrame:
    """Return the samples of a group's kernels that hold a number of one of the metrics."""
    chosen = samples["metric"].isin(list(metrics)).to_numpy() & (samples["state"] == "ok").to_numpy()
    for name in IDENTITY:
        chosen &= (samples[name] == getattr(group, name)).to_numpy()
    part = samples[chosen]
    return part[part["kernel_index"].notna().to_numpy() & part["value"].notna().to_numpy()]


def _means(part: pd.DataFrame, keys: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], str, str, float, float, int]]:
    """Yield for each place, metric and unit, in order of appearance: the place, the two, mean, deviation and count."""
    by = [*keys, "metric", "unit"]
    number = part.groupby(by, observed=True, sort=False, dropna=False).ngroup().to_numpy()
    value = part["value"].to_numpy()
    count = np.bincount(number)
    first = np.unique(number, return_index=True)[1]
    low, high = np.full(len(count), np.inf), np.full(len(count), -np.inf)
    np.minimum.at(low, number, value)
    np.maximum.at(high, number, value)
    mean = np.where(low == high, low, np.bincount(number, value) / count)
    square = np.bincount(number, (value - mean[number]) ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.where((count > 1) & (low != high), np.sqrt(square / (count - 1)), np.nan)
    head = part.iloc[first]
    columns = [head[name].astype("object").tolist() for name in by]
    rows = zip(*columns, strict=True)
    numbers = zip(round_digits(mean).tolist(), spread.tolist(), count.tolist(), strict=True)
    for row, (its_mean, its_spread, its_count) in zip(rows, numbers, strict=True):
        yield tuple(row[:-2]), row[-2], row[-1], its_mean, its_spread, its_count


# Kinds as figures are computed again from them

_known: WeakKeyDictionary[Measurements, dict[tuple[str, ...], dict[str, Kind]]] = WeakKeyDictionary()


def _kinds_of(of: Measurements, cells: Mapping[str, Any]) -> dict[str, Kind]:
    """Return the kinds of the group of a row by their ids: those of one annotation and configuration, and those of the whole group."""
    known = _known.setdefault(of, {})
    key = tuple(str(cells[name.capitalize()]) for name in IDENTITY)
    if key not in known:
        suite, benchmark, backend, workload, scenario = key
        group = Group(suite, benchmark, backend, workload, scenario, ())
        found = of_group(of.samples, group, facts(of.samples))
        known[key] = {kind.id: kind for apart in (True, False) for kind in kinds(found, apart=apart)}
    return known[key]


@computes("kernels_mean", "measurements", "value", "row", "text", unit=SAME)
def kernels_mean(of: Measurements, _first: float, row: Mapping[str, Any], kind: str) -> float:
    """The mean of a metric over all launches of a kernel in one shape; the first of them is named."""
    return _kinds_of(of, row)[kind].metrics[str(row["Metric"])].mean


@computes("time_share", "measurements", "row", "text", unit="%")
def time_share(of: Measurements, row: Mapping[str, Any], kind: str) -> float:
    """The time of all launches of a kernel in one shape, in percent of that of all launches of its region, or of all of its group."""
    known = _kinds_of(of, row)
    return share_of_time(known[kind], known.values())


@counts("launches of a kernel", "row", "text")
def launches(of: Measurements, row: Mapping[str, Any], kind: str) -> int:
    """The launches that were profiled of a kernel in one shape."""
    return _kinds_of(of, row)[kind].launches


def share_of_time(kind: Kind, among: Iterable[Kind]) -> float:
    """Return a kind's part, in percent, of the time of the kinds of its annotation and configuration, or of all where it has none."""
    whole = math.fsum(
        other.time for other in among if (other.annotation, other.params) == (kind.annotation, kind.params)
    )
    return 100.0 * kind.time / whole if whole else math.nan
