from __future__ import annotations

import math
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.dossier import text
from reportgen.dossier.model import Figure, Name, Part
from reportgen.dossier.text import Scale, plain, runs
from tests import hostile


def read(printed: str) -> float:
    """Return the value that a printed number says."""
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    mantissa, _, power = printed.partition("\u00a0×\u00a010")
    return float(re.sub(r"[\s,]", "", mantissa) + (f"e{power.translate(raised)}" if power else ""))


@pytest.mark.parametrize(
    ("value", "decimals", "percent", "want"),
    [
        (0.04, 0, False, "0.04"),
        (0.0004, 1, False, "0.0004"),
        (-0.04, 0, False, "-0.04"),
        (1e-30, 2, False, "1.00 × 10⁻³⁰"),
        (1.23456e-10, 13, False, "1.235 × 10⁻¹⁰"),
        (-9.9996e-10, 13, False, "-1.000 × 10⁻⁹"),
        (5e-324, 327, False, "4.941 × 10⁻³²⁴"),
        (2e-3, 10, False, "2.0000000 × 10⁻³"),
        (0.0, 12, False, "0.000000000000"),
        (99.96, 1, True, "99.96"),
        (99.96, 0, True, "99.96"),
        (99.999999, 2, True, "99.999999"),
        (100.04, 1, True, "100.04"),
        (100.0, 1, True, "100.0"),
        (99.96, 1, False, "100.0"),
        (0.0, 0, False, "0"),
        (-0.0, 1, False, "0.0"),
        (1234567.891, 1, False, "1 234 567.9"),
        (math.nan, 2, False, "not known"),
        (math.inf, 2, False, "infinite"),
    ],
)
def test_a_number_prints_without_lying(value: float, decimals: int, percent: bool, want: str) -> None:
    assert text.number(value, decimals, percent).replace("\u202f", " ").replace("\u00a0", " ") == want


@pytest.mark.parametrize("value", [1.234567e-7, 1.234567e-9, -1.234567e-10, 1.234567e-20, 1.234567e-300])
@pytest.mark.parametrize("spread", [math.nan, 0.001])
def test_a_small_number_keeps_its_digits(value: float, spread: float) -> None:
    shown = text.figure(value, "", "x", spread=abs(value) * spread).text
    assert read(shown) == pytest.approx(value, rel=5e-4)
    assert shown.removeprefix("-").partition("\u00a0")[0] == ("1.235" if math.isnan(spread) else "1.2346")
    assert "e" not in shown


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 9), st.booleans())
def test_no_number_becomes_0_or_100_percent_that_is_not(value: float, decimals: int, percent: bool) -> None:
    printed = read(text.number(value, decimals, percent))
    assert (printed == 0) == (value == 0)
    if percent and abs(value - 100) > 1e-12:
        assert printed != 100
    assert printed == pytest.approx(value, rel=0.01, abs=0.6 * 10.0**-decimals)


@pytest.mark.parametrize(
    ("value", "spread", "want"),
    [
        (1075.2, 63.7, 0),  # ± 64: to the unit
        (12.3456, 1.2, 1),  # two digits of a spread that begins with 1 or 2
        (12.3456, 0.29, 2),
        (12.3456, 0.31, 1),  # one of any other
        (123.456, 4.0, 0),
        (12.3456, 0.12, 2),
        (12.3456, 0.012, 3),
        (12.3456, 0.0000012, 3),  # never over five digits
        (0.0123456, 0.0012, 4),
        (12.3456, 99.0, 0),  # but two digits at least
        (1.23, 99.0, 1),
        (12.3456, math.nan, 2),  # four digits without an interval
        (12.3456, 0.0, 2),
        (123456.0, math.nan, 0),
        (1.23456e-7, math.nan, 10),
        (1.23456e-12, math.nan, 15),
        (1.23456e-12, 1.2e-14, 15),
        (0.0, 1.0, 0),
        (math.nan, 1.0, 0),
    ],
)
def test_digits_follow_the_interval(value: float, spread: float, want: int) -> None:
    assert text.decimals_for(value, spread) == want


@pytest.mark.parametrize(
    ("values", "unit", "want"),
    [
        ([950.0, 999.0, 1500.0], "ns", ("ns", 1.0)),
        ([950.0, 1500.0, 2e9], "ns", ("us", 1e3)),
        ([5e6], "ns", ("ms", 1e6)),
        ([0.5], "ns", ("ns", 1.0)),
        ([0.0, 0.0, 3e9], "ns", ("s", 1e9)),
        ([-5e6], "ns", ("ms", 1e6)),
        ([], "ns", ("ns", 1.0)),
        ([math.nan, 2048.0], "byte", ("kB", 1e3)),
        ([3e12], "byte/s", ("TB/s", 1e12)),
        ([1.98e9], "hz", ("GHz", 1e9)),
        ([5e6], "TFLOP/s", ("TFLOP/s", 1.0)),
        ([5e6], "", ("", 1.0)),
    ],
)
def test_a_column_has_one_unit(values: list[float], unit: str, want: tuple[str, float]) -> None:
    scale = text.scale_for(values, unit)
    assert (scale.unit, scale.factor) == want


def test_figures_of_a_column_stand_in_its_unit_whatever_their_size() -> None:
    scale = Scale("us", 1e3)
    shown = [text.figure(v, "ns", "r.AvgValue", scale) for v in (40.0, 4_000.0, 4_000_000.0)]
    assert [f.unit for f in shown] == ["us"] * 3
    assert [float(re.sub(r"\s", "", f.text)) for f in shown] == [0.04, 4.0, 4000.0]
    assert [f.exact for f in shown] == ["40 ns", "4000 ns", "4000000 ns"]
    assert shown[0].source == "r.AvgValue"


def test_a_figure_keeps_what_it_exactly_is() -> None:
    got = text.figure(1075.2, "ns", "r.AvgValue", spread=63.7)
    assert got == Figure(1075.2, "1.08", "us", "1075.2 ns", "r.AvgValue")
    assert text.figure(99.96, "%", "x", spread=2.0).text == "99.96"
    assert text.figure(7.0, "", "x").text == "7"
    assert text.figure(math.nan, "", "x").text == "not known"
    assert text.figure(math.inf, "%", "x").text == "infinite"
    assert text.count(1234567, "c").text.replace("\u202f", " ").replace("\u00a0", " ") == "1 234 567"


CUTLASS = "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4>(cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4::Params)"
FUNCTOR = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >"
    "(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"
)


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("void k<a, b>(float*)", "k<a, b>(float*)"),
        (CUTLASS, "cutlass::Kernel2<…>(…)"),
        (FUNCTOR, "at::native::vectorized_elementwise_kernel<…>(…)"),
        (
            "std::ostream& ns::operator<<(std::ostream&, ns::Matrix<float, 4096, 4096> const&) const",
            "std::ostream& ns::operator<<(…) const",
        ),
        (
            "ns::Matrix<float, 4096>::operator()(ns::Matrix<float, 4096> const&, int, int, int)",
            "ns::Matrix<…>::operator()(…)",
        ),
        (
            "auto ns::f<float, 4096, 4096, 4096>(int) -> decltype(ns::g<float, 4096, 4096>(int()))",
            "auto ns::f<…>(…) -> decltype(…)",
        ),
        ("ns::P<float, 4096, 4096, 4096, 4096, 4096>::operator->(int, int, int, int, int)", "ns::P<…>::operator->(…)"),
    ],
)
def test_a_kernels_arguments_go_first(name: str, want: str) -> None:
    got = text.shorten(name)
    assert (got.text, got.whole) == (want, name)


@pytest.mark.parametrize(
    "name",
    [
        *hostile.NAMES,
        "<" * 100,
        ">" * 100,
        ")" * 50 + "(" * 50,
        "k<" * 40 + "x",
        "operator<<" * 20,
        "a" * 8000,
        "k<" + "a, " * 4000 + "b>(int)",
        "索引" * 4000,
        "",
        "void ",
    ],
)
@pytest.mark.parametrize("longest", [24, 40, 64])
def test_any_name_is_shortened_to_its_length_and_kept_whole(name: str, longest: int) -> None:
    got = text.shorten(name, longest)
    assert len(got.text) <= longest
    assert got.whole == text.visible(name)
    assert got.text or name in {"", "void "}


@given(st.text(max_size=300), st.integers(3, 70))
def test_shortening_holds_for_any_text(name: str, longest: int) -> None:
    got = text.shorten(name, longest)
    assert len(got.text) <= longest
    assert got.whole == text.visible(name)


@given(st.text())
def test_nothing_invisible_is_left(name: str) -> None:
    seen = text.visible(name)
    assert not {unicodedata.category(c) for c in seen} & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    seen.encode()


def test_control_and_bidi_characters_are_named() -> None:
    assert text.visible("a\x07b\u202ec\udcffd\u2028e\x00\n") == "aU+0007bU+202EcU+DCFFdU+2028eU+0000U+000A"
    assert text.visible("größe 索引 é") == "größe 索引 é"
    assert text.clip("a\u202eb" + "c" * 50, 10) == "aU+202Ebc…"
    assert text.clip("abc", 3) == "abc"


def test_sentences_keep_their_parts() -> None:
    figure = text.count(3, "s")
    got = text.say("{a} and {b}: {c}{d}", a="{b}", b=figure, c=(Name("k", "k<a>"), " x"), d=())
    assert got == ("{b}", " and ", figure, ": ", Name("k", "k<a>"), " x")
    assert text.plain(got) == "{b} and 3: k x"


def test_words_join() -> None:
    assert [text.listed(w) for w in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
    assert [text.plural(n, "run") for n in (0, 1, 2)] == ["runs", "run", "runs"]
    assert text.plural(2, "launch", "launches") == "launches"


def _pieces(*parts: Part) -> list[tuple[str, bool]]:
    return [(plain(run.parts), run.whole) for run in runs(parts)]


def test_a_line_never_ends_between_a_figure_and_what_is_joined_to_it() -> None:
    speed = Figure(795e12, "795", "TFLOP/s", "795 TFLOP/s", "x.AvgValue")
    size = Figure(4096, "4096", "", "4096", "parameter:n")
    sentence = (Name("fp16", "fp16"), " reaches ", speed, ", at (n\u00a0=\u00a0", size, "), as a whole.")

    assert _pieces(*sentence) == [
        ("fp16", True),
        (" reaches ", False),
        ("795 TFLOP/s,", True),
        (" at ", False),
        ("(n\u00a0=\u00a04096),", True),
        (" as a ", False),
        ("whole.", False),
    ]
    assert plain(sentence) == "".join(text for text, _ in _pieces(*sentence))


def test_a_long_name_may_be_broken() -> None:
    assert _pieces(Name("k" * 80, "k" * 80), ", and") == [("k" * 80 + ",", False), (" ", False), ("and", False)]
    assert _pieces() == []
