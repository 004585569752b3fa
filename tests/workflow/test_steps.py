"""What a step left, as samples: with the real files of `tests/data/probe`, and with lines and traces made by hand."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reportgen.analysis import combine
from reportgen.collect import drive, ncu, torch_profiler, worker
from reportgen.collect.plan import PlannedBenchmark, PlannedConfig, Step, SuitePlan
from reportgen.evidence import samples
from reportgen.evidence.errors import ReadError
from reportgen.readers import cupti_activity, runs, torch_trace
from reportgen.workflow import steps

PROBE = Path(__file__).parent.parent / "data" / "probe"
TIME = "gpu__time_duration.sum"
SPLITK, FILL = "splitKreduce|split_k", "FillFunctor"
NCU, CUPTI, TORCH = Step("ncu", "default", 2), Step("cupti", "default", 2), Step("torch", "continuous", 2)


def bench(name: str = "cases", configs: Sequence[tuple[str, int]] = (("1024", 5),), **over: Any) -> PlannedBenchmark:
    """Plan a benchmark with configurations of `n` and how often each runs."""
    given: dict[str, Any] = {
        "title": "",
        "processes": None,
        "warmup": 1,
        "metrics": (),
        "derive": (),
        "normalize_against": "",
        "scenarios": ("default",),
        "heat": "burst",
        "thermal": "off",
        "ignore": (),
        "replay": "kernel",
        "graphs": "node",
        **over,
    }
    planned = tuple(PlannedConfig(i, (("n", n),), count) for i, (n, count) in enumerate(configs))
    return PlannedBenchmark(name=name, configs=planned, **given)


def plan(*benchmarks: PlannedBenchmark) -> SuitePlan:
    return SuitePlan("probe", "Probe", benchmarks, quick=False, collectors=0, files=())


def done(folder: Path, **whole: Any) -> Path:
    (folder / steps.DONE).write_text(json.dumps(whole))
    return folder


def answer(folder: Path) -> Path:
    """Leave what a worker that did its work answers."""
    return done(folder, start=1.0, end=2.0, regions=1, facts={"dropped": 0}, before={}, after={})


@pytest.fixture
def probe(tmp_path: Path) -> Path:
    """Return a copy of the real files of one step under either backend."""
    folder = answer(Path(shutil.copytree(PROBE, tmp_path / "probe")))
    (folder / "report.ncu-repz").rename(folder / ncu.REPORT)
    return folder


def change(folder: Path, how: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Rewrite each line of `runs.jsonl`."""
    path = folder / runs.RUNS
    path.write_text("".join(json.dumps(how(json.loads(line))) + "\n" for line in path.read_text().splitlines()))


def times(frame: pd.DataFrame, metric: str = TIME) -> pd.DataFrame:
    return frame[(frame["metric"] == metric).to_numpy()]


# --- a step that ended as a whole


def test_a_step_that_has_not_ended_has_no_outcome(tmp_path: Path) -> None:
    assert steps.outcome(tmp_path) is None


@pytest.mark.parametrize(("state", "again"), [("dropped", True), ("skipped", False), ("not permitted", True)])
def test_only_what_may_come_out_otherwise_is_measured_again(tmp_path: Path, state: str, *, again: bool) -> None:
    found = steps.outcome(done(tmp_path, state=state, reason="why"))

    assert found is not None
    assert (found.state, found.reason, found.again) == (state, "why", again)


def test_a_step_that_died_leaves_a_row_for_each_run_that_was_planned(tmp_path: Path) -> None:
    (tmp_path / drive.LOG).write_text("Killed\n")
    done(tmp_path, state="dropped", reason="it was killed by SIGKILL")
    planned = plan(bench("f", [("8", 2), ("16", 1)]), bench("other", scenarios=("strict",)))

    frame = steps.read(CUPTI, planned, tmp_path).frame

    assert list(zip(frame["benchmark"], frame["param:n"], frame["run"], strict=True)) == [
        *(("f", "8", 0), ("f", "8", 1), ("f", "16", 0)),
    ]
    assert set(zip(frame["state"], frame["reason"], strict=True)) == {("dropped", "it was killed by SIGKILL")}
    assert set(zip(frame["metric"], frame["unit"], strict=True)) == {(TIME, "ns")}
    assert set(zip(frame["backend"], frame["scenario"], frame["process"], strict=True)) == {("cupti", "default", 2)}
    assert set(frame["source"]) == {"data/cupti/default/2/log.txt#L1"}


def test_a_step_that_was_never_started_is_skipped_and_its_source_is_that_decision(tmp_path: Path) -> None:
    done(tmp_path, state="skipped", reason="clocks are left alone")
    frame = steps.read(NCU, plan(bench()), tmp_path).frame

    assert set(zip(frame["state"], frame["reason"], strict=True)) == {("skipped", "clocks are left alone")}
    assert list(frame["run"]) == [0, 1, 2, 3, 4]
    assert set(frame["source"]) == {"data/ncu/default/2/done.json#L1"}


@pytest.mark.parametrize(
    ("step", "metric", "workload"),
    [(NCU, TIME, "kernel"), (CUPTI, TIME, "kernel"), (TORCH, "self_cpu_time_total", "operator")],
)
def test_what_is_absent_stands_under_its_backends_time(tmp_path: Path, step: Step, metric: str, workload: str) -> None:
    done(tmp_path, state="dropped", reason="why")
    frame = steps.read(step, plan(bench()), tmp_path).frame

    assert set(zip(frame["metric"], frame["workload"], strict=True)) == {(metric, workload)}


# --- the real step


def test_the_benchmark_comes_with_the_message_and_the_process_with_the_step(probe: Path) -> None:
    for step in (NCU, CUPTI):
        frame = steps.read(step, plan(bench()), probe).frame
        assert set(frame["benchmark"]) == {"cases"}
        assert set(frame["process"]) == {2}
        assert set(frame["scenario"]) == {"default"}
        assert samples.param_columns(frame) == ["param:n"]


def test_a_region_without_a_kernel_is_dropped_under_ncu_and_says_why(probe: Path) -> None:
    found = times(steps.read(NCU, plan(bench()), probe).frame)
    dropped = found[found["state"] == "dropped"]

    assert sorted(zip(dropped["annotation"], dropped["run"], strict=True)) == [
        (name, run) for name in ("memcpy", "nothing") for run in range(5)
    ]
    assert set(dropped["reason"]) == {steps.NO_KERNEL}
    lines = [json.loads(text) for text in (probe / runs.RUNS).read_text().splitlines()]
    place = 1 + next(i for i, line in enumerate(lines) if (line["annotation"], line["run"]) == ("memcpy", 3))
    of_it = dropped[(dropped["annotation"] == "memcpy") & (dropped["run"] == 3)]
    assert list(of_it["source"]) == [f"data/ncu/default/2/{runs.RUNS}#L{place}"]
    assert set(found[found["state"] == "ok"]["annotation"]) == {"backward", "streams", "splitk"}


def test_what_ncu_complained_of_beside_a_report_is_a_loss_of_its_step(probe: Path) -> None:
    slow = "==WARNING== Backing up device memory in system memory. Kernel replay might be slow.\n"
    (probe / drive.LOG).write_text(
        "==WARNING== Note: Running with unmodified GPU clocks.\n" + slow + "==ERROR== LaunchFailed\n" * 2
    )

    assert steps.read(NCU, plan(bench()), probe).losses == ("ncu/default/2: ncu: LaunchFailed (2 times)",)
    assert [one.line for one in steps.complaints(NCU, probe)] == [
        "ncu: Backing up device memory in system memory. Kernel replay might be slow.",
        "ncu: LaunchFailed (2 times)",
    ]
    assert steps.read(CUPTI, plan(bench()), probe).losses == ()


def test_a_report_of_nothing_leaves_the_lines(probe: Path) -> None:
    (probe / ncu.REPORT).unlink()
    change(probe, lambda line: {**line, "state": "skipped", "reason": "not here"})

    frame = steps.read(NCU, plan(bench()), probe).frame

    assert len(frame) == 25
    assert set(zip(frame["state"], frame["reason"], strict=True)) == {("skipped", "not here")}


def test_the_suites_own_values_stand_beside_the_report(probe: Path) -> None:
    change(probe, lambda line: {**line, "recorded": [["error", line["run"] / 8, ""]]})

    for step in (NCU, CUPTI):
        frame = times(steps.read(step, plan(bench()), probe).frame, "error")
        assert len(frame) == 25
        assert sorted(set(frame["value"])) == [0.0, 0.125, 0.25, 0.375, 0.5]
        assert set(frame["benchmark"]) == {"cases"}


def test_what_nvml_read_after_a_region_stands_beside_it_under_its_own_workload(probe: Path) -> None:
    change(probe, lambda line: {**line, "after": {"power_w": 80.0 + line["run"], "temperature_c": 33.0}})
    frame = steps.read(NCU, plan(bench()), probe).frame
    power = times(frame, "nvml__power")
    measured = times(frame)

    assert set(power["unit"]) == {"W"}
    assert set(times(frame, "nvml__temperature")["value"]) == {33.0}
    assert list(power["value"]) == [80.0 + run for run in power["run"]]
    seen = {
        (a, r) for a, r, s in zip(measured["annotation"], measured["run"], measured["state"], strict=True) if s == "ok"
    }
    assert {(a, r) for a, r in zip(power["annotation"], power["run"], strict=True)} == seen
    assert set(power["workload"]) == {"kernel"}


def test_what_nvml_read_after_a_region_that_ncu_saw_nothing_of_is_of_nothing(probe: Path) -> None:
    change(probe, lambda line: {**line, "after": {"power_w": 80.0}, "state": "failed", "reason": "x"})
    assert not len(times(steps.read(NCU, plan(bench()), probe).frame, "nvml__power"))


def test_a_region_that_failed_keeps_nothing_of_what_its_kernels_said(probe: Path) -> None:
    """What ran before the exception is a part of the region, and a part of a sum is not the sum."""

    def failed(line: dict[str, Any]) -> dict[str, Any]:
        broken = (line["annotation"], line["run"]) == ("splitk", 1)
        return {**line, **({"state": "failed", "reason": "ValueError: broken"} if broken else {})}

    change(probe, failed)
    for step in (NCU, CUPTI):
        frame = steps.read(step, plan(bench()), probe).frame
        mine = frame[(frame["annotation"] == "splitk") & (frame["run"] == 1)]
        assert list(zip(mine["metric"], mine["state"], mine["reason"], strict=True)) == [
            (TIME, "failed", "ValueError: broken")
        ]


# --- ignored kernels


@pytest.mark.parametrize("step", [NCU, CUPTI])
def test_an_ignored_kernel_is_marked_and_left_out_of_its_regions_sum(probe: Path, step: Step) -> None:
    whole = times(steps.read(step, plan(bench()), probe).frame)
    whole = whole[(whole["annotation"] == "backward") & (whole["run"] == 0)]
    marked = times(steps.read(step, plan(bench(ignore=("nothing", FILL))), probe).frame)
    mine = marked[(marked["annotation"] == "backward") & (marked["run"] == 0)]

    assert list(mine["state"]) == ["skipped", "ok", "ok"]
    assert mine["reason"].iloc[0] == combine.IGNORED
    per_run = combine.per_run(marked)
    of_run = per_run[(per_run["annotation"] == "backward") & (per_run["run"] == 0)]
    assert list(of_run["value"]) == [sum(whole["value"].iloc[1:])]
    assert list(of_run["kernels"]) == [2]
    assert list(of_run["state"]) == ["ok"]


def test_a_region_whose_kernels_are_all_ignored_is_skipped_and_says_so(probe: Path) -> None:
    frame = times(steps.read(CUPTI, plan(bench(ignore=("memcpy",))), probe).frame)
    per_run = combine.per_run(frame)
    copies = per_run[per_run["annotation"] == "memcpy"]

    assert list(zip(copies["state"], copies["reason"], strict=True)) == [("skipped", combine.IGNORED)] * 5
    assert copies["value"].isna().all()


def test_a_benchmark_ignores_in_itself_alone(probe: Path) -> None:
    planned = plan(bench(), bench("other", ignore=(FILL,)))

    assert combine.IGNORED not in set(steps.read(CUPTI, planned, probe).frame["reason"])


# --- torch


def traced(folder: Path, *events: dict[str, Any]) -> None:
    (folder / torch_profiler.TRACE).write_text(json.dumps({"traceEvents": events}))


def event(name: str, start: int, cat: str = "cpu_op") -> dict[str, Any]:
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": 5}


def region(run: int, start: int) -> dict[str, Any]:
    return event(torch_trace.mark(f'a|benchmark="f"|n=8|run={run}'), start, "user_annotation")


def line(run: int, **over: Any) -> str:
    head = {"benchmark": "f", "annotation": "a", "params": {"n": "8"}, "run": run, "process": 2}
    return json.dumps({**head, "state": "ok", "reason": "", "region": True, **over}) + "\n"


def test_operators_have_their_benchmark_process_and_scenario(tmp_path: Path) -> None:
    answer(tmp_path)
    traced(tmp_path, region(0, 10), event("aten::mm", 11))
    (tmp_path / runs.RUNS).write_text(line(0, recorded=[["error", 0.5, ""]]))

    frame = steps.read(TORCH, plan(bench("f", [("8", 1)])), tmp_path).frame

    place = {"f", "continuous", 2, "8"}
    assert {v for n in ("benchmark", "scenario", "process", "param:n") for v in set(frame[n])} == place
    assert list(times(frame, torch_trace.SELF_TIME)["value"]) == [5000.0]
    assert list(times(frame, "error")["workload"]) == ["operator"]


def test_a_region_without_an_operator_does_not_vanish(tmp_path: Path) -> None:
    answer(tmp_path)
    traced(tmp_path, region(0, 10), event("aten::mm", 11), region(1, 20))
    (tmp_path / runs.RUNS).write_text(line(0) + line(1))

    found = times(steps.read(TORCH, plan(bench("f", [("8", 2)])), tmp_path).frame, torch_trace.SELF_TIME)

    assert list(zip(found["run"], found["state"], strict=True)) == [(0, "ok"), (1, "dropped")]


def test_a_suite_that_reaches_no_region_under_torch_leaves_its_failures(tmp_path: Path) -> None:
    answer(tmp_path)
    traced(tmp_path, event("aten::rand", 1))
    (tmp_path / runs.RUNS).write_text(line(0, annotation="", state="failed", reason="MemoryError: out of memory"))

    frame = steps.read(TORCH, plan(bench("f", [("8", 1)])), tmp_path).frame

    assert list(zip(frame["state"], frame["reason"], strict=True)) == [("failed", "MemoryError: out of memory")]


def test_what_is_kept_of_a_step_is_what_its_backends_leave() -> None:
    assert {runs.RUNS, ncu.REPORT, cupti_activity.ACTIVITY, torch_profiler.TRACE, drive.LOG, drive.COMMAND} <= set(
        steps.KEPT
    )


def test_the_workers_answer_is_kept_once() -> None:
    """What a step ended with holds all of it."""
    assert worker.ANSWER not in steps.KEPT


def test_a_report_that_holds_no_region_of_the_suite_is_not_taken_for_what_was_measured(probe: Path) -> None:
    shutil.copyfile(PROBE.parent / "thread.ncu-rep", probe / ncu.REPORT)
    with pytest.raises(ReadError, match="none of the suite's regions"):
        steps.read(NCU, plan(bench()), probe)


def test_a_launch_outside_of_every_region_is_of_none() -> None:
    data = {"param:benchmark": ["", '"cases"'], "param:n": ["", "1"], "annotation": ["", "a"], "run": [pd.NA, 0]}
    frame = samples.make({**data, "metric": TIME, "value": [1.0, 1.0], "state": "ok", "source": "x"}, 2)

    assert list(steps._regions(frame)) == ["", json.dumps(["cases", "a", 0, [["n", "1"]]])]


def test_a_file_that_lacks_lines_is_damaged(tmp_path: Path) -> None:
    (tmp_path / runs.RUNS).write_bytes(b"")
    done(tmp_path, lines=2, facts={})
    with pytest.raises(ReadError, match="it holds 0 lines of 2"):
        steps.read(TORCH, plan(bench()), tmp_path)
