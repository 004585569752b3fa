"""Read a finished PDF with programs that had no part in making it: its words and where they stand, its tags, its files."""

from __future__ import annotations

import hashlib
import io
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import pikepdf
import pytest

_WORD = re.compile(r'<word xMin="([^"]*)" yMin="([^"]*)" xMax="([^"]*)" yMax="([^"]*)">(.*?)</word>')
_PAGE = re.compile(r'<page width="([^"]*)" height="([^"]*)">(.*?)</page>', re.DOTALL)


@dataclass(frozen=True)
class Box:
    """A rectangle on a page in points, from its upper left corner."""

    left: float
    top: float
    right: float
    bottom: float

    def covers(self, other: Box) -> bool:
        """Tell whether another box stands on this one by more than a hair, beside it or above it."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        lower = min(self.bottom - self.top, other.bottom - other.top)
        return across > 0.75 and down > 0.5 * lower

    def within(self, other: Box, slack: float) -> bool:
        return (
            self.left >= other.left - slack
            and self.top >= other.top - slack
            and self.right <= other.right + slack
            and self.bottom <= other.bottom + slack
        )


@dataclass(frozen=True)
class Word:
    text: str
    box: Box


@dataclass(frozen=True)
class Drawing:
    """A figure of the tag tree: the words in its place, the page that it stands on, counted from 0, and where."""

    words: str
    page: int
    box: Box


@dataclass(frozen=True)
class Page:
    width: float
    height: float
    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


class Document:
    """A PDF, read in full; `path` is where it stands."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = path.read_bytes()
        self.pdf = pikepdf.open(io.BytesIO(self.data))
        self.text = _run("pdftotext", str(path), "-")
        self.pages = tuple(_pages(path))

    def elements(self) -> Iterator[tuple[str, str, pikepdf.Dictionary]]:
        """Yield each element of the tag tree in reading order, after its kind and that of its parent."""
        root = self.pdf.Root["/StructTreeRoot"]
        waiting = [("", kid) for kid in reversed(_kids(root))]
        while waiting:
            parent, element = waiting.pop()
            if isinstance(element, pikepdf.Dictionary) and "/S" in element:
                kind = str(element["/S"])[1:]
                yield kind, parent, element
                waiting += [(kind, kid) for kid in reversed(_kids(element))]

    def drawings(self) -> list[Drawing]:
        places = {page.obj.objgen: number for number, page in enumerate(self.pdf.pages)}
        found = []
        for kind, _, element in self.elements():
            if kind == "Figure":
                page = places[element["/Pg"].objgen]
                left, bottom, right, top = (float(side) for side in element["/A"]["/BBox"])
                height = self.pages[page].height
                found.append(Drawing(str(element["/Alt"]), page, Box(left, height - top, right, height - bottom)))
        return found

    def fonts(self) -> list[pikepdf.Dictionary]:
        return [
            found
            for found in self.pdf.objects
            if isinstance(found, pikepdf.Dictionary) and found.get("/Type") == "/Font" and "/DescendantFonts" in found
        ]


def squeezed(text: str) -> str:
    """Return `text` without any white space: where a line ends says nothing of what is said."""
    return "".join(text.split())


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def collisions(document: Document) -> list[str]:
    """Name the words that stand upon others outside of drawings, and those that reach into a page's margins."""
    found = []
    drawn: dict[int, list[Box]] = {}
    for drawing in document.drawings():
        drawn.setdefault(drawing.page, []).append(drawing.box)
    for number, page in enumerate(document.pages):
        words = [word for word in page.words if not any(word.box.within(box, 3) for box in drawn.get(number, []))]
        sheet = Box(0, 0, page.width, page.height)
        margins = Box(20 / 25.4 * 72, 0, page.width - 20 / 25.4 * 72, page.height)
        found += [f"page {number + 1}: '{w.text}' leaves the page" for w in words if not w.box.within(sheet, 0)]
        found += [f"page {number + 1}: '{w.text}' leaves its margins" for w in words if not w.box.within(margins, 1)]
        words.sort(key=lambda word: word.box.top)
        for index, word in enumerate(words):
            for other in words[index + 1 :]:
                if other.box.top > word.box.bottom:
                    break
                if word.box.covers(other.box):
                    found.append(f"page {number + 1}: '{word.text}' and '{other.text}' collide")
    return found


def needs(*commands: str) -> pytest.MarkDecorator:
    """Skip a test on a machine that lacks a command, and say which."""
    lacking = [command for command in commands if shutil.which(command) is None]
    return pytest.mark.skipif(bool(lacking), reason=f"{', '.join(lacking)} is not installed")


def _kids(element: pikepdf.Object) -> list[pikepdf.Object]:
    kids = element.get("/K")
    if kids is None:
        return []
    return list(kids) if isinstance(kids, pikepdf.Array) else [kids]


def _pages(path: Path) -> Iterator[Page]:
    for width, height, body in _PAGE.findall(_run("pdftotext", "-bbox", str(path), "-")):
        words = tuple(
            Word(unescape(text), Box(float(left), float(top), float(right), float(bottom)))
            for left, top, right, bottom, text in _WORD.findall(body)
        )
        yield Page(float(width), float(height), words)


def _run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
