"""The grammar of range messages, and where a launch belongs without one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.readers.launches import Launch, Range, assign, parse_message


def launch(kernel: str, *messages: str, grid: str = "(1, 1, 1)", domain: str = "bench") -> Launch:
    return Launch("0/0", kernel, "kernel", grid, "(32, 1, 1)", tuple(Range(domain, "start/end", m) for m in messages))


def test_a_message_holds_annotation_parameters_and_run() -> None:
    parsed = parse_message("fp16|n=2048|dtype=float16|shape=[1, 2]|run=3")

    assert parsed.annotation == "fp16"
    assert parsed.params == (("n", "2048"), ("dtype", '"float16"'), ("shape", "[1,2]"))
    assert parsed.run == 3


@pytest.mark.parametrize("message", ["graph replay 0", "a|b", "a|=3", "", "run=3", "a || b"])
def test_what_is_not_of_the_grammar_is_an_annotation_as_it_stands(message: str) -> None:
    parsed = parse_message(message)

    assert (parsed.annotation, parsed.params, parsed.run) == (message, (), None)


def test_a_run_that_is_no_number_is_a_parameter() -> None:
    assert parse_message("a|run=x").params == (("run", '"x"'),)


@given(st.text())
def test_any_message_parses(message: str) -> None:
    assert parse_message(message).annotation in message


def test_launches_keep_the_run_that_their_message_gives() -> None:
    ran = [
        launch("a", "x|n=1|run=0"),
        launch("b", "x|n=1|run=0"),
        launch("a", "x|n=1|run=1"),
        launch("a", "x|n=2|run=0"),
    ]

    places = assign(ran)

    assert [(p.params, p.run, p.kernel_index) for p in places] == [
        ((("n", "1"),), 0, 0),
        ((("n", "1"),), 0, 1),
        ((("n", "1"),), 1, 0),
        ((("n", "2"),), 0, 0),
    ]


def test_without_run_consecutive_launches_under_one_message_are_one_run() -> None:
    ran = [
        launch("mul", "unfused"),
        launch("add", "unfused"),
        launch("f", "fused"),
        launch("mul", "unfused"),
        launch("add", "unfused"),
    ]

    places = assign(ran)

    assert [(p.annotation, p.run, p.kernel_index) for p in places] == [
        ("unfused", 0, 0),
        ("unfused", 0, 1),
        ("fused", 0, 0),
        ("unfused", 1, 0),
        ("unfused", 1, 1),
    ]


def test_without_ranges_launches_are_grouped_by_kernel_and_launch_shape() -> None:
    ran = [launch("k", grid="(8, 1, 1)"), launch("k", grid="(8, 1, 1)"), launch("k", grid="(16, 1, 1)")]

    places = assign(ran)

    assert [(p.annotation, dict(p.params)["grid"], p.run) for p in places] == [
        ("k", '"(8, 1, 1)"', 0),
        ("k", '"(8, 1, 1)"', 1),
        ("k", '"(16, 1, 1)"', 0),
    ]


def test_runs_of_one_name_that_launch_other_shapes_are_told_apart() -> None:
    """nsight-python names the annotation only, so a size sweep would fall into one row."""
    ran = [launch("k", "fp32", grid=g) for g in ("(8, 1, 1)", "(8, 1, 1)")]
    ran = [r for pair in zip(ran, [launch("h", "fp16")] * 2, strict=True) for r in pair]
    ran += [launch("k", "fp32", grid="(64, 1, 1)"), launch("h", "fp16")]

    places = assign(ran)

    fp32 = [(dict(p.params), p.run) for p in places if p.annotation == "fp32"]
    assert fp32 == [({"launch": "0"}, 0), ({"launch": "0"}, 1), ({"launch": "1"}, 0)]
    assert [p.params for p in places if p.annotation == "fp16"] == [(), (), ()]


def test_the_range_that_names_a_run_is_chosen_among_nested_ones() -> None:
    assert assign([launch("k", "outer", "x|n=1|run=0", "inner")])[0].annotation == "x"
    assert assign([launch("k", "outer", "inner")])[0].annotation == "inner"
