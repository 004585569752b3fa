from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from reportgen.collect.plan import PlannedBenchmark
from reportgen.dossier.declared import Declared, declared, of


def planned(**over: object) -> dict[str, object]:
    """A benchmark as a bundle keeps it: what a collection plans, through JSON."""
    bench = PlannedBenchmark(
        "copy", "How fast?", (), None, 2, (), (), "fp32", ("default", "strict"), "burst", "off", (), "kernel", "node",
        prose="More.", main="GB/s", axis="size", expect="rises", ceiling="memory", units=(("size", "byte"),),
    )  # fmt: skip
    kept: dict[str, object] = json.loads(json.dumps(asdict(bench)))
    return kept | over


def test_all_that_a_collection_plans_is_read() -> None:
    assert declared({"benchmarks": [planned()]})["copy"] == Declared(
        name="copy",
        title="How fast?",
        prose="More.",
        main="GB/s",
        axis="size",
        expect="rises",
        ceiling="memory",
        baseline="fp32",
        apart=False,
        heat="burst",
        warmup=2,
        scenarios=("default", "strict"),
        units={"size": "byte"},
    )


def test_benchmarks_stand_in_the_order_of_the_plan() -> None:
    assert list(declared({"benchmarks": [planned(name="z"), planned(name="a")]})) == ["z", "a"]


def test_an_old_plan_declares_nothing_more_than_it_holds() -> None:
    old = {"name": "copy", "title": "T", "normalize_against": ""}
    assert declared({"benchmarks": [old]}) == {"copy": Declared(name="copy", title="T", apart=True)}


def test_what_no_plan_knows_is_not_set_apart() -> None:
    found = of(declared({"files": []}), "matmul")
    assert found == Declared(name="matmul")
    assert not found.apart


@pytest.mark.parametrize(
    "odd",
    [
        None,
        {},
        "text",
        [1, None, "x", {"name": 3}, {}],
    ],
)
def test_a_plan_of_the_wrong_types_declares_nothing(odd: object) -> None:
    assert declared({"benchmarks": odd}) == {}


@pytest.mark.parametrize(
    "key", ["title", "prose", "main", "axis", "expect", "ceiling", "units", "heat", "warmup", "scenarios"]
)
@pytest.mark.parametrize("odd", [7.5, True, None, ["x"], {"x": 1}, "up"])
def test_a_value_of_the_wrong_type_counts_as_not_declared(key: str, odd: object) -> None:
    value = getattr(declared({"benchmarks": [planned(**{key: odd})]})["copy"], key)
    known = {"title": "up", "prose": "up", "main": "up", "axis": "up", "heat": "up"}
    good = known.get(key) if odd == "up" else ("x",) if (key, odd) == ("scenarios", ["x"]) else None
    assert value == (getattr(Declared(), key) if good is None else good)
