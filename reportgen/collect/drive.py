"""Run the worker in a child process: with a log, a time limit, and nothing left behind when it dies."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from reportgen.collect import ncu
from reportgen.collect import plan as plans
from reportgen.collect.plan import Step, SuitePlan
from reportgen.evidence import write
from reportgen.evidence.errors import UserError

LOG, JOB, ANSWER = "log.txt", "job.json", "answer.json"
_PLAN_TIMEOUT = 120.0


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
    step: Step, suite: Path, plan: SuitePlan, annotation: str, order: str, folder: Path, timeout: float
) -> dict[str, Any]:
    """Run one step of a collection, leaving its raw files in `folder`; raises `StepFailed`."""
    job = {
        "mode": "run",
        "suite": str(suite.absolute()),
        "folder": str(folder.absolute()),
        "plan": asdict(plan),
        "backend": step.backend,
        "scenario": step.scenario,
        "process": step.process,
        "annotation": annotation,
        "order": order,
    }
    wrap = None
    if step.backend == "ncu":
        metrics = [metric for bench in plan.benchmarks for metric in bench.metrics]
        wrap = partial(ncu.command, ncu.find(), step.scenario, metrics, folder.absolute())
    return run(job, folder, timeout, wrap)


Wrap = Callable[[Sequence[str]], list[str]]


def run(job: Mapping[str, Any], folder: Path, timeout: float, wrap: Wrap | None = None) -> dict[str, Any]:
    """Run the worker on `job` within `timeout` seconds and return its answer; its output is kept as `log.txt`."""
    write.write_file(folder / JOB, json.dumps(job))
    command = [sys.executable, "-P", "-m", "reportgen.collect.worker", str((folder / JOB).absolute())]
    code, output = _child(command if wrap is None else wrap(command), timeout)
    write.write_file(folder / LOG, output)
    answered = folder / ANSWER
    answer = json.loads(answered.read_bytes()) if answered.is_file() else {}
    if "error" in answer:
        raise UserError(job["suite"], answer["error"], "mend the suite")
    if code != 0 or not answer:
        raise StepFailed(_why(code, output, timeout))
    return dict(answer)


def _child(command: list[str], timeout: float) -> tuple[int | None, bytes]:
    """Run a command in a session of its own, so that whatever it started is stopped with it; None for a time-out."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=timeout)
        return process.returncode, output
    except subprocess.TimeoutExpired:
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
