"""The rules on sweeps and caches: the expected shape, where the L2 ends, cold beside warm."""

from __future__ import annotations

from reportgen.analysis.derive import TIME
from reportgen.dossier.declared import Declared
from reportgen.evidence.bundle import Formula
from tests.analysis.building import Row, runs
from tests.dossier.evidence import by_function, evidence, found, said

MIB = 1 << 20
RATE = Formula("GB/s", "2 * size / time / 1e9", "GB/s")
SPREAD = (0.999, 1.0, 1.001)


def sweep(means: dict[int, float], annotation: str = "a", **over: str) -> list[Row]:
    return [
        row
        for n, mean in means.items()
        for row in runs({TIME: [mean * s for s in SPREAD]}, annotation=annotation, n=n, **over)
    ]


def rates(gb_s: dict[int, float]) -> list[Row]:
    return [
        row
        for size, rate in gb_s.items()
        for row in runs({TIME: [2 * size * MIB / rate * s for s in SPREAD]}, annotation="copy", size=size * MIB)
    ]


# --- the expected shape


def test_a_sweep_that_goes_as_expected_says_from_where_to_where() -> None:
    of = evidence(sweep({1: 100.0, 2: 200.0, 4: 400.0}), Declared("square", expect="rises", axis="n"))
    assert said(of, "shape") == [
        "ncu, cold cache (default): time was expected to rise with n and does: a from 100 ns to 400 ns."
    ]


def test_a_sweep_that_does_not_says_where_and_comes_before() -> None:
    rows = [*sweep({1: 100.0, 2: 200.0, 4: 150.0}), *sweep({1: 100.0, 2: 200.0, 4: 400.0}, "b")]
    of = evidence(rows, Declared("square", expect="rises", apart=True))
    assert said(of, "shape") == [
        (
            "ncu, cold cache (default): time was expected to rise with n and does not everywhere: "
            "a goes from 200 ns at n = 2 to 150 ns at n = 4."
        )
    ]
    broken = evidence(sweep({1: 100.0, 2: 200.0, 4: 150.0}), Declared("square", expect="falls"))
    assert "expected to fall with n and does not: a goes from 100 ns at n = 1" in said(broken, "shape")[0]


def test_backends_that_differ_in_shape_are_told_apart() -> None:
    rows = [*sweep({1: 100.0, 2: 200.0, 4: 400.0}), *sweep({1: 100.0, 2: 200.0, 4: 150.0}, backend="cupti")]
    (text,) = said(evidence(rows, Declared("square", expect="rises")), "shape")
    assert "ncu: time was expected to rise with n and does: a from" in text
    assert "CUPTI: time was expected to rise with n and does not: a goes from" in text


def test_what_is_not_declared_not_swept_or_without_intervals_has_no_shape() -> None:
    rising = sweep({1: 100.0, 2: 200.0, 4: 400.0})
    assert not said(evidence(rising), "shape")
    assert not said(evidence(rising, Declared("square", expect="rises", axis="size")), "shape")
    assert not said(evidence(sweep({1: 100.0, 2: 200.0}), Declared("square", expect="rises")), "shape")
    single = [row for n in (1, 2, 4) for row in runs({TIME: [100.0 * n]}, n=n)]
    assert not said(evidence(single, Declared("square", expect="rises")), "shape")


# --- leaving the L2


def test_where_a_sweep_leaves_the_l2_is_told_with_its_size() -> None:
    rows = rates({1: 900.0, 8: 7000.0, 64: 4200.0, 512: 4100.0})
    of = evidence(rows, Declared("square", apart=True, units={"size": "byte"}), [RATE], gpu__l2_bytes=60 * MIB)
    assert said(of, "l2") == [
        (
            "ncu, cold cache (default): The rate falls where what is moved outgrows the L2 of 62.91 MB: "
            "copy from 7 000 GB/s at size = 8 MiB to 4 200 GB/s at size = 64 MiB."
        )
    ]
    (got,) = found(of, "l2")
    assert by_function(got)["provenance:gpu.l2_bytes"].value == 60 * MIB


def test_without_the_size_of_l2_or_a_fall_nothing_is_said_of_it() -> None:
    falling, rising = rates({1: 900.0, 8: 7000.0, 64: 4200.0}), rates({1: 900.0, 8: 4000.0, 64: 4200.0})
    assert said(evidence(falling, formulas=[RATE], gpu__l2_bytes=60 * MIB), "l2")
    assert not said(evidence(falling, formulas=[RATE]), "l2")
    assert not said(evidence(falling, formulas=[RATE], gpu__l2_bytes="not a number"), "l2")
    assert not said(evidence(rising, formulas=[RATE], gpu__l2_bytes=60 * MIB), "l2")


# --- cold beside warm


def test_cold_and_warm_stand_side_by_side_whichever_is_the_shorter() -> None:
    rows = [
        *sweep({1: 300.0, 2: 400.0, 4: 890.0}, scenario="default"),
        *sweep({1: 100.0, 2: 200.0, 4: 940.0}, scenario="continuous"),
    ]
    assert said(evidence(rows), "cache") == [
        (
            "ncu: Cold and warm caches stand side by side for a. "
            "cold cache (default): 300 ns at n = 1 and 890 ns at n = 4; "
            "warm cache (continuous): 100 ns at n = 1 and 940 ns at n = 4. "
            "What fits the L2 may be served from there when it is warm; beyond it a warm cache may cost time, as its dirty lines must be written back first."
        )
    ]
    (got,) = found(evidence(rows), "cache")
    assert not any("ratio" in source for source in by_function(got)), "nothing is computed from one to the other"


def test_scenarios_that_differ_in_more_than_the_cache_are_not_set_side_by_side() -> None:
    rows = [*sweep({1: 300.0}, scenario="default"), *sweep({1: 100.0}, scenario="continuous-strict")]
    assert not said(evidence(rows), "cache")
    both = [*sweep({1: 300.0}, scenario="strict"), *sweep({1: 100.0}, scenario="continuous-strict")]
    assert said(evidence(both), "cache")
    others = [*sweep({1: 300.0}, scenario="default"), *sweep({2: 100.0}, scenario="continuous")]
    assert not said(evidence(others), "cache"), "no configuration that both measured"
    backends = [*sweep({1: 300.0}), *sweep({1: 100.0}, scenario="continuous", backend="cupti")]
    assert not said(evidence(backends), "cache")
