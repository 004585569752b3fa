"""Tell what a file is by its content; its name is never believed."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Literal

from reportgen.evidence.errors import ReadError
from reportgen.readers import ncu_structure
from reportgen.readers.csv_text import sniff_csv

Kind = Literal["ncu-rep", "ncu-raw", "ncu-details", "nsight-profiled", "nsight-processed", "ncu-session", "ncu-log"]

KINDS: tuple[Kind, ...] = (
    "ncu-rep",
    "ncu-raw",
    "ncu-details",
    "nsight-profiled",
    "nsight-processed",
    "ncu-session",
    "ncu-log",
)
_PICKLE = b"\x80"


def check_file(path: Path) -> None:
    """Raise `ReadError` unless `path` is an ordinary file: a pipe or a device may never end, and is never opened."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            raise ReadError(path, "there is no such file", "check the path") from None
        reason = error.strerror if isinstance(error, OSError) else error
        raise ReadError(path, f"cannot be opened ({reason})", "check the path") from None
    if stat.S_ISDIR(mode):
        raise ReadError(path, "a folder, not a file", "name the files in it")
    if not stat.S_ISREG(mode):
        raise ReadError(path, "not an ordinary file", "copy its contents into a file first")


def recognise(path: Path) -> Kind:
    """Return what the file at `path` is; raises `ReadError` with the mend when it is nothing that can be read."""
    check_file(path)
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise ReadError(path, f"cannot be read ({error.strerror})", "check its permissions") from None
    if head[:4] in (ncu_structure.MAGIC, ncu_structure.ZSTD_MAGIC):
        return "ncu-rep"
    if head[:1] == _PICKLE and head[1:2] in b"\x02\x03\x04\x05":
        raise ReadError(path, "a Python pickle, which is never loaded", "leave it out; import the CSVs beside it")
    if (csv := sniff_csv(path)) is not None:
        return csv  # type: ignore[return-value]
    text = head.decode("utf-8", "replace")
    if "Session Attribute" in text or "Launch Attribute" in text:
        return "ncu-session"
    if text.lstrip().startswith(("==PROF==", "==WARNING==", "==ERROR==")):
        return "ncu-log"
    if not head or head.startswith(b"version https://git-lfs") or path.suffix in (".ncu-rep", ".ncu-repz", ".nsys-rep"):
        ncu_structure.examine(path)  # it says best what such a file is
    raise ReadError(
        path,
        "neither an Nsight Compute report nor a CSV that ncu or nsight-python writes",
        "give an .ncu-rep, the output of `ncu --csv --page raw|details`, or nsight-python's CSVs",
    )
