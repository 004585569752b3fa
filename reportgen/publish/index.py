"""`index.json`: what a built site holds, for other tools and for the next build, which uses unchanged dossiers again."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

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

    def text(self) -> bytes:
        """Return the file's bytes."""
        return (self.model_dump_json(indent=1) + "\n").encode()


def earlier(public: Path) -> dict[str, Entry]:
    """Return what an earlier build published, by path; nothing where its index is missing or cannot be read."""
    try:
        found = Index.model_validate_json((public / FILE).read_bytes())
    except (OSError, ValidationError):
        return {}
    if found.format != FORMAT:
        return {}
    return {entry.path: entry for entry in found.dossiers}


def is_whole(entry: Entry, public: Path) -> bool:
    """Return whether every file of an earlier dossier is still there with its size."""
    folder = public / entry.path
    try:
        return all((folder / name).stat().st_size == file.bytes for name, file in entry.files.items())
    except OSError:
        return False
