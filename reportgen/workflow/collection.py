"""Collect: run a suite's plan step by step, read what it left, and make one bundle of it.

Work in progress lies in `DIR/.partial-<plan digest>/`. A step that is whole there is not run again by `--resume`; a child that
dies or hangs costs its own step, whose regions are then `dropped` with the reason, and which `--resume` measures again, as it
does one whose counters were not permitted.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial as bind
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from reportgen.analysis import derive, processed
from reportgen.collect import doctor, drive, ncu, ncu_log, ncu_options, preflight, scenarios
from reportgen.collect import plan as plans
from reportgen.collect.drive import StepFailed
from reportgen.collect.ncu import Profiling
from reportgen.collect.plan import Selection, Step, SuitePlan
from reportgen.collect.probe import Probe
from reportgen.evidence import bundle, samples, tables, write
from reportgen.evidence.bundle import START, BundleInfo, Formula, Status
from reportgen.evidence.errors import ReadError, UserError
from reportgen.evidence.samples import Samples
from reportgen.suite import BACKENDS
from reportgen.workflow import conditions, formulas, recorded
from reportgen.workflow import steps as step_results
from reportgen.workflow.formulas import Lack
from reportgen.workflow.steps import DONE, KEPT

_BEGUN = "begun"
_RESERVED = ("benchmark", "run", "time", "annotation", derive.RATED_BANDWIDTH)


class Progress(Protocol):
    """What is told how far a collection is."""

    def step(self, number: int, count: int, name: str, runs: int) -> None:
        """A step begins: `runs` of configurations are to be done in it."""

    def done(self, runs: int) -> None:
        """So many runs of the step are done."""

    def say(self, line: str) -> None:
        """Something of the step is worth a line."""

    def tell(self, line: str) -> None:
        """Something of the whole collection is worth a line."""


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
    sass: str = "none"
    command: str = ""


@dataclass(frozen=True, slots=True)
class Collected:
    """What a collection made: its bundle, how many samples are in each state, and the first reason of each that is not ok."""

    path: Path
    bundle_id: str
    states: Mapping[str, int]
    reasons: Mapping[str, str]
    resumable: bool

    @property
    def whole(self) -> bool:
        """Tell whether everything was measured or rightly skipped."""
        return all(state in ("ok", "skipped") for state, count in self.states.items() if count)


def collect(suite: Path, out: Path, asked: Asked, progress: Progress) -> Collected:
    """Measure the suite at `suite` and leave one bundle below `out`.

    Raises `UserError` for a suite or a wish that is wrong, `EnvironmentLacks` for what this machine has not.
    """
    _check_backends(asked.backends)
    drive.check(suite)
    preflight.check(asked.backends)
    plan = plans.narrow(drive.plan(suite, asked.quick), asked.select, asked.runs, asked.scenarios, asked.processes)
    derived = formulas.of_plan(suite, plan)
    _check_params(suite, plan)
    todo = plans.steps(plan, asked.backends, asked.scenarios)
    for name in (*plan.scenarios, *asked.scenarios):
        scenarios.policy(name)
    for backend in asked.backends:
        only = plans.ONLY_SCENARIO.get(backend, "")
        if only and asked.scenarios and only not in asked.scenarios:
            raise UserError(
                None, f"the backend '{backend}' measures the scenario '{only}' alone", f"use --scenario {only}"
            )
    partial = out / f"{write.PARTIAL}{plan.digest}"
    if partial.exists() and not asked.resume:
        with write.held(partial):
            write.remove_folder(partial)
    for other in _of_other_plans(out, plan):
        progress.tell(f"{other} is left from another plan of this suite, which --resume does not go on with: delete it")
    unknown = formulas.unknown(plan, derived, _source(suite, plan))
    for lack in unknown:
        progress.tell(f"{plan.suite}: {lack.line}")
    with write.held(partial):
        begun = _begin(partial)
        for index, step in enumerate(todo):
            _step(step, suite, plan, asked, partial, (index + 1, len(todo)), progress)
        _check_unchanged(suite, plan, asked, todo, partial)
        made = _bundle(suite, out, plan, derived, unknown, todo, partial, begun, asked.command, progress)
        if made.resumable:
            _forget_failed(todo, partial)
        else:
            write.remove_folder(partial)
    return made


def _check_backends(backends: Sequence[str]) -> None:
    for backend in backends:
        if backend not in BACKENDS:
            raise UserError(None, f"there is no backend '{backend}'", f"use one of {', '.join(BACKENDS)}")


def _check_params(suite: Path, plan: SuitePlan) -> None:
    for bench in plan.benchmarks:
        names = dict.fromkeys(name for config in bench.configs for name, _ in config.params)
        try:
            processed.check_names(list(names))
        except UserError as error:
            raise UserError(suite, f"benchmark {bench.name}: {error.what}", error.mend) from None
        for name in names:
            fault = "a name that reportgen itself uses" if name in _RESERVED else ""
            fault = fault or ("" if name.isidentifier() else "no name that Python takes")
            if fault:
                raise UserError(suite, f"benchmark {bench.name}: the parameter '{name}' has {fault}", "rename it")


def _source(suite: Path, plan: SuitePlan) -> str:
    """Return the text of all of a suite's files."""
    return "\n".join((suite.parent / name).read_text("utf-8", "replace") for name in (suite.name, *plan.files))


def _begin(partial: Path) -> str:
    """Return when the collection began; a resumed one began when it was first tried."""
    path = partial / _BEGUN
    if not path.is_file():
        write.write_file(path, f"{datetime.now(UTC):{START}}")
    return path.read_text()


def _step(
    step: Step, suite: Path, plan: SuitePlan, asked: Asked, partial: Path, number: tuple[int, int], progress: Progress
) -> None:
    folder = partial / step.folder
    progress.step(*number, step.folder, _runs(plan, step))
    answer: dict[str, Any] = _never(step)
    ended = step_results.outcome(folder)
    if not answer and ended is not None and not ended.again:
        if drive.did(folder, _job(step, suite, plan, asked)):
            progress.say("whole already")
            return
        progress.say("the suite, or what is asked of it, is not what it was: measured again")
    write.remove_folder(folder)
    write.make_folder(folder)
    if not answer:
        answer = _measure(step, suite, plan, asked, folder, progress)
    if answer.get("state"):
        progress.say(f"{answer['state']}: {answer['reason']}")
    else:
        for problem in step_results.complaints(step, folder):
            progress.say(problem.line)
    write.write_file(folder / DONE, json.dumps(answer))


def _of_other_plans(out: Path, plan: SuitePlan) -> Iterator[Path]:
    """Yield the work in progress in `out` that is of this suite and of another plan."""
    for folder in sorted(out.glob(f"{write.PARTIAL}*")):
        job = next(folder.glob(f"*/*/*/{drive.JOB}"), None)
        if job is None or folder.name == f"{write.PARTIAL}{plan.digest}" or drive.suite_of(job) != plan.suite:
            continue
        with contextlib.suppress(UserError), write.held(folder):  # another process is at work in one that is held
            yield folder


def _job(step: Step, suite: Path, plan: SuitePlan, asked: Asked) -> dict[str, Any]:
    return drive.job_of(step, suite, plan, asked.select.annotation if asked.select else "", asked.order, asked.sass)


def _check_unchanged(suite: Path, plan: SuitePlan, asked: Asked, todo: Sequence[Step], partial: Path) -> None:
    """Hold every step against the suite as it is now, which is what the bundle will keep."""
    measured = [step for step in todo if (partial / step.folder / drive.JOB).is_file()]
    if not all(drive.did(partial / step.folder, _job(step, suite, plan, asked)) for step in measured):
        mend = "the same command with --resume measures again what is of before the change"
        raise UserError(suite, "it was changed while it was measured", mend)


def _runs(plan: SuitePlan, step: Step) -> int:
    return sum(b.warmup + c.runs for b in plan.benchmarks if plans.measures(b, step) for c in b.configs)


def _never(step: Step) -> dict[str, str]:
    """Return the state and reason of a step that cannot be measured here at all, else nothing."""
    if step.backend == "torch" or scenarios.policy(step.scenario).clocks == "free":
        return {}
    reason = scenarios.clocks_lockable()
    if step.backend == "cupti" and not reason and not scenarios.locked():
        reason = "CUPTI sets no clocks, and they are not locked already (nvidia-smi --lock-gpu-clocks does it)"
    return {"state": "skipped", "reason": reason} if reason else {}


def _measure(
    step: Step, suite: Path, plan: SuitePlan, asked: Asked, folder: Path, progress: Progress
) -> dict[str, Any]:
    wrap, path = None, ""
    facts: dict[str, str] = {}
    if step.backend == "ncu":
        path = ncu.find()
        offered = ncu_options.offered(path)
        facts["versions.ncu"] = offered.version
        mode = step.mode
        profiling = Profiling(path, step.scenario, mode.metrics, mode.replay, mode.graphs, asked.sass)
        wrap = bind(ncu.command, profiling, offered, folder.absolute())
    annotation = asked.select.annotation if asked.select else ""
    died = ""
    try:
        answer = drive.measure(
            step, suite, plan, annotation, asked.order, folder, asked.timeout, wrap, progress.done, asked.sass
        )
        answer["facts"] |= facts
    except StepFailed as error:
        died = str(error)
        answer = {"state": "dropped", "reason": died}
    if step.backend == "ncu" and not (folder / ncu.REPORT).is_file() and answer.get("regions", 1):
        log = (folder / drive.LOG).read_text("utf-8", "replace")
        state, reason = ncu_log.why_no_report(log, doctor.known(path, Probe()))
        unexplained = died and reason == ncu_log.UNEXPLAINED
        answer = {"state": state, "reason": died if unexplained else reason}
    return answer


def _bundle(
    suite: Path,
    out: Path,
    plan: SuitePlan,
    derived: tuple[Formula, ...],
    unknown: tuple[Lack, ...],
    todo: Sequence[Step],
    partial: Path,
    begun: str,
    command: str,
    progress: Progress,
) -> Collected:
    read = [_read(step, plan, partial / step.folder) for step in todo]
    frame = samples.concat([one.frame for one in read])
    if frame.empty:
        write.remove_folder(partial)
        raise UserError(
            suite, "no region was reached", "check the annotation's name in --select, and that the suite has one"
        )
    frame["suite"] = samples.constant_text(plan.suite, len(frame))
    given, own = _own_functions(suite, plan, frame, partial)
    frame = samples.concat([frame, given]) if len(given) else frame
    told = {key: value for one in reversed(read) for key, value in one.facts.items()}
    facts = conditions.of(suite, plan, todo, partial, begun, frame, told, command)
    rated = bool(processed.of_the_machine(facts))
    lacks = [lack.line for lack in formulas.absent(plan, derived, frame, rated, unknown)]
    for line in (*formulas.without_baseline(plan, frame), *lacks):
        progress.tell(f"{plan.suite}: {line}")
    counts = {str(k): int(v) for k, v in frame["state"].astype("object").value_counts().items()}
    status: Status = "complete" if set(counts) <= {"ok", "skipped"} else "partial"
    info = BundleInfo(
        plan.suite,
        plan.title,
        begun,
        status,
        losses=tuple(dict.fromkeys(loss for one in read for loss in one.losses)),
        plan={"backends": list(dict.fromkeys(step.backend for step in todo)), **_plain(plan)},
        formulas=derived,
        question=plan.question,
        prose=plan.prose,
    )
    table = processed.table(frame, derived, facts)
    kept = {
        (str(b), str(s)): tables.frame_to_csv(part)
        for (b, s), part in table.groupby(["Backend", "Scenario"], sort=False)
    }
    sources = {f"suite/{name}": suite.parent / name for name in (suite.name, *plan.files)}
    payload = {**sources, **own} | {
        f"{step.folder}/{name}": partial / step.folder / name
        for step in todo
        for name in (*KEPT, DONE)
        if (partial / step.folder / name).is_file()
    }
    made = bundle.create(out, info, facts, payload, samples.check(frame), kept)
    resumable = any(found.again for step in todo if (found := step_results.outcome(partial / step.folder)) is not None)
    bad = frame[~frame["state"].isin(["ok", "skipped"])].astype({"state": "object", "reason": "object"})
    return Collected(made, info.id, counts, dict(bad.groupby("state")["reason"].first()), resumable)


def _read(step: Step, plan: SuitePlan, folder: Path) -> Samples:
    """Read what a step left; where that is damaged it costs this step alone, which `--resume` measures again."""
    try:
        return step_results.read(step, plan, folder)
    except (ReadError, FileNotFoundError) as error:
        what = error.what if isinstance(error, ReadError) else f"{Path(error.filename).name} is not there"
        write.write_file(
            folder / DONE, json.dumps({"state": "dropped", "reason": f"what it left cannot be read: {what}"})
        )
        return step_results.read(step, plan, folder)


def _forget_failed(todo: Sequence[Step], partial: Path) -> None:
    """Leave what is whole for `--resume`; the bundle that it makes began when it is taken up again."""
    for step in todo:
        found = step_results.outcome(partial / step.folder)
        if found is not None and found.again:
            write.remove_folder(partial / step.folder)
    write.remove_file(partial / _BEGUN)


def _plain(plan: SuitePlan) -> dict[str, Any]:
    whole = json.loads(json.dumps({"benchmarks": asdict(plan)["benchmarks"], "quick": plan.quick}))
    return dict(whole)


def _own_functions(
    suite: Path, plan: SuitePlan, frame: pd.DataFrame, partial: Path
) -> tuple[pd.DataFrame, dict[str, Path]]:
    """Have the suite's own functions evaluated over the times of all runs; the values are samples, kept as recorded."""
    if all(formula.formula for bench in plan.benchmarks for formula in bench.derive):
        return samples.make({"value": []}, 0), {}
    asked = recorded.questions(plan, frame)
    answers: list[recorded.Answer]
    try:
        answers = drive.derive(suite, asked.lines, 600.0)
    except StepFailed as error:
        answers = [("failed", f"the suite's own functions could not be evaluated: {error}")] * len(asked.lines)
    path = partial / Path(samples.RECORDED).name
    lines = [{**one, "state": s, "value": v} for one, (s, v) in zip(asked.lines, answers, strict=True)]
    write.write_file(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return recorded.answered(asked, answers), {path.name: path} if lines else {}
