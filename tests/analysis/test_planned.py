from __future__ import annotations

from typing import Any

import pytest

from reportgen.analysis import planned
from reportgen.analysis.derive import TIME
from reportgen.analysis.measurements import Measurements
from reportgen.evidence import provenance
from reportgen.evidence.bundle import BundleInfo
from tests.analysis.building import runs, table


def of(plan: Any) -> Measurements:
    info = BundleInfo("mine", "Mine", "20261201T000000Z", "complete", plan=plan)
    return Measurements(table(runs({TIME: [1.0]})), info, provenance.from_facts({}, "not said"))


def test_a_plan_is_counted() -> None:
    configs = [{"index": 0, "runs": 10}, {"index": 1, "runs": 3}]
    found = of(
        {"benchmarks": [{"name": "other", "configs": configs[:1]}, {"name": "b", "configs": configs, "warmup": 2}]}
    )
    assert planned.configurations(found, "b") == 2
    assert (planned.fewest_runs(found, "b"), planned.most_runs(found, "b")) == (3, 10)
    assert planned.warm_ups(found, "b") == 2
    assert planned.configurations(found, "absent") == 0


@pytest.mark.parametrize("plan", [{"benchmarks": 3}, {"benchmarks": [3, {"name": 4}, {"name": ""}]}, {}])
def test_a_plan_from_elsewhere_names_nothing(plan: Any) -> None:
    assert list(planned.benchmarks(plan)) == []


def test_what_a_plan_does_not_say_is_no_number() -> None:
    found = of({"benchmarks": [{"name": "b", "configs": [{"runs": True}, 7], "warmup": "x"}]})
    with pytest.raises(ValueError, match="empty"):
        planned.fewest_runs(found, "b")
    with pytest.raises(ValueError, match="does not say"):
        planned.warm_ups(found, "b")
