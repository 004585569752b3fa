"""Imports of real files, and of files that are wrong in every way a person may get them wrong."""

from __future__ import annotations

import csv
import pickle
import shutil
from pathlib import Path

import pytest

from reportgen.evidence.bundle import open_bundle
from reportgen.evidence.errors import UserError
from reportgen.evidence.verify import verify
from reportgen.workflow.ingest import ingest

DATA = Path(__file__).parent.parent / "data"
TIME = "gpu__time_duration.sum"


def test_a_report_with_its_tables_and_session_becomes_one_bundle(tmp_path: Path) -> None:
    files = [DATA / name for name in ("matmul.raw.auto.csv", "matmul.ncu-rep", "matmul.details.csv")]

    made = ingest(files, tmp_path, session=DATA / "matmul.session.txt", derived=["TFLOP/s=2*n**3/time/1e12"])

    bundle = open_bundle(made.path)
    assert verify(made.path) == ()
    assert made.launches == 30
    assert made.samples == 8460
    assert made.losses == ()
    assert bundle.info.status == "imported"
    assert bundle.info.start == "20261130T211006Z"
    assert set(bundle.samples()["scenario"]) == {"default"}  # the session's command: flushed, clocks free
    for file in (*files, DATA / "matmul.session.txt"):
        assert bundle.read(f"data/import/{file.name}") == file.read_bytes()


def test_a_table_of_the_same_launches_is_kept_and_not_sampled_twice(tmp_path: Path) -> None:
    made = ingest([DATA / "matmul.details.csv", DATA / "matmul.ncu-rep"], tmp_path)

    samples = open_bundle(made.path).samples()
    assert (samples["metric"] == TIME).sum() == 30
    assert all("matmul.ncu-rep#" in source for source in samples["source"].unique())
    assert any("same launches" in note for note in made.notes)


def test_a_table_of_other_launches_is_sampled_beside(tmp_path: Path) -> None:
    made = ingest([DATA / "matmul.ncu-rep", DATA / "thread.raw.base.csv"], tmp_path, suite="both")

    samples = open_bundle(made.path).samples()
    assert set(samples["benchmark"]) == {"matmul", "thread"}
    assert (samples["metric"] == TIME).sum() == 36


def test_a_csv_alone_says_what_its_report_says(tmp_path: Path) -> None:
    of_report = open_bundle(ingest([DATA / "matmul.ncu-rep"], tmp_path / "a").path).samples()
    of_table = open_bundle(ingest([DATA / "matmul.raw.base.csv"], tmp_path / "b").path).samples()
    place = ["annotation", "param:n", "run", "kernel_index", "metric"]

    left = of_report.astype(dict.fromkeys(place, "object")).set_index(place)["value"].sort_index()
    right = of_table.astype(dict.fromkeys(place, "object")).set_index(place)["value"].sort_index()

    assert list(left.index) == list(right.index)
    assert ((left - right).abs().dropna() <= 0.00501 + 1e-12 * left.abs().dropna()).all()


def test_nsight_python_runs_are_sampled_and_its_means_are_not(tmp_path: Path) -> None:
    files = [DATA / "cupti-profiled_data-matmul-0.csv", DATA / "cupti-processed_data-matmul-0.csv"]
    samples = open_bundle(ingest(files, tmp_path).path).samples()

    assert set(samples["backend"]) == {"cupti"}
    assert (samples["metric"] == TIME).sum() == 60
    assert not samples["metric"].str.contains("AvgValue").any()
    assert set(samples["scenario"]) == {"not-recorded"}


def test_the_same_import_is_the_same_bundle(tmp_path: Path) -> None:
    first = ingest([DATA / "thread.ncu-rep"], tmp_path / "a").path
    second = ingest([DATA / "thread.ncu-rep"], tmp_path / "b").path
    again = ingest([DATA / "thread.ncu-rep"], tmp_path / "a").path

    assert first.name == second.name
    assert again == first
    tree = {p.relative_to(first): p.read_bytes() for p in first.rglob("*") if p.is_file()}
    assert tree == {p.relative_to(second): p.read_bytes() for p in second.rglob("*") if p.is_file()}


def test_a_cut_report_is_a_marked_partial_import(tmp_path: Path) -> None:
    whole = (DATA / "matmul.ncu-rep").read_bytes()
    cut = tmp_path / "matmul.ncu-rep"
    cut.write_bytes(whole[: len(whole) // 2])

    made = ingest([cut], tmp_path / "out")

    assert made.losses
    info = open_bundle(made.path).info
    assert info.partial
    assert "launches could be read" in " ".join(info.losses)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"date": "yesterday"}, "is not a date"),
        ({"derived": ["TFLOP/s"]}, "is not a derived metric"),
        ({"derived": ["x=__import__('os')"]}, "not arithmetic"),
        ({"kind": "excel"}, "not a kind"),
        ({"suite": "../up"}, "call it 'up'"),
    ],
)
def test_wrong_use_is_one_line_and_writes_nothing(tmp_path: Path, arguments: dict[str, object], says: str) -> None:
    with pytest.raises(UserError) as caught:
        ingest([DATA / "thread.ncu-rep"], tmp_path / "out", **arguments)  # type: ignore[arg-type]

    assert says in caught.value.line
    assert "\n" not in caught.value.line
    assert not list(tmp_path.rglob("*.txt"))


def test_a_pickle_is_never_loaded(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (tmp_path / "sprung",)  # type: ignore[return-value]

    path = tmp_path / "collected_info.pkl"
    path.write_bytes(pickle.dumps(Trap()))

    with pytest.raises(UserError, match="never loaded"):
        ingest([path], tmp_path / "out")
    assert not (tmp_path / "sprung").exists()


def test_files_of_one_name_from_two_folders_are_both_kept(tmp_path: Path) -> None:
    for name in ("cold", "warm"):
        (tmp_path / name).mkdir()
        shutil.copy(DATA / f"compile_{name}.ncu-rep", tmp_path / name / "report.ncu-rep")

    made = ingest([tmp_path / "cold" / "report.ncu-rep", tmp_path / "warm" / "report.ncu-rep"], tmp_path / "out")

    samples = open_bundle(made.path).samples()
    assert samples["benchmark"].nunique() == 2
    assert (samples["metric"] == TIME).sum() == 24


def test_a_parameter_with_a_columns_name_is_refused(tmp_path: Path) -> None:
    with (DATA / "matmul.raw.base.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    path = tmp_path / "x.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([[cell.replace("n=", "Unit=") for cell in row] for row in rows])

    with pytest.raises(UserError, match="'Unit' has the name of a column"):
        ingest([path], tmp_path / "out")


def test_the_session_alone_is_nothing_to_sample(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none of the files holds launches"):
        ingest([DATA / "matmul.session.txt"], tmp_path / "out")
