"""The PDF of every kind of evidence that ships: what a reviewer is promised of it, on either paper and in either tier."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pypdf import PdfReader

from reportgen.dossier import jsonform, printed
from reportgen.dossier.model import Dossier, Tier
from reportgen.dossier.references import references
from reportgen.dossier.text import plain
from reportgen.evidence.bundle import Bundle, open_bundle
from reportgen.evidence.redaction import redact
from tests.dossier.pdf.conftest import ROOT, Build, Render
from tests.dossier.pdf.reading import Document, collisions, sha256, squeezed

BOTH = pytest.mark.parametrize(("tier", "paper"), [("public", "a4"), ("full", "letter")])


@pytest.fixture
def dossier(bundle: Path, tier: Tier, built: Build) -> Dossier:
    return built(bundle, tier)


@pytest.fixture
def document(bundle: Path, tier: Tier, paper: str, rendered: Render) -> Document:
    return rendered(bundle, tier, "letter" if paper == "letter" else "a4")


@BOTH
def test_it_is_under_thirty_pages_and_250_rows(document: Document) -> None:
    rows = [parent for kind, parent, _ in document.elements() if kind == "TR"]

    assert len(document.pages) < 30
    assert rows.count("TBody") <= printed.MOST_ROWS
    assert rows.count("TBody") + rows.count("THead") == len(rows)


@BOTH
def test_page_one_says_who_it_is_and_every_finding_in_full(document: Document, dossier: Dossier) -> None:
    first = squeezed(document.pages[0].text)

    for said in (dossier.title, plain(dossier.lead), dossier.gpu, dossier.digest, dossier.bundle_id, dossier.status):
        assert squeezed(said) in first
    for finding in dossier.findings:
        for sentence in (finding.sentence, *finding.entries, finding.closing):
            assert squeezed(plain(sentence)) in first
    assert len(dossier.findings) > 0


@BOTH
def test_pdftotext_finds_each_finding_and_caution(document: Document, dossier: Dossier) -> None:
    text = squeezed(document.text)

    for finding in dossier.findings:
        for sentence in (finding.sentence, *finding.entries, finding.closing):
            assert squeezed(plain(sentence)) in text
    for caution in dossier.cautions:
        for sentence in (caution.what, (caution.effect,), caution.mend, *caution.items):
            assert squeezed(plain(sentence)) in text


@BOTH
def test_every_page_bears_suite_version_and_number(document: Document, dossier: Dossier) -> None:
    count = len(document.pages)

    for number, page in enumerate(document.pages, 1):
        assert f"version {dossier.version} · page {number} of {count}" in page.text
        assert page.text.startswith(dossier.suite)


@BOTH
def test_no_word_stands_upon_another_or_leaves_the_page(document: Document) -> None:
    assert collisions(document) == []


@BOTH
def test_a_chart_stands_on_one_page_with_its_title_and_caption(document: Document, dossier: Dossier) -> None:
    labels = references(dossier).labels
    drawings = document.drawings()
    panels = {
        chart.id: [d for d in drawings if d.words.startswith(f"{labels[chart.id]}, ")] for chart in dossier.charts
    }

    assert sum(map(len, panels.values())) == len(drawings) > 0
    for chart in dossier.charts:
        captions = {n for n, page in enumerate(document.pages) if f"{labels[chart.id]}. " in page.text}
        assert {panel.page for panel in panels[chart.id]} == captions
        assert len(panels[chart.id]) in {0, len(chart.panels)}
        for panel in panels[chart.id]:
            page = document.pages[panel.page]
            assert squeezed(chart.title) in squeezed(page.text)
            assert panel.box.top > 60
            assert panel.box.bottom < page.height - 60


@BOTH
def test_what_is_not_printed_is_said_by_number_and_title(document: Document, dossier: Dossier) -> None:
    refs = references(dossier)
    text = squeezed(document.text)

    for chart in dossier.charts:
        label = refs.labels[chart.id]
        assert squeezed(f"{label}. ") in text or squeezed(f"{label} ({chart.title})") in text


@BOTH
def test_the_files_of_the_bundle_are_attached_byte_for_byte(
    document: Document, dossier: Dossier, bundle: Path, tier: Tier
) -> None:
    opened = open_bundle(bundle)
    attached = {name: contents[0] for name, contents in PdfReader(document.path).attachments.items()}
    kept = _kept(opened)

    assert len(kept) >= 5
    for path in kept:
        data = opened.read(path) if tier == "full" else redact(path, opened.read(path))
        assert attached[_name(path)] == data
    assert attached["dossier.json"] == jsonform.render(dossier)
    for file in dossier.data:
        assert file.inline or file.text.encode() in attached.values()
    assert "report.ncu-rep" not in " ".join(attached)


@BOTH
def test_every_attachment_is_named_with_its_digest(document: Document, dossier: Dossier, bundle: Path) -> None:
    text = squeezed(document.text)
    opened = open_bundle(bundle)
    listed = {file.path: file.published_sha256 or file.sha256 for file in dossier.evidence}
    attached = {name: contents[0] for name, contents in PdfReader(document.path).attachments.items()}

    for name, data in attached.items():
        assert squeezed(name) in text
        assert sha256(data) in text
    for path in _kept(opened):
        assert sha256(attached[_name(path)]) == listed[path]


@BOTH
def test_pypdf_and_pikepdf_agree_on_the_attachments(document: Document) -> None:
    theirs = {name: contents[0] for name, contents in PdfReader(document.path).attachments.items()}

    assert {name: file.get_file().read_bytes() for name, file in document.pdf.attachments.items()} == theirs


@BOTH
def test_the_paper_is_what_was_asked_for(document: Document, paper: str) -> None:
    sides = {(round(page.width), round(page.height)) for page in document.pages}

    assert sides == {(612, 792) if paper == "letter" else (595, 842)}


def test_it_is_the_same_from_another_folder(bundle: Path, rendered: Render, tmp_path: Path) -> None:
    copied = tmp_path / "elsewhere" / bundle.name
    shutil.copytree(bundle, copied)
    command = [
        sys.executable,
        "-m",
        "reportgen",
        "render",
        str(copied),
        "--out",
        "out",
        "--format=pdf",
        "--tier=public",
    ]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PYTHONHASHSEED": "7"}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "out" / "dossier.pdf").read_bytes() == rendered(bundle, "public", "a4").data


def _kept(bundle: Bundle) -> list[str]:
    """Return the files of a bundle that belong in its PDF."""
    wanted = re.compile(
        r"(tag)?manifest-sha256\.txt|data/(bundle|provenance)\.json|data/samples/.*/processed\.csv(\.zst)?"
    )
    return [file.path for file in bundle.files() if wanted.fullmatch(file.path)]


def _name(path: str) -> str:
    """Return the name under which a file of the bundle is attached."""
    return path.removeprefix("data/").removeprefix("samples/").replace("/", "-")
