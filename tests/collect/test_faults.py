"""What breaks while a suite is collected costs no more than itself, says so, and leaves what `--resume` goes on with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from reportgen.collect import drive
from reportgen.collect import plan as plans
from reportgen.evidence import write
from reportgen.evidence.bundle import open_bundle
from reportgen.evidence.errors import UserError
from reportgen.evidence.verify import verify
from reportgen.workflow import collection
from reportgen.workflow.collection import Asked, Collected, collect
from tests.collect import fake_torch

HEAD = "import os, subprocess, sys, time\nfrom reportgen.suite import annotate, benchmark, collector\n"
SUITE = (
    HEAD
    + """
@benchmark(configs=[1, 2], runs=2, warmup=0, processes=2)
def f(n):
    with annotate("a"):
        pass
    with annotate("b"):
        pass
"""
)
PLANNED = 2 * 2 * 2 * 2  # processes, configurations, runs, annotations


class Told:
    """Keeps what is said, and stops the collection when a step of this number begins."""

    def __init__(self, stop: int = 0, change: Path | None = None) -> None:
        self.stop, self.change = stop, change
        self.said: list[str] = []

    def step(self, number: int, count: int, name: str, runs: int) -> None:
        if number == self.stop:
            raise KeyboardInterrupt
        if number == count and self.change is not None:
            self.change.write_text(self.change.read_text() + "# changed\n")

    def done(self, runs: int) -> None: ...

    def say(self, line: str) -> None:
        self.said.append(line)

    def tell(self, line: str) -> None:
        self.said.append(line)


@pytest.fixture(autouse=True)
def _torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fakes = tmp_path / "fakes"
    fakes.mkdir()
    fake_torch.install(fakes)
    monkeypatch.syspath_prepend(fakes)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(SUITE)
    return path


def measured(suite: Path, told: Told | None = None, **asked: object) -> Collected:
    return collect(suite, suite.parent / "out", Asked(("torch",), **asked), told or Told())  # type: ignore[arg-type]


def stopped_before_the_second_step(suite: Path, **asked: object) -> Path:
    """Return the folder of the first step."""
    with pytest.raises(KeyboardInterrupt):
        measured(suite, Told(stop=2), **asked)
    (folder,) = (suite.parent / "out").glob(".partial-*/torch/continuous/0")
    return folder


def states(made: Collected, metric: str = "self_cpu_time_total") -> dict[str, int]:
    frame = open_bundle(made.path).samples()
    counts = frame[frame["metric"] == metric]["state"].astype("object").value_counts()
    return {str(state): int(count) for state, count in counts.items()}


def left(suite: Path) -> list[str]:
    return [path.name for path in (suite.parent / "out").iterdir() if path.name.startswith(".")]


# going on


def test_what_is_whole_is_not_measured_again(suite: Path) -> None:
    stopped_before_the_second_step(suite)
    told = Told()

    made = measured(suite, told, resume=True)

    assert told.said == ["whole already"]
    assert states(made) == {"ok": PLANNED}
    assert verify(made.path) == ()
    assert left(suite) == []


@pytest.mark.parametrize("change", ["the code", "the annotation", "the order"])
def test_what_was_measured_otherwise_is_measured_again(suite: Path, change: str) -> None:
    """The plan is the same in each case, and so the folder."""
    if change == "the annotation":
        stopped_before_the_second_step(suite, select=plans.parse_selection("f/a"))
    else:
        stopped_before_the_second_step(suite, order="blocks" if change == "the order" else "rounds")
    if change == "the code":
        suite.write_text(SUITE.replace("pass", "n + 1"))
    told = Told()

    made = measured(suite, told, resume=True)

    assert told.said == ["the suite, or what is asked of it, is not what it was: measured again"]
    assert states(made) == {"ok": PLANNED}


def test_counters_that_were_not_permitted_are_tried_again(suite: Path) -> None:
    folder = stopped_before_the_second_step(suite)
    (folder / "done.json").write_text(json.dumps({"state": "not permitted", "reason": "ERR_NVGPUCTRPERM"}))

    made = measured(suite, Told(), resume=True)

    assert states(made) == {"ok": PLANNED}
    assert left(suite) == []


def test_a_bundle_with_what_was_not_permitted_leaves_the_rest_for_resume(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = collection._measure

    def measure(step: plans.Step, *given: Any) -> dict[str, Any]:
        return real(step, *given) if step.process else {"state": "not permitted", "reason": "ERR_NVGPUCTRPERM"}

    with monkeypatch.context() as only:
        only.setattr(collection, "_measure", measure)
        made = measured(suite)
    assert states(made) == {"ok": PLANNED // 2, "not permitted": 4}
    assert made.resumable
    told = Told()

    made = measured(suite, told, resume=True)

    assert told.said == ["whole already"]
    assert states(made) == {"ok": PLANNED}
    assert not made.resumable


def test_machine_code_is_a_part_of_what_was_asked_of_ncu_alone(suite: Path) -> None:
    plan = drive.plan(suite, quick=False)

    def sass(backend: str) -> set[str]:
        step = plans.Step(backend, "default", 0)
        return {json.dumps(drive.job_of(step, suite, plan, "", "rounds", kept)) for kept in ("none", "all")}

    assert len(sass("ncu")) == 2
    assert len(sass("cupti")) == 1


def test_what_is_left_of_another_plan_is_named(suite: Path) -> None:
    partial_folder = stopped_before_the_second_step(suite).parent.parent.parent
    other = suite.with_name("other.py")
    other.write_text(SUITE)
    told, of_other, beside = Told(), Told(), Told()

    measured(suite, told, runs=1)
    measured(other, of_other)
    with write.held(partial_folder):
        measured(suite, beside, runs=1)

    assert told.said == [
        f"{partial_folder} is left from another plan of this suite, which --resume does not go on with: delete it"
    ]
    assert of_other.said == beside.said == []
    assert partial_folder.exists()


def test_a_suite_that_changes_while_it_is_measured_makes_no_bundle(suite: Path) -> None:
    with pytest.raises(UserError, match=r"changed while it was measured.*--resume"):
        measured(suite, Told(change=suite))
    assert not (suite.parent / "out" / "mine").exists()

    assert states(measured(suite, resume=True)) == {"ok": PLANNED}


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("runs.jsonl", 0.5),
        ("runs.jsonl", 0.6),
        ("runs.jsonl", 0),
        ("trace.json", 0.5),
        ("done.json", 0.5),
        ("job.json", 0.5),
    ],
)
def test_a_damaged_step_is_measured_again_or_dropped(suite: Path, name: str, kept: float) -> None:
    """Half of `runs.jsonl` ends with a line."""
    damaged = stopped_before_the_second_step(suite) / name
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[: int(len(whole) * kept)]) if kept else damaged.unlink()

    made = measured(suite, resume=True)

    if name in {"runs.jsonl", "trace.json"}:
        assert states(made) == {"ok": PLANNED // 2, "dropped": 4}
        assert "cannot be read" in made.reasons["dropped"]
        assert made.resumable
        made = measured(suite, resume=True)
    assert states(made) == {"ok": PLANNED}
    assert left(suite) == []


def test_two_collections_of_one_plan_do_not_get_into_each_others_way(suite: Path) -> None:
    folder = stopped_before_the_second_step(suite)
    partial_folder = folder.parent.parent.parent

    with write.held(partial_folder):
        for resume in (False, True):
            with pytest.raises(UserError, match="another process is at work in it"):
                measured(suite, resume=resume)

    assert states(measured(suite, resume=True)) == {"ok": PLANNED}


# a child that leaves something behind


def timed(text: str, tmp_path: Path, timeout: float) -> tuple[float, str]:
    """Return how long a worker took over a suite that says `text` when it is loaded, and what it is said to have died of."""
    path = tmp_path / "odd.py"
    path.write_text(HEAD + text)
    begin, reason = time.monotonic(), ""
    job = {"mode": "plan", "suite": str(path), "quick": False, "folder": str(tmp_path)}
    try:
        drive.run(job, tmp_path, timeout)
    except drive.StepFailed as error:
        reason = str(error)
    return time.monotonic() - begin, reason


DECLARED = "@benchmark()\ndef f(): ...\n"


@pytest.mark.parametrize("alone", [False, True])
def test_what_a_suite_leaves_running_is_not_waited_for(tmp_path: Path, alone: bool) -> None:
    text = f"subprocess.Popen(['sleep', '20'], start_new_session={alone})\n"

    took, reason = timed(text + DECLARED, tmp_path, 60)

    assert took < 10
    assert reason == ""


def test_a_grandchild_in_a_session_of_its_own_does_not_hold_up_a_time_out(tmp_path: Path) -> None:
    took, reason = timed("print('waiting')\nsubprocess.run(['sleep', '20'], start_new_session=True)\n", tmp_path, 2)

    assert took < 10
    assert reason == "it was stopped after 2 s; it last said: waiting"


def test_what_a_suite_starts_in_its_own_group_ends_with_the_worker(tmp_path: Path) -> None:
    timed(
        f"p = subprocess.Popen(['sleep', '20'])\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(p.pid))\n" + DECLARED,
        tmp_path,
        60,
    )

    assert ended(int((tmp_path / "pid").read_text()))


def ended(process: int) -> bool:
    """Tell whether a process is gone, or dead and not yet buried, within 5 seconds."""
    for _ in range(50):
        try:
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_worker_ends_with_a_parent_that_is_killed(suite: Path, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    suite.write_text(HEAD + f"open({str(note)!r}, 'w').write(str(os.getpid()))\ntime.sleep(30)\n")
    command = [
        sys.executable,
        "-m",
        "reportgen",
        "collect",
        str(suite),
        "--backend",
        "torch",
        "--out",
        str(tmp_path / "o"),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, env=environment) as parent:
        while not (note.is_file() and note.read_text()):
            assert parent.poll() is None
            time.sleep(0.05)
        parent.kill()

    assert ended(int(note.read_text()))


def test_a_worker_that_ends_well_without_an_answer_says_so(tmp_path: Path) -> None:
    _, reason = timed("os._exit(0)\n", tmp_path, 60)

    assert reason == "it ended with exit code 0 before it had done all"


def test_an_answer_that_is_not_whole_is_none(tmp_path: Path) -> None:
    _, reason = timed("import json\njson.dumps = lambda *a: '{'\n" + DECLARED, tmp_path, 60)

    assert reason.startswith("it ended with exit code 0")


# a suite that does what it should not


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("if n == 2: sys.exit(3)\n    with annotate('a'): pass", {"ok": 2, "failed": 2}),
        ("with annotate('a'): sys.exit('no')\n    with annotate('b'): pass", {"ok": 4, "failed": 4}),
        ("with annotate('a'):\n        if not os.fork(): sys.exit()\n        os.wait()", {"ok": 4}),
        ("if os.fork(): os.wait()\n    with annotate('a'): pass", {"ok": 4}),
        ("if os.fork(): os.wait()\n    else: raise ValueError\n    with annotate('a'): pass", {"ok": 4}),
        ("with annotate('a'): raise ValueError('\\ud800')", {"failed": 4}),
    ],
)
def test_leaving_and_forking_cost_one_region(suite: Path, text: str, found: dict[str, int]) -> None:
    suite.write_text(HEAD + f"@benchmark(configs=[1, 2], runs=2, warmup=0)\ndef f(n):\n    {text}\n")

    made = measured(suite)

    assert states(made) == found
    assert verify(made.path) == ()


@pytest.mark.parametrize(
    ("function", "state", "says"),
    [
        ("lambda n: os._exit(3)", "failed", "could not be evaluated: it ended with exit code 3"),
        ("lambda n: sys.exit(3)", "failed", "SystemExit: 3"),
        ("lambda n: None", "failed", "it returned nothing"),
        ("lambda n: 1 / 0", "failed", "ZeroDivisionError: division by zero"),
        ("lambda n: n", "ok", ""),
    ],
)
def test_a_function_of_the_suite_that_fails_costs_its_own_values(
    suite: Path, function: str, state: str, says: str
) -> None:
    suite.write_text(
        HEAD + f"@benchmark(configs=[1, 2], derive={{'D': {function}}})\ndef f(n):\n    with annotate('a'): pass\n"
    )

    made = measured(suite, runs=1)

    assert states(made) == {"ok": 2}
    assert states(made, "D") == {state: 2}
    assert says in made.reasons.get(state, "")


def test_a_scenario_that_there_is_not_is_refused_by_every_backend(suite: Path) -> None:
    with pytest.raises(UserError, match="there is no scenario 'warm'"):
        measured(suite, scenarios=("warm",))
    assert not (suite.parent / "out").exists()


def test_a_module_whose_file_is_no_path_is_not_of_the_suite(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`torch.ops` says `_ops.py`: taken from the suite's own folder, it is a file that is not there."""
    monkeypatch.chdir(suite.parent)
    suite.write_text(
        f"import types\nm = sys.modules['odd'] = types.ModuleType('odd')\nm.__file__ = '_odd.py'\n{DECLARED}".join(
            [HEAD, ""]
        )
    )

    assert drive.plan(suite, quick=False).files == ()


def test_a_step_that_was_done_is_told_from_others(suite: Path, tmp_path: Path) -> None:
    plan = drive.plan(suite, quick=False)
    (step, *_) = plans.steps(plan, ["torch"], [])
    job = drive.job_of(step, suite, plan, "", "rounds")
    (tmp_path / drive.JOB).write_text(json.dumps({**job, "folder": "elsewhere"}))

    assert drive.did(tmp_path, job)
    assert not drive.did(tmp_path, {**job, "code": "other"})
    assert not drive.did(tmp_path / "none", job)
