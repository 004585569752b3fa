from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from reportgen.evidence import sensed, throttle
from reportgen.evidence.bundle import open_bundle
from reportgen.evidence.sensed import Process, Reading, Region, Sensed
from tests.evidence import making

COOL = {"sm_clock_hz": 1.98e9, "memory_clock_hz": 3.2e9, "power_w": 120.5, "temperature_c": 34.0, "throttle": 0.0}
HOT = {"sm_clock_hz": 1.5e9, "memory_clock_hz": 3.2e9, "power_w": 690.0, "temperature_c": 71.0, "throttle": 4.0}
LINE = {"benchmark": "b", "annotation": "a", "params": {"n": "8"}, "run": 0, "process": 1, "state": "ok", "reason": ""}


def read(tmp_path: Path, runs: list[Any], done: Any = None) -> Sensed:
    text = "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in runs)
    payload: dict[str, bytes | Path] = {"cupti/default/1/runs.jsonl": text.encode()}
    if done is not None:
        payload["cupti/default/1/done.json"] = json.dumps(done).encode()
    return sensed.read(open_bundle(making.make(tmp_path, payload=payload)))


def test_regions_are_read_in_order_with_what_was_sensed_around_them(tmp_path: Path) -> None:
    line = {**LINE, "region": True, "before": COOL, "after": HOT, "start": 100, "end": 250}
    got = read(tmp_path, [line, {**line, "run": 1}])
    cool, hot = Reading(1.98e9, 3.2e9, 120.5, 34.0, 0), Reading(1.5e9, 3.2e9, 690.0, 71.0, 4)
    assert got.regions[0] == Region("cupti", "default", 1, "b", "a", {"n": "8"}, 0, cool, hot, 100.0, 250.0)
    assert [region.run for region in got.regions] == [0, 1]


@pytest.mark.parametrize(
    "line",
    [
        "not JSON",
        "[1]",
        {**LINE, "metric": "temperature"},  # a collector's line: no region
        {**LINE, "region": True, "state": "failed"},
        {**LINE, "region": True, "params": 3},
        {**LINE, "region": True, "run": "0"},
    ],
)
def test_what_is_no_region_that_ran_says_nothing(tmp_path: Path, line: Any) -> None:
    assert read(tmp_path, [line]).regions == ()


def test_what_a_sensor_did_not_say_is_not_known_and_never_0(tmp_path: Path) -> None:
    got = read(tmp_path, [{**LINE, "region": True, "after": {"power_w": "much", "temperature_c": True}}])
    (region,) = got.regions
    assert all(math.isnan(value) for value in (region.after.power_w, region.after.temperature_c, region.start))
    assert region.before.throttle is None


def test_a_process_says_how_long_it_took(tmp_path: Path) -> None:
    got = read(tmp_path, [], {"start": 10.0, "end": 14.5, "regions": 250, "before": COOL})
    (process,) = got.processes
    assert (process.backend, process.scenario, process.process) == ("cupti", "default", 1)
    assert (process.seconds, process.regions, process.before.power_w) == (4.5, 250, 120.5)
    assert isinstance(process, Process)


@pytest.mark.parametrize("done", [{}, {"state": "failed"}, {"start": 3, "end": 2, "regions": 1}, [1]])
def test_a_process_that_did_not_end_well_says_nothing(tmp_path: Path, done: Any) -> None:
    assert read(tmp_path, [], done).processes == ()


def test_an_imported_bundle_has_none(tmp_path: Path) -> None:
    assert sensed.read(open_bundle(making.make(tmp_path))) == Sensed()


def test_only_what_holds_a_busy_gpu_back_slows_it() -> None:
    assert throttle.slowing(throttle.in_words([0x1, 0x2])) == ()
    assert throttle.slowing(throttle.in_words([0x1, 0x4, 0x40])) == ("software power cap", "hardware thermal slowdown")
