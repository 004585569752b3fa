"""Collections made of a few process means, from which the tests of a comparison are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reportgen.analysis import processed, series
from reportgen.analysis.derive import TIME
from reportgen.analysis.series import Collected
from reportgen.evidence import provenance
from tests.analysis.building import Row, run, table

FACTS = {
    "gpu.name": "NVIDIA H200",
    "policy.cache": "default, ncu: flushed by ncu before each kernel and pass; continuous, ncu: kept",
    "policy.clocks": "default: free; continuous: free",
    "policy.flush_granularity": "ncu: kernel and pass; cupti: region",
}
PLAN = {"benchmarks": [{"name": "square", "heat": "burst", "replay": "kernel"}]}


def rows(times: Sequence[Any], annotation: str = "fp32", metric: str = TIME, **over: Any) -> list[Row]:
    """Make one run for each process: `times[p]` is its value, or the reason for which it failed."""
    made = []
    for process, value in enumerate(times):
        made += run({metric: value}, annotation=annotation, process=process, **over)
    return made


def collected(
    samples: Iterable[Row],
    *,
    digest: str = "0",
    suite: str = "matmul",
    facts: Mapping[str, Any] = FACTS,
    plan: Mapping[str, Any] = PLAN,
    **over: Any,
) -> Collected:
    """Make a collection of samples; `over` are fields of `Collected`."""
    known = provenance.from_facts(dict(facts), "not said", "a test")
    per_run = processed.runs(table(samples))
    return Collected(
        digest=digest * 64,
        id=f"{suite}-20261130T211006Z",
        suite=suite,
        facts=known,
        readings=series.readings(per_run, known, plan),
        **over,
    )
