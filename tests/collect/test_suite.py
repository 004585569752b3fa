"""What a suite's author writes, with a recorder that only listens."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from reportgen import suite
from reportgen.collect import worker
from reportgen.suite import Benchmark, Scope, SuiteError, Thermal, annotate, benchmark, collector, record_with, skip


class Type:
    """Stands for torch's dtype: neither JSON nor text, and its `str` is its name."""

    def __str__(self) -> str:
        return "torch.float16"


def declare(**arguments: Any) -> Benchmark:
    """Declare a benchmark of one parameter, with one configuration unless told."""

    @benchmark(**{"configs": [1], **arguments})
    def matmul(n: Any) -> None:
        """Multiply.

        More of it.
        """

    return matmul


class Listener:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []

    def begin(self, annotation: str) -> None:
        self.heard.append(("begin", annotation))

    def end(self, annotation: str, error: BaseException | None) -> None:
        self.heard.append(("end", f"{annotation} {error!r}" if error else annotation))

    def record(self, annotation: str, metric: str, value: float | str, unit: str) -> None:
        self.heard.append(("record", f"{annotation} {metric} {value} {unit}"))


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()
    record_with(listener)
    yield listener
    record_with(None)


def test_a_region_begins_and_ends(listener: Listener) -> None:
    with annotate("fp32"):
        pass

    assert listener.heard == [("begin", "fp32"), ("end", "fp32")]


def test_an_exception_ends_its_annotation_only(listener: Listener) -> None:
    with annotate("a"):
        raise ValueError("broken")
    with annotate("b"):
        skip("not here")
    with annotate("c"):
        pass

    assert [word for word, _ in listener.heard] == ["begin", "end"] * 3
    assert listener.heard[1] == ("end", "a ValueError('broken')")
    assert listener.heard[3] == ("end", "b Skipped('not here')")


def test_an_interrupt_is_not_swallowed(listener: Listener) -> None:
    with pytest.raises(KeyboardInterrupt), annotate("a"):
        raise KeyboardInterrupt
    assert listener.heard[-1] == ("end", "a KeyboardInterrupt()")


def test_annotations_do_not_nest(listener: Listener) -> None:
    with pytest.raises(SuiteError, match="'inner' stands inside 'outer'"), annotate("outer"), annotate("inner"):
        pass
    with annotate("next"):
        pass
    assert listener.heard[-1] == ("end", "next")


def test_without_a_recorder_a_suite_is_plain_python() -> None:
    with annotate("skipped"):
        skip("no reason")
    with pytest.raises(ValueError, match="broken"), annotate("a"):
        raise ValueError("broken")


def test_configurations_come_in_three_forms() -> None:
    @benchmark(configs=[{"n": 1, "dtype": "fp16"}, (2, "fp32"), [3, "bf16"]], quick=[4], runs=2)
    def matmul(n: int, dtype: str = "fp64") -> str:
        return f"{n} {dtype}"

    assert matmul.configs == ({"n": 1, "dtype": "fp16"}, {"n": 2, "dtype": "fp32"}, {"n": 3, "dtype": "bf16"})
    assert matmul.quick == ({"n": 4},)
    assert matmul(5) == "5 fp64"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"configs": []}, "no configurations"),
        ({"configs": [{"m": 1}]}, "does not fit"),
        ({"configs": [(1, 2)]}, "more values than parameters"),
        ({"configs": [(1, 2)], "quick": [1]}, "more values than parameters"),
        ({"quick": [{"m": 1}]}, "does not fit"),
        ({"runs": 0}, "runs is 0; give a whole number from 1 on"),
        ({"metrics": [5]}, "metrics holds 5; give a text"),
        ({"scenarios": [None]}, "scenarios holds None; give a text"),
        ({"title": 5}, "title holds 5; give a text"),
        ({"normalize_against": 5}, "normalize_against holds 5; give a text"),
        ({"derive": {5: "n"}}, "derive holds 5; give a text"),
        ({"derive": {" ": "n"}}, "has no name; give it one"),
        ({"runs": 2.5}, "runs is 2.5; give a whole number"),
        ({"runs": True}, "runs is True; give a whole number"),
        ({"runs": lambda n: n - 1}, "runs is 0"),
        ({"runs": lambda n: "many"}, "runs is 'many'"),
        ({"quick": [0], "runs": lambda n: n}, "runs is 0"),
        ({"processes": 0}, "processes is 0; give a whole number from 1 on"),
        ({"processes": {"cupti": 0}}, r"processes\['cupti'\] is 0; give a whole number from 1 on"),
        ({"processes": {"gpu": 3}}, "a backend of processes is 'gpu'; use one of ncu, cupti, torch"),
        ({"warmup": -1}, "warmup is -1; give a whole number from 0 on"),
        ({"metrics": "dram__bytes_read.sum"}, r"metrics is a text; write metrics=\['dram__bytes_read.sum'\]"),
        ({"scenarios": "strict"}, r"write scenarios=\['strict'\]"),
        ({"ignore": "fill"}, r"write ignore=\['fill'\]"),
        ({"ignore": "(fill"}, r"write ignore=\['\(fill'\]"),
        ({"ignore": ["ok", "(open"]}, r"ignore holds '\(open', not a regular expression"),
        ({"heat": "hot"}, "heat is 'hot'; use one of burst, sustained"),
        ({"replay": "once"}, "replay is 'once'; use one of kernel, range, application"),
        ({"graphs": "edge"}, "graphs is 'edge'; use one of node, graph"),
        ({"thermal": "manual"}, "thermal is 'manual'; use one of off, auto"),
        ({"derive": {"x": lambda time, m: 1.0}}, "'x' asks for m; it may take annotation, n, time"),
        ({"derive": {"x": ("1", "2", "3")}}, "give a formula, a pair"),
        ({"derive": {"x": ("1", 2)}}, "give a formula, a pair"),
    ],
)
def test_a_wrong_declaration_says_what_to_mend(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(SuiteError, match=f"benchmark matmul: .*{says}"):
        declare(**arguments)


def test_what_a_benchmark_does_not_say_is_what_the_docs_promise() -> None:
    made = declare()

    assert (made.name, made.title, made.configs, made.quick) == ("matmul", "Multiply.", ({"n": 1},), ({"n": 1},))
    assert (made.runs, made.quick_runs, made.processes, made.warmup) == ((10,), (10,), None, 1)
    assert (made.metrics, made.derive, made.ignore, made.normalize_against) == ((), {}, (), "")
    assert (made.scenarios, made.heat, made.thermal) == (("default",), "burst", None)
    assert (made.replay, made.graphs) == ("kernel", "node")


def test_a_benchmark_keeps_what_it_is_told() -> None:
    def share(time: float, n: int, annotation: str) -> float:
        return n / time

    made = declare(
        configs=(n for n in (1, 2)),
        quick=iter([3]),
        processes=4,
        warmup=0,
        metrics=iter(["a", "set:full"]),
        derive={"x": "n", "y": ("n * 2", "%"), "z": share},
        normalize_against="fp32",
        scenarios=["strict", "default"],
        heat="sustained",
        thermal="auto",
        ignore=["fill", "^copy$"],
        replay="range",
        graphs="graph",
        title="Another",
    )

    assert (made.configs, made.quick) == (({"n": 1}, {"n": 2}), ({"n": 3},))
    assert (made.processes, made.warmup, made.metrics, made.title) == (4, 0, ("a", "set:full"), "Another")
    assert made.derive == {"x": "n", "y": ("n * 2", "%"), "z": share}
    assert (made.normalize_against, made.scenarios, made.ignore) == ("fp32", ("strict", "default"), ("fill", "^copy$"))
    assert (made.heat, made.thermal, made.replay, made.graphs) == ("sustained", Thermal(), "range", "graph")


def test_what_is_ignored_may_come_from_any_iterable() -> None:
    assert declare(ignore=iter(["fill", "copy"])).ignore == ("fill", "copy")


def test_without_a_quick_set_the_first_configuration_is_it() -> None:
    assert declare(configs=[7, 8]).quick == ({"n": 7},)
    assert declare(configs=[7, 8], quick=[]).quick == ()


def test_runs_may_depend_on_the_configuration() -> None:
    made = declare(configs=[1, 5], quick=[2, 3], runs=lambda n: 10 * n)

    assert (made.runs, made.quick_runs) == ((10, 50), (20, 30))


def test_a_benchmark_without_parameters_has_one_configuration() -> None:
    @benchmark()
    def alone() -> str:
        return "here"

    assert (alone.configs, alone()) == (({},), "here")


def test_parameters_may_be_of_any_type() -> None:
    values = [{"b": 1, "a": [2]}, [3, 4], (5, 6), Type(), None, True, 0.5, "ü|="]
    made = declare(configs=[{"n": value} for value in values])

    planned = worker._planned(made, quick=False)
    assert [dict(one.params)["n"] for one in planned.configs] == [
        *('{"a":[2],"b":1}', "[3,4]", "[5,6]", '"torch.float16"', "null", "true", "0.5", '"ü|="'),
    ]


def test_a_list_alone_is_a_configuration_and_within_one_a_value() -> None:
    @benchmark(configs=[[[1, 2], "fp16"], ({"x": 1}, "fp32")])
    def shaped(shape: Any, dtype: str) -> None: ...

    assert shaped.configs == ({"shape": [1, 2], "dtype": "fp16"}, {"shape": {"x": 1}, "dtype": "fp32"})


@pytest.mark.skipif(find_spec("torch") is None, reason="the extra 'torch' is not installed")
def test_a_torch_dtype_is_a_parameter_by_its_name() -> None:
    import torch

    planned = worker._planned(declare(configs=[torch.float16]), quick=False)
    assert planned.configs[0].params == (("n", '"torch.float16"'),)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"wait": 80.0}, "both wait and resume"),
        ({"resume": 80.0}, "both wait and resume"),
        ({"wait": 60.0, "resume": 70.0}, r"resume \(70\) lies above wait \(60\)"),
        ({"timeout": 0.0}, "timeout is 0; give seconds above 0"),
    ],
)
def test_thermal_says_what_is_wrong_with_it(arguments: dict[str, float], says: str) -> None:
    with pytest.raises(SuiteError, match=says):
        Thermal(**arguments)


def test_thermal_is_off_or_auto_or_has_degrees_of_its_own() -> None:
    own = Thermal(80.0, 60.0, timeout=5.0)

    assert declare(thermal="off").thermal is None
    assert declare(thermal="auto").thermal == Thermal(timeout=120.0)
    assert declare(thermal=own).thermal is own
    assert (Thermal().mode, own.mode) == ("auto", "manual")
    assert [worker._planned(declare(thermal=t), quick=False).thermal for t in ("off", "auto", own)] == [
        *("off", "auto", "manual")
    ]


@pytest.mark.parametrize("scope", ["once", "config", "run", "annotation"])
def test_a_collector_has_a_scope_and_stays_a_function(scope: Scope) -> None:
    suite.forget()

    @collector(scope=scope, unit="W")
    def power() -> float:
        return 7.5

    assert [(c.name, c.scope, c.unit) for c in suite.collectors()] == [("power", scope, "W")]
    assert power() == 7.5
    suite.forget()
    assert suite.collectors() == []


def test_a_collector_of_an_unknown_scope_says_which_there_are() -> None:
    with pytest.raises(SuiteError, match="scope is 'kernel'; use one of once, config, run, annotation"):

        @collector(scope="kernel")  # type: ignore[arg-type]
        def power() -> float:
            return 1.0


def test_a_value_is_recorded_after_its_region(listener: Listener) -> None:
    with annotate("fp16") as region:
        pass
    region.record("relative error", 1e-3)
    region.record("kind", "dense", "word")

    assert listener.heard[2:] == [("record", "fp16 relative error 0.001 "), ("record", "fp16 kind dense word")]


def test_a_value_inside_a_region_would_be_measured_and_is_refused(listener: Listener) -> None:
    with pytest.raises(SuiteError, match=r"record\('error'\) stands inside 'fp16'"), annotate("fp16") as region:
        region.record("error", 1.0)


def test_without_a_recorder_a_value_goes_nowhere() -> None:
    with annotate("fp16") as region:
        pass
    region.record("error", 1.0)


def test_the_backend_is_known_while_it_measures() -> None:
    record_with(Listener(), "ncu")
    assert suite.backend() == "ncu"
    record_with(None)
    assert suite.backend() == ""


def test_a_skip_has_a_reason_always(listener: Listener) -> None:
    with annotate("a"):
        skip("")
    assert listener.heard[-1] == ("end", "a Skipped('no reason was given')")


def test_an_error_of_the_suite_itself_is_not_swallowed(listener: Listener) -> None:
    with pytest.raises(SuiteError, match="mine"), annotate("a"):
        raise SuiteError("mine")


@pytest.mark.parametrize("name", ["", " ", "a|b", "\ud800"])
def test_a_name_that_breaks_the_grammar_is_refused(name: str) -> None:
    with pytest.raises(SuiteError, match="without"):
        annotate(name)


def test_declared_benchmarks_are_known_in_order() -> None:
    suite.forget()

    @benchmark(configs=[1])
    def first(n: int) -> None: ...

    @benchmark(configs=[1])
    def second(n: int) -> None: ...

    assert [b.name for b in suite.declared()] == ["first", "second"]


def test_importing_it_loads_nothing_of_ours() -> None:
    script = "import sys, reportgen.suite; print([m for m in sys.modules if m.startswith('reportgen.') or m in ('torch', 'pandas', 'numpy')])"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert loaded.strip() == "['reportgen.suite']"
