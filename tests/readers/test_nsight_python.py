import contextlib
import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reportgen.evidence.errors import ReadError
from reportgen.evidence.samples import Samples
from reportgen.readers import csv_text, nsight_python

DATA = Path(__file__).parent.parent / "data"
FILES = sorted(DATA.glob("*_data-matmul-0.csv"))


def _write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "x.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "backend", "count", "runs"),
    [("cupti-profiled_data-matmul-0.csv", "cupti", 120, 10), ("ncu-all-profiled_data-matmul-0.csv", "ncu", 40, 5)],
)
def test_profiled_values_stand_row_by_row(name: str, backend: str, count: int, runs: int) -> None:
    found = nsight_python.read(DATA / name, "data/import/p.csv")
    with (DATA / name).open(newline="") as file:
        rows = list(csv.DictReader(file))
    frame = found.frame
    assert len(frame) == len(rows) == count
    assert frame["value"].tolist() == [float(r["Value"]) for r in rows]
    assert frame["param:n"].tolist() == [r["n"] for r in rows]
    assert frame["annotation"].tolist() == [r["Annotation"] for r in rows]
    assert set(frame["run"]) == set(range(runs))
    assert not frame.duplicated(["annotation", "param:n", "metric", "run"]).any()
    assert frame["source"].tolist() == [f"data/import/p.csv#L{i}" for i in range(2, count + 2)]
    assert set(frame["backend"]) == {backend}
    assert set(frame.loc[frame["metric"] == "gpu__time_duration.sum", "unit"]) == {"ns"}
    assert found.facts["clocks.sm_rated_hz"] == "1980000000"
    assert found.facts["gpu.name"] == "NVIDIA H200"
    assert found.losses == ()


def test_derived_metrics_keep_name_and_unit_and_kernels_are_demangled() -> None:
    frame = nsight_python.read(DATA / "cupti-profiled_data-matmul-0.csv", "p").frame
    assert set(frame.loc[frame["metric"] == "tflops", "unit"]) == {"TFLOP/s"}
    assert not frame["kernel"].str.startswith("_Z").any()


def test_a_normalised_mean_is_a_ratio_and_the_rest_is_raw() -> None:
    frame = nsight_python.read(DATA / "ncu-all-processed_data-matmul-0.csv", "p").frame
    means = frame[frame["metric"] == "gpu__time_duration.sum:AvgValue/fp32"]
    assert set(means["unit"]) == {""}
    assert means["value"].iloc[0] == 1.0
    least = frame[frame["metric"] == "gpu__time_duration.sum:MinValue"]
    assert set(least["unit"]) == {"ns"}
    assert least["value"].iloc[0] == 62176.0
    assert "gpu__time_duration.sum:AvgValue" not in set(frame["metric"])


def test_summaries_that_are_not_normalised_keep_their_unit() -> None:
    frame = nsight_python.read(DATA / "cupti-processed_data-matmul-0.csv", "p").frame
    rows = frame[frame["source"] == "p#L2"]
    first = {m: (v, u) for m, v, u in zip(rows["metric"], rows["value"], rows["unit"], strict=True)}
    assert first["gpu__time_duration.sum:AvgValue"] == (56352.0, "ns")
    assert first["gpu__time_duration.sum:NumRuns"] == (10.0, "")


def test_columns_are_found_by_name_and_parameters_are_canonical(tmp_path: Path) -> None:
    path = _write(
        tmp_path,
        "dtype,n,Metric,flag,Value,Annotation,GPU,alpha,Host,note\n"
        'torch.float16,7,m,True,1.5,a,"G1",0.5,h1,"say ""hi"", ok"\n'
        "torch.float16,7,m,True,,a,G2,0.5,h1,\n"
        "torch.float16,7,m,True,nan,a,G2,0.5,h1,\n",
    )
    found = nsight_python.read(path, "s")
    frame = found.frame
    assert frame["param:dtype"].iloc[0] == '"torch.float16"'
    assert frame["param:n"].iloc[0] == "7"
    assert frame["param:flag"].iloc[0] == "true"
    assert frame["param:alpha"].iloc[0] == "0.5"
    assert frame["param:note"].iloc[0] == '"say \\"hi\\", ok"'
    assert frame["param:note"].iloc[1] == ""
    assert frame["state"].tolist() == ["ok", "dropped", "dropped"]
    assert frame["reason"].tolist() == ["", "the file holds no value", "the profiler recorded nan"]
    assert found.facts["gpu.name"] == "G1, G2"


def test_a_scaled_unit_becomes_the_base_unit(tmp_path: Path) -> None:
    frame = nsight_python.read(_write(tmp_path, "Annotation,Metric,Value,Unit\na,m,2.14,Mbyte\n"), "s").frame
    assert frame[["value", "unit"]].iloc[0].tolist() == [2140000.0, "byte"]


def test_every_cut_either_keeps_whole_rows_or_says_so(tmp_path: Path) -> None:
    raw = (DATA / "ncu-all-profiled_data-matmul-0.csv").read_bytes()
    whole = nsight_python.read(DATA / "ncu-all-profiled_data-matmul-0.csv", "s").frame
    for size in range(len(raw) - 300, len(raw)):
        (tmp_path / "x.csv").write_bytes(raw[:size])
        found = nsight_python.read(tmp_path / "x.csv", "s")
        kept = found.frame
        assert kept["value"].tolist() == whole["value"].tolist()[: len(kept)]
        assert kept["param:n"].tolist() == whole["param:n"].tolist()[: len(kept)]
        assert found.losses or raw[:size].rstrip(b"\n").count(b"\n") == len(kept)


def test_sniffing_goes_by_content() -> None:
    assert [csv_text.sniff_csv(f) for f in FILES] == ["nsight-processed", "nsight-profiled"] * 2


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "Annotation,Metric,Value\n", "\0\0\0"])
def test_what_is_none_is_refused_with_its_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(ReadError) as error:
        nsight_python.read(_write(tmp_path, text), "s")
    assert error.value.mend


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_no_bytes_make_it_crash(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    raw = bytearray(data.draw(st.sampled_from(FILES)).read_bytes()[:4000])
    for _ in range(data.draw(st.integers(1, 12))):
        at, byte = data.draw(st.integers(0, len(raw) - 1)), data.draw(st.integers(0, 255))
        raw[at : at + data.draw(st.integers(0, 2))] = bytes([byte])
    path = tmp_path_factory.mktemp("nsight") / "x.csv"
    path.write_bytes(bytes(raw[: data.draw(st.integers(0, len(raw)))]))
    csv_text.sniff_csv(path)
    with contextlib.suppress(ReadError):
        assert isinstance(nsight_python.read(path, "s"), Samples)


def test_rows_of_nothing_are_no_samples(tmp_path: Path) -> None:
    head = "Annotation,Kernel,Metric,Value,n\n"
    found = nsight_python.read(
        _write(tmp_path, head + ",,,,\na,k,gpu__time_duration.sum,5,6\n , ,,,\n"), "data/import/x.csv"
    )

    assert len(found.frame) == 1
    with pytest.raises(ReadError, match="no row"):
        nsight_python.read(_write(tmp_path, head + ",,,,\n,,,,\n"), "data/import/x.csv")
