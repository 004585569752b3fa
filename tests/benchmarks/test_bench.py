"""The benchmark runs, and prints what it measured; how fast that was is not for a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks import bench

DATA = Path(__file__).parent.parent / "data"
TINY = bench.Plan(
    ((DATA / "thread.ncu-rep", bench.SIX),),
    (("tiny", (DATA / "thread.ncu-rep",)),),
    None,
    pdf=False,
    rounds=1,
    starts=1,
)


def test_the_benchmark_prints_a_table_with_targets(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main([], TINY) == 0

    table = capsys.readouterr().out
    for line in (
        "Reading a report into memory",
        "thread, all metrics: time against a bare loop",
        "thread, six metrics: time against nsight-python",
        "HTML, warm",
        "HTML, cold, the whole process",
        "against nbconvert",
        "reportgen --help",
        "import reportgen loads",
    ):
        assert line in table
    assert "<= 1.20 x" in table
    assert "targets hold." in table


def test_a_missed_target_is_said_and_is_no_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    missed = bench.Line("a walk", "9 s", "< 1 s", False, "uphill")
    monkeypatch.setattr(bench, "PARTS", {"walking": lambda plan, scratch: iter([missed])})

    assert bench.main([], TINY) == 0

    table = capsys.readouterr().out
    assert "MISSED" in table
    assert "0 of 1 targets hold." in table
    assert "missed: a walk: 9 s, target < 1 s" in table


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main(["flying"], TINY)

    assert "no such part: flying" in capsys.readouterr().err
