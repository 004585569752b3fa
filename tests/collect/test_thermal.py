"""The gate's arithmetic, with a clock that the waiting itself moves on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reportgen.collect import thermal
from reportgen.collect.nvml import Sensors
from reportgen.collect.thermal import Gate
from reportgen.suite import Thermal


class Room:
    """A GPU whose temperature is read from a list, and a clock that only sleeping moves on."""

    def __init__(self, *readings: float | None) -> None:
        self._readings: Iterator[float | None] = iter(readings)
        self.now = 100.0
        self.read = 0

    def temperature(self) -> float | None:
        self.read += 1
        return next(self._readings)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def clock(self) -> float:
        return self.now


class Nvml(Sensors):
    """Knows the GPU's own limit, or why nothing is known."""

    def __init__(self, limit: float | None, reason: str = "") -> None:
        self.limit, self.reason = limit, reason

    def slowdown_c(self) -> float | None:
        return self.limit


def passed(gate: Gate, room: Room) -> dict[str, object]:
    return gate.pass_through(room.temperature, room.sleep, room.clock)


def test_a_cool_gpu_passes_at_once_and_nothing_is_said() -> None:
    room = Room(79.9)
    assert passed(Gate(80.0, 70.0, 60.0), room) == {}
    assert (room.read, room.now) == (1, 100.0)


def test_a_hot_gpu_waits_until_it_is_down_to_resume_and_not_only_below_wait() -> None:
    room = Room(80.0, 79.0, 71.0, 70.0)
    assert passed(Gate(80.0, 70.0, 60.0), room) == {"waited_s": 0.75}


def test_a_wait_that_runs_out_says_how_hot_it_still_is() -> None:
    room = Room(*[85.0] * 9)
    assert passed(Gate(80.0, 70.0, 2.0), room) == {"waited_s": 2.0, "thermal": "still 85 °C after 2 s of waiting"}
    assert room.read == 9  # one before, and one after each of eight quarters of a second


def test_a_gpu_that_cools_with_the_last_reading_is_not_called_hot() -> None:
    assert passed(Gate(80.0, 70.0, 0.5), Room(85.0, 75.0, 70.0)) == {"waited_s": 0.5}


def test_a_temperature_that_cannot_be_read_is_not_waited_for() -> None:
    assert passed(Gate(80.0, 70.0, 60.0), Room(None)) == {}
    assert passed(Gate(80.0, 70.0, 60.0), Room(85.0, None)) == {"waited_s": 0.25}


def test_a_gate_that_cannot_know_says_so_and_reads_nothing() -> None:
    room = Room()
    assert passed(Gate(80.0, 70.0, 60.0, "no NVML"), room) == {"thermal": "no NVML"}
    assert room.read == 0


def test_a_benchmark_that_asks_for_none_has_none() -> None:
    assert thermal.gate(None, Nvml(90.0)) is None


def test_automatic_degrees_lie_below_the_gpus_own_limit() -> None:
    assert thermal.gate(Thermal(timeout=7.0), Nvml(92.0)) == Gate(87.0, 77.0, 7.0)


def test_degrees_of_ones_own_need_no_limit_of_the_gpu() -> None:
    assert thermal.gate(Thermal(60.0, 50.0, 7.0), Nvml(None)) == Gate(60.0, 50.0, 7.0)


@pytest.mark.parametrize(
    ("asked", "reason", "why_not"),
    [
        (Thermal(), "NVML is not here", "NVML is not here"),
        (Thermal(60.0, 50.0), "NVML is not here", "NVML is not here"),
        (Thermal(), "", "NVML does not tell the GPU's own limit"),
    ],
)
def test_without_what_it_needs_a_gate_knows_why(asked: Thermal, reason: str, why_not: str) -> None:
    found = thermal.gate(asked, Nvml(None, reason))
    assert found is not None
    assert found.why_not == why_not
    assert passed(found, Room()) == {"thermal": why_not}
