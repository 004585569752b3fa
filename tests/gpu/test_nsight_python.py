"""Beside nsight-python, on the sizes that it can run: the same means, and no longer under ncu.

REPORTGEN_NSIGHT_PYTHON_096 and REPORTGEN_NSIGHT_PYTHON_110 name the folders that hold the two versions.
"""

from __future__ import annotations

import json
import os
import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reportgen.collect.ncu import ALWAYS
from tests.gpu.harness import TIME, Collected, Keep, collect, half_interval, interval, python, script

pytestmark = pytest.mark.gpu
SIZES, DTYPES, RUNS = (1024, 2048, 4096), ("fp32", "fp16"), 10
ROUNDS = 2  # of both, in turn, for the wall time
NEAR = 0.02


def _package(version: str) -> Path:
    name = f"REPORTGEN_NSIGHT_PYTHON_{version.replace('.', '')}"
    folder = os.environ.get(name)
    if not folder:
        pytest.skip(
            f"{name} is not set: it names a folder made by pip install --target FOLDER nsight-python=={version}"
        )
    return Path(folder).absolute()


@dataclass
class Pair:
    """What both measured of the same configurations, and how long each took."""

    theirs: dict[str, Any] = field(default_factory=dict)
    ours: Collected | None = None
    their_seconds: list[float] = field(default_factory=list)
    our_seconds: list[float] = field(default_factory=list)


def _theirs(tool: str, version: str, folder: Path, *metrics: str) -> tuple[dict[str, Any], float]:
    out = folder / f"{tool}.json"
    ran = script("nsight_python.py", folder, tool, str(out), str(RUNS), *metrics, paths=[_package(version)])
    found = json.loads(out.read_bytes())
    assert found["version"] == version
    return found, ran.seconds


@pytest.fixture(scope="module")
def under_ncu(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    _package("0.9.6")
    pair = Pair()
    for _ in range(ROUNDS):
        pair.theirs, seconds = _theirs("ncu", "0.9.6", tmp_path_factory.mktemp("theirs"), *ALWAYS)
        pair.their_seconds.append(round(seconds, 2))
        options = ("--backend", "ncu", "--scenario", "default", "--order", "blocks", "--runs", str(RUNS))
        pair.ours = collect("pair", tmp_path_factory.mktemp("ours"), *options)
        pair.our_seconds.append(round(pair.ours.seconds, 2))
    return pair


@pytest.fixture(scope="module")
def under_cupti(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    pair = Pair()
    pair.theirs, seconds = _theirs("cupti", "1.1.0", tmp_path_factory.mktemp("theirs"), TIME)
    pair.their_seconds.append(round(seconds, 2))
    # nsight-python's CUPTI tool leaves the caches warm.
    options = ("--backend", "cupti", "--scenario", "continuous", "--order", "blocks", "--runs", str(RUNS))
    pair.ours = collect("pair", tmp_path_factory.mktemp("ours"), *options)
    pair.our_seconds.append(round(pair.ours.seconds, 2))
    return pair


def _compare(pair: Pair, backend: str, dtype: str, n: int, keep: Keep) -> None:
    assert pair.ours is not None
    row = next(row for row in pair.theirs["rows"] if (row["annotation"], row["n"]) == (dtype, n))
    runs = pair.ours.runs(backend, dtype, n)
    mean, half = interval(runs)
    their_half = half_interval(row["deviation"], row["runs"])
    apart = abs(mean - row["mean"])
    keep(
        f"nsight-python/{backend}/{dtype}/{n}",
        ours_ns=mean,
        ours_half=half,
        ours_runs=len(runs),
        theirs_ns=row["mean"],
        theirs_half=their_half,
        theirs_runs=row["runs"],
        apart_pct=round(apart / row["mean"] * 100, 3),
    )

    assert len(runs) == row["runs"] == RUNS
    assert apart <= max(NEAR * row["mean"], half + their_half), f"{mean:.0f} ns and {row['mean']:.0f} ns"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_means_agree_under_ncu(under_ncu: Pair, dtype: str, n: int, keep: Keep) -> None:
    _compare(under_ncu, "ncu", dtype, n, keep)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_means_agree_under_cupti(under_cupti: Pair, dtype: str, n: int, keep: Keep) -> None:
    _compare(under_cupti, "cupti", dtype, n, keep)


def test_collecting_under_ncu_takes_no_longer(under_ncu: Pair, tmp_path: Path, keep: Keep) -> None:
    """Both start torch twice: nsight-python in its script and again under ncu, reportgen for the plan and under ncu."""
    start = python(["-c", "import torch; torch.zeros(1, device='cuda')"], tmp_path).seconds
    ours, theirs = statistics.median(under_ncu.our_seconds), statistics.median(under_ncu.their_seconds)
    keep(
        "wall time under ncu",
        ours_s=under_ncu.our_seconds,
        theirs_s=under_ncu.their_seconds,
        ratio=round(ours / theirs, 3),
        start_of_torch_s=round(start, 2),
    )

    assert ours <= theirs
