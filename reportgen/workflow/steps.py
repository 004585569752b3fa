"""What one step of a collection left, as samples: its measurements, and a row for everything planned that has none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reportgen.analysis import combine, derive
from reportgen.collect import drive, ncu, ncu_log, torch_profiler
from reportgen.collect import plan as plans
from reportgen.collect.plan import Step, SuitePlan
from reportgen.evidence import samples, tables
from reportgen.evidence.errors import ReadError
from reportgen.evidence.samples import PARAM, Samples
from reportgen.readers import cupti_activity, ncu_rep, runs, torch_trace

DONE = "done.json"
KEPT = (
    *(runs.RUNS, drive.LOG, drive.COMMAND),
    *(torch_profiler.TRACE, ncu.REPORT, cupti_activity.ACTIVITY, cupti_activity.ACTIVITY + tables.COMPRESSED),
)
MAIN = {"torch": torch_trace.SELF_TIME, "ncu": derive.TIME, "cupti": derive.TIME}
NO_KERNEL = "ncu profiled no kernel in this region: copies and fills, which CUPTI sees, are none to it"
NOTHING = {"ncu": NO_KERNEL, "torch": "torch.profiler saw no operator in this region"}
_CARRIED = f"{PARAM}benchmark"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a step ended: with a state and a reason for all of it, or with the worker's answer."""

    state: str
    reason: str
    answer: Mapping[str, Any]

    @property
    def again(self) -> bool:
        """Tell whether `--resume` should measure it again: a child that died, or counters that the host may have freed since.

        What can never be measured here is not tried again.
        """
        return self.state in {"dropped", "not permitted"}


def outcome(folder: Path) -> Outcome | None:
    """Return how the step in `folder` ended, None if it has not or what says so is damaged."""
    try:
        whole = dict(json.loads((folder / DONE).read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    return Outcome(whole.get("state", ""), whole.get("reason", ""), whole)


UNFILLED = "a section brought this metric, and ncu gave it no value; some need the kernel's code (--sass all)"


def read(step: Step, plan: SuitePlan, folder: Path) -> Samples:
    """Read the samples of one step from what it left in `folder`; `facts` and `losses` are those of its files."""
    ended = outcome(folder)
    assert ended is not None
    source = f"data/{step.folder}"
    if ended.state:
        place = f"{source}/{drive.LOG if (folder / drive.LOG).is_file() else DONE}"
        planned = [{**line, "state": ended.state, "reason": ended.reason} for line in _planned(step, plan)]
        return Samples(_with_step(_absent(planned, place, step), step))
    lines = runs.lines(folder / runs.RUNS)
    if len(lines) != (count := ended.answer.get("lines", len(lines))):
        raise ReadError(folder / runs.RUNS, f"it holds {len(lines)} lines of {count}", "collect again")
    found = _measured(step, folder, source, ended, lines)
    frames = [found.frame]
    if step.backend != "cupti":
        if len(found.frame) and _CARRIED not in found.frame.columns:
            raise ReadError(folder, "the profiler's file holds none of the suite's regions", "collect again")
        absent = [line for line in lines if "region" in line and line["state"] != "ok"]
        regions = _regions(found.frame)
        # What ran before a region failed is a part of it, and a part of a sum is not the sum.
        frames = [found.frame[~regions.isin([_region(line) for line in absent])]]
        frames += _beside(lines, dict(zip(regions, found.frame["workload"], strict=True)), step, source)
        absent += list(_unseen(lines, set(regions), NOTHING[step.backend]))
        if absent:
            frames.append(_absent(absent, f"{source}/{runs.RUNS}", step))
    whole = samples.concat([_with_step(frame, step) for frame in frames if len(frame)])
    lost = tuple(f"{step.folder}: {one.line}" for one in complaints(step, folder) if one.loss)
    return Samples(_without_ignored(_unasked(whole, plan), plan), found.facts, found.losses + lost)


def complaints(step: Step, folder: Path) -> tuple[ncu_log.Problem, ...]:
    """Return what ncu complained of in a step although it left a report, none for another backend."""
    if step.backend != "ncu" or not all((folder / name).is_file() for name in (ncu.REPORT, drive.LOG)):
        return ()
    return ncu_log.problems((folder / drive.LOG).read_text("utf-8", "replace"))


def _measured(step: Step, folder: Path, source: str, ended: Outcome, lines: Sequence[Mapping[str, Any]]) -> Samples:
    if step.backend == "cupti":
        return cupti_activity.read(folder, source, cupti_activity.told(ended.answer["facts"]))
    if step.backend == "torch" and any(line.get("region") and line["annotation"] for line in lines):
        return torch_trace.read(folder / torch_profiler.TRACE, f"{source}/{torch_profiler.TRACE}")
    if step.backend == "torch" or not (folder / ncu.REPORT).is_file():  # every region was skipped or failed
        return Samples(samples.make({"value": []}, 0))
    return ncu_rep.read(folder / ncu.REPORT, f"{source}/{ncu.REPORT}")


def _workload(step: Step) -> str:
    if step.backend == "torch":
        return "operator"
    return "range" if step.backend == "ncu" and step.mode.replay == "range" else "kernel"


def _planned(step: Step, plan: SuitePlan) -> Iterator[dict[str, Any]]:
    for bench in plan.benchmarks:
        if plans.measures(bench, step):
            for config in bench.configs:
                head = {"benchmark": bench.name, "annotation": "", "params": dict(config.params), "place": "L1"}
                yield from ({**head, "run": run} for run in range(config.runs))


def _region(line: Mapping[str, Any]) -> str:
    """Return what tells the region of a line from others, in one text."""
    params = sorted((name, value) for name, value in line["params"].items() if value)
    return json.dumps([line["benchmark"], line["annotation"], line["run"], params])


def _regions(frame: pd.DataFrame) -> pd.Series[Any]:
    """Return for each row of a backend's own table the region that it is of, as `_region` has it."""
    names = [name for name in frame.columns if name.startswith(PARAM) and name != _CARRIED]
    places = frame[[_CARRIED, "annotation", "run", *names] if len(frame) else []].astype("object")
    rows = list(places.itertuples(index=False, name=None))
    known = {row: _region_of(names, row) for row in dict.fromkeys(rows)}
    return pd.Series([known[row] for row in rows], index=places.index if rows else None, dtype="object")


def _region_of(names: Sequence[str], row: Sequence[Any]) -> str:
    """Return the region of one row's place; nothing for a row that is of no region of ours."""
    benchmark, annotation, run, *values = row
    if not benchmark:
        return ""
    params = dict(zip([name.removeprefix(PARAM) for name in names], values, strict=True))
    return _region({"benchmark": json.loads(benchmark), "annotation": annotation, "run": int(run), "params": params})


def _beside(
    lines: Sequence[Mapping[str, Any]], workloads: Mapping[str, str], step: Step, source: str
) -> Iterator[pd.DataFrame]:
    """Yield what the suite recorded and what NVML read beside the regions, each with the workload of its region."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        seen = workloads.get(_region(line)) if "region" in line else None
        made = rows.setdefault(seen or _workload(step), [])
        made += runs.recorded([line], source)
        made += runs.sensed(line, source) if seen else ()
    yield from (runs.frame(made, step.backend, workload) for workload, made in rows.items() if made)


def _unseen(lines: Iterable[Mapping[str, Any]], seen: set[str], reason: str) -> Iterator[dict[str, Any]]:
    """Yield the regions that ran and of which the backend holds nothing."""
    for line in lines:
        if "region" in line and line["state"] == "ok" and _region(line) not in seen:
            yield {**line, "state": "dropped", "reason": reason}


def _absent(lines: Sequence[Mapping[str, Any]], source: str, step: Step) -> pd.DataFrame:
    metric = {"metric": MAIN[step.backend], "unit": "ns"}
    rows = [
        {**runs.identity({"process": step.process, **line}), **metric, "source": f"{source}#{line['place']}"}
        | {"state": line["state"], "reason": line["reason"]}
        for line in lines
    ]
    return runs.frame(rows, step.backend, _workload(step))


def _with_step(frame: pd.DataFrame, step: Step) -> pd.DataFrame:
    """Give samples their benchmark, which a range's message carries as a parameter, their scenario and process."""
    data: dict[str, Any] = {name: frame[name].array for name in frame.columns if name != _CARRIED}
    if _CARRIED in frame.columns:
        texts = frame[_CARRIED].astype("object")
        data["benchmark"] = texts.map(lambda text: json.loads(text) if text else "").to_numpy()
    data |= {"scenario": step.scenario, "process": step.process}
    return samples.make(data, len(frame))


def _unasked(frame: pd.DataFrame, plan: SuitePlan) -> pd.DataFrame:
    """Mark as skipped what ncu gave no value to, where one of its sections brought the metric and nobody asked for it."""
    asked = {*ncu.ALWAYS, *(metric for bench in plan.benchmarks for metric in bench.metrics)}
    empty = (frame["reason"] == ncu_rep.NO_VALUE).to_numpy() & ~frame["metric"].isin(asked).to_numpy()
    if not empty.any():
        return frame
    said = {
        name: np.where(empty, word, frame[name].astype("object").to_numpy())
        for name, word in (("state", "skipped"), ("reason", UNFILLED))
    }
    return samples.make({**{name: frame[name].array for name in frame.columns}, **said}, len(frame))


def _without_ignored(frame: pd.DataFrame, plan: SuitePlan) -> pd.DataFrame:
    """Mark the kernels that a benchmark ignores as skipped."""
    ignored = pd.Series(data=False, index=frame.index)
    for bench in plan.benchmarks:
        if bench.ignore:
            pattern = re.compile("|".join(f"(?:{one})" for one in bench.ignore))
            names = frame["kernel"].astype("object")
            known = {name: bool(name) and pattern.search(name) is not None for name in names.unique()}
            ignored |= (frame["benchmark"] == bench.name) & names.map(known) & (frame["state"] == "ok")
    if not ignored.any():
        return frame
    data: dict[str, Any] = {name: frame[name].array for name in frame.columns}
    data["value"] = frame["value"].where(~ignored)
    data["text"] = frame["text"].astype("object").where(~ignored, "")
    data["state"] = frame["state"].astype("object").where(~ignored, "skipped")
    data["reason"] = frame["reason"].astype("object").where(~ignored, combine.IGNORED)
    return samples.make(data, len(frame))
