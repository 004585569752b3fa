"""Collect: run a suite's plan step by step, read what it left, and make one bundle of it.

Work in progress lies in `DIR/.partial-<plan digest>/`. A step that is whole there is not run again by `--resume`; a child that
dies or hangs costs its own step, whose regions are then `dropped` with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from reportgen.analysis import derive, processed
from reportgen.collect import drive, machine, ncu, nvml, preflight, torch_profiler, worker
from reportgen.collect import plan as plans
from reportgen.collect.drive import StepFailed
from reportgen.collect.plan import Selection, Step, SuitePlan
from reportgen.evidence import bundle, provenance, samples, tables, write
from reportgen.evidence.bundle import BundleInfo, Formula, Status
from reportgen.evidence.errors import UserError
from reportgen.evidence.provenance import Fact
from reportgen.readers import cupti_activity, ncu_rep, torch_trace

BACKENDS = ("ncu", "cupti", "torch")
_MAIN = {"torch": torch_trace.SELF_TIME, "ncu": derive.TIME, "cupti": derive.TIME}
_KEPT = (worker.RUNS, drive.LOG, torch_profiler.TRACE, ncu.REPORT, cupti_activity.ACTIVITY)
_DONE = "done.json"
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks of a collection."""

    backends: tuple[str, ...]
    scenarios: tuple[str, ...] = ()
    runs: int | None = None
    processes: int | None = None
    select: Selection | None = None
    quick: bool = False
    resume: bool = False
    order: str = "rounds"
    timeout: float = 600.0


@dataclass(frozen=True, slots=True)
class Collected:
    """What a collection made: its bundle, and how many samples are in each state."""

    path: Path
    bundle_id: str
    states: Mapping[str, int]

    @property
    def whole(self) -> bool:
        """Tell whether everything was measured or rightly skipped."""
        return all(state in ("ok", "skipped") for state, count in self.states.items() if count)


def collect(suite: Path, out: Path, asked: Asked, say: Say) -> Collected:
    """Measure the suite at `suite` and leave one bundle below `out`; `say` is told of each step in a line."""
    _check_backends(asked.backends)
    preflight.check(asked.backends)
    plan = plans.narrow(drive.plan(suite, asked.quick), asked.select, asked.runs, asked.scenarios)
    formulas = tuple(Formula(m, f, m) for b in plan.benchmarks for m, f in dict(b.derive).items())
    for formula in formulas:
        derive.parse(formula.metric, formula.formula)
    todo = plans.steps(plan, asked.backends, asked.scenarios, asked.processes)
    _check_scenarios(todo)
    partial = out / f"{write.PARTIAL}{plan.digest}"
    if partial.exists() and not asked.resume:
        write.remove_folder(partial)
    begin = _begin(partial)
    for index, step in enumerate(todo):
        _step(step, suite, plan, asked, partial, f"{index + 1}/{len(todo)}", say)
    made = _bundle(suite, out, plan, formulas, todo, partial, begin)
    write.remove_folder(partial)
    return made


def _check_backends(backends: Sequence[str]) -> None:
    for backend in backends:
        if backend not in BACKENDS:
            raise UserError(None, f"there is no backend '{backend}'", f"use one of {', '.join(BACKENDS)}")


def _check_scenarios(todo: Sequence[Step]) -> None:
    for step in todo:
        if step.backend == "cupti" and step.scenario not in ("default", "continuous"):
            raise UserError(
                None,
                f"CUPTI cannot measure the scenario '{step.scenario}' in this version",
                "use default or continuous",
            )


def _begin(partial: Path) -> str:
    """Return when the collection began; a resumed one began when it was first tried."""
    path = partial / "begun"
    if not path.is_file():
        write.write_file(path, f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    return path.read_text()


def _step(step: Step, suite: Path, plan: SuitePlan, asked: Asked, partial: Path, number: str, say: Say) -> None:
    folder = partial / step.folder
    if (folder / _DONE).is_file():
        say(f"{number} {step.folder}: whole already")
        return
    if folder.exists():
        write.remove_folder(folder)
    write.make_folder(folder)
    say(f"{number} {step.folder}")
    annotation = asked.select.annotation if asked.select else ""
    try:
        answer = drive.measure(step, suite, plan, annotation, asked.order, folder, asked.timeout)
    except StepFailed as error:
        say(f"{number} {step.folder}: dropped, {error}")
        answer = {"state": "dropped", "reason": str(error)}
    if step.backend == "ncu" and not (folder / ncu.REPORT).is_file():
        state, reason = ncu.why_no_report((folder / drive.LOG).read_text("utf-8", "replace"))
        say(f"{number} {step.folder}: {state}, {reason}")
        answer = {"state": state, "reason": reason}
    write.write_file(folder / _DONE, json.dumps(answer))


def _bundle(
    suite: Path,
    out: Path,
    plan: SuitePlan,
    formulas: tuple[Formula, ...],
    todo: Sequence[Step],
    partial: Path,
    begin: str,
) -> Collected:
    frame = samples.concat([part for step in todo for part in _read(step, plan, partial / step.folder)])
    frame["suite"] = samples.constant_text(plan.suite, len(frame))
    payload = {f"suite/{suite.name}": suite} | {
        f"{step.folder}/{name}": partial / step.folder / name
        for step in todo
        for name in _KEPT
        if (partial / step.folder / name).is_file()
    }
    counts = {str(k): int(v) for k, v in frame["state"].astype("object").value_counts().items()}
    status: Status = "complete" if set(counts) <= {"ok", "skipped"} else "partial"
    info = BundleInfo(
        plan.suite,
        plan.title,
        begin,
        status,
        plan={"backends": list(_backends(todo)), **_plain(plan)},
        formulas=formulas,
    )
    facts = provenance.from_facts(
        {
            **machine.facts(suite),
            **nvml.facts(),
            "collection.start": Fact(begin, "", "this machine's clock"),
            "collection.end": Fact(f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}", "", "this machine's clock"),
        },
        "the backend does not tell it",
    )
    table = processed.table(frame, formulas, facts)
    kept = {
        (str(b), str(s)): tables.frame_to_csv(part)
        for (b, s), part in table.groupby(["Backend", "Scenario"], sort=False)
    }
    made = bundle.create(out, info, facts, payload, samples.check(frame), kept)
    return Collected(made, info.id, counts)


def _backends(todo: Sequence[Step]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(step.backend for step in todo))


def _plain(plan: SuitePlan) -> dict[str, Any]:
    return json.loads(json.dumps({"benchmarks": asdict(plan)["benchmarks"], "quick": plan.quick}))  # type: ignore[no-any-return]


def _read(step: Step, plan: SuitePlan, folder: Path) -> Iterator[pd.DataFrame]:
    """Read what one step left: its samples, and a row for each region that has none."""
    answer = json.loads((folder / _DONE).read_bytes())
    source = f"data/{step.folder}"
    if "state" in answer:
        lines = [{**line, **answer} for line in _planned(step, plan)]
        yield _named(_absent(lines, f"{source}/{drive.LOG}", step), step)
        return
    if step.backend == "cupti":
        yield _named(cupti_activity.read(folder, source).frame, step)
        return
    if step.backend == "torch":
        yield _named(torch_trace.read(folder / torch_profiler.TRACE, f"{source}/{torch_profiler.TRACE}").frame, step)
    elif (folder / ncu.REPORT).is_file():
        yield _named(ncu_rep.read(folder / ncu.REPORT, f"{source}/{ncu.REPORT}").frame, step)
    lines = [json.loads(line) for line in (folder / worker.RUNS).read_text().splitlines()]
    bad = [{**line, "line": number} for number, line in enumerate(lines, 1) if line["state"] != "ok"]
    if bad:
        yield _named(_absent(bad, f"{source}/{worker.RUNS}", step), step)


def _planned(step: Step, plan: SuitePlan) -> Iterator[dict[str, Any]]:
    for bench in plan.benchmarks:
        if plans.measures(bench, step):
            for run in range(bench.runs):
                for _, params in bench.configs:
                    yield {"benchmark": bench.name, "annotation": "", "params": dict(params), "run": run, "line": 1}


def _absent(lines: Sequence[Mapping[str, Any]], source: str, step: Step) -> pd.DataFrame:
    names = dict.fromkeys(name for line in lines for name in line["params"])
    data: dict[str, Any] = {
        "backend": step.backend,
        "workload": "operator" if step.backend == "torch" else "kernel",
        f"{samples.PARAM}benchmark": [json.dumps(line["benchmark"]) for line in lines],
        **{samples.PARAM + name: [line["params"].get(name, "") for line in lines] for name in names},
        "annotation": [line["annotation"] for line in lines],
        "run": [line["run"] for line in lines],
        "metric": _MAIN[step.backend],
        "unit": "ns",
        "state": [line["state"] for line in lines],
        "reason": [line["reason"] for line in lines],
        "source": [f"{source}#L{line['line']}" for line in lines],
    }
    return samples.make({"process": step.process, **data}, len(lines))


def _named(frame: pd.DataFrame, step: Step) -> pd.DataFrame:
    """Give samples their benchmark, which the range's message carries as a parameter, their scenario and process."""
    carried = f"{samples.PARAM}benchmark"
    data: dict[str, Any] = {name: frame[name].array for name in frame.columns if name != carried}
    if carried in frame.columns:
        data["benchmark"] = (
            frame[carried].astype("object").map(lambda text: json.loads(text) if text else "").to_numpy()
        )
    data |= {"scenario": step.scenario, "process": step.process}
    return samples.make(data, len(frame))
