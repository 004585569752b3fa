"""What a collection's plan asked for, in numbers; a plan may come from elsewhere, and what it does not say well it does not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reportgen.analysis.measurements import Measurements
from reportgen.analysis.sources import counts


@counts("planned configurations", "text")
def configurations(of: Measurements, benchmark: str) -> int:
    """The configurations that the plan names of a benchmark."""
    return sum(1 for _ in _configs(of.info.plan, benchmark))


@counts("fewest planned runs", "text")
def fewest_runs(of: Measurements, benchmark: str) -> int:
    """The runs that the plan asks for in each process of a benchmark's configuration; the fewest, where they differ."""
    return min(_runs(of.info.plan, benchmark))


@counts("most planned runs", "text")
def most_runs(of: Measurements, benchmark: str) -> int:
    """The runs that the plan asks for in each process of a benchmark's configuration; the most, where they differ."""
    return max(_runs(of.info.plan, benchmark))


@counts("warm-up runs", "text")
def warm_ups(of: Measurements, benchmark: str) -> int:
    """The runs of each configuration of a benchmark that warm up and are not recorded."""
    found = next(one.get("warmup") for one in benchmarks(of.info.plan) if one.get("name") == benchmark)
    if not isinstance(found, int) or isinstance(found, bool):
        raise ValueError("the plan does not say it")
    return found


def benchmarks(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a plan's benchmarks, those that have a name."""
    found = plan.get("benchmarks")
    for one in found if isinstance(found, list) else ():
        if isinstance(one, dict) and isinstance(one.get("name"), str) and one["name"]:
            yield one


def _configs(plan: Mapping[str, Any], benchmark: str) -> Iterator[Mapping[str, Any]]:
    for one in benchmarks(plan):
        if one["name"] == benchmark:
            configs = one.get("configs")
            yield from (c for c in configs if isinstance(c, dict)) if isinstance(configs, list) else ()


def _runs(plan: Mapping[str, Any], benchmark: str) -> list[int]:
    found = [config.get("runs") for config in _configs(plan, benchmark)]
    return [n for n in found if isinstance(n, int) and not isinstance(n, bool)]
