"""Figures that someone who knows the GPU believes: copies of 4 GiB, and a large product cool and hot."""

from __future__ import annotations

import json
import statistics
from typing import Any

import pytest

from tests.gpu.harness import CLOCK, Collected, Keep, collect, script

pytestmark = pytest.mark.gpu
BYTES = 2 * 4 * 2**30  # 4 GiB are read and written
SIZE = 8192
SAME_CLOCK = 0.03
HEATS = ("burst", "sustained")


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Collected:
    return collect("figures", tmp_path_factory.mktemp("figures"), "--backend", "cupti", "--scenario", "default")


@pytest.fixture(scope="module")
def benched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("do_bench")
    out = folder / "do_bench.json"
    script("do_bench.py", folder, str(out))
    return dict(json.loads(out.read_bytes()))


def _clock(figures: Collected, benchmark: str) -> float:
    frame = figures.samples
    chosen = (frame["benchmark"] == benchmark) & (frame["metric"] == CLOCK) & (frame["state"] == "ok")
    return float(frame.loc[chosen, "value"].median())


def test_all_of_it_is_measured(figures: Collected, keep: Keep) -> None:
    keep("figures", states=dict(figures.states), faults=figures.faults, seconds=round(figures.seconds, 2))

    assert not figures.faults


@pytest.mark.parametrize("kernel", ["triton", "torch"])
def test_a_copy_kernel_is_nearly_a_memcpy(figures: Collected, kernel: str, keep: Keep) -> None:
    copy, memcpy = (statistics.fmean(figures.runs("cupti", name)) for name in (kernel, "memcpy"))
    keep(
        f"copy/{kernel}",
        kernel_gb_per_s=round(BYTES / copy, 1),
        memcpy_gb_per_s=round(BYTES / memcpy, 1),
        ratio=round(memcpy / copy, 4),
    )

    assert 0.85 <= memcpy / copy <= 1.05


@pytest.mark.parametrize("heat", HEATS)
def test_a_large_product_is_as_fast_as_do_bench_says(
    figures: Collected, benched: dict[str, Any], heat: str, keep: Keep
) -> None:
    ours, theirs = (statistics.median(v) for v in (figures.runs("cupti", "bf16", SIZE, heat), benched[heat]["ns"]))
    our_clock, their_clock = _clock(figures, heat), statistics.median(benched[heat]["sm_clock_hz"])
    keep(
        f"bf16/{heat}",
        ours_ns=ours,
        do_bench_ns=theirs,
        ours_tflops=round(2 * SIZE**3 / ours / 1e3, 1),
        do_bench_tflops=round(2 * SIZE**3 / theirs / 1e3, 1),
        ours_sm_clock_hz=our_clock,
        do_bench_sm_clock_hz=their_clock,
        apart_pct=round((ours / theirs - 1) * 100, 2),
    )

    assert our_clock > 0
    assert their_clock > 0
    if abs(our_clock - their_clock) > SAME_CLOCK * their_clock:
        pytest.skip(f"not comparable: the SM clock was {our_clock / 1e6:.0f} and {their_clock / 1e6:.0f} MHz")
    assert ours == pytest.approx(theirs, rel=0.05)


def test_burst_and_sustained_are_told_apart(figures: Collected, keep: Keep) -> None:
    burst, sustained = (statistics.median(figures.runs("cupti", "bf16", SIZE, heat)) for heat in HEATS)
    plan = json.loads((figures.path / "data" / "bundle.json").read_bytes())["plan"]
    said = {bench["name"]: bench["heat"] for bench in plan["benchmarks"]}
    clocks = {heat: _clock(figures, heat) for heat in HEATS}
    keep("heat", burst_ns=burst, sustained_ns=sustained, ratio=round(sustained / burst, 4), sm_clock_hz=clocks)

    assert {heat: said[heat] for heat in HEATS} == {heat: heat for heat in HEATS}
    assert sustained > 1.02 * burst
