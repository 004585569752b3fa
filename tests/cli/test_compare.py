"""`reportgen compare`: from bundles on disk to an exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reportgen.evidence import provenance
from tests.analysis.building import table
from tests.analysis.collections_of import FACTS, PLAN, rows
from tests.cli.conftest import Run
from tests.evidence import making

SITE = Path(__file__).parents[2] / "site" / "bundles"
A, B, C = sorted((SITE / "fusion").iterdir())
STEADY = [1000.0, 1002.0, 999.0, 1001.0, 998.0, 1003.0]
SLOW = [1.1 * time for time in STEADY]


def bundle(out: Path, times: list[float], day: int = 1, **over: Any) -> Path:
    info = making.info(plan=PLAN, formulas=(), start=f"202611{day:02}T211006Z", **over)
    known = provenance.from_facts(dict(FACTS), "not said", "a test")
    return making.make(out, info=info, provenance=known, samples=table(rows(times)), processed={})


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    return bundle(tmp_path, STEADY), bundle(tmp_path, SLOW, 2)


def test_a_regression_is_said_and_fails_only_where_asked(pair: tuple[Path, Path], run: Run) -> None:
    said, asked, faster = run("compare", *pair), run("compare", *pair, "--fail-on", "slower"), pair[::-1]

    assert said.out.startswith("matmul: 1 slower, 0 faster, 0 cannot tell, 0 same\n")
    assert (said.code, said.err) == (0, "")
    assert (asked.code, asked.out) == (1, said.out)
    assert run("compare", *faster, "--fail-on", "slower").code == 0


@pytest.mark.parametrize(
    ("form", "begins"), [("json", "{"), ("markdown", "### "), ("junit", "<?xml"), ("text", "matmul")]
)
def test_every_format(pair: tuple[Path, Path], run: Run, form: str, begins: str) -> None:
    ran = run("compare", *pair, "--format", form, "--fail-on", "slower")

    assert ran.code == 1
    assert ran.out.startswith(begins)
    assert ran.out.endswith("\n")


def test_the_same_bundles_give_the_same_bytes(pair: tuple[Path, Path], run: Run) -> None:
    assert run("compare", *pair, "--format", "json").out == run("compare", *pair, "--format", "json").out


def test_a_threshold_and_a_direction(pair: tuple[Path, Path], run: Run) -> None:
    assert "1 same" in run("compare", *pair, "--threshold", "15").out
    assert "1 faster" in run("compare", *pair, "--better", "gpu__time_duration.sum=higher").out


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--threshold", "0"), "0.0 is not in the range x>0"),
        (("--better", "time"), "'time' is not NAME=lower or NAME=higher"),
        (("--metric", "dram"), "no bundle has the metric 'dram'; `reportgen samples BUNDLE --processed` names all"),
        (("--metric", "gpu__time"), "did you mean gpu__time_duration.sum?"),
        (("--fail-on", "faster"), "'faster' is not 'slower'"),
    ],
)
def test_wrong_use_is_one_line(pair: tuple[Path, Path], run: Run, options: tuple[str, str], line: str) -> None:
    ran = run("compare", *pair, *options)

    assert (ran.code, ran.out) == (2, "")
    assert line in ran.err
    assert ran.err.count("\n") == 1


def test_what_is_no_bundle_or_of_another_suite_or_the_same_is_refused(
    pair: tuple[Path, Path], tmp_path: Path, run: Run
) -> None:
    other = bundle(tmp_path, STEADY, 3, suite="fusion")
    known = (
        (tmp_path, "not a bundle: it holds no bagit.txt; name the folder that holds bagit.txt"),
        (tmp_path / "none", "does not exist"),
        (other, f"'suite' is 'fusion', and in {pair[0]} it is 'matmul'; compare bundles of one suite"),
        (pair[0], f"is the same bundle as {pair[0]}; name another collection"),
    )
    for path, line in known:
        ran = run("compare", pair[0], path)

        assert (ran.code, ran.out) == (2, "")
        assert line in ran.err
        assert str(path) in ran.err
        assert ran.err.count("\n") == 1


# The bundles that ship


def compared(run: Run, *args: object) -> Any:
    return json.loads(run("compare", *args, "--format", "json").out)


def test_identical_code_that_ships_is_never_called_slower(run: Run) -> None:
    found = compared(run, A, B)

    assert found["counts"]["slower"] == found["counts"]["faster"] == 0
    assert not [row for row in found["rows"] if row["verdict"]["next_step"] == "" and row["verdict"]["kind"] != "same"]
    assert [one["key"] for one in found["differences"] if not one["usual"]] == []


def test_the_regression_that_ships_asks_for_seven_processes(run: Run) -> None:
    found = compared(run, A, C)

    changed = [row for row in found["rows"] if abs(row["ratio"] - 1) > row["threshold"]["change"]]
    assert {(row["annotation"], row["backend"]) for row in changed} == {("Triton", "cupti"), ("Triton", "ncu")}
    # 28 rows ask for 0.05 / 28 = 0.00179: of 2 / C(2n, n) six give 0.00216, seven 0.00058.
    assert {row["verdict"]["needed_on_each_side"] for row in changed} == {7}
    assert {row["verdict"]["reason"] for row in changed} == {"too few processes"}
    assert [one["key"] for one in found["differences"] if not one["usual"]] == ["suite.source.fusion.py"]


def test_two_collections_pool_and_reach_what_one_cannot() -> None:
    from reportgen.workflow.comparing import compare

    found = compare([A, B], [C])

    row = next(r for r in found.rows if r.series.annotation == "Triton" and "33554432" in r.series.configuration)
    assert (row.series.backend, row.old.n, row.new.n, row.old.unit) == ("cupti", 6, 3, "process")
    assert row.p == pytest.approx(1 / 84)
    # Two of 14 tested rows have the least p: 14 / 2 times it is 0.083.
    assert row.adjusted == pytest.approx(14 / 2 / 84)
    assert (row.verdict.reason, row.verdict.needed) == ("too few processes", 7)
    ncu = next(r for r in found.rows if r.series.backend == "ncu")
    assert (ncu.old.n, ncu.old.unit, ncu.new.n) == (2, "collection", 1)
