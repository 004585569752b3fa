"""Several dossiers at once, and one that takes its process along."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
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


def test_a_file_of_the_current_folder_is_no_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("random", "signal", "warnings", "json", "click", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    before = os.environ.get("PYTHONSAFEPATH")
    outcomes = dict(run([task("a"), task("b")], 2, die_if_told))

    assert all(isinstance(outcome, Made) for outcome in outcomes.values())
    assert os.environ.get("PYTHONSAFEPATH") == before


def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    code = (
        "import os, signal\n"
        "from pathlib import Path\n"
        "from reportgen.publish.rendering import Task, run\n"
        "from tests.publish.dying import say_and_wait\n"
        "if __name__ == '__main__':\n"
        "    names = ('a', 'b')\n"
        f"    tasks = [Task(Path({str(tmp_path)!r}) / n, Path('t'), 'public', 'a4', ()) for n in names]\n"
        "    list(run(tasks, 2, say_and_wait))\n"
    )
    (tmp_path / "parent.py").write_text(code)
    root = Path(__file__).parents[2]
    parent = subprocess.Popen([sys.executable, tmp_path / "parent.py"], env={**os.environ, "PYTHONPATH": str(root)})
    said = [tmp_path / name for name in ("a", "b")]
    assert _soon(lambda: all(path.exists() and path.read_text() for path in said))
    workers = [int(path.read_text()) for path in said]
    parent.kill()
    parent.wait()

    assert _soon(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


def _soon(true: Callable[[], bool]) -> bool:
    end = time.monotonic() + 60
    while not true() and time.monotonic() < end:
        time.sleep(0.05)
    return true()
