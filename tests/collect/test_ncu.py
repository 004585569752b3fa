"""The command that wraps the worker, tried with a stand-in for ncu that keeps what it was asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from reportgen.collect import ncu
from reportgen.evidence.errors import EnvironmentLacks, UserError


@pytest.mark.parametrize(
    ("scenario", "cache", "clocks"),
    [("default", "all", "none"), ("strict", "all", "base"), ("continuous", "none", "none")],
)
def test_a_scenario_is_a_cache_and_a_clock_policy(scenario: str, cache: str, clocks: str) -> None:
    command = ncu.command("ncu", scenario, ["dram__bytes_read.sum"], Path("out"), ["python", "x"])

    assert command[command.index("--cache-control") + 1] == cache
    assert command[command.index("--clock-control") + 1] == clocks
    assert command[-2:] == ["python", "x"]


def test_time_and_cycles_are_always_asked_for_and_nothing_twice() -> None:
    command = ncu.command("ncu", "default", ["gpu__time_duration.sum", "m"], Path("out"), [])

    metrics = command[command.index("--metrics") + 1].split(",")
    assert metrics == [*ncu.ALWAYS, "m"]


def test_an_unknown_scenario_names_the_known_ones() -> None:
    with pytest.raises(UserError, match="default, strict, continuous"):
        ncu.command("ncu", "warm", [], Path("out"), [])


def test_a_missing_ncu_is_named_with_the_mend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(EnvironmentLacks, match="Nsight Compute"):
        ncu.find()


@pytest.mark.parametrize(
    ("log", "state", "says"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", "not permitted", "NVreg_Restrict"),
        ("==PROF== x\n==ERROR== Failed to find metric nope\n", "dropped", "ncu: Failed to find metric nope"),
        ("==WARNING== No kernels were profiled.\n", "dropped", "no kernel"),
        ("", "dropped", "left no report"),
    ],
)
def test_a_missing_report_has_a_reason(log: str, state: str, says: str) -> None:
    found, reason = ncu.why_no_report(log)

    assert found == state
    assert says in reason
