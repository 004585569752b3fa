"""A folder of templates of one's own, as docs/templates.md describes it, in `reportgen build` and in `reportgen render`."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from pathlib import Path

import pytest

from reportgen.cli import main
from reportgen.dossier.environment import replaceable
from reportgen.dossier.markup import tree
from reportgen.resources import templates
from reportgen.workflow.audit import audit
from reportgen.workflow.ingest import ingest

ROOT = Path(__file__).parent.parent.parent
DATA = ROOT / "tests" / "data"
COLOUR = "#1d5c3f"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ingest([DATA / "thread.ncu-rep"], tmp_path_factory.mktemp("own")).path


@pytest.fixture
def site(tmp_path: Path, bundle: Path) -> Path:
    """Return a site with a page extended as the document shows it, one style sheet replaced and one added."""
    site = tmp_path / "site"
    shutil.copytree(bundle, site / "bundles" / bundle.parent.name / bundle.name)
    (site / "site.toml").write_text('pdf = "none"\n', encoding="utf-8")
    own = site / "templates"
    (own / "dossier").mkdir(parents=True)
    (own / "shared").mkdir()
    (own / "dossier/page.html.j2").write_text(_example(), encoding="utf-8")
    tokens = (templates() / "shared/tokens.css").read_text(encoding="utf-8")
    changed, times = re.subn(r"--accent: #[0-9a-f]{6};", f"--accent: {COLOUR};", tokens, count=1)
    assert times == 1
    (own / "shared/tokens.css").write_text(changed, encoding="utf-8")
    (own / "dossier/own.css").write_text("h1 { letter-spacing: 0.05em; }", encoding="utf-8")
    return site


def _example() -> str:
    """Return the template of the document's own example."""
    text = (ROOT / "docs/templates.md").read_text(encoding="utf-8")
    found = re.search(r"```jinja\n(\{# site/templates/dossier/page\.html\.j2 #\}.*?)```", text, flags=re.DOTALL)
    assert found is not None
    return found[1]


def _built(site: Path) -> str:
    assert main(["build", str(site), "--jobs", "1"]) == 0
    (page,) = site.glob("public/*/*/dossier.html")
    return page.read_text(encoding="utf-8")


def _style(page: str) -> str:
    return next(tree(page).find("style")).text


def test_a_site_s_folder_makes_its_dossiers(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = _built(site)

    footer = next(tree(page).find("footer")).words
    assert "rendered by reportgen" in footer
    assert footer.endswith("GPU performance group, internal.")
    assert f"--accent: {COLOUR};" in _style(page)
    assert _style(page).endswith("h1 { letter-spacing: 0.05em; }")
    digest = base64.b64encode(hashlib.sha256(_style(page).encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in next(
        node.get("content") for node in tree(page).find("meta") if node.get("http-equiv")
    )
    shutil.rmtree(site / "templates")
    without = _built(site)
    assert "GPU performance group" not in without
    assert COLOUR not in without


def test_render_takes_the_same_folder(site: Path, bundle: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ["render", str(bundle), "--out", str(out), "--format", "html", "--tier", "public"]
    assert main([*command, "--templates", str(site / "templates")]) == 0
    page = (out / "dossier.html").read_text(encoding="utf-8")
    built = _built(site)

    assert _style(page) == _style(built)
    assert next(tree(page).find("footer")).words == next(tree(built).find("footer")).words
    assert audit(out, bundle).ok
    rows = (out / "dossier_files/rows.html").read_text(encoding="utf-8")
    assert f"--accent: {COLOUR};" in rows


def test_every_file_that_may_be_replaced_is_in_the_document() -> None:
    text = (ROOT / "docs/templates.md").read_text(encoding="utf-8")

    assert [name for name in replaceable() if name not in text] == []


def test_a_macro_of_one_s_own_goes_before_ours(bundle: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "dossier").mkdir(parents=True)
    parts = (templates() / "dossier/parts.html.j2").read_text(encoding="utf-8")
    changed, times = re.subn(r"(\{% macro name\(it\) -%\}\n<code)", r'\1 class="ours"', parts)
    assert times == 1
    (own / "dossier/parts.html.j2").write_text(changed, encoding="utf-8")

    assert (
        main(["render", str(bundle), "--out", str(tmp_path / "out"), "--format", "html", "--templates", str(own)]) == 0
    )
    page = (tmp_path / "out/dossier.html").read_text(encoding="utf-8")
    assert page.count('<code class="ours"') > 3
