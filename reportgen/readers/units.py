"""Units as the profilers print them, and the base units that every sample is kept in.

Base units are those of ncu_report: ns, byte, hz, %, and counts such as inst or byte/block. Scaling is by powers of
ten (a Kbyte of ncu is 1,000 bytes) and done on the decimal text, so that 2.14 Mbyte is 2140000.0 and nothing near it.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any

import numpy as np

_PREFIXES = {"": 0, "K": 3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_COUNTED = "byte|bit|hz|Hz|HZ|cycle|inst|sector|request|warp|thread|block|register|sample|pass|op|flop|tag|wavefront"
_SCALED = re.compile(rf"([KkMGTPE]?)({_COUNTED})")
_SECONDS = {
    "ps": -12,
    "psecond": -12,
    "ns": -9,
    "nsecond": -9,
    "us": -6,
    "usecond": -6,
    "µs": -6,
    "μs": -6,
    "ms": -3,
    "msecond": -3,
    "s": 0,
    "sec": 0,
    "second": 0,
}

_LAUNCH_UNITS = (
    (re.compile(r"launch__(block_dim|occupancy_limit|cluster_max_potential)"), "block"),
    (re.compile(r"launch__cluster_max_active"), "cluster"),
    (re.compile(r"launch__registers_per_thread"), "register/thread"),
    (re.compile(r"launch__shared_mem_per_block"), "byte/block"),
    (re.compile(r"launch__(shared_mem_config|persisting_l2_cache)_size"), "byte"),
    (re.compile(r"launch__sm_count"), "SM"),
    (re.compile(r"launch__thread_count"), "thread"),
    (re.compile(r"launch__|device__|numa__|nvlink__"), ""),
    (re.compile(r"profiler__replayer_passes"), "pass"),
    (re.compile(r"sms?p?__maximum_warps"), "warp"),
)
_COUNTER_UNITS = (
    (re.compile(r"_?time(_|$)|duration"), "ns"),
    (re.compile(r"(^|_)bytes(_|$)"), "byte"),
    (re.compile(r"(^|_)cycles(_|$)"), "cycle"),
    (re.compile(r"(^|_)inst(_|$)"), "inst"),
    (re.compile(r"(^|_)sectors(_|$)"), "sector"),
    (re.compile(r"(^|_)requests(_|$)"), "request"),
    (re.compile(r"(^|_)warps(_|$)"), "warp"),
)


@lru_cache(maxsize=4096)
def scale_of(unit: str) -> tuple[int, str]:
    """Return the power of ten by which a value in `unit` is multiplied, and the base unit that it is then in."""
    numerator, *denominators = unit.strip().split("/")
    if numerator in _SECONDS:
        exponent, base = _SECONDS[numerator] + 9, "ns"
    elif found := _SCALED.fullmatch(numerator):
        exponent, base = _PREFIXES[found[1]], found[2].lower()
    elif numerator in ("", "%"):
        exponent, base = 0, numerator
    else:
        return 0, unit
    for part in denominators:
        if part in _SECONDS:
            exponent, base = exponent - _SECONDS[part], f"{base}/s"
        elif found := _SCALED.fullmatch(part):
            # ncu divides by the prefix here as well: its own base export gives 1909 %/byte for 1.909 %/Kbyte.
            exponent, base = exponent + _PREFIXES[found[1]], f"{base}/{found[2].lower()}"
        else:
            base = f"{base}/{part}"
    return exponent, "hz" if base == "cycle/s" else base


def shift(number: str, exponent: int) -> float:
    """Return the decimal text `number` times ten to the `exponent`, rounded once."""
    mantissa, _, power = number.lower().partition("e")
    return float(f"{mantissa}e{int(power or 0) + exponent}")


def to_base(value: float, unit: str) -> tuple[float, str]:
    """Return `value` in the base unit of `unit`, and that base unit; an unknown unit passes unchanged."""
    exponent, base = scale_of(unit)
    if not exponent or not math.isfinite(value):
        return float(value), base
    return shift(repr(float(value)), exponent), base


def to_base_array(values: Any, unit: str) -> tuple[np.ndarray[Any, np.dtype[np.float64]], str]:
    """Return an array of `values` in the base unit of `unit`, and that base unit, exact as `to_base` is."""
    array = np.asarray(values, dtype="float64")
    exponent, base = scale_of(unit)
    if not exponent:
        return array.copy(), base
    distinct, inverse = np.unique(array.ravel(), return_inverse=True)
    scaled = np.array([to_base(float(v), unit)[0] for v in distinct], dtype="float64")
    return scaled[inverse].reshape(array.shape), base


@lru_cache(maxsize=16384)
def base_unit_of(metric: str) -> str:
    """Return the base unit that ncu_report gives for `metric`, for a file that states none; empty if not known."""
    if "__" not in metric:
        return ""
    if "pct_of_peak" in metric or re.search(r"[._]pct(\.|$)", metric):
        return "%"
    if re.search(r"\.(ratio|max_rate)$", metric):
        return ""
    for pattern, unit in _LAUNCH_UNITS:
        if pattern.match(metric):
            return unit
    name, *rest = metric.split(".")
    counter = name.partition("__")[2]
    base = next((unit for pattern, unit in _COUNTER_UNITS if pattern.search(counter)), "")
    return _per(base, rest)


def _per(base: str, rest: list[str]) -> str:
    last = rest[-1] if rest else ""
    if last == "per_second":
        return "hz" if base == "cycle" else f"{base}/s" if base else ""
    if last.startswith("per_cycle"):
        return "" if base in ("cycle", "") else f"{base}/cycle"
    return base
