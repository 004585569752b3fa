"""Find the folders that travel with reportgen: `templates/` and `suites/`, in a checkout or in the wheel."""

from __future__ import annotations

from pathlib import Path

from reportgen.evidence.errors import EnvironmentLacks


def templates() -> Path:
    """Return the folder of the Jinja templates."""
    return _find("templates")


def suites() -> Path:
    """Return the folder of the suites that ship."""
    return _find("suites")


def _find(name: str) -> Path:
    package = Path(__file__).resolve().parent
    for folder in (package / "_data" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise EnvironmentLacks(package, f"the installation has no {name}", "install reportgen again")
