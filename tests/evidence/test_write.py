"""Output files appear whole or not at all."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from reportgen.evidence import write
from reportgen.evidence.errors import EnvironmentLacks, UserError


def tree(folder: Path) -> list[str]:
    """Return all that stands in `folder`, hidden names too."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.fixture
def without_renameat2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "_renameat2", lambda source, target, flags: False)


class TestWriteFile:
    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            (b"abc\r\n", b"abc\r\n"),
            ("größe\n", "größe\n".encode()),
            (iter([b"a", b"", b"bc"]), b"abc"),
            ([b"x"], b"x"),
            (b"", b""),
            (bytearray(b"yz"), b"yz"),
        ],
    )
    def test_writes_bytes_text_and_pieces(self, tmp_path: Path, data: bytes, expected: bytes) -> None:
        write.write_file(tmp_path / "a" / "b" / "file", data)
        assert (tmp_path / "a" / "b" / "file").read_bytes() == expected
        assert tree(tmp_path) == ["a", "a/b", "a/b/file"]

    def test_replaces_what_stood_there(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"a long old text")
        write.write_file(tmp_path / "file", "new")
        assert (tmp_path / "file").read_bytes() == b"new"

    @pytest.mark.parametrize("failure", [ValueError("mine"), KeyboardInterrupt(), OSError(errno.EIO, "the source's")])
    def test_a_failure_in_the_data_leaves_the_old_file_and_nothing_else(
        self, tmp_path: Path, failure: BaseException
    ) -> None:
        (tmp_path / "file").write_bytes(b"old")

        def pieces() -> Iterator[bytes]:
            yield b"half"
            raise failure

        with pytest.raises(type(failure)) as caught:
            write.write_file(tmp_path / "file", pieces())
        assert caught.value is failure
        assert (tmp_path / "file").read_bytes() == b"old"
        assert tree(tmp_path) == ["file"]

    @pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
    def test_honours_the_umask(self, tmp_path: Path, mask: int) -> None:
        before = os.umask(mask)
        try:
            write.write_file(tmp_path / "file", b"x")
            with write.new_folder(tmp_path / "new"):
                pass
            with write.swap_folder(tmp_path / "swapped"):
                pass
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o666 & ~mask
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o777 & ~mask
        assert stat.S_IMODE((tmp_path / "swapped").stat().st_mode) == 0o777 & ~mask

    def test_what_a_killed_process_left_disturbs_nobody(self, tmp_path: Path) -> None:
        code = (
            "import os, signal, sys\n"
            "from reportgen.evidence import write\n"
            "def pieces():\n"
            "    yield b'half'\n"
            "    os.kill(os.getpid(), signal.SIGKILL)\n"
            "write.write_file(sys.argv[1], pieces())\n"
        )
        for _ in range(2):
            ended = subprocess.run([sys.executable, "-c", code, str(tmp_path / "file")], check=False)
            assert ended.returncode == -signal.SIGKILL
        left = tree(tmp_path)
        assert len(left) == 2
        assert all(name.startswith(write.PARTIAL) for name in left)
        write.write_file(tmp_path / "file", b"whole")
        assert (tmp_path / "file").read_bytes() == b"whole"
        assert tree(tmp_path) == sorted([*left, "file"])

    def test_goes_through_a_link_and_keeps_it(self, tmp_path: Path) -> None:
        (tmp_path / "real").write_bytes(b"old")
        (tmp_path / "link").symlink_to("real")
        write.write_file(tmp_path / "link", b"new")
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "real").read_bytes() == b"new"

    def test_takes_a_name_of_255_bytes(self, tmp_path: Path) -> None:
        write.write_file(tmp_path / ("n" * 255), b"x")
        assert tree(tmp_path) == ["n" * 255]

    @pytest.mark.parametrize(
        ("name", "what"),
        [
            ("n" * 256, "the name is too long"),
            ("folder", "is a folder, not a file"),
            ("file/below", "a part of the path is a file"),
            ("nul\0name", "not a file name"),
            ("pipe", "not a regular file"),
        ],
    )
    def test_a_place_that_refuses_is_named_in_one_line(self, tmp_path: Path, name: str, what: str) -> None:
        (tmp_path / "folder").mkdir()
        (tmp_path / "file").write_bytes(b"")
        os.mkfifo(tmp_path / "pipe")
        before = tree(tmp_path)
        with pytest.raises(UserError) as caught:
            write.write_file(tmp_path / name, b"x")
        assert caught.value.exit_code == 2
        assert what in caught.value.line
        assert caught.value.path == str(tmp_path / name)
        assert "\n" not in caught.value.line
        assert "\0" not in caught.value.line
        assert tree(tmp_path) == before

    @pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.EPERM])
    def test_a_read_only_place_is_exit_2(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
        def refuse(*_: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "replace", refuse)
        with pytest.raises(UserError, match="choose a folder that you may write to") as caught:
            write.write_file(tmp_path / "file", b"x")
        assert caught.value.exit_code == 2
        assert tree(tmp_path) == []

    @pytest.mark.parametrize(
        ("number", "what"), [(errno.ENOSPC, "no space is left"), (errno.EDQUOT, "quota is used up")]
    )
    def test_a_full_disk_is_exit_3_with_the_mend(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, what: str
    ) -> None:
        def full(*_: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(EnvironmentLacks, match=what) as caught:
            write.write_file(tmp_path / "file", b"x")
        assert caught.value.exit_code == 3
        assert "free some space" in caught.value.line
        assert str(tmp_path / "file") in caught.value.line
        assert tree(tmp_path) == []

    def test_closing_complains_of_a_full_disk_no_second_time(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("builtins.open", lambda *_: Path("/dev/full").open("wb"))  # noqa: SIM115
        with pytest.raises(EnvironmentLacks, match="no space is left") as caught:
            write.write_file(tmp_path / "file", b"x")
        assert str(tmp_path / "file") in caught.value.line

    def test_text_that_is_not_unicode_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="character 1 of the text is not Unicode"):
            write.write_file(tmp_path / "file", "a\ud800")
        assert tree(tmp_path) == []

    def test_as_a_user_without_the_right(self, tmp_path: Path) -> None:
        if os.geteuid() == 0:
            pytest.skip("root may write anywhere")
        tmp_path.chmod(0o500)
        with pytest.raises(UserError, match="permission denied"):
            write.write_file(tmp_path / "file", b"x")


class TestCopyFile:
    def test_copies_in_little_memory(self, tmp_path: Path) -> None:
        source = tmp_path / "big"
        with source.open("wb") as file:
            file.seek((128 << 20) - 3)
            file.write(b"end")
        code = (
            "import resource, sys\n"
            "from reportgen.evidence import write\n"
            "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
            "write.copy_file(sys.argv[1], sys.argv[2])\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
        )
        ended = subprocess.run(
            [sys.executable, "-c", code, str(source), str(tmp_path / "copy")],
            check=True,
            capture_output=True,
            text=True,
        )
        assert int(ended.stdout) < 20_000  # KiB
        assert (tmp_path / "copy").stat().st_size == 128 << 20

    @pytest.mark.parametrize(("name", "what"), [("missing", "No such file"), (".", "is a folder"), ("pipe", "regular")])
    def test_a_source_that_cannot_be_read_is_named(self, tmp_path: Path, name: str, what: str) -> None:
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(UserError, match=what) as caught:
            write.copy_file(tmp_path / name, tmp_path / "copy")
        assert caught.value.path == str(tmp_path / name)
        assert tree(tmp_path) == ["pipe"]

    def test_a_soft_link_points_to_its_source(self, tmp_path: Path) -> None:
        write.soft_link("../file", tmp_path / "a" / "link")
        assert (tmp_path / "a" / "link").readlink() == Path("../file")
        with pytest.raises(UserError, match="exists already"):
            write.soft_link("../other", tmp_path / "a" / "link")

    def test_a_link_is_a_second_name_or_a_copy(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "file").write_bytes(b"x")
        write.link_file(tmp_path / "file", tmp_path / "a" / "link")
        assert (tmp_path / "a" / "link").samefile(tmp_path / "file")
        with pytest.raises(UserError, match="exists already"):
            write.link_file(tmp_path / "file", tmp_path / "a" / "link")

        def refuse(*_: object, **__: object) -> None:
            raise OSError(errno.EXDEV, "another file system")

        monkeypatch.setattr(os, "link", refuse)
        write.link_file(tmp_path / "file", tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == b"x"
        assert not (tmp_path / "copy").samefile(tmp_path / "file")


class TestNewFolder:
    @pytest.mark.usefixtures("without_renameat2")
    def test_works_without_renameat2(self, tmp_path: Path) -> None:
        self.test_appears_when_it_is_whole(tmp_path)

    def test_appears_when_it_is_whole(self, tmp_path: Path) -> None:
        target = tmp_path / "a" / "new"
        with write.new_folder(target) as folder:
            assert folder.name.startswith(write.PARTIAL)
            assert folder.parent == target.parent
            write.write_file(folder / "x" / "file", b"1", durable=False)
            assert not target.exists()
        assert tree(tmp_path) == ["a", "a/new", "a/new/x", "a/new/x/file"]

    @pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
    def test_vanishes_on_any_failure(self, tmp_path: Path, failure: type[BaseException]) -> None:
        with pytest.raises(failure), write.new_folder(tmp_path / "new") as folder:  # noqa: PT012
            (folder / "file").write_bytes(b"1")
            raise failure
        assert tree(tmp_path) == []

    def test_refuses_a_name_that_exists(self, tmp_path: Path) -> None:
        (tmp_path / "new").mkdir()
        with pytest.raises(UserError, match="exists already"), write.new_folder(tmp_path / "new"):
            pytest.fail("the block ran")
        assert tree(tmp_path) == ["new"]

    @pytest.mark.parametrize("fallback", [False, True])
    def test_refuses_a_name_that_came_to_exist(
        self, tmp_path: Path, fallback: bool, request: pytest.FixtureRequest
    ) -> None:
        if fallback:
            request.getfixturevalue("without_renameat2")
        with pytest.raises(UserError, match="exists already"), write.new_folder(tmp_path / "new"):
            (tmp_path / "new").mkdir()  # even an empty one is somebody's
        assert tree(tmp_path) == ["new"]

    def test_a_disk_that_fills_up_in_the_block_is_exit_3(self, tmp_path: Path) -> None:
        with pytest.raises(EnvironmentLacks), write.new_folder(tmp_path / "new"):
            raise OSError(errno.ENOSPC, "full")
        assert tree(tmp_path) == []

    def test_an_error_of_the_block_stays_its_own(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError), write.new_folder(tmp_path / "new"):
            raise FileNotFoundError(errno.ENOENT, "an input")


class TestSwapFolder:
    @pytest.mark.usefixtures("without_renameat2")
    def test_works_without_renameat2(self, tmp_path: Path) -> None:
        self.test_takes_the_place_of_the_old_one(tmp_path)

    def test_takes_the_place_of_the_old_one(self, tmp_path: Path) -> None:
        (tmp_path / "public").mkdir(mode=0o750)
        (tmp_path / "public" / "old").write_bytes(b"")
        with write.swap_folder(tmp_path / "public") as folder:
            assert list(folder.iterdir()) == []
            write.write_file(folder / "new", b"", durable=False)
            assert tree(tmp_path / "public") == ["old"]
        assert tree(tmp_path) == ["public", "public/new"]
        assert stat.S_IMODE((tmp_path / "public").stat().st_mode) == 0o750

    def test_makes_one_where_none_stood(self, tmp_path: Path) -> None:
        with write.swap_folder(tmp_path / "site" / "public") as folder:
            write.write_file(folder / "new", b"")
        assert tree(tmp_path) == ["site", "site/public", "site/public/new"]

    def test_a_failure_leaves_the_old_one(self, tmp_path: Path) -> None:
        (tmp_path / "public").mkdir()
        (tmp_path / "public" / "old").write_bytes(b"")
        with pytest.raises(KeyboardInterrupt), write.swap_folder(tmp_path / "public") as folder:  # noqa: PT012
            write.write_file(folder / "new", b"")
            raise KeyboardInterrupt
        assert tree(tmp_path) == ["public", "public/old"]

    def test_the_name_is_never_gone(self, tmp_path: Path) -> None:
        """Read the folder from a second process while it is swapped: one of the two must always be there."""
        (tmp_path / "public").mkdir()
        (tmp_path / "public" / "page").write_bytes(b"0")
        code = "import os, sys\nwhile not os.path.exists(sys.argv[2]): os.stat(sys.argv[1])\n"
        page, stop = tmp_path / "public" / "page", tmp_path / "stop"
        reader = subprocess.Popen([sys.executable, "-S", "-c", code, str(page), str(stop)], stderr=subprocess.PIPE)
        for number in range(50):
            with write.swap_folder(tmp_path / "public") as folder:
                write.write_file(folder / "page", str(number), durable=False)
        stop.write_bytes(b"")
        assert reader.communicate(timeout=30)[1] == b""
        assert reader.returncode == 0

    def test_the_fallback_puts_the_old_one_back(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_renameat2: None
    ) -> None:
        (tmp_path / "public").mkdir()
        (tmp_path / "public" / "old").write_bytes(b"")
        rename = os.rename

        def fail_at_the_second(source: Path, target: Path) -> None:
            if (source / "new").exists():
                raise OSError(errno.EIO, "input/output error")
            rename(source, target)

        monkeypatch.setattr(os, "rename", fail_at_the_second)
        with pytest.raises(UserError), write.swap_folder(tmp_path / "public") as folder:
            write.write_file(folder / "new", b"")
        assert tree(tmp_path) == ["public", "public/old"]

    def test_a_link_stays_and_its_folder_is_swapped(self, tmp_path: Path) -> None:
        (tmp_path / "www").mkdir()
        (tmp_path / "public").symlink_to("www")
        with write.swap_folder(tmp_path / "public") as folder:
            write.write_file(folder / "new", b"")
        assert (tmp_path / "public").is_symlink()
        assert tree(tmp_path / "www") == ["new"]

    def test_a_file_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "public").write_bytes(b"")
        with pytest.raises(UserError, match="is a file"), write.swap_folder(tmp_path / "public"):
            pytest.fail("the block ran")
        assert tree(tmp_path) == ["public"]


def test_scratch_is_private_and_removed() -> None:
    with write.scratch_folder() as folder:
        (folder / "file").write_bytes(b"1")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists()
    with pytest.raises(KeyboardInterrupt), write.scratch_folder() as folder:
        raise KeyboardInterrupt
    assert not folder.exists()
    with pytest.raises(EnvironmentLacks), write.scratch_folder():
        raise OSError(errno.ENOSPC, "full")


def test_remove_folder_and_file(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to("a")
    for name in ("link", "a/file"):
        with pytest.raises(UserError, match="not a folder"):
            write.remove_folder(tmp_path / name)
    with pytest.raises(UserError, match="cannot be removed"):
        write.remove_file(tmp_path / "a")
    write.remove_file(tmp_path / "link")
    write.remove_file(tmp_path / "link")
    write.remove_folder(tmp_path / "a")
    write.remove_folder(tmp_path / "a")
    assert tree(tmp_path) == []


def test_make_folder(tmp_path: Path) -> None:
    write.make_folder(tmp_path / "a" / "b")
    write.make_folder(tmp_path / "a" / "b")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UserError, match="exists already"):
        write.make_folder(tmp_path / "file")
    assert tree(tmp_path) == ["a", "a/b", "file"]


class TestWhatAFailureLeaves:
    def test_folders_that_were_made_for_it_are_taken_away(self, tmp_path: Path) -> None:
        (tmp_path / "mine").mkdir()
        with pytest.raises(RuntimeError), write.new_folder(tmp_path / "mine/a/b/target"):
            raise RuntimeError
        assert tree(tmp_path) == ["mine"]

    def test_folders_that_others_use_meanwhile_stay(self, tmp_path: Path) -> None:
        def burst() -> None:
            with write.new_folder(tmp_path / "a/b/target"):
                (tmp_path / "a/other").touch()
                raise RuntimeError

        with pytest.raises(RuntimeError):
            burst()
        assert tree(tmp_path) == ["a", "a/other"]

    @pytest.mark.parametrize("make", [write.new_folder, write.swap_folder])
    def test_an_error_names_the_place_that_a_person_looks_for(
        self, tmp_path: Path, make: Callable[[Path], AbstractContextManager[Path]]
    ) -> None:
        def refused() -> None:
            with make(tmp_path / "target") as folder:
                (folder / "x").mkdir()
                write.write_file(folder / "x", b"")

        with pytest.raises(UserError) as caught:
            refused()
        assert caught.value.path == str(tmp_path / "target/x")
        assert str(caught.value).startswith(f"{tmp_path}/target/x: cannot be written: is a folder")

    @pytest.mark.parametrize(
        ("place", "said"), [("loop", "lead round in a circle"), ("/proc/x", "no folder can be made")]
    )
    def test_a_place_that_cannot_be_is_told_with_its_mend(self, tmp_path: Path, place: str, said: str) -> None:
        (tmp_path / "loop").symlink_to("loop")
        with pytest.raises(UserError, match=rf"{said}.*; choose (another|a) folder"):
            write.write_file(tmp_path / place / "file", b"")


class TestHeld:
    def test_a_folder_is_held_by_one_at_a_time(self, tmp_path: Path) -> None:
        folder = tmp_path / "deep" / "folder"
        with write.held(folder):
            assert folder.is_dir()
            with pytest.raises(UserError, match="another process is at work in it"), write.held(folder):
                pass
        with write.held(folder):
            pass

    def test_it_may_be_removed_meanwhile_and_what_its_block_raises_is_its_own(self, tmp_path: Path) -> None:
        folder = tmp_path / "folder"
        with write.held(folder):
            write.remove_folder(folder)
        assert tree(tmp_path) == []
        with pytest.raises(FileNotFoundError), write.held(folder):
            (folder / "none").read_bytes()

    def test_a_folder_whose_last_holder_removed_it_is_made_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder, lock = tmp_path / "folder", write._lock
        seen: list[int] = []

        def late(descriptor: int, path: Path) -> None:
            seen.append(descriptor)
            if len(seen) == 1:
                write.remove_folder(path)
            lock(descriptor, path)

        monkeypatch.setattr(write, "_lock", late)
        with write.held(folder):
            assert folder.is_dir()
