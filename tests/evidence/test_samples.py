"""The schema of the samples table, and the constants that are kept once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reportgen.evidence import samples
from reportgen.evidence.errors import UserError
from tests.evidence.making import assert_same, report, rows_of, table


class TestCheck:
    def test_a_good_table_comes_back_itself(self) -> None:
        frame = report()
        assert samples.check(frame) is frame
        assert list(frame.columns) == samples.columns(["param:n"])

    def test_an_empty_table_is_good(self) -> None:
        assert len(samples.check(samples.concat([]))) == 0

    @pytest.mark.parametrize(
        ("change", "what"),
        [
            ({"state": "fine"}, "row 1: state is not one of ok"),
            ({"state": "failed", "value": np.nan}, "row 1: a state that is not ok has no reason"),
            ({"reason": "why"}, "row 1: a sample that is ok has a reason"),
            ({"state": "failed", "reason": "why"}, "row 1: a sample that is not ok has a value"),
            ({"state": "failed", "reason": "why", "value": np.inf}, "row 1: a sample that is not ok has a value"),
            ({"text": "word"}, "row 1: a sample has both a number and a text"),
            ({"metric": ""}, "row 1: the metric has no name"),
            ({"source": ""}, "row 1: the sample has no source"),
        ],
    )
    def test_a_row_that_lies_is_named(self, change: dict[str, Any], what: str) -> None:
        with pytest.raises(UserError) as caught:
            table([{}, change])
        assert what in caught.value.line

    @pytest.mark.parametrize(
        "row",
        [
            {"state": "failed", "reason": "nan duration", "value": np.nan},
            {"text": "CachePreferNone", "value": np.nan},
            {"value": np.nan},
            {"value": np.inf},
            {"process": pd.NA, "run": pd.NA, "kernel_index": pd.NA},
        ],
    )
    def test_a_row_that_may_be(self, row: dict[str, Any]) -> None:
        assert len(table([row])) == 1

    @pytest.mark.parametrize(
        ("change", "what"),
        [
            (lambda f: f.drop(columns="unit"), r"missing columns \['unit'\], unknown columns \[\]"),
            (lambda f: f.assign(more=1), r"missing columns \[\], unknown columns \['more'\]"),
            (lambda f: f[[*f.columns[1:], "suite"]], "in another order"),
            (lambda f: f.assign(value=f["value"].astype("float32")), "'value' holds float32, not float64"),
            (lambda f: f.assign(run=f["run"].astype("float64")), "'run' holds float64, not Int64"),
            (lambda f: f.assign(unit=None), "column 'unit' is empty"),
        ],
    )
    def test_a_table_of_another_form_is_refused(
        self, change: Callable[[pd.DataFrame], pd.DataFrame], what: str
    ) -> None:
        with pytest.raises(UserError, match=what) as caught:
            samples.check(change(report()), "raw.csv")
        assert caught.value.path == "raw.csv"


class TestCanonical:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [(2048, "2048"), ("fp16", '"fp16"'), ({"b": 1, "a": [1.5]}, '{"a":[1.5],"b":1}'), (True, "true"), ("ä", '"ä"')],
    )
    def test_json(self, value: object, expected: str) -> None:
        assert samples.canonical(value) == expected

    def test_nan_is_no_parameter(self) -> None:
        with pytest.raises(ValueError, match="Out of range"):
            samples.canonical(float("nan"))


class TestConcat:
    def test_a_parameter_that_one_lacks_is_empty_there(self) -> None:
        joined = samples.concat([report(1), table([{"param:k": "1"}], ("param:k",))])
        assert samples.param_columns(joined) == ["param:n", "param:k"]
        assert list(joined["param:k"]) == [""] * 4 + ["1"]
        assert joined["run"].dtype == pd.Int64Dtype()

    def test_one_table_stays_as_it_is(self) -> None:
        assert_same(samples.concat([report()]), report())


class TestConstants:
    def test_a_device_attribute_stands_once(self) -> None:
        raw, constants = samples.split_constants(report())
        assert list(constants["metric"]) == ["device__attribute_l2_cache_size", "device__attribute_display_name"]
        assert set(constants["source"]) == {"data/import/m.ncu-rep#0/*"}
        assert set(constants["kernel"]) == {""}
        assert constants["run"].isna().all()
        assert set(raw["metric"]) == {"gpu__time_duration.sum", "launch__grid_size"}
        assert_same(samples.expand(raw, constants), report())

    def test_a_report_of_one_launch_is_left_alone(self) -> None:
        raw, constants = samples.split_constants(report(1))
        assert_same(raw, report(1))
        assert len(constants) == 0

    @pytest.mark.parametrize(
        ("column", "value"),
        [("value", 7.0), ("unit", "bit"), ("text", "x"), ("state", "dropped"), ("metric", "device__attribute_other")],
    )
    def test_what_differs_in_one_launch_stays(self, column: str, value: object) -> None:
        frame = report().astype({"unit": "object", "text": "object", "state": "object", "metric": "object"})
        frame[column] = pd.Series([value if row == 2 else old for row, old in enumerate(frame[column])])
        if column == "text":
            frame.loc[2, "value"] = np.nan
        if column == "state":
            frame["reason"] = ["", "", "why"] + [""] * 9
            frame.loc[2, "value"] = np.nan
        raw, constants = samples.split_constants(samples.check(frame))
        assert list(constants["metric"]) == ["device__attribute_display_name"]
        assert rows_of(samples.expand(raw, constants)) == rows_of(frame)

    def test_zero_and_minus_zero_are_two_values(self) -> None:
        frame = report(2)
        frame.loc[frame["metric"] == "device__attribute_l2_cache_size", "value"] = [0.0, -0.0]
        raw, _ = samples.split_constants(frame)
        assert "device__attribute_l2_cache_size" in set(raw["metric"])

    def test_a_metric_twice_in_one_launch_and_not_in_another_stays(self) -> None:
        first, second = ({"source": f"r#0/{launch}"} for launch in range(2))
        rows = [{**launch, "metric": name} for launch in (first, second) for name in ("time.sum", "device__name")]
        frame = table([*rows, {**first, "metric": "device__size"}, {**first, "metric": "device__size"}])
        raw, constants = samples.split_constants(frame)
        assert list(constants["metric"]) == ["device__name"]
        assert rows_of(samples.expand(raw, constants)) == rows_of(frame)

    def test_a_launch_never_loses_its_last_row(self) -> None:
        rows = [{"source": f"r#0/{n}", "metric": "device__attribute_x"} for n in range(3)]
        frame = table([*rows, {"source": "r#0/0", "metric": "time"}, {"source": "r#0/1", "metric": "time"}])
        raw, constants = samples.split_constants(frame)
        assert len(constants) == 0
        assert_same(raw, frame)

    def test_a_launch_whose_rows_disagree_on_its_place_is_left_alone(self) -> None:
        frame = report(2).astype({"annotation": "object"})
        frame.loc[1, "annotation"] = "other"
        raw, constants = samples.split_constants(frame)
        assert len(constants) == 0
        assert_same(raw, frame)

    def test_sources_of_other_forms_are_left_alone(self) -> None:
        rows = [{"source": f"data/cupti/default/0/activity.csv#L{n}", "metric": "device"} for n in (1, 2)]
        rows += [{"source": "data/import/m.ncu-rep#0/*", "metric": "device"}]
        raw, constants = samples.split_constants(table(rows))
        assert len(constants) == 0
        assert_same(raw, table(rows))

    def test_mixed_sources(self) -> None:
        """Two reports with other constants, a range of the same report, CSV lines, and a row that is for all launches."""
        second = report(2, "data/import/other.ncu-rep")
        second.loc[second["metric"] == "device__attribute_l2_cache_size", "value"] = 1.0
        lines = table([{"source": "data/a/b.csv#L1"}, {"source": "data/import/m.ncu-rep#0/*", "metric": "span"}])
        frame = samples.concat([report(), second, lines, report(1, "data/import/third.ncu-rep")])
        raw, constants = samples.split_constants(frame)
        assert len(constants) == 4
        assert len(raw) == len(frame) - 10
        assert_same(samples.expand(raw, constants), frame)

    def test_constants_of_a_report_that_is_not_there_are_an_error(self) -> None:
        _, constants = samples.split_constants(report())
        with pytest.raises(UserError, match="constants of a report without launches"):
            samples.expand(table([{"source": "data/a.csv#L1"}], ("param:n",)), constants)


WORD = st.sampled_from(["", "a", "b|c", "ä\n"])
ROW = st.fixed_dictionaries(
    {
        "launch": st.integers(0, 3),
        "report": st.sampled_from(["data/r.ncu-rep#0", "data/r.ncu-rep#1", "data/x"]),
        "metric": st.sampled_from(["device__a", "device__b|", "launch__c", "time.sum"]),
        "value": st.sampled_from([0.0, -0.0, 1.5, np.nan, np.inf]),
        "unit": WORD,
        "bad": st.booleans(),
        "words": WORD,
    }
)


def _drawn(row: dict[str, Any]) -> dict[str, Any]:
    hash_or_line = f"{row['report']}/{row['launch']}" if "#" in row["report"] else f"{row['report']}#L{row['launch']}"
    made = {"source": hash_or_line, "metric": row["metric"], "unit": row["unit"], "value": row["value"]}
    made |= {"run": row["launch"], "param:n": str(row["launch"]), "kernel": f"k{row['launch']}"}
    if row["bad"]:
        return {**made, "state": "failed", "reason": row["words"] or "why", "value": np.nan}
    return {**made, "text": row["words"] if np.isnan(row["value"]) else ""}


@settings(max_examples=80, deadline=None)
@given(st.lists(ROW, max_size=24))
def test_expand_is_the_inverse_of_split(rows: list[dict[str, Any]]) -> None:
    frame = table([_drawn(row) for row in rows], ("param:n",))
    raw, constants = samples.split_constants(frame)
    again = samples.expand(raw, constants)
    assert rows_of(again) == rows_of(frame)
    assert set(raw["source"]) == set(frame["source"])
    for one, other in zip(samples.split_constants(again), (raw, constants), strict=True):
        assert rows_of(one) == rows_of(other)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 4), st.integers(0, 3), st.integers(0, 3), st.randoms(use_true_random=False))
def test_regular_reports_lose_their_constants_and_get_them_back(
    launches: int, devices: int, times: int, random: Any
) -> None:
    rows = []
    for launch in range(launches):
        place = {"source": f"r#0/{launch}", "kernel_index": launch}
        rows += [{**place, "metric": f"time{n}.sum", "value": random.random()} for n in range(times)]
        rows += [{**place, "metric": f"device__{n}", "value": float(n)} for n in range(devices)]
    frame = table(rows)
    raw, constants = samples.split_constants(frame)
    assert len(constants) == (devices if launches > 1 and times else 0)
    assert_same(samples.expand(raw, constants), frame)
