"""Each command: what it calls, what it prints, how it ends."""

from __future__ import annotations

import io
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reportgen.cli import import_
from reportgen.cli.guard import Stopped
from reportgen.evidence import provenance, samples
from reportgen.evidence.bundle import BundleInfo, create
from reportgen.evidence.errors import UserError
from reportgen.evidence.verify import Fault
from reportgen.publish.site import Built, StrictError
from reportgen.readers.recognise import KINDS
from reportgen.workflow.collection import Collected
from reportgen.workflow.ingest import Imported
from tests.cli.conftest import Run


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    frame = samples.make(
        {
            "suite": "s",
            "benchmark": "b",
            "backend": "ncu",
            "workload": "kernel",
            "scenario": "default",
            "param:n": "512",
            "annotation": "fp32",
            "run": [0, 1],
            "kernel_index": 0,
            "kernel": "k<a, b>",
            "metric": ["gpu__time_duration.sum", "launch__name"],
            "value": [1234.5, math.nan],
            "unit": ["ns", ""],
            "state": "ok",
            "source": ["data/import/a.csv#L2", "data/import/a.csv#L3"],
            "text": ["", 'a & b "c", d<e>'],
        },
        2,
    )
    info = BundleInfo(suite="s", title="S", start="20261130T211006Z", status="imported")
    known = provenance.from_facts({"gpu.name": "NVIDIA H200"}, "the file does not say it")
    return create(tmp_path, info, known, {"import/a.csv": b"x\n"}, frame)


# import


def imported(*, losses: tuple[str, ...] = ()) -> Imported:
    return Imported(Path("out/s/1"), "s-1", 30, 8460, losses, ("no driver version is in it",))


def test_import_hands_over_what_was_asked_for(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    called: dict[str, Any] = {}

    def ingest(files: list[Path], out: Path, **options: object) -> Imported:
        called.update(options, files=files, out=out)
        return imported()

    monkeypatch.setattr("reportgen.workflow.ingest.ingest", ingest)
    ran = run("import", "a.ncu-rep", "b.csv", "--out", tmp_path, "--suite", "s", "--title", "T", "--date", "2026-11-30")

    assert ran.code == 0
    assert called["files"] == [Path("a.ncu-rep"), Path("b.csv")]
    assert called["out"] == tmp_path
    assert (called["suite"], called["title"], called["date"]) == ("s", "T", "2026-11-30")
    assert called["kind"] is called["scenario"] is called["session"] is None
    assert ran.out == "note: no driver version is in it\ns-1: 30 launches, 8,460 samples, whole\nout/s/1\n"


def test_a_partial_import_is_exit_code_1(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lost = ("a.ncu-rep: the last of 30 launches is cut off",)
    monkeypatch.setattr("reportgen.workflow.ingest.ingest", lambda *_, **__: imported(losses=lost))
    ran = run("import", "a.ncu-rep", "--out", tmp_path)

    assert ran.code == 1
    assert "partial" in ran.out
    assert ran.err == "reportgen: warning: not read: a.ncu-rep: the last of 30 launches is cut off\n"


def test_import_as_json(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("reportgen.workflow.ingest.ingest", lambda *_, **__: imported())
    facts = json.loads(run("import", "a.ncu-rep", "--out", tmp_path, "--json").out)

    assert facts["path"] == "out/s/1"
    assert facts["launches"] == 30
    assert facts["partial"] is False


def test_the_kinds_in_the_help_are_the_readers(run: Run) -> None:
    assert sorted(import_.KINDS) == sorted(KINDS)


# verify


def test_verify_says_ok_with_the_digest(run: Run, bundle: Path) -> None:
    ran = run("verify", bundle)

    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("ok: 9 files, digest ") or ran.out.startswith("ok: ")
    assert ran.out.strip().split()[-1][:12] == bundle.name.split("-")[1]


def test_verify_names_each_fault_and_ends_with_1(run: Run, bundle: Path) -> None:
    (bundle / "data/import/a.csv").write_bytes(b"y\n")
    (bundle / "data/import/b.csv").write_bytes(b"new\n")
    ran = run("verify", bundle)

    assert ran.code == 1
    assert len(ran.out.splitlines()) >= 2
    assert "data/import/a.csv" in ran.out
    assert "data/import/b.csv" in ran.out


def test_verify_as_json(run: Run, monkeypatch: pytest.MonkeyPatch, bundle: Path) -> None:
    whole = json.loads(run("verify", bundle, "--json").out)
    monkeypatch.setattr("reportgen.evidence.verify.verify", lambda _: (Fault("a", "is gone"),))
    faulty = run("verify", bundle, "--json")

    assert whole["ok"]
    assert whole["digest"].startswith(bundle.name.split("-")[1])
    assert faulty.code == 1
    assert json.loads(faulty.out)["faults"] == [{"file": "a", "what": "is gone"}]


def test_verify_of_nothing_is_wrong_use(run: Run, tmp_path: Path) -> None:
    ran = run("verify", tmp_path / "none")

    assert ran.code in {1, 2}
    assert "Traceback" not in ran.err


# samples


def test_samples_as_csv_come_back_exactly(run: Run, bundle: Path) -> None:
    ran = run("samples", bundle)
    frame = pd.read_csv(io.StringIO(ran.out), keep_default_na=False)

    assert ran.code == 0
    assert list(frame.columns) == samples.columns(["param:n"])
    assert frame["value"].tolist() == ["1234.5", ""]
    assert frame["text"].tolist() == ["", 'a & b "c", d<e>']


def test_samples_as_json_are_strict(run: Run, bundle: Path) -> None:
    rows = json.loads(run("samples", bundle, "--format", "json").out, parse_constant=pytest.fail)

    assert [row["value"] for row in rows] == [1234.5, None]
    assert [row["run"] for row in rows] == [0, 1]
    assert rows[0]["process"] is None
    assert rows[0]["param:n"] == "512"


def test_processed_samples(run: Run, bundle: Path) -> None:
    rows = json.loads(run("samples", bundle, "--processed", "--format", "json").out, parse_constant=pytest.fail)
    time = next(row for row in rows if row["Metric"] == "gpu__time_duration.sum")

    assert (time["Annotation"], time["n"], time["AvgValue"], time["NumRuns"]) == ("fp32", 512, 1234.5, 1)
    assert time["GPU"] == "NVIDIA H200"


def test_parquet_without_pyarrow_says_what_to_install(run: Run, bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reportgen.cli.samples.find_spec", lambda _: None)
    ran = run("samples", bundle, "--format", "parquet")

    assert ran.code == 3
    assert "pip install 'reportgen[analytics]'" in ran.err


# render


def test_render_asks_for_html_and_pdf_and_says_where(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    called: list[tuple[object, ...]] = []

    def render(*args: object) -> list[Path]:
        called.append(args)
        return [tmp_path / "dossier.html", tmp_path / "dossier.pdf"]

    monkeypatch.setattr("reportgen.dossier.render.render", render)
    ran = run("render", "b", "--out", tmp_path)
    run("render", "b", "--out", tmp_path, "--format", "json", "--tier", "public", "--paper", "letter")

    assert called[0] == (Path("b"), tmp_path, ("html", "pdf"), "full", "a4", None)
    assert called[1] == (Path("b"), tmp_path, ("json",), "public", "letter", None)
    assert ran.out == f"{tmp_path}/dossier.html\n{tmp_path}/dossier.pdf\n"


# build


@dataclass
class FakeBuild:
    warnings: tuple[str, ...] = ()
    strict: bool = False

    def __call__(self, site: Path, **options: object) -> Built:
        self.options = options
        if options["strict"] and self.warnings:
            raise StrictError(site, self.warnings)
        return Built(site / "public/index.html", "public", 3, 1, 2, self.warnings)


def test_build_says_what_it_did_and_where_the_front_page_is(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    build = FakeBuild(("bundles/a: spoiled",))
    monkeypatch.setattr("reportgen.publish.site.build", build)
    ran = run("build", tmp_path, "--jobs", "2")

    assert ran.code == 0
    assert build.options == {"jobs": 2, "strict": False, "tier": None}
    assert ran.err == "reportgen: warning: bundles/a: spoiled\n"
    assert ran.out.startswith("3 dossiers: 1 rendered, 2 unchanged, in 0.")
    assert f"front page: {tmp_path}/public/index.html\n" in ran.out
    assert f"file://{tmp_path}/public/index.html\n" in ran.out


def test_a_strict_build_with_warnings_is_exit_code_1(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("reportgen.publish.site.build", FakeBuild(("bundles/a: spoiled", "bundles/b: spoiled")))
    ran = run("build", tmp_path, "--strict")

    assert ran.code == 1
    assert ran.out == ""
    assert ran.err.count("reportgen: warning:") == 2
    assert ran.err.splitlines()[-1].startswith(f"reportgen: error: {tmp_path}: 2 warnings in a strict build")


def test_build_as_json(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("reportgen.publish.site.build", FakeBuild())
    facts = json.loads(run("build", tmp_path, "--json").out)

    assert facts["rendered"] == 1
    assert facts["url"] == f"file://{tmp_path}/public/index.html"


# serve


def test_serve_of_a_site_that_is_not_built_says_what_to_run(run: Run, tmp_path: Path) -> None:
    ran = run("serve", tmp_path)

    assert ran.code == 2
    assert f"reportgen build {tmp_path}" in ran.err


def test_a_user_error_ends_any_command_in_one_line(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def ingest(*_: object, **__: object) -> Imported:
        raise UserError("a.ncu-rep", "is empty", "copy it again")

    monkeypatch.setattr("reportgen.workflow.ingest.ingest", ingest)
    ran = run("import", "a.ncu-rep", "--out", tmp_path)

    assert (ran.code, ran.out, ran.err) == (2, "", "reportgen: error: a.ncu-rep: is empty; copy it again\n")


@pytest.mark.parametrize(("stop", "code"), [(KeyboardInterrupt(), 130), (Stopped(15), 143)])
def test_a_collection_that_is_stopped_says_once_how_to_go_on(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stop: BaseException, code: int
) -> None:
    def stopped(*_: object) -> None:
        raise stop

    monkeypatch.setattr("reportgen.workflow.collection.collect", stopped)

    ran = run("collect", "mine.py", "--out", tmp_path)

    assert ran.code == code
    assert ran.err == "reportgen: stopped; what is whole stays, and the same command with --resume goes on\n"


def test_a_bundle_is_named_as_soon_as_it_is_whole(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(suite: Path, out: Path, asked: object, progress: object) -> Collected:
        if suite.name == "b.py":
            raise UserError(suite, "it is wrong", "mend it")
        return Collected(out / "a" / "x", "a-x", {"ok": 3}, {}, resumable=False)

    monkeypatch.setattr("reportgen.workflow.collection.collect", measured)

    ran = run("collect", "a.py", "b.py", "--out", tmp_path)

    assert ran.out == f"a-x: 3 ok\n{tmp_path / 'a' / 'x'}\n"
    assert "it is wrong" in ran.err
    assert ran.code == 2
