"""The loop in the child process: what runs in which order, what a region's line says, and what a fault costs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from reportgen import suite
from reportgen.collect import worker
from reportgen.collect.nvml import Sensors
from reportgen.evidence import write
from reportgen.readers import runs
from reportgen.suite import Benchmark, SuiteError, Thermal, annotate, benchmark, collector, record_with, skip

Line = dict[str, Any]


class FakeMeter:
    """Measures nothing, and keeps what it was told in order."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def before(self) -> None:
        self.told.append("before")

    def start(self, message: str) -> None:
        self.told.append(f"start {message}")

    def stop(self) -> dict[str, Any]:
        self.told.append("stop")
        return {"start": 1, "end": 2}

    def wait(self) -> None:
        self.told.append("wait")

    def close(self) -> dict[str, Any]:
        return {"versions.fake": "1"}


class FakeSensors(Sensors):
    """Says the temperatures that it is given, one after the other; the last one again and again."""

    def __init__(self, *temperatures: float) -> None:
        self.left = list(temperatures)
        self.reason = "" if temperatures else "no NVML here"

    def read(self) -> dict[str, float]:
        if not self.left:
            return {}
        return {"temperature_c": self.left.pop(0) if len(self.left) > 1 else self.left[0]}

    def recent(self) -> dict[str, float]:
        return self.read()

    def slowdown_c(self) -> float | None:
        return 90.0 if self.left else None


@pytest.fixture
def measure(tmp_path: Path) -> Iterator[Callable[..., list[Line]]]:
    """Return what runs benchmarks as the worker does, and reads the lines that it left."""
    sessions: list[worker.Session] = []

    def run(
        *benchmarks: Benchmark,
        order: str = "rounds",
        annotation: str = "",
        sensors: Sensors | None = None,
        meter: FakeMeter | None = None,
    ) -> list[Line]:
        session = worker.Session(meter or FakeMeter(), tmp_path, 3, annotation, sensors or FakeSensors())
        sessions.append(session)
        record_with(session, "fake")
        for one in benchmarks:
            session.run(worker._planned(one, quick=False), one, one.configs, order)
        assert session.close() == {"versions.fake": "1"}
        return [{k: v for k, v in line.items() if k != "place"} for line in runs.lines(tmp_path / worker.RUNS)]

    suite.forget()
    yield run
    record_with(None)
    suite.forget()
    for session in sessions:
        session._tally._file.close()


def calls(seen: list[Any], order: Sequence[int] = (1, 2, 3), warmup: int = 0) -> Benchmark:
    """Declare a benchmark whose configuration `n` runs `n` times, and which notes each call."""

    @benchmark(configs=[*order], runs=lambda n: n, warmup=warmup)
    def noted(n: int) -> None:
        seen.append(n)
        with annotate("a"):
            pass

    return noted


def regions(lines: Sequence[Line]) -> list[tuple[str, str, int, str]]:
    return [(x["annotation"], x["params"].get("n", ""), x["run"], x["state"]) for x in lines if "region" in x]


# --- order


def test_runs_go_round_robin_over_configurations_as_long_as_each_has_some(measure: Callable[..., list[Line]]) -> None:
    seen: list[int] = []
    lines = measure(calls(seen))

    assert seen == [1, 2, 3, 2, 3, 3]
    assert [(n, run) for _, n, run, _ in regions(lines)] == [
        *(("1", 0), ("2", 0), ("3", 0), ("2", 1), ("3", 1), ("3", 2))
    ]


def test_blocks_finish_one_configuration_first(measure: Callable[..., list[Line]]) -> None:
    seen: list[int] = []
    lines = measure(calls(seen, (3, 1, 2), warmup=1), order="blocks")

    assert seen == [3, 3, 3, 3, 1, 1, 2, 2, 2]
    assert [(n, run) for _, n, run, _ in regions(lines)] == [
        *(("3", 0), ("3", 1), ("3", 2), ("1", 0), ("2", 0), ("2", 1))
    ]


def test_warm_up_runs_are_run_first_and_not_recorded(measure: Callable[..., list[Line]], tmp_path: Path) -> None:
    seen: list[int] = []
    meter = FakeMeter()
    lines = measure(calls(seen, (2, 1), warmup=2), meter=meter)

    assert seen == [2, 1, 2, 1, 2, 1, 2]
    assert [run for _, _, run, _ in regions(lines)] == [0, 0, 1]
    assert meter.told.count("stop") == 3
    assert write.Tally.read(tmp_path / worker.PROGRESS) == 7


def test_each_region_is_flushed_marked_and_has_a_line(measure: Callable[..., list[Line]]) -> None:
    @benchmark(configs=[{"n": 1, "word": "a|b"}], runs=1, warmup=0)
    def f(n: int, word: str) -> None:
        with annotate("fp32"):
            pass

    meter = FakeMeter()
    lines = measure(f, meter=meter)

    assert meter.told == ["before", 'start fp32|benchmark="f"|n=1|word="a\\u007cb"|run=0', "stop"]
    assert lines == [
        {
            "benchmark": "f",
            "annotation": "fp32",
            "params": {"n": "1", "word": '"a|b"'},
            "run": 0,
            "process": 3,
            "state": "ok",
            "reason": "",
            "region": True,
            "start": 1,
            "end": 2,
        }
    ]


def test_only_the_selected_annotation_is_measured(measure: Callable[..., list[Line]]) -> None:
    @benchmark(runs=1, warmup=0)
    def f() -> None:
        with annotate("a") as a:
            pass
        a.record("of a", 1.0)
        with annotate("b") as b:
            pass
        b.record("of b", 2.0)

    (line,) = measure(f, annotation="b")
    assert (line["annotation"], line["recorded"]) == ("b", [["of b", 2.0, ""]])


def test_sensors_are_read_before_and_after_each_region(measure: Callable[..., list[Line]]) -> None:
    lines = measure(calls([], (2,)), sensors=FakeSensors(40.0, 41.0, 42.0, 43.0))

    assert [(x["before"]["temperature_c"], x["after"]["temperature_c"]) for x in lines] == [(40.0, 41.0), (42.0, 43.0)]


def test_without_sensors_a_line_claims_none(measure: Callable[..., list[Line]]) -> None:
    (line,) = measure(calls([], (1,)))
    assert not {"before", "after"} & line.keys()


# --- collectors


@pytest.mark.parametrize(
    ("scope", "want"),
    [
        ("once", [("", "", 0)]),
        ("config", [("", "1", 0), ("", "2", 0)]),
        ("run", [("", "1", 0), ("", "2", 0), ("", "2", 1)]),
        ("annotation", [("a", "1", 0), ("a", "2", 0), ("a", "2", 1)]),
    ],
)
def test_a_collector_is_called_where_its_scope_says(
    measure: Callable[..., list[Line]], scope: suite.Scope, want: list[tuple[str, str, int]]
) -> None:
    taken: list[int] = []

    @collector(scope=scope, unit="W")
    def power() -> float:
        taken.append(1)
        return 2.0 * len(taken)

    lines = [line for line in measure(calls([], (1, 2), warmup=1)) if "region" not in line]

    assert [(x["annotation"], x["params"].get("n", ""), x["run"]) for x in lines] == want
    assert [x["recorded"] for x in lines] == [[["power", 2.0 * (i + 1), "W"]] for i in range(len(want))]
    assert len(taken) == len(want)


def test_once_is_once_for_each_benchmark(measure: Callable[..., list[Line]]) -> None:
    @collector(scope="once")
    def room() -> str:
        return "cold"

    one, two = calls([], (1,)), calls([], (2,))
    lines = [line for line in measure(one, two) if "region" not in line]
    assert [line["recorded"] for line in lines] == [[["room", "cold", ""]]] * 2


def test_a_collector_may_return_several_values(measure: Callable[..., list[Line]]) -> None:
    @collector(scope="run", unit="C")
    def heat() -> dict[str, Any]:
        return {"inlet": 20, "outlet": "unknown"}

    first, _ = measure(calls([], (1,)))
    assert first["recorded"] == [["inlet", 20.0, "C"], ["outlet", "unknown", "C"]]


def test_a_collector_that_fails_costs_its_reading_only(measure: Callable[..., list[Line]]) -> None:
    @collector(scope="annotation")
    def broken() -> float:
        raise OSError("no\nsensor")

    region, reading = measure(calls([], (1,)))
    assert region["state"] == "ok"
    assert (reading["state"], reading["reason"], reading["metric"]) == ("failed", "OSError: no sensor", "broken")


def test_a_collector_that_skips_is_skipped_and_not_failed(measure: Callable[..., list[Line]]) -> None:
    @collector(scope="run")
    def power() -> float:
        skip("no sensor on this card")
        return 1.0

    reading, region = measure(calls([], (1,)))
    assert region["state"] == "ok"
    assert (reading["state"], reading["reason"], reading["metric"]) == ("skipped", "no sensor on this card", "power")


class Several:
    """Stands for a tensor of several elements, which is no number."""

    def __float__(self) -> float:
        raise RuntimeError("not a scalar")


def test_a_collector_that_returns_what_is_no_number_costs_its_reading_only(
    measure: Callable[..., list[Line]],
) -> None:
    @collector(scope="run")
    def tensor() -> Any:
        return Several()

    reading, region = measure(calls([], (1,)))
    assert region["state"] == "ok"
    assert (reading["state"], reading["reason"]) == ("failed", "RuntimeError: not a scalar")
    assert "recorded" not in reading


# --- values of the suite's own


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (0.25, 0.25),
        (3, 3.0),
        (True, 1.0),
        ("dense", "dense"),
        ("", ""),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (None, "None"),
        ([1], "[1]"),
        pytest.param(10**400, str(10**400), id="huge"),
    ],
)
def test_a_recorded_value_is_a_finite_number_or_a_text(
    measure: Callable[..., list[Line]], value: Any, kept: Any
) -> None:
    @benchmark(runs=1, warmup=1)
    def f() -> None:
        with annotate("a") as region:
            pass
        region.record("own", value, "1/s")

    (line,) = measure(f)
    assert line["recorded"] == [["own", kept, "1/s"]]


def test_a_value_belongs_to_its_own_region_and_run(measure: Callable[..., list[Line]]) -> None:
    count = iter(range(10))

    @benchmark(runs=2, warmup=0)
    def f() -> None:
        with annotate("a") as a:
            pass
        with annotate("b"):
            pass
        a.record("first", next(count))
        a.record("second", next(count))

    lines = measure(f)
    assert [x.get("recorded") for x in lines] == [
        *([["first", 0.0, ""], ["second", 1.0, ""]], None),
        *([["first", 2.0, ""], ["second", 3.0, ""]], None),
    ]


# --- faults


def test_a_fault_or_a_skip_in_a_region_ends_that_region_only(measure: Callable[..., list[Line]]) -> None:
    @benchmark(runs=1, warmup=1)
    def f() -> None:
        with annotate("broken"):
            raise ValueError("two\nlines |")
        with annotate("absent"):
            skip("no fp8 here")
        with annotate("good"):
            pass

    lines = measure(f)
    assert [(x["annotation"], x["state"], x["reason"]) for x in lines] == [
        ("broken", "failed", "ValueError: two lines |"),
        ("absent", "skipped", "no fp8 here"),
        ("good", "ok", ""),
    ]


def test_a_configuration_that_raises_is_failed_and_the_others_stand(measure: Callable[..., list[Line]]) -> None:
    @benchmark(configs=[1, 2], runs=2, warmup=1)
    def f(n: int) -> None:
        if n == 1:
            raise MemoryError("out of memory")
        with annotate("a"):
            pass

    lines = measure(f)
    assert regions(lines) == [("", "1", 0, "failed"), ("a", "2", 0, "ok"), ("", "1", 1, "failed"), ("a", "2", 1, "ok")]
    assert lines[0]["reason"] == "MemoryError: out of memory"


def test_a_skip_outside_of_a_region_skips_the_configuration(measure: Callable[..., list[Line]]) -> None:
    @benchmark(configs=[1, 2], runs=1, warmup=1)
    def f(n: int) -> None:
        if n == 2:
            skip("too large")
        with annotate("a"):
            pass

    lines = measure(f)
    assert regions(lines) == [("a", "1", 0, "ok"), ("", "2", 0, "skipped")]
    assert lines[1]["reason"] == "too large"


@pytest.mark.parametrize("reason", ["", " ", "\n"])
def test_a_skip_without_words_still_has_a_reason(measure: Callable[..., list[Line]], reason: str) -> None:
    @benchmark(runs=1, warmup=0)
    def f() -> None:
        with annotate("a"):
            skip(reason)

    (line,) = measure(f)
    assert (line["state"], line["reason"]) == ("skipped", "no reason was given")


def test_an_annotation_twice_in_one_run_is_the_suites_error(measure: Callable[..., list[Line]]) -> None:
    @benchmark(runs=1)
    def f() -> None:
        for _ in range(2):
            with annotate("a"):
                pass

    with pytest.raises(SuiteError, match="'a' is entered twice in one run; give each region a name of its own"):
        measure(f)


def test_an_annotation_may_come_again_in_the_next_run(measure: Callable[..., list[Line]]) -> None:
    assert len(measure(calls([], (3,)))) == 3


def test_nested_annotations_are_the_suites_error(measure: Callable[..., list[Line]]) -> None:
    @benchmark(runs=1, warmup=0)
    def f() -> None:
        with annotate("outer"), annotate("inner"):
            pass

    with pytest.raises(SuiteError, match="'inner' stands inside 'outer'"):
        measure(f)


# --- heat


def test_a_sustained_benchmark_runs_back_to_back_before_each_run(
    measure: Callable[..., list[Line]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_HEAT_S", 0.05)
    monkeypatch.setattr(worker, "_HEAT_AGAIN_S", 0.0)
    meter = FakeMeter()
    seen: list[int] = []

    @benchmark(configs=[1, 2], runs=2, warmup=1, heat="sustained")
    def f(n: int) -> None:
        seen.append(n)
        with annotate("a"):
            pass

    lines = measure(f, meter=meter)
    # After the warm-up 1, 2: heat on 1 and its run, heat on 2 and its run, then both again without heat.
    assert seen[:2] == [1, 2]
    first_of_two = seen.index(2, 2)
    assert set(seen[2:first_of_two]) == {1}
    assert (first_of_two - 2) % worker._HEAT_CALLS == 1
    assert seen[-2:] == [1, 2]
    assert regions(lines) == [("a", "1", 0, "ok"), ("a", "2", 0, "ok"), ("a", "1", 1, "ok"), ("a", "2", 1, "ok")]
    assert meter.told.count("stop") == 4
    assert meter.told.count("wait") == (len(seen) - 6) / worker._HEAT_CALLS


def test_a_configuration_that_raises_while_it_heats_is_failed_and_the_others_stand(
    measure: Callable[..., list[Line]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_HEAT_S", 0.01)
    monkeypatch.setattr(worker, "_HEAT_AGAIN_S", 0.01)

    @benchmark(configs=[1, 2], runs=1, warmup=0, heat="sustained")
    def f(n: int) -> None:
        if n == 1:
            raise MemoryError("out of memory")
        with annotate("a"):
            pass

    assert regions(measure(f)) == [("", "1", 0, "failed"), ("a", "2", 0, "ok")]


def test_what_was_waited_for_a_hot_gpu_stands_in_the_lines_of_that_run(measure: Callable[..., list[Line]]) -> None:
    @benchmark(runs=2, warmup=1, thermal=Thermal(wait=80.0, resume=75.0, timeout=60.0))
    def f() -> None:
        for name in ("a", "b"):
            with annotate(name):
                pass

    # The gate reads 85 (too hot), then 70; the regions read 70 and on.
    lines = measure(f, sensors=FakeSensors(85.0, 70.0))
    assert [(x["run"], "waited_s" in x) for x in lines] == [(0, True), (0, True), (1, False), (1, False)]
    assert lines[0]["waited_s"] >= 0.25


def test_thermal_without_sensors_says_in_each_line_that_it_could_not(measure: Callable[..., list[Line]]) -> None:
    @benchmark(runs=2, thermal="auto")
    def f() -> None:
        with annotate("a"):
            pass

    assert [x["thermal"] for x in measure(f)] == ["no NVML here"] * 2


# --- lines on disk


@pytest.mark.parametrize("word", ["a\u2028b", "a\x85b", "a\nb", "ü — \U0001f600", 'quoted "|"'])
def test_any_text_comes_back_from_the_lines(measure: Callable[..., list[Line]], word: str) -> None:
    @benchmark(configs=[{"word": word}], runs=1, warmup=0)
    def f(word: str) -> None:
        with annotate("a") as region:
            pass
        region.record("own", word)

    (line,) = measure(f)
    assert json.loads(line["params"]["word"]) == word
    assert line["recorded"] == [["own", word, ""]]


# --- what a suite imports from its own folder


@pytest.fixture
def loading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the interpreter as it was found."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))


SUITE = "from reportgen.suite import benchmark\n@benchmark(configs=[1])\ndef f(n): ...\n"


@pytest.mark.usefixtures("loading")
def test_a_suite_imports_a_helper_beside_it_and_the_helper_another(tmp_path: Path) -> None:
    (tmp_path / "my_shapes.py").write_text("import my_sizes\nSIZES = my_sizes.SIZES\n")
    (tmp_path / "my_sizes.py").write_text("SIZES = [5, 6]\n")
    (tmp_path / "mine.py").write_text(
        SUITE.replace("[1]", "my_shapes.SIZES").replace("from", "import my_shapes\nfrom", 1)
    )

    _, found = worker.load(tmp_path / "mine.py")

    assert found[0].configs == ({"n": 5}, {"n": 6})
    assert str(tmp_path) not in sys.path


def test_a_suite_called_as_a_package_that_a_library_looks_for_is_not_found_by_it(tmp_path: Path) -> None:
    """`pandas` looks for `bottleneck` when it is imported, and would take a suite of that name for it."""
    (tmp_path / "bottleneck.py").write_text("import pandas\n" + SUITE)
    job = {"mode": "plan", "suite": str(tmp_path / "bottleneck.py"), "quick": False, "folder": str(tmp_path)}
    (tmp_path / "job.json").write_text(json.dumps(job))

    ran = subprocess.run(
        [sys.executable, "-P", "-m", "reportgen.collect.worker", str(tmp_path / "job.json")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": ":".join(p for p in (str(Path(worker.__file__).parents[2]), *sys.path) if p)},
        check=False,
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    answer = json.loads((tmp_path / worker.ANSWER).read_bytes())
    assert [b["name"] for b in answer["plan"]["benchmarks"]] == ["f"]


@pytest.mark.usefixtures("loading")
def test_a_library_installed_below_the_suites_folder_does_not_find_the_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project has its suite at its root and a `.venv` there too."""
    packages = tmp_path / ".venv" / "lib" / "site-packages"
    packages.mkdir(parents=True)
    text = "try:\n    import my_optional\n    FOUND = True\nexcept ImportError:\n    FOUND = False\n"
    (packages / "my_library.py").write_text(text)
    monkeypatch.syspath_prepend(str(packages))
    (tmp_path / "my_optional.py").write_text("")
    (tmp_path / "mine.py").write_text("import my_library\n" + SUITE)

    module, _ = worker.load(tmp_path / "mine.py")

    assert module.my_library.FOUND is False


@pytest.mark.usefixtures("loading")
def test_what_is_nowhere_is_not_found_and_the_line_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("\nimport my_nowhere\n")
    with pytest.raises(SuiteError, match="line 2: ModuleNotFoundError: No module named 'my_nowhere'"):
        worker.load(tmp_path / "mine.py")


# --- the suite's own functions


@pytest.mark.usefixtures("loading")
def test_a_suites_own_function_is_evaluated_over_what_was_measured(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from reportgen.suite import benchmark\n"
        "def rate(time, n, annotation):\n    return n / time if annotation == 'a' else 1 / 0\n"
        "@benchmark(configs=[1], derive={'rate': rate, 'kind': lambda annotation: annotation * 2})\ndef f(n): ...\n"
    )
    head = {"benchmark": "f", "params": {"n": 8}, "time": 0.5}
    asked = [
        {**head, "metric": "rate", "annotation": "a"},
        {**head, "metric": "rate", "annotation": "b"},
        {**head, "metric": "kind", "annotation": "b"},
    ]

    answer = worker._derive({"suite": str(tmp_path / "mine.py"), "asked": asked})

    assert answer == {
        "values": [["ok", 16.0], ["failed", "ZeroDivisionError: division by zero"], ["ok", "bb"]],
    }
