"""The child process that loads a suite and runs it: `python -m reportgen.collect.worker JOB`.

A job is a JSON file that the parent wrote. The answer to `plan` is the suite's plan; `run` runs the plan once under one
backend and leaves `runs.jsonl`, a line for each region in the order in which they were taken, beside the backend's own files.
Whatever the suite prints goes to the log.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from reportgen import suite
from reportgen.collect.plan import Params, PlannedBenchmark, Step, SuitePlan, from_json, measures
from reportgen.evidence import write
from reportgen.evidence.samples import canonical
from reportgen.suite import Benchmark, Skipped, SuiteError

RUNS = "runs.jsonl"
ANSWER = "answer.json"


class Meter(Protocol):
    """A backend in the worker: measures a region, and leaves its files when it is closed."""

    def before(self) -> None:
        """Bring the caches to the scenario's state, outside of the region."""

    def start(self, message: str) -> None:
        """Begin the region whose range is called `message`."""

    def stop(self) -> dict[str, Any]:
        """End the region; return what the line of `runs.jsonl` is to say of it."""

    def close(self) -> None:
        """Leave the backend's files."""


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
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except SuiteError:
        raise
    except SyntaxError as error:
        raise SuiteError(f"line {error.lineno}: {error.msg}") from error
    except Exception as error:
        raise SuiteError(f"line {_line(error, path)}: {type(error).__name__}: {_one_line(error)}") from error
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
    return " ".join(str(error).split())[:400]


def plan_of(path: Path, quick: bool) -> SuitePlan:
    """Load the suite at `path` and return its plan."""
    module, found = load(path)
    title = str(getattr(module, "TITLE", "") or (module.__doc__ or path.stem).strip().partition("\n")[0].rstrip("."))
    planned = tuple(_planned(benchmark, quick) for benchmark in found)
    return SuitePlan(path.stem, title, planned, quick)


def _planned(benchmark: Benchmark, quick: bool) -> PlannedBenchmark:
    configs = benchmark.quick if quick else benchmark.configs
    return PlannedBenchmark(
        name=benchmark.name,
        title=benchmark.title,
        configs=tuple((i, tuple((n, canonical(v)) for n, v in c.items())) for i, c in enumerate(configs)),
        runs=benchmark.runs,
        processes=benchmark.processes,
        warmup=benchmark.warmup,
        metrics=benchmark.metrics,
        derive=tuple(benchmark.derive.items()),
        scenarios=benchmark.scenarios,
    )


@dataclass
class _Place:
    """What is being measured: set by the loop, read by the recorder."""

    benchmark: str = ""
    params: Params = ()
    run: int = -1  # under 0 while warming up: nothing is recorded


class Session:
    """Runs a plan, and records each region through a meter into `runs.jsonl`."""

    def __init__(self, meter: Meter, folder: Path, process: int, annotation: str) -> None:
        self.meter, self.process, self.wanted = meter, process, annotation
        self.place = _Place()
        self.lines: list[str] = []
        self.path = folder / RUNS
        self._measured = False

    def begin(self, annotation: str) -> None:
        """Begin a region, unless it is warming up or not selected."""
        self._measured = self.place.run >= 0 and self.wanted in ("", annotation)
        if self._measured:
            self.meter.before()
            self.meter.start(message(annotation, self.place.benchmark, self.place.params, self.place.run))

    def end(self, annotation: str, error: BaseException | None) -> None:
        """End a region and write its line; one that failed while warming up fails again when it is measured."""
        if self._measured:
            self._measured = False
            self._keep(annotation, error, self.meter.stop())

    def run(self, bench: PlannedBenchmark, declared: Benchmark, configs: Sequence[suite.Config], order: str) -> None:
        """Warm up, then run all configurations: round-robin, or one after the other with `order` blocks."""
        for run, (index, params) in _order(bench, order):
            self.place = _Place(bench.name, params, run)
            try:
                declared(**configs[index])
            except SuiteError:
                raise
            except Exception as error:  # noqa: BLE001 - a configuration that fails is recorded, and the others stand
                if run >= 0:
                    self._keep("", error, {})

    def _keep(self, annotation: str, error: BaseException | None, found: Mapping[str, Any]) -> None:
        state, reason = "ok", ""
        if isinstance(error, Skipped):
            state, reason = "skipped", _one_line(error)
        elif error is not None:
            state, reason = "failed", f"{type(error).__name__}: {_one_line(error)}"
        place = self.place
        line = {
            "benchmark": place.benchmark,
            "annotation": annotation,
            "params": dict(place.params),
            "run": place.run,
            "process": self.process,
            "state": state,
            "reason": reason,
            **found,
        }
        self.lines.append(json.dumps(line, ensure_ascii=False))

    def close(self) -> None:
        """Leave the backend's files and the lines."""
        self.meter.close()
        write.write_file(self.path, "".join(line + "\n" for line in self.lines))


def _order(bench: PlannedBenchmark, order: str) -> Iterator[tuple[int, tuple[int, Params]]]:
    """Yield (run, configuration) in the order in which they run; warm-up runs count from below 0."""
    warm = range(-bench.warmup, 0)
    if order == "blocks":
        for config in bench.configs:
            yield from ((run, config) for run in (*warm, *range(bench.runs)))
        return
    for run in (*warm, *range(bench.runs)):
        yield from ((run, config) for config in bench.configs)


def message(annotation: str, benchmark: str, params: Params, run: int) -> str:
    """Return a region's range message; a bar within a value is written as its JSON escape."""
    parts = [annotation, f"benchmark={canonical(benchmark)}", *(f"{n}={v}" for n, v in params), f"run={run}"]
    return "|".join([parts[0], *(part.replace("|", "\\u007c") for part in parts[1:])])


def meter_for(backend: str, folder: Path, scenario: str) -> Meter:
    """Return the meter of a backend; its packages are imported only now."""
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
    _, found = load(path)
    by_name = {benchmark.name: benchmark for benchmark in found}
    session = Session(meter_for(job["backend"], folder, job["scenario"]), folder, job["process"], job["annotation"])
    begin = time.time()
    suite.record_with(session)
    try:
        for bench in plan.benchmarks:
            if measures(bench, Step(job["backend"], job["scenario"], job["process"])):
                declared = by_name[bench.name]
                session.run(bench, declared, declared.quick if plan.quick else declared.configs, job["order"])
    finally:
        suite.record_with(None)
        session.close()
    return {"start": begin, "end": time.time(), "regions": len(session.lines)}


def main(arguments: Sequence[str]) -> int:
    """Do the job in the file named by the one argument; the answer says what was wrong, if anything was."""
    job = json.loads(Path(arguments[0]).read_bytes())
    try:
        if job["mode"] == "plan":
            answer: dict[str, Any] = {"plan": asdict(plan_of(Path(job["suite"]), job["quick"]))}
        else:
            answer = _run(job)
    except SuiteError as error:
        answer = {"error": str(error)}
    write.write_file(Path(job["folder"]) / ANSWER, json.dumps(answer))
    return 0 if "error" not in answer else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
