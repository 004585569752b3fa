"""The shipped suites' dossiers, each built once for all tests that look at it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from reportgen.dossier.build import build
from reportgen.dossier.model import Dossier, Tier
from reportgen.evidence.bundle import Bundle, open_bundle

BUNDLES = sorted((Path(__file__).parent.parent.parent / "site" / "bundles").glob("*/*"))
NEWEST = tuple({path.parent.name: path for path in BUNDLES}.values())  # of each suite


@cache
def bundle(path: Path) -> Bundle:
    return open_bundle(path)


@cache
def dossier(path: Path, tier: Tier = "full") -> Dossier:
    return build(bundle(path), tier)


def name(path: Path) -> str:
    return path.parent.name
