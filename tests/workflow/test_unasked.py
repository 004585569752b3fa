"""Metrics that a section of ncu's brought and that have no value are no loss; those that a suite asked for are."""

from types import SimpleNamespace
from typing import Any, cast

import pandas as pd

from reportgen.evidence import samples
from reportgen.readers import ncu_rep
from reportgen.workflow import steps


def _states(metrics: tuple[str, ...], asked: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    states = ["dropped" if name.startswith("sass__") else "ok" for name in metrics]
    reasons = [ncu_rep.NO_VALUE if state == "dropped" else "" for state in states]
    values = [float("nan") if state == "dropped" else 1.0 for state in states]
    data: dict[str, Any] = {"metric": list(metrics), "value": values, "state": states, "reason": reasons}
    data["source"] = ["ncu/default/0/report.ncu-rep#0/0"] * len(metrics)
    plan = cast("Any", SimpleNamespace(benchmarks=(SimpleNamespace(metrics=asked),)))
    frame: pd.DataFrame = steps._unasked(samples.make(data, len(metrics)), plan)
    return {m: (s, r) for m, s, r in frame[["metric", "state", "reason"]].astype("object").itertuples(index=False)}


def test_a_metric_that_only_a_section_brought_is_skipped_without_its_value_and_says_why() -> None:
    got = _states(("sass__a", "sass__b", "gpu__time_duration.sum"), asked=("sass__b", "section:Occupancy"))
    assert got["sass__a"] == ("skipped", steps.UNFILLED)
    assert got["sass__b"] == ("dropped", ncu_rep.NO_VALUE)
    assert got["gpu__time_duration.sum"] == ("ok", "")
