"""From files to every format: hostile names stay text, and the same bundle gives the same bytes anywhere."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from reportgen.dossier.build import build
from reportgen.dossier.render import pages
from reportgen.dossier.text import visible
from reportgen.evidence.bundle import open_bundle
from reportgen.workflow.ingest import ingest
from tests import hostile

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    path = hostile.write_csv(folder / "names.csv")
    return ingest([path], folder / "out", suite="gather-索引", title=hostile.SCRIPT + hostile.MARKUP).path


class _Page(HTMLParser):
    """Gathers the text of a page, its elements, and whatever would reach out or run."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_samples_keep_the_true_names(bundle: Path) -> None:
    samples = open_bundle(bundle).samples()

    assert set(samples["annotation"]) == set(hostile.NAMES)
    assert set(samples["kernel"]) == set(hostile.NAMES)


def test_html_shows_hostile_names_as_text_and_runs_nothing(bundle: Path) -> None:
    made = pages(bundle, "full", formats=("html",))
    page = _Page()
    page.feed(made["dossier.html"].decode())
    text = "".join(page.text)

    for name in (hostile.SCRIPT, hostile.MARKUP, hostile.CJK, "{{ 7*7 }}", "U+202E", "U+001B"):
        assert name in text, name
    assert [tag for tag, _ in page.elements].count("script") == 1
    for tag, attributes in page.elements:
        assert not any(name.startswith("on") for name in attributes), tag
        assert "style" not in attributes, tag
        for name in ("href", "src", "xlink:href"):
            assert not (attributes.get(name) or "").startswith(("http", "//", "javascript")), attributes


def test_every_chart_is_well_formed(bundle: Path) -> None:
    dossier = build(open_bundle(bundle), "full")

    assert len(dossier.charts) >= 3
    for chart in dossier.charts:
        for panel in chart.panels:
            ElementTree.fromstring(panel)  # noqa: S314 - our own chart
        list(csv.reader(io.StringIO(next(d.text for d in dossier.data if d.name == chart.data_name))))


def test_json_and_csv_hold_the_true_names(bundle: Path) -> None:
    made = pages(bundle, "full", formats=("html", "json"))
    whole = json.loads(made["dossier.json"])
    table = next(text for name, text in made.items() if "processed" in name)

    assert visible(hostile.SCRIPT + hostile.MARKUP) in json.dumps(whole, ensure_ascii=False).replace('\\"', '"')
    annotations = {row["Annotation"] for row in csv.DictReader(io.StringIO(table.decode(), newline=""))}
    assert annotations == set(hostile.NAMES)


def test_the_pdf_shows_names_as_text_and_names_what_its_font_lacks(bundle: Path) -> None:
    pypdf = pytest.importorskip("pypdf")
    data = pages(bundle, "full", formats=("pdf",))["dossier.pdf"]
    text = "".join("".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages).split())

    assert "alert(1)" in text
    assert "gather/U+7D22U+5F15" in text


_ENVIRONMENTS = (
    {"TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "1"},
    {
        "TZ": "America/New_York",
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "77",
        "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512_SKX",
    },
)


def _digests(folder: Path) -> dict[str, str]:
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def test_two_renders_anywhere_give_the_same_bytes(tmp_path: Path) -> None:
    files = [DATA / "matmul.ncu-rep", DATA / "thread.ncu-rep"]
    bundle = ingest(files, tmp_path / "bundles", suite="two", derived=["TFLOP/s=2*n**3/time/1e12"]).path
    found = []
    for index, environment in enumerate(_ENVIRONMENTS):
        home = tmp_path / f"place {index}"
        home.mkdir()
        formats = [part for name in ("html", "pdf", "json", "markdown") for part in ("--format", name)]
        command = [sys.executable, "-m", "reportgen", "render", str(bundle), "--out", "out", *formats]
        ran = subprocess.run(
            command, cwd=home, env={**os.environ, **environment}, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        found.append(_digests(home / "out"))

    assert {f"dossier.{end}" for end in ("html", "pdf", "json", "md")} < set(found[0])
    assert found[0] == found[1]
