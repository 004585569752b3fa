"""`index.json`: what a built site holds, for other tools and for the next build, which uses unchanged dossiers again."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from reportgen.evidence import write
from reportgen.evidence.errors import UserError

FILE = "index.json"
FORMAT = 1


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class PublishedFile(_Strict):
    """A file as it was published."""

    bytes: int
    sha256: str


class Summary(_Strict):
    """What a dossier says of itself in a few words."""

    title: str
    gpu: str
    date: str
    status: str
    version: str
    lead: str
    headline: str
    scenarios: tuple[str, ...]
    backends: tuple[str, ...]


class Entry(_Strict):
    """One published dossier; the names of its files are relative to `path`, which is relative to the site."""

    suite: str
    start: str
    digest: str
    path: str
    key: str  # a digest over everything that the files were made from
    summary: Summary
    files: dict[str, PublishedFile]

    @field_validator("files")
    @classmethod
    def _stay_inside(cls, files: dict[str, PublishedFile]) -> dict[str, PublishedFile]:
        for name in files:
            if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
                raise ValueError(f"{name} leads out of the site")
        return files


class Index(_Strict):
    """The whole file."""

    format: int
    title: str
    tier: str
    reportgen: str
    newest: str  # the site's clock: the start of its newest bundle
    dossiers: tuple[Entry, ...]
    pages: tuple[str, ...] = ()  # the site's own files, this one too

    def text(self) -> bytes:
        """Return the file's bytes."""
        return (self.model_dump_json(indent=1) + "\n").encode()


def earlier(public: Path) -> Index | None:
    """Return what an earlier build published; None where its index is missing or cannot be read."""
    try:
        found = Index.model_validate_json(_read(public))
    except (UserError, ValidationError):
        return None
    return found if found.format == FORMAT else None


def is_ours(public: Path) -> bool:
    """Say whether a build made the folder: it holds an index, and not one of another program."""
    try:
        found = json.loads(_read(public))
    except UserError:
        return False
    except (ValueError, RecursionError):
        return True  # damaged: other programs' are not either
    return isinstance(found, dict) and {"reportgen", "dossiers"} <= set(found)


def foreign(found: Index, public: Path) -> Iterator[str]:
    """Yield the files and links in `public` that no build has made, such as a CNAME, relative to it."""
    ours = {f"{entry.path}/{name}" for entry in found.dossiers for name in entry.files} | set(found.pages)
    for place, folders, files in os.walk(public):
        for name in [*files, *(folder for folder in folders if (Path(place) / folder).is_symlink())]:
            path = (Path(place) / name).relative_to(public).as_posix()
            if path not in ours:
                yield path


def _read(public: Path) -> bytes:
    return b"".join(write.read_chunks(public / FILE))


def is_whole(entry: Entry, public: Path, *, thorough: bool = False) -> bool:
    """Return whether every file of an earlier dossier is still there with its size; `thorough`: with its bytes."""
    folder = public / entry.path
    try:
        for name, file in entry.files.items():
            found = (folder / name).lstat()
            if not stat.S_ISREG(found.st_mode) or found.st_size != file.bytes:
                return False
            if thorough and hashlib.sha256(b"".join(write.read_chunks(folder / name))).hexdigest() != file.sha256:
                return False
    except (OSError, UserError):
        return False
    return True
