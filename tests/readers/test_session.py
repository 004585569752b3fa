from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reportgen.evidence.errors import ReadError
from reportgen.readers import session

DATA = Path(__file__).parent.parent / "data"


def test_the_real_session_page() -> None:
    facts = session.read(DATA / "matmul.session.txt")
    assert facts["command.profiler"] == (
        "/opt/nvidia/nsight-compute/2025.3.1/target/linux-desktop-glibc_2_11_3-x64/ncu --clock-control none"
        " --import-sass no -f --nvtx --nvtx-include regex:bench@.+ --metrics gpu__time_duration.sum,"
        "sm__throughput.avg.pct_of_peak_sustained_elapsed,dram__throughput.avg.pct_of_peak_sustained_elapsed,"
        "dram__bytes_read.sum,dram__bytes_write.sum,gpc__cycles_elapsed.avg.per_second"
        " -o /tmp/share/matmul python3 wl.py matmul"
    )
    expected = {
        "versions.ncu": "2025.3.1.0",
        "versions.cuda": "13.0",
        "host.name": "vm",
        "host.cpu": "Intel(R) Xeon(R) Processor",
        "collection.created": "2026-11-30T21:10:06",
        "gpu.name": "NVIDIA H200",
        "gpu.compute_capability": "9.0",
        "gpu.sm_count": "132",
        "gpu.memory_bytes": "150109880320",
        "policy.cache": "flush",
        "policy.clocks": "none",
        "policy.replay": "kernel",
    }
    assert facts | expected == facts
    assert session.scenario_of(facts) == "default"


@pytest.mark.parametrize("width", [7, 10, 11, 20, 33, 120])
def test_a_command_line_comes_back_from_any_width(tmp_path: Path, width: int) -> None:
    command = "ncu --nvtx --cache-control none -o out python3 train.py --name a_very_long_name_without_any_space"
    pieces = [command[i : i + width] for i in range(0, len(command), width)]
    rows = [f"{'Profiler Command Line' if i == 0 else '':21} {piece:{width}}" for i, piece in enumerate(pieces)]
    rule = f"{'-' * 21} {'-' * width}"
    lines = ["Launch Settings", rule, f"{'Launch Attribute':21} {'Value':{width}}", rule, *rows, ""]
    path = tmp_path / "session.txt"
    path.write_text("\n".join(lines))
    assert session.read(path)["command.profiler"] == command


@pytest.mark.parametrize(
    ("command", "scenario"),
    [
        ("ncu python a.py", "strict"),
        ("ncu --clock-control none python a.py", "default"),
        ("ncu --clock-control=none --cache-control=none python a.py", "continuous"),
        ("ncu --cache-control none python a.py", "warm-base"),
        ("ncu --clock-control reset python a.py", "flush-reset"),
        ("ncu -f -o x python a.py --cache-control none --clock-control none", "strict"),
        ("ncu --kernel-name 'a b' --cache-control none a.out", "warm-base"),
        ("", None),
    ],
)
def test_scenarios(command: str, scenario: str | None) -> None:
    assert session.scenario_of(session.policies(command)) == scenario


def test_replay_mode_is_kept() -> None:
    assert session.policies("ncu --replay-mode range a.out")["policy.replay"] == "range"


def test_another_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("buy milk\n")
    with pytest.raises(ReadError, match="not a session page"):
        session.read(path)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_no_bytes_make_it_crash(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    raw = bytearray((DATA / "matmul.session.txt").read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("session") / "s.txt"
    path.write_bytes(bytes(raw[: data.draw(st.integers(0, len(raw)))]))
    try:
        facts = session.read(path)
    except ReadError:
        return
    assert "" not in facts
