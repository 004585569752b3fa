"""Measure the products of `suites/pair.py` with nsight-python: nsight_python.py TOOL OUT RUNS METRIC… .

TOOL is `ncu` (0.9.6, which starts this script again under ncu) or `cupti` (1.1.0).
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

SIZES = (1024, 2048, 4096)
TIME = "gpu__time_duration.sum"


def _preload() -> str:
    """Load the libcupti that lies beside nsight-python, before anything finds an older one; return its path."""
    for folder in sys.path:
        for library in sorted(Path(folder).glob("nvidia/*/lib/libcupti.so.*")):
            ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
            return str(library)
    return ""


def main(tool: str, out: str, runs: str, *metrics: str) -> None:
    """Measure, and write the mean, deviation and count of the times by annotation and size."""
    library = ""
    if tool == "cupti":
        os.environ["NSPY_NCU_INIT_AT_IMPORT"] = "0"
        library = _preload()
    import nsight

    settings: dict[str, Any] = {"runs": int(runs), "metrics": list(metrics), "thermal_mode": "off"}
    if tool == "cupti":
        nsight.activate(nsight.Tool.CUPTI)
    else:
        settings |= {"cache_control": "all", "clock_control": "none", "output": "quiet"}
    import torch  # only now: the tool must be there first

    torch.backends.cuda.matmul.allow_tf32 = False

    def matmul(n: int) -> None:
        a, b = torch.rand(n, n, device="cuda"), torch.rand(n, n, device="cuda")
        with nsight.annotate("fp32"):
            torch.matmul(a, b)
        a16, b16 = a.half(), b.half()
        with nsight.annotate("fp16"):
            torch.matmul(a16, b16)

    prefix = str(Path(out).with_suffix("")) + "_"
    found = nsight.analyze.kernel(configs=list(SIZES), output_prefix=prefix, **settings)(matmul)()
    table = found.to_dataframe()
    rows = [
        {
            "annotation": str(row["Annotation"]),
            "n": int(row["n"]),
            "mean": float(row["AvgValue"]),
            "deviation": float(row["StdDev"]),
            "runs": int(row["NumRuns"]),
        }
        for row in table[table["Metric"] == TIME].to_dict("records")
    ]
    whole = {"version": nsight.__version__, "libcupti": Path(library).name, "rows": rows}
    Path(out).write_text(json.dumps(whole), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
