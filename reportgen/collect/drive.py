"""Run the worker in a child process: with a log, a time limit, and nothing left behind when it dies."""

from __future__ import annotations

import contextlib
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
Watch = Callable[[int], None]  # is told, now and then, how many runs of configurations are done
Wrap = Callable[[Sequence[str]], list[str]]


class StepFailed(Exception):
    """A child process that ended badly: what happened, in one line."""


def plan(suite: Path, quick: bool) -> SuitePlan:
    """Have a child load the suite and return its plan; raises `UserError` that names the file, the place and the mend."""
    if not suite.is_file():
        raise UserError(suite, "there is no such suite", "check the path")
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
) -> dict[str, Any]:
    """Run one step of a collection, leaving its raw files in `folder`; raises `StepFailed`.

    `wrap` makes the command that profiles the worker from the worker's own.
    """
    job = {
        "mode": "run",
        "suite": str(suite.absolute()),
        "folder": str(folder.absolute()),
        "plan": asdict(plan),
        "backend": step.backend,
        "scenario": step.scenario,
        "process": step.process,
        "mode_of_ncu": asdict(step.mode),
        "annotation": annotation,
        "order": order,
    }
    return run(job, folder, timeout, wrap, watch)


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
    code, output = _child(whole, timeout, folder / worker.PROGRESS, watch)
    write.write_file(folder / LOG, output)
    answered = folder / worker.ANSWER
    answer = json.loads(answered.read_bytes()) if answered.is_file() else {}
    if "error" in answer:
        raise UserError(job["suite"], answer["error"], "mend the suite")
    if code != 0 or not answer:
        raise StepFailed(_why(code, output, timeout))
    return dict(answer)


def _child(command: Sequence[str], timeout: float, progress: Path, watch: Watch | None) -> tuple[int | None, bytes]:
    """Run a command in a session of its own, so that whatever it started is stopped with it; None for a time-out."""
    own = str(Path(reportgen.__file__).resolve().parent.parent)
    paths = dict.fromkeys(path for path in (*sys.path, own) if path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        start_new_session=True,
    )
    end = time.monotonic() + timeout
    try:
        while True:
            try:
                output, _ = process.communicate(timeout=max(0.0, min(_LOOK_EVERY_S, end - time.monotonic())))
                return process.returncode, output
            except subprocess.TimeoutExpired:
                if watch is not None:
                    watch(write.Tally.read(progress))
                if time.monotonic() >= end:
                    _stop(process)
                    return None, process.communicate()[0]
    except BaseException:
        _stop(process)
        process.wait()
        raise


def _stop(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _why(code: int | None, output: bytes, timeout: float) -> str:
    last = next((line for line in reversed(output.decode("utf-8", "replace").splitlines()) if line.strip()), "")
    said = f"; it last said: {' '.join(last.split())[:200]}" if last else ""
    if code is None:
        return f"it was stopped after {timeout:g} s{said}"
    if code < 0:
        name = signal.Signals(-code).name if -code in {s.value for s in signal.Signals} else str(-code)
        return f"it was killed by {name}{said}"
    return f"it ended with exit code {code}{said}"
