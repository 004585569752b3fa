"""The child process that loads a suite and runs it: `python -m reportgen.collect.worker JOB`.

A job is a JSON file that the parent wrote. The answer to `plan` is the suite's plan; `run` runs the plan once under one
backend and leaves `runs.jsonl`, a line for each region in the order in which they were taken, beside the backend's own files.
Whatever the suite prints goes to the log.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import inspect
import json
import math
import os
import re
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, Protocol

from reportgen import suite
from reportgen.collect import thermal
from reportgen.collect.nvml import Sensors
from reportgen.collect.plan import (
    Formula,
    Params,
    PlannedBenchmark,
    PlannedConfig,
    Step,
    SuitePlan,
    from_json,
    measures,
    mode_from_json,
)
from reportgen.evidence import write
from reportgen.evidence.samples import canonical
from reportgen.suite import Benchmark, Skipped, SuiteError

RUNS = "runs.jsonl"
ANSWER = "worker.json"
PROGRESS = "progress"
# How long a sustained benchmark runs unmeasured: before a configuration's first run, and before each later one.
_HEAT_S, _HEAT_AGAIN_S = 2.0, 0.3
_HEAT_CALLS = 8
_FAILS = (Exception, SystemExit)  # a suite's code that calls sys.exit() has failed; Ctrl-C is no failure
_OF_A_REGION = ("benchmark", "annotation", "params", "run")


class Meter(Protocol):
    """A backend in the worker: measures a region, and leaves its files when it is closed."""

    def before(self) -> None:
        """Bring the caches to the scenario's state, outside of the region."""

    def start(self, message: str) -> None:
        """Begin the region whose range is called `message`."""

    def stop(self) -> dict[str, Any]:
        """End the region; return what the line of `runs.jsonl` is to say of it."""

    def wait(self) -> None:
        """Wait until the device has done what was asked of it."""

    def close(self) -> dict[str, Any]:
        """Leave the backend's files; return provenance facts that only this process knows."""


class _Beside:
    """Finds what a suite imports from its own folder, for files of that folder alone.

    The folder is not on the path: a library that looks whether `bottleneck` is installed must not find a suite of that name.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the spec of a module beside the file that imports it, None for any other."""
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - who imports is told by the stack alone
        while frame is not None and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        asks = frame is not None and Path(frame.f_code.co_filename).resolve().parent == self.folder
        return importlib.machinery.PathFinder.find_spec(name, [str(self.folder)]) if asks and path is None else None


def load(path: Path) -> tuple[ModuleType, list[Benchmark]]:
    """Load a suite's file; return its benchmarks in the order in which they are declared.

    Raises `SuiteError` with the place and the mend for whatever is wrong with it.
    """
    suite.forget()
    spec = importlib.util.spec_from_file_location(f"suite_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise SuiteError(f"{path.name} is not a Python file; a suite's name ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.meta_path.append(_Beside(path.parent.resolve()))
    try:
        spec.loader.exec_module(module)
    except SuiteError:
        raise
    except SyntaxError as error:
        raise SuiteError(f"line {error.lineno or 1}: {error.msg}") from error
    except _FAILS as error:
        raise SuiteError(f"line {_line(error, path)}: {_said(error)}") from error
    found = suite.declared()
    names = [benchmark.name for benchmark in found]
    if not found:
        raise SuiteError("it declares no benchmark; put @benchmark(…) above a function")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise SuiteError(f"two benchmarks are called '{twice}'; rename one")
    return module, found


def _line(error: BaseException, path: Path) -> int:
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == path and f.lineno]
    return lines[-1] if lines else 1


def _one_line(error: BaseException) -> str:
    try:
        return " ".join(str(error).split())[:400]
    except Exception as fault:  # noqa: BLE001 - the error is the suite's own class
        return f"it cannot be told ({type(fault).__name__})"


def plan_of(path: Path, quick: bool) -> SuitePlan:
    """Load the suite at `path` and return its plan."""
    module, found = load(path)
    first, _, prose = inspect.cleandoc(module.__doc__ or path.stem).partition("\n")
    title = str(getattr(module, "TITLE", "") or first.rstrip("."))
    question = str(getattr(module, "QUESTION", ""))
    planned = tuple(_planned(benchmark, quick) for benchmark in found)
    return SuitePlan(
        path.stem, title, planned, quick, len(suite.collectors()), _imported(path), question, prose.strip()
    )


def _imported(path: Path) -> tuple[str, ...]:
    """Return the files below the suite's folder that it has imported, but not what is installed there."""
    folder = path.parent.resolve()
    loaded = {
        Path(file).resolve()
        for module in list(sys.modules.values())
        if (file := getattr(module, "__file__", None)) and Path(file).is_absolute()  # torch.ops says `_ops.py`
    }
    mine = {file.relative_to(folder) for file in loaded if file.is_relative_to(folder) and file != path.resolve()}
    return tuple(sorted(file.as_posix() for file in mine if file.suffix == ".py" and "site-packages" not in file.parts))


def _text(benchmark: Benchmark, name: str, value: Any) -> str:
    try:
        text = canonical(value)
        text.encode()
    except (ValueError, TypeError, RecursionError) as error:
        fault = "a character that is not Unicode" if isinstance(error, UnicodeError) else f"no JSON value ({error})"
        raise SuiteError(f"benchmark {benchmark.name}: the parameter '{name}' has {fault}; pass it as a text") from None
    if re.search(r" at 0x[0-9a-f]+>", text):
        raise SuiteError(
            f"benchmark {benchmark.name}: the parameter '{name}' is an object whose text is its address ({text[:80]}); "
            "give it a __str__, or pass its name"
        )
    return text


def _planned(benchmark: Benchmark, quick: bool) -> PlannedBenchmark:
    configs = zip(
        *((benchmark.quick, benchmark.quick_runs) if quick else (benchmark.configs, benchmark.runs)), strict=True
    )
    return PlannedBenchmark(
        name=benchmark.name,
        title=benchmark.title,
        configs=tuple(
            PlannedConfig(index, tuple((name, _text(benchmark, name, value)) for name, value in config.items()), runs)
            for index, (config, runs) in enumerate(configs)
        ),
        processes=tuple(benchmark.processes.items())
        if isinstance(benchmark.processes, Mapping)
        else benchmark.processes,
        warmup=benchmark.warmup,
        metrics=benchmark.metrics,
        derive=tuple(_formula(metric, how) for metric, how in benchmark.derive.items()),
        normalize_against=benchmark.normalize_against,
        scenarios=benchmark.scenarios,
        heat=benchmark.heat,
        thermal=benchmark.thermal.mode if benchmark.thermal is not None else "off",
        ignore=benchmark.ignore,
        replay=benchmark.replay,
        graphs=benchmark.graphs,
        prose=benchmark.prose,
        main=benchmark.main,
        axis=benchmark.axis,
        expect=benchmark.expect,
        ceiling=benchmark.ceiling,
        units=tuple(benchmark.units.items()),
    )


def _formula(metric: str, how: Any) -> Formula:
    if callable(how):
        return Formula(metric, "", metric)
    return Formula(metric, how, metric) if isinstance(how, str) else Formula(metric, *how)


@dataclass
class _Place:
    """What is being measured: set by the loop, read by the recorder."""

    benchmark: str = ""
    params: Params = ()
    run: int = -1  # under 0 while warming up: nothing is recorded


class Session:
    """Runs a plan, and records each region through a meter: a line of `runs.jsonl` for each, in the order taken."""

    def __init__(self, meter: Meter, folder: Path, process: int, annotation: str, sensors: Sensors) -> None:
        self.meter, self.folder, self.process, self.wanted, self.sensors = meter, folder, process, annotation, sensors
        self.place = _Place()
        self.lines: list[dict[str, Any]] = []
        self._tally = write.Tally(folder / PROGRESS)
        self._measured = False
        self._before: dict[str, float] = {}
        self._entered: set[str] = set()  # the annotations of this run
        self._waited: dict[str, Any] = {}
        self._derived: set[str] = set()  # the derived metrics of this benchmark
        self._born = os.getpid()

    def begin(self, annotation: str) -> None:
        """Begin a region, unless it is warming up or not selected."""
        self._end_if_copy()
        if annotation in self._entered:
            raise SuiteError(
                f"annotation '{annotation}' is entered twice in one run; give each region a name of its own"
            )
        self._entered.add(annotation)
        self._measured = self.place.run >= 0 and self.wanted in ("", annotation)
        if self._measured:
            self._before = self.sensors.recent()
            self.meter.before()
            self.meter.start(message(annotation, self.place.benchmark, self.place.params, self.place.run))

    def end(self, annotation: str, error: BaseException | None) -> None:
        """End a region and write its line; one that failed while warming up fails again when it is measured."""
        self._end_if_copy()
        if self._measured:
            self._measured = False
            found = self.meter.stop()
            after = self.sensors.read()
            sensed = {"before": self._before, "after": after} if after else {}
            self._keep(annotation, error, {**found, **sensed, **self._waited})
            self._collect("annotation", annotation)

    def record(self, annotation: str, metric: str, value: float | str, unit: str) -> None:
        """Keep a value of the suite's own in the line of the region that it belongs to."""
        if metric in self._derived:
            raise SuiteError(
                f"record() after '{annotation}': '{metric}' is a derived metric already; name one of them otherwise"
            )
        if self.place.run < 0 or self.wanted not in ("", annotation):
            return
        here = self._line(annotation, "", "")
        for line in reversed(self.lines):
            if "region" in line and all(line[name] == here[name] for name in _OF_A_REGION):
                line.setdefault("recorded", []).append(_recorded(metric, value, unit))
                return

    def run(self, bench: PlannedBenchmark, declared: Benchmark, configs: Sequence[suite.Config], order: str) -> None:
        """Warm up, then run all configurations: round-robin, or one after the other with `order` blocks."""
        gate = thermal.gate(declared.thermal, self.sensors)
        self._derived = {formula.metric for formula in bench.derive}
        hot: set[int] = set()
        begun = False
        for run, planned in _order(bench, order):
            index, params, config = planned.index, planned.params, configs[planned.index]
            if run == 0 and not begun:
                begun = True
                self.place = _Place(bench.name, (), run)
                self._collect("once", "")
            if bench.heat == "sustained" and run >= 0:
                self._heat(declared, config, _HEAT_AGAIN_S if index in hot else _HEAT_S)
                hot.add(index)
            self._waited = gate.pass_through(self.sensors.temperature_c) if gate is not None and run >= 0 else {}
            self.place = _Place(bench.name, params, run)
            self._entered.clear()
            if run == 0:
                self._collect("config", "")
            if run >= 0:
                self._collect("run", "")
            try:
                declared(**config)
            except SuiteError:
                raise
            except _FAILS as error:
                # A configuration that fails is recorded, and the others stand.
                if run >= 0:
                    self._keep("", error, {})
            self._end_if_copy()
            self._tally.add()

    def _end_if_copy(self) -> None:
        """End a child process that the suite has forked and that comes back to here: what is measured is measured once."""
        if os.getpid() != self._born:
            os._exit(0)

    def _heat(self, declared: Benchmark, config: suite.Config, seconds: float) -> None:
        """Run a configuration back to back, unmeasured, for so long."""
        self.place = _Place()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for _ in range(_HEAT_CALLS):
                self._entered.clear()
                try:
                    declared(**config)
                except SuiteError:
                    raise
                except _FAILS:  # it is skipped or fails again when it is measured
                    return
                self._end_if_copy()
            self.meter.wait()

    def _collect(self, scope: str, annotation: str) -> None:
        """Call the suite's collectors of a scope, and keep what they return in a line of its own."""
        if self.place.run < 0:
            return
        for found in suite.collectors():
            if found.scope == scope:
                line = self._line(annotation, "ok", "")
                try:
                    value = _returned(found())
                    several = value if isinstance(value, Mapping) else {found.name: value}
                    line["recorded"] = [_recorded(str(name), one, found.unit) for name, one in several.items()]
                except SuiteError:
                    raise
                except _FAILS as error:  # a reading that fails is recorded, and the run stands
                    state, reason = _why(error)
                    line |= {"state": state, "reason": reason, "metric": found.name}
                self.lines.append(line)

    def _keep(self, annotation: str, error: BaseException | None, found: Mapping[str, Any]) -> None:
        state, reason = _why(error)
        self.lines.append({**self._line(annotation, state, reason), "region": True, **found})

    def _line(self, annotation: str, state: str, reason: str) -> dict[str, Any]:
        return {
            "benchmark": self.place.benchmark,
            "annotation": annotation,
            "params": dict(self.place.params),
            "run": self.place.run,
            "process": self.process,
            "state": state,
            "reason": reason,
        }

    def close(self) -> dict[str, Any]:
        """Leave the backend's files and the lines; return the facts that the meter knows."""
        facts = self.meter.close()
        text = "".join(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in self.lines)
        write.write_file(self.folder / RUNS, text.encode("utf-8", "replace"))
        return facts


def _why(error: BaseException | None) -> tuple[str, str]:
    """Return the state that an exception, or its absence, stands for, and the reason."""
    if error is None:
        return "ok", ""
    if isinstance(error, Skipped):
        return "skipped", _one_line(error) or "no reason was given"
    return "failed", _said(error)


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {_one_line(error)}".removesuffix(": ")


def _returned(value: Any) -> Any:
    """Return what a suite's own function returned, unless it returned nothing."""
    if value is None:
        raise ValueError("it returned nothing; return a number")
    return value


def _recorded(metric: str, value: Any, unit: str) -> list[float | str]:
    """Return a value as a line keeps it: a number, or a text, which also holds what is not a finite number."""
    if not isinstance(value, str):
        try:
            value = float(value)
        except (TypeError, ValueError, OverflowError):
            value = str(value)
        else:
            value = value if math.isfinite(value) else str(value)
    return [metric, value, str(unit)]


def _order(bench: PlannedBenchmark, order: str) -> Iterator[tuple[int, PlannedConfig]]:
    """Yield (run, configuration) in the order in which they run; warm-up runs count from below 0."""
    most = max((config.runs for config in bench.configs), default=0)
    if order == "blocks":
        for config in bench.configs:
            yield from ((run, config) for run in range(-bench.warmup, config.runs))
        return
    for run in range(-bench.warmup, most):
        yield from ((run, config) for config in bench.configs if run < config.runs)


def message(annotation: str, benchmark: str, params: Params, run: int) -> str:
    """Return a region's range message; a bar within a value is written as its JSON escape."""
    parts = [annotation, f"benchmark={canonical(benchmark)}", *(f"{n}={v}" for n, v in params), f"run={run}"]
    return "|".join([parts[0], *(part.replace("|", "\\u007c") for part in parts[1:])])


def meter_for(backend: str, folder: Path, scenario: str) -> Meter:
    """Return the meter of a backend; its packages are imported only now."""
    if backend == "plain":
        from reportgen.collect.plain import PlainMeter

        return PlainMeter(scenario)
    if backend == "torch":
        from reportgen.collect.torch_profiler import TorchMeter

        return TorchMeter(folder)
    if backend == "cupti":
        from reportgen.collect.cupti import CuptiMeter

        return CuptiMeter(folder, scenario)
    if backend == "ncu":
        from reportgen.collect.ncu import NcuMeter

        return NcuMeter()
    raise SuiteError(f"there is no backend '{backend}'")


def _run(job: Mapping[str, Any]) -> dict[str, Any]:
    path, folder = Path(job["suite"]), Path(job["folder"])
    plan = from_json(job["plan"])
    mode = mode_from_json(job["mode_of_ncu"])
    step = Step(job["backend"], job["scenario"], job["process"], mode, job["repetition"])
    _, found = load(path)
    by_name = {benchmark.name: benchmark for benchmark in found}
    sensors = Sensors()
    session = Session(meter_for(step.backend, folder, step.scenario), folder, step.process, job["annotation"], sensors)
    before = sensors.read()
    begin = time.time()
    suite.record_with(session, step.backend)
    try:
        for bench in plan.benchmarks:
            if measures(bench, step):
                declared = by_name[bench.name]
                session.run(bench, declared, declared.quick if plan.quick else declared.configs, job["order"])
    finally:
        suite.record_with(None)
        end = time.time()
        facts = session.close()
    return {
        "start": begin,
        "end": end,
        "lines": len(session.lines),
        "regions": sum("region" in line and line["state"] == "ok" for line in session.lines),
        "facts": facts,
        "before": before,
        "after": sensors.read(),
    }


def _derive(job: Mapping[str, Any]) -> dict[str, Any]:
    """Evaluate the suite's own functions over what was measured: `values` answers `asked` one to one."""
    _, found = load(Path(job["suite"]))
    functions = {(b.name, metric): how for b in found for metric, how in b.derive.items() if callable(how)}
    values: list[list[Any]] = []
    for one in job["asked"]:
        function = functions[one["benchmark"], one["metric"]]
        known = {**one["params"], "annotation": one["annotation"], "time": one["time"]}
        arguments = {name: known[name] for name in inspect.signature(function).parameters if name in known}
        try:
            values.append(["ok", *_recorded("", _returned(function(**arguments)), "")[1:2]])
        except _FAILS as error:  # one value that fails is recorded, and the others stand
            values.append(["failed", _said(error)])
    return {"values": values}


def main(arguments: Sequence[str]) -> int:
    """Do the job in the file named by the one argument; the answer says what was wrong, if anything was."""
    job = json.loads(Path(arguments[0]).read_bytes())
    try:
        if job["mode"] == "plan":
            answer: dict[str, Any] = {"plan": asdict(plan_of(Path(job["suite"]), job["quick"]))}
        elif job["mode"] == "derive":
            answer = _derive(job)
        else:
            answer = _run(job)
    except SuiteError as error:
        answer = {"error": str(error)}
    write.write_file(Path(job["folder"]) / ANSWER, json.dumps(answer))
    return 0 if "error" not in answer else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
