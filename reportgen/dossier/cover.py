"""Page one of the PDF: how large the findings are set, so that a reader has them all before turning the page."""

from __future__ import annotations

import math
from collections.abc import Iterator

from reportgen.dossier.fonts import SANS, advance
from reportgen.dossier.model import Dossier, Finding, Sentence
from reportgen.dossier.text import plain

# print.css sets these too: the size of each setting's type in points, by the name of its class.
SETTINGS = {"": 8.5, "close": 7.8, "closer": 7.2}

_LEADING = 1.42
_GAP = 4.5  # points below a finding
_HEAD = 74.0  # points between the parts of the cover, with the heading of the findings
_TITLE, _LEAD, _FACT = 24.0, 14.5, 10.6  # points that a line of each takes
_INDENT = 17.0  # points
_WORD = 65.0  # points; what a fact is called stands before it
_LINKS = "Figure 10, p. 10; Table 10, p. 10"  # what stands after a finding
_RAGGED = 1.04  # lines are broken at words


def setting(dossier: Dossier, measure: float, height: float) -> str:
    """Choose the largest setting in which all findings find room on a page of `height` points, else the smallest."""
    room = height - _cover(dossier, measure)
    fitting = (name for name, size in SETTINGS.items() if _height(dossier, size, measure - _INDENT) <= room)
    return next(fitting, list(SETTINGS)[-1])


def _cover(dossier: Dossier, measure: float) -> float:
    """Estimate how much of page one stands above the findings, in points."""
    title = _lines(dossier.title, 19.0, measure)
    texts = (plain(dossier.lead), dossier.question, *dossier.prose.splitlines())
    said = sum(_lines(text, 9.5, measure * 0.8) for text in texts)
    chips: dict[str, str] = {}
    for chip in dossier.chips:
        chips[chip.kind] = f"{chips.get(chip.kind, '')} {chip.text} {chip.meaning}"
    marks = sum(_lines(text, 7.5, measure - _WORD) for kind, text in chips.items() if kind != "status")
    facts = max(len(dossier.head), 5) + marks + 2
    note = 2 if dossier.note else 0
    return _HEAD + _TITLE * title + _LEAD * (said + note) + _FACT * facts


def _height(dossier: Dossier, size: float, measure: float) -> float:
    lines = sum(_lines(text, size, measure) for finding in dossier.findings for text in _texts(finding))
    return lines * size * _LEADING + _GAP * len(dossier.findings)


def _texts(finding: Finding) -> Iterator[str]:
    yield f"{plain(finding.sentence)} {_LINKS}"
    sentences: tuple[Sentence, ...] = (*finding.entries, *((finding.closing,) if finding.closing else ()))
    yield from map(plain, sentences)


def _lines(text: str, size: float, measure: float) -> int:
    return math.ceil(advance(text, SANS) * size * _RAGGED / measure)
