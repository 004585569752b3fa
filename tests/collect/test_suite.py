"""What a suite's author writes, with a recorder that only listens."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from reportgen import suite
from reportgen.suite import SuiteError, annotate, benchmark, record_with, skip


class Listener:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []

    def begin(self, annotation: str) -> None:
        self.heard.append(("begin", annotation))

    def end(self, annotation: str, error: BaseException | None) -> None:
        self.heard.append(("end", f"{annotation} {error!r}" if error else annotation))


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
        ({"configs": [1], "runs": 0}, "runs is 0"),
    ],
)
def test_a_wrong_declaration_says_what_to_mend(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(SuiteError, match=says):

        @benchmark(**arguments)  # type: ignore[arg-type]
        def matmul(n: int) -> None:
            pass


@pytest.mark.parametrize("name", ["", "a|b"])
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
