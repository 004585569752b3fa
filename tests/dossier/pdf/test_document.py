"""The PDF: tagged, filed with its figures, in our fonts, and the same bytes everywhere."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from reportgen.dossier import pdf
from reportgen.dossier.attachments import Attachment
from tests.dossier import specimen
from tests.dossier.pdf.conftest import ROOT

ATTACHED = (
    Attachment("processed.csv", b"Annotation,AvgValue\nfp16,1.5\n", "The processed table", "Source"),
    Attachment("manifest-sha256.txt", b"0000  data/bundle.json\n", "The manifest", "Supplement"),
    Attachment("matmul-cupti-speed.csv", f"n,{specimen.CHINESE}\n".encode(), "A chart’s data"),
    Attachment("dossier.json", b"{}\n", "This dossier as data", "Alternative"),
)


@pytest.fixture(scope="module")
def data() -> bytes:
    return pdf.render(specimen.dossier(), ATTACHED)


@pytest.fixture(scope="module")
def reader(data: bytes) -> PdfReader:
    return PdfReader(io.BytesIO(data))


@pytest.fixture(scope="module")
def catalogue(reader: PdfReader) -> Any:
    return reader.trailer["/Root"]


@pytest.fixture(scope="module")
def text(reader: PdfReader) -> str:
    return "\n".join(page.extract_text() for page in reader.pages)


def test_the_first_page_says_who_it_is_and_what_it_found(reader: PdfReader) -> None:
    first = reader.pages[0].extract_text()
    dossier = specimen.dossier()
    for said in (
        dossier.title,
        dossier.gpu,
        "30 November 2026, 21:10 UTC",
        dossier.digest,
        "complete",
        "What this says",
        "795",
    ):
        assert said in first


def test_every_page_bears_suite_version_and_number(reader: PdfReader) -> None:
    for number, page in enumerate(reader.pages, 1):
        said = re.sub(r"\s+", " ", page.extract_text())
        assert "matmul_precision" in said
        assert f"version 1f0c2ab94e57 · page {number} of {len(reader.pages)}" in said


def test_names_are_text_and_what_the_font_lacks_is_written_out(text: str) -> None:
    assert specimen.SCRIPT in text
    assert specimen.MARKUP in text
    assert "gather/U+7D22U+5F15" in text
    assert "copyU+202Egnp.exeU+202C" in text


def test_language_title_dates_and_marks(reader: PdfReader, catalogue: Any) -> None:
    assert catalogue["/Lang"] == "en"
    assert catalogue["/MarkInfo"]["/Marked"] is not None
    assert catalogue["/ViewerPreferences"]["/DisplayDocTitle"]
    assert reader.metadata is not None
    assert reader.metadata.title == "Matrix multiplication by precision on NVIDIA H200, 30 November 2026 (1f0c2ab94e57)"
    moment = datetime(2026, 11, 30, 21, 10, 6, tzinfo=UTC)
    assert (reader.metadata.creation_date, reader.metadata.modification_date) == (moment, moment)


def test_metadata_says_pdf_a_and_pdf_ua(catalogue: Any) -> None:
    xmp = catalogue["/Metadata"].get_data().decode()
    assert re.search(r'pdfaid:part="3"', xmp)
    assert re.search(r'pdfaid:conformance="A"', xmp)
    assert "<pdfuaid:part>1</pdfuaid:part>" in xmp
    assert "pdfaExtension:schemas" in xmp
    assert xmp.count("</rdf:RDF>") == 1


def test_attachments_are_whole_dated_and_named_once(reader: PdfReader, catalogue: Any) -> None:
    assert {name: contents[0] for name, contents in reader.attachments.items()} == {a.name: a.data for a in ATTACHED}
    files = [reference.get_object() for reference in catalogue["/AF"]]
    assert [file["/UF"] for file in files] == sorted(a.name for a in ATTACHED)
    relations = {file["/UF"]: (file["/AFRelationship"], file["/EF"]["/F"]["/Subtype"]) for file in files}
    assert relations["processed.csv"] == ("/Source", "/text/csv")
    assert relations["manifest-sha256.txt"] == ("/Supplement", "/text/plain")
    assert {file["/EF"]["/F"]["/Params"]["/ModDate"] for file in files} == {"D:20261130211006Z"}


def test_bookmarks_follow_the_sections(reader: PdfReader) -> None:
    titles = re.findall(r"'/Title': '([^']*)'", str(reader.outline))
    assert titles[0] == "Matrix multiplication by precision"
    assert [t for t in titles if t in {"What this says", "Why it is so", "Provenance", "Evidence", "Glossary"}] == [
        "What this says",
        "Why it is so",
        "Provenance",
        "Evidence",
        "Glossary",
    ]


def test_only_dejavu_is_embedded(reader: PdfReader) -> None:
    pages: list[Any] = list(reader.pages)
    names = {str(font["/BaseFont"]) for page in pages for font in page["/Resources"]["/Font"].values()}
    assert len(names) == 4
    assert all("DejaVu" in name for name in names)


def test_charts_have_words_in_place_of_them(data: bytes) -> None:
    reader = PdfReader(io.BytesIO(data))
    count: Any = reader.trailer["/Size"]
    objects: list[Any] = [reader.get_object(number) for number in range(1, int(count))]
    told = [str(o["/Alt"]) for o in objects if isinstance(o, dict) and o.get("/S") == "/Figure" and "/Alt" in o]
    assert len(told) == len(specimen.dossier().charts)
    assert any(words.startswith("Figure 1, Speed over size. Each point is the mean") for words in told)


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "relative.png", "ftp://example.invalid/x", "http://127.0.0.1:1/x"]
)
def test_a_page_that_asks_for_anything_from_outside_is_not_printed(address: str) -> None:
    from reportgen.dossier.press import press

    with pytest.raises(ValueError, match="holds all that it needs"):
        press(f'<base href="file:///tmp/"><img src="{address}" alt="">', (), datetime(2026, 1, 1, tzinfo=UTC))


_SCRIPT = """
import sys
{before}
sys.path.insert(0, {root!r})
from reportgen.dossier import pdf
from tests.dossier import specimen
from tests.dossier.pdf import test_document
sys.stdout.buffer.write(pdf.render(specimen.dossier(), test_document.ATTACHED))
"""


@pytest.mark.parametrize(
    ("settings", "before"),
    [
        ({"TZ": "Pacific/Auckland", "LC_ALL": "C", "PYTHONHASHSEED": "1"}, ""),
        ({"TZ": "America/New_York", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "4711"}, "import weasyprint"),
    ],
)
def test_the_same_bytes_in_another_folder_zone_locale_and_process(
    data: bytes, settings: dict[str, str], before: str, tmp_path: Path
) -> None:
    environment = {**os.environ, **settings, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    made = subprocess.run(
        [sys.executable, "-c", _SCRIPT.format(root=str(ROOT), before=before)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        check=True,
    )
    assert made.stdout == data
