"""Imports of real files, and of files that are wrong in every way a person may get them wrong."""

from __future__ import annotations

import csv
import errno
import os
import pickle
import shutil
from pathlib import Path

import pytest

from reportgen.evidence.bundle import open_bundle
from reportgen.evidence.errors import UserError
from reportgen.evidence.verify import verify
from reportgen.workflow import ingest as ingest_module
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


# What a person may give


def table(path: Path, *times: float, bytes_read: float = 100.5, kernel: str = "k") -> Path:
    rows = [f"{i},{kernel},1,{time},{bytes_read + i}" for i, time in enumerate(times)]
    head = ["ID,Kernel Name,Process ID,gpu__time_duration.sum,dram__bytes_read.sum", ",,,ns,byte"]
    path.write_text("\n".join([*head, *rows]) + "\n")
    return path


def test_a_copy_under_another_name_is_not_sampled_again(tmp_path: Path) -> None:
    copy, link = tmp_path / "other.ncu-rep", tmp_path / "link.ncu-rep"
    shutil.copy(DATA / "bare.ncu-rep", copy)
    link.symlink_to(DATA / "bare.ncu-rep")
    made = ingest([DATA / "bare.ncu-rep", copy, link, DATA / "../data/bare.ncu-rep"], tmp_path / "out")

    assert made.launches == 6
    assert [note for note in made.notes if "copy" in note] == [
        "other.ncu-rep: kept: a copy of another file",
        "link.ncu-rep: kept: a copy of another file",
        "bare.ncu-rep: kept: a copy of another file",
    ]


def test_two_runs_that_took_the_same_ticks_are_two(tmp_path: Path) -> None:
    one = table(tmp_path / "one.csv", 5120, 5120)
    two = table(tmp_path / "two.csv", 5120, 5120, bytes_read=101.5)

    assert ingest([one, two], tmp_path / "out").launches == 4


def test_times_that_differ_in_their_last_digit_are_two(tmp_path: Path) -> None:
    one, two = table(tmp_path / "one.csv", 51231), table(tmp_path / "two.csv", 51232)

    assert ingest([one, two], tmp_path / "out").launches == 2


def test_a_table_with_fewer_digits_is_of_the_same_launches(tmp_path: Path) -> None:
    one, two = table(tmp_path / "one.csv", 51231, 7), table(tmp_path / "two.csv", 51200, 7)

    assert ingest([one, two], tmp_path / "out").launches == 2


@pytest.mark.parametrize("place", ["file", "session", "kind"])
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("pipe", "not an ordinary file"),
        ("endless", "not an ordinary file"),
        ("folder", "a folder"),
        ("none", "no such"),
    ],
)
def test_what_is_no_file_is_never_opened(tmp_path: Path, place: str, what: str, said: str) -> None:
    path = tmp_path / "it"
    if what == "pipe":
        os.mkfifo(path)
    elif what == "endless":
        path.symlink_to("/dev/zero")
    elif what == "folder":
        path.mkdir()
    files = [path] if place != "session" else [DATA / "bare.ncu-rep"]

    with pytest.raises(UserError, match=rf"it: .*{said}"):
        ingest(
            files,
            tmp_path / "out",
            kind="ncu-raw" if place == "kind" else None,
            session=path if place == "session" else None,
        )


def test_a_kind_that_the_header_denies(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"it is ncu-raw and not ncu-details.*; give --kind ncu-raw"):
        ingest([DATA / "matmul.raw.base.csv"], tmp_path, kind="ncu-details")


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("suite", "", "the suite '' is empty; give one"),
        ("suite", "\udcff", "the suite 'U\\+DCFF' holds"),
        ("suite", "x" * 10_000, "the suite 'x{80}…' is longer than 200 bytes"),
        ("scenario", "", "the scenario '' is empty"),
        ("title", "", "the title is blank"),
        ("title", " \u200b\n", "the title is blank"),
        ("title", "a\x1b[2J", "the title holds a control character"),
        ("title", "a\udcff", "the title holds a control character or what is not Unicode"),
        ("kind", "", "'' is not a kind of file"),
        ("date", "", "'' is not a date"),
    ],
)
def test_an_option_that_cannot_be_kept_is_named_before_a_file_is_read(
    tmp_path: Path, option: str, value: str, said: str
) -> None:
    files = [DATA / "bare.ncu-rep"] if option == "date" else [tmp_path / "none"]
    with pytest.raises(UserError, match=f"^{said}"):
        ingest(files, tmp_path / "out", **{option: value})  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", [b"\xff\xfe.csv", b"con.csv", b"nul.raw.csv", b"a\nb%41.csv"])
def test_a_file_of_any_name_becomes_a_whole_bundle(tmp_path: Path, name: bytes) -> None:
    path = table(Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)), 1000)
    made = ingest([path], tmp_path / "out")

    assert verify(made.path) == ()
    assert open_bundle(made.path).samples()["value"].iloc[0] == 1000


def test_a_disk_that_fails_is_told_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path, source: str) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setitem(ingest_module._READERS, "ncu-rep", fail)
    with pytest.raises(UserError, match=r"bare.ncu-rep: cannot be read \(Input/output error\)"):
        ingest([DATA / "bare.ncu-rep"], tmp_path)


def test_a_derived_metric_without_any_value_is_noted(tmp_path: Path) -> None:
    made = ingest([table(tmp_path / "a.csv", 1000)], tmp_path / "out", derived=["x=m/time", "y=1/time"])

    assert [note for note in made.notes if note.startswith(("x:", "y:"))] == [
        note for note in made.notes if note.startswith("x: no row has a value; ")
    ]
    assert any("'m'" in note or " m" in note for note in made.notes if note.startswith("x:"))
