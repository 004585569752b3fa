"""Several dossiers at once, and one that takes its process along."""

from __future__ import annotations

from pathlib import Path

import pytest

from reportgen.publish.rendering import Failed, Made, Task, run
from tests.publish.dying import die_if_told


def task(name: str) -> Task:
    return Task(Path(name), Path("target") / name, "public", "a4", ("html",))


def test_a_killed_process_takes_no_other_dossier_along() -> None:
    tasks = [task(name) for name in ("a", "deadly", "b", "c")]
    outcomes = dict(run(tasks, 2, die_if_told))

    assert set(outcomes) == set(tasks)
    assert [isinstance(outcomes[one], Made) for one in tasks] == [True, False, True, True]
    failed = outcomes[tasks[1]]
    assert isinstance(failed, Failed)
    assert "was killed" in failed.why


@pytest.mark.parametrize("jobs", [1, None])
def test_nothing_to_do_starts_no_process(jobs: int | None) -> None:
    assert list(run([], jobs)) == []


def test_one_that_is_not_there_is_told_in_one_line(tmp_path: Path) -> None:
    ((_, outcome),) = run([task(str(tmp_path / "none"))], 1)

    assert isinstance(outcome, Failed)
    assert "\n" not in outcome.why
