"""Read a bundle's raw evidence again: the samples that its reports, records and imported files give, whatever its tables say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from reportgen.collect import plan as plans
from reportgen.evidence import samples
from reportgen.evidence.bundle import Bundle
from reportgen.evidence.errors import UserError
from reportgen.workflow import ingest, recorded
from reportgen.workflow import steps as step_results


@dataclass(frozen=True, slots=True)
class Fault:
    """A raw file that cannot be read again, or does not say what was made of it."""

    file: str
    what: str


@dataclass(frozen=True)
class Again:
    """The samples that the raw files give, from so many of them."""

    frame: pd.DataFrame
    files: int
    faults: tuple[Fault, ...] = ()


def read(bundle: Bundle) -> Again:
    """Read the raw files of a bundle, which must have been verified: it is read from where it lies."""
    if "files" in bundle.info.plan:
        return _imported(bundle)
    return _collected(bundle)


def _imported(bundle: Bundle) -> Again:
    scenarios = {name.split("/")[3] for name in bundle.digests if name.startswith("data/samples/")}
    faults: list[Fault] = []
    files: list[ingest.Sampled] = []
    listed = list(_listed(bundle.info.plan["files"]))
    for name, kind, benchmark in listed:
        own = bundle.info.suite if len(listed) == 1 else ingest.stem(Path(name))
        try:
            files.append(ingest.sampled(bundle.path, name, kind, benchmark or own))
        except (UserError, OSError) as error:
            faults.append(Fault(f"data/{name}", f"cannot be read again: {_why(error)}"))
    if not files:
        return Again(samples.make({"value": []}, 0), 0, tuple(faults))
    # One policy holds for all that was imported together.
    frame = ingest.joined(files, bundle.info.suite, min(scenarios, default=""))
    return Again(frame, len(files), tuple(faults))


def _listed(files: Any) -> Iterator[tuple[str, str, str]]:
    """Yield the name, kind and benchmark of each imported file that was sampled; early bundles do not say the benchmark."""
    for file in files if isinstance(files, list) else ():
        if isinstance(file, dict) and file.get("use") == "sampled":
            yield str(file.get("name")), str(file.get("kind")), str(file.get("benchmark", ""))


def _collected(bundle: Bundle) -> Again:
    try:
        plan = plans.kept(bundle.info)
        backends = [str(backend) for backend in bundle.info.plan.get("backends", ())]
        todo = plans.steps(plan, backends, ())
    except (KeyError, UserError) as error:
        return Again(samples.make({"value": []}, 0), 0, (Fault("data/bundle.json", _why(error)),))
    frames, faults = [], []
    for step in todo:
        folder = bundle.path / "data" / step.folder
        try:
            if step_results.outcome(folder) is None:
                raise UserError(None, f"there is no {step_results.DONE} that says how it ended")
            frames.append(step_results.read(step, plan, folder).frame)
        except (UserError, OSError) as error:
            faults.append(Fault(f"data/{step.folder}", f"cannot be read again: {_why(error)}"))
    frame = samples.concat(frames)
    frame["suite"] = samples.constant_text(plan.suite, len(frame))
    own, wrong = _own(bundle, plan, frame)
    frame = samples.concat([frame, own]) if len(own) else frame
    files = sum(name.startswith(tuple(f"data/{step.folder}/" for step in todo)) for name in bundle.digests)
    return Again(frame, files, (*faults, *wrong))


def _own(bundle: Bundle, plan: plans.SuitePlan, frame: pd.DataFrame) -> tuple[pd.DataFrame, list[Fault]]:
    """Read the answers of the suite's own functions; what they were asked is made again, and must be what was kept."""
    empty = samples.make({"value": []}, 0)
    if samples.RECORDED not in bundle.digests:
        return empty, []
    asked = recorded.questions(plan, frame)
    lines = bundle.read(samples.RECORDED).splitlines()
    if len(lines) != len(asked.lines):
        return empty, [Fault(samples.RECORDED, f"it holds {len(lines)} lines where {len(asked.lines)} were asked")]
    answers: list[recorded.Answer] = []
    for number, (text, question) in enumerate(zip(lines, asked.lines, strict=True), 1):
        try:
            line = dict(json.loads(text))
            answers.append((line.pop("state"), line.pop("value")))
        except (KeyError, TypeError, ValueError):
            return empty, [Fault(f"{samples.RECORDED}#L{number}", "it is no answer of a function of the suite")]
        if line != json.loads(json.dumps(question)):
            return empty, [Fault(f"{samples.RECORDED}#L{number}", "it does not say what the raw evidence gives")]
    return recorded.answered(asked, answers), []


def _why(error: Exception) -> str:
    return error.what if isinstance(error, UserError) else str(error)
