"""Evidence as a fuller set of Nsight Compute's sections leaves it: rooflines, caches, occupancy, stalls and rules' results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reportgen.analysis import kernels
from reportgen.analysis.derive import TIME
from reportgen.evidence import bundle
from reportgen.evidence.bundle import Formula
from tests.analysis.building import DRAM, READ, SM, UNITS, WRITTEN, Row, run, table
from tests.evidence import making

L2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed"
L2_BYTES, L1_BYTES = "lts__t_bytes.sum", "l1tex__t_bytes.sum"
STALLED = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
_UNITS = {L2_BYTES: "byte", L1_BYTES: "byte", L2: "%", "FLOP": "FLOP"}
PLAN: Mapping[str, Any] = {
    "benchmarks": [
        {"name": "kinds", "normalize_against": ""},
        {"name": "most_arithmetic", "main": "TFLOP/s", "ceiling": "compute"},
        {"name": "most_bytes", "main": "GB/s", "ceiling": "memory", "units": {"size": "byte"}},
    ]
}
FORMULAS = (
    Formula("TFLOP/s", "2*n**3 / time / 1e12", "TFLOP/s", "most_arithmetic"),
    Formula("GB/s", "2 * size / time / 1e9", "GB/s", "most_bytes"),
)


def launch(
    annotation: str,
    values: Mapping[str, float],
    flop: float | None = None,
    rules: Mapping[str, tuple[str, float]] | None = None,
    runs: int = 3,
    **over: Any,
) -> list[Row]:
    """Make the rows of several alike runs of one kernel, what the suite records beside it, and what rules say of it."""
    kernel = over.pop("kernel", f"void {annotation.replace(' ', '_')}<float>(float*)")
    index = over.pop("kernel_index", 0)
    place = {"annotation": annotation, "kernel": kernel, "suite": "s", **over}
    rows: list[Row] = []
    for n in range(runs):
        rows += run({**values, TIME: values[TIME] * (1 + 0.001 * (n - 1))}, n, index, **place)
        for rule, (text, gain) in (rules or {}).items():
            said = run({f"rule__{rule}.speedup": gain, f"rule__{rule}": 0.0}, n, index, **place)
            said[1] |= {"value": float("nan"), "text": text}
            rows += said
        if flop is not None:
            (recorded,) = run({"FLOP": flop}, n, index, **place)
            rows.append(
                {**recorded, "kernel": "", "kernel_index": None, "source": f"data/derived.jsonl#L{n}-{annotation}"}
            )
    for row in rows:
        row["unit"] = (
            "%"
            if row["metric"].endswith(".speedup")
            else _UNITS.get(row["metric"], UNITS.get(row["metric"], row["unit"]))
        )
    return rows


def counters(time: float, sm: float, dram: float, l2: float, moved: Sequence[float]) -> dict[str, float]:
    """Return the counters of one kernel; `moved` are the bytes of DRAM, L2 and L1."""
    return {
        TIME: time,
        SM: sm,
        DRAM: dram,
        L2: l2,
        READ: moved[0] * 0.75,
        WRITTEN: moved[0] * 0.25,
        L2_BYTES: moved[1],
        L1_BYTES: moved[2],
        kernels.GRID: 1024.0,
        kernels.BLOCK: 128.0,
        kernels.REGISTERS: 32.0,
        kernels.WAVES: 7.5,
        kernels.SHARED: 1024.0,
        kernels.OCCUPANCY: 85.0,
        kernels.OCCUPANCY_MOST: 100.0,
        kernels.L1_HITS: 12.5,
        kernels.L2_HITS: 50.25,
        **{name: 16.0 + place for place, name in enumerate(kernels.LIMITERS)},
        STALLED.format("long_scoreboard"): 12.0,
        STALLED.format("barrier"): 3.0,
        STALLED.format("selected"): 1.0,
        kernels.STALLS_OF_ALL: 20.0,
    }


RULES = {
    "SOLBottleneck": ("High Throughput: This workload is utilizing greater than 80.0% of the available memory performance of this device. To further improve performance, work will likely need to be shifted from the most utilized to another unit.", 0.0),
    "CPIStall": ("Long Scoreboard Stalls: On average, each warp of this workload spends 12.0 cycles being stalled waiting for a scoreboard dependency on a L1TEX operation. This stall type represents about 60.0% of the total average of 20.0 cycles between issuing two instructions.", 14.61),
}  # fmt: skip


def rows() -> list[Row]:
    """Make the rows of five kinds of kernels and of the two benchmarks that set the measured ceilings."""
    kinds: dict[str, Any] = {"benchmark": "kinds"}
    made = [
        *launch("matmul", counters(175_000.0, 90.0, 21.0, 46.0, (2e8, 1e9, 4e9)), 2.0 * 4096**3, **kinds),
        *launch("scale", counters(125_000.0, 6.6, 85.0, 91.0, (5e8, 8e8, 8e8)), 2.0**26, RULES, **kinds),
        *launch("softmax", counters(18_000.0, 51.8, 47.0, 76.0, (4e7, 1e8, 1e8)), 5.0 * 8192 * 1024, **kinds),
        *launch("gather", counters(114_000.0, 9.5, 54.5, 81.0, (3e8, 3.75e8, 5e8)), 0.0, **kinds),
        *launch("small", counters(2_000.0, 0.01, 0.09, 0.8, (9e3, 1.6e5, 2e5)), 1024.0, **kinds),
    ]
    most = launch(
        "matmul fp16", counters(1_400_000.0, 93.0, 30.0, 50.0, (1e9, 4e9, 1e10)), benchmark="most_arithmetic", n=8192
    )
    return [
        *made,
        *most,
        *launch(
            "x *= 2", counters(500_000.0, 7.0, 90.0, 93.0, (2.1e9, 3e9, 3e9)), benchmark="most_bytes", size=1 << 30
        ),
    ]


def make(
    out: Path, of: Sequence[Row] | None = None, plan: Mapping[str, Any] = PLAN, formulas: Sequence[Formula] = FORMULAS
) -> Path:
    """Make a bundle of rows and return its folder."""
    return bundle.create(
        out,
        info=making.info(
            suite="s", title="What limits a kernel", formulas=tuple(formulas), plan=dict(plan), status="complete"
        ),
        provenance=making.facts(),
        payload={"import/m.ncu-rep": b"stands for a report", "derived.jsonl": b"{}\n"},
        samples=table(rows() if of is None else of),
    )
