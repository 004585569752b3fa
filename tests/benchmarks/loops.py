"""What reading is compared with, in a process of its own: a bare loop through ncu_report, or nsight-python's extraction.

    python loops.py bare|named|nsight REPORT METRICS WARM_UP

METRICS is a JSON list, or null for all. Prints JSON: seconds on the clock, seconds of CPU, and how many values were read.
The process reads WARM_UP before, so that imports and ncu_report's first launch (which loads a library) are not counted.
A process reads one report, since ncu_report never gives the memory of a launch back.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any


def bare(path: str, metrics: list[str] | None) -> int:
    """Read every value and unit into memory, by the fastest way that ncu_report has."""
    return _loop(path, metrics, lambda action: None)


def named(path: str, metrics: list[str] | None) -> int:
    """Read as `bare` does, and what says of which launch the values are: its name and the ranges that it ran in."""
    names: list[Any] = []

    def name(action: Any) -> None:
        state = action.nvtx_state()
        domains = [state.domain_by_id(number) for number in state.domains()]
        ranges = [(d.name(), d.push_pop_ranges(), d.start_end_ranges()) for d in domains]
        names.append((action.name(action.NameBase_DEMANGLED), ranges))

    return _loop(path, metrics, name)


def _loop(path: str, metrics: list[str] | None, besides: Callable[[Any], None]) -> int:
    import ncu_report

    values: list[Any] = []
    units: list[str] = []
    context = ncu_report.load_report(path)
    for range_index in range(context.num_ranges()):
        found = context.range_by_idx(range_index)
        for action_index in range(found.num_actions()):
            action = found.action_by_idx(action_index)
            for name in action.metric_names() if metrics is None else metrics:
                metric = action.metric_by_name(name)
                values.append(metric.value())
                units.append(metric.unit())
            besides(action)
    return len(values)


def nsight(path: str, metrics: list[str] | None) -> int:
    """Read as nsight-python does after it has profiled, by the function that it calls then."""
    os.environ["NSPY_NCU_INIT_AT_IMPORT"] = "0"  # else importing it looks for an installed ncu to attach
    from nsight import extraction, utils

    assert metrics is not None
    # It looks only at ranges of its own domain; the ranges of our reports are in another.
    utils.NVTX_DOMAIN = "bench"
    # In our reports each range's message names a configuration and a run, so that each is an annotation with one run.
    frame = extraction.extract_df_from_report(
        path,
        metrics,
        configs=[(0,)],
        iterations=1,
        func=lambda n: None,
        derive_metric=None,
        ignore_kernel_list=None,
        verbosity=utils.VerbosityLevel.SILENT,
        combine_kernel_metrics=lambda first, second: first + second,
    )
    return len(frame)


def main() -> None:
    """Warm up, read once, print what it took."""
    way, path, metrics, warm_up = sys.argv[1:]
    read: Callable[[str, list[str] | None], int] = {"bare": bare, "named": named, "nsight": nsight}[way]
    wanted = json.loads(metrics)
    read(warm_up, ["gpu__time_duration.sum"])
    clock, cpu = time.perf_counter(), time.process_time()
    count = read(path, wanted)
    print(json.dumps({"wall": time.perf_counter() - clock, "cpu": time.process_time() - cpu, "values": count}))


if __name__ == "__main__":
    main()
