"""The size sweep of the tutorial, where one configuration launches more kernels than another, under both backends."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from tests.gpu.harness import TIME, Collected, Keep, collect

pytestmark = pytest.mark.gpu
SIZES, DTYPES, RUNS = (512, 1024, 2048, 4096), ("fp32", "fp16"), 10
RATE = "TFLOP/s"
BACKENDS = ("ncu", "cupti")


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Collected:
    options = ("--backend", "ncu", "--backend", "cupti", "--scenario", "default")
    return collect("sweep", tmp_path_factory.mktemp("sweep"), *options)


def _row(table: pd.DataFrame, backend: str, dtype: str, n: int, metric: str) -> pd.Series:
    rows = table[
        (table["Backend"] == backend) & (table["Annotation"] == dtype) & (table["n"] == n) & (table["Metric"] == metric)
    ]
    assert len(rows) == 1, f"{len(rows)} rows of {metric}"
    return rows.iloc[0]


def test_every_configuration_is_measured(sweep: Collected, keep: Keep) -> None:
    counts = {b: {f"{d} {n}": len(sweep.runs(b, d, n)) for d in DTYPES for n in SIZES} for b in BACKENDS}
    keep("sweep", states=dict(sweep.states), faults=sweep.faults, runs=counts, seconds=round(sweep.seconds, 2))

    assert not sweep.faults
    assert all(set(found.values()) == {RUNS} for found in counts.values()), counts


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_times_add_up_and_rates_follow(sweep: Collected, backend: str, dtype: str, n: int, keep: Keep) -> None:
    table = sweep.processed
    time, rate = (_row(table, backend, dtype, n, metric) for metric in (TIME, RATE))
    runs = sweep.runs(backend, dtype, n)
    mean = math.fsum(runs) / len(runs)
    work = 2 * n**3 / 1e12  # in units of 10^12 operations
    rates = [work / (ns / 1e9) for ns in runs]
    keep(
        f"sweep/{backend}/{dtype}/{n}",
        ns=runs,
        mean_ns=mean,
        tflops=float(rate["AvgValue"]),
        kernels=int(time["NumKernels"]),
    )

    assert time["State"] == rate["State"] == "ok"
    assert int(time["NumRuns"]) == RUNS
    assert float(time["AvgValue"]) == pytest.approx(mean, rel=1e-9)
    assert float(rate["AvgValue"]) == pytest.approx(math.fsum(rates) / RUNS, rel=1e-9)
    # The mean of rates is not the rate of the mean; it is as near as the runs are to each other.
    assert float(rate["AvgValue"]) == pytest.approx(work / (mean / 1e9), rel=0.02)
    assert int(time["NumKernels"]) == 2 if (dtype, n) == ("fp32", 512) else int(time["NumKernels"]) >= 1
