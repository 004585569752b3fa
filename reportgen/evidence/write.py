"""The one owner of output files: everything is written beside its place, then renamed when it is whole.

A name that exists is therefore always whole. What a killed process leaves is hidden (`.partial-…`), has a name of
its own each time, and disturbs nobody. Modes follow the umask.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from reportgen.evidence.errors import EnvironmentLacks, UserError

PARTIAL = ".partial-"
CHUNK = 1 << 20

_FULL = {errno.ENOSPC: "no space is left on the disk", errno.EDQUOT: "the disk quota is used up"}
_REFUSED = {
    errno.EACCES: ("permission denied", "choose a folder that you may write to"),
    errno.EPERM: ("permission denied", "choose a folder that you may write to"),
    errno.ENOENT: ("no folder can be made there", "choose a folder that you may write to"),
    errno.ELOOP: ("its links lead round in a circle", "choose another folder"),
    errno.EROFS: ("the file system is read-only", "choose a folder that you may write to"),
    errno.EISDIR: ("is a folder, not a file", "choose another name"),
    errno.ENOTDIR: ("a part of the path is a file, not a folder", "choose another folder"),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter name"),
    errno.EEXIST: ("exists already", "choose another name, or remove it"),
    errno.ENOTEMPTY: ("exists already", "choose another name, or remove it"),
}
_NOREPLACE, _EXCHANGE = 1, 2
_AT_FDCWD = -100


def write_file(path: str | Path, data: bytes | str | Iterable[bytes], *, durable: bool = True) -> None:
    """Write `data` (text as UTF-8) to `path`, which is replaced at once when everything is on the disk.

    Missing parents are made. `durable=False` leaves the flushing to `new_folder` or `swap_folder`, for the many
    small files inside one. Raises `UserError` where the place refuses, `EnvironmentLacks` where the disk is full.
    """
    with _told(path):
        target = _place_of_file(Path(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = _beside(target)
    try:
        with _told(path):
            file = open(temporary, "xb")  # noqa: SIM115 (the errors of `data` itself must not be taken for ours)
        with _closed(file):
            for chunk in _chunks(path, data):
                with _told(path):
                    file.write(chunk)
            with _told(path):
                file.flush()
                if durable:
                    os.fsync(file.fileno())
                file.close()
        with _told(path):
            os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    if durable:
        _flush_folder(target.parent)


def copy_file(source: str | Path, target: str | Path, *, durable: bool = True) -> None:
    """Copy the bytes of `source` to `target` a piece at a time, in little memory; raises as `write_file` does."""
    write_file(target, read_chunks(source), durable=durable)


def link_file(source: str | Path, target: str | Path) -> None:
    """Give the file `source` the second name `target` (a hard link), or copy it where the file system has no links.

    For what never changes; `target` must not exist.
    """
    with _told(target):
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source, target, follow_symlinks=False)
            return
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS):
                raise
    copy_file(source, target, durable=False)


def soft_link(source: str | Path, target: str | Path) -> None:
    """Make the symbolic link `target` that points to `source`; `target` must not exist."""
    with _told(target):
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        Path(target).symlink_to(source)


def read_chunks(path: str | Path) -> Iterator[bytes]:
    """Yield the bytes of the regular file `path` in pieces of 1 MiB; raises `UserError` where it cannot be read."""
    try:
        with open(path, "rb", opener=_open_regular) as file:
            while chunk := file.read(CHUNK):
                yield chunk
    except (OSError, ValueError) as error:
        raise UserError(path, f"cannot be read: {_reason(error)}", "check the name and its permissions") from error


def make_folder(path: str | Path) -> None:
    """Make the folder `path` with its parents; one that exists already is left as it is."""
    with _told(path):
        Path(path).mkdir(parents=True, exist_ok=True)


@contextmanager
def new_folder(path: str | Path) -> Generator[Path]:
    """Yield a hidden folder that becomes `path` when the block ends well, and vanishes when it does not.

    Raises `UserError` if `path` exists, before the block or at its end.
    """
    target = Path(path)
    with _told(path):
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "exists")
    with _parents(target), _hidden_folder(target) as folder:
        yield folder
        with _told(path):
            _flush_tree(folder)
            _rename_new(folder, target)
    _flush_folder(target.parent)


@contextmanager
def swap_folder(path: str | Path) -> Generator[Path]:
    """Yield a new empty folder that takes the place of the folder `path`, at once, when the block ends well.

    Everything that stood in `path` is removed then; `path` need not exist. A reader sees the old folder or the new
    one, never a mixture.
    """
    with _told(path):
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_dir():
            raise UserError(path, "is a file, not a folder", "choose another name")
        target.parent.mkdir(parents=True, exist_ok=True)
    with _hidden_folder(target) as folder:
        yield folder
        with _told(path):
            _flush_tree(folder)
            if target.exists():
                shutil.copymode(target, folder)
            _exchange(folder, target)
        _flush_folder(target.parent)


@contextmanager
def scratch_folder() -> Generator[Path]:
    """Yield a private folder for a library that needs a path of its own to write to; it is removed at the end."""
    with _told(tempfile.gettempdir()):
        folder = Path(tempfile.mkdtemp(prefix="reportgen-"))
    try:
        with _told_when_full(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def scratch_file() -> Generator[BinaryIO]:
    """Yield a file without a name that a child process may write to; it is gone at the end."""
    with _told(tempfile.gettempdir()):
        file = tempfile.TemporaryFile()  # noqa: SIM115 - the errors of the block are its own
    with file:
        yield file


@contextmanager
def held(folder: str | Path) -> Generator[None]:
    """Make the folder `folder`, and hold it for this process alone until the block ends, or the process does.

    Raises `UserError` while another process holds it. Where the system or the disk has no such locks it is not held.
    """
    descriptor = _hold(folder)
    try:
        yield
    finally:
        os.close(descriptor)


class Tally:
    """A file that grows by one byte with each thing done: another process sees how far this one is by its size."""

    def __init__(self, path: str | Path) -> None:
        with _told(path):
            self._file = Path(path).open("wb", buffering=0)  # noqa: SIM115 - it is open as long as this process counts

    def add(self) -> None:
        """Count one thing done; a full disk is no reason to stop counting."""
        with contextlib.suppress(OSError):
            self._file.write(b".")

    @staticmethod
    def read(path: str | Path) -> int:
        """Return how many things are done, 0 before the first."""
        try:
            return Path(path).stat().st_size
        except OSError:
            return 0


def remove_folder(path: str | Path) -> None:
    """Remove the folder `path` and all in it; its name is gone at once. One that does not exist is no error."""
    target = Path(path)
    with _told(path, "cannot be removed"):
        if not os.path.lexists(target):
            return
        if target.is_symlink() or not target.is_dir():
            raise UserError(path, "cannot be removed: is not a folder", "name the folder itself")
        hidden = _beside(target)
        os.rename(target, hidden)
        shutil.rmtree(hidden)
    _flush_folder(target.parent)


def remove_file(path: str | Path) -> None:
    """Remove the file `path`; one that does not exist is no error."""
    with _told(path, "cannot be removed"):
        Path(path).unlink(missing_ok=True)
    _flush_folder(Path(path).parent)


# How errors are told


@contextmanager
def _told(path: str | Path, what: str = "cannot be written") -> Generator[None]:
    """Turn what the system refuses into one line that names `path` and the mend."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise _full(path, error) from error
        reason, mend = _REFUSED.get(error.errno or 0, (_reason(error), ""))
        raise UserError(path, f"{what}: {reason}", mend) from error
    except ValueError as error:  # a NUL in the name, or a name that is not Unicode
        raise UserError(path, f"{what}: not a file name", "choose another name") from error


@contextmanager
def _told_when_full(path: str | Path) -> Generator[None]:
    """Tell of a full disk where a caller's block wrote by itself; its other errors are its own."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise _full(path, error) from error
        raise


def _full(path: str | Path, error: OSError) -> EnvironmentLacks:
    what = f"cannot be written: {_FULL[error.errno or 0]}"
    return EnvironmentLacks(path, what, "free some space, or write to another disk, and run it again")


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


@contextmanager
def _closed(file: BinaryIO) -> Generator[None]:
    """Close a file at the end; where the disk is full, closing complains once more, and has nothing to add."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.close()


# Single steps


def _place_of_file(target: Path) -> Path:
    """Return where a file really goes: through a link, and never in place of a folder, a device or a pipe."""
    place = Path(os.path.realpath(target)) if target.is_symlink() else target
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        return place
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder")
    if not stat.S_ISREG(mode):
        raise UserError(target, "cannot be written: is not a regular file", "choose another name")
    return place


def _chunks(path: str | Path, data: bytes | str | Iterable[bytes]) -> Iterable[bytes]:
    if isinstance(data, str):
        try:
            return (data.encode("utf-8"),)
        except UnicodeEncodeError as error:
            raise UserError(path, f"cannot be written: character {error.start} of the text is not Unicode") from error
    return (bytes(data),) if isinstance(data, bytes | bytearray | memoryview) else data


def _open_regular(path: str, flags: int) -> int:
    """Open for reading without hanging on a pipe."""
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is a folder" if stat.S_ISDIR(mode) else "is not a regular file")
    return descriptor


def _hold(folder: str | Path) -> int:
    while True:
        make_folder(folder)
        with _told(folder):
            descriptor = os.open(folder, os.O_RDONLY)
        try:
            _lock(descriptor, folder)
            if _is_still(descriptor, folder):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # its last holder has removed it meanwhile


def _lock(descriptor: int, folder: str | Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UserError(folder, "another process is at work in it", "wait until it has ended, or stop it") from None
    except OSError:
        return


def _is_still(descriptor: int, folder: str | Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(folder))
    except FileNotFoundError:
        return False


def _beside(target: Path) -> Path:
    return target.parent / f"{PARTIAL}{secrets.token_hex(8)}"


@contextmanager
def _parents(target: Path) -> Generator[None]:
    """Make the folders above `target`, and take away again those that are still empty when the block fails."""
    missing = [folder for folder in target.parents if not os.path.lexists(folder)]
    with _told(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            for folder in missing:
                folder.rmdir()
        raise


@contextmanager
def _hidden_folder(target: Path) -> Generator[Path]:
    """Make a hidden folder beside `target`, and remove whatever has its name at the end, however the block ends."""
    folder = _beside(target)
    try:
        with _told(target):
            folder.mkdir()
        with _told_when_full(target):
            yield folder
    except UserError as error:
        if error.path is not None and Path(error.path).is_relative_to(folder):
            error.path = str(target / Path(error.path).relative_to(folder))  # what a person looks for
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _flush_folder(folder: Path) -> None:
    """Put a folder's names on the disk, where the file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _flush_tree(folder: Path) -> None:
    for name, _, files in os.walk(folder):
        for file in files:
            if not stat.S_ISREG(os.lstat(os.path.join(name, file)).st_mode):
                continue  # a link is a name, and flushed with its folder
            descriptor = os.open(os.path.join(name, file), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        _flush_folder(Path(name))


def _rename_new(source: Path, target: Path) -> None:
    """Rename a folder to a name that must not exist, not even as an empty folder."""
    if _renameat2(source, target, _NOREPLACE):
        return
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "exists")
    os.rename(source, target)


def _exchange(new: Path, target: Path) -> None:
    """Put `new` in the place of `target`; what stood there has the name `new` afterwards."""
    if not target.exists():
        _rename_new(new, target)
        return
    if _renameat2(new, target, _EXCHANGE):
        return
    old = _beside(target)
    os.rename(target, old)
    try:
        os.rename(new, target)
    except BaseException:
        os.rename(old, target)
        raise
    os.rename(old, new)


def _renameat2(source: Path, target: Path, flags: int) -> bool:
    """Rename with `flags` if this system can; returns whether it did, raises `OSError` where it refused."""
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    if call(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), flags) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number))
