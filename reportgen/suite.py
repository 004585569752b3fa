"""All that a suite's author imports: `benchmark`, `annotate`, `skip`, `collector`, `Thermal`, `backend`.

A suite is a Python file whose benchmarks are functions. What stands inside `with annotate("name"):` is measured; the rest of
the function (random tensors, warm tables) is not. A region may launch any number of kernels, from any thread.

    from reportgen.suite import annotate, benchmark

    @benchmark(configs=[{"n": n} for n in (512, 1024)], runs=10, derive={"TFLOP/s": "2*n**3 / time / 1e12"})
    def matmul(n: int) -> None:
        a, b = torch.rand(2, n, n, device="cuda")
        with annotate("fp32"):
            a @ b

This module is light and safe: it imports nothing of ours, no torch and no pandas. Without `reportgen collect` around it a suite
runs as plain Python.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Protocol, Self, get_args

Config = Mapping[str, Any]
BACKENDS = ("ncu", "cupti", "torch")
Heat = Literal["burst", "sustained"]
Scope = Literal["once", "config", "run", "annotation"]
Replay = Literal["kernel", "range", "application"]
Graphs = Literal["node", "graph"]
Shape = Literal["rises", "falls", "flat"]
Ceiling = Literal["compute", "memory"]
Derived = str | tuple[str, str] | Callable[..., float]


class SuiteError(Exception):
    """A suite that is written wrongly; the message says where and how to mend it."""


class Skipped(Exception):
    """Raised by `skip`: what it is raised in is skipped, with the reason."""


class Recorder(Protocol):
    """What measures a region: a backend, in the worker process."""

    def begin(self, annotation: str) -> None:
        """Start to measure the region `annotation`."""

    def end(self, annotation: str, error: BaseException | None) -> None:
        """End the region; `error` is what it raised, if it did."""

    def record(self, annotation: str, metric: str, value: float | str, unit: str) -> None:
        """Keep a value of the suite's own beside the region that ended last under this name."""


@dataclass(frozen=True)
class Thermal:
    """When to wait for a hot GPU before a run, in degrees Celsius and seconds.

    Waits once the temperature has reached `wait`, until it has fallen to `resume` or `timeout` seconds have passed. Left
    out, both lie below the temperature at which the GPU itself slows down: 5 and 15 degrees (mode `auto`).
    """

    wait: float | None = None
    resume: float | None = None
    timeout: float = 120.0

    @property
    def mode(self) -> str:
        """Return `auto` when the GPU's own limit decides, else `manual`."""
        return "auto" if self.wait is None else "manual"

    def __post_init__(self) -> None:
        if (self.wait is None) != (self.resume is None):
            raise SuiteError("Thermal needs both wait and resume, or neither")
        if self.wait is not None and self.resume is not None and self.resume > self.wait:
            raise SuiteError(f"Thermal: resume ({self.resume:g}) lies above wait ({self.wait:g}); swap them")
        if self.timeout <= 0:
            raise SuiteError(f"Thermal: timeout is {self.timeout:g}; give seconds above 0")


@dataclass(frozen=True)
class Benchmark:
    """A function of a suite, with what is to be measured of it. Calling it calls the function."""

    function: Callable[..., Any]
    name: str
    configs: tuple[Config, ...]
    quick: tuple[Config, ...]
    runs: tuple[int, ...]  # of each of `configs`
    quick_runs: tuple[int, ...]
    processes: int | Mapping[str, int] | None = None
    warmup: int = 1
    metrics: tuple[str, ...] = ()
    derive: Mapping[str, Derived] = field(default_factory=dict)
    normalize_against: str = ""
    scenarios: tuple[str, ...] = ("default",)
    heat: Heat = "burst"
    thermal: Thermal | None = None
    ignore: tuple[str, ...] = ()
    replay: Replay = "kernel"
    graphs: Graphs = "node"
    title: str = ""
    prose: str = ""
    main: str = ""
    axis: str = ""
    expect: Shape | Literal[""] = ""
    ceiling: Ceiling | Literal[""] = ""
    units: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the benchmark's function."""
        return self.function(*args, **kwargs)


def benchmark(
    *,
    configs: Iterable[Config | Sequence[Any] | Any] = ({},),
    quick: Iterable[Config | Sequence[Any] | Any] | None = None,
    runs: int | Callable[..., int] = 10,
    processes: int | Mapping[str, int] | None = None,
    warmup: int = 1,
    metrics: Iterable[str] = (),
    derive: Mapping[str, Derived] | None = None,
    normalize_against: str = "",
    scenarios: Iterable[str] = ("default",),
    heat: Heat = "burst",
    thermal: Literal["off", "auto"] | Thermal = "off",
    ignore: Iterable[str] = (),
    replay: Replay = "kernel",
    graphs: Graphs = "node",
    title: str = "",
    main: str = "",
    axis: str = "",
    expect: Shape | Literal[""] = "",
    ceiling: Ceiling | Literal[""] = "",
    units: Mapping[str, str] | None = None,
) -> Callable[[Callable[..., Any]], Benchmark]:
    """Declare the function below as a benchmark.

    What is measured:

    - `configs`: its configurations, each a mapping of parameters, a sequence of them in the order of the function's own, or
      a single value; a value may be of any type. `quick` is a smaller set for a first look.
    - `metrics`: hardware counters by the profiler's name; `set:full` and `section:Occupancy` ask ncu for its own
      collections. `ignore`: regular expressions; a kernel whose name one of them matches counts for nothing, and says so.
    - `derive`: derived metrics. A text is a formula over metrics and parameters, with `time` in seconds, in the unit that is
      its name; a pair is a formula and its unit. A function takes what its parameters name (`time`, `annotation`, a parameter
      of the configuration) and returns a number, which is kept as recorded: only formulas can be computed again.
    - `normalize_against`: the annotation against which the others' time is set, run by run.

    How it is measured:

    - `runs` of each configuration (a number, or a function of the configuration's parameters) in each of `processes`, after
      `warmup` unmeasured ones. `processes` is a number, or a mapping of backends to numbers (`{"cupti": 8}`); a backend that it
      does not name has its usual number.
    - `scenarios`: cache and clock policies: default, strict, continuous, continuous-strict.
    - `heat`: `burst` measures each run on its own; `sustained` first runs the function back to back until the GPU is as
      warm and as slow as it will be under load. `thermal`: `off`, `auto`, or a `Thermal`, waits for a hot GPU to cool.
    - `replay` and `graphs`: how ncu repeats what it measures, and whether a CUDA graph is measured by node or as a whole.

    What the dossier says of it. Figures never stand here: they come from what was measured.

    - `title`: the question asked; the first line of the function's docstring unless set. The rest of the docstring is prose in
      Markdown that stands under it.
    - `main`: the metric that the benchmark is about (the time unless set), and `axis`: the parameter that a sweep goes over.
    - `expect`: how the main metric of each annotation should go along the axis: `rises`, `falls` or `flat`. The dossier
      says where it does not.
    - `ceiling`: this benchmark shows what the GPU can do: the best rate of its derived metrics in FLOP/s (`compute`) or in
      bytes a second (`memory`) is drawn as the measured roof of a roofline.
    - `units`: the units of parameters (`{"size": "byte"}`), in which the dossier writes them.
    """

    def declare(function: Callable[..., Any]) -> Benchmark:
        names = list(inspect.signature(function).parameters)
        whole = tuple(_config(function, names, config) for config in configs)
        small = whole[:1] if quick is None else tuple(_config(function, names, config) for config in quick)
        of_whole, of_small = (tuple(_runs(function, runs, config) for config in some) for some in (whole, small))
        _check(function, whole, runs=min(of_whole + of_small, default=1), warmup=warmup)
        _check_processes(function, processes)
        _check_word(function, "heat", heat, get_args(Heat))
        _check_word(function, "replay", replay, get_args(Replay))
        _check_word(function, "graphs", graphs, get_args(Graphs))
        if not isinstance(thermal, Thermal):
            _check_word(function, "thermal", thermal, ("off", "auto"))
        waits = thermal if isinstance(thermal, Thermal) else {"off": None, "auto": Thermal()}[thermal]
        ignored = _texts(function, "ignore", ignore)
        for pattern in ignored:
            _check_pattern(function, pattern)
        _check_text(function, "title", title)
        _check_text(function, "main", main)
        _check_word(function, "expect", expect, ("", *get_args(Shape)))
        _check_word(function, "ceiling", ceiling, ("", *get_args(Ceiling)))
        for word, given in (("axis", [axis] if axis else []), ("units", list(units or {}))):
            if odd := [name for name in given if name not in names]:
                raise SuiteError(
                    f"benchmark {function.__name__}: {word} names {odd[0]!r}; its parameters are {', '.join(names) or 'none'}"
                )
        for unit in (units or {}).values():
            _check_text(function, "units", unit)
        _check_text(function, "normalize_against", normalize_against)
        for metric, how in (derive or {}).items():
            _check_derived(function, metric, how, names)
        made = Benchmark(
            function=function,
            name=function.__name__,
            configs=whole,
            quick=small,
            runs=of_whole,
            quick_runs=of_small,
            processes=dict(processes) if isinstance(processes, Mapping) else processes,
            warmup=warmup,
            metrics=_texts(function, "metrics", metrics),
            derive=dict(derive or {}),
            normalize_against=normalize_against,
            scenarios=_texts(function, "scenarios", scenarios),
            heat=heat,
            thermal=waits,
            ignore=ignored,
            replay=replay,
            graphs=graphs,
            title=title or (inspect.getdoc(function) or "").partition("\n")[0],
            prose=(inspect.getdoc(function) or "").partition("\n")[2].strip(),
            main=main,
            axis=axis,
            expect=expect,
            ceiling=ceiling,
            units=dict(units or {}),
        )
        _state.declared.append(made)
        return made

    return declare


def _runs(function: Callable[..., Any], runs: int | Callable[..., int], config: Config) -> int:
    found: Any = runs(**config) if callable(runs) else runs
    if isinstance(found, bool) or not isinstance(found, int):
        raise SuiteError(f"benchmark {function.__name__}: runs is {found!r}; give a whole number from 1 on")
    return found


def _check_word(function: Callable[..., Any], name: str, word: str, known: Sequence[str]) -> None:
    if word not in known:
        raise SuiteError(f"benchmark {function.__name__}: {name} is {word!r}; use one of {', '.join(known)}")


def _texts(function: Callable[..., Any], name: str, values: Iterable[str]) -> tuple[str, ...]:
    if isinstance(values, str):  # would fall apart into letters
        raise SuiteError(f"benchmark {function.__name__}: {name} is a text; write {name}=[{values!r}]")
    found = tuple(values)
    for value in found:
        _check_text(function, name, value)
    return found


def _check_text(function: Callable[..., Any], name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise SuiteError(f"benchmark {function.__name__}: {name} holds {value!r}; give a text")


def _check_pattern(function: Callable[..., Any], pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise SuiteError(
            f"benchmark {function.__name__}: ignore holds {pattern!r}, not a regular expression: {error}"
        ) from None


def _check_derived(function: Callable[..., Any], metric: str, how: Any, names: Sequence[str]) -> None:
    _check_text(function, "derive", metric)
    where = f"benchmark {function.__name__}: the derived metric '{metric}'"
    if not metric.strip():
        raise SuiteError(f"{where} has no name; give it one")
    if callable(how):
        known = {"time", "annotation", *names}
        if odd := [name for name in inspect.signature(how).parameters if name not in known]:
            raise SuiteError(f"{where} asks for {', '.join(odd)}; it may take {', '.join(sorted(known))}")
    elif not isinstance(how, str) and (not isinstance(how, tuple) or [type(part) for part in how] != [str, str]):
        raise SuiteError(f"{where} is {how!r}; give a formula, a pair (formula, unit) or a function")


@dataclass(frozen=True)
class Collector:
    """A function of a suite that reads something beside what is measured; calling it calls the function."""

    function: Callable[[], Any]
    name: str
    scope: Scope
    unit: str

    def __call__(self) -> Any:
        """Call the collector's function."""
        return self.function()


def collector(*, scope: Scope = "run", unit: str = "") -> Callable[[Callable[[], Any]], Collector]:
    """Declare the function below as a collector: what it returns is kept as a sample of the metric of its name.

    It returns a number, a text, or a mapping of several to numbers or texts, all in `unit`. It is called once for each
    benchmark and process, before each configuration's first run, before each run, or after each annotation.
    """

    def declare(function: Callable[[], Any]) -> Collector:
        _check_word(function, "scope", scope, get_args(Scope))
        made = Collector(function, function.__name__, scope, unit)
        _state.collectors.append(made)
        return made

    return declare


def _check(function: Callable[..., Any], configs: Sequence[Config], **counts: Any) -> None:
    if not configs:
        raise SuiteError(f"benchmark {function.__name__}: it has no configurations; give configs=[…]")
    for name, count in counts.items():
        least = 0 if name == "warmup" else 1
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < least):
            raise SuiteError(f"benchmark {function.__name__}: {name} is {count!r}; give a whole number from {least} on")


def _check_processes(function: Callable[..., Any], processes: Any) -> None:
    """Hold a number, or the numbers of a mapping whose keys are backends, to be 1 or more."""
    if processes is None:
        return
    for backend, count in processes.items() if isinstance(processes, Mapping) else [("", processes)]:
        name = f"processes[{backend!r}]" if backend else "processes"
        if backend:
            _check_word(function, "a backend of processes", backend, BACKENDS)
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise SuiteError(f"benchmark {function.__name__}: {name} is {count!r}; give a whole number from 1 on")


def _config(function: Callable[..., Any], names: Sequence[str], config: Any) -> dict[str, Any]:
    """Bring a configuration to a mapping, and hold it against the function's parameters."""
    if isinstance(config, Mapping):
        made = dict(config)
    else:
        values = tuple(config) if isinstance(config, tuple | list) else (config,)
        made = dict(zip(names, values, strict=False))
        if len(values) > len(names):
            raise SuiteError(
                f"benchmark {function.__name__}: the configuration {config!r} has more values than parameters"
            )
    try:
        inspect.signature(function).bind(**made)
    except TypeError as error:
        raise SuiteError(f"benchmark {function.__name__}: the configuration {config!r} does not fit: {error}") from None
    return made


def skip(reason: str) -> None:
    """End the annotation (or, outside of one, the configuration) that this is called in as skipped, with the reason."""
    raise Skipped(reason or "no reason was given")


def backend() -> str:
    """Return what measures: `ncu`, `cupti` or `torch`; empty when the suite runs as plain Python."""
    return _state.backend


@dataclass
class _State:
    recorder: Recorder | None = None
    backend: str = ""
    open: str = ""  # the annotation that is open
    declared: list[Benchmark] = field(default_factory=list)
    collectors: list[Collector] = field(default_factory=list)


_state = _State()


class annotate:  # noqa: N801 - nsight-python's word, used as a verb
    """Measure what stands inside: `with annotate("fp32"):`.

    An exception or `skip` inside ends this annotation only: it is recorded and the benchmark goes on. Annotations do not
    nest.
    """

    def __init__(self, name: str) -> None:
        self.name = str(name)
        if not self.name.strip() or "|" in self.name or self.name != self.name.encode(errors="replace").decode():
            raise SuiteError(f"an annotation's name is a text of Unicode without '|', not {name!r}")

    def record(self, metric: str, value: float | str, unit: str = "") -> None:
        """Keep a value of one's own (an error, a count) with this region's measurements; call it after the region's end.

        with annotate("fp16") as region:
            c = a @ b
        region.record("relative error", error(c))
        """
        if _state.open:
            raise SuiteError(
                f"record('{metric}') stands inside '{_state.open}', where it would be measured; move it below"
            )
        if not str(metric).strip():
            raise SuiteError(f"record() after '{self.name}' has no metric; give it a name")
        if _state.recorder is not None:
            _state.recorder.record(self.name, str(metric), value, unit)

    def __enter__(self) -> Self:
        """Begin the region."""
        if _state.open:
            raise SuiteError(f"annotation '{self.name}' stands inside '{_state.open}'; annotations do not nest")
        if _state.recorder is not None:
            _state.recorder.begin(self.name)
        _state.open = self.name
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """End the region; hand an exception to the recorder, and swallow it unless the person or the suite is at fault."""
        _state.open = ""
        if _state.recorder is None:
            return isinstance(error, Skipped)
        _state.recorder.end(self.name, error)
        return isinstance(error, Exception | SystemExit) and not isinstance(error, SuiteError)


def record_with(recorder: Recorder | None, backend: str = "") -> None:
    """Set what measures regions in this process; the worker calls this, a suite does not."""
    _state.recorder, _state.backend = recorder, backend


def declared() -> list[Benchmark]:
    """Return the benchmarks declared since `forget`, in order; one that another of its name hides is among them."""
    return list(_state.declared)


def collectors() -> list[Collector]:
    """Return the collectors declared since `forget`, in order."""
    return list(_state.collectors)


def forget() -> None:
    """Forget the benchmarks and collectors declared so far."""
    _state.declared.clear()
    _state.collectors.clear()
