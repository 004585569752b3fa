"""What programs that check PDFs say: qpdf, pdfua, PDFBox's preflight, and the rules of tagging that none of them knows."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pikepdf
import pytest

from tests.dossier.pdf.conftest import Render
from tests.dossier.pdf.reading import Document, needs

JARS = Path("/usr/share/java")
PREFLIGHT = (
    *("preflight.jar", "pdfbox2.jar", "xmpbox.jar", "fontbox2.jar"),
    *("commons-logging.jar", "javax.activation.jar", "jaxb-api.jar"),
)
# Preflight knows PDF/A-1 only. What PDF/A-3 allows beyond it: a newer version of PDF (1.4), attached files (1.2.9, 1.4.7),
# streams of objects (1.2.7), transparency (2.2.1), CID sets left out (3.1.11), and marks of a newer conformance (4.1.2).
OF_PDF_A_1 = {"1.2.7", "1.2.9", "1.4", "1.4.7", "2.2.1", "3.1.11", "4.1.2"}
# What may stand in what, by ISO 32000-1, 14.8.4.
CHILDREN = {
    "Document": {"Sect", "NonStruct", "Span", "Div", "P"},
    "L": {"LI", "L", "Caption"},
    "LI": {"Lbl", "LBody"},
    "Table": {"THead", "TBody", "TR", "Caption"},
    "THead": {"TR"},
    "TBody": {"TR"},
    "TR": {"TH", "TD"},
}
PARENTS = {
    "LI": {"L"},
    "Lbl": {"LI"},
    "LBody": {"LI"},
    "THead": {"Table"},
    "TBody": {"Table"},
    "TR": {"THead", "TBody", "Table"},
    "TH": {"TR"},
    "TD": {"TR"},
}


@pytest.fixture
def document(bundle: Path, rendered: Render) -> Document:
    return rendered(bundle, "public", "a4")


@needs("qpdf")
def test_qpdf_finds_no_fault(document: Document) -> None:
    checked = subprocess.run(["qpdf", "--check", str(document.path)], capture_output=True, text=True, check=False)

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_pdfua_finds_no_fault(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    pdfua = pytest.importorskip("pdfua")

    def as_integer(value: object) -> int | None:
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    # Its own asks a list of pikepdf's for an attribute, which newer ones refuse; the rule would go unjudged.
    monkeypatch.setattr("pdfua.rules.structure.as_integer", as_integer)
    report = pdfua.validate(str(document.path))

    assert [(f.rule_id, f.message) for outcome in report.outcomes for f in outcome.findings] == []
    assert [(outcome.rule_id, outcome.skipped_reason) for outcome in report.outcomes if outcome.skipped_reason] == []
    assert len(report.outcomes) >= 12


@pytest.mark.skipif(
    shutil.which("java") is None or not all((JARS / jar).exists() for jar in PREFLIGHT),
    reason="needs PDFBox's preflight: apt-get install libpdfbox2-java libactivation-java libjaxb-api-java and a Java",
)
def test_preflight_finds_only_what_pdf_a_3_allows(document: Document) -> None:
    classes = ":".join(str(JARS / jar) for jar in PREFLIGHT)
    command = ["java", "-cp", classes, "org.apache.pdfbox.preflight.Validator_A1b", str(document.path)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    codes = Counter(re.findall(r"^(\d+(?:\.\d+)*) : ", checked.stdout + checked.stderr, flags=re.MULTILINE))

    assert "not a valid PDF/A-1b file" in checked.stdout + checked.stderr  # it ran, and said what it found
    assert set(codes) - OF_PDF_A_1 == set()
    assert "1.2.9" in codes


def test_tags_stand_where_they_may(document: Document) -> None:
    elements = list(document.elements())
    wrong = {
        (parent, kind)
        for kind, parent, _ in elements
        if kind not in CHILDREN.get(parent, {kind}) or parent not in PARENTS.get(kind, {parent})
    }

    assert wrong == set()
    assert {"H1", "H2", "H3", "Table", "L", "Figure", "Caption", "Link"} <= {kind for kind, _, _ in elements}


def test_headings_go_down_by_one_and_none_is_empty(document: Document) -> None:
    levels = [int(kind[1]) for kind, _, _ in document.elements() if re.fullmatch("H[1-6]", kind)]

    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_every_table_has_its_head_on_every_page(document: Document) -> None:
    tables = [element for kind, _, element in document.elements() if kind == "Table"]

    assert tables
    for table in tables:
        head, *bodies = list(table["/K"])
        assert head["/S"] == "/THead"
        assert bodies
        heads = [cell for row in head["/K"] for cell in row["/K"]]
        assert {str(cell["/S"]) for cell in heads} == {"/TH"}
        assert {str(cell["/A"]["/Scope"]) for cell in heads} == {"/Column"}
        assert {len(row["/K"]) for body in bodies for row in body["/K"]} == {len(heads)}


def test_cells_lead_to_their_heads(document: Document) -> None:
    ids = {str(element["/ID"]) for kind, _, element in document.elements() if kind == "TH"}
    cells = [element for kind, _, element in document.elements() if kind == "TD"]
    rows = [element for kind, parent, element in document.elements() if kind == "TR" and parent == "TBody"]

    assert all(str(row["/K"][0]["/A"]["/Scope"]) == "/Row" for row in rows)
    for cell in cells:
        heads = [str(name) for name in cell["/A"]["/Headers"]]
        assert len(heads) == 2
        assert set(heads) <= ids


def test_every_drawing_says_in_words_what_it_shows(document: Document) -> None:
    words = [drawing.words for drawing in document.drawings()]

    assert words
    assert len(set(words)) == len(words)
    assert min(len(said) for said in words) > 30


def test_every_font_is_embedded_and_its_text_can_be_read(document: Document) -> None:
    fonts = document.fonts()

    assert 3 <= len(fonts) <= 4
    for font in fonts:
        descriptor = font["/DescendantFonts"][0]["/FontDescriptor"]
        assert "/FontFile2" in descriptor or "/FontFile3" in descriptor
        assert "/ToUnicode" in font
        assert re.fullmatch(r"/[A-Z]{6}\+DejaVu-?Sans.*", str(font["/BaseFont"]))
    simple = [
        found
        for found in document.pdf.objects
        if isinstance(found, pikepdf.Dictionary) and found.get("/Type") == "/Font" and found.get("/Subtype") != "/Type0"
    ]
    assert {str(found["/Subtype"]) for found in simple} <= {"/CIDFontType2", "/CIDFontType0"}


def test_it_says_what_it_is(document: Document) -> None:
    root = document.pdf.Root
    xmp = root["/Metadata"].read_bytes().decode()

    assert root["/Lang"] == "en"
    assert root["/MarkInfo"]["/Marked"]
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    assert [str(intent["/S"]) for intent in root["/OutputIntents"]] == ["/GTS_PDFA1"]
    assert re.search(r'pdfaid:part="3"', xmp)
    assert re.search(r'pdfaid:conformance="A"', xmp)
    assert "<pdfuaid:part>1</pdfuaid:part>" in xmp
    for page in document.pdf.pages:
        assert "/Annots" not in page or page["/Tabs"] == "/S"


def test_bookmarks_lead_through_all_headings(document: Document) -> None:
    headings = [kind for kind, _, _ in document.elements() if re.fullmatch("H[1-6]", kind)]
    with document.pdf.open_outline() as outline:
        waiting, found = list(outline.root), 0
        while waiting:
            waiting += waiting.pop().children
            found += 1

    assert found == len(headings)
