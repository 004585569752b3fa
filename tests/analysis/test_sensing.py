from __future__ import annotations

from reportgen.analysis import sensing
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Group
from reportgen.evidence.sensed import Reading, Region, Sensed
from tests.analysis.building import grouped, runs

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
