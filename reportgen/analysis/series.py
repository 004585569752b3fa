"""The series of a collection: what may be compared with the same series of another collection, by its identity.

A series is known by its suite, benchmark, annotation, configuration, metric, backend, workload and scenario; and it may be
compared only where the conditions that it was measured under are the same too: GPU model, cache and clock policy, flush
granularity, heat and replay. The unit is a process: the mean of the logarithms of its runs, for runs within one process
are not independent.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from reportgen.analysis import derive, processed
from reportgen.analysis.derive import TIME, TIMES
from reportgen.analysis.measurements import Measurements
from reportgen.analysis.steadiness import CYCLES
from reportgen.analysis.timer import tick
from reportgen.evidence.bundle import DIGEST_SHOWN, Bundle
from reportgen.evidence.provenance import NOT_RECORDED, Provenance
from reportgen.evidence.samples import PARAM, param_columns

NVML_CLOCK = "nvml__sm_clock"
_CLOCKS = (processed.SM_CLOCK, NVML_CLOCK)  # the better one first: it counts the kernel's own cycles
_BESIDE = frozenset({*TIMES, *_CLOCKS, CYCLES})
_SUITE = "data/suite/"
_NO_FLUSH = "no flush"

Identity = tuple[Any, ...]


@dataclass(frozen=True)
class Series:
    """What was measured. `params` are (name, canonical JSON) in the order of the collection's own table."""

    suite: str
    benchmark: str
    annotation: str
    params: tuple[tuple[str, str], ...]
    metric: str
    backend: str
    workload: str
    scenario: str

    @cached_property
    def identity(self) -> Identity:
        """Return what two collections' series have in common; the order of the parameters is no part of it."""
        return (*self.region, self.metric)

    @cached_property
    def region(self) -> Identity:
        """Return the identity of the region that the series is of, whatever the metric."""
        return (*self.group, tuple(sorted(self.params)), self.annotation)

    @cached_property
    def group(self) -> Identity:
        """Return what may be looked at together: one benchmark under one backend, workload and scenario."""
        return (self.suite, self.benchmark, self.backend, self.workload, self.scenario)

    @property
    def id(self) -> str:
        """Return the first 12 hex digits of the SHA-256 of the identity."""
        text = json.dumps(self.identity, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_SHOWN]

    @property
    def configuration(self) -> str:
        """Return the parameters in words: `n = 2048, dtype = fp16`."""
        return ", ".join(f"{name} = {processed.decoded(value)}" for name, value in self.params)


@dataclass(frozen=True, slots=True)
class Conditions:
    """Under what a series was measured, in the words of its provenance: where one differs, nothing is compared."""

    gpu: str = NOT_RECORDED
    cache: str = NOT_RECORDED
    clocks: str = NOT_RECORDED
    granularity: str = NOT_RECORDED
    heat: str = NOT_RECORDED
    replay: str = NOT_RECORDED

    def differing(self, other: Conditions) -> tuple[str, ...]:
        """Return the names of the fields in which two differ."""
        return tuple(f.name for f in fields(self) if getattr(self, f.name) != getattr(other, f.name))


@dataclass(frozen=True)
class Reading:
    """A series as one collection has it.

    `logs` holds for each process, in their order, the mean of the logarithms of its runs; it is empty where there is no
    value, and `positive` is False where a value that is not above zero has none. `clocks` and `cycles` are the logarithms
    of the SM clock (`clock_from` is its metric) and of the elapsed cycles that the same processes saw, empty where that was
    not measured. `state` is ok where one of the runs is; the reason counts those that are not.
    """

    series: Series
    unit: str
    state: str
    reason: str
    conditions: Conditions
    logs: tuple[float, ...] = ()
    runs: int = 0
    positive: bool = True
    clocks: tuple[float, ...] = ()
    clock_from: str = ""
    cycles: tuple[float, ...] = ()


@dataclass(frozen=True)
class Collected:
    """What a comparison reads of one collection: its series by identity, its facts, its suite's source and its ticks in ns.

    `mains` names for each benchmark the metric that the suite declares as the main one, where it is made of the time.
    """

    digest: str
    id: str
    suite: str
    facts: Provenance
    readings: Mapping[Identity, Reading]
    sources: Mapping[str, str] = field(default_factory=dict)  # digest by the file's name
    ticks: Mapping[str, float] = field(default_factory=dict)  # by backend
    mains: Mapping[str, str] = field(default_factory=dict)
    metrics: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Return how a person finds the bundle: its start and version, as its folder is called."""
        return f"{self.id.removeprefix(f'{self.suite}-')}-{self.digest[:DIGEST_SHOWN]}"


def read(bundle: Bundle, metrics: Collection[str] = ()) -> Collected:
    """Read the series of a bundle: those of its times, of the metrics asked for, and of the main ones made of the time."""
    info, samples = bundle.info, bundle.samples()
    whole = Measurements(samples, info, bundle.provenance)
    mains = _mains(info.plan, info.formulas)
    formulas = list(info.formulas)
    if not {formula.metric for formula in formulas} & set(metrics):
        # What no one asks for need not be combined; a formula of the time alone needs nothing else.
        formulas = [f for f in formulas if mains.get(f.benchmark) == f.metric]
        samples = samples[samples["metric"].isin({*_BESIDE, *metrics}).to_numpy()].reset_index(drop=True)
    per_run = processed.runs(samples, formulas, bundle.provenance)
    wanted = {*_BESIDE, *metrics, *mains.values()}
    per_run = per_run[per_run["metric"].astype("object").isin(wanted).to_numpy()].reset_index(drop=True)
    backends = sorted(set(per_run["backend"].astype("object")))
    ticks = {backend: step for backend in backends if (step := tick(whole, backend)) is not None}
    sources = {name.removeprefix(_SUITE): digest for name, digest in bundle.digests.items() if name.startswith(_SUITE)}
    return Collected(
        digest=bundle.digest,
        id=info.id,
        suite=info.suite,
        facts=bundle.provenance,
        readings=readings(per_run, bundle.provenance, info.plan),
        sources=sources,
        ticks=ticks,
        mains=mains,
        metrics=frozenset(whole.samples["metric"].astype("object")) | {f.metric for f in info.formulas},
    )


def readings(
    per_run: pd.DataFrame, facts: Provenance, plan: Mapping[str, Any] | None = None
) -> dict[Identity, Reading]:
    """Return the series of a table of runs (`processed.runs`), each with what its processes say."""
    number = processed.row_numbers(per_run)
    if not len(number):
        return {}
    count = int(number.max()) + 1
    names = _series(per_run, number)
    value = per_run["value"].to_numpy(dtype=float)
    ok = (per_run["state"] == "ok").to_numpy() & np.isfinite(value)
    positive = np.ones(count, dtype=bool)
    positive[number[ok & (value <= 0)]] = False
    means = _process_means(per_run, number, value, ok & positive[number])
    runs = np.bincount(number[ok], minlength=count)
    units = per_run["unit"].astype("object").to_numpy()[np.unique(number, return_index=True)[1]]
    states = _states(per_run, number, count)
    beside = {one.identity: tuple(means[row].values()) for row, one in enumerate(names)}
    under = {group: _conditions(group, facts, plan or {}) for group in {one.group for one in names}}
    found: dict[Identity, Reading] = {}
    for row, one in enumerate(names):
        clock = next((name for name in _CLOCKS if beside.get((*one.region, name))), "")
        found[one.identity] = Reading(
            series=one,
            unit=str(units[row]),
            state=states[row][0],
            reason=states[row][1],
            conditions=under[one.group],
            logs=tuple(means[row].values()),
            runs=int(runs[row]),
            positive=bool(positive[row]),
            clocks=beside.get((*one.region, clock), ()),
            clock_from=clock,
            cycles=beside.get((*one.region, CYCLES), ()),
        )
    return found


def _series(per_run: pd.DataFrame, number: np.ndarray[Any, Any]) -> list[Series]:
    """Return the series of each number."""
    params = param_columns(per_run)
    head = per_run.iloc[np.unique(number, return_index=True)[1]]
    columns = {name: head[name].astype("object").tolist() for name in processed.keys(per_run)}
    found = []
    for row in range(len(head)):
        given = tuple((name.removeprefix(PARAM), columns[name][row]) for name in params if columns[name][row] != "")
        words = {name: str(columns[name][row]) for name in columns if name not in params}
        found.append(Series(params=given, **words))
    return found


def _process_means(
    per_run: pd.DataFrame, number: np.ndarray[Any, Any], value: np.ndarray[Any, Any], chosen: np.ndarray[Any, Any]
) -> list[dict[int, float]]:
    """Return for each number the mean of the logarithms of the chosen runs of each process, in the order of processes."""
    process = per_run["process"].to_numpy(dtype="int64", na_value=0)
    places, at = np.unique(np.stack([number[chosen], process[chosen]]), axis=1, return_inverse=True)
    at = at.reshape(-1)
    total = np.bincount(at, np.log(value[chosen]), minlength=places.shape[1])
    means = total / np.bincount(at, minlength=places.shape[1])
    found: list[dict[int, float]] = [{} for _ in range(int(number.max()) + 1)]
    for row, one, mean in zip(places[0].tolist(), places[1].tolist(), means.tolist(), strict=True):
        found[row][one] = mean
    return found


def _states(per_run: pd.DataFrame, number: np.ndarray[Any, Any], count: int) -> list[tuple[str, str]]:
    """Return for each number its state and reason: ok where one of its runs is, the rest counted in the reason."""
    states = [("ok", "")] * count
    bad = (per_run["state"] != "ok").to_numpy()
    total = np.bincount(number, minlength=count)
    said: dict[int, Counter[tuple[str, str]]] = {}
    for row, state, reason in zip(number[bad].tolist(), per_run["state"][bad], per_run["reason"][bad], strict=True):
        said.setdefault(row, Counter())[str(state), str(reason)] += 1
    for row, counts in said.items():
        (state, reason), _ = counts.most_common(1)[0]
        if (missing := sum(counts.values())) < total[row]:
            state, reason = "ok", f"{missing} of {total[row]} runs {state}: {reason}"
        states[row] = (state, reason)
    return states


def _mains(plan: Mapping[str, Any], formulas: Sequence[processed.Formula]) -> dict[str, str]:
    """Return the main metric that each benchmark declares, where it is a formula of nothing but the time and parameters."""
    known = {(formula.benchmark, formula.metric): formula for formula in formulas}
    found: dict[str, str] = {}
    for name, bench in _benchmarks(plan).items():
        formula = known.get((name, str(bench.get("main"))))
        if formula is None:
            continue
        names = derive.parse(formula.metric, formula.formula).names
        if {"time", TIME} & names and not any(map(_reads_more, names)):
            found[name] = formula.metric
    return found


def _reads_more(name: str) -> bool:
    """Tell whether a formula that reads `name` needs more than the region's own time and parameters."""
    return ("__" in name and name != TIME) or derive.is_elsewhere(name) or derive.is_highest(name)


def _benchmarks(plan: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    planned = plan.get("benchmarks")  # anything, in a bundle from elsewhere
    found = [one for one in planned if isinstance(one, dict)] if isinstance(planned, list) else []
    return {str(one.get("name")): one for one in found}


def _conditions(group: Identity, facts: Provenance, plan: Mapping[str, Any]) -> Conditions:
    """Return the conditions of one benchmark under one backend and scenario, by the provenance and the plan."""
    _, benchmark, backend, _, scenario = group
    bench = _benchmarks(plan).get(benchmark, {})
    cache = _said(facts, "policy.cache", f"{scenario}, {backend}")
    flushed = cache if cache == NOT_RECORDED or cache.startswith("flushed") else ""
    granularity = _said(facts, "policy.flush_granularity", backend) if flushed else _NO_FLUSH
    return Conditions(
        gpu=facts.get("gpu.name").text,
        cache=cache,
        clocks=_said(facts, "policy.clocks", scenario),
        granularity=granularity,
        heat=_word(bench, "heat"),
        replay=_word(bench, "replay") if backend == "ncu" else NOT_RECORDED,
    )


def _word(bench: Mapping[str, Any], key: str) -> str:
    value = bench.get(key)
    return value if isinstance(value, str) and value else NOT_RECORDED


def _said(facts: Provenance, key: str, of: str) -> str:
    """Return what a fact says `of` one of several (`ncu: kernel and pass; cupti: region`), or the whole of what says it of all."""
    text = facts.get(key).text
    named = re.compile(r"(?:^|; )([\w-]+(?:, [\w-]+)?): ")
    parts = named.split(text)
    if len(parts) < 3:
        return text
    return dict(zip(parts[1::2], parts[2::2], strict=True)).get(of, NOT_RECORDED)


def mean(logs: Sequence[float]) -> float:
    """Return the geometric mean of what `logs` are the logarithms of, NaN of nothing."""
    return math.exp(math.fsum(logs) / len(logs)) if logs else math.nan
