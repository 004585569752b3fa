import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.readers import units

DATA = Path(__file__).parent.parent / "data"


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (2.14, "Mbyte", (2140000.0, "byte")),
        (111.500721, "Mbyte", (111500721.0, "byte")),
        (1.23, "Gbyte", (1230000000.0, "byte")),
        (0.001, "Tbyte", (1000000000.0, "byte")),
        (6.304, "us", (6304.0, "ns")),
        (6.304, "usecond", (6304.0, "ns")),
        (1.1, "msecond", (1100000.0, "ns")),
        (2.0, "second", (2e9, "ns")),
        (5.0, "nsecond", (5.0, "ns")),
        (1.958955, "Ghz", (1958955000.0, "hz")),
        (1.21, "cycle/nsecond", (1210000000.0, "hz")),
        (1.5, "cycle/second", (1.5, "hz")),
        (2.3, "Gbyte/s", (2300000000.0, "byte/s")),
        (2.3, "Gbyte/second", (2300000000.0, "byte/s")),
        (7.552, "Kbyte/block", (7552.0, "byte/block")),
        (80.0, "register/thread", (80.0, "register/thread")),
        (1.5, "inst/cycle", (1.5, "inst/cycle")),
        (99.5, "%", (99.5, "%")),
        (3.0, "", (3.0, "")),
        (3.0, "TFLOP/s", (3.0, "TFLOP/s")),
        (3.0, "furlong/second", (3.0, "furlong/second")),
    ],
)
def test_to_base(value: float, unit: str, expected: tuple[float, str]) -> None:
    assert units.to_base(value, unit) == expected


@given(st.integers(-(10**15), 10**15), st.sampled_from(["Kbyte", "Mbyte", "Gbyte", "us", "ms", "Ghz"]))
def test_six_printed_digits_come_back_exactly(base: int, unit: str) -> None:
    exponent, _ = units.scale_of(unit)
    text = f"{base:d}e-{exponent}"
    assert units.shift(text, exponent) == float(base)


@given(st.lists(st.floats(), max_size=8), st.sampled_from(["Mbyte", "us", "hz", "cycle/nsecond", "odd"]))
def test_the_array_form_agrees_with_the_scalar_one(values: list[float], unit: str) -> None:
    array, base = units.to_base_array(values, unit)
    assert base == units.scale_of(unit)[1]
    np.testing.assert_array_equal(array, [units.to_base(v, unit)[0] for v in values])


def test_base_units_agree_with_every_unit_of_the_real_report() -> None:
    with (DATA / "matmul.raw.base.csv").open(newline="") as file:
        names, printed, *_ = csv.reader(file)
    measured = [(n, u) for n, u in zip(names, printed, strict=True) if "__" in n]
    assert len(measured) == 282
    assert [(n, units.base_unit_of(n)) for n, _ in measured] == measured


@pytest.mark.parametrize(
    ("metric", "unit"),
    [
        ("gpu__time_duration.sum", "ns"),
        ("dram__bytes.sum.per_second", "byte/s"),
        ("sm__cycles_elapsed.avg.per_second", "hz"),
        ("sm__cycles_active.avg", "cycle"),
        ("smsp__inst_executed.avg.per_cycle_active", "inst/cycle"),
        ("lts__t_sector_hit_rate.pct", "%"),
        ("sm__warps_active.avg.pct_of_peak_sustained_active", "%"),
        ("smsp__thread_inst_executed_per_inst_executed.ratio", ""),
        ("tflops", ""),
        ("Duration", ""),
    ],
)
def test_base_unit_of(metric: str, unit: str) -> None:
    assert units.base_unit_of(metric) == unit
