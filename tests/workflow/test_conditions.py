"""The conditions of a collection: what the sensors said before, during and after, and what was done to caches and clocks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reportgen.collect import drive, machine, nvml
from reportgen.collect.plan import Mode, PlannedBenchmark, Step, SuitePlan
from reportgen.evidence import throttle
from reportgen.evidence.provenance import Fact, Provenance
from reportgen.readers import runs
from reportgen.workflow import conditions, steps
from tests.evidence import making

NCU, CUPTI, TORCH = Step("ncu", "default", 0), Step("cupti", "default", 0), Step("torch", "continuous", 0)
COOL = {"sm_clock_hz": 1.2e9, "memory_clock_hz": 3.2e9, "power_w": 100.0, "temperature_c": 40.0, "throttle": 1.0}
WARM = {"sm_clock_hz": 1.98e9, "memory_clock_hz": 3.2e9, "power_w": 400.5, "temperature_c": 61.0, "throttle": 0.0}
HOT = {"sm_clock_hz": 1.5e9, "memory_clock_hz": 3.2e9, "power_w": 700.0, "temperature_c": 80.0, "throttle": 36.0}


@pytest.fixture(autouse=True)
def _a_machine_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "facts", lambda suite: {"host.name": Fact("node", "", "the host")})
    monkeypatch.setattr(nvml, "facts", lambda: {"gpu.name": Fact("NVIDIA H200", "", "NVML")})


def bench(name: str, **over: Any) -> PlannedBenchmark:
    given: dict[str, Any] = {
        "title": "",
        "configs": (),
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
    return PlannedBenchmark(name=name, **given)


def left(folder: Path, step: Step, *lines: Mapping[str, Any], **answer: Any) -> None:
    """Leave what a step's process leaves: its answer, and a region for each of `lines`."""
    place = folder / step.folder
    place.mkdir(parents=True)
    whole = {"start": 10.0, "end": 12.5, "regions": 1, "facts": {}, "before": {}, "after": {}, **answer}
    (place / steps.DONE).write_text(json.dumps(whole))
    head = {"benchmark": "f", "annotation": "a", "params": {}, "run": 0, "process": 0, "state": "ok", "reason": ""}
    (place / runs.RUNS).write_text("".join(json.dumps({**head, "region": True, **line}) + "\n" for line in lines))


def ended(folder: Path, step: Step, state: str, reason: str = "why") -> None:
    (folder / step.folder).mkdir(parents=True)
    (folder / step.folder / steps.DONE).write_text(json.dumps({"state": state, "reason": reason}))


def of(
    folder: Path,
    *todo: Step,
    benchmarks: Sequence[PlannedBenchmark] = (bench("f"),),
    frame: pd.DataFrame | None = None,
    told: Mapping[str, str] | None = None,
) -> Provenance:
    plan = SuitePlan("mine", "Mine", tuple(benchmarks), quick=False, collectors=0, files=())
    table = making.table([]) if frame is None else frame
    return conditions.of(
        Path("mine.py"), plan, todo, folder, "20261130T211006Z", table, told or {}, "reportgen collect mine.py"
    )


def times(values: Sequence[float], backend: str = "cupti") -> pd.DataFrame:
    return making.table([{"value": value, "backend": backend, "run": run} for run, value in enumerate(values)])


def value(facts: Provenance, key: str) -> Any:
    return facts.get(key).value


def reason(facts: Provenance, key: str) -> str:
    found = facts.get(key)
    assert found.value is None
    return found.reason


# --- sensors


def test_sensors_are_told_before_during_and_after(tmp_path: Path) -> None:
    left(tmp_path, CUPTI, {"before": COOL, "after": WARM}, {"before": WARM, "after": HOT}, before=COOL, after=WARM)
    facts = of(tmp_path, CUPTI)

    assert [value(facts, f"power.{when}_w") for when in ("before", "during", "after")] == [100.0, "100 to 700", 400.5]
    assert [value(facts, f"temperature.{when}_c") for when in ("before", "during", "after")] == [40.0, "40 to 80", 61.0]
    assert value(facts, "clocks.sm_observed_hz") == "1200000000 to 1980000000"
    assert value(facts, "clocks.memory_observed_hz") == 3.2e9


def test_throttling_is_told_in_words_and_during_is_all_that_was_seen(tmp_path: Path) -> None:
    left(tmp_path, CUPTI, {"before": COOL, "after": WARM}, {"before": WARM, "after": HOT}, before=COOL, after=WARM)
    facts = of(tmp_path, CUPTI)

    assert value(facts, "throttle.before") == "idle"
    assert value(facts, "throttle.during") == "idle, software power cap, software thermal slowdown"
    assert value(facts, "throttle.after") == "none"


def test_before_is_of_the_first_process_and_after_of_the_last(tmp_path: Path) -> None:
    second = Step("cupti", "default", 1)
    left(tmp_path, CUPTI, {"before": COOL, "after": COOL}, before=COOL, after=WARM)
    left(tmp_path, second, {"before": HOT, "after": HOT}, before=WARM, after=HOT)
    facts = of(tmp_path, CUPTI, second)

    assert [value(facts, f"power.{when}_w") for when in ("before", "during", "after")] == [100.0, "100 to 700", 700.0]


def test_what_was_sensed_during_the_runs_is_not_mixed_over_backends_and_scenarios(tmp_path: Path) -> None:
    warm = Step("cupti", "continuous", 0)
    left(tmp_path, NCU, {"before": COOL, "after": COOL}, before=COOL, after=COOL)
    left(tmp_path, CUPTI, {"before": COOL, "after": WARM}, before=COOL, after=WARM)
    left(tmp_path, warm, {"before": WARM, "after": HOT}, {}, before=WARM, after=HOT)
    facts = of(tmp_path, NCU, CUPTI, warm)

    assert value(facts, "power.during_w") == (
        "default, ncu: 100; default, cupti: 100 to 400.5; continuous, cupti: 400.5 to 700"
    )
    assert value(facts, "temperature.during_c") == (
        "default, ncu: 40; default, cupti: 40 to 61; continuous, cupti: 61 to 80"
    )
    assert value(facts, "clocks.sm_observed_hz") == (
        "default, ncu: 1200000000; default, cupti: 1200000000 to 1980000000; "
        "continuous, cupti: 1500000000 to 1980000000"
    )
    assert value(facts, "throttle.during") == (
        "default, ncu: idle; default, cupti: idle; continuous, cupti: software power cap, software thermal slowdown"
    )
    assert value(facts, "clocks.memory_observed_hz") == 3.2e9
    assert [value(facts, f"power.{when}_w") for when in ("before", "after")] == [100.0, 700.0]


def test_a_backend_without_sensors_is_left_out_of_what_was_sensed(tmp_path: Path) -> None:
    left(tmp_path, NCU, {})
    left(tmp_path, CUPTI, {"before": COOL, "after": WARM})

    assert value(of(tmp_path, NCU, CUPTI), "power.during_w") == "100 to 400.5"


def test_without_sensors_nothing_is_made_up(tmp_path: Path) -> None:
    left(tmp_path, CUPTI, {})
    facts = of(tmp_path, CUPTI)

    keys = [f"{name}.{when}" for name in ("power", "temperature") for when in ("before", "during", "after")]
    for key in [k + ("_w" if k.startswith("power") else "_c") for k in keys] + [
        *("throttle.before", "throttle.during", "throttle.after", "clocks.sm_observed_hz", "clocks.memory_observed_hz")
    ]:
        assert reason(facts, key) == "no sensor was read: NVML was not there"


@pytest.mark.parametrize(
    ("masks", "words"),
    [
        ([], "none"),
        ([0, 0], "none"),
        ([0x4, 0x40, 0x4], "software power cap, hardware thermal slowdown"),
        ([0x2 | 0x1], "idle, clocks set by an application"),
        ([0x1000, 0x8], "hardware slowdown, unknown (0x1000)"),
    ],
)
def test_throttle_masks_are_words(masks: list[int], words: str) -> None:
    assert throttle.in_words(masks) == words


# --- policies


def test_the_caches_policy_is_told_for_each_scenario_and_backend(tmp_path: Path) -> None:
    warm = Step("ncu", "continuous", 0)
    for step in (NCU, warm, CUPTI, TORCH):
        left(tmp_path, step, {})
    facts = of(tmp_path, NCU, warm, CUPTI, TORCH)

    assert value(facts, "policy.cache") == (
        "default, ncu: flushed by ncu before each kernel and pass; "
        "continuous, ncu: kept; in several passes as replay restored it; "
        "default, cupti: flushed before each region by writing and reading four times L2; "
        "continuous, torch: kept"
    )
    assert value(facts, "policy.clocks") == "default: free; continuous: free"
    assert value(facts, "policy.flush_granularity") == "ncu: kernel and pass; cupti: region"


def test_locked_clocks_are_told(tmp_path: Path) -> None:
    strict = Step("ncu", "strict", 0)
    ended(tmp_path, strict, "skipped")
    assert value(of(tmp_path, strict), "policy.clocks") == "strict: base"


def test_heat_and_thermal_are_told_for_each_benchmark(tmp_path: Path) -> None:
    left(tmp_path, CUPTI, {})
    facts = of(tmp_path, CUPTI, benchmarks=[bench("f"), bench("g", heat="sustained", thermal="auto")])

    assert value(facts, "policy.heat") == "f: burst; g: sustained"
    assert value(facts, "policy.thermal") == "f: off; g: auto"


def test_replay_and_graphs_are_ncus_alone(tmp_path: Path) -> None:
    whole = Step("ncu", "default", 1, Mode("range", "graph"))
    for step in (NCU, whole, CUPTI):
        left(tmp_path, step, {})

    assert value(of(tmp_path, NCU, whole), "policy.replay") == (
        "kernel replay, graphs by node; range replay, graphs by graph"
    )
    assert reason(of(tmp_path, CUPTI), "policy.replay") == "ncu did not measure"


def test_a_warm_collection_flushed_nothing(tmp_path: Path) -> None:
    left(tmp_path, TORCH, {})
    assert reason(of(tmp_path, TORCH), "policy.flush_granularity") == "no cache was flushed"


def test_counters_were_permitted_when_ncu_measured(tmp_path: Path) -> None:
    left(tmp_path, NCU, {})
    assert value(of(tmp_path, NCU), "policy.counters_permitted") is True


def test_counters_that_were_refused_are_told(tmp_path: Path) -> None:
    ended(tmp_path, NCU, "not permitted", "ERR_NVGPUCTRPERM")
    assert value(of(tmp_path, NCU), "policy.counters_permitted") is False


@pytest.mark.parametrize("state", ["skipped", "dropped"])
def test_whether_counters_are_permitted_is_not_guessed_from_a_step_that_did_not_measure(
    tmp_path: Path, state: str
) -> None:
    ended(tmp_path, NCU, state)
    assert reason(of(tmp_path, NCU), "policy.counters_permitted") == "ncu did not measure"


def test_counters_are_no_matter_without_ncu(tmp_path: Path) -> None:
    left(tmp_path, CUPTI, {})
    assert reason(of(tmp_path, CUPTI), "policy.counters_permitted") == "ncu did not measure"


# --- ticks


def test_the_tick_is_the_greatest_common_divisor_of_a_backends_times(tmp_path: Path) -> None:
    left(tmp_path, CUPTI, {})
    facts = of(tmp_path, CUPTI, frame=times([32.0 * n for n in (3, 5, 7, 11, 13, 17, 19, 23)]))

    assert value(facts, "timer.cupti_tick_ns") == 32.0
    assert reason(facts, "timer.ncu_tick_ns") == "ncu did not measure"


def test_too_few_times_tell_no_tick(tmp_path: Path) -> None:
    left(tmp_path, CUPTI, {})
    facts = of(tmp_path, CUPTI, frame=times([32.0 * n for n in range(1, 8)]))

    assert reason(facts, "timer.cupti_tick_ns") == "too few times to estimate it from"


# --- commands, and the rest


def test_the_command_of_each_backends_first_step_is_told(tmp_path: Path) -> None:
    second = Step("ncu", "default", 1)
    for step, command in ((NCU, ["ncu", "-o", "x"]), (second, ["ncu", "-o", "y"]), (CUPTI, ["python", "-m", "w"])):
        left(tmp_path, step, {})
        (tmp_path / step.folder / drive.COMMAND).write_text(json.dumps({"command": command}))
    facts = of(tmp_path, NCU, second, CUPTI)

    assert value(facts, "command.profiler") == "ncu -o x; python -m w"
    assert value(facts, "command.reportgen") == "reportgen collect mine.py"


def test_a_collection_that_started_no_process_has_neither_command_nor_duration(tmp_path: Path) -> None:
    ended(tmp_path, NCU, "skipped")
    facts = of(tmp_path, NCU)

    assert reason(facts, "command.profiler") == "no process was started"
    assert reason(facts, "collection.duration_s") == "no process ended with a measurement"


def test_the_duration_is_the_processes_own(tmp_path: Path) -> None:
    left(tmp_path, CUPTI, {}, start=10.0, end=12.5)
    left(tmp_path, NCU, {}, start=20.0, end=21.25)
    facts = of(tmp_path, CUPTI, NCU)

    assert value(facts, "collection.duration_s") == 3.75
    assert value(facts, "collection.start") == "20261130T211006Z"


def test_facts_come_from_the_report_the_machine_and_the_worker_the_later_the_closer(tmp_path: Path) -> None:
    left(tmp_path, CUPTI, {}, facts={"versions.cuda": "13.0", "host.name": "inside", "dropped": 0})
    facts = of(tmp_path, CUPTI, told={"versions.cuda": "12", "gpu.name": "H", "versions.ncu_report": "2025.3"})

    assert facts.get("versions.cuda") == Fact("13.0", "", "the worker")
    assert facts.get("host.name") == Fact("inside", "", "the worker")
    assert facts.get("gpu.name") == Fact("NVIDIA H200", "", "NVML")
    assert facts.get("versions.ncu_report") == Fact("2025.3", "", "the report")
    assert "dropped" not in facts.facts


def test_the_version_of_ncu_is_told_by_ncu(tmp_path: Path) -> None:
    left(tmp_path, NCU, {}, facts={"versions.ncu": "2025.3.1.0"})

    assert of(tmp_path, NCU).get("versions.ncu") == Fact("2025.3.1.0", "", "ncu --version")


def test_what_nothing_told_has_a_reason(tmp_path: Path) -> None:
    left(tmp_path, CUPTI, {})
    left(tmp_path, TORCH, {})

    assert reason(of(tmp_path, CUPTI), "gpu.ecc") == "neither the driver nor a backend told it"
    assert reason(of(tmp_path, TORCH), "gpu.ecc") == "torch.profiler on this machine does not tell it"
