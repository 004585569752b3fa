"""Run the worker in a child process: with a log, a time limit, and nothing left behind when it dies."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import reportgen
from reportgen.collect import plan as plans
from reportgen.collect import worker
from reportgen.collect.plan import Step, SuitePlan
from reportgen.evidence import write
from reportgen.evidence.errors import UserError

LOG, JOB, COMMAND = "log.txt", "job.json", "command.json"
_PLAN_TIMEOUT = 120.0
_LOOK_EVERY_S = 0.5
_PR_SET_PDEATHSIG = 1
_PRCTL = ctypes.CDLL(None).prctl if sys.platform == "linux" else None
Watch = Callable[[int], None]  # is told, now and then, how many runs of configurations are done
Wrap = Callable[[Sequence[str]], list[str]]


class StepFailed(Exception):
    """A child process that ended badly: what happened, in one line."""


def check(suite: Path) -> None:
    """Raise `UserError` unless there is a suite at this path."""
    if not suite.is_file():
        raise UserError(suite, "there is no such suite", "check the path")


def plan(suite: Path, quick: bool) -> SuitePlan:
    """Have a child load the suite and return its plan; raises `UserError` that names the file, the place and the mend."""
    check(suite)
    with write.scratch_folder() as folder:
        job = {"mode": "plan", "suite": str(suite.absolute()), "quick": quick, "folder": str(folder)}
        try:
            answer = run(job, folder, _PLAN_TIMEOUT)
        except StepFailed as error:
            raise UserError(
                suite, f"loading the suite failed: {error}", "a suite must load quickly and on its own"
            ) from None
    return plans.from_json(answer["plan"])


def measure(
    step: Step,
    suite: Path,
    plan: SuitePlan,
    annotation: str,
    order: str,
    folder: Path,
    timeout: float,
    wrap: Wrap | None = None,
    watch: Watch | None = None,
    sass: str = "none",
) -> dict[str, Any]:
    """Run one step of a collection, leaving its raw files in `folder`; raises `StepFailed`.

    `wrap` makes the command that profiles the worker from the worker's own.
    """
    places = {"suite": str(suite.absolute()), "folder": str(folder.absolute())}
    return run({**job_of(step, suite, plan, annotation, order, sass), **places}, folder, timeout, wrap, watch)


def job_of(step: Step, suite: Path, plan: SuitePlan, annotation: str, order: str, sass: str = "none") -> dict[str, Any]:
    """Return what is asked of a step, without the places of things; `code` is the digest of the suite's source.

    `sass` is ncu's alone: what another backend measured is the same without it.
    """
    code = hashlib.sha256()
    for name in (suite.name, *plan.files):
        code.update(hashlib.sha256(b"".join(write.read_chunks(suite.parent / name))).digest())
    return {
        "mode": "run",
        "code": code.hexdigest(),
        "plan": asdict(plan),
        "backend": step.backend,
        "scenario": step.scenario,
        "process": step.process,
        "repetition": step.repetition,
        "mode_of_ncu": asdict(step.mode),
        "annotation": annotation,
        "order": order,
        "sass": sass if step.backend == "ncu" else "none",
    }


def suite_of(job: Path) -> str:
    """Return the name of the suite that a job's file is of, empty where the file is damaged."""
    plan = _mapping(job).get("plan")
    return str(plan.get("suite", "")) if isinstance(plan, dict) else ""


def did(folder: Path, job: Mapping[str, Any]) -> bool:
    """Tell whether what lies in `folder` was measured by just this job."""
    done = _mapping(folder / JOB)
    asked: dict[str, Any] = json.loads(json.dumps(job))
    return {name: done.get(name) for name in asked} == asked


def derive(suite: Path, asked: Sequence[Mapping[str, Any]], timeout: float) -> list[tuple[str, float | str]]:
    """Have a child evaluate the suite's own functions; return a state and a value (or a reason) for each of `asked`."""
    with write.scratch_folder() as folder:
        job = {"mode": "derive", "suite": str(suite.absolute()), "folder": str(folder), "asked": list(asked)}
        answer = run(job, folder, timeout)
    return [(state, value) for state, value in answer["values"]]


def run(
    job: Mapping[str, Any], folder: Path, timeout: float, wrap: Wrap | None = None, watch: Watch | None = None
) -> dict[str, Any]:
    """Run the worker on `job` within `timeout` seconds and return its answer; its output is kept as `log.txt`."""
    write.write_file(folder / JOB, json.dumps(job))
    command = [sys.executable, "-P", "-m", "reportgen.collect.worker", str((folder / JOB).absolute())]
    whole = command if wrap is None else wrap(command)
    write.write_file(folder / COMMAND, json.dumps({"command": whole}, indent=1) + "\n")
    code, output = _child(whole, timeout, folder, watch)
    write.write_file(folder / LOG, output)
    answer = _mapping(folder / worker.ANSWER)
    if "error" in answer:
        raise UserError(job["suite"], answer["error"], "mend the suite")
    if code != 0 or not answer:
        raise StepFailed(_why(code, output, timeout))
    return dict(answer)


def _mapping(path: Path) -> dict[str, Any]:
    """Return the JSON mapping that the worker left, nothing where it left none or none that is whole."""
    try:
        return dict(json.loads(path.read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return {}


def _child(command: Sequence[str], timeout: float, folder: Path, watch: Watch | None) -> tuple[int | None, bytes]:
    """Run a command in a session of its own, so that whatever it started is stopped with it; None for a time-out.

    It writes to a file: the end of a pipe would have to be waited for as long as anything that it started holds it open.
    """
    own = str(Path(reportgen.__file__).resolve().parent.parent)
    paths = dict.fromkeys(path for path in (*sys.path, own) if path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}
    with write.scratch_file() as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
            preexec_fn=_end_with_parent,  # noqa: PLW1509 - it is one call of the system
        )
        try:
            code = _wait(process, timeout, folder / worker.PROGRESS, watch)
        finally:
            _stop(process)
            process.wait()
        log.seek(0)
        return code, log.read()


def _wait(process: subprocess.Popen[bytes], timeout: float, progress: Path, watch: Watch | None) -> int | None:
    end = time.monotonic() + timeout
    while True:
        try:
            return process.wait(max(0.0, min(_LOOK_EVERY_S, end - time.monotonic())))
        except subprocess.TimeoutExpired:
            if watch is not None:
                watch(write.Tally.read(progress))
            if time.monotonic() >= end:
                return None


def _end_with_parent() -> None:
    """Have the system kill this process when its parent dies: nobody would stop it, and `--resume` runs another in its place."""
    if _PRCTL is not None:
        _PRCTL(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a process and whatever else is in its session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _why(code: int | None, output: bytes, timeout: float) -> str:
    last = next((line for line in reversed(output.decode("utf-8", "replace").splitlines()) if line.strip()), "")
    said = f"; it last said: {' '.join(last.split())[:200]}" if last else ""
    if code is None:
        return f"it was stopped after {timeout:g} s{said}"
    if code < 0:
        name = signal.Signals(-code).name if -code in {s.value for s in signal.Signals} else str(-code)
        return f"it was killed by {name}{said}"
    return f"it ended with exit code {code} before it had done all{said}"
