"""Run the command line in this process, as its user sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from reportgen.cli import main


@dataclass(frozen=True)
class Ran:
    """What a command left."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `reportgen` with these arguments."""

    def _run(*args: object) -> Ran:
        code = main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return _run
