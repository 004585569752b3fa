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

from reportgen.evidence import tables
from reportgen.evidence.errors import ReadError
from reportgen.readers import cupti_activity, ncu_rep
from reportgen.readers.cupti_activity import Told

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


def test_what_nvml_read_after_each_run_is_a_sample_in_its_unit(data: Path) -> None:
    frame = read(data / "probe")
    lines = [json.loads(text) for text in (data / "probe" / "runs.jsonl").read_text().splitlines()]
    ok = frame[frame["metric"] == "region__span"]

    for sensor, metric, unit in (
        ("power_w", "nvml__power", "W"),
        ("temperature_c", "nvml__temperature", "°C"),
        ("sm_clock_hz", "nvml__sm_clock", "hz"),
    ):
        rows = frame[frame["metric"] == metric]
        assert len(rows) == len(ok) > 0
        assert set(rows["unit"]) == {unit}
        for value, source in zip(rows["value"], rows["source"], strict=True):
            assert value == lines[int(source.rpartition("#L")[2]) - 1]["after"][sensor]


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


# --- attribution by hand: one region from 1,000 to 2,000 ns


def attributed(tmp_path: Path, *spans: tuple[int, int], dropped: int = 0, **line: object) -> pd.DataFrame:
    """Return the samples of one region, with records of these spans on the device, written in this order."""
    head = {"benchmark": "f", "annotation": "a", "params": {}, "run": 0, "process": 0, "state": "ok", "reason": ""}
    region = {**head, "region": True, "start": 1000, "end": 2000, **line}
    (tmp_path / "runs.jsonl").write_text(json.dumps(region) + "\n")
    rows = [f"kernel,k{index},{start},{end},0,7,,," for index, (start, end) in enumerate(spans)]
    (tmp_path / "activity.csv").write_text("\n".join([",".join(cupti_activity.COLUMNS), *rows]) + "\n")
    return cupti_activity.read(tmp_path, "data/cupti/default/0", Told(dropped)).frame


def ended(frame: pd.DataFrame) -> tuple[str, str]:
    """Return the state and the reason of the region, which must be a single row."""
    assert len(frame) == 1
    return str(frame["state"].iloc[0]), str(frame["reason"].iloc[0])


STRADDLES = ("dropped", "a record straddles the region's boundary: other work ran on the device")


def test_what_lies_inside_is_the_regions_and_what_lies_outside_is_not(tmp_path: Path) -> None:
    frame = attributed(tmp_path, (1500, 1700), (100, 900), (1200, 1300), (2100, 2200))
    times = frame[frame["metric"] == TIME]

    assert list(zip(times["kernel"], times["kernel_index"], times["value"], strict=True)) == [
        ("k2", 0, 100.0),
        ("k0", 1, 200.0),
    ]
    assert list(times["source"]) == ["data/cupti/default/0/activity.csv#L4", "data/cupti/default/0/activity.csv#L2"]
    assert list(frame[frame["metric"] == "region__span"]["value"]) == [500.0]


def test_overlapping_kernels_add_up_to_more_than_their_span(tmp_path: Path) -> None:
    frame = attributed(tmp_path, (1200, 1600), (1300, 1700))

    assert frame[frame["metric"] == TIME]["value"].sum() == 800.0
    assert list(frame[frame["metric"] == "region__span"]["value"]) == [500.0]


def test_a_record_may_touch_the_boundaries(tmp_path: Path) -> None:
    frame = attributed(tmp_path, (900, 1000), (1000, 2000))

    assert list(frame[frame["metric"] == TIME]["value"]) == [1000.0]


@pytest.mark.parametrize(
    "spans",
    [
        pytest.param([(900, 1001), (1200, 1300)], id="runs into it"),
        pytest.param([(1200, 1300), (1900, 2001)], id="runs out of it"),
        pytest.param(
            [(500, 1100), (600, 700), (800, 900), (1200, 1300)], id="began two records before and runs into it"
        ),
        pytest.param([(500, 2500), (600, 700), (1200, 1300)], id="covers it with others inside"),
        pytest.param([(500, 2500)], id="covers it alone"),
        pytest.param([(2000, 2100)], id="begins as it ends"),
    ],
)
def test_a_region_that_a_record_crosses_is_dropped(tmp_path: Path, spans: list[tuple[int, int]]) -> None:
    assert ended(attributed(tmp_path, *spans)) == STRADDLES


def test_a_long_record_that_ended_in_time_harms_nothing(tmp_path: Path) -> None:
    frame = attributed(tmp_path, (100, 950), (200, 300), (1200, 1300))

    assert list(frame[frame["metric"] == TIME]["value"]) == [100.0]


def test_a_record_without_duration_drops_its_region(tmp_path: Path) -> None:
    assert ended(attributed(tmp_path, (1200, 1300), (1400, 1400))) == (
        "dropped",
        "a record in the region has no duration",
    )


def test_with_a_record_lost_no_region_is_known_to_be_whole(tmp_path: Path) -> None:
    frame = attributed(tmp_path, (1200, 1300), dropped=1234)

    assert ended(frame) == ("dropped", "CUPTI dropped 1,234 records, and they may be of this region")
    assert list(frame["source"]) == ["data/cupti/default/0/runs.jsonl#L1"]


def test_a_real_collection_with_a_lost_record_has_no_time_left(data: Path) -> None:
    frame = cupti_activity.read(data / "probe", "x", Told(dropped=1)).frame

    assert set(frame["state"]) == {"dropped"}
    assert len(frame) == 25


def test_a_region_that_failed_or_was_skipped_says_so_whatever_ran(tmp_path: Path) -> None:
    for state, reason in (("failed", "ValueError: broken"), ("skipped", "no fp8")):
        assert ended(attributed(tmp_path, (1200, 1300), state=state, reason=reason)) == (state, reason)


def test_what_the_suite_recorded_stands_beside_the_regions_times(tmp_path: Path) -> None:
    frame = attributed(tmp_path, (1200, 1300), recorded=[["error", 0.5, ""]])
    own = frame[frame["metric"] == "error"]

    assert list(own["value"]) == [0.5]
    assert list(own["source"]) == ["data/cupti/default/0/runs.jsonl#L1"]


def flushed(data: Path) -> tuple[int, int]:
    """Return a span that holds the records of one flush: those between the first region and the one before its own flush."""
    begins = [json.loads(text)["start"] for text in (data / "probe" / "runs.jsonl").read_text().splitlines()]
    rows = [line.split(",") for line in (data / "probe" / "activity.csv").read_text().splitlines()[1:]]
    fills = [int(row[2]) for row in rows if "FillFunctor" in row[1] and int(row[2]) < begins[0]]
    return max(fills), begins[0] - 1


def test_a_flush_stands_before_each_region_of_a_real_collection(data: Path) -> None:
    frame = cupti_activity.read(data / "probe", "x", Told(flush=flushed(data))).frame

    assert Counter(frame["reason"][frame["state"] == "dropped"]) == {
        "no record of the device lies inside the region": 5
    }


def test_a_region_without_its_flush_is_dropped(probe: Path, data: Path) -> None:
    span = flushed(data)
    lines = (probe / "activity.csv").read_text().splitlines()
    begins = [json.loads(text)["start"] for text in (probe / "runs.jsonl").read_text().splitlines()]
    last = max(i for i, line in enumerate(lines[1:], 1) if int(line.split(",")[2]) < begins[3])
    del lines[last]
    (probe / "activity.csv").write_text("\n".join(lines) + "\n")

    frame = cupti_activity.read(probe, "x", Told(flush=span)).frame

    bad = frame[frame["reason"].str.contains("flush")]
    assert list(bad["annotation"]) == ["splitk"]
    assert list(bad["run"]) == [0]


def test_a_file_that_lost_records_leaves_no_region_whole(data: Path) -> None:
    count = len((data / "probe" / "activity.csv").read_text().splitlines()) - 1

    whole = cupti_activity.read(data / "probe", "x", Told(records=count)).frame
    short = cupti_activity.read(data / "probe", "x", Told(records=count + 2)).frame

    assert "ok" in set(whole["state"])
    assert set(short["state"]) == {"dropped"}
    assert f"{count:,} of {count + 2:,} records" in short["reason"].iloc[0]


def test_a_large_activity_is_kept_compressed_and_read_alike(probe: Path, data: Path) -> None:
    plain = probe / "activity.csv"
    (probe / "activity.csv.zst").write_bytes(tables.compress(plain.read_bytes()))
    plain.unlink()

    frame = read(probe)

    want = read(data / "probe")
    assert list(frame["value"]) == pytest.approx(list(want["value"]), nan_ok=True)
    assert any("activity.csv.zst#L" in source for source in frame["source"])


def test_a_fill_beside_kernels_is_a_metric_of_its_own(tmp_path: Path) -> None:
    region = {"benchmark": "f", "annotation": "a", "params": {}, "run": 0, "process": 0, "state": "ok", "reason": ""}
    (tmp_path / "runs.jsonl").write_text(json.dumps({**region, "region": True, "start": 1000, "end": 2000}) + "\n")
    rows = ["memset,[memset],1100,1104,0,7,,,4", "kernel,gemm,1200,1500,0,7,,,"]
    (tmp_path / "activity.csv").write_text("\n".join([",".join(cupti_activity.COLUMNS), *rows]) + "\n")

    frame = read(tmp_path)

    assert dict(zip(frame["metric"], frame["value"], strict=True)) == {
        TIME: 300.0,
        cupti_activity.COPIES: 4.0,
        cupti_activity.SPAN: 400.0,
    }
