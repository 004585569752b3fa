"""CUPTI's records against ncu's of the same suite on the same card, and what is dropped rather than guessed.

`tests/data/probe` was collected on an H200 by `reportgen collect` from the suite beside it (`suite.txt`).
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from reportgen.evidence.errors import ReadError
from reportgen.readers import cupti_activity, ncu_rep

TIME = "gpu__time_duration.sum"


@pytest.fixture
def probe(data: Path, tmp_path: Path) -> Path:
    """Return a copy of the real files that a test may change."""
    return Path(shutil.copytree(data / "probe", tmp_path / "probe"))


def read(folder: Path) -> pd.DataFrame:
    return cupti_activity.read(folder, "data/cupti/default/0").frame


def kernels(frame: pd.DataFrame) -> Counter[tuple[str, int]]:
    times = frame[(frame["metric"] == TIME) & (frame["state"] == "ok")]
    return Counter(zip(times["annotation"], times["run"], strict=True))


def test_the_same_kernels_belong_to_a_region_under_both_backends(data: Path) -> None:
    """Split-K, kernels that another thread launches, two streams: counted by two profilers that share nothing."""
    by_cupti = kernels(read(data / "probe"))
    by_ncu = kernels(ncu_rep.read(data / "probe" / "report.ncu-repz", "x").frame)

    assert {k: n for k, n in by_cupti.items() if k[0] != "memcpy"} == dict(by_ncu)
    assert by_ncu["splitk", 0] == 2
    assert by_ncu["backward", 0] == 3
    assert by_ncu["streams", 0] == 2


def test_a_copy_is_seen_by_cupti_alone(data: Path) -> None:
    frame = read(data / "probe")
    copies = frame[(frame["annotation"] == "memcpy") & (frame["metric"] == TIME)]

    assert set(copies["kernel"]) == {"[memcpy DTOD]"}
    assert len(copies) == 5


def test_a_region_without_work_is_dropped_with_the_reason(data: Path) -> None:
    frame = read(data / "probe")
    nothing = frame[frame["annotation"] == "nothing"]

    assert set(nothing["state"]) == {"dropped"}
    assert set(nothing["reason"]) == {"no record of the device lies inside the region"}


def test_times_and_spans_are_what_the_records_say(data: Path) -> None:
    frame = read(data / "probe")
    first = frame[(frame["annotation"] == "streams") & (frame["run"] == 0)]
    lines = [line.split(",") for line in (data / "probe" / "activity.csv").read_text().splitlines()]
    region = next(
        found
        for text in (data / "probe" / "runs.jsonl").read_text().splitlines()
        if (found := json.loads(text))["annotation"] == "streams" and found["run"] == 0
    )
    inside = [(int(c[2]), int(c[3])) for c in lines[1:] if c[0] == "kernel" and c[1].startswith("nvjet")]
    inside = [(s, e) for s, e in inside if region["start"] <= s and e <= region["end"]]

    assert list(first[first["metric"] == TIME]["value"]) == [float(e - s) for s, e in inside]
    span = first[first["metric"] == "region__span"]["value"].iloc[0]
    assert span == max(e for _, e in inside) - min(s for s, _ in inside)


def test_the_clock_after_each_run_is_a_sample(data: Path) -> None:
    frame = read(data / "probe")
    clocks = frame[frame["metric"] == "nvml__sm_clock"]

    assert set(clocks["unit"]) == {"hz"}
    assert ((clocks["value"] > 3e8) & (clocks["value"] <= 1.98e9)).all()


def test_a_record_that_straddles_a_boundary_drops_its_region(probe: Path) -> None:
    lines = (probe / "runs.jsonl").read_text().splitlines()
    rows = (probe / "activity.csv").read_text().splitlines()
    first = json.loads(lines[0])
    begin = first["start"]
    rows.append(f"kernel,intruder,{begin - 5000},{begin + 5000},0,7,,,")
    (probe / "activity.csv").write_text("\n".join(rows) + "\n")

    frame = read(probe)
    region = frame[(frame["annotation"] == first["annotation"]) & (frame["run"] == first["run"])]

    assert set(region["state"]) == {"dropped"}
    assert "straddles" in region["reason"].iloc[0]


@pytest.mark.parametrize(
    ("name", "contents", "says"),
    [
        ("activity.csv", "a,b\n", "line 1: not the columns"),
        (
            "activity.csv",
            ",".join(cupti_activity.COLUMNS) + "\nkernel,k,x,y,0,0,,,\n",
            "line 2: not an activity record",
        ),
        ("runs.jsonl", "{}\n[\n", "line 2: not a region's line"),
    ],
)
def test_a_damaged_file_is_named_with_its_line(probe: Path, name: str, contents: str, says: str) -> None:
    if name == "runs.jsonl":
        contents = (probe / name).read_text().splitlines()[0] + "\n[\n"
    (probe / name).write_text(contents)

    with pytest.raises(ReadError, match=says):
        read(probe)
