"""A collection from a suite to its bundle; the torch parts need the extra `torch`, the faults need nothing."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import pytest

from reportgen.analysis import processed
from reportgen.collect import drive, preflight
from reportgen.collect import plan as plans
from reportgen.evidence.bundle import open_bundle
from reportgen.evidence.errors import EnvironmentLacks, UserError
from reportgen.evidence.verify import verify
from reportgen.workflow import recorded
from reportgen.workflow.collection import Asked, collect
from tests.evidence import making

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="the extra 'torch' is not installed")

SUITE = '''"""Two precisions on the CPU."""
import torch
from reportgen.suite import annotate, benchmark, skip

@benchmark(configs=[{"n": 64}, {"n": 96}, {"n": 128}], quick=[{"n": 16}, {"n": 32}], runs=3)
def matmul(n):
    a, b = torch.rand(n, n), torch.rand(n, n)
    with annotate("fp32"):
        a @ b
    with annotate("fp8"):
        skip("this CPU has no fp8")
    with annotate("broken"):
        raise ValueError('a "quoted" | reason')
'''


class Said:
    """Keeps what a collection says of itself."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def step(self, number: int, count: int, name: str, runs: int) -> None:
        self.lines.append(f"{number}/{count} {name} {runs}")

    def done(self, runs: int) -> None:
        self.lines.append(f"{runs} done")

    def say(self, line: str) -> None:
        self.lines.append(line)

    def tell(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(SUITE)
    return path


@needs_torch
def test_a_quick_collection_becomes_one_verified_bundle(suite: Path, tmp_path: Path) -> None:
    said = Said()
    made = collect(suite, tmp_path / "out", Asked(("torch",), quick=True), said)

    samples = open_bundle(made.path).samples()
    times = samples[samples["metric"] == "self_cpu_time_total"]
    assert verify(made.path) == ()
    assert not made.whole
    assert dict(made.states)["skipped"] == 2 * 3
    assert dict(made.states)["failed"] == 2 * 3
    assert set(times[times["state"] == "ok"]["annotation"]) == {"fp32"}
    assert set(times["param:n"]) == {"16", "32"}
    assert set(samples["scenario"]) == {"continuous"}
    assert set(samples["benchmark"]) == {"matmul"}
    assert 'ValueError: a "quoted" | reason' in set(samples["reason"])
    assert open_bundle(made.path).read("data/suite/mine.py") == suite.read_bytes()
    assert not list((tmp_path / "out").glob(".partial-*"))


@needs_torch
def test_a_process_that_hangs_costs_its_own_step(suite: Path, tmp_path: Path) -> None:
    suite.write_text(SUITE.replace("    a, b =", "    import time; time.sleep(60)\n    a, b ="))

    made = collect(suite, tmp_path / "out", Asked(("torch",), quick=True, timeout=12), Said())

    assert dict(made.states) == {"dropped": 6}
    assert "stopped after 12 s" in open_bundle(made.path).samples()["reason"].iloc[0]


def test_a_missing_suite_and_an_unknown_backend_say_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such suite"):
        drive.plan(tmp_path / "none.py", quick=False)
    with pytest.raises(UserError, match="no backend 'perf'"):
        collect(tmp_path / "none.py", tmp_path / "out", Asked(("perf",)), Said())


def test_what_the_machine_lacks_stops_a_collection_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(backends: object) -> None:
        raise EnvironmentLacks(None, "there is no GPU", "use --backend torch")

    monkeypatch.setattr(preflight, "check", lacking)
    with pytest.raises(EnvironmentLacks, match="no GPU"):
        collect(Path(__file__), tmp_path / "out", Asked(("ncu",)), Said())
    assert not (tmp_path / "out").exists()
    with pytest.raises(UserError, match="no such suite"):
        collect(tmp_path / "none.py", tmp_path / "out", Asked(("ncu",)), Said())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def f(:\n", "line 1"),
        ("x = 1\n", "declares no benchmark"),
        ("import nothing_of_the_kind\n", "line 1: ModuleNotFoundError"),
        ("\n\n1 / 0\n", "line 3: ZeroDivisionError"),
        ("import sys\n\nsys.exit(0)\n", "line 3: SystemExit: 0"),
        ("x = 1\0\n", "line 1: source code string cannot contain null bytes"),
        ("class E(Exception):\n    def __str__(self): raise self\nraise E\n", "line 3: E: it cannot be told"),
        (
            "from reportgen.suite import benchmark\n@benchmark(configs=[float('nan')])\ndef f(n): ...\n",
            "benchmark f: the parameter 'n' has no JSON value",
        ),
        (
            "from reportgen.suite import benchmark\n@benchmark(configs=[{'n': {1: 2, 'a': 3}}])\ndef f(n): ...\n",
            "benchmark f: the parameter 'n' has no JSON value",
        ),
        (
            "from reportgen.suite import benchmark\n@benchmark(configs=['\\ud800'])\ndef f(n): ...\n",
            "the parameter 'n' has a character that is not Unicode",
        ),
        (
            "from reportgen.suite import benchmark\n" + "@benchmark(configs=[1])\ndef f(n): ...\n" * 2,
            "two benchmarks are called 'f'",
        ),
        ("from reportgen.suite import benchmark\n@benchmark(configs=[])\ndef f(n): ...\n", "no configurations"),
        ("import os\nos.kill(os.getpid(), 9)\n", "killed by SIGKILL"),
    ],
)
def test_a_suite_that_is_wrong_is_one_line_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(text)

    with pytest.raises(UserError) as caught:
        drive.plan(path, quick=False)

    assert says in caught.value.line
    assert str(path) in caught.value.line
    assert "\n" not in caught.value.line


def test_a_plan_is_plain_data_and_its_digest_is_stable(tmp_path: Path) -> None:
    path = tmp_path / "small.py"
    path.write_text(
        "'''A title.'''\nfrom reportgen.suite import benchmark\n"
        "@benchmark(configs=[{'n': 1, 'shape': [1, 2]}], metrics=['m'], derive={'x': 'n*2'}, scenarios=['default', 'warm'])\n"
        "def f(n, shape): ...\n"
    )

    plan = drive.plan(path, quick=False)

    assert plan.title == "A title"
    assert plan.benchmarks[0].configs == (plans.PlannedConfig(0, (("n", "1"), ("shape", "[1,2]")), 10),)
    assert plan.scenarios == ("default", "warm")
    assert plan.digest == drive.plan(path, quick=False).digest
    assert plan.benchmarks[0].derive == (plans.Formula("x", "n*2", "x"),)


def test_steps_take_turns_over_scenarios(tmp_path: Path) -> None:
    path = tmp_path / "small.py"
    path.write_text(
        "from reportgen.suite import benchmark\n@benchmark(configs=[1], scenarios=['a', 'b'])\ndef f(n): ...\n"
    )
    plan = drive.plan(path, quick=False)

    found = plans.steps(plan, ["cupti", "torch"], [])

    assert [s.folder for s in found] == [
        *("cupti/a/0", "cupti/b/0", "cupti/a/1", "cupti/b/1", "cupti/a/2", "cupti/b/2"),
        "torch/continuous/0",
    ]


def test_each_benchmark_has_as_many_processes_as_it_asks_for(tmp_path: Path) -> None:
    path = tmp_path / "small.py"
    path.write_text(
        "from reportgen.suite import benchmark\n@benchmark(configs=[1])\ndef f(n): ...\n"
        "@benchmark(configs=[1], processes=1)\ndef g(n): ...\n@benchmark(configs=[1], processes=5)\ndef h(n): ...\n"
        "@benchmark(configs=[1], processes={'cupti': 8})\ndef i(n): ...\n"
    )
    plan = drive.plan(path, quick=False)

    def measured(narrowed: plans.SuitePlan, backend: str = "cupti") -> dict[str, int]:
        found = plans.steps(narrowed, [backend], [])
        return {b.name: sum(plans.measures(b, step) for step in found) for b in narrowed.benchmarks}

    assert measured(plan) == {"f": 3, "g": 1, "h": 5, "i": 8}
    assert measured(plan, "torch") == {"f": 1, "g": 1, "h": 5, "i": 1}
    assert measured(plans.from_json(json.loads(json.dumps(asdict(plan))))) == measured(plan)
    assert measured(plans.narrow(plan, None, None, (), 2)) == {"f": 2, "g": 2, "h": 2, "i": 2}


@pytest.mark.parametrize(
    ("text", "benchmark", "params", "takes"),
    [
        ("f", "f", (("n", "1"),), True),
        ("g", "f", (("n", "1"),), False),
        ("f/x,n=1", "f", (("n", "1"),), True),
        (",dtype=fp16", "f", (("dtype", '"fp16"'),), True),
        ("f,n=2", "f", (("n", "1"),), False),
        ("f,n=1,m=2", "f", (("n", "1"), ("m", "2")), True),
        ("f,n=1,m=2", "f", (("n", "1"), ("m", "3")), False),
        ("f,shape=[64, 64]", "f", (("shape", "[64,64]"),), True),
        ("f,shape=[64,64],n=1", "f", (("shape", "[64,64]"), ("n", "1")), True),
        ("f,shape=[64,64],n=1", "f", (("shape", "[64,64]"), ("n", "2")), False),
        ("f,shape=[64,32]", "f", (("shape", "[64,64]"),), False),
        ('f,how={"b": [1, 2], "a": "x,y"}', "f", (("how", '{"a":"x,y","b":[1,2]}'),), True),
        ('f,how="a, b"', "f", (("how", '"a, b"'),), True),
        ('f,how="1"', "f", (("how", '"1"'),), True),
        ('f,how="1"', "f", (("how", "1"),), False),
        ("f,how=1", "f", (("how", '"1"'),), True),
        ("f,how=größer", "f", (("how", '"größer"'),), True),
        ("f,how=a=b", "f", (("how", '"a=b"'),), True),
        ("f,how=", "f", (("how", '""'),), True),
    ],
)
def test_a_selection_takes_what_it_names(
    text: str, benchmark: str, params: tuple[tuple[str, str], ...], takes: bool
) -> None:
    assert plans.parse_selection(text).takes(benchmark, params) is takes


def test_a_selection_that_cannot_be_read_says_where() -> None:
    with pytest.raises(UserError, match="at 'n'"):
        plans.parse_selection("f,n")


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("f,=1", "=1"),
        ("f,", ""),
        ("f,n=[1,2", "[1,2"),
        ("f,n=[a]", "[a]"),
        ('f,n="a', '"a'),
        ("f,n=[1]2,m=3", "2,m=3"),
        ("f/[1],n=2", "[1],n=2"),
        ('f/"a"b', "b"),
        ("f,n=1,,m=2", ",m=2"),
    ],
)
def test_a_part_of_a_selection_that_cannot_be_read_is_named(text: str, at: str) -> None:
    with pytest.raises(UserError) as caught:
        plans.parse_selection(text)
    assert caught.value.what == f"--select '{text}' cannot be read at '{at}'"


@pytest.mark.parametrize(
    ("text", "annotation", "params"),
    [
        ("f/a + b * c,n=1", "a + b * c", (("n", "1"),)),
        ('f/"a, b"', "a, b", ()),
        ('f/"a, b",n=1', "a, b", (("n", "1"),)),
        ("f/a/b", "a/b", ()),
    ],
)
def test_an_annotation_may_be_quoted(text: str, annotation: str, params: plans.Params) -> None:
    assert plans.parse_selection(text) == plans.Selection("f", annotation, params)


@needs_torch
def test_a_scenario_that_torch_cannot_keep_is_refused(suite: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'torch' measures the scenario 'continuous' alone"):
        collect(suite, tmp_path / "out", Asked(("torch",), ("default",), quick=True), Said())
    assert not (tmp_path / "out").exists()


@needs_torch
def test_a_baseline_that_no_region_has_is_told(suite: Path, tmp_path: Path) -> None:
    suite.write_text(SUITE.replace("runs=3", "runs=3, normalize_against='fp31'"))
    said = Said()
    collect(suite, tmp_path / "out", Asked(("torch",), quick=True), said)

    assert "mine: benchmark matmul: normalize_against names 'fp31', and there is no such annotation" in said.lines


def test_a_function_is_given_the_time_that_a_formula_is_given() -> None:
    """Under torch on a GPU an operator has two times; the device's comes first."""
    cpu, device = "self_cpu_time_total", "self_device_time_total"
    base, reason = {"backend": "torch", "workload": "operator"}, {"ok": "", "dropped": "why"}
    frame = making.table(
        [
            {**base, "run": run, "metric": metric, "value": value, "state": state, "reason": reason[state]}
            for run, metric, value, state in (
                (0, cpu, 9.0, "ok"),
                (0, device, 2.0, "ok"),
                (1, cpu, 8.0, "ok"),
                (1, device, float("nan"), "dropped"),
                (2, device, 4.0, "ok"),
                (2, cpu, 7.0, "ok"),
            )
        ]
    )
    timed = recorded._timed(processed.runs(frame))

    assert list(zip(timed["run"], timed["metric"], timed["value"], strict=True)) == [
        (0, device, 2.0),
        (1, cpu, 8.0),
        (2, device, 4.0),
    ]
