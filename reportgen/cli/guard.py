"""What stands between the program and its user: whatever goes wrong ends in one line and an exit code."""

from __future__ import annotations

import contextlib
import errno
import io
import logging
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from reportgen.evidence.errors import UserError

INTERRUPTED = 130
BROKEN_PIPE = 141  # what a shell reports of a program that SIGPIPE stopped
_STOPPED = "stopped; what was written is whole, and the same command starts again"
_LACKING = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE}


def guarded(command: click.Command, args: Sequence[str]) -> int:
    """Run `command`, turn every exception into one line on stderr, and return the exit code."""
    with _prepared():
        return _guarded(command, args)


def _guarded(command: click.Command, args: Sequence[str]) -> int:
    try:
        code = _run(command, args)
        sys.stdout.flush()
    except BrokenPipeError:
        return _close_quietly()
    except BaseException as error:  # noqa: BLE001 - the one place where everything ends
        if os.environ.get("REPORTGEN_DEBUG") and not isinstance(error, click.ClickException):
            traceback.print_exc()
        code, line = explain(error)
        with contextlib.suppress(OSError):  # with nowhere to say it, the exit code says it
            if line:
                click.echo(f"reportgen: {line}", err=True)
    return code


@contextlib.contextmanager
def _prepared() -> Iterator[None]:
    """Make the streams, the warnings and the signals what every command relies on."""
    # A stream that was closed by `>&-` is None.
    sys.stdout = sys.stdout or io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    sys.stderr = sys.stderr or io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    signals = (signal.SIGTERM, signal.SIGHUP) if threading.current_thread() is threading.main_thread() else ()
    ours = [number for number in signals if signal.getsignal(number) == signal.SIG_DFL]  # not under nohup
    for number in ours:
        signal.signal(number, _stop)
    with warnings.catch_warnings():
        # What a library tells a programmer (an overflow, a folder without a cache) is nothing to a command's user.
        debugged = bool(os.environ.get("REPORTGEN_DEBUG"))
        before = logging.root.manager.disable
        if not debugged:
            warnings.simplefilter("ignore")
            logging.disable(logging.WARNING)
        try:
            yield
        finally:
            logging.disable(before)
            for number in ours:
                signal.signal(number, signal.SIG_DFL)


def _stop(number: int, _: object) -> None:
    raise Stopped(number)


class Stopped(BaseException):
    """A signal asks the program to end; like Ctrl-C, it leaves nothing that is half done."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


def _run(command: click.Command, args: Sequence[str]) -> int:
    # Not click's own `main`: that one takes a broken pipe for exit code 1, which here means that something was found.
    try:
        if not args:
            with click.Context(command, info_name="reportgen") as context:
                click.echo(command.get_help(context), err=True)
            return 2
        with command.make_context("reportgen", list(args)) as context:
            code = command.invoke(context)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    return code if isinstance(code, int) else 0


def explain(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the line, without the program's name, that `error` gives its user."""
    if isinstance(error, UserError):
        return error.exit_code, f"error: {error.line}"
    if isinstance(error, click.ClickException):
        return 2, f"error: {_usage(error)}"
    if isinstance(error, KeyboardInterrupt | EOFError | click.Abort):
        return INTERRUPTED, _STOPPED
    if isinstance(error, Stopped):
        return 128 + error.number, _STOPPED
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 2, ""
    if isinstance(error, MemoryError):
        return 3, "error: the machine is out of memory; close other programs, or build with --jobs 1"
    if isinstance(error, OSError) and error.errno is not None:
        return _of_the_system(error)
    return 2, (
        f"error: internal error in {_where(error)}: {type(error).__name__}: {_one_line(str(error))}; "
        "please report it, with the traceback that REPORTGEN_DEBUG=1 prints"
    )


def _usage(error: click.ClickException) -> str:
    text = _one_line(error.format_message()).rstrip(".")
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "reportgen"
        return f"{text}; see '{path} --help'"
    return text


def _of_the_system(error: OSError) -> tuple[int, str]:
    place = f"{_one_line(str(error.filename))}: " if error.filename else ""
    what = f"error: {place}{os.strerror(error.errno or 0).lower()}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return 3, f"{what}; make room and run it again"
    if error.errno in _LACKING:
        return 3, what
    if isinstance(error, PermissionError):
        return 2, f"{what}; give this user the right to it, or choose another folder"
    if isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError | FileExistsError):
        return 2, f"{what}; check the path"
    return 2, what


def _where(error: BaseException) -> str:
    """Return `module:line` of the innermost frame that is ours, else of the innermost one."""
    frames = traceback.extract_tb(error.__traceback__)
    package = Path(__file__).resolve().parent.parent
    ours = [frame for frame in frames if Path(frame.filename).resolve().is_relative_to(package)]
    if not (ours or frames):
        return "an unknown place"
    frame = (ours or list(frames))[-1]
    path = Path(frame.filename).resolve()
    name = ".".join(path.relative_to(package.parent).with_suffix("").parts) if ours else path.name
    return f"{name}:{frame.lineno}"


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in " ".join(text.split()))


def _close_quietly() -> int:
    # Python flushes stdout once more at exit and would complain: give it somewhere to go.
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        pass
    return BROKEN_PIPE
