"""The comparison of two sides: which series are compared, by what unit, and what becomes of the others."""

from __future__ import annotations

import math
from typing import Any

import pytest

from reportgen.analysis import compare as comparing
from reportgen.analysis.compare import Asked, Comparison, Row, compare
from reportgen.analysis.derive import TIME
from reportgen.analysis.differences import differences
from reportgen.analysis.series import Collected
from reportgen.analysis.steadiness import CYCLES
from reportgen.analysis.verdicts import Threshold, Verdict
from reportgen.evidence import provenance
from reportgen.evidence.bundle import Formula
from tests.analysis.building import CLOCK, run
from tests.analysis.collections_of import FACTS, PLAN, collected, rows

STEADY = [1000.0, 1002.0, 999.0, 1001.0, 998.0, 1003.0]
SLOW = [1.1 * time for time in STEADY]


def only(of: Comparison) -> Row:
    assert len(of.rows) == 1
    return of.rows[0]


def both(old: Collected, new: Collected, **asked: Any) -> Comparison:
    return compare([old], [new], Asked(**asked))


# Series


def test_a_process_is_the_unit_and_its_runs_are_not() -> None:
    old = [row for p in range(3) for r in range(4) for row in run({TIME: 1000.0 + 10 * p + r}, r, process=p)]
    found = only(both(collected(old), collected(rows([1010.0, 1011.0, 1012.0]))))

    means = [math.exp(sum(math.log(1000.0 + 10 * p + r) for r in range(4)) / 4) for p in range(3)]
    assert (found.old.n, found.old.runs, found.old.unit) == (3, 12, "process")
    assert found.old.value == pytest.approx(math.prod(means) ** (1 / 3))


def test_kernels_of_a_region_are_added_before_anything_is_compared() -> None:
    two = [row for p in range(3) for k in range(2) for row in run({TIME: 500.0 + k}, 0, k, process=p)]

    assert only(both(collected(two), collected(two))).old.value == pytest.approx(1001.0)


def test_the_order_of_parameters_and_ones_that_others_have_are_no_identity() -> None:
    old = collected([*rows(STEADY, n=512, dtype="fp16"), *rows(STEADY, "other", other=1)])
    new = collected(rows(SLOW, dtype="fp16", n=512))

    found = both(old, new)

    assert only(found).series.configuration == "dtype = fp16, n = 512"
    assert [one.series.annotation for one in found.gone] == ["other"]


def test_one_and_one_point_nought_are_two_configurations() -> None:
    found = both(collected(rows(STEADY, n=1)), collected(rows(STEADY, n=1.0)))

    assert (len(found.rows), len(found.fresh), len(found.gone)) == (0, 1, 1)


def test_a_series_keeps_its_id() -> None:
    one, other = (only(both(collected(r), collected(r))).series for r in (rows(STEADY, n=1, m=2), rows(SLOW, m=2, n=1)))

    assert one.id == other.id == "7758bd72d4a7"


@pytest.mark.parametrize("name", ["backend", "workload", "scenario", "benchmark", "annotation"])
def test_nothing_is_compared_across_what_tells_series_apart(name: str) -> None:
    found = both(collected(rows(STEADY)), collected(rows(STEADY, **{name: "another"})))

    assert not found.rows
    assert (len(found.fresh), len(found.gone)) == (1, 1)


# Verdicts on a table


def test_slower_and_faster_by_the_unit() -> None:
    assert only(both(collected(rows(STEADY)), collected(rows(SLOW)))).verdict == Verdict("slower")
    assert only(both(collected(rows(SLOW)), collected(rows(STEADY)))).verdict == Verdict("faster")


def test_p_and_its_table() -> None:
    found = both(
        collected([*rows(STEADY), *rows(STEADY, "other")]), collected([*rows(SLOW), *rows(STEADY[::-1], "other")])
    )

    slower, same = found.of("slower")[0], found.of("same")[0]
    assert slower.p == pytest.approx(2 / 924)
    assert slower.adjusted == pytest.approx(4 / 924)
    assert same.p == 1.0
    assert found.tested == 2
    assert found.level == pytest.approx(0.025)
    assert found.counts["slower"] == found.counts["same"] == 1


def test_collections_of_one_process_each_are_the_unit() -> None:
    old = [collected(rows([time]), digest=str(i)) for i, time in enumerate(STEADY)]
    new = [collected(rows([time]), digest=str(i)) for i, time in enumerate(SLOW)]

    found = only(compare(old, new))

    assert (found.old.n, found.old.unit, found.new.unit) == (6, "collection", "collection")
    assert found.verdict == Verdict("slower")
    assert found.p == pytest.approx(2 / 924)


def test_processes_of_several_collections_pool() -> None:
    old = [collected(rows(STEADY[:3]), digest="1"), collected(rows(STEADY[3:]), digest="2")]

    found = only(compare(old, [collected(rows(SLOW[:3]))]))

    assert (found.old.n, found.old.unit, found.new.n) == (6, "process", 3)
    assert found.p == pytest.approx(1 / 84)
    assert found.effect is not None
    assert found.effect.ratio == pytest.approx((math.prod(SLOW[:3])) ** (1 / 3) / (math.prod(STEADY)) ** (1 / 6))
    assert found.verdict == Verdict("slower")


def test_two_ticks_are_a_threshold_for_what_is_short() -> None:
    found = only(both(collected(rows(STEADY), ticks={"ncu": 32.0}), collected(rows(SLOW), ticks={"ncu": 64.0})))

    assert found.threshold.cause == "two ticks"
    assert found.threshold.value == pytest.approx(128 / found.old.value)
    assert found.verdict == Verdict("same")


def test_three_collections_of_identical_code_set_a_threshold() -> None:
    history = tuple(collected(rows([time] * 3), digest=str(i)) for i, time in enumerate((1000.0, 1100.0, 1210.0)))
    sides = collected(rows(STEADY)), collected(rows(SLOW))

    three, two = (only(both(*sides, history=some)) for some in (history, history[:2]))

    assert three.threshold.cause == "between collections"
    assert three.threshold.value == pytest.approx(math.expm1(3 * math.log(1.1)))
    assert three.verdict.kind == "same"
    assert two.threshold == Threshold(0.03, "set")


def test_a_threshold_of_ones_own() -> None:
    found = only(both(collected(rows(STEADY)), collected(rows(SLOW)), own_pct=20.0))

    assert found.threshold == Threshold(0.2, "set")
    assert found.verdict.kind == "same"


# Metrics


def test_other_metrics_are_compared_where_asked_and_need_a_direction() -> None:
    read = "dram__bytes_read.sum"
    old, new = (collected([*rows(STEADY), *rows(values, metric=read)]) for values in (STEADY, SLOW))

    assert {row.series.metric for row in both(old, new).rows} == {TIME}
    silent, told = (both(old, new, metrics=(read,), better=better) for better in ({}, {read: "lower"}))
    assert {row.series.metric: row.verdict for row in silent.rows}[read] == Verdict("cannot tell", "no direction")
    assert {row.series.metric: row.verdict for row in told.rows}[read] == Verdict("slower")


def test_of_a_rate_more_is_better_and_the_clock_works_the_other_way() -> None:
    def rate(values: list[float], clock: float) -> Collected:
        made = [row for p, v in enumerate(values) for row in run({"GB/s": v, CLOCK: clock}, process=p)]
        return collected([{**row, "unit": "GB/s"} if row["metric"] == "GB/s" else row for row in made])

    steady, clocked = (both(rate(SLOW, 1.9e9), rate(STEADY, c), metrics=("GB/s",)) for c in (1.9e9, 1.9e9 / 1.1))

    assert only(steady).better == "higher"
    assert only(steady).verdict == Verdict("slower")
    assert only(clocked).verdict == Verdict("cannot tell", "the SM clock moved")


@pytest.mark.parametrize("old", [0.0, -1.0])
def test_what_is_not_above_zero_has_no_ratio(old: float) -> None:
    found = only(both(collected(rows([old] * 6)), collected(rows(STEADY))))

    assert found.verdict == Verdict("cannot tell", "not above zero")
    assert found.effect is None
    assert math.isnan(found.p)


def test_the_time_of_operators_is_that_on_the_device_where_there_is_one() -> None:
    def torch(device: float) -> Collected:
        metrics = {"self_device_time_total": device, "self_cpu_time_total": 9000.0}
        return collected([row for p in range(3) for row in run(metrics, process=p, backend="torch")])

    assert only(both(torch(50.0), torch(50.0))).series.metric == "self_device_time_total"
    assert only(both(torch(0.0), torch(0.0))).series.metric == "self_cpu_time_total"


def test_a_main_metric_made_of_the_time_stands_beside_it(tmp_path: Any) -> None:
    from reportgen.analysis import series
    from reportgen.evidence.bundle import open_bundle
    from tests.analysis.building import table
    from tests.evidence import making

    def made(times: list[float], start: str) -> Collected:
        plan = {"benchmarks": [{"name": "square", "main": "TFLOP/s"}]}
        info = making.info(
            start=start, plan=plan, formulas=(Formula("TFLOP/s", "2*n**3 / time / 1e12", "TFLOP/s", "square"),)
        )
        frame = table(rows(times, n=512))
        return series.read(open_bundle(making.make(tmp_path, info=info, samples=frame, processed={})))

    found = only(both(made(STEADY, "20261130T211006Z"), made(SLOW, "20261201T211006Z")))

    assert found.beside is not None
    assert (found.beside.metric, found.beside.unit) == ("TFLOP/s", "TFLOP/s")
    assert found.beside.old == pytest.approx(2 * 512**3 / found.old.value / 1e3)
    assert found.beside.new / found.beside.old == pytest.approx(1 / 1.1)


# The clock


def clocked(times: list[float], clock: float, cycles: float) -> Collected:
    metrics = [{TIME: time, CLOCK: clock, CYCLES: cycles} for time in times]
    return collected([row for p, values in enumerate(metrics) for row in run(values, process=p)])


def test_a_time_that_moved_with_the_clock_is_no_verdict() -> None:
    found = both(clocked(STEADY, 1.98e9, 1980.0), clocked(SLOW, 1.8e9, 1980.0))

    assert only(found).verdict == Verdict("cannot tell", "the SM clock moved")


def test_a_time_that_moved_with_its_cycles_is_one() -> None:
    found = only(both(clocked(STEADY, 1.98e9, 1980.0), clocked(SLOW, 1.98e9, 2178.0)))

    assert found.verdict == Verdict("slower")
    assert found.effect is not None
    assert found.effect.cycles == pytest.approx(math.log(1.1))


def test_clocks_of_two_sources_are_not_set_against_each_other() -> None:
    nvml = [row for p, time in enumerate(STEADY) for row in run({TIME: time, "nvml__sm_clock": 1.2e9}, process=p)]
    found = only(both(clocked(STEADY, 1.98e9, 1980.0), collected(nvml)))

    assert found.effect is not None
    assert math.isnan(found.effect.clock)


# What is not compared


def test_new_gone_and_failed_stand_with_their_reason() -> None:
    old = collected([*rows(STEADY, "gone"), *rows(STEADY, "fails"), *rows(["out of memory"] * 3, "heals")])
    new = collected([*rows(STEADY, "new"), *rows(["out of memory"] * 3, "fails"), *rows(STEADY, "heals")])

    found = both(old, new)

    assert [one.series.annotation for one in found.fresh] == ["new"]
    assert [one.series.annotation for one in found.gone] == ["gone"]
    known = {one.series.annotation: (one.old_state, one.new_state) for one in found.failed}
    assert known == {"fails": ("ok", "failed"), "heals": ("failed", "ok")}
    assert {one.new_reason or one.old_reason for one in found.failed} == {"out of memory"}
    assert found.counts == {
        **dict.fromkeys(("slower", "faster", "cannot tell", "same", "not comparable"), 0),
        "new": 1,
        "gone": 1,
        "without a value": 2,
    }


def test_a_configuration_whose_process_died_is_not_called_gone() -> None:
    old = collected(rows(STEADY, "fp32", n=512))
    new = collected(rows(["killed by signal 9"] * 3, "", n=512))

    found = both(old, new)

    assert not found.gone
    dead = next(one for one in found.failed if one.series.annotation == "fp32")
    assert (dead.old_state, dead.new_state, dead.new_reason) == ("ok", "failed", "killed by signal 9")


def test_processes_that_failed_are_noted_beside_those_that_did_not() -> None:
    found = only(both(collected(rows(STEADY)), collected(rows([*SLOW, "out of memory"]))))

    assert found.new.n == 6
    assert found.new.note == "1 of 7 runs failed: out of memory"
    assert found.verdict == Verdict("slower")


@pytest.mark.parametrize(
    ("key", "value", "condition"),
    [
        ("gpu.name", "NVIDIA A100", "gpu"),
        ("gpu.name", None, "gpu"),
        ("policy.clocks", "default: locked to base", "clocks"),
        ("policy.flush_granularity", "ncu: region; cupti: region", "granularity"),
        ("policy.cache", "default, ncu: flushed otherwise; continuous, ncu: kept", "cache"),
    ],
)
def test_another_condition_is_a_break(key: str, value: str | None, condition: str) -> None:
    found = both(collected(rows(STEADY)), collected(rows(STEADY), facts={**FACTS, key: value}))

    assert not found.rows
    assert not found.fresh
    assert [unlike.condition for unlike in found.broken[0].unlike] == [condition]


def test_a_condition_of_another_backend_or_scenario_breaks_nothing() -> None:
    other = {**FACTS, "policy.flush_granularity": "ncu: kernel and pass; cupti: run", "policy.clocks": "default: free"}

    assert len(both(collected(rows(STEADY)), collected(rows(STEADY), facts=other)).rows) == 1


def test_a_cache_that_is_kept_has_no_granularity() -> None:
    warm = rows(STEADY, scenario="continuous")
    other = {**FACTS, "policy.flush_granularity": None}

    assert len(both(collected(warm), collected(warm, facts=other)).rows) == 1


def test_heat_and_replay_are_conditions_by_the_plan() -> None:
    plan = {"benchmarks": [{"name": "square", "heat": "sustained", "replay": "application"}]}

    found = both(collected(rows(STEADY)), collected(rows(STEADY), plan=plan))

    assert [unlike.condition for unlike in found.broken[0].unlike] == ["heat", "replay"]


def test_sides_whose_own_collections_differ_are_a_break() -> None:
    other = collected(rows(STEADY), facts={**FACTS, "gpu.name": "NVIDIA A100"}, digest="1")

    found = compare([collected(rows(STEADY)), other], [collected(rows(SLOW), digest="2")])

    assert found.broken[0].unlike[0].old == ("NVIDIA H200", "NVIDIA A100")


# Provenance


def test_differences_name_what_differs_and_what_is_not_recorded_on_one_side() -> None:
    old = collected(
        rows(STEADY), facts={**FACTS, "versions.driver": "580", "versions.torch": "2.10"}, sources={"a.py": "1" * 64}
    )
    new = collected(
        rows(STEADY), facts={**FACTS, "versions.driver": "590", "versions.ncu": "2025"}, sources={"a.py": "2" * 64}
    )

    found = {one.key.name: (one.kind, one.old, one.new) for one in differences([old], [new])}

    assert found == {
        "versions.driver": ("differs", ("580",), ("590",)),
        "versions.ncu": ("not recorded in OLD", (), ("2025",)),
        "versions.torch": ("not recorded in NEW", ("2.10",), ()),
        "suite.source.a.py": ("differs", ("1" * 12,), ("2" * 12,)),
    }


def test_what_always_differs_is_marked_and_what_names_a_machine_too() -> None:
    facts = [
        {**FACTS, "collection.start": str(i), "temperature.before_c": 30 + i, "host.name": f"vm{i}"} for i in (1, 2)
    ]

    found = differences(*[[collected(rows(STEADY), facts=one)] for one in facts])

    assert {one.key.name: (one.usual, one.sensitive) for one in found} == {
        "temperature.before_c": (True, False),
        "host.name": (False, True),
        "collection.start": (True, False),
    }


def test_a_side_whose_collections_differ_says_both() -> None:
    sides = [collected(rows(STEADY), facts={**FACTS, "versions.driver": one}) for one in ("1", "2", "1")]

    found = differences(sides[:2], sides[2:])

    assert (found[0].old, found[0].new) == (("1", "2"), ("1",))


def test_identical_provenance_has_no_differences() -> None:
    assert differences([collected(rows(STEADY))], [collected(rows(SLOW))]) == ()
    assert provenance.key_of("gpu.name").label == "GPU"
    assert PLAN["benchmarks"][0]["name"] == "square"


@pytest.mark.parametrize(
    ("metric", "unit", "better"), [(TIME, "ns", "lower"), ("TFLOP/s", "TFLOP/s", "higher"), ("hits", "%", "")]
)
def test_directions(metric: str, unit: str, better: str) -> None:
    assert comparing.direction(metric, unit, {}) == better
    assert comparing.direction(metric, unit, {metric: "higher"}) == "higher"
