"""What a collection says of itself, on a terminal and in a log."""

from __future__ import annotations

import io

import pytest

from reportgen.cli.progress import Narrator, span


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def seen(written: str) -> list[str]:
    """Return the lines that a terminal shows: what follows a carriage return overwrites, and nothing else clears."""
    lines = []
    for text in written.split("\n"):
        line = ""
        for part in text.split("\r"):
            line = part + line[len(part) :]
        lines.append(line.rstrip())
    return lines


def test_a_log_has_a_line_for_each_step_and_each_word_said() -> None:
    log = io.StringIO()
    with Narrator(log) as narrator:
        narrator.step(1, 2, "ncu/default/0", 30)
        narrator.done(10)
        narrator.say("whole already")
        narrator.step(2, 2, "cupti/default/0", 30)

    assert log.getvalue() == "1/2 ncu/default/0\n1/2 ncu/default/0: whole already\n2/2 cupti/default/0\n"


def test_a_terminal_shows_how_much_is_done_and_the_time_that_is_left() -> None:
    terminal, clock = Terminal(), Clock()
    narrator = Narrator(terminal, clock)
    narrator.step(1, 2, "ncu/default/0", 30)
    assert seen(terminal.getvalue()) == ["1/2 ncu/default/0"]
    clock.now = 20.0
    narrator.done(10)

    # 2 s for each run so far, 20 runs to go.
    assert seen(terminal.getvalue()) == ["1/2 ncu/default/0: 10 of 30 runs, 40 s left"]
    assert "\n" not in terminal.getvalue()


def test_the_pace_is_that_of_the_step_at_hand() -> None:
    terminal, clock = Terminal(), Clock()
    narrator = Narrator(terminal, clock)
    narrator.step(1, 2, "a", 1)
    clock.now = 1000.0
    narrator.step(2, 2, "b", 4)
    clock.now = 1001.0
    narrator.done(1)

    assert seen(terminal.getvalue()) == ["1/2 a", "2/2 b: 1 of 4 runs, 3 s left"]


def test_a_word_said_leaves_nothing_of_the_line_before_it() -> None:
    terminal, clock = Terminal(), Clock()
    narrator = Narrator(terminal, clock)
    narrator.step(1, 2, "ncu/default/0", 30)
    clock.now = 90.0
    narrator.done(10)
    narrator.say("short")

    assert seen(terminal.getvalue()) == ["1/2 ncu/default/0: short", ""]


def test_a_line_that_renews_itself_leaves_nothing_of_a_longer_one() -> None:
    terminal, clock = Terminal(), Clock()
    narrator = Narrator(terminal, clock)
    narrator.step(1, 1, "a", 1000)
    clock.now = 3600.0
    narrator.done(1)
    clock.now = 3601.0
    narrator.done(1000)

    assert seen(terminal.getvalue()) == ["1/1 a: 1000 of 1000 runs, 0 s left"]


def test_a_line_that_renews_itself_fits_a_terminal_of_80_columns() -> None:
    terminal = Terminal()
    Narrator(terminal).step(1, 1, "x" * 200, 1)

    assert max(len(part) for part in terminal.getvalue().split("\r")) < 80


def test_more_runs_than_planned_are_not_shown() -> None:
    terminal = Terminal()
    narrator = Narrator(terminal, Clock())
    narrator.step(1, 1, "a", 4)
    narrator.done(5)

    assert seen(terminal.getvalue()) == ["1/1 a: 4 of 4 runs, 0 s left"]


def test_before_the_first_run_nothing_is_foretold() -> None:
    terminal = Terminal()
    narrator = Narrator(terminal, Clock())
    narrator.step(1, 1, "a", 4)
    narrator.done(0)

    assert seen(terminal.getvalue()) == ["1/1 a"]


def test_the_cursor_is_left_on_a_line_of_its_own_once() -> None:
    terminal = Terminal()
    with Narrator(terminal, Clock()) as narrator:
        narrator.step(1, 1, "a", 4)
        narrator.close()
        narrator.close()

    assert terminal.getvalue().count("\n") == 1
    assert terminal.getvalue().endswith("\n")


def test_what_would_steer_a_terminal_is_written_out() -> None:
    for stream in (Terminal(), io.StringIO()):
        narrator = Narrator(stream, Clock())
        narrator.step(1, 1, "a", 4)
        narrator.say("failed: \x1b[31mred\x1b[0m\nnext")
        assert "1/1 a: failed: U+001B[31mredU+001B[0mU+000Anext" in stream.getvalue()


def test_a_terminal_shows_that_a_suite_is_being_loaded_until_there_is_more_to_say() -> None:
    terminal = Terminal()
    narrator = Narrator(terminal, Clock())
    narrator.loading("mine.py")
    assert seen(terminal.getvalue()) == ["loading mine.py …"]
    narrator.step(1, 1, "a", 1)
    narrator.loading("other.py")
    narrator.tell("of the suite")
    narrator.step(1, 1, "b", 1)

    assert seen(terminal.getvalue()) == ["1/1 a", "of the suite", "1/1 b"]


def test_a_log_does_not_say_that_a_suite_is_being_loaded() -> None:
    log = io.StringIO()
    with Narrator(log) as narrator:
        narrator.loading("mine.py")
        narrator.tell("before")
        narrator.step(1, 1, "a", 1)
        narrator.tell("after")

    assert log.getvalue() == "before\n1/1 a\nafter\n"


def test_what_is_told_of_no_step_stands_below_the_last_ones_line() -> None:
    terminal, clock = Terminal(), Clock()
    narrator = Narrator(terminal, clock)
    narrator.step(1, 1, "a", 2)
    narrator.done(2)
    narrator.tell("mine: all of it")

    assert seen(terminal.getvalue()) == ["1/1 a: 2 of 2 runs, 0 s left", "mine: all of it", ""]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "0 s"),
        (0.4, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (61.0, "1 min 1 s"),
        (3599.7, "1 h 0 min"),
        (7325.0, "2 h 2 min"),
    ],
)
def test_a_time_has_its_two_largest_units(seconds: float, words: str) -> None:
    assert span(seconds) == words
