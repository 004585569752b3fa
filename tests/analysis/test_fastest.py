from __future__ import annotations

import math
import statistics as plain
from typing import Any

import numpy as np
import pytest
from scipy import stats

from reportgen.analysis import fastest
from reportgen.analysis.derive import TIME
from reportgen.analysis.fastest import Fastest
from reportgen.analysis.groups import Case, Measured
from tests.analysis.building import Row, grouped, runs

SLOW, MIDDLE, FAST = [4000.0, 4100.0, 3900.0], [2000.0, 2020.0, 1990.0], [1000.0, 1010.0, 990.0]


def three(slow: list[Any], middle: list[Any], fast: list[Any], **over: Any) -> list[Row]:
    named = zip(("fp32", "tf32", "fp16"), (slow, middle, fast), strict=True)
    return [row for name, times in named for row in runs({TIME: times}, annotation=name, **over)]


def of(rows: list[Row], baseline: str = "", tick: float = 0.0) -> Fastest | None:
    (cases,) = grouped(rows)[0].rivals()
    return fastest.fastest(cases, baseline, tick)


def half(slow: list[float], fast: list[float], comparisons: int) -> float:
    logs = [math.log(a / b) for a, b in zip(slow, fast, strict=True)]
    return float(stats.t.ppf(1 - 0.025 / comparisons, 2) * plain.stdev(logs) / math.sqrt(3))


def test_the_fastest_stands_beside_the_next_and_the_baseline_with_intervals_for_a_choice_of_two() -> None:
    found = of(three(SLOW, MIDDLE, FAST), "fp32")
    assert found is not None
    assert found.best.annotation == "fp16"
    assert [lead.other.annotation for lead in found.leads] == ["tf32", "fp32"]
    assert found.next.other.annotation == "tf32"
    lead = found.over("fp32")
    assert lead is not None
    assert lead.told
    logs = [math.log(a / b) for a, b in zip(SLOW, FAST, strict=True)]
    assert lead.ratio.value == pytest.approx(math.exp(plain.mean(logs)))
    assert lead.interval.low == pytest.approx(math.exp(plain.mean(logs) - half(SLOW, FAST, 2)))


def test_without_a_baseline_any_pair_might_have_been_chosen() -> None:
    found = of(three(SLOW, MIDDLE, FAST))
    assert found is not None
    lead = found.over("fp32")
    assert lead is not None
    middle = plain.mean([math.log(a / b) for a, b in zip(SLOW, FAST, strict=True)])
    assert lead.interval.low == pytest.approx(math.exp(middle - half(SLOW, FAST, 3)))


def test_who_cannot_be_told_from_the_fastest_is_tied() -> None:
    found = of(three(SLOW, [1001.0, 1009.0, 992.0], FAST), "fp32")
    assert found is not None
    assert [case.annotation for case in found.tied] == ["tf32"]


def test_a_difference_under_two_ticks_is_none() -> None:
    steady = three([1160.0] * 3, [1064.0] * 3, [1000.0] * 3)
    for tick, tied in ((32.0, []), (33.0, ["tf32"])):
        found = of(steady, "fp32", tick)
        assert found is not None
        assert [case.annotation for case in found.tied] == tied


@pytest.mark.parametrize(
    ("slow", "fast"),
    [
        ([4000.0], [1000.0]),  # one run
        ([4000.0, 4100.0], [1000.0, 1010.0]),  # two
        ([1020.0, 1010.0, 990.0], [1000.0, 1010.0, 990.0]),  # the interval holds 1
        (["boom"] * 3, [1000.0, 1010.0, 990.0]),  # no rival
    ],
)
def test_without_evidence_none_is_the_fastest(slow: list[Any], fast: list[Any]) -> None:
    rows = [*runs({TIME: slow}, annotation="fp32"), *runs({TIME: fast}, annotation="fp16")]
    assert of(rows, "fp32") is None


def test_each_place_of_a_sweep_is_told_in_order() -> None:
    rows = [*three(SLOW, MIDDLE, FAST, n=2), *three(FAST, MIDDLE, SLOW, n=1), *three(FAST, FAST, FAST, n=3)]
    got = fastest.places(grouped(rows)[0], "fp32")
    assert [place.found and place.found.best.annotation for place in got] == ["fp32", "fp16", None]


def case(annotation: str, times: list[float]) -> Case:
    low, high, mean = min(times), max(times), plain.mean(times)
    row = Measured("", TIME, "ns", mean, 0.0, low, high, mean, low, high, 0.0, True, len(times), 1, 1, "ok", "")
    return Case(annotation, (), "", {TIME: row}, {TIME: {(0, index): time for index, time in enumerate(times)}})


@pytest.mark.parametrize("baseline", ["a0", ""])
def test_of_five_that_are_the_same_one_is_called_faster_in_one_of_twenty_collections_at_most(baseline: str) -> None:
    random = np.random.default_rng(4)
    called = 0
    for _ in range(300):
        times = 1000 * np.exp(random.normal(0.0, 0.02, size=(5, 8)))
        found = fastest.fastest([case(f"a{i}", times[i].tolist()) for i in range(5)], baseline)
        against = [lead for lead in found.leads if baseline in ("", lead.other.annotation)] if found else []
        called += any(lead.told for lead in against)
    assert called <= 22, "15 are expected, and over 22 has a chance of 3 %"
