"""Traces of `torch.profiler`, made by hand: what belongs to which region and operator, worked out on paper."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reportgen.evidence.errors import ReadError
from reportgen.readers import torch_trace
from reportgen.readers.torch_trace import CALLS, DEVICE_TIME, MEMORY, SELF_TIME

Event = dict[str, Any]
REGION = 'fp32|benchmark="f"|n=8|run=0'


def span(name: str, start: float, end: float, cat: str = "cpu_op", tid: int = 1, external: int | None = None) -> Event:
    """Make an event from `start` to `end`, in microseconds as a trace has them."""
    args = {} if external is None else {"External id": external}
    return {"ph": "X", "cat": cat, "name": name, "pid": 9, "tid": tid, "ts": start, "dur": end - start, "args": args}


def region(start: float, end: float, message: str = REGION) -> Event:
    return span(torch_trace.mark(message), start, end, "user_annotation")


def memory(at: float, size: int, tid: int = 1) -> Event:
    return {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 9, "tid": tid, "ts": at} | {
        "args": {"Bytes": size}
    }


def read(folder: Path, *events: Any, **whole: Any) -> pd.DataFrame:
    path = folder / "trace.json"
    path.write_text(json.dumps({"traceEvents": events, **whole}))
    return torch_trace.read(path, "data/torch/continuous/0/trace.json").frame


def values(frame: pd.DataFrame, metric: str) -> dict[str, float]:
    """Return the metric by operator, of the only region."""
    rows = frame[frame["metric"] == metric]
    assert rows["kernel"].is_unique
    return dict(zip(rows["kernel"], rows["value"], strict=True))


def test_self_times_leave_out_what_ran_inside_and_add_up(tmp_path: Path) -> None:
    frame = read(
        tmp_path,
        region(0, 100),
        span("aten::linear", 10, 60),  # 50, less 30 + 5 directly inside it
        span("aten::addmm", 15, 45),  # 30, less 20
        span("aten::mm", 20, 40),
        span("aten::view", 50, 55),
    )

    assert values(frame, SELF_TIME) == {
        "aten::linear": 15_000.0,
        "aten::addmm": 10_000.0,
        "aten::mm": 20_000.0,
        "aten::view": 5_000.0,
    }
    assert sum(values(frame, SELF_TIME).values()) == 50_000.0
    assert set(frame[frame["metric"] == SELF_TIME]["unit"]) == {"ns"}


def test_calls_of_one_operator_are_counted_and_their_times_add(tmp_path: Path) -> None:
    frame = read(tmp_path, region(0, 100), *(span("aten::mm", at, at + 5) for at in (10, 20, 30)))

    assert values(frame, CALLS) == {"aten::mm": 3.0}
    assert values(frame, SELF_TIME) == {"aten::mm": 15_000.0}
    assert list(frame["source"].unique()) == ["data/torch/continuous/0/trace.json#1"]


def test_an_operator_belongs_to_the_region_in_which_it_began_on_any_thread(tmp_path: Path) -> None:
    frame = read(
        tmp_path,
        span("before", 0, 9),
        region(10, 20),
        region(30, 40, REGION.replace("run=0", "run=1")),
        span("first", 12, 18, tid=2),
        span("between", 20, 29),
        span("second", 39, 45),
    )
    times = frame[frame["metric"] == SELF_TIME]

    assert list(zip(times["run"], times["kernel"], strict=True)) == [(0, "first"), (1, "second")]


def test_an_operator_on_another_thread_is_inside_none(tmp_path: Path) -> None:
    frame = read(tmp_path, region(0, 100), span("forward", 10, 60), span("backward", 20, 50, tid=2))

    assert values(frame, SELF_TIME) == {"forward": 50_000.0, "backward": 30_000.0}


def test_a_region_says_its_annotation_parameters_and_run(tmp_path: Path) -> None:
    message = 'größe|benchmark="f"|word="a\\u007cb"|run=3'
    frame = read(tmp_path, region(0, 10, message), span("aten::mm", 1, 2))

    assert set(frame["annotation"]) == {"größe"}
    assert set(frame["param:benchmark"]) == {'"f"'}
    assert set(frame["param:word"]) == {'"a|b"'}
    assert set(frame["run"]) == {3}
    assert set(zip(frame["backend"], frame["workload"], strict=True)) == {("torch", "operator")}


def test_a_kernels_time_is_that_of_the_operator_with_its_external_id(tmp_path: Path) -> None:
    frame = read(
        tmp_path,
        region(0, 100),
        span("aten::matmul", 10, 60, external=1),
        span("aten::mm", 20, 50, external=2),
        span("sgemm", 200, 270, "kernel", external=2),  # long after: the device is asynchronous
        span("splitk", 270, 280, "kernel", external=2),
        span("Memcpy HtoD", 190, 194, "gpu_memcpy", external=1),
        span("Memset", 194, 195, "gpu_memset", external=1),
        span("elsewhere", 300, 400, "kernel", external=99),
        span("nobody's", 400, 500, "kernel"),
    )

    assert values(frame, DEVICE_TIME) == {"aten::matmul": 5_000.0, "aten::mm": 80_000.0}
    assert values(frame, SELF_TIME) == {"aten::matmul": 20_000.0, "aten::mm": 30_000.0}


def test_what_an_operator_outside_of_regions_launched_counts_for_none(tmp_path: Path) -> None:
    frame = read(
        tmp_path,
        span("aten::fill_", 0, 5, external=1),
        region(10, 20),
        span("aten::mm", 11, 12, external=2),
        span("fill", 11, 13, "kernel", external=1),
    )

    assert values(frame, DEVICE_TIME) == {"aten::mm": 0.0}


def test_without_a_device_there_are_no_device_times(tmp_path: Path) -> None:
    frame = read(tmp_path, region(0, 10), span("aten::mm", 1, 2, external=1))

    assert set(frame["metric"]) == {SELF_TIME, CALLS}


def test_memory_is_that_of_the_innermost_operator_of_its_thread_at_that_time(tmp_path: Path) -> None:
    frame = read(
        tmp_path,
        region(0, 100),
        span("aten::matmul", 10, 60),
        span("aten::empty", 20, 30),
        span("aten::mul", 65, 70, tid=2),
        memory(5, 1),  # before any operator: nobody's
        memory(25, 4096),
        memory(30, 64),  # at its very end
        memory(40, -1024),  # after the inner one ended
        memory(67, 2, tid=2),
        memory(67, 8),  # no operator of this thread is open
        memory(67, 16, tid=3),
    )

    assert values(frame, MEMORY) == {"aten::matmul": -1024.0, "aten::empty": 4160.0, "aten::mul": 2.0}
    assert set(frame[frame["metric"] == MEMORY]["unit"]) == {"byte"}


def test_a_trace_names_its_device(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    events = [region(0, 10), span("aten::mm", 1, 2)]
    path.write_text(json.dumps({"traceEvents": events, "deviceProperties": [{"name": "NVIDIA H200"}]}))

    assert torch_trace.read(path, "x").facts == {"gpu.name": "NVIDIA H200"}


def test_events_that_are_none_are_passed_over(tmp_path: Path) -> None:
    odd = [None, 3, {}, {"cat": "cpu_op"}, {"cat": "cpu_op", "ph": "X", "ts": "x"}, {"name": "[memory]", "args": None}]
    bare = [{"cat": "kernel", "ph": "X", "args": None}, {"cat": "cpu_op", "ph": "X", "ts": 1.0, "args": None}]
    frame = read(tmp_path, *odd, *bare, region(0, 10), span("aten::mm", 1, 2))

    assert values(frame, SELF_TIME)["aten::mm"] == 1000.0


@pytest.mark.parametrize(
    ("contents", "says"),
    [
        ("{", "not a whole JSON file"),
        ("[]", "not a chrome trace"),
        ('{"traceEvents": {}}', "not a chrome trace"),
        ('{"traceEvents": []}', "no measured region"),
    ],
)
def test_what_is_no_trace_of_regions_says_so(tmp_path: Path, contents: str, says: str) -> None:
    path = tmp_path / "trace.json"
    path.write_text(contents)
    with pytest.raises(ReadError, match=says):
        torch_trace.read(path, "x")


def test_a_mark_that_is_no_message_of_ours_is_no_region(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no measured region"):
        read(tmp_path, span("Optimizer.step", 0, 10, "user_annotation"), span("aten::mm", 1, 2))


def test_memory_freed_outside_any_operator_costs_no_search_through_all_that_ran_before(tmp_path: Path) -> None:
    def seconds(count: int) -> float:
        calls = [span("aten::mm", 10 * i, 10 * i + 5) for i in range(count)]
        frees = [memory(10 * i + 7, -8) for i in range(count)]
        begin = time.process_time()
        read(tmp_path, region(0, 10 * count), *calls, *frees)
        return time.process_time() - begin

    seconds(100)
    assert seconds(16_000) < 8 * seconds(4_000)  # four times as many; it was sixteen times as long
