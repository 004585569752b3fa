"""The pool outlives what its children read: those that grew, and those that were harmed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from reportgen.readers import ncu_pool
from reportgen.readers.ncu_pool import ChildDied, ChildLate, Pool


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool()
    yield made
    made.close()


def ask(pool: Pool, path: Path) -> int:
    """Have the report at `path` read; return the process that did it, if it is kept."""
    reply = pool.ask({"path": str(path), "first": 0, "end": None, "metrics": None}, 60.0)
    assert len(reply.head["launches"]) == 6
    return pool._idle[0].process.pid if pool._idle else 0


def test_a_child_is_kept_for_the_next_report(pool: Pool, data: Path) -> None:
    first = ask(pool, data / "thread.ncu-rep")

    assert first == ask(pool, data / "thread.ncu-rep") != 0


def test_a_child_that_has_grown_is_replaced(pool: Pool, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ncu_pool, "_GROWN", 1 << 20)

    assert ask(pool, data / "thread.ncu-rep") == 0
    assert ask(pool, data / "thread.ncu-rep") == 0


def test_a_whole_report_is_read_even_by_a_child_that_was_harmed_before(pool: Pool, data: Path) -> None:
    harmed = ask(pool, data / "thread.ncu-rep")
    os.kill(harmed, signal.SIGKILL)

    assert ask(pool, data / "thread.ncu-rep") not in {harmed, 0}


def test_a_report_that_takes_too_long_is_not_read_twice(
    pool: Pool, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(pool, data / "thread.ncu-rep")
    started = []
    monkeypatch.setattr(ncu_pool, "_Child", lambda: started.append(1))

    with pytest.raises(ChildLate, match="too long"):
        pool.ask({"path": str(data / "thread.ncu-rep"), "first": 0, "end": None, "metrics": None}, 0.0)

    assert issubclass(ChildLate, ChildDied)
    assert not started
