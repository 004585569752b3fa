from __future__ import annotations

import math

import pytest

from reportgen.analysis import bottleneck
from reportgen.analysis.bottleneck import judge
from tests.analysis.building import DRAM, SM

L2, L1 = bottleneck.L2_METRICS[0], bottleneck.L1_METRICS[0]
FULL_SET = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"


@pytest.mark.parametrize(
    ("sm", "dram", "limit"),
    [
        (92.0, 30.0, "compute"),
        (30.0, 92.0, "memory"),
        (20.0, 30.0, "latency"),
        (59.99, 59.99, "latency"),
        (60.0, 10.0, "compute"),
        (10.0, 60.0, "memory"),
        (80.0, 79.0, "compute"),
        (0.0, 0.0, "latency"),
        (math.nan, 92.0, "not known"),
        (92.0, math.nan, "not known"),
        (math.nan, math.nan, "not known"),
    ],
)
def test_the_busier_unit_decides_from_sixty_percent_on(sm: float, dram: float, limit: str) -> None:
    assert judge({SM: sm, DRAM: dram}).limit == limit


def test_what_was_not_measured_is_not_known_and_never_0() -> None:
    got = judge({SM: 92.0})
    assert got.limit == "not known"
    assert math.isnan(got.dram.pct)
    assert got.dram.metric == ""
    assert judge({}).limit == "not known"


def test_a_full_sets_metric_stands_in_for_the_one_asked_for_by_name() -> None:
    got = judge({SM: 10.0, FULL_SET: 70.0})
    assert (got.limit, got.dram.pct, got.dram.metric) == ("memory", 70.0, FULL_SET)
    both = judge({SM: 10.0, FULL_SET: 70.0, DRAM: 65.0})
    assert (both.dram.pct, both.dram.metric) == (65.0, DRAM)
    nothing = judge({SM: 10.0, FULL_SET: 70.0, DRAM: math.nan})
    assert nothing.dram.metric == FULL_SET


@pytest.mark.parametrize(
    ("sm", "dram", "margin"),
    [
        (90.0, 21.0, 30.0),  # above the threshold
        (90.0, 85.0, 5.0),  # above the other, which is busy too
        (6.0, 85.0, 25.0),
        (52.0, 47.0, 8.0),  # below the threshold
        (60.0, 60.0, 0.0),
        (math.nan, 85.0, math.nan),
    ],
)
def test_a_verdict_stands_clear_of_the_next_one(sm: float, dram: float, margin: float) -> None:
    assert judge({SM: sm, DRAM: dram}).margin == pytest.approx(margin, nan_ok=True)


@pytest.mark.parametrize(
    ("sm", "dram", "half", "sure"),
    [
        (90.0, 21.0, 0.5, "clear"),
        (90.0, 87.0, 0.5, "close"),
        (62.0, 21.0, 0.5, "close"),
        (62.0, 21.0, 3.0, "cannot tell"),  # latency lies within the interval
        (80.0, 78.0, 1.5, "cannot tell"),  # so does memory
        (90.0, 21.0, math.nan, "close"),  # a single run
    ],
)
def test_how_sure_a_verdict_is(sm: float, dram: float, half: float, sure: str) -> None:
    assert bottleneck.sure(judge({SM: sm, DRAM: dram}), half, half) == sure


@pytest.mark.parametrize(
    ("sm", "dram", "l2", "l1", "words"),
    [
        (10.0, 54.5, 81.0, math.nan, "memory (L2)"),  # what a gather is
        (10.0, 85.0, 91.0, math.nan, "memory"),  # DRAM is busy: L2 only passes on what it gives
        (52.0, 47.0, 76.0, 10.0, "memory (L2)"),
        (90.0, 21.0, 46.0, 70.0, "compute"),  # L1 holds shared memory, and is a part of the SM
        (90.0, 21.0, 95.0, math.nan, "memory (L2)"),
        (40.0, 20.0, 30.0, 75.0, "memory (L1)"),
        (40.0, 20.0, 30.0, 59.0, "latency"),
        (10.0, math.nan, 81.0, 70.0, "not known"),  # what a cache shows cannot rule DRAM out
    ],
)
def test_a_cache_limits_where_dram_is_not_busy(sm: float, dram: float, l2: float, l1: float, words: str) -> None:
    assert judge({SM: sm, DRAM: dram, L2: l2, L1: l1}).words == words


def test_the_margin_is_to_the_memory_that_decides() -> None:
    gather = judge({SM: 10.0, DRAM: 54.5, L2: 81.0})
    assert (gather.level, gather.memory.metric, gather.margin) == ("L2", L2, 21.0)
    waiting = judge({SM: 10.0, DRAM: 20.0, L2: 57.0})
    assert (waiting.limit, waiting.level, waiting.margin) == ("latency", "L2", 3.0)
    assert bottleneck.sure(waiting, 0.5, 3.5) == "cannot tell"
    assert judge({SM: 90.0, DRAM: 70.0}).both
    assert not judge({SM: 90.0, DRAM: 50.0}).both
