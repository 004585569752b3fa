"""Say on stderr how far a collection is: one line that renews itself on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

from reportgen.cli.output import printable

_WIDTH = 79  # what the narrowest usual terminal shows without breaking the line


class Narrator:
    """Tells of steps, of runs done within one, and of the time that is left at the pace so far."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._live = stream.isatty()
        self._head, self._runs, self._begin = "", 0, 0.0
        self._open = False  # a line that renews itself stands there

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the cursor on a line of its own."""
        self.close()

    def step(self, number: int, count: int, name: str, runs: int) -> None:
        """Begin a step of so many runs."""
        self._leave_step()
        self._head, self._runs, self._begin = f"{number}/{count} {name}", runs, self._clock()
        self._write(self._head, stays=not self._live)

    def done(self, runs: int) -> None:
        """Show on a terminal how many runs are done, and how long the rest of the step will take."""
        if not self._live or not runs:
            return
        left = (self._clock() - self._begin) / runs * max(0, self._runs - runs)
        self._write(f"{self._head}: {min(runs, self._runs)} of {self._runs} runs, {span(left)} left", stays=False)

    def loading(self, name: str) -> None:
        """Show on a terminal that a suite is being loaded, which takes seconds where it imports torch."""
        self.close()
        self._head = ""
        if self._live:
            self._write(f"loading {name} …", stays=False)

    def tell(self, line: str) -> None:
        """Say something of no single step in a line that stays."""
        self._leave_step()
        self._write(line, stays=True)

    def say(self, line: str) -> None:
        """Say something of the step in a line that stays."""
        self._write(f"{self._head}: {line}", stays=True)

    def close(self) -> None:
        """End a line that renews itself."""
        if self._open:
            self._stream.write("\n")
            self._stream.flush()
            self._open = False

    def _leave_step(self) -> None:
        """Leave the last step's line as it is; that a suite is being loaded is written over."""
        if self._head:
            self.close()

    def _write(self, text: str, *, stays: bool) -> None:
        text = printable(text)
        if self._live:
            text = f"\r{text if stays else text[:_WIDTH]:<{_WIDTH}}"
        self._stream.write(text + "\n" if stays else text)
        self._stream.flush()
        self._open = not stays


def span(seconds: float) -> str:
    """Return a time in the two largest units that it has."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
