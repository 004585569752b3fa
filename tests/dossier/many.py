"""A bundle of very many launches and metrics, as an imported report of a whole training step is: for size and speed.

Run as a program it makes one and renders it: `python -m tests.dossier.many OUT [LAUNCHES METRICS KERNELS]`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reportgen.evidence import bundle, samples
from reportgen.evidence.samples import PARAM
from tests.analysis.building import DRAM, SM
from tests.evidence import making

TIME = "gpu__time_duration.sum"
SHAPES = 5  # launch shapes of each kernel
_OF_LAUNCH = {
    "launch__grid_size": "",
    "launch__block_size": "",
    "launch__registers_per_thread": "register/thread",
    "launch__waves_per_multiprocessor": "",
}
_KNOWN = {TIME: "ns", SM: "%", DRAM: "%", "dram__bytes_read.sum": "byte", **_OF_LAUNCH}


def names(kernels: int, longest: int = 200) -> list[str]:
    """Return the names of kernels, `longest` characters long."""
    return [f"void ns{k}::kernel<{', '.join(['float'] * longest)}"[: longest - 1] + ">" for k in range(kernels)]


def table(launches: int, metrics: int, kernels: int, longest: int = 200, region: str = "") -> pd.DataFrame:
    """Make the samples of so many launches of so many kernels in `SHAPES` shapes each; without a `region` each is its own annotation."""
    metric = [*_KNOWN, *(f"smsp__counter_{i:04}.sum" for i in range(metrics - len(_KNOWN)))][:metrics]
    launch = np.arange(launches)
    kernel, shape, run = launch % kernels, launch // kernels % SHAPES, launch // (kernels * SHAPES)
    value = np.arange(launches * metrics, dtype="float64").reshape(launches, metrics) % 97 + 1
    where = {name: place for place, name in enumerate(metric)}
    value[:, where[TIME]] = 1000.0 * (1 + kernel)
    value[:, where[SM]] = (kernel * 7) % 100
    value[:, where[DRAM]] = (kernel * 13) % 100
    value[:, where["launch__grid_size"]] = 64 * (1 + shape)
    value[:, where["launch__block_size"]] = 128

    def spread(texts: list[str], codes: np.ndarray[Any, Any]) -> pd.Categorical:
        return pd.Categorical.from_codes(np.repeat(codes, metrics), categories=pd.Index(texts, dtype="object"))

    called = names(kernels, longest)
    data: dict[str, Any] = {
        "suite": "step",
        "benchmark": "step",
        "backend": "ncu",
        "workload": "kernel",
        "scenario": "not-recorded",
        "process": 0,
        "annotation": region or spread(called, kernel),
        "run": 0 if region else np.repeat(run, metrics),
        "kernel_index": np.repeat(launch, metrics) if region else 0,
        "kernel": spread(called, kernel),
        "metric": pd.Categorical.from_codes(
            np.tile(np.arange(metrics), launches), categories=pd.Index(metric, dtype="object")
        ),
        "value": value.ravel(),
        "unit": pd.Categorical(np.tile([_KNOWN.get(m, "inst") for m in metric], launches)),
        "state": "ok",
        "source": spread([f"data/import/step.ncu-rep#0/{i}" for i in range(launches)], launch),
    }
    if not region:
        data[f"{PARAM}grid"] = spread([f'"({64 * (1 + i)}, 1, 1)"' for i in range(SHAPES)], shape)
        data[f"{PARAM}block"] = '"(128, 1, 1)"'
    return samples.make(data, launches * metrics)


def make(out: Path, launches: int, metrics: int, kernels: int = 40, longest: int = 200, region: str = "") -> Path:
    """Make the bundle and return its folder."""
    return bundle.create(
        out,
        info=making.info(suite="step", title="A whole step", formulas=(), plan={}),
        provenance=making.facts(),
        payload={"import/step.ncu-rep": b"stands for a report"},
        samples=table(launches, metrics, kernels, longest, region),
    )


if __name__ == "__main__":
    size, metrics, kernels = [int(text) for text in sys.argv[2:5]] or [2000, 2000, 40]
    make(Path(sys.argv[1]), size, metrics, kernels)
