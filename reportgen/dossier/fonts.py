"""The fonts of the PDF: the DejaVu that Matplotlib ships, and no other, so that it prints the same anywhere."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from xml.sax.saxutils import escape

import matplotlib

from reportgen.evidence.write import make_folder, scratch_folder, soft_link, write_file

SANS, BOLD, OBLIQUE, MONO = FACES = (
    "DejaVuSans.ttf",
    "DejaVuSans-Bold.ttf",
    "DejaVuSans-Oblique.ttf",
    "DejaVuSansMono.ttf",
)
_VARIABLE = "FONTCONFIG_FILE"
_BREAKS = frozenset(map(ord, "\t\n\r"))


def folder() -> Path:
    """Return the folder in which the fonts stand."""
    return Path(matplotlib.get_data_path()) / "fonts" / "ttf"


@cache
def characters() -> frozenset[int]:
    """Return the code points that the text font can print; the code font falls back to it."""
    return frozenset(_advances(SANS))


def advance(text: str, face: str) -> float:
    """Return how wide `text` is in `face`, in ems."""
    wide = _advances(face)
    lacking = 6 * wide[ord("0")]  # printed as U+7D22
    return sum(wide.get(ord(character), lacking) for character in text)


@cache
def _advances(face: str) -> Mapping[int, float]:
    from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

    with TTFont(folder() / face, lazy=True) as font:
        metrics, em = font["hmtx"].metrics, font["head"].unitsPerEm
        return {code: metrics[glyph][0] / em for code, glyph in font.getBestCmap().items()}


def printable(text: str, cmap: AbstractSet[int]) -> str:
    """Return `text` with each character that the font lacks written as `U+7D22`."""
    lacking = {ord(character) for character in set(text)} - cmap - _BREAKS
    return text.translate({code: f"U+{code:04X}" for code in lacking}) if lacking else text


@contextmanager
def only_ours() -> Generator[None]:
    """Let Fontconfig find our fonts and nothing else; what it reads is gone at the end.

    Pango asks Fontconfig when a document's fonts are gathered, so all of a rendering belongs inside.
    """
    before = os.environ.get(_VARIABLE)
    with scratch_folder() as scratch:
        os.environ[_VARIABLE] = str(_configuration(scratch))
        try:
            yield
        finally:
            if before is None:
                del os.environ[_VARIABLE]
            else:
                os.environ[_VARIABLE] = before


def _configuration(scratch: Path) -> Path:
    """Write a Fontconfig file that names only a folder of links to our fonts: Matplotlib's holds others beside them."""
    links, path = scratch / "fonts", scratch / "fonts.conf"
    make_folder(links)
    for face in FACES:
        soft_link(folder() / face, links / face)
    write_file(
        path,
        '<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">\n'
        f"<fontconfig><dir>{escape(str(links))}</dir><cachedir>{escape(str(scratch / 'cache'))}</cachedir></fontconfig>\n",
        durable=False,
    )
    return path
