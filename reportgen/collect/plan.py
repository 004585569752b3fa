"""What a collection will do: the benchmarks of a suite as plain data, and one step for each child process.

The suite's file is code and is only ever loaded in a child process (`worker`); what comes back is this.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from reportgen.evidence.errors import UserError

Params = tuple[tuple[str, str], ...]  # (name, canonical JSON), in the order of the configuration

PROCESSES = {"ncu": 1, "cupti": 3, "torch": 1}
# torch.profiler neither flushes caches nor sets clocks: what it measures is always this.
ONLY_SCENARIO = {"torch": "continuous"}


@dataclass(frozen=True, slots=True)
class PlannedBenchmark:
    """A benchmark as plain data; `configs` are indices into the suite's own list with their parameters."""

    name: str
    title: str
    configs: tuple[tuple[int, Params], ...]
    runs: int
    processes: int | None
    warmup: int
    metrics: tuple[str, ...]
    derive: tuple[tuple[str, str], ...]
    scenarios: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SuitePlan:
    """The benchmarks of a suite that a collection measures; `quick` says that they are the small set."""

    suite: str
    title: str
    benchmarks: tuple[PlannedBenchmark, ...]
    quick: bool

    @property
    def digest(self) -> str:
        """Return the first 12 digits of the plan's SHA-256: two collections of one plan share it."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:12]

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Return the scenarios that any benchmark asks for, in order."""
        return tuple(dict.fromkeys(s for b in self.benchmarks for s in b.scenarios))


@dataclass(frozen=True, slots=True)
class Step:
    """One child process in which the plan runs once under one backend and scenario."""

    backend: str
    scenario: str
    process: int

    @property
    def folder(self) -> str:
        """Return where its raw files lie, below `data/`."""
        return f"{self.backend}/{self.scenario}/{self.process}"


def steps(
    plan: SuitePlan, backends: Sequence[str], scenarios: Sequence[str], processes: int | None
) -> tuple[Step, ...]:
    """Return the steps of a collection, backend by backend; processes take turns with scenarios, so that drift hits all."""
    found: list[Step] = []
    for backend in backends:
        asked = [b.processes for b in plan.benchmarks if b.processes is not None]
        count = processes or max(asked, default=PROCESSES[backend])
        named = (ONLY_SCENARIO[backend],) if backend in ONLY_SCENARIO else scenarios or plan.scenarios
        found += [Step(backend, scenario, p) for p in range(count) for scenario in named]
    return tuple(found)


def from_json(whole: Mapping[str, Any]) -> SuitePlan:
    """Read a plan that a worker wrote."""
    benchmarks = tuple(
        PlannedBenchmark(
            **{
                **found,
                "configs": tuple((i, tuple((n, v) for n, v in params)) for i, params in found["configs"]),
                "derive": tuple((m, f) for m, f in found["derive"]),
                "metrics": tuple(found["metrics"]),
                "scenarios": tuple(found["scenarios"]),
            }
        )
        for found in whole["benchmarks"]
    )
    return SuitePlan(whole["suite"], whole["title"], benchmarks, whole["quick"])


@dataclass(frozen=True, slots=True)
class Selection:
    """What `--select BENCH[/ANNOTATION][,key=value]` names; empty parts select all."""

    benchmark: str
    annotation: str
    params: Params

    def takes(self, benchmark: str, params: Params) -> bool:
        """Tell whether a configuration of a benchmark is selected."""
        known = dict(params)
        asked = all(known.get(n) in (v, json.dumps(v)) for n, v in self.params)
        return self.benchmark in ("", benchmark) and asked


def parse_selection(text: str) -> Selection:
    """Read a selection; raises `UserError` with the mend."""
    head, *pairs = text.split(",")
    name, _, annotation = head.partition("/")
    params: list[tuple[str, str]] = []
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UserError(None, f"--select '{text}' cannot be read at '{pair}'", "write it like matmul/fp16,n=2048")
        params.append((key, value))
    return Selection(name, annotation, tuple(params))


def measures(bench: PlannedBenchmark, step: Step) -> bool:
    """Tell whether a step measures a benchmark: where the backend has a choice, the benchmark must ask for the scenario."""
    return step.backend in ONLY_SCENARIO or step.scenario in bench.scenarios


def narrow(plan: SuitePlan, selection: Selection | None, runs: int | None, scenarios: Iterable[str]) -> SuitePlan:
    """Return the part of a plan that is asked for; raises `UserError` when nothing is left."""
    wanted = tuple(scenarios)
    kept = []
    for bench in plan.benchmarks:
        configs = tuple(c for c in bench.configs if selection is None or selection.takes(bench.name, c[1]))
        if configs:
            kept.append(replace(bench, configs=configs, runs=runs or bench.runs, scenarios=wanted or bench.scenarios))
    if not kept:
        names = ", ".join(b.name for b in plan.benchmarks)
        raise UserError(plan.suite, "--select leaves nothing to measure", f"its benchmarks are {names}")
    return replace(plan, benchmarks=tuple(kept))
