"""What holds for every command: help, errors in one line, exit codes."""

from __future__ import annotations

import errno
import logging
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import click
import pytest

from reportgen import __version__
from reportgen.cli.commands import COMMANDS
from reportgen.cli.guard import explain
from reportgen.evidence.errors import EnvironmentLacks, UserError
from tests.cli.conftest import Run


def test_version(run: Run) -> None:
    assert run("--version").out == f"reportgen {__version__}\n"


def test_help_lists_every_command_from_the_table(run: Run) -> None:
    ran = run("--help")

    assert ran.code == 0
    for name, entry in COMMANDS.items():
        assert f"  {name} " in ran.out
        assert entry.help in " ".join(ran.out.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command_has_an_example_that_names_it(run: Run, name: str) -> None:
    ran = run(name, "--help")

    assert ran.code == 0
    assert "Example:" in ran.out
    assert f"  reportgen {name} " in ran.out.split("Example:")[1]
    assert ran.err == ""


@pytest.mark.parametrize("name", ["import", "verify", "render", "build"])
def test_commands_that_print_facts_take_json(run: Run, name: str) -> None:
    assert "--json" in run(name, "--help").out


def test_no_command_is_wrong_use_or_help(run: Run) -> None:
    ran = run()

    assert "Usage: reportgen" in ran.out + ran.err or ran.err.startswith("reportgen: error:")
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["imprt"], "No such command 'imprt': did you mean 'import'?; see 'reportgen --help'"),
        (
            ["zzz"],
            "No such command 'zzz': there are doctor, collect, import, verify, samples, render, audit, compare, styleguide, build, serve",
        ),
        (["import", "a.ncu-rep"], "Missing option '--out'"),
        (["import", "--out", "x"], "Missing argument 'FILE…'; see 'reportgen import --help'"),
        (["samples", "x", "--format", "xml"], "'xml' is not one of 'csv', 'json', 'parquet'"),
        (["build", "x", "--jobs", "0"], "0 is not in the range x>=1"),
        (["render", "x", "--out", "y", "--teir", "full"], "--tier"),
    ],
)
def test_wrong_use_is_one_line_with_the_mend(run: Run, args: list[str], said: str) -> None:
    ran = run(*args)

    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("reportgen: error: ")
    assert said in ran.err


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UserError("a.csv", "line 3 is no row", "cut it"), 2, "error: a.csv: line 3 is no row; cut it"),
        (EnvironmentLacks(None, "no Pango", "install it"), 3, "error: no Pango; install it"),
        (KeyboardInterrupt(), 130, "stopped; what was written is whole, and the same command starts again"),
        (OSError(errno.ENOSPC, "x", "/out/a"), 3, "error: /out/a: no space left on device; make room and run it again"),
        (PermissionError(errno.EACCES, "x", "b"), 2, "error: b: permission denied; give this user the right to it"),
        (FileNotFoundError(errno.ENOENT, "x", "c\nd"), 2, "error: c d: no such file or directory; check the path"),
        (MemoryError(), 3, "error: the machine is out of memory"),
        (click.UsageError("Bad."), 2, "error: Bad; see 'reportgen --help'"),
        (SystemExit(7), 7, ""),
    ],
)
def test_every_error_has_its_line_and_code(error: BaseException, code: int, line: str) -> None:
    found = explain(error)

    assert found[0] == code
    assert found[1].startswith(line)
    assert "\n" not in found[1]


def test_an_unforeseen_error_says_where_and_asks_to_report_it(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def burst(_: object) -> None:
        raise ZeroDivisionError("of\nnothing")

    monkeypatch.delenv("REPORTGEN_DEBUG", raising=False)
    monkeypatch.setattr("reportgen.evidence.verify.verify", burst)
    ran = run("verify", tmp_path)

    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert "internal error in reportgen.cli.verify:" in ran.err
    assert "ZeroDivisionError: of nothing; please report it" in ran.err


def test_debugging_prints_the_traceback_too(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def burst(_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setenv("REPORTGEN_DEBUG", "1")
    monkeypatch.setattr("reportgen.evidence.verify.verify", burst)

    assert "Traceback" in run("verify", tmp_path).err


def test_a_message_cannot_command_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def burst(_: object) -> None:
        raise UserError("a\x1b[31m", "is\nbad")

    monkeypatch.setattr("reportgen.evidence.verify.verify", burst)
    ran = run("verify", tmp_path)

    assert "\x1b" not in ran.err
    assert ran.err.count("\n") == 1


def test_help_is_quick_and_loads_only_click() -> None:
    code = (
        "import sys; from reportgen.cli import main; code = main(['--help']);"
        "print(sorted({m.split('.')[0] for m in sys.modules} - sys.stdlib_module_names), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, env=_path())

    assert ran.stderr.strip() == "['__main__', 'click', 'reportgen']"


def test_a_reader_that_went_away_is_no_error() -> None:
    ran = subprocess.run(
        ["bash", "-c", f"set -o pipefail; '{sys.executable}' -m reportgen --help | head -c 0; exit $?"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.stderr == ""
    assert ran.returncode in {0, 141}


def test_ctrl_c_says_that_it_stopped(tmp_path: Path) -> None:
    public = tmp_path / "public"
    public.mkdir()
    (public / "index.html").write_text("hello")
    process = subprocess.Popen(
        [sys.executable, "-m", "reportgen", "serve", str(tmp_path), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert "http://127.0.0.1:" in process.stdout.readline()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)

    assert process.returncode == 130
    assert err.startswith("reportgen: stopped")
    assert err.count("\n") == 1


def _path() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def python(script: str, *, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", script.replace("reportgen", f"'{sys.executable}' -P -m reportgen")],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**_path(), **env},
    )


def test_without_a_command_the_help_is_shown_as_it_is(run: Run) -> None:
    ran = run()

    assert ran.code == 2
    assert ran.out == ""
    assert ran.err == run("--help").out


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("reportgen --version >&-", 0),
        ("reportgen --version >&- 2>&-", 0),
        ("reportgen verify none 2>&-", 2),
        ("reportgen verify none 2>/dev/full", 2),
        ("reportgen --version >/dev/full", 3),
    ],
)
def test_streams_that_take_nothing_change_no_exit_code(tmp_path: Path, script: str, code: int) -> None:
    ran = python(script, cwd=tmp_path)

    assert ran.returncode == code
    assert "internal error" not in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("command", ["verify", "samples", "build", "serve"])
def test_an_empty_path_is_not_the_current_folder(run: Run, command: str) -> None:
    ran = run(command, "")

    assert ran.code == 2
    assert "it is empty; write . for the current folder" in ran.err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_to_end_leaves_nothing_behind(tmp_path: Path, number: int, code: int) -> None:
    script = (
        "import time, sys\n"
        "from pathlib import Path\n"
        "from reportgen.cli import main\n"
        "from reportgen.evidence import write, verify\n"
        "def slow(path):\n"
        "    with write.new_folder(Path(path) / 'made'):\n"
        "        print('under way', flush=True)\n"
        "        time.sleep(60)\n"
        "verify.verify = slow\n"
        f"sys.exit(main(['verify', {str(tmp_path)!r}]))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_path()
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "under way\n"
    process.send_signal(number)
    _, err = process.communicate(timeout=20)

    assert process.returncode == code
    assert err.startswith("reportgen: stopped")
    assert list(tmp_path.iterdir()) == []


def test_a_library_s_warnings_are_not_for_the_user(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def chatter(_: object) -> None:
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)
        logging.getLogger("matplotlib").warning("no cache")
        raise UserError(None, "done")

    monkeypatch.delenv("REPORTGEN_DEBUG", raising=False)
    monkeypatch.setattr("reportgen.evidence.verify.verify", chatter)

    assert run("verify", tmp_path).err == "reportgen: error: done\n"
    assert logging.root.manager.disable == 0
