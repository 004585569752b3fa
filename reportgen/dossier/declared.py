"""What a suite declares of its benchmarks: read once from a bundle's plan, with safe defaults for a bundle that lacks it.

A plan may come from elsewhere: whatever has not the type it should have counts as not declared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

Shape = Literal["rises", "falls", "flat"]
Ceiling = Literal["compute", "memory"]


@dataclass(frozen=True, slots=True)
class Declared:
    """What a suite says of one benchmark; every default is what a suite that says nothing means.

    `baseline` is the annotation against which the suite sets the others; `apart` says that a plan is there and names none:
    its annotations do different work. `units` are those of parameters, by name (`{"size": "byte"}`).
    """

    name: str = ""
    title: str = ""
    prose: str = ""
    main: str = ""
    axis: str = ""
    expect: Shape | Literal[""] = ""
    ceiling: Ceiling | Literal[""] = ""
    baseline: str = ""
    apart: bool = False
    heat: str = ""
    warmup: int | None = None
    scenarios: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)


def declared(plan: Mapping[str, Any]) -> Mapping[str, Declared]:
    """Return what a bundle's plan declares, by the name of each benchmark, in the plan's order."""
    return {one.name: one for one in map(_read, _benchmarks(plan)) if one.name}


def of(found: Mapping[str, Declared], benchmark: str) -> Declared:
    """Return what is declared of one benchmark; nothing where the plan does not know it."""
    return found.get(benchmark, Declared(name=benchmark))


def _benchmarks(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    planned = plan.get("benchmarks")
    yield from (one for one in planned if isinstance(one, dict)) if isinstance(planned, list) else ()


def _read(bench: Mapping[str, Any]) -> Declared:
    warmup = bench.get("warmup")
    expect, ceiling = _text(bench, "expect"), _text(bench, "ceiling")
    scenarios = bench.get("scenarios")
    return Declared(
        name=_text(bench, "name"),
        title=_text(bench, "title"),
        prose=_text(bench, "prose"),
        main=_text(bench, "main"),
        axis=_text(bench, "axis"),
        expect=cast("Shape", expect) if expect in get_args(Shape) else "",
        ceiling=cast("Ceiling", ceiling) if ceiling in get_args(Ceiling) else "",
        baseline=_text(bench, "normalize_against"),
        apart=bench.get("normalize_against") == "",
        heat=_text(bench, "heat"),
        warmup=warmup if isinstance(warmup, int) and not isinstance(warmup, bool) else None,
        scenarios=tuple(s for s in scenarios if isinstance(s, str)) if isinstance(scenarios, list) else (),
        units=dict(_pairs(bench.get("units"))),
    )


def _text(bench: Mapping[str, Any], key: str) -> str:
    value = bench.get(key)
    return value if isinstance(value, str) else ""


def _pairs(found: Any) -> Iterator[tuple[str, str]]:
    """Yield (name, unit) of a list of pairs, as a plan is kept, or of a mapping."""
    pairs = found.items() if isinstance(found, dict) else found if isinstance(found, list) else ()
    for pair in pairs:
        if isinstance(pair, list | tuple) and len(pair) == 2 and all(isinstance(part, str) for part in pair):
            yield pair[0], pair[1]
