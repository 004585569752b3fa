"""Dossiers are written whole, from whole bundles, and never into one."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from pypdf import PdfReader

from reportgen.dossier.render import render
from reportgen.evidence.errors import UserError
from reportgen.evidence.verify import verify
from reportgen.workflow.ingest import ingest

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return ingest([DATA / "matmul.ncu-rep"], tmp_path / "bundles").path


@pytest.mark.parametrize("below", [".", "data", "not/there"])
def test_a_dossier_is_never_written_into_a_bundle(bundle: Path, below: str) -> None:
    with pytest.raises(UserError, match="lies in the bundle"):
        render(bundle, bundle / below, ("json",))
    assert verify(bundle) == ()


@pytest.mark.parametrize("name", ["data/import/matmul.ncu-rep", "data/extra"])
def test_a_spoiled_bundle_has_no_dossier(bundle: Path, tmp_path: Path, name: str) -> None:
    (bundle / name).write_bytes(b"changed")
    with pytest.raises(UserError, match=f"spoiled: {name}"):
        render(bundle, tmp_path / "out", ("json",))
    assert not (tmp_path / "out").exists()


def test_a_page_is_not_written_where_its_files_cannot_be(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "dossier_files").touch()
    with pytest.raises(UserError, match="dossier_files"):
        render(bundle, tmp_path, ("html",))
    assert not (tmp_path / "dossier.html").exists()


def test_templates_of_one_s_own_make_the_page_and_the_print(bundle: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "dossier").mkdir(parents=True)
    (own / "dossier/page.html.j2").write_text("page of {{ dossier.suite }}")
    print_of = "<html lang=en><title>t</title><h1>Printed for the group</h1></html>"
    (own / "dossier/print.html.j2").write_text(print_of)
    render(bundle, tmp_path / "out", ("html", "pdf"), templates=own)

    assert (tmp_path / "out/dossier.html").read_text() == "page of matmul"
    assert "Printed for the group" in PdfReader(tmp_path / "out/dossier.pdf").pages[0].extract_text()


def test_nothing_is_written_with_templates_that_cannot_be_used(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "own/dossier").mkdir(parents=True)
    (tmp_path / "own/dossier/print.html.j2").write_text("{{ dossier.lost }}")
    with pytest.raises(UserError, match=r"print\.html\.j2:1: cannot be rendered: .*'lost'"):
        render(bundle, tmp_path / "out", ("html", "pdf"), templates=tmp_path / "own")
    assert not (tmp_path / "out").exists()


def test_a_long_name_is_not_repeated_to_sort_by_it(tmp_path: Path) -> None:
    rows = [f'{i},"void {"a::b<1, " * 1000}{i}",1,{1000 + i}' for i in range(40)]
    (tmp_path / "a.csv").write_text(
        "\n".join(["ID,Kernel Name,Process ID,gpu__time_duration.sum", ",,,ns", *rows]) + "\n"
    )
    made = ingest([tmp_path / "a.csv"], tmp_path / "bundles").path
    render(made, tmp_path / "out", ("html",))

    page = (tmp_path / "out/dossier.html").read_text()
    keys = re.findall(r'data-order="([^"]*)"', page)
    assert max(len(unescape(key)) for key in keys) == 200
