"""What a collection will do: the benchmarks of a suite as plain data, and one step for each child process.

The suite's file is code and is only ever loaded in a child process (`worker`); what comes back is this.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from reportgen.evidence.bundle import INFO, BundleInfo
from reportgen.evidence.errors import UserError
from reportgen.evidence.samples import canonical

Params = tuple[tuple[str, str], ...]  # (name, canonical JSON), in the order of the configuration

_JSON = tuple('"[{')
_AS_JSON = (
    'a text, a list or an object is JSON, like name="a, b" or shape=[1,2]; in a shell the whole stands in single quotes'
)
PROCESSES = {"ncu": 1, "cupti": 3, "torch": 1}
# torch.profiler neither flushes caches nor sets clocks: what it measures is always this.
ONLY_SCENARIO = {"torch": "continuous"}


@dataclass(frozen=True, slots=True)
class Formula:
    """A derived metric as a suite declares it; one without a formula is a function of the suite."""

    metric: str
    formula: str
    unit: str


@dataclass(frozen=True, slots=True)
class PlannedConfig:
    """A configuration by its place in the suite's own list, and how often it runs in each process."""

    index: int
    params: Params
    runs: int


@dataclass(frozen=True, slots=True)
class PlannedBenchmark:
    """A benchmark as plain data."""

    name: str
    title: str
    configs: tuple[PlannedConfig, ...]
    processes: int | tuple[tuple[str, int], ...] | None  # of every backend, or of each that is named
    warmup: int
    metrics: tuple[str, ...]
    derive: tuple[Formula, ...]
    normalize_against: str
    scenarios: tuple[str, ...]
    heat: str
    thermal: str
    ignore: tuple[str, ...]
    replay: str
    graphs: str
    prose: str = ""
    main: str = ""
    axis: str = ""
    expect: str = ""
    ceiling: str = ""
    units: tuple[tuple[str, str], ...] = ()

    def processes_under(self, backend: str) -> int:
        """Return in how many processes it is measured under a backend: the backend's usual number unless it says otherwise."""
        known = dict(self.processes) if isinstance(self.processes, tuple) else {backend: self.processes}
        return known.get(backend) or PROCESSES.get(backend, 1)

    @property
    def mode(self) -> Mode:
        """Return what ncu must be set to for the process that measures it."""
        return Mode(self.replay, self.graphs, self.metrics)


@dataclass(frozen=True, slots=True)
class Mode:
    """What ncu is set to for a whole process: how it repeats, whether it sees a graph's nodes, and what it counts."""

    replay: str = "kernel"
    graphs: str = "node"
    metrics: tuple[str, ...] = ()


def mode_from_json(found: Mapping[str, Any]) -> Mode:
    """Read the mode of a job."""
    return Mode(found["replay"], found["graphs"], tuple(found["metrics"]))


@dataclass(frozen=True, slots=True)
class SuitePlan:
    """The benchmarks of a suite that a collection measures; `quick` says that they are the small set.

    `collectors` counts the suite's own readings beside them; `files` are those that the suite imports from its own folder,
    relative to it.
    """

    suite: str
    title: str
    benchmarks: tuple[PlannedBenchmark, ...]
    quick: bool
    collectors: int
    files: tuple[str, ...]
    question: str = ""
    prose: str = ""

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
    """One child process in which the plan runs once under one backend, scenario and mode."""

    backend: str
    scenario: str
    process: int
    mode: Mode = Mode()
    repetition: int = 0  # of this mode; a benchmark is measured in as many as it asks for

    @property
    def folder(self) -> str:
        """Return where its raw files lie, below `data/`."""
        return f"{self.backend}/{self.scenario}/{self.process}"


def steps(plan: SuitePlan, backends: Sequence[str], scenarios: Sequence[str]) -> tuple[Step, ...]:
    """Return the steps of a collection, backend by backend; processes take turns with scenarios, so that drift hits all.

    Benchmarks that need ncu set otherwise have processes of their own, numbered after the others.
    """
    found: list[Step] = []
    for backend in backends:
        count = max(b.processes_under(backend) for b in plan.benchmarks)
        named = (ONLY_SCENARIO[backend],) if backend in ONLY_SCENARIO else scenarios or plan.scenarios
        modes = tuple(dict.fromkeys(b.mode for b in plan.benchmarks)) if backend == "ncu" else (Mode(),)
        for index, mode in enumerate(modes):
            made = [Step(backend, scenario, index * count + p, mode, p) for p in range(count) for scenario in named]
            found += [step for step in made if any(measures(bench, step) for bench in plan.benchmarks)]
    return tuple(found)


def from_json(whole: Mapping[str, Any]) -> SuitePlan:
    """Read a plan that a worker wrote."""
    return SuitePlan(
        whole["suite"],
        whole["title"],
        tuple(map(_benchmark, whole["benchmarks"])),
        whole["quick"],
        whole["collectors"],
        tuple(whole["files"]),
        whole["question"],
        whole["prose"],
    )


def kept(info: BundleInfo) -> SuitePlan:
    """Read the plan that a bundle keeps; raises `UserError` where it keeps none."""
    try:
        names = {field.name for field in fields(PlannedBenchmark)}
        known = [{k: v for k, v in found.items() if k in names} for found in info.plan["benchmarks"]]
        benchmarks = tuple(map(_benchmark, known))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise UserError(INFO, "it keeps no plan by which its raw files can be read again") from None
    return SuitePlan(info.suite, info.title, benchmarks, bool(info.plan.get("quick")), 0, (), info.question, info.prose)


def _benchmark(found: Mapping[str, Any]) -> PlannedBenchmark:
    lists = {name: tuple(found[name]) for name in ("metrics", "scenarios", "ignore")}
    configs = tuple(
        PlannedConfig(one["index"], tuple((name, value) for name, value in one["params"]), one["runs"])
        for one in found["configs"]
    )
    derive = tuple(Formula(**formula) for formula in found["derive"])
    units = tuple((name, unit) for name, unit in found.get("units", ()))
    processes = found["processes"]
    if isinstance(processes, list):
        processes = tuple((backend, count) for backend, count in processes)
    whole = {**found, **lists, "configs": configs, "derive": derive, "units": units, "processes": processes}
    return PlannedBenchmark(**whole)


@dataclass(frozen=True, slots=True)
class Selection:
    """What `--select BENCH[/ANNOTATION][,key=value]` names; empty parts select all.

    Of `params` each is a parameter's name, and its value as canonical JSON or as a word.
    """

    benchmark: str
    annotation: str
    params: Params

    def takes(self, benchmark: str, params: Params) -> bool:
        """Tell whether a configuration of a benchmark is selected."""
        known = dict(params)
        asked = all(known.get(n) in (v, canonical(v)) for n, v in self.params)
        return self.benchmark in ("", benchmark) and asked


def parse_selection(text: str) -> Selection:
    """Read a selection; raises `UserError` with the mend.

    An annotation or a value goes on to the next comma; one that begins with `"`, `[` or `{` is JSON, and may hold commas.
    """
    name, slash = _until(text, 0, "/,"), False
    at = len(name)
    annotation: Any = ""
    if text[at : at + 1] == "/":
        annotation, at, slash = *_value(text, at + 1), True
    if slash and not isinstance(annotation, str):
        raise _unreadable(text, len(name) + 1, "an annotation is a word, or a text in double quotes")
    params: list[tuple[str, str]] = []
    while at < len(text):
        key = _until(text, at + 1, "=,")
        begin = at + 1 + len(key)
        if text[at] != "," or not key or text[begin : begin + 1] != "=":
            raise _unreadable(text, at + (text[at] == ","), "write it like matmul/fp16,n=2048")
        value, at = _value(text, begin + 1)
        quoted = text[begin + 1 : begin + 2] in _JSON
        params.append((key, canonical(value) if quoted else value))
    return Selection(name, annotation, tuple(params))


def _until(text: str, begin: int, ends: str) -> str:
    """Return what stands from `begin` on before the first character of `ends`, or before the end."""
    return re.split(f"[{ends}]", text[begin:], maxsplit=1)[0]


def _value(text: str, begin: int) -> tuple[Any, int]:
    """Return the word or JSON value that begins there, and where it ends."""
    if text[begin : begin + 1] not in _JSON:
        word = _until(text, begin, ",")
        return word, begin + len(word)
    try:
        value, end = json.JSONDecoder().raw_decode(text, begin)
    except ValueError:
        raise _unreadable(text, begin, _AS_JSON) from None
    if text[end : end + 1] not in ("", ","):
        raise _unreadable(text, end, _AS_JSON)
    return value, end


def _unreadable(text: str, at: int, mend: str) -> UserError:
    return UserError(None, f"--select '{text}' cannot be read at '{text[at:]}'", mend)


def measures(bench: PlannedBenchmark, step: Step) -> bool:
    """Tell whether a step measures a benchmark: it asks for the scenario and so many processes, and ncu is set as it needs."""
    if step.repetition >= bench.processes_under(step.backend):
        return False
    if step.backend in ONLY_SCENARIO:
        return True
    return step.scenario in bench.scenarios and (step.backend != "ncu" or step.mode == bench.mode)


def narrow(
    plan: SuitePlan,
    selection: Selection | None,
    runs: int | None,
    scenarios: Iterable[str],
    processes: int | None = None,
) -> SuitePlan:
    """Return the part of a plan that is asked for; raises `UserError` when nothing is left."""
    wanted = tuple(scenarios)
    kept = []
    for bench in plan.benchmarks:
        configs = tuple(
            replace(one, runs=runs or one.runs)
            for one in bench.configs
            if selection is None or selection.takes(bench.name, one.params)
        )
        if configs:
            chosen = processes or bench.processes
            kept.append(replace(bench, configs=configs, scenarios=wanted or bench.scenarios, processes=chosen))
    if not kept:
        names = ", ".join(b.name for b in plan.benchmarks)
        raise UserError(plan.suite, "--select leaves nothing to measure", f"its benchmarks are {names}")
    return replace(plan, benchmarks=tuple(kept))
