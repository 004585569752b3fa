"""All that a suite's author imports: `benchmark`, `annotate`, `skip`.

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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol, Self

Config = Mapping[str, Any]


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


@dataclass(frozen=True)
class Benchmark:
    """A function of a suite, with what is to be measured of it. Calling it calls the function."""

    function: Callable[..., Any]
    name: str
    configs: tuple[Config, ...]
    quick: tuple[Config, ...]
    runs: int = 10
    processes: int | None = None
    warmup: int = 1
    metrics: tuple[str, ...] = ()
    derive: Mapping[str, str] = field(default_factory=dict)
    scenarios: tuple[str, ...] = ("default",)
    title: str = ""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the benchmark's function."""
        return self.function(*args, **kwargs)


def benchmark(
    *,
    configs: Iterable[Config | Sequence[Any] | Any] = ({},),
    quick: Iterable[Config | Sequence[Any] | Any] | None = None,
    runs: int = 10,
    processes: int | None = None,
    warmup: int = 1,
    metrics: Iterable[str] = (),
    derive: Mapping[str, str] | None = None,
    scenarios: Iterable[str] = ("default",),
    title: str = "",
) -> Callable[[Callable[..., Any]], Benchmark]:
    """Declare the function below as a benchmark.

    `configs` are its configurations, each a mapping of parameters, a sequence of them in the order of the function's own, or a
    single value; `quick` a smaller set for a first look. `runs` and `processes` say how often each is measured (processes: as
    the backend has it unless set), `warmup` how often it runs unmeasured before. `metrics` are hardware counters by the
    profiler's name, `derive` formulas of derived metrics with `time` in seconds.
    """

    def declare(function: Callable[..., Any]) -> Benchmark:
        names = list(inspect.signature(function).parameters)
        whole = tuple(_config(function, names, config) for config in configs)
        small = whole[:1] if quick is None else tuple(_config(function, names, config) for config in quick)
        _check(function, whole, runs=runs, processes=processes, warmup=warmup)
        made = Benchmark(
            function,
            function.__name__,
            whole,
            small,
            runs,
            processes,
            warmup,
            tuple(metrics),
            dict(derive or {}),
            tuple(scenarios),
            title or (inspect.getdoc(function) or "").partition("\n")[0],
        )
        _state.declared.append(made)
        return made

    return declare


def _check(function: Callable[..., Any], configs: Sequence[Config], **counts: int | None) -> None:
    if not configs:
        raise SuiteError(f"benchmark {function.__name__}: it has no configurations; give configs=[…]")
    for name, count in counts.items():
        least = 0 if name == "warmup" else 1
        if count is not None and count < least:
            raise SuiteError(f"benchmark {function.__name__}: {name} is {count!r}; give a whole number from {least} on")


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


@dataclass
class _State:
    recorder: Recorder | None = None
    open: str = ""  # the annotation that is open
    declared: list[Benchmark] = field(default_factory=list)


_state = _State()


class annotate:  # noqa: N801 - nsight-python's word, used as a verb
    """Measure what stands inside: `with annotate("fp32"):`.

    An exception or `skip` inside ends this annotation only: it is recorded and the benchmark goes on. Annotations do not
    nest.
    """

    def __init__(self, name: str) -> None:
        self.name = str(name)
        if not self.name or "|" in self.name:
            raise SuiteError(f"an annotation's name is a text without '|', not {name!r}")

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
        grave = error is not None and (not isinstance(error, Exception) or isinstance(error, SuiteError))
        if _state.recorder is None:
            return isinstance(error, Skipped)
        _state.recorder.end(self.name, error)
        return error is not None and not grave


def record_with(recorder: Recorder | None) -> None:
    """Set what measures regions in this process; the worker calls this, a suite does not."""
    _state.recorder = recorder


def declared() -> list[Benchmark]:
    """Return the benchmarks declared since `forget`, in order; one that another of its name hides is among them."""
    return list(_state.declared)


def forget() -> None:
    """Forget the benchmarks declared so far."""
    _state.declared.clear()
