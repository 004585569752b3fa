"""The key of a dossier: a digest over every input that decides its bytes, so that reuse can never be wrong."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path

from reportgen import __version__, resources

# The packages whose version may change a page's bytes.
_RENDERERS = ("fonttools", "jinja2", "matplotlib", "numpy", "pandas", "pydyf", "scipy", "weasyprint")
_NOT_SOURCE = {"__pycache__", "_data"}


def key(digest: str, *, tier: str, paper: str, formats: Iterable[str], own: str = "") -> str:
    """Return the key of the dossier of the bundle with this digest; `own` is the digest of the site's own templates."""
    inputs = {
        "bundle": digest,
        "tier": tier,
        "paper": paper,
        "formats": sorted(formats),
        "reportgen": __version__,
        "program": program(),
        "own": own,
    }
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


@cache
def program() -> str:
    """Return a digest over reportgen's source, its templates, and the versions of what it renders with."""
    made = hashlib.sha256()
    for folder in (Path(resources.__file__).parent, resources.templates()):
        made.update(_folder(folder))
    versions = {name: _version(name) for name in _RENDERERS} | {"python": platform.python_version()}
    made.update(json.dumps(versions, sort_keys=True).encode())
    return made.hexdigest()


def folder_digest(folder: Path) -> str:
    """Return a digest over the names and the contents of all files in a folder."""
    return _folder(folder).hex()


def _folder(folder: Path) -> bytes:
    made = hashlib.sha256()
    for path in sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).as_posix()):
        name = path.relative_to(folder)
        if path.is_file() and not _NOT_SOURCE.intersection(name.parts):
            data = path.read_bytes()
            made.update(f"{name.as_posix()}\0{len(data)}\0".encode())
            made.update(data)
    return made.digest()


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
