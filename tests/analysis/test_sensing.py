from __future__ import annotations

from reportgen.analysis import sensing
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Group
from reportgen.analysis.measurements import Measurements
from reportgen.analysis.sensing import Ends
from reportgen.evidence import provenance
from reportgen.evidence.bundle import BundleInfo
from reportgen.evidence.sensed import Reading, Region, Sensed
from tests.analysis.building import grouped, runs, table

IDLE, CAP, HOT = 0x1, 0x4, 0x40


def region(run: int = 0, before: int = 0, after: int = 0, n: str = "8", **over: str) -> Region:
    names = {"backend": "ncu", "scenario": "default", "benchmark": "square", "annotation": "fp32", **over}
    place = (names["backend"], names["scenario"], 0, names["benchmark"], names["annotation"])
    return Region(*place, {"n": n, "absent": ""}, run, Reading(throttle=before), Reading(throttle=after))


def group() -> Group:
    (found,) = grouped(runs({TIME: [1.0, 1.0, 1.0]}, n=8))
    return found


def test_a_case_is_told_by_all_that_names_it() -> None:
    mine = region()
    others = [region(n="4"), region(backend="x"), region(scenario="x"), region(benchmark="x"), region(annotation="x")]
    of = group()
    assert list(sensing.regions(Sensed((mine, *others)), of, of.cases[0])) == [mine]


def test_what_held_a_busy_gpu_back_is_told_in_words_and_by_its_runs() -> None:
    of = group()
    sensed = Sensed((region(0, IDLE), region(1, after=CAP | IDLE), region(2, HOT)))
    assert sensing.held_back(sensed, of, of.cases[0]) == ("software power cap", "hardware thermal slowdown")
    assert sensing.held_runs(sensed, of, of.cases[0]) == {(0, 1), (0, 2)}
    assert sensing.held_back(Sensed(), of, of.cases[0]) == ()


def sensed(process: int, after: Reading, **over: str) -> Region:
    names = {"backend": "cupti", "scenario": "default", **over}
    before = Reading(1e9, 1.0, 90.0, 30.0, 0)
    return Region(names["backend"], names["scenario"], process, "square", "fp32", {}, 0, before, after)


def test_what_sensors_read_is_told_by_its_ends_for_each_backend_and_scenario() -> None:
    regions = (
        sensed(0, Reading(1.5e9, 1.0, 400.0, 41.0, CAP)),
        sensed(1, Reading()),
        sensed(0, Reading(3e9, 1.0, 700.0, 80.0, CAP), scenario="strict"),
        sensed(0, Reading(4e9, 1.0, 900.0, 90.0, HOT), backend="ncu"),
    )
    info = BundleInfo("mine", "Mine", "20261201T000000Z", "complete")
    of = Measurements(table(runs({TIME: [1.0]})), info, provenance.from_facts({}, "not said"), Sensed(regions))
    assert sensing.clock(of, "cupti", "default") == Ends(1e9, 1.5e9)
    assert sensing.temperature(of, "cupti", "default") == Ends(30.0, 41.0)
    assert sensing.power(of, "cupti", "default") == Ends(90.0, 400.0)
    assert sensing.regions_held_back(of, "cupti", "default") == 1
    assert not sensing.clock(of, "torch", "default").known
    assert sensing.of_step(of.sensed, "cupti", "default") == {0: [regions[0]], 1: [regions[1]]}
