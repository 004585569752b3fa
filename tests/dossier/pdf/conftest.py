"""The PDFs under test: the specimen's, and those of the shipped evidence, the newest bundle of each suite."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from reportgen.dossier import pdf
from reportgen.dossier.build import build
from reportgen.dossier.model import Dossier, Tier
from reportgen.dossier.render import pages
from reportgen.evidence.bundle import open_bundle
from tests.dossier.pdf.reading import Document

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = tuple(
    max(bundle for bundle in suite.iterdir() if bundle.is_dir())
    for suite in sorted((ROOT / "site" / "bundles").iterdir())
    if suite.is_dir()
)

Render = Callable[[Path, Tier, pdf.Paper], Document]
Build = Callable[[Path, Tier], Dossier]
Print = Callable[[Dossier], Document]


@pytest.fixture(params=SHIPPED, ids=lambda path: path.parent.name, scope="session")
def bundle(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


@pytest.fixture(scope="session")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Render:
    """Render a bundle as a user does, each only once."""
    _need_reader()

    @cache
    def render(path: Path, tier: Tier, paper: pdf.Paper) -> Document:
        target = tmp_path_factory.mktemp("shipped") / "dossier.pdf"
        target.write_bytes(pages(path, tier, paper, formats=("pdf",))["dossier.pdf"])
        return Document(target)

    return render


@pytest.fixture(scope="session")
def built() -> Build:
    """Build a bundle's dossier, each only once."""

    @cache
    def of(path: Path, tier: Tier) -> Dossier:
        return build(open_bundle(path), tier)

    return of


@pytest.fixture(scope="session")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Print:
    """Print a dossier without attachments."""
    _need_reader()

    def render(dossier: Dossier) -> Document:
        target = tmp_path_factory.mktemp("printed") / "dossier.pdf"
        target.write_bytes(pdf.render(dossier))
        return Document(target)

    return render


def _need_reader() -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("needs pdftotext: apt-get install poppler-utils")
