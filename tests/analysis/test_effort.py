from __future__ import annotations

import math
from collections.abc import Sequence

from reportgen.analysis import effort
from reportgen.analysis.derive import TIME
from reportgen.analysis.measurements import Measurements
from reportgen.evidence import provenance
from reportgen.evidence.bundle import BundleInfo
from reportgen.evidence.sensed import Process, Reading, Region, Sensed
from tests.analysis.building import Row, run, runs, table


def measured(sensed: Sensed, rows: Sequence[Row] = ()) -> Measurements:
    info = BundleInfo("mine", "Mine", "20261201T000000Z", "complete")
    return Measurements(table(rows or runs({TIME: [1.0]})), info, provenance.from_facts({}, "not said"), sensed)


def test_what_measuring_took_adds_up_for_each_backend() -> None:
    processes = [Process("cupti", "default", p, 1.5, 250, Reading(), Reading()) for p in range(3)]
    processes.append(Process("ncu", "default", 0, 40.0, 10, Reading(), Reading()))
    of = measured(Sensed((), tuple(processes)))
    assert (effort.seconds(of, "cupti"), effort.regions(of, "cupti"), effort.processes(of, "cupti")) == (4.5, 750, 3)
    assert (effort.seconds(of, "torch"), effort.processes(of, "torch")) == (0, 0)


def test_what_measuring_took_is_told_for_a_scenario_and_for_each_region() -> None:
    processes = [Process("cupti", scenario, 0, 2.0, n, Reading(), Reading()) for scenario, n in (("a", 100), ("b", 0))]
    of = measured(Sensed((), tuple(processes)))
    assert (effort.seconds(of, "cupti", "a"), effort.regions(of, "cupti", "a"), effort.processes(of, "cupti", "a")) == (
        2.0,
        100,
        1,
    )
    assert effort.each(of, "cupti", "a") == 2e7
    assert math.isnan(effort.each(of, "cupti", "b"))


def test_the_processes_of_a_benchmark_are_those_of_the_scenario_with_most() -> None:
    rows = [row for p in range(3) for row in run({TIME: 1.0}, process=p)]
    rows += run({TIME: 1.0}, process=7, scenario="strict")
    of = measured(Sensed(), rows)
    assert effort.processes_of(of, "square", "ncu") == 3
    assert effort.processes_of(of, "square", "cupti") == 0


def region(n: int, run: int, process: int = 0) -> Region:
    return Region("cupti", "default", process, "square", "fp32", {"n": str(n)}, run, Reading(), Reading())


def test_the_order_of_the_regions_tells_whether_configurations_took_turns() -> None:
    turns = [region(n, r, p) for p in range(2) for r in range(3) for n in (1, 2)]
    blocks = [region(n, r) for n in (1, 2) for r in range(3)]
    assert effort.in_rounds(turns) is True
    assert effort.in_rounds(blocks) is False
    assert effort.in_rounds([region(1, r) for r in range(3)]) is None, "one configuration"
    assert effort.in_rounds([region(n, 0) for n in (1, 2)]) is None, "one run"
    assert effort.in_rounds([]) is None
