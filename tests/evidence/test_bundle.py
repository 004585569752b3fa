"""Bundles are made, found again and opened; what was changed is never read silently."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import bagit
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.evidence import bundle, samples, tables, write
from reportgen.evidence.bundle import Formula, open_bundle, slug
from reportgen.evidence.errors import BundleError, UserError
from tests.evidence.making import REPORT, START, assert_same, facts, info, make, report, rows_of, table


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder by its path."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def rewrite(folder: Path, name: str, data: bytes) -> None:
    """Change a payload file and make every manifest agree with it again, as a forger would."""
    (folder / name).write_bytes(data)
    payload = {n: hashlib.sha256(d).hexdigest() for n, d in contents(folder).items() if n.startswith("data/")}
    (folder / bundle.MANIFEST).write_bytes(bundle.manifest_bytes(payload))
    tags = {n: hashlib.sha256((folder / n).read_bytes()).hexdigest() for n in bundle.TAGGED}
    (folder / bundle.TAG_MANIFEST).write_bytes(bundle.manifest_bytes(tags))


class TestCreate:
    def test_lies_as_the_design_says(self, tmp_path: Path) -> None:
        made = make(tmp_path)
        digest = hashlib.sha256((made / "tagmanifest-sha256.txt").read_bytes()).hexdigest()
        assert made == tmp_path / "matmul" / f"{START}-{digest[:12]}"
        assert sorted(contents(made)) == [
            "bag-info.txt",
            "bagit.txt",
            "data/bundle.json",
            "data/empty.txt",
            "data/import/größe & <16>.ncu-rep",
            "data/provenance.json",
            "data/samples/cupti/default/raw.csv",
            "data/samples/ncu/default/constants.csv",
            "data/samples/ncu/default/processed.csv",
            "data/samples/ncu/default/raw.csv",
            "data/suite/matmul.py",
            "manifest-sha256.txt",
            "tagmanifest-sha256.txt",
        ]
        assert [path.name for path in (tmp_path / "matmul").iterdir()] == [made.name]

    def test_bagit_calls_it_valid(self, tmp_path: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bag = bagit.Bag(str(make(tmp_path)))
            bag.validate()
        assert bag.version_info == (1, 0)
        assert bag.info["External-Identifier"] == f"matmul-{START}"
        assert bag.info["Bagging-Date"] == "2026-11-30"

    def test_sha256sum_checks_it(self, tmp_path: Path) -> None:
        made = make(tmp_path)
        for manifest in (bundle.MANIFEST, bundle.TAG_MANIFEST):
            ended = subprocess.run(
                ["sha256sum", "--strict", "-c", manifest], cwd=made, check=False, capture_output=True, text=True
            )
            assert ended.returncode == 0, ended.stdout + ended.stderr

    def test_the_same_input_gives_the_same_bytes(self, tmp_path: Path) -> None:
        source = tmp_path / "report"
        source.write_bytes(REPORT)
        one = make(tmp_path / "one", payload={"a/b": b"1", "import/r": REPORT})
        other = make(tmp_path / "other", payload={"import/r": source, "a/b": b"1"})
        assert one.name == other.name
        assert contents(one) == contents(other)

    def test_other_input_gives_another_bundle_beside(self, tmp_path: Path) -> None:
        assert make(tmp_path) != make(tmp_path, info=info(title="Another"))
        assert len(list((tmp_path / "matmul").iterdir())) == 2

    def test_a_bundle_that_stands_there_is_left_as_it_is(self, tmp_path: Path) -> None:
        made = make(tmp_path)
        before = {p: (p.stat().st_mtime_ns, p.stat().st_ino) for p in made.rglob("*")}
        assert make(tmp_path) == made
        assert {p: (p.stat().st_mtime_ns, p.stat().st_ino) for p in made.rglob("*")} == before

    def test_another_process_may_be_quicker(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write_it = bundle._write

        def slower(target: Path, entries: Any) -> None:
            write_it(target, entries)
            write_it(target, entries)

        monkeypatch.setattr(bundle, "_write", slower)
        assert open_bundle(make(tmp_path)).info.suite == "matmul"

    def test_something_else_under_its_name_is_an_error(self, tmp_path: Path) -> None:
        made = make(tmp_path)
        (made / "bagit.txt").unlink()
        with pytest.raises(UserError, match="stands there already, and is spoiled"):
            make(tmp_path)

    def test_a_file_under_its_name_is_an_error(self, tmp_path: Path) -> None:
        made = make(tmp_path)
        shutil.rmtree(made)
        made.touch()
        with pytest.raises(UserError, match="exists already"):
            make(tmp_path)

    @pytest.mark.parametrize("name", ["data/import/r.ncu-rep", "data/extra", "data/provenance.json"])
    def test_a_spoiled_bundle_is_not_taken_for_the_same(self, tmp_path: Path, name: str) -> None:
        made = make(tmp_path, payload={"import/r.ncu-rep": b"r"})
        (made / name).write_bytes(b"changed")
        with pytest.raises(UserError, match="is spoiled; remove it"):
            make(tmp_path, payload={"import/r.ncu-rep": b"r"})

    @pytest.mark.parametrize("below", [".", "data/import", "not/there"])
    def test_nothing_is_made_inside_a_bundle(self, tmp_path: Path, below: str) -> None:
        made = make(tmp_path)
        (tmp_path / "link").symlink_to(made)
        before = contents(made)
        for place in (made / below, tmp_path / "link" / below):
            with pytest.raises(UserError, match=r"lies in the bundle .* which must not change"):
                make(place, info=info(title="another"))
        assert contents(made) == before

    def test_a_failure_leaves_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="No such file"):
            make(tmp_path, payload={"import/r": tmp_path / "missing"})
        assert list(tmp_path.iterdir()) == []

    def test_a_source_that_changes_meanwhile_is_an_error(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        source = tmp_path / "report"
        source.write_bytes(b"one")
        copy = write.copy_file

        def late(one: Path, other: Path, **how: bool) -> None:
            source.write_bytes(b"two")
            copy(one, other, **how)

        monkeypatch.setattr(write, "copy_file", late)
        with pytest.raises(UserError, match="was changed while it was copied"):
            make(tmp_path / "out", payload={"import/r": source})
        assert not (tmp_path / "out").exists()

    def test_states_are_counted(self, tmp_path: Path) -> None:
        bad = table([{"state": "failed", "reason": "nan", "value": None}, {}])
        opened = open_bundle(make(tmp_path, samples=bad, info=info(states={"ok": 99})))
        assert opened.info.states == {"ok": 1, "failed": 1}

    def test_long_tables_are_compressed(self, tmp_path: Path) -> None:
        frame = samples.concat([report(3000), report(2, "data/import/o")])
        long = tables.frame_to_csv(pd.DataFrame({"Host": ["h"] * 600_000}))
        opened = open_bundle(make(tmp_path, samples=frame, processed={("ncu", "default"): long}))
        names = [file.path for file in opened.files() if file.path.startswith("data/samples/")]
        assert names == [
            "data/samples/ncu/default/constants.csv",
            "data/samples/ncu/default/processed.csv.zst",
            "data/samples/ncu/default/raw.csv.zst",
        ]
        assert_same(opened.samples(), frame)

    def test_no_constants_no_file(self, tmp_path: Path) -> None:
        names = [file.path for file in open_bundle(make(tmp_path, samples=report(1))).files()]
        assert "data/samples/ncu/default/constants.csv" not in names

    def test_an_empty_table_makes_a_bundle(self, tmp_path: Path) -> None:
        opened = open_bundle(make(tmp_path, samples=samples.concat([]), processed={}))
        assert len(opened.samples()) == 0
        assert opened.info.states == {}


class TestNames:
    @pytest.mark.parametrize(
        ("name", "what"),
        [
            ("", "is empty"),
            ("..", "dot"),
            (".hidden", "dot"),
            ("a.", "dot"),
            ("a/b", "slash"),
            ("a\\b", "backslash"),
            ("a\nb", "cannot be printed"),
            ("a\0b", "cannot be printed"),
            ("a\u202eb", "cannot be printed"),
            ("100%", "percent"),
            (" a", "space"),
            ("a ", "space"),
            ("NUL", "device"),
            ("com1.txt", "device"),
            ("ä" * 101, "longer than 200 bytes"),
        ],
    )
    def test_an_unsafe_suite_is_refused_with_the_mend(self, tmp_path: Path, name: str, what: str) -> None:
        with pytest.raises(UserError, match=what) as caught:
            make(tmp_path, info=info(suite=name))
        assert caught.value.mend
        assert caught.value.exit_code == 2
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("names", "what"),
        [
            (["../x"], "dot"),
            (["/etc/passwd"], "is empty"),
            (["a//b"], "is empty"),
            (["a/"], "is empty"),
            (["a/./b"], "dot"),
            (["a\\b"], "backslash"),
            (["import/100%.ncu-rep"], "percent"),
            (["a\rb"], "cannot be printed"),
            (["bundle.json"], "reserved"),
            (["Provenance.json"], "reserved"),
            (["samples/ncu/x"], "reserved"),
            (["import/A", "import/a"], "differ only in case"),
            (["import/a\u0308", "import/ä"], "differ only in case"),
            (["Import/a", "import/b"], "differ only in case"),
            (["a", "a/b"], "is a file and a folder"),
        ],
    )
    def test_an_unsafe_payload_is_refused(self, tmp_path: Path, names: list[str], what: str) -> None:
        with pytest.raises(UserError, match=what):
            make(tmp_path, payload=dict.fromkeys(names, b""))
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("column", ["backend", "scenario"])
    @pytest.mark.parametrize("name", ["", "..", "a/b"])
    def test_an_unsafe_backend_or_scenario_is_refused(self, tmp_path: Path, column: str, name: str) -> None:
        with pytest.raises(UserError, match=f"the {column} '"):
            make(tmp_path, samples=table([{column: name}]), processed={})

    def test_scenarios_that_clash_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="differ only in case"):
            make(tmp_path, samples=table([{"scenario": "cold"}, {"scenario": "Cold"}]), processed={})

    def test_a_processed_table_without_samples_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="has no samples"):
            make(tmp_path, processed={("ncu", "strict"): b"x\n"})

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Größe 16/fp16", "Größe-16-fp16"),
            ("日本語", "日本語"),
            ("../../etc", "etc"),
            ("a  b\n\tc", "a-b-c"),
            ("e\u0301", "é"),
            ("", "unnamed"),
            ("///", "unnamed"),
            ("con", "con-"),
            ("nul.txt", "nul-.txt"),
            ("CON.ncu.csv", "CON-.ncu.csv"),
            ("v1.2..3", "v1.2.3"),
        ],
    )
    def test_slug(self, text: str, expected: str) -> None:
        assert slug(text) == expected

    @given(st.text())
    def test_a_slug_is_always_safe(self, text: str) -> None:
        assert bundle.check_name(slug(text)) == slug(slug(text))

    @given(st.dictionaries(st.text("ab%\r\n05AD/ ", min_size=1), st.just("0" * 64), max_size=5))
    def test_manifest_names_come_back(self, digests: dict[str, str]) -> None:
        good = {f"data/x{name}/y": d for name, d in digests.items() if "//" not in f"x{name}/y"}
        assert bundle.parse_manifest(bundle.manifest_bytes(good), "m") == good

    def test_cr_lf_and_percent_are_encoded(self) -> None:
        assert bundle.manifest_bytes({"data/a%\r\nb": "0" * 64}) == b"0" * 64 + b"  data/a%25%0D%0Ab\n"


class TestInfo:
    def test_comes_back(self, tmp_path: Path) -> None:
        opened = open_bundle(make(tmp_path, info=info(losses=("one",), question="Why?", prose="# Text")))
        expected = dataclasses.replace(info(losses=("one",), question="Why?", prose="# Text"), states={"ok": 13})
        assert opened.info == expected
        assert opened.info.formulas == (Formula("TFLOP/s", "2*n**3 / time / 1e12", "TFLOP/s"),)
        assert opened.info.id == f"matmul-{START}"
        assert opened.info.partial
        assert opened.provenance == facts()

    @pytest.mark.parametrize(
        ("over", "what"),
        [
            ({"start": "2026-11-30"}, "is not a time in UTC"),
            ({"start": "20261301T000000Z"}, "is not a time in UTC"),
            ({"start": "2026130T211006Z"}, "is not a time in UTC"),
            ({"status": "fine"}, "is not one of complete, partial, imported"),
            ({"plan": {"x": float("nan")}}, "cannot be kept as JSON"),
            ({"plan": {"x": object()}}, "cannot be kept as JSON"),
        ],
    )
    def test_a_wrong_one_is_refused(self, tmp_path: Path, over: dict[str, Any], what: str) -> None:
        with pytest.raises(UserError, match=what):
            make(tmp_path, info=info(**over))

    @pytest.mark.parametrize(
        ("change", "what"),
        [
            ({"format": 2, "more": 1}, "needs reportgen with bundle format 2; this is .*, which opens up to 1"),
            ({"format": "1"}, "no format version"),
            ({"more": 1}, r"holds unknown \['more'\]"),
            ({"suite": 1}, "'suite' is not a str"),
            ({"plan": []}, "'plan' is not an object"),
            ({"losses": [1]}, "'losses' holds"),
            ({"formulas": [{"metric": "a"}]}, "'formulas' holds"),
            ({"suite": "../x"}, "the suite '../x'"),
            ({"id": "other"}, "'id' is 'other'"),
            ({"states": {"fine": 1}}, "'states' does not count"),
            ({"states": {"ok": -1}}, "'states' does not count"),
        ],
    )
    def test_a_forged_one_is_refused_when_it_is_opened(self, tmp_path: Path, change: dict[str, Any], what: str) -> None:
        made = make(tmp_path)
        whole = json.loads((made / bundle.INFO).read_bytes())
        rewrite(made, bundle.INFO, json.dumps({**whole, **change}).encode())
        with pytest.raises(BundleError, match=what) as caught:
            open_bundle(made)
        assert caught.value.path == str(made / bundle.INFO)


class TestOpen:
    def test_samples_come_back_expanded(self, tmp_path: Path) -> None:
        opened = open_bundle(make(tmp_path))
        expected = samples.concat(
            [report(), table([{"backend": "cupti", "metric": "time", "source": "data/import/x#L2"}])]
        )
        got = opened.samples().astype({"source": "object"})
        assert len(got) == len(expected)
        assert rows_of(got[got["backend"] == "ncu"]) == rows_of(report())
        assert len(opened.raw()) == 7
        assert len(opened.constants()) == 2

    def test_a_callers_change_stays_its_own(self, tmp_path: Path) -> None:
        opened = open_bundle(make(tmp_path))
        first = opened.samples()
        first.loc[0, "value"] = 7.0
        first["unit"] = "changed"
        assert 7.0 not in set(opened.samples()["value"])
        assert "changed" not in set(opened.samples()["unit"])

    def test_files_by_the_manifests(self, tmp_path: Path) -> None:
        made = make(tmp_path)
        opened = open_bundle(made)
        assert {f.path: (f.size, f.sha256) for f in opened.files()} == {
            name: (len(data), hashlib.sha256(data).hexdigest()) for name, data in contents(made).items()
        }
        assert opened.version == opened.digest[:12] == made.name[-12:]
        assert opened.read("data/import/größe & <16>.ncu-rep") == REPORT

    def test_opens_under_another_name(self, tmp_path: Path) -> None:
        made = make(tmp_path)
        other = made.rename(tmp_path / "elsewhere")
        assert open_bundle(str(other)).digest.startswith(made.name[-12:])

    @pytest.mark.parametrize("name", ["data/samples/ncu/default/raw.csv", "data/samples/ncu/default/constants.csv"])
    def test_a_changed_table_is_never_read(self, tmp_path: Path, name: str) -> None:
        made = make(tmp_path)
        data = (made / name).read_bytes()
        (made / name).write_bytes(data.replace(b"1", b"2", 1))
        opened = open_bundle(made)
        for read in (opened.samples, opened.raw, lambda: opened.read(name)):
            with pytest.raises(BundleError, match="was changed: its SHA-256") as caught:
                read()
            assert caught.value.path == str(made / name)

    @pytest.mark.parametrize("name", [*bundle.TAGGED, bundle.INFO, bundle.PROVENANCE, bundle.TAG_MANIFEST])
    def test_changed_or_missing_tag_and_json_files_are_found(self, tmp_path: Path, name: str) -> None:
        made = make(tmp_path)
        data = (made / name).read_bytes()
        (made / name).write_bytes(data + b"\n")
        with pytest.raises(BundleError) as caught:
            open_bundle(made)
        assert caught.value.path == str(made / name)
        (made / name).unlink()
        with pytest.raises(BundleError):
            open_bundle(made)

    def test_what_is_no_bundle_says_so(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"")
        (tmp_path / "folder").mkdir()
        (tmp_path / "bag").mkdir()
        (tmp_path / "bag" / "bagit.txt").write_bytes(b"BagIt-Version: 0.97\nTag-File-Character-Encoding: UTF-8\n")
        for name, what in {
            "missing": "does not exist",
            "file": "is not a folder",
            "folder": "holds no bagit.txt",
            "bag": "not a bundle of reportgen",
        }.items():
            with pytest.raises(BundleError, match=what) as caught:
                open_bundle(tmp_path / name)
            assert caught.value.exit_code == 2

    def test_a_foreign_bag_is_no_bundle(self, tmp_path: Path) -> None:
        made = make(tmp_path)
        (made / bundle.INFO).unlink()
        rewrite(made, "data/empty.txt", b"")
        with pytest.raises(BundleError, match="not in the manifest, so this is not a bundle of reportgen"):
            open_bundle(made)

    @pytest.mark.parametrize("line", ["../outside", "data/../../outside", "/etc/passwd", "data//x", "data/./x"])
    def test_a_manifest_never_leads_out(self, tmp_path: Path, line: str) -> None:
        made = make(tmp_path)
        manifest = (made / bundle.MANIFEST).read_bytes() + b"0" * 64 + b"  " + line.encode() + b"\n"
        (made / bundle.MANIFEST).write_bytes(manifest)
        tags = {n: hashlib.sha256((made / n).read_bytes()).hexdigest() for n in bundle.TAGGED}
        (made / bundle.TAG_MANIFEST).write_bytes(bundle.manifest_bytes(tags))
        with pytest.raises(BundleError, match="line 10 is not a digest"):
            open_bundle(made)

    def test_a_link_is_never_followed(self, tmp_path: Path) -> None:
        made = make(tmp_path)
        (made / "data" / "import").rename(tmp_path / "moved")
        (made / "data" / "import").symlink_to(tmp_path / "moved")
        with pytest.raises(BundleError, match="is a link"):
            open_bundle(made).read("data/import/größe & <16>.ncu-rep")

    def test_a_name_that_is_not_of_the_bundle(self, tmp_path: Path) -> None:
        made = make(tmp_path)
        (made / "data" / "extra").write_bytes(b"")
        for name in ("data/extra", "../x", "data"):
            with pytest.raises(BundleError, match="is not a file of this bundle"):
                open_bundle(made).read(name)
