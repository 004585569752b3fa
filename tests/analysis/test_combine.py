from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.analysis import combine
from reportgen.analysis.derive import TIME
from tests.analysis.building import DRAM, READ, SM, run, table

CYCLES = "sm__cycles_elapsed.max"


def combined(*kernels: Mapping[str, Any]) -> dict[str, tuple[float, str, str]]:
    rows = [row for index, values in enumerate(kernels) for row in run(values, 0, index, kernel=f"k{index}")]
    out = combine.per_run(table(rows))
    return {m: (v, s, r) for m, v, s, r in zip(out["metric"], out["value"], out["state"], out["reason"], strict=True)}


@pytest.mark.parametrize(
    ("metric", "rule"),
    [
        (TIME, "add"),
        ("gpu__time_duration.max", "add"),
        (READ, "add"),
        ("smsp__inst_executed.sum", "add"),
        ("gpc__cycles_elapsed.avg", "add"),
        (CYCLES, "add"),
        (SM, "weigh"),
        ("dram__throughput.max.pct_of_peak_sustained_elapsed", "weigh"),
        ("dram__bytes.sum.per_second", "weigh"),
        ("gpc__cycles_elapsed.avg.per_second", "weigh"),
        ("dram__bytes_read.min", "min"),
        ("dram__bytes_read.max", "max"),
        ("l1tex__t_sector_hit_rate.pct", "none"),
        ("smsp__average_warp_latency_issue_stalled.ratio", "none"),
        ("sm__inst_executed.avg.per_cycle_elapsed", "none"),
        ("sm__warps_active.avg.pct_of_peak_sustained_active", "none"),
        ("launch__registers_per_thread", "same"),
        ("device__attribute_l2_cache_size", "same"),
        ("region__span", "same"),
        ("temperature", "same"),
    ],
)
def test_a_metric_is_combined_by_its_own_rule(metric: str, rule: str) -> None:
    assert combine.rule(metric) == rule


def test_times_and_bytes_add_and_percentages_weigh_by_time() -> None:
    got = combined(
        {TIME: 3000.0, READ: 100.0, SM: 80.0, "x__y.min": 5.0, "x__y.max": 5.0, CYCLES: 10.0},
        {TIME: 1000.0, READ: 50.0, SM: 20.0, "x__y.min": 2.0, "x__y.max": 9.0, CYCLES: 4.0},
    )
    assert got[TIME] == (4000.0, "ok", "")
    assert got[READ] == (150.0, "ok", "")
    assert got[SM] == ((3000 * 80 + 1000 * 20) / 4000, "ok", "")
    assert got["x__y.min"][0] == 2.0
    assert got["x__y.max"][0] == 9.0
    assert got[CYCLES][0] == 14.0


def test_a_ratio_is_not_combined_and_says_so() -> None:
    got = combined({TIME: 1.0, "l1tex__hit.pct": 50.0}, {TIME: 1.0, "l1tex__hit.pct": 50.0})
    value, state, reason = got["l1tex__hit.pct"]
    assert math.isnan(value)
    assert (state, reason) == ("dropped", combine.NOT_COMBINED)


def test_a_ratio_of_a_single_kernel_stays() -> None:
    assert combined({TIME: 1.0, "l1tex__hit.pct": 50.0})["l1tex__hit.pct"] == (50.0, "ok", "")


def test_what_describes_a_launch_is_kept_only_when_equal() -> None:
    got = combined(
        {TIME: 1.0, "launch__block_size": 256.0, "launch__grid_size": 8.0},
        {TIME: 1.0, "launch__block_size": 256.0, "launch__grid_size": 9.0},
    )
    assert got["launch__block_size"] == (256.0, "ok", "")
    assert math.isnan(got["launch__grid_size"][0])
    assert got["launch__grid_size"][1:] == ("dropped", combine.DIFFERS)


def test_a_failed_kernel_makes_the_run_failed_and_never_a_partial_sum() -> None:
    got = combined({TIME: 3000.0, SM: 50.0}, {TIME: "the launch failed", SM: 40.0})
    assert math.isnan(got[TIME][0])
    assert got[TIME][1:] == ("failed", "the launch failed")
    assert math.isnan(got[SM][0]), "a share cannot be weighed by a time that is not known"
    assert got[SM][1:] == ("dropped", combine.NO_TIME)


def test_a_share_needs_the_time() -> None:
    got = combined({SM: 80.0}, {SM: 20.0})
    assert math.isnan(got[SM][0])
    assert got[SM][1:] == ("dropped", combine.NO_TIME)


def test_a_metric_that_only_one_of_two_kernels_has_is_not_that_of_the_region() -> None:
    got = combined({TIME: 3000.0, READ: 100.0, "launch__grid_size": 8.0}, {TIME: 1000.0})
    assert got[TIME][0] == 4000.0
    assert math.isnan(got[READ][0])
    assert got[READ][1:] == ("dropped", combine.PARTIAL)
    assert got["launch__grid_size"] == (8.0, "ok", "")


def test_times_are_found_by_kernel_even_where_each_row_has_a_source_of_its_own() -> None:
    rows = [row for k, t in enumerate((3000.0, 1000.0)) for row in run({TIME: t, DRAM: 10.0 * (k + 1)}, 0, k)]
    for line, row in enumerate(rows):
        row["source"] = f"data/import/m.csv#L{line}"
    out = combine.per_run(table(rows)).set_index("metric")["value"]
    assert out[DRAM] == (3000 * 10 + 1000 * 20) / 4000


def test_runs_processes_and_configurations_are_not_mixed() -> None:
    rows = [
        row
        for process in (0, 1)
        for index in (0, 1)
        for n in (512, 1024)
        for row in run({TIME: 1000.0 * process + 100 * index + n}, index, n=n, process=process)
    ]
    out = combine.per_run(table(rows))
    assert len(out) == 8
    assert list(out["kernels"]) == [1] * 8
    assert list(out["value"]) == [512, 1024, 612, 1124, 1512, 2024, 1612, 2124]


def test_metrics_that_are_words_are_left_out() -> None:
    rows = run({TIME: 5.0})
    rows.append({**rows[0], "metric": "launch__cache", "value": math.nan, "text": "CachePreferNone", "unit": ""})
    assert list(combine.per_run(table(rows))["metric"]) == [TIME]


def test_kernels_are_named_in_order_and_counted() -> None:
    out = combine.per_run(table([*run({TIME: 1.0}, 0, 0, kernel="b"), *run({TIME: 1.0}, 0, 1, kernel="a")]))
    assert list(out["kernel"]) == ["b|a"]
    assert list(out["kernels"]) == [2]
    assert list(out["source"]) == ["data/import/m.ncu-rep#0/0-0"]


def test_an_empty_table_stays_empty() -> None:
    assert combine.per_run(table([])).empty


@given(st.lists(st.tuples(st.integers(1, 10**6), st.floats(0, 100), st.integers(0, 10**9)), min_size=1, max_size=6))
def test_any_region_agrees_with_arithmetic(kernels: list[tuple[int, float, int]]) -> None:
    got = combined(*({TIME: float(t), SM: s, READ: float(b)} for t, s, b in kernels))
    assert got[TIME][0] == sum(t for t, _, _ in kernels)
    assert got[READ][0] == sum(b for _, _, b in kernels)
    assert np.isclose(got[SM][0], sum(t * s for t, s, _ in kernels) / sum(t for t, _, _ in kernels))
