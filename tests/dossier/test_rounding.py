"""A printed figure is its value rounded, in a unit that is said, or the fault is named."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.dossier.rounding import misprint, number
from reportgen.dossier.text import figure, plain_number

ROUNDED = "it is not the value rounded"


@pytest.mark.parametrize(
    ("text", "value", "unit", "after", "heads", "says"),
    [
        ("739.25", 739253.4, "ns", "\u00a0us and", (), ""),
        ("739.3", 739253.4, "ns", "\u00a0us and", (), ""),
        ("739", 739253.4, "ns", "\u00a0us.", (), ""),
        ("739.26", 739253.4, "ns", "\u00a0us", (), ROUNDED),
        ("740", 739253.4, "ns", "\u00a0us", (), ROUNDED),
        ("739.25", 739253.4, "ns", "\u00a0ms", (), ROUNDED),
        ("739.25", 739253.4, "ns", "\u00a0m", (), "its unit is not s or ms or us or ns"),
        ("739.25", 739253.4, "ns", "\u00a0us/s", (), "its unit is not s or ms or us or ns"),
        ("739.25", 739253.4, "ns", " us", (), "no unit stands by it, and it is not the exact value"),
        ("739253.4", 739253.4, "ns", "", (), ""),
        ("739.25", 739253.4, "ns", "", ("time", "us"), ""),
        ("739.25", 739253.4, "ns", " to ", ("time", "ms"), ROUNDED),
        ("1 487.4", 1487.43, "TFLOP/s", "\u00a0TFLOP/s", (), ""),
        ("1 487.4", 1487.43, "TFLOP/s", "\u00a0GFLOP/s", (), "its unit is not TFLOP/s"),
        ("1487.4", 1487.43, "TFLOP/s", "", ("TFLOP/s",), ""),
        ("6 355 072", 6355072.0, "byte", "", ("Size", "bytes"), ""),
        ("6.355", 6355072.0, "byte", "\u00a0MB", (), ""),
        ("29.04", 29.0382, "", " times", (), ""),
        ("30", 30.0, "", "\u00a0paired", (), ""),
        ("2.072\u00a0×\u00a010⁻⁷", 2.0719e-7, "", "", (), ""),
        ("2.073\u00a0×\u00a010⁻⁷", 2.0719e-7, "", "", (), ROUNDED),
        ("2.072\u00a0×\u00a010⁻⁶", 2.0719e-7, "", "", (), ROUNDED),
        ("99.96", 99.961, "%", "\u00a0%", (), ""),
        ("100", 99.961, "%", "\u00a0%", (), "it prints 100 % for what is not"),
        ("100", 100.0, "%", "\u00a0%", (), ""),
        ("0", 0.04, "ns", "\u00a0ns", (), "it prints 0 for what is not"),
        ("0", 0.0, "ns", "\u00a0ns", (), ""),
        ("-3.5", -3.52, "%", "\u00a0%", (), ""),
        ("\u22123.5", -3.52, "%", "\u00a0%", (), ""),
        ("fast", 3.0, "", "", (), "it is no number"),
        ("", 3.0, "", "", (), "it is no number"),
        ("nan", 3.0, "", "", (), "it is no number"),
        ("not known", math.nan, "ns", "", (), ""),
        ("infinite", math.inf, "", "", (), ""),
        ("3", math.nan, "", "", (), "it is no number"),
        ("66", 66.0, "°C", "\u00a0°C", (), ""),
    ],
)
def test_a_misprint_is_told(text: str, value: float, unit: str, after: str, heads: tuple[str, ...], says: str) -> None:
    assert misprint(text, value, unit, after, heads) == says


@given(
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.sampled_from(["ns", "byte", "hz", "byte/s", "%", "", "TFLOP/s"]),
    st.floats(min_value=0, max_value=1e6, allow_nan=False),
)
def test_whatever_a_dossier_prints_is_no_misprint(value: float, unit: str, spread: float) -> None:
    made = figure(value, unit, "x", spread=spread)

    assert misprint(made.text, made.value, unit, f"\u00a0{made.unit}" if made.unit else "") == ""
    said = number(plain_number(value))
    assert said is not None
    assert misprint(plain_number(value), said, unit) == ""
