"""Names that a page, a chart, a PDF and a CSV must show as text, and a CSV of ncu that holds them."""

from __future__ import annotations

import csv
from pathlib import Path

SCRIPT = "</script><script>alert(1)</script>"
MARKUP = 'a & b "c", d<e>'
CJK = "gather/索引"
LONG = "void cutlass::Kernel2<" + "cutlass::gemm::threadblock::Mma<float, 8>, " * 190 + "int>(T1)"
NAMES = (
    SCRIPT,
    MARKUP,
    CJK,
    LONG,
    "bell\x07 and \x1b[31mred",
    "left\u202eright",
    "$x_1$ \\frac",
    "'--><svg/onload=alert(2)>",
    "{{ 7*7 }}",
)
HEAD = (
    "ID",
    "Process ID",
    "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
    "Kernel Name",
    "Block Size",
    "Grid Size",
    "gpu__time_duration.sum",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__bytes_read.sum",
)


def write_csv(path: Path, names: tuple[str, ...] = NAMES, runs: int = 3) -> Path:
    """Write a raw page of ncu in which every kernel and range bears a hostile name."""
    rows: list[list[str]] = [list(HEAD), ["", "", "", "", "", "", "ns", "%", "%", "byte"]]
    for run in range(runs):
        for index, name in enumerate(names):
            message = f' "0:bench:{name}:none:none:RGB:0xff:REGISTERED:{name}" '
            time = str(1000 * (index + 1) + run)
            rows.append(
                [
                    str(len(rows) - 2),
                    "1",
                    message,
                    name,
                    "(32, 1, 1)",
                    "(1, 1, 1)",
                    time,
                    "70.5",
                    "20.25",
                    str(4096 * (index + 1)),
                ]
            )
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    return path
