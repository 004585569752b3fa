"""Every figure of the shipped dossiers leads to a place from which it is computed again here, by other code."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from reportgen.analysis import bottleneck, processed
from reportgen.analysis.evaluate import Evaluator
from reportgen.analysis.measurements import Measurements
from reportgen.dossier.build import build
from reportgen.dossier.model import Dossier, Figure
from reportgen.evidence import sensed
from reportgen.evidence.bundle import Bundle, open_bundle

BUNDLES = sorted((Path(__file__).parent.parent.parent / "site" / "bundles").glob("*/*"))
_CELL = re.compile(r"([0-9a-f]{12})\.(\w+)")
_KERNEL = re.compile(r"([0-9a-f]{12})/k(\d+)\.AvgValue")
_PAIR = re.compile(r"(ratio|ratio_low|ratio_high|share_saved)\((\w+)(?:\.AvgValue)?,(\w+)(?:\.AvgValue)?\)")


def figures(value: Any) -> Iterator[Figure]:
    """Find every figure in a dossier, however deep."""
    if isinstance(value, Figure):
        yield value
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from figures(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from figures(item)


class Again:
    """Computes a figure again from a bundle: plain loops over its samples and its processed table."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.samples = bundle.samples()
        self.table = processed.table(self.samples, bundle.info.formulas, bundle.provenance).set_index("Row")
        self.runs = processed.runs(self.samples, bundle.info.formulas, bundle.provenance)

    def __call__(self, source: str) -> float | None:
        """Return the value, or None for what only the evaluator computes."""
        if found := _CELL.fullmatch(source):
            return float(str(self.table.loc[found[1], found[2]]))
        if found := _PAIR.fullmatch(source):
            return self._pair(found[1], found[2], found[3])
        if found := _KERNEL.fullmatch(source):
            return self._kernel(found[1], int(found[2]))
        kind, _, rest = source.partition(":")
        if kind == "provenance":
            key, _, end = rest.removesuffix("]").partition("[")
            ends = str(self.bundle.provenance.facts[key].value).split(" to ")
            return float(ends[int(end or 0)])
        if kind == "file":
            return float(next(f.size for f in self.bundle.files() if f"{f.path}.bytes" == rest))
        if source == "constant:bottleneck.BUSY_PCT":
            return bottleneck.BUSY_PCT
        return None

    def _values(self, row: str) -> dict[tuple[int, int], float]:
        where = self.table.loc[row]
        mine = self.runs[
            (self.runs["annotation"] == where["Annotation"])
            & (self.runs["metric"] == where["Metric"])
            & (self.runs["backend"] == where["Backend"])
            & (self.runs["scenario"] == where["Scenario"])
            & (self.runs["benchmark"] == where["Benchmark"])
            & (self.runs["state"] == "ok")
        ]
        for name in [c for c in mine.columns if c.startswith("param:")]:
            asked = where[name.removeprefix("param:")]
            mine = mine[
                [text == "" if asked == "" else bool(text) and json.loads(text) == asked for text in mine[name]]
            ]
        return {(int(p), int(r)): v for p, r, v in zip(mine["process"], mine["run"], mine["value"], strict=True)}

    def _pair(self, function: str, above: str, below: str) -> float:
        a, b = self._values(above), self._values(below)
        if function == "share_saved":
            return float((1 - np.mean(list(a.values())) / np.mean(list(b.values()))) * 100)
        common = sorted(a.keys() & b.keys())
        logs = np.array([math.log(a[key] / b[key]) for key in common])
        processes = sorted({process for process, _ in common})
        if len(processes) >= 3:  # the process is the unit
            logs = np.array(
                [np.mean([x for x, key in zip(logs, common, strict=True) if key[0] == p]) for p in processes]
            )
        from scipy import stats

        low, high = stats.t.interval(0.95, len(logs) - 1, logs.mean(), stats.sem(logs))
        return math.exp({"ratio": logs.mean(), "ratio_low": low, "ratio_high": high}[function])

    def _kernel(self, row: str, index: int) -> float:
        where = self.table.loc[row] if row in self.table.index else None
        found: list[float] = []
        params = [c for c in self.samples.columns if c.startswith("param:")]
        keys = ["suite", "benchmark", "backend", "workload", "scenario", *params, "annotation", "metric"]
        part = self.samples[(self.samples["kernel_index"] == index) & (self.samples["state"] == "ok")]
        for identity, group in part.astype(dict.fromkeys(keys, "object")).groupby(keys, sort=False)["value"]:
            if processed.row_id([str(i) for i in identity]) == row:
                found = list(group)
        assert found, (row, index, where is not None)
        return float(np.mean(found))


@pytest.fixture(scope="module", params=BUNDLES, ids=lambda p: p.parent.name + "-" + p.name[:15])
def case(request: pytest.FixtureRequest) -> tuple[Dossier, Again]:
    bundle = open_bundle(request.param)
    return build(bundle, "full"), Again(bundle)


def test_every_figure_is_what_the_evaluator_computes(case: tuple[Dossier, Again]) -> None:
    dossier, again = case
    bundle = again.bundle
    of = Measurements(bundle.samples(), bundle.info, bundle.provenance, sensed.read(bundle))
    evaluate = Evaluator(of, {file.path: file.size for file in bundle.files()})

    for figure in figures(dossier):
        assert evaluate(figure.source).value == pytest.approx(figure.value, rel=1e-11), figure


def test_there_are_shipped_bundles() -> None:
    assert len(BUNDLES) >= 6


def test_every_figure_is_what_its_source_gives(case: tuple[Dossier, Again]) -> None:
    dossier, again = case
    found = list(figures(dossier))
    known: dict[str, float | None] = {}
    compared = 0
    for figure in found:
        if figure.source not in known:
            known[figure.source] = again(figure.source)
        value = known[figure.source]
        if value is not None:
            assert figure.value == pytest.approx(value, rel=1e-9, nan_ok=True), figure
            compared += 1

    assert len(found) > 60
    assert compared > len(found) / 2


def test_counts_of_launches_and_samples_are_right(case: tuple[Dossier, Again]) -> None:
    dossier, again = case
    counts = {f.source: f.value for f in figures(dossier.lead)}
    frame: pd.DataFrame = again.samples

    place = [
        *("benchmark", "backend", "scenario", "annotation", "process", "run", "kernel_index"),
        *[c for c in frame.columns if c.startswith("param:")],
    ]
    launched = frame[frame["kernel_index"].notna()]
    assert counts["count(launches)"] == len(launched[place].drop_duplicates())
