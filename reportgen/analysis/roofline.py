"""Rooflines: how much arithmetic a kernel does for each byte that it moves, how fast, and what bounds that.

A case's FLOP are those that the profiler counted, where its counters hold all of them; else what the suite records or a formula of
it says; else what the counters hold without the tensor cores. Bytes are counted between one level of memory and the next:
DRAM, L2, L1. A ceiling is measured, by a benchmark that its suite says sets it, or rated, by what the report or the provenance
says of the GPU. All is of one backend, workload and scenario; what is not known is left out and never 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from reportgen.analysis.bottleneck import Level
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Case, Group, Measured
from reportgen.analysis.sources import call, computes
from reportgen.evidence.provenance import Provenance

How = Literal["counters", "recorded", "formula", "counters without tensor cores"]
Kind = Literal["compute", "memory"]
_WHOLE: tuple[How, ...] = ("counters", "recorded", "formula")

FLOP, FLOP_RATE, BYTE_RATE, INTENSITY = "FLOP", "FLOP/s", "byte/s", "FLOP/byte"
_STEPS = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
FLOP_RATES = {f"{step}{word}": by for step, by in _STEPS.items() for word in ("FLOP/s", "FLOPS", "FLOPs", "flop/s")}
BYTE_RATES = {**{f"{step}B/s": by for step, by in _STEPS.items()}, BYTE_RATE: 1.0}

_SINGLE, _OTHERS = ("fadd", "fmul", "ffma"), (("dadd", "dmul", "dfma"), ("hadd", "hmul", "hfma"))
_TENSOR = "sm__ops_path_tensor_src_"
TENSOR_BUSY = "sm__inst_executed_pipe_tensor.sum"
_CYCLES = "smsp__cycles_elapsed.avg.per_second"
_SM_CYCLES = ("sm__cycles_elapsed.avg.per_second", _CYCLES, "gpc__cycles_elapsed.avg.per_second")
_BYTES: Mapping[Level, tuple[tuple[str, ...], ...]] = {
    "DRAM": (("dram__bytes.sum",), ("dram__bytes_read.sum", "dram__bytes_write.sum")),
    "L2": (("lts__t_bytes.sum",),),
    "L1": (("l1tex__t_bytes.sum",),),
}
_BYTES_EACH_SECOND = "dram__bytes.sum.per_second"
_PEAKS: Mapping[Level, tuple[str, str]] = {
    "DRAM": ("dram__bytes.sum.peak_sustained", "dram__cycles_elapsed.avg.per_second"),
    "L2": ("lts__t_bytes.sum.peak_sustained", "lts__cycles_elapsed.avg.per_second"),
    "L1": ("l1tex__t_bytes.sum.peak_sustained", "l1tex__cycles_elapsed.avg.per_second"),
}
_PEAK_DOUBLED = "derived__sm__sass_thread_inst_executed_op_ffma_pred_on_x2"
_PEAK_FMA = "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained"
_CLOCK, _WIDTH = "clocks.memory_rated_hz", "gpu.bus_width_bits"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value in base units, and the source from which it can be computed again."""

    value: float
    source: str


@dataclass(frozen=True, slots=True)
class Point:
    """A case on a roofline: its rate in FLOP/s, how its FLOP are known, and its FLOP a byte at each level of memory."""

    case: Case
    rate: Quantity
    how: How
    intensity: Mapping[Level, Quantity]


@dataclass(frozen=True, slots=True)
class Points:
    """The cases of a group that have a place, those that did no arithmetic, and those whose FLOP are not known."""

    points: tuple[Point, ...]
    idle: tuple[Case, ...]
    unknown: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Ceiling:
    """What bounds a rate: `compute` in FLOP/s, or `memory` in bytes/s at a level.

    One that was measured is of a `case` of a `benchmark`; a rated one says `what` it is. A `single` one holds for FP32 without
    the tensor cores alone.
    """

    kind: Kind
    of: Quantity
    level: Level = ""
    benchmark: str = ""
    case: Case | None = None
    what: str = ""
    single: bool = False

    @property
    def measured(self) -> bool:
        """Tell whether a benchmark reached it."""
        return self.case is not None


# What is computed


@computes("flop", "value", ..., unit=FLOP, meaning="The floating-point operations: the sum of what is given.")
@computes(
    "flop_per_cycle", "value", ..., unit="FLOP/cycle", meaning="The operations in a cycle: the sum of what is given."
)
@computes("bytes", "value", ..., unit="byte", meaning="The bytes moved: the sum of what is given.")
def total(*values: float) -> float:
    """Return the sum of values of one unit."""
    return math.fsum(values)


@computes("twice", "value", unit=FLOP, meaning="Twice as many operations as fused multiply-adds: each is two.")
def twice(value: float) -> float:
    """Return the double of a value."""
    return 2.0 * value


@computes("flop_rate", "value", "value", unit=FLOP_RATE, meaning="FLOP divided by the time.")
@computes("byte_rate", "value", "value", unit=BYTE_RATE, meaning="Bytes divided by the time.")
def per_second(amount: float, time_ns: float) -> float:
    """Return an amount over a time in ns, for each second."""
    return amount / (time_ns / 1e9)


@computes("flop_rate_at", "value", "value", unit=FLOP_RATE, meaning="FLOP in a cycle times the cycles in a second.")
@computes("byte_rate_at", "value", "value", unit=BYTE_RATE, meaning="Bytes in a cycle times the cycles in a second.")
def at_clock(per_cycle: float, hz: float) -> float:
    """Return an amount in a cycle times the cycles in a second."""
    return per_cycle * hz


@computes("flop_rate_of", "row", unit=FLOP_RATE, meaning="The row's mean in FLOP/s.")
def flop_rate_of(row: Mapping[str, Any]) -> float:
    """Return the mean of a row whose unit is a rate of FLOP; raises `KeyError` for another unit."""
    return float(row["AvgValue"]) * FLOP_RATES[str(row["Unit"])]


@computes("byte_rate_of", "row", unit=BYTE_RATE, meaning="The row's mean in bytes a second.")
def byte_rate_of(row: Mapping[str, Any]) -> float:
    """Return the mean of a row whose unit is a rate of bytes; raises `KeyError` for another unit."""
    return float(row["AvgValue"]) * BYTE_RATES[str(row["Unit"])]


@computes("intensity", "value", "value", unit=INTENSITY, meaning="FLOP a second divided by bytes a second.")
def intensity(flop_rate: float, byte_rate: float) -> float:
    """Return FLOP for each byte."""
    return flop_rate / byte_rate


@computes("rated_bandwidth", "value", "value", unit=BYTE_RATE)
def rated_bandwidth(hz: float, bits: float) -> float:
    """Return the memory's rated bandwidth: its clock times the width of its bus, at two transfers a clock."""
    return 2.0 * hz * bits / 8


@computes("roof", "value", "value", "value", unit=FLOP_RATE)
def roof(at: float, bandwidth: float, compute: float) -> float:
    """Return the highest rate that two ceilings leave at an intensity in FLOP/byte: the lower of the two."""
    return min(at * bandwidth, compute)


@computes("share_of_roof", "value", "value", unit="%", meaning="A rate in percent of the roof over it.")
def share_of_roof(rate: float, over: float) -> float:
    """Return a rate in percent of the roof over it."""
    return 100.0 * rate / over


@computes("ridge", "value", "value", unit=INTENSITY)
def ridge(compute: float, bandwidth: float) -> float:
    """Return the intensity at which the memory's ceiling meets that of compute."""
    return compute / bandwidth


# Points


def points(group: Group) -> Points:
    """Return the cases of a group that have a time and bytes, as points.

    FLOP are known in one way for all of them where one way knows them all; else each is taken in the first way that knows it.
    """
    known = {id(case): _rates(case) for case in group.cases}
    moving = [case for case in group.cases if byte_rate(case, "DRAM") is not None]
    whole = [how for how in _WHOLE if all(how in known[id(case)] for case in moving)]
    made: list[Point] = []
    idle: list[Case] = []
    unknown: list[Case] = []
    for case in moving:
        ways = known[id(case)]
        how = whole[0] if whole else next(iter(ways), None)
        if how is None:
            unknown.append(case)
        elif ways[how].value <= 0:
            idle.append(case)
        else:
            made.append(Point(case, ways[how], how, dict(_intensities(case, ways[how]))))
    return Points(tuple(made), tuple(idle), tuple(unknown))


def _intensities(case: Case, rate: Quantity) -> Iterator[tuple[Level, Quantity]]:
    for level in _BYTES:
        moved = byte_rate(case, level)
        if moved is not None and moved.value > 0:
            yield level, Quantity(intensity(rate.value, moved.value), call("intensity", rate.source, moved.source))


def byte_rate(case: Case, level: Level) -> Quantity | None:
    """Return how many bytes a second a case moved at a level, None where that was not counted."""
    time = case.get(TIME)
    for names in _BYTES[level]:
        rows = [row for name in names if (row := case.get(name)) is not None]
        if time is not None and time.mean > 0 and len(rows) == len(names):
            value = per_second(total(*(row.mean for row in rows)), time.mean)
            moved = rows[0].source() if len(rows) == 1 else call("bytes", *(row.source() for row in rows))
            return Quantity(value, call("byte_rate", moved, time.source()))
    direct = case.get(_BYTES_EACH_SECOND) if level == "DRAM" else None
    return None if direct is None else Quantity(direct.mean, direct.source())


def _rates(case: Case) -> dict[How, Quantity]:
    """Return a case's FLOP a second in each way that they are known, the best first."""
    found: dict[How, Quantity] = {}
    counted = _counted(case)
    if counted is not None and counted[1]:
        found["counters"] = counted[0]
    if (recorded := _recorded(case)) is not None:
        found["recorded"] = recorded
    if (told := _told(case)) is not None:
        found["formula"] = told
    if counted is not None and not counted[1] and case.get(TENSOR_BUSY) is None:
        found["counters without tensor cores"] = counted[0]
    return found


def _recorded(case: Case) -> Quantity | None:
    rows = [row for row in case.metrics.values() if row.known and row.unit == FLOP]
    row, time = min(rows, key=lambda row: row.metric != FLOP, default=None), case.get(TIME)
    if row is None or time is None or time.mean <= 0:
        return None
    return Quantity(per_second(row.mean, time.mean), call("flop_rate", row.source(), time.source()))


def _told(case: Case, main: str = "") -> Quantity | None:
    """Return the rate that a metric of the suite says, `main` before others."""
    rows = [row for row in case.metrics.values() if row.known and row.unit in FLOP_RATES and "__" not in row.metric]
    row = min(rows, key=lambda row: row.metric != main, default=None)
    return None if row is None else Quantity(row.mean * FLOP_RATES[row.unit], call("flop_rate_of", row.row))


def _counted(case: Case) -> tuple[Quantity, bool] | None:
    """Return the rate that the counters say, and whether it holds the tensor cores' work too."""
    time, clock = case.get(TIME), case.get(_CYCLES)
    for unit, end in (("flop", ".sum"), ("flop_per_cycle", ".sum.per_cycle_elapsed")):
        by = time if unit == "flop" else clock
        parts = _operations(case, end)
        if not parts or by is None or by.mean <= 0:
            continue
        tensor = _tensor_operations(case, end)
        every = [*parts, *tensor]
        counted, source = total(*(part.value for part in every)), call(unit, *(part.source for part in every))
        busy = case.get(TENSOR_BUSY)
        if unit == "flop":
            rate = Quantity(per_second(counted, by.mean), call("flop_rate", source, by.source()))
        else:
            rate = Quantity(at_clock(counted, by.mean), call("flop_rate_at", source, by.source()))
        return rate, bool(tensor) or (busy is not None and busy.mean == 0)
    return None


def _operations(case: Case, end: str) -> list[Quantity]:
    """Return the operations of the FP32 pipes, and those of FP64 and FP16 where they were counted; nothing where FP32 was not."""
    found: list[Quantity] = []
    for names in (_SINGLE, *_OTHERS):
        rows = [
            _first(case, [f"{unit}__sass_thread_inst_executed_op_{name}_pred_on{end}" for unit in ("smsp", "sm")])
            for name in names
        ]
        known = [row for row in rows if row is not None]
        if len(known) == len(names):
            *plain, fused = known
            found += [Quantity(row.mean, row.source()) for row in plain]
            found.append(Quantity(twice(fused.mean), call("twice", fused.source())))
        elif names is _SINGLE:
            return []
    return found


def _tensor_operations(case: Case, end: str) -> list[Quantity]:
    """Return the floating-point operations of the tensor cores by type; what a name tells apart further is within it."""
    rows = [
        row
        for name, row in case.metrics.items()
        if row.known and name.startswith(_TENSOR) and name.endswith(end) and "_src_int" not in name
    ]
    if end == ".sum":
        rows = [row for row in rows if row.metric.count(".") == 1]
    stems = {row.metric.removesuffix(end) for row in rows}
    return [
        Quantity(row.mean, row.source()) for row in rows if not any(row.metric.startswith(f"{stem}_") for stem in stems)
    ]


def _first(case: Case, names: Iterable[str]) -> Measured | None:
    return next((row for name in names if (row := case.get(name)) is not None), None)


# Ceilings


def measured(kind: Kind, groups: Iterable[tuple[Group, str]]) -> Ceiling | None:
    """Return the highest rate of the benchmarks that set a ceiling, each with the metric that its suite is about; None without one.

    The groups are of one backend, workload and scenario.
    """
    found = [
        Ceiling(kind, rate, "DRAM" if kind == "memory" else "", group.benchmark, case)
        for group, main in groups
        for case in group.cases
        if (rate := _reached(kind, case, main)) is not None and rate.value > 0
    ]
    return max(found, key=lambda ceiling: ceiling.of.value, default=None)


def _reached(kind: Kind, case: Case, main: str) -> Quantity | None:
    row = case.get(main) if main else None
    if kind == "compute":
        if row is not None and row.unit in FLOP_RATES:
            return _told(case, main)
        return next(iter(_rates(case).values()), None)
    if row is not None and row.unit in BYTE_RATES:
        return Quantity(row.mean * BYTE_RATES[row.unit], call("byte_rate_of", row.row))
    return byte_rate(case, "DRAM")


def rated(kind: Kind, group: Group, facts: Provenance, level: Level = "DRAM") -> Ceiling | None:
    """Return what the report says that the GPU can sustain, at the highest clock seen; else what provenance rates its DRAM at."""
    if kind == "compute":
        return _rated_compute(group)
    peak, clock = _PEAKS[level]
    found = [
        Quantity(at_clock(each.mean, hz.mean), call("byte_rate_at", each.source(), hz.source()))
        for case in group.cases
        if (each := case.get(peak)) is not None and (hz := case.get(clock)) is not None
    ]
    if found:
        best = max(found, key=lambda one: one.value)
        return Ceiling(
            "memory", best, level, what=f"the peak bytes a cycle that the report holds, at the {level} clock seen"
        )
    given = [facts.get(key).value for key in (_CLOCK, _WIDTH)]
    if level != "DRAM" or not all(isinstance(value, int | float) for value in given):
        return None
    hz_rated, bits = (float(value) for value in given if isinstance(value, int | float))
    source = call("rated_bandwidth", f"provenance:{_CLOCK}", f"provenance:{_WIDTH}")
    what = "the rated memory clock and the width of the bus"
    return Ceiling("memory", Quantity(rated_bandwidth(hz_rated, bits), source), level, what=what)


def _rated_compute(group: Group) -> Ceiling | None:
    found: list[Quantity] = []
    for case in group.cases:
        clock, doubled, fused = _first(case, _SM_CYCLES), case.get(_PEAK_DOUBLED), case.get(_PEAK_FMA)
        if clock is None or (doubled is None and fused is None):
            continue
        if doubled is not None:
            each = Quantity(doubled.mean, doubled.source())
        else:
            assert fused is not None
            each = Quantity(twice(fused.mean), call("twice", fused.source()))
        found.append(Quantity(at_clock(each.value, clock.mean), call("flop_rate_at", each.source, clock.source())))
    if not found:
        return None
    what = "the peak FP32 operations a cycle that the report holds, at the SM clock seen, without the tensor cores"
    return Ceiling("compute", max(found, key=lambda one: one.value), what=what, single=True)


def share(point: Point, ceilings: Sequence[Ceiling]) -> tuple[Quantity, Kind] | None:
    """Return a point's rate in percent of the roof over it, and which ceiling that roof is; None where a ceiling is not known.

    A ceiling of FP32 alone says nothing of work whose kind is not known.
    """
    memory = next((one for one in ceilings if one.kind == "memory" and one.level == "DRAM"), None)
    compute = next((one for one in ceilings if one.kind == "compute"), None)
    at = point.intensity.get("DRAM")
    if memory is None or compute is None or at is None or (compute.single and not point.how.startswith("counters")):
        return None
    over = roof(at.value, memory.of.value, compute.of.value)
    source = call("share_of_roof", point.rate.source, call("roof", at.source, memory.of.source, compute.of.source))
    kind: Kind = "memory" if at.value * memory.of.value < compute.of.value else "compute"
    return Quantity(share_of_roof(point.rate.value, over), source), kind
