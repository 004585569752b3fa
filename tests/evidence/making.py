"""Samples, facts and bundles that the tests of `evidence` are made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from reportgen.evidence import bundle, provenance, samples
from reportgen.evidence.bundle import BundleInfo, Formula
from reportgen.evidence.provenance import Provenance

START = "20261130T211006Z"
REPORT = b"NVR\0 a report \x00\xff\r\n" * 50


def table(rows: list[dict[str, Any]], params: tuple[str, ...] = ()) -> pd.DataFrame:
    """Make a samples table of rows; what a row does not say is as in a good row of ncu."""
    good: dict[str, Any] = {
        "suite": "matmul",
        "benchmark": "square",
        "backend": "ncu",
        "workload": "kernel",
        "scenario": "default",
        "process": 0,
        "annotation": "fp32",
        "run": 0,
        "kernel_index": 0,
        "kernel": "void k<a, b>(float*)",
        "metric": "gpu__time_duration.sum",
        "value": 1.5,
        "unit": "ns",
        "state": "ok",
        "reason": "",
        "text": "",
        "source": "data/import/m.ncu-rep#0/0",
        **dict.fromkeys(params, ""),
    }
    filled = [{**good, **row} for row in rows]
    data = {name: [row[name] for row in filled] for name in samples.columns(params)}
    return samples.make(data, len(rows))


def report(launches: int = 3, path: str = "data/import/m.ncu-rep", **over: Any) -> pd.DataFrame:
    """Make the table of a report: for each launch a time, a size of the launch and two attributes of the device."""
    rows: list[dict[str, Any]] = []
    for launch in range(launches):
        place = {"source": f"{path}#0/{launch}", "run": launch, "param:n": str(512 << launch), **over}
        rows += [
            {**place, "metric": "gpu__time_duration.sum", "value": 1000.25 + launch},
            {**place, "metric": "launch__grid_size", "value": 64.0, "unit": ""},
            {**place, "metric": "device__attribute_l2_cache_size", "value": 62914560.0, "unit": "byte"},
            {
                **place,
                "metric": "device__attribute_display_name",
                "value": float("nan"),
                "unit": "",
                "text": "NVIDIA H200",
            },
        ]
    return table(rows, ("param:n",))


def rows_of(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    """Return the rows of a table in an order of their own, NaN and NA as words, for comparing tables as sets of rows."""
    whole = frame.astype("object")
    plain = whole.where(whole.notna(), "missing")
    return sorted((tuple(row) for row in plain.itertuples(index=False)), key=repr)


def assert_same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    """Compare two tables exactly, row by row; a categorical and plain text are the same."""
    pd.testing.assert_frame_equal(one.astype("object"), other.astype("object"), check_exact=True)


def facts() -> Provenance:
    """Make a provenance with facts of every kind, sensitive ones among them."""
    return provenance.from_facts(
        {
            "gpu.name": "NVIDIA H200",
            "gpu.uuid": "GPU-01234567-89ab-cdef-0123-456789abcdef",
            "gpu.sm_count": 132,
            "host.name": "build-node-17",
            "host.user": "ada",
            "host.addresses": "192.0.2.2, fd00::2, fe80::fc:ff:fe00:1%eth0",
            "command.profiler": "ncu -o /home/ada/matmul python3 wl.py",
            "suite.git_dirty": False,
            "clocks.sm_rated_hz": 1.98e9,
            "versions.ncu": "2025.3.1.0",
        },
        "an imported report does not say it",
        "matmul.ncu-rep session",
    )


def info(**over: Any) -> BundleInfo:
    """Make the info of an imported bundle."""
    given: dict[str, Any] = {
        "suite": "matmul",
        "title": "Größe “16”",
        "start": START,
        "status": "imported",
        "plan": {"runs": 5, "metrics": ["gpu__time_duration.sum"], "cwd": "/home/ada"},
        "formulas": (Formula("TFLOP/s", "2*n**3 / time / 1e12", "TFLOP/s"),),
        **over,
    }
    return BundleInfo(**given)


def make(out: Path, **over: Any) -> Path:
    """Make a bundle with two backends, compressed tables and files of several kinds; returns its folder."""
    cupti = {"backend": "cupti", "metric": "time", "source": "data/cupti/default/0/activity.csv#L2"}
    given: dict[str, Any] = {
        "info": info(),
        "provenance": facts(),
        "payload": {"import/größe & <16>.ncu-rep": REPORT, "suite/matmul.py": b"import reportgen\n", "empty.txt": b""},
        "samples": samples.concat([report(), table([cupti])]),
        "processed": {("ncu", "default"): b"Annotation,Host\nfp32,build-node-17\n"},
        **over,
    }
    return bundle.create(out, **given)
