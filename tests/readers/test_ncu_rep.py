"""Reports against ncu's own export of them, and damaged ones against the truth that they are damaged."""

from __future__ import annotations

import csv
import math
import shutil
import struct
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reportgen.evidence.errors import ReadError
from reportgen.evidence.samples import PARAM, Samples
from reportgen.readers import ncu_pool, ncu_rep, ncu_structure
from reportgen.readers.recognise import recognise

REPORTS = ("matmul", "compile_cold", "compile_warm", "graph_node", "thread", "graph_whole", "range", "bare")
COUNTS = {
    "matmul": 30,
    "compile_cold": 12,
    "compile_warm": 12,
    "graph_node": 4,
    "thread": 6,
    "graph_whole": 3,
    "range": 3,
    "bare": 6,
}


def read(path: Path) -> Samples:
    return ncu_rep.read(path, f"data/import/{path.name}")


def export(path: Path) -> list[dict[str, str]]:
    """Read ncu's export of a report: a header, a line of units, then a line for each launch."""
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:] if len(row) == len(rows[0])]


def agrees(printed: str, value: float, text: str) -> bool:
    """Tell whether a value is what was printed, to the digits printed."""
    try:
        number = float(printed.replace(",", ""))
    except ValueError:
        return printed == text
    decimals = len(printed.partition(".")[2])
    return bool(abs(number - value) <= 0.5000001 * 10**-decimals + 1e-12 * abs(value))


@pytest.mark.parametrize("name", REPORTS)
def test_every_metric_of_every_launch_is_what_ncu_exports(data: Path, name: str) -> None:
    frame = read(data / f"{name}.ncu-rep").frame
    launches = export(data / f"{name}.raw.base.csv")
    found = {
        (source, metric): (value, text)
        for source, metric, value, text in zip(
            frame["source"], frame["metric"], frame["value"], frame["text"], strict=True
        )
    }

    compared = 0
    for index, launch in enumerate(launches):
        for metric, printed in launch.items():
            if "__" not in metric:
                continue
            value, text = found[f"data/import/{name}.ncu-rep#0/{index}", metric]
            assert agrees(printed, value, text), (index, metric, printed, value, text)
            compared += 1

    assert len(launches) == COUNTS[name]
    assert compared == len(frame)


def test_parameters_and_runs_are_read_from_the_messages(data: Path) -> None:
    frame = read(data / "matmul.ncu-rep").frame
    times = frame[frame["metric"] == "gpu__time_duration.sum"]
    places = zip(times["annotation"], times["param:n"], times["run"], strict=True)
    kernels: dict[tuple[str, str], set[int]] = {}
    for (annotation, n, _), count in Counter(places).items():
        kernels.setdefault((annotation, n), set()).add(count)

    assert len(times) == 30
    assert kernels == {
        ("fp32", "256"): {2},
        ("fp32", "512"): {2},
        **{("fp32", n): {1} for n in ("1024", "2048")},
        **{("fp16", n): {1} for n in ("256", "512", "1024", "2048")},
    }
    assert set(times["run"]) == {0, 1, 2}


def test_all_kernels_of_another_thread_belong_to_their_region(data: Path) -> None:
    frame = read(data / "thread.ncu-rep").frame
    times = frame[frame["metric"] == "gpu__time_duration.sum"]

    assert set(times["annotation"]) == {"backward"}
    assert list(times["kernel_index"]) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(("name", "workload"), [("graph_node", "kernel"), ("graph_whole", "graph"), ("range", "range")])
def test_kernels_ranges_and_graphs_are_kept_apart(data: Path, name: str, workload: str) -> None:
    samples = read(data / f"{name}.ncu-rep")

    assert set(samples.frame["workload"]) == {workload}
    assert samples.losses == ()


def test_facts_come_from_the_device_and_the_report(data: Path) -> None:
    facts = read(data / "matmul.ncu-rep").facts

    assert facts["gpu.name"] == "NVIDIA H200"
    assert facts["gpu.sm_count"] == "132"
    assert facts["clocks.sm_rated_hz"] == "1980000000"
    assert facts["collection.created"] == "2026-11-30T21:10:06Z"  # as the session page of the same report says


def test_only_the_metrics_asked_for_are_read(data: Path) -> None:
    frame = ncu_rep.read(data / "thread.ncu-rep", "x", ["gpu__time_duration.sum", "no__such.metric"]).frame

    assert len(frame) == 12
    absent = frame[frame["metric"] == "no__such.metric"]
    assert set(absent["state"]) == {"dropped"}
    assert set(absent["reason"]) == {ncu_rep.NO_VALUE}


def test_a_shared_out_report_reads_the_same(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read(data / "matmul.ncu-rep")
    monkeypatch.setattr(ncu_rep, "_SHARE_FROM", 1)

    shared = read(data / "matmul.ncu-rep")

    pd.testing.assert_frame_equal(whole.frame.astype("object"), shared.frame.astype("object"))
    assert shared.losses == ()


@pytest.mark.parametrize("suffix", [".ncu-repz", ".ncu-rep", ".bin"])
def test_a_compressed_report_is_known_by_its_content(data: Path, tmp_path: Path, suffix: str) -> None:
    packed = tmp_path / f"thread{suffix}"
    packed.write_bytes(zstandard.compress((data / "thread.ncu-rep").read_bytes()))

    assert recognise(packed) == "ncu-rep"
    pd.testing.assert_frame_equal(
        ncu_rep.read(packed, "x").frame.astype("object"),
        ncu_rep.read(data / "thread.ncu-rep", "x").frame.astype("object"),
    )


# --- damage


def outcome(path: Path) -> str:
    """Read a file that may be damaged: "error", "partial" or "full"; anything but a ReadError is a failure."""
    try:
        samples = read(path)
    except ReadError as error:
        return "error" if str(path) in error.line and "\n" not in error.line else f"a bad message: {error.line!r}"
    return "partial" if samples.losses else "full"


def test_truncations_are_errors_or_marked_partial(data: Path, tmp_path: Path) -> None:
    whole = (data / "matmul.ncu-rep").read_bytes()
    path = tmp_path / "cut.ncu-rep"
    seen = []
    for index in range(200):
        path.write_bytes(whole[: index * len(whole) // 200])
        seen.append(outcome(path))

    assert "full" not in seen
    assert seen.count("partial") > 50
    assert seen.count("error") > 5


def test_a_partial_report_says_what_was_lost_and_keeps_only_whole_launches(data: Path, tmp_path: Path) -> None:
    whole = (data / "matmul.ncu-rep").read_bytes()
    path = tmp_path / "cut.ncu-rep"
    path.write_bytes(whole[: len(whole) * 2 // 3])

    samples = read(path)
    full = read(data / "matmul.ncu-rep").frame

    assert any("damaged" in loss for loss in samples.losses)
    kept = samples.frame.astype({"source": "object", "metric": "object"})
    assert 0 < kept["source"].nunique() < 30
    true = full.assign(source=full["source"].str.replace("matmul", "cut")).astype(
        {"source": "object", "metric": "object"}
    )
    both = kept.merge(true, on=["source", "metric"], suffixes=("", "_true"))
    assert len(both) == len(kept)
    assert all(
        a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(both["value"], both["value_true"], strict=True)
    )


@pytest.mark.parametrize(
    ("contents", "says"),
    [
        (b"", "the file is empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "a Git LFS pointer"),
        (b"Hello, this is no report.\n", "not an Nsight Compute report"),
        (bytes(range(256)) * 100, "not an Nsight Compute report"),
        (b"NVR\0", "nothing after it"),
        (b"NVR\0" + struct.pack("<I", 2) + b"\x08\x07", "nothing after it"),
        (b"SQLite format 3\0" + bytes(100), "Nsight Systems"),
        (b"\x28\xb5\x2f\xfd" + bytes(20), "is empty"),
    ],
)
def test_what_is_no_report_says_what_it_is(tmp_path: Path, contents: bytes, says: str) -> None:
    path = tmp_path / "x.ncu-rep"
    path.write_bytes(contents)

    with pytest.raises(ReadError) as caught:
        read(path)

    assert says in caught.value.line
    assert caught.value.mend


def test_a_folder_and_a_missing_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="a folder"):
        recognise(tmp_path)
    with pytest.raises(ReadError, match="no such file"):
        recognise(tmp_path / "absent.ncu-rep")


def test_a_renamed_report_of_another_tool_is_told(tmp_path: Path) -> None:
    path = tmp_path / "trace.nsys-rep"
    path.write_bytes(b"\x00\x01NsightSystems" + bytes(500))

    with pytest.raises(ReadError, match="another tool"):
        recognise(path)


def test_a_count_in_a_block_header_that_does_not_fit_is_a_loss(data: Path, tmp_path: Path) -> None:
    """Take a launch's count away from a block's header: the frame and ncu_report then disagree."""
    whole = bytearray((data / "thread.ncu-rep").read_bytes())
    position = 8 + struct.unpack_from("<I", whole, 4)[0]
    while True:
        length = struct.unpack_from("<I", whole, position)[0]
        header = bytes(whole[position + 4 : position + 4 + length])
        if header[2:4] == b"\x10\x01":
            whole[position + 4 + 3] = 0
            break
        position += 4 + length + next(v for n, v, _ in ncu_structure._fields(header) if n == 5)
    path = tmp_path / "count.ncu-rep"
    path.write_bytes(whole)

    assert outcome(path) != "full"


def test_a_child_that_dies_costs_only_its_own_report(data: Path, tmp_path: Path) -> None:
    """Change size and header fields, some of which abort the interpreter that reads them."""
    whole = (data / "matmul.ncu-rep").read_bytes()
    path = tmp_path / "header.ncu-rep"
    position = 8 + struct.unpack_from("<I", whole, 4)[0]
    pool = ncu_pool.Pool()
    outcomes = []
    for offset in range(position, position + 140, 2):
        changed = bytearray(whole)
        changed[offset] ^= 0x15
        path.write_bytes(changed)
        try:
            outcomes.append(ncu_rep.read(path, "x", pool=pool).losses)
        except ReadError as error:
            outcomes.append((error.line,))

    assert len(outcomes) == 70
    assert all("\n" not in line for losses in outcomes for line in losses)
    assert read(data / "thread.ncu-rep").losses == ()
    pool.close()


def test_reading_that_outlasts_its_time_is_stopped(data: Path) -> None:
    pool = ncu_pool.Pool()

    with pytest.raises(ncu_pool.ChildDied, match="too long"):
        pool.ask({"path": str(data / "matmul.ncu-rep"), "first": 0, "end": None, "metrics": None}, 0.0)

    pool.close()


def test_a_metric_that_lost_its_name_is_told_and_the_others_stand(data: Path, tmp_path: Path) -> None:
    contents = bytearray((data / "graph_whole.ncu-rep").read_bytes())
    contents[53816053 % len(contents)] ^= 2
    path = tmp_path / "nameless.ncu-rep"
    path.write_bytes(contents)

    samples = read(path)

    assert any("have lost their names" in loss for loss in samples.losses)
    assert "" not in set(samples.frame["metric"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(1, 255)), min_size=1, max_size=8), st.integers(0, 10**9))
def test_any_damage_ends_in_samples_or_one_line(
    data: Path, tmp_path: Path, flips: list[tuple[int, int]], cut: int
) -> None:
    contents = bytearray((data / "graph_whole.ncu-rep").read_bytes())
    for position, mask in flips:
        contents[position % len(contents)] ^= mask
    if cut % 3 == 0:
        del contents[cut % len(contents) :]
    path = tmp_path / "any.ncu-rep"
    path.write_bytes(contents)

    assert outcome(path) in ("error", "partial", "full")


def test_a_module_beside_the_user_is_not_taken_for_ours(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ncu_report.py").write_text("raise SystemExit('taken')\n")
    shutil.copy(data / "thread.ncu-rep", tmp_path)
    monkeypatch.chdir(tmp_path)
    pool = ncu_pool.Pool()

    assert ncu_rep.read(Path("thread.ncu-rep"), "x", pool=pool).losses == ()
    pool.close()


def test_parameters_have_columns_of_their_own(data: Path) -> None:
    assert f"{PARAM}n" in read(data / "matmul.ncu-rep").frame.columns


def packed(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (zstandard.compress(b""), "what is compressed in it is no report: the file is empty"),
        (zstandard.compress(zstandard.compress(b"x")), "what is compressed in it is no report: not an Nsight"),
        (b"\x28\xb5\x2f\xfd" + b"\xff" * 40, "the compressed report is damaged after 0 bytes"),
    ],
)
def test_a_damaged_packed_report_is_told_by_its_own_name(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(ReadError, match=rf"it\.ncu-repz: {said}") as caught:
        read(packed(tmp_path / "it.ncu-repz", data))
    assert "report.ncu-rep" not in str(caught.value)


def test_what_follows_a_packed_report_costs_none_of_its_launches(data: Path, tmp_path: Path) -> None:
    whole = zstandard.compress((data / "bare.ncu-rep").read_bytes())
    found = read(packed(tmp_path / "it.ncu-repz", whole + b"junk"))

    assert found.frame["source"].nunique() == COUNTS["bare"]
    assert len(found.losses) == 1
    assert "damaged after" in found.losses[0]


def test_a_cut_report_still_says_when_it_was_made(data: Path, tmp_path: Path) -> None:
    whole = (data / "bare.ncu-rep").read_bytes()
    (tmp_path / "cut.ncu-rep").write_bytes(whole + bytes(1000))
    found = ncu_structure.examine(tmp_path / "cut.ncu-rep")

    assert found.cut
    assert found.created == ncu_structure.examine(data / "bare.ncu-rep").created > 0
