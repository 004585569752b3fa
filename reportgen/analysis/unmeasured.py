"""What was not measured, and why: samples without a value, gathered by what they lack and for which reason."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from reportgen.analysis.counts import UNSAID
from reportgen.analysis.measurements import Measurements
from reportgen.analysis.sources import counts


@dataclass(frozen=True, slots=True)
class Gap:
    """Samples of one benchmark, backend and scenario that have no value for one reason.

    `annotations` and `metrics` are those that they name, in the order of the samples. It is a `loss` unless the profiler merely has
    no value for a metric.
    """

    benchmark: str
    backend: str
    scenario: str
    state: str
    reason: str
    samples: int
    annotations: tuple[str, ...]
    metrics: tuple[str, ...]

    @property
    def loss(self) -> bool:
        """Tell whether evidence is missing that was to be there."""
        return self.reason not in UNSAID


def gaps(samples: pd.DataFrame) -> tuple[Gap, ...]:
    """Return all that has no value, losses before what a profiler merely has no value for, each in the order of the samples."""
    bad = samples[(samples["state"] != "ok").to_numpy()]
    keys = ["benchmark", "backend", "scenario", "state", "reason"]
    found: dict[tuple[str, str, str, str, str], dict[str, list[str]]] = {}
    columns = [bad[key].astype("object").map(str).tolist() for key in (*keys, "annotation", "metric")]
    for benchmark, backend, scenario, state, reason, annotation, metric in zip(*columns, strict=True):
        mine = found.setdefault((benchmark, backend, scenario, state, reason), {"annotation": [], "metric": []})
        mine["annotation"].append(annotation)
        mine["metric"].append(metric)
    made = [
        Gap(
            benchmark,
            backend,
            scenario,
            state,
            reason,
            len(named["metric"]),
            _named(named["annotation"]),
            _named(named["metric"]),
        )
        for (benchmark, backend, scenario, state, reason), named in found.items()
    ]
    return tuple(sorted(made, key=lambda gap: not gap.loss))


@counts("samples without a value", "text", "text", "text", "text", "text")
def samples_of(of: Measurements, benchmark: str, backend: str, scenario: str, state: str, reason: str) -> int:
    """The samples of a benchmark, backend and scenario that are in a state for a reason."""
    known = zip(
        ("benchmark", "backend", "scenario", "state", "reason"),
        (benchmark, backend, scenario, state, reason),
        strict=True,
    )
    return int(np.logical_and.reduce([(of.samples[name] == word).to_numpy() for name, word in known]).sum())


def _named(words: list[str]) -> tuple[str, ...]:
    return tuple(word for word in dict.fromkeys(words) if word)
