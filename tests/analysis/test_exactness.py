from __future__ import annotations

import pytest

from reportgen.analysis import exactness
from reportgen.analysis.derive import TIME
from tests.analysis.building import Row, grouped, runs

ERROR = "relative error"


def precision(name: str, time: float, error: float, n: int = 3) -> list[Row]:
    spread = [1.0, 1.001, 0.999][:n]
    return runs({TIME: [time * s for s in spread], ERROR: [error * s for s in spread]}, annotation=name)


def of(rows: list[Row], baseline: str = "fp32") -> list[tuple[str, float, float]]:
    group = grouped(rows)[0]
    (cases,) = group.rivals()
    found = exactness.bargains(cases, baseline, exactness.error_metric(group))
    return [(one.case.annotation, one.speed.value, one.error.value) for one in found]


def test_what_is_faster_and_less_exact_says_by_how_much_the_fastest_last() -> None:
    rows = [*precision("fp32", 1600.0, 1e-6), *precision("fp8", 100.0, 2e-2), *precision("fp16", 200.0, 1e-4)]
    got = of(rows)
    assert [one[0] for one in got] == ["fp16", "fp8"]
    assert got[0][1:] == pytest.approx((8.0, 100.0))
    assert got[1][1:] == pytest.approx((16.0, 20_000.0))


@pytest.mark.parametrize(
    "rows",
    [
        precision("fp16", 200.0, 1e-7),  # faster and no less exact
        precision("fp16", 1700.0, 1e-4),  # slower
        precision("fp16", 200.0, 1e-4, 2),  # two runs have no interval
        precision("fp16", 200.0, 0.0),  # no error at all has no ratio
        runs({TIME: [200.0] * 3}, annotation="fp16"),  # its error was not recorded
    ],
)
def test_without_evidence_nothing_is_given_up(rows: list[Row]) -> None:
    assert of([*precision("fp32", 1600.0, 1e-6, 3), *rows]) == []


def test_without_its_baseline_nothing_is_given_up() -> None:
    assert of([*precision("fp32", 1600.0, 1e-6), *precision("fp16", 200.0, 1e-4)], "fp64") == []


def test_an_error_has_a_name_that_says_so_and_no_unit() -> None:
    rows = runs({TIME: [1.0], "ratio": [1.0], "Max Error": [1e-3]})
    assert exactness.error_metric(grouped(rows)[0]) == "Max Error"
    for row in rows:
        row["unit"] = "us" if row["metric"] == "Max Error" else row["unit"]
    assert exactness.error_metric(grouped(rows)[0]) == ""
