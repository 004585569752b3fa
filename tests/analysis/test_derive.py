from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.analysis import derive
from reportgen.analysis.derive import FormulaError
from reportgen.evidence.errors import UserError


def value(text: str, **values: float) -> float:
    return derive.parse("m", text)(values)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("2*n**3 / time / 1e12", 2 * 2048**3 / 0.5 / 1e12),
        ("-n + +3", -2045.0),
        ("7 // 2 + 7 % 3", 4.0),
        ("-7 // 2", -4.0),
        ("2**3**2", 512.0),
        ("-2**2", -4.0),
        ("min(n, 3, 2) + max(1, 2)", 4.0),
        ("min(n)", 2048.0),
        ("abs(-n) + sqrt(16) + log2(8) + log10(1000)", 2048 + 4 + 3 + 3),
        ("ceil(n / 1000) * floor(2.9)", 6.0),
        ("1_000 + 0x10", 1016.0),
        ("  (n)\n", 2048.0),
    ],
)
def test_arithmetic_is_read_as_python_reads_it(text: str, want: float) -> None:
    assert value(text, n=2048.0, time=0.5) == pytest.approx(want, rel=1e-15)


def test_metrics_bear_their_profilers_names() -> None:
    expression = derive.parse("GB/s", "(dram__bytes_read.sum + dram__bytes_write.sum) / time / 1e9")
    assert expression.names == {"dram__bytes_read.sum", "dram__bytes_write.sum", "time"}
    values = {"dram__bytes_read.sum": 3e9, "dram__bytes_write.sum": 1e9, "time": 2.0}
    assert expression(values) == 2.0
    assert derive.parse("x", "sm__a.avg.pct_of_peak_sustained_elapsed").names == {
        "sm__a.avg.pct_of_peak_sustained_elapsed"
    }


def test_a_name_that_is_not_there_is_told() -> None:
    with pytest.raises(KeyError):
        value("n + m", n=1.0)


@pytest.mark.parametrize(
    "text",
    [
        "open('x')",
        "__import__('os').system('true')",
        "print(n)",
        "n.real()",
        "f(n).x",
        "[x for x in n]",
        "{n}",
        "(n, 1)",
        "n[0]",
        "'a'",
        "b'a'",
        "f'{n}'",
        "(m := n)",
        "lambda: n",
        "n if n else 1",
        "n and 1",
        "not n",
        "~n",
        "n << 40",
        "n | 1",
        "n @ n",
        "n < 1",
        "True",
        "None",
        "...",
        "1j",
        "min(*n)",
        "min(n, key=abs)",
        "min()",
        "abs()",
        "abs(1, 2)",
        "sqrt(1, 2)",
        "await n",
        "yield n",
        "n; n",
        "n = 1",
        "",
        "1 +",
        "2n",
        "(1",
        "\x00",
        "\udcff",
        "class",
    ],
)
def test_all_else_is_refused_with_the_place_and_the_mend(text: str) -> None:
    with pytest.raises(FormulaError) as caught:
        derive.parse("TFLOP/s", text)
    assert caught.value.path == "TFLOP/s"
    assert isinstance(caught.value, UserError)
    assert caught.value.mend
    assert "\n" not in caught.value.line


def test_what_is_refused_is_named_with_its_place() -> None:
    with pytest.raises(FormulaError, match=r"holds 'open\(n\)' at character 5"):
        derive.parse("x", "1 + open(n)")
    with pytest.raises(FormulaError, match=r"holds 'open\(n\)' at character 5"):
        derive.parse("x", "   1 + open(n)")


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9",
        "9**9**9**9",
        "1e308 * 10",
        "1 / 0",
        "1 % 0",
        "0 ** -1",
        "(-8) ** (1/3)",
        "sqrt(-1)",
        "log2(0)",
        "9" * 400,
        "1e999",
    ],
)
def test_what_has_no_value_is_not_known_and_takes_no_time(text: str) -> None:
    begin = time.perf_counter()
    assert math.isnan(value(text))
    assert time.perf_counter() - begin < 1


@pytest.mark.parametrize(
    "text",
    [
        "(" * 240 + "1" + ")" * 240,
        "-" * 499 + "1",
        "abs(" * 90 + "1" + ")" * 90,
        "+".join("1" * 250),
        "1" + "**1" * 160,
    ],
)
def test_nesting_is_read_or_refused_and_never_breaks(text: str) -> None:
    try:
        got = value(text)
    except FormulaError:
        return
    assert got in {1.0, -1.0}


def test_a_hundred_levels_are_enough_for_long_sums_and_no_stack_is_exhausted() -> None:
    assert value("+".join(["1"] * 100)) == 100.0
    with pytest.raises(FormulaError, match="deeper than 100"):
        value("+".join(["1"] * 200))


def test_a_formula_of_any_length_is_refused_at_once() -> None:
    with pytest.raises(FormulaError, match="longer than 500"):
        derive.parse("x", "1+" * 10**6 + "1")


_NAMES = {"n": 3.0, "m.sum": -0.5, "time": 2.5e-6}
_LEAVES = st.one_of(
    st.floats(-1e6, 1e6, allow_nan=False).map(lambda v: f"({v!r})"), st.sampled_from(list(_NAMES)), st.just("2.0")
)


def _grown(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(children, st.sampled_from(["+", "-", "*", "/", "//", "%", "**"]), children).map(
            lambda t: f"({t[0]} {t[1]} {t[2]})"
        ),
        st.tuples(st.sampled_from(["-", "+"]), children).map("".join),
        st.tuples(st.sampled_from(["min", "max"]), children, children).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
        st.tuples(st.sampled_from(["abs", "sqrt", "log2", "ceil"]), children).map(lambda t: f"{t[0]}({t[1]})"),
    )


class _Sum:
    sum = -0.5


@given(st.recursive(_LEAVES, _grown, max_leaves=12).filter(lambda text: len(text) <= 500))
def test_any_arithmetic_agrees_with_python(text: str) -> None:
    functions = {
        "sqrt": math.sqrt,
        "log2": math.log2,
        "ceil": lambda v: float(math.ceil(v)),
        "min": min,
        "max": max,
        "abs": math.fabs,  # refuses complex numbers
    }
    try:
        want = eval(text, {"__builtins__": {}, **functions}, {"n": 3.0, "m": _Sum, "time": 2.5e-6})  # noqa: S307
    except (ArithmeticError, ValueError, TypeError):
        want = math.nan  # a TypeError is a complex number's: a root of a negative one
    got = derive.parse("x", text)(_NAMES)
    if isinstance(want, complex) or not math.isfinite(want):
        assert math.isnan(got)
    else:
        assert got == want


# --- what reaches beyond the region's own run


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('time@"fp32" / time', {"time@'fp32'", "time"}),
        ("time@'fp32' / time", {"time@'fp32'", "time"}),
        ('dram__bytes_read.sum@"a b|c"', {"dram__bytes_read.sum@'a b|c'"}),
        ('time@"it\'s"', {'time@"it\'s"'}),
        ('2 * (time@"fp32")', {"time@'fp32'"}),
        ('n / highest("GB/s")', {"n", "highest('GB/s')"}),
        ("size / time / rated_bandwidth", {"size", "time", "rated_bandwidth"}),
    ],
)
def test_what_lies_elsewhere_is_a_name_of_its_own(text: str, names: set[str]) -> None:
    assert derive.parse("x", text).names == names


def test_a_value_elsewhere_is_taken_by_that_name() -> None:
    assert value('time@"fp32" / time', **{derive.elsewhere("time", "fp32"): 3.0, "time": 2.0}) == 1.5
    assert value('100 * n / highest("GB/s")', n=2.0, **{derive.highest("GB/s"): 8.0}) == 25.0


@pytest.mark.parametrize("annotation", ["fp32", "a 'quoted' \"name\"", "back\\slash", "line\nend", "größe", "\u2028"])
def test_any_annotation_can_be_named(annotation: str) -> None:
    name = derive.elsewhere("time", annotation)
    assert derive.parse("x", f"{name} / time").names == {name, "time"}


@pytest.mark.parametrize(
    "text",
    [
        "time@fp32",
        'time@""',
        "time@1",
        'time@b"fp32"',
        'time@f"{n}"',
        '"fp32"@time',
        '(time + 1)@"fp32"',
        '2@"fp32"',
        'time@"a"@"b"',
        'sqrt(time)@"fp32"',
        'highest("GB/s")@"fp32"',
        "highest()",
        'highest("")',
        "highest(n)",
        "highest(1)",
        'highest("a", "b")',
        'highest(metric="a")',
        'lowest("a")',
        '"GB/s"',
    ],
)
def test_what_reaches_out_wrongly_is_refused(text: str) -> None:
    with pytest.raises(FormulaError, match=r"at character [0-9]+") as caught:
        derive.parse("x", text)
    assert "\n" not in caught.value.line


@pytest.mark.parametrize("text", ['2 * time@"fp32"', 'n / time@"fp32"'])
def test_an_at_that_binds_with_what_stands_before_it_asks_for_brackets(text: str) -> None:
    """In Python, whose grammar this is, `a * b@c` is `(a * b)@c`."""
    with pytest.raises(FormulaError) as caught:
        derive.parse("x", text)
    assert 'write it in brackets: (time@"fp32")' in caught.value.line


def test_only_a_value_of_another_region_pairs_runs() -> None:
    assert derive.parse("x", 'time@"fp32" / time').paired
    assert not derive.parse("x", "n / time").paired
    assert not derive.parse("x", '2 * (time@"fp32")').paired
    assert not derive.parse("x", 'time@"fp32" - time').paired


@pytest.mark.parametrize(
    "text",
    [
        *('time@"fp32" / time * 1', '1 * (time@"fp32" / time)', '100 * (time@"fp32") / time', '+(time@"fp32" / time)'),
        *('(time@"fp32" / time) ** 2', '(time / (time@"fp32")) ** -1', 'time@"fp32" * time ** -1'),
        'max(time@"a", time@"b") / (time + 0)',
    ],
)
def test_a_ratio_stays_one_under_a_factor_or_a_power(text: str) -> None:
    assert derive.parse("x", text).paired


@pytest.mark.parametrize(
    "text",
    [
        '(time@"fp32" - time) / time',
        'time / (time@"fp32" - time)',
        '1 - time / (time@"fp32")',
        '-(time@"fp32") / time',
        '-2 * (time@"fp32") / time',
        'max(time@"a" - time, 0) / time',
    ],
)
def test_a_relative_change_is_no_ratio(text: str) -> None:
    assert not derive.parse("x", text).paired


def test_the_highest_mean_is_of_no_other_region() -> None:
    assert not derive.parse("x", 'n / highest("GB/s")').paired
    assert not derive.parse("x", 'n / highest("GB/s @ 2 GHz")').paired
