"""The pool outlives what its children read: those that grew, and those that were harmed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reportgen.readers import ncu_pool, ncu_rep
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


def test_a_report_is_read_in_as_many_parts_as_its_size_asks_for(
    pool: Pool, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = data / "matmul.ncu-rep"
    whole = ncu_rep.read(path, "x", pool=pool).frame
    monkeypatch.setattr(ncu_rep, "_SHARE_FROM", 1)
    monkeypatch.setattr(ncu_rep, "_MOST_AT_ONCE", path.stat().st_size // 7)
    asked: list[int] = []
    ask_all = pool.ask_all

    def counted(requests: list[dict[str, Any]], timeout: float) -> list[ncu_pool.Reply]:
        asked.append(len(requests))
        return ask_all(requests, timeout)

    monkeypatch.setattr(pool, "ask_all", counted)

    assert ncu_rep.read(path, "x", pool=pool).frame.equals(whole)
    assert asked == [8]
