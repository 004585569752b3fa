"""Every change to a bundle is found, and named by its file."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reportgen.evidence import bundle
from reportgen.evidence.errors import BundleError
from reportgen.evidence.verify import Fault, verify
from tests.evidence.making import make
from tests.evidence.test_bundle import contents, rewrite

RAW = "data/samples/ncu/default/raw.csv"
IMPORTED = "data/import/größe & <16>.ncu-rep"


@pytest.fixture
def made(tmp_path: Path) -> Path:
    return make(tmp_path)


def found(path: Path) -> dict[str, str]:
    """Return what is found, by file."""
    return {fault.file: fault.what for fault in verify(path)}


def files(path: Path) -> list[str]:
    return sorted(contents(path))


def test_a_whole_bundle_has_no_fault(made: Path) -> None:
    assert verify(made) == verify(str(made)) == ()


def test_under_a_name_without_a_digest_too(made: Path) -> None:
    assert verify(made.rename(made.parent / "release-1")) == ()


@pytest.mark.parametrize("named", [True, False], ids=["named by its digest", "renamed"])
def test_every_flipped_byte_in_every_file_is_found_by_name(made: Path, named: bool) -> None:
    if not named:
        made = made.rename(made.parent / "release-1")
    tried = 0
    for name, data in contents(made).items():
        for place in sorted({0, 1, len(data) // 3, len(data) // 2, len(data) - 2, len(data) - 1}):
            if not 0 <= place < len(data):
                continue
            for bit in (0x01, 0x20, 0x80):
                changed = bytearray(data)
                changed[place] ^= bit
                (made / name).write_bytes(bytes(changed))
                assert name in found(made), (name, place, bit)
                tried += 1
        (made / name).write_bytes(data)
    assert tried > 180
    assert verify(made) == ()


@pytest.mark.parametrize("name", [bundle.MANIFEST, bundle.TAG_MANIFEST])
def test_every_byte_of_a_manifest_counts(made: Path, name: str) -> None:
    """Each hex digit in another value and in upper case, each space, each letter of a path."""
    data = (made / name).read_bytes()
    for place in range(0, len(data), 1 if name == bundle.TAG_MANIFEST else 5):
        upper = data[place : place + 1].upper()
        for byte in {bytes([data[place] ^ 1]), upper} - {data[place : place + 1]}:
            (made / name).write_bytes(data[:place] + byte + data[place + 1 :])
            assert name in found(made), place


def test_a_digit_in_the_manifest_blames_the_manifest_and_not_the_file(made: Path) -> None:
    data = (made / bundle.MANIFEST).read_bytes()
    (made / bundle.MANIFEST).write_bytes(bytes([data[0] ^ 1]) + data[1:])
    assert bundle.MANIFEST in found(made)
    assert not any(name.startswith("data/") for name in found(made))


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[::-1],
        lambda lines: [*lines, lines[0]],
        lambda lines: lines[:-1],
        lambda lines: [*lines, b""],
        lambda lines: [line.upper() for line in lines],
        lambda lines: [line.replace(b"  ", b" *") for line in lines],
        lambda lines: [line + b"\r" for line in lines],
        lambda lines: [b"\xef\xbb\xbf" + lines[0], *lines[1:]],
        lambda lines: [],
    ],
)
@pytest.mark.parametrize("name", [bundle.MANIFEST, bundle.TAG_MANIFEST])
def test_a_manifest_in_another_form_is_found(
    made: Path, name: str, change: Callable[[list[bytes]], list[bytes]]
) -> None:
    made = made.rename(made.parent / "release-1")
    lines = (made / name).read_bytes().splitlines()
    (made / name).write_bytes(b"".join(line + b"\n" for line in change(lines)))
    assert name in found(made)


def test_a_reordered_manifest_that_the_tag_manifest_agrees_with_is_found(made: Path) -> None:
    made = made.rename(made.parent / "release-1")
    lines = (made / bundle.MANIFEST).read_bytes().splitlines(keepends=True)
    (made / bundle.MANIFEST).write_bytes(b"".join(reversed(lines)))
    tags = {n: hashlib.sha256((made / n).read_bytes()).hexdigest() for n in bundle.TAGGED}
    (made / bundle.TAG_MANIFEST).write_bytes(bundle.manifest_bytes(tags))
    assert found(made) == {bundle.MANIFEST: "does not stand in the order and form in which it was written"}


def test_every_removed_file_is_found_by_name(made: Path) -> None:
    for name, data in contents(made).items():
        (made / name).unlink()
        assert found(made)[name] == "is missing", name
        (made / name).write_bytes(data)
    assert verify(made) == ()


def test_one_missing_manifest_does_not_blame_the_payload(made: Path) -> None:
    (made / bundle.MANIFEST).unlink()
    assert list(found(made)) == [bundle.MANIFEST]


@pytest.mark.parametrize(
    "name",
    ["extra", ".hidden", "data/extra", "data/import/.DS_Store", "data/suite/matmul.py~", "data/new/file", "new/a"],
)
@pytest.mark.parametrize("data", [b"x", b""])
def test_every_added_file_is_found_by_name(made: Path, name: str, data: bytes) -> None:
    (made / name).parent.mkdir(exist_ok=True)
    (made / name).write_bytes(data)
    assert found(made) == {name: "is not of this bundle"}


def test_every_renamed_file_is_found_by_both_names(made: Path) -> None:
    for name in files(made):
        other = f"{name}.bak"
        (made / name).rename(made / other)
        faults = found(made)
        if name.startswith("data/") and name != "data/empty.txt":
            assert faults[name] == f"was renamed to '{other}'"
            assert faults[other] == f"was renamed from '{name}'"
        else:
            assert faults[name] == "is missing"
            assert faults[other] == "is not of this bundle"
        (made / other).rename(made / name)
    assert verify(made) == ()


def test_two_exchanged_files_are_two_changed_ones(made: Path) -> None:
    one, other = (made / RAW).read_bytes(), (made / IMPORTED).read_bytes()
    (made / RAW).write_bytes(other)
    (made / IMPORTED).write_bytes(one)
    assert set(found(made)) == {RAW, IMPORTED}
    assert all("was changed: its SHA-256" in what for what in found(made).values())


def test_links_and_special_files_are_never_followed(made: Path, tmp_path: Path) -> None:
    (made / IMPORTED).rename(tmp_path / "outside")
    (made / IMPORTED).symlink_to(tmp_path / "outside")
    (made / "data" / "folder").symlink_to(tmp_path, target_is_directory=True)
    (made / "data" / "loop").symlink_to(made / "data")
    (made / "dangling").symlink_to("nowhere")
    os.mkfifo(made / "data" / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        before = Path.cwd()
        os.chdir(made)  # a socket's path is short
        try:
            listening.bind("sock")
        finally:
            os.chdir(before)
        faults = found(made)
    for name in (IMPORTED, "data/folder", "data/loop", "dangling"):
        assert faults.pop(name) == "a link, which a bundle never holds"
    for name in ("data/pipe", "sock"):
        assert faults.pop(name) == "not a regular file, which a bundle never holds"
    assert faults == {}


@pytest.mark.parametrize("name", [*bundle.TAGGED, bundle.TAG_MANIFEST, bundle.INFO])
def test_a_link_in_place_of_any_file_is_found(made: Path, tmp_path: Path, name: str) -> None:
    (made / name).rename(tmp_path / "outside")
    (made / name).symlink_to(tmp_path / "outside")
    assert found(made)[name].startswith("a link")


def test_an_empty_folder_is_found(made: Path) -> None:
    (made / "data" / "import" / "empty").mkdir()
    assert found(made) == {"data/import/empty": "an empty folder, which a bundle never holds"}


def test_names_that_clash_are_found(made: Path) -> None:
    (made / "data" / "Empty.txt").write_bytes(b"")
    (made / "data" / "Import").mkdir()
    (made / "data" / "Import" / "x").write_bytes(b"x")
    whole = [fault for fault in verify(made) if "clashes" in fault.what]
    assert {fault.what.split("'")[1] for fault in whole} & {"data/Empty.txt", "data/empty.txt"}
    assert any("data/Import" in fault.what for fault in whole)


def test_a_name_that_is_not_utf_8_is_found(made: Path) -> None:
    Path(os.fsdecode(os.fsencode(made / "data") + b"/\xff")).write_bytes(b"x")
    faults = verify(made)
    assert [fault.what for fault in faults] == ["is not of this bundle"]


def test_the_folders_name_is_held_against_the_digest(made: Path) -> None:
    start, digest = made.name.split("-")
    other = made.rename(made.parent / f"{start}-{'0' * 12}")
    assert "the folder was renamed" in found(other)[bundle.TAG_MANIFEST]
    upper = other.rename(made.parent / f"{start}-{digest.upper()}")
    assert digest == digest.upper() or bundle.TAG_MANIFEST in found(upper)
    day = upper.rename(made.parent / f"20261129T211006Z-{digest}")
    assert found(day) == {".": "the folder's name says 20261129T211006Z, the bundle's start is 20261130T211006Z"}


def test_a_forger_who_mends_every_manifest_is_found_by_the_folders_name(made: Path) -> None:
    rewrite(made, RAW, (made / RAW).read_bytes().replace(b"1000.25", b"1000.75"))
    assert bundle.TAG_MANIFEST in found(made)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"Payload-Oxum: ", b"Payload-Oxum: 1"),
        (b"2026-11-30", b"2026-11-29"),
        (b"matmul-2026", b"other-2026"),
        (b"\n", b"\n\n"),
    ],
)
def test_bag_info_is_made_anew_and_compared(made: Path, old: bytes, new: bytes) -> None:
    made = made.rename(made.parent / "release-1")
    (made / bundle.BAG_INFO).write_bytes((made / bundle.BAG_INFO).read_bytes().replace(old, new, 1))
    rewrite(made, "data/empty.txt", b"")
    assert "does not say what the files give" in found(made)[bundle.BAG_INFO]


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        (bundle.INFO, b'{"format": 2}', "needs reportgen with bundle format 2"),
        (bundle.INFO, b"{}", "has no format version"),
        (bundle.PROVENANCE, b'{"format": 9}', "needs reportgen with bundle format 9"),
    ],
)
def test_the_format_version_is_checked(made: Path, name: str, data: bytes, what: str) -> None:
    made = made.rename(made.parent / "release-1")
    rewrite(made, name, data)
    assert what in found(made)[name]


@pytest.mark.parametrize("name", [bundle.INFO, bundle.PROVENANCE])
def test_a_bag_without_our_json_is_faulty(made: Path, name: str) -> None:
    made = made.rename(made.parent / "release-1")
    (made / name).unlink()
    rewrite(made, "data/empty.txt", b"")
    assert found(made)[name] == "is missing"


def test_another_declaration_is_found_though_the_manifests_agree(made: Path) -> None:
    made = made.rename(made.parent / "release-1")
    (made / bundle.BAGIT).write_bytes(bundle.DECLARATION.replace(b"1.0", b"0.97"))
    rewrite(made, "data/empty.txt", b"")
    assert found(made)[bundle.BAGIT] == "is not the declaration of a BagIt 1.0 bag"


def test_faults_are_sorted_and_plain(made: Path) -> None:
    (made / "z").write_bytes(b"")
    (made / "a").write_bytes(b"")
    assert verify(made) == (Fault("a", "is not of this bundle"), Fault("z", "is not of this bundle"))


def test_what_is_no_bundle_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    for name, what in {"missing": "does not exist", "file": "is not a folder", "folder": "no bagit.txt"}.items():
        with pytest.raises(BundleError, match=what):
            verify(tmp_path / name)


def test_a_folder_that_cannot_be_read_is_a_fault(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scan = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "suite":
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert found(made)["data/suite"] == "cannot be read: Permission denied"


def test_streams_in_little_memory(made: Path) -> None:
    with (made / "data" / "big").open("wb") as file:
        file.truncate(128 << 20)
    code = (
        "import resource, sys\n"
        "from reportgen.evidence.verify import verify\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "assert verify(sys.argv[1])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(made)], check=True, capture_output=True, text=True)
    assert int(ended.stdout) < 20_000  # KiB


def test_a_copy_verifies(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made, tmp_path / "copy" / made.name)
    assert verify(tmp_path / "copy" / made.name) == ()
