"""What the tests on a GPU share: children that run, the figures of a bundle, and the intervals that they are judged by."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
from scipy import stats

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SUITES = HERE / "suites"
RESULTS = "gpu-results.jsonl"
TIME, CLOCK = "gpu__time_duration.sum", "nvml__sm_clock"
TIMEOUT_S = 200.0

Keep = Callable[..., None]  # keep(name, **figures) adds a line to gpu-results.jsonl


@dataclass(frozen=True)
class Ran:
    """A child that ended: what it printed, and how long it took."""

    code: int
    printed: str
    seconds: float


def python(
    arguments: Sequence[str], folder: Path, paths: Iterable[Path] = (), environment: Mapping[str, str] | None = None
) -> Ran:
    """Run this Python on `arguments` in `folder`; packages below `paths` come before the installed ones."""
    known = [*map(str, paths), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    begin = time.perf_counter()
    ran = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(known), **(environment or {})},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=TIMEOUT_S,
    )
    seconds = time.perf_counter() - begin
    if ran.returncode not in (0, 1):
        raise AssertionError(
            f"{' '.join(arguments)}: exit code {ran.returncode}\n{ran.stdout[-1500:]}{ran.stderr[-1500:]}"
        )
    return Ran(ran.returncode, ran.stdout + ran.stderr if ran.returncode else ran.stdout, seconds)


def script(
    name: str,
    folder: Path,
    *arguments: str,
    paths: Iterable[Path] = (),
    environment: Mapping[str, str] | None = None,
) -> Ran:
    """Run a script of this folder, which is to end well."""
    ran = python([str(HERE / name), *arguments], folder, paths, environment)
    assert ran.code == 0, f"{name}: {ran.printed[-3000:]}"
    return ran


@dataclass(frozen=True)
class Collected:
    """A bundle that `reportgen collect` made."""

    path: Path
    states: Mapping[str, int]
    seconds: float

    @property
    def faults(self) -> list[str]:
        """Return the states of samples that are not ok, with their reasons."""
        bad = self.samples[self.samples["state"] != "ok"]
        return sorted({f"{state}: {reason}" for state, reason in zip(bad["state"], bad["reason"], strict=True)})

    @cached_property
    def samples(self) -> pd.DataFrame:
        """Return the samples table, with its words as plain text."""
        import reportgen

        frame = reportgen.open_bundle(self.path).samples
        words = frame.select_dtypes("category").columns
        return frame.astype(dict.fromkeys(words, "object"))

    @cached_property
    def processed(self) -> pd.DataFrame:
        """Return the processed table."""
        import reportgen

        return reportgen.open_bundle(self.path).processed

    def runs(self, backend: str, annotation: str, n: int | None = None, benchmark: str = "") -> list[float]:
        """Return the ns of each run, the times of its kernels and copies added up here, from the raw samples."""
        frame = self.samples
        chosen = (frame["metric"] == TIME) & (frame["state"] == "ok") & (frame["backend"] == backend)
        chosen &= frame["annotation"] == annotation
        if n is not None:
            chosen &= frame["param:n"] == str(n)
        if benchmark:
            chosen &= frame["benchmark"] == benchmark
        return [float(v) for v in frame[chosen].groupby(["process", "run"])["value"].sum()]


def collect(suite: str, folder: Path, *options: str) -> Collected:
    """Run `reportgen collect` on a suite of this folder, in one process each; the clocks are left alone."""
    command = ["-m", "reportgen", "collect", str(SUITES / f"{suite}.py"), "--out", str(folder / "bundles"), "--json"]
    ran = python([*command, "--processes", "1", "--timeout", f"{TIMEOUT_S - 20:g}", *options], folder)
    start = ran.printed.find("{")
    assert start >= 0, ran.printed[-3000:]
    made, _ = json.JSONDecoder().raw_decode(ran.printed[start:])
    bundle = made["bundles"][0]
    return Collected(folder / bundle["path"], bundle["states"], ran.seconds)


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and half of its 95 % interval by Student's t."""
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))
    return mean, half_interval(deviation, len(values))


def half_interval(deviation: float, count: int) -> float:
    """Return half of a mean's 95 % interval."""
    return float(stats.t.ppf(0.975, count - 1)) * deviation / math.sqrt(count)
