"""Find a site's bundles, and say where each one's dossier is published."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

# Names that the site itself uses at its top.
_TAKEN = {"404.html", "assets", "feed.xml", "index.html", "index.json", "latest"}
_MARKS = {"bagit.txt", "manifest-sha256.txt", "tagmanifest-sha256.txt"}
_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")


@dataclass(frozen=True, slots=True)
class Found:
    """A bundle of the site: `label` is its path as a reader of a warning knows it."""

    bundle: Path
    label: str
    suite: str
    start: str  # 20261130T211006Z
    digest: str
    gpu: str
    measured: tuple[str, ...]  # each backend and scenario: ncu/default

    @property
    def subject(self) -> tuple[str, str, tuple[str, ...]]:
        """Return what it shares with the earlier and later bundles that it may be compared with."""
        return self.suite, self.gpu, self.measured

    @property
    def path(self) -> str:
        """Return where its dossier stands in the site, for ever."""
        return f"{segment(self.suite)}/{self.start}-{self.digest[:12]}"


def bags(folder: Path, refused: Callable[[Path, str], None] | None = None) -> Iterator[Path]:
    """Yield every bag at any depth, in order of path; what lies within a bag, or in a hidden folder, is not looked at.

    Links to folders are followed, each folder once. A bag that lost one of its files is still one, for `verify` to name
    the loss; `refused` is told of each folder that cannot be read.
    """

    def tell(error: OSError) -> None:
        if refused is not None and not isinstance(error, FileNotFoundError):
            refused(Path(error.filename), (error.strerror or str(error)).lower())

    seen: set[tuple[int, int]] = set()
    for place, folders, files in os.walk(folder, onerror=tell, followlinks=True):
        status = Path(place).stat()
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        if not _MARKS.isdisjoint(files):
            folders.clear()
            yield Path(place)
        folders[:] = sorted(name for name in folders if not name.startswith("."))


def segment(suite: str) -> str:
    """Return a suite's name as one part of an address; two names never share one."""
    if _PLAIN.fullmatch(suite) and suite not in _TAKEN:
        return suite
    plain = re.sub(r"[^a-z0-9._-]+", "-", suite.lower()).strip("-._")[:60]
    mark = hashlib.sha256(suite.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain}-{mark}" if plain else f"suite-{mark}"
