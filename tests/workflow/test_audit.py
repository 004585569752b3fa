"""An audit passes what is right, and names whatever was changed: in the page, in the JSON, and in the evidence."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import reportgen
from reportgen.dossier.render import render
from reportgen.evidence import tables
from reportgen.evidence.errors import UserError
from reportgen.workflow import audit as auditing
from reportgen.workflow.audit import Audit, audit
from reportgen.workflow.ingest import ingest
from tests.workflow import probed

DATA = Path(__file__).parent.parent / "data"
ROWS = "dossier_files/rows.html"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return probed.make(tmp_path_factory.mktemp("audited"))


@pytest.fixture(scope="module")
def rendered(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rendered")
    render(bundle, out, formats=("html", "json"), tier="full")
    return out


@pytest.fixture
def dossier(rendered: Path, tmp_path: Path) -> Path:
    """Return a copy that may be spoiled."""
    return Path(shutil.copytree(rendered, tmp_path / "dossier"))


def said(found: Audit) -> list[str]:
    """Return all that an audit complains of, a line each."""
    wrong = [f"{file.name}: {one.kind}: {one.place}: {one.what}" for file in found.files for one in file.wrong]
    return [*wrong, *(f"{fault.file}: {fault.what}" for fault in found.faults)]


def test_a_dossier_as_it_was_rendered_passes_with_every_figure_recomputed(rendered: Path, bundle: Path) -> None:
    found = audit(rendered, bundle)

    assert said(found) == []
    assert found.ok
    assert [file.name for file in found.files] == ["dossier.html", ROWS, "dossier.json"]
    assert all(file.equal > 100 for file in found.files)
    assert found.raw == 6
    assert found.samples > 5000
    assert found.processed > 500


def test_values_of_a_suites_own_function_are_counted_apart(rendered: Path, bundle: Path) -> None:
    page = (rendered / "dossier.html").read_text()
    found = {file.name: file for file in audit(rendered, bundle).files}

    assert 0 < found["dossier.html"].recorded < 20
    assert found["dossier.html"].recorded + found["dossier.html"].equal == page.count("<data ")


def test_a_public_dossier_passes_against_the_whole_bundle(bundle: Path, tmp_path: Path) -> None:
    render(bundle, tmp_path / "out", formats=("html", "json"), tier="public")

    assert said(audit(tmp_path / "out", bundle)) == []


def test_a_dossier_of_imported_files_passes(tmp_path: Path) -> None:
    files = [DATA / "matmul.ncu-rep", DATA / "range.ncu-rep", DATA / "matmul.raw.base.csv"]
    made = ingest(files, tmp_path / "bundles", derived=["TFLOP/s=2*n**3/time/1e12"], scenario="default")
    render(made.path, tmp_path / "out", formats=("html",))
    found = audit(tmp_path / "out" / "dossier.html", made.path)

    assert said(found) == []
    assert found.ok
    assert found.raw == 2  # the CSV holds the launches of a report


Change = Callable[[str], str]


def swap(old: str, new: str, count: int = 1) -> Change:
    """Return what replaces a pattern that must be there."""

    def change(text: str) -> str:
        made, number = re.subn(old, new, text, count=count, flags=re.DOTALL)
        assert number, old
        assert made != text, old
        return made

    return change


FIGURE = r'<data value="[^"]+" data-source="[0-9a-f]{12}\.AvgValue" title="[^"]+">'
CELL = rf'(<td class="n"[^>]*>){FIGURE}[^<]+</data>'

PAGE: dict[str, tuple[Change, str]] = {
    "text of a figure": (
        swap(rf"({CELL[:-len('[^<]+</data>')]})[^<]+</data>", r"\g<1>123.4</data>"),
        r"differs: .*row '.*column '.*': prints '123\.4': it is not the value rounded; its source gives [\d.e+]+ ",
    ),
    "digits of a figure": (swap(rf"({FIGURE}\d+)\.(\d)\d*</data>", r"\1.\g<2>9999999999</data>"), "not the value rounded"),
    "value of a figure": (
        swap(r'<data value="[^"]+"( data-source="[0-9a-f]{12}\.AvgValue")', r'<data value="1.5"\1'),
        r"differs: .*: the value of '.+' is 1\.5, and its source gives",
    ),
    "exact value of a figure": (
        swap(r'(data-source="[0-9a-f]{12}\.AvgValue") title="[^"]+"', r'\1 title="7 ns"'),
        r"differs: .*: the exact value of '.+' is said to be 7 ns",
    ),
    "unit behind a figure": (swap(r'(Size <span class="unit">)bytes', r"\1kB"), "differs: .*it is not the value rounded"),
    "another unit": (swap(rf'({CELL})', r"\1&nbsp;years"), "its unit is not s or ms or us or ns"),
    "unit of a column": (swap('<span class="unit">us</span>', '<span class="unit">s</span>'), "not the value rounded"),
    "source of a figure": (
        swap(r'data-source="[0-9a-f]{12}\.AvgValue"', 'data-source="0123456789ab.AvgValue"'),
        "no source: .*: the source of '.+' leads nowhere: the processed table has no row 0123456789ab",
    ),
    "figure without a source": (swap("</main>", '<p>It took <data value="42">42</data> s.</p></main>'), "no source: .*: '42' has no source"),
    "figure with a source of its own": (
        swap("</main>", '<p><data value="42" data-source="guess(42)">42</data></p></main>'),
        "no source: .*: the source of '42' leads nowhere: there is no function 'guess'",
    ),
    "figure that is gone": (swap(rf"{FIGURE}([^<]+)</data>", r"\1"), r"missing: .*: '.+' is not there"),
    "name of a row": (swap(r"<tbody>\s*<tr>(<th[^>]*>).*?</th>", r"<tbody><tr>\1<code>other</code></th>"), "differs: .*the row does not say '.+', which it should"),
    "row that is gone": (swap(r"(<tbody>\s*)<tr>.*?</tr>", r"\1"), r"differs: #[\w-]+: the table has \d+ rows, and should have \d+"),
    "rows that changed places": (swap(r"(<tbody>\s*)(<tr>.*?</tr>)\s*(<tr>.*?</tr>)", r"\1\3\2"), "differs: .*row 1.: the row does not hold the figures that it should"),
    "words of a caution": (swap(r'(<p class="what">)[^<]+', r"\1All is well"), "missing: cautions: '.+' is not there, or in other words"),
    "drawing": (swap(r'(<svg.*?<path d="M )\d', r"\g<1>9"), r"differs: #[\w-]+: the drawing is not that of its data"),
    "drawing that is gone": (swap(r"<svg.*?</svg>", ""), r"differs: #[\w-]+: the drawing is not there"),
    "data of a chart": (
        swap(r'(<a download="[\w-]+\.csv" [^>]*href="data:text/csv;charset=utf-8;base64,)[^"]+', r"\1YSxiCjEsMgo="),
        r"differs: [\w-]+\.csv: (its columns are others|it has \d+ lines)",
    ),
    "digest of a file": (swap(r'(<code class="digest">)[0-9a-f]{8}(<wbr>[^\n]*</tr>)', r"\g<1>00000000\2"), "differs: #files, .*: its digest is not the one that is printed"),
    "table that is gone": (swap(r'<figure class="listing" id="([\w-]+)">.*?</figure>', "", 1), r"missing: #[\w-]+: the table is not there"),
    "bundle that it names": (swap(r'data-bundle="[0-9a-f]+"', 'data-bundle="ff"'), "differs: : it is of the bundle ff, and the evidence is"),
    "every figure": (swap(r"<data [^>]*>([^<]*)</data>", r"\1", 0), "missing: : it holds no figure at all"),
}  # fmt: skip


@pytest.mark.parametrize("name", PAGE)
def test_what_was_changed_in_the_page_is_named(dossier: Path, bundle: Path, name: str) -> None:
    change, says = PAGE[name]
    path = dossier / "dossier.html"
    path.write_text(change(path.read_text()))
    found = audit(path, bundle)

    assert not found.ok
    assert any(re.search(says, line) for line in said(found)), "\n".join(said(found))


def test_one_change_is_one_complaint(dossier: Path, bundle: Path) -> None:
    path = dossier / "dossier.html"
    path.write_text(swap(rf"({FIGURE})[^<]+</data>", r"\g<1>0.123</data>")(path.read_text()))

    assert len(said(audit(path, bundle))) == 1


def test_what_was_changed_in_the_json_is_named(dossier: Path, bundle: Path) -> None:
    path = dossier / "dossier.json"
    whole = json.loads(path.read_text())
    line = whole["sections"][0]["blocks"][0]["tables"][0]["rows"][0]
    figures = [part for cell in line for part in cell["parts"] if isinstance(part, dict) and part["kind"] == "figure"]
    figures[0]["text"] = "987"
    figures[1]["value"] += 1
    figures[2]["source"] = ""
    whole["data"][0]["text"] += "1\n"
    path.write_text(json.dumps(whole))
    lines = said(audit(path, bundle))

    place = r"sections\[[\w-]+\]\.blocks\[[\w-]+\]\.tables\[[\w-]+\]\.rows\[0\]\[\d+\]\.parts\[\d\]"
    assert any(re.search(rf"differs: {place}: prints '987.*not the value rounded", text) for text in lines)
    assert any(re.search(rf"differs: {place}: the value of", text) for text in lines)
    assert any(re.search(rf"no source: {place}: '.+' has no source", text) for text in lines)
    assert any(re.search(rf"differs: {re.escape(whole['data'][0]['name'])}: ", text) for text in lines)


def test_what_was_changed_beside_the_page_is_named(dossier: Path, bundle: Path) -> None:
    rows = dossier / ROWS
    rows.write_text(swap(r"(<dt>mean</dt><dd><data [^>]*>)[\d.]+", r"\g<1>1.25")(rows.read_text()))
    table = dossier / "dossier_files" / "processed-ncu-default.csv"
    cells = table.read_text().splitlines()
    values = cells[3].split(",")
    values[2] = "4711.5"
    table.write_text("\n".join([*cells[:3], ",".join(values), *cells[4:]]) + "\n")
    lines = said(audit(dossier / "dossier.html", bundle))

    assert any(
        re.search(
            r"rows\.html: differs: Rows.*prints '1\.25': no unit stands by it, and it is not the exact value", line
        )
        for line in lines
    )
    assert any(
        re.search(r"differs: processed-ncu-default\.csv, line 4 \(.*\), AvgValue: it says '4711\.5'", line)
        for line in lines
    )
    assert len(lines) == 2
    rows.unlink()
    table.unlink()
    lines = said(audit(dossier / "dossier.html", bundle))
    assert any(re.search(r"missing: processed-ncu-default\.csv: the file is not there", line) for line in lines)
    assert any(re.search(r"missing: .*: '[\d.]+' is not there", line) for line in lines)


# --- the evidence


def one_more(column: str, at: Callable[[dict[str, str]], bool]) -> Callable[[bytes], bytes]:
    """Return what adds 1 to a number of the first line of a CSV that is as asked."""

    def change(data: bytes) -> bytes:
        rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
        row = next(row for row in rows if at(row))
        row[column] = str(int(row[column]) + 1)
        return tables.rows_to_csv([list(row), *(list(row.values()) for row in rows)])

    return change


def timed(row: dict[str, str]) -> bool:
    return "gpu__time_duration.sum" in row.values()


def test_a_file_that_no_longer_fits_its_digest_ends_the_audit(bundle: Path, rendered: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(bundle, tmp_path / bundle.name))
    path = copy / "data/cupti/default/0/activity.csv"
    path.write_bytes(path.read_bytes() + b" ")
    found = audit(rendered, copy)

    assert not found.ok
    assert found.files == ()
    assert any(line.startswith("data/cupti/default/0/activity.csv: was changed") for line in said(found))


def test_a_changed_raw_file_is_found_though_every_digest_was_made_anew(bundle: Path, tmp_path: Path) -> None:
    sampled = (bundle / "data/samples/cupti/default/raw.csv").read_text()
    line = re.search(r"activity\.csv#L(\d+)", sampled)
    assert line is not None
    with (bundle / "data/cupti/default/0/activity.csv").open(newline="") as file:
        start = list(csv.DictReader(file))[int(line[1]) - 2]["start_ns"]
    kernel = one_more("end_ns", lambda row: row["start_ns"] == start)
    copy = probed.spoiled(bundle, tmp_path, "data/cupti/default/0/activity.csv", kernel)
    render(copy, tmp_path / "out", formats=("html",), tier="full")
    lines = said(audit(tmp_path / "out", copy))

    says = r"data/samples/cupti/default/raw\.csv: cases, \w+, n = 1024, .*: its (value|state) is .* data/cupti/default/0/activity\.csv#L\d+ gives"
    assert any(re.search(says, line) for line in lines), lines


def test_a_changed_row_of_samples_is_found_though_every_digest_was_made_anew(bundle: Path, tmp_path: Path) -> None:
    name = "data/samples/cupti/default/raw.csv"
    value = one_more("value", timed)
    copy = probed.spoiled(bundle, tmp_path, name, value)
    render(copy, tmp_path / "out", formats=("html",), tier="full")
    lines = said(audit(tmp_path / "out", copy))

    assert any(
        re.search(rf"{re.escape(name)}: cases, .*: its value is \d+, and data/cupti/\S+ gives \d+", line)
        for line in lines
    )
    assert any(re.search(r"dossier\.html: differs: .*: the value of", line) for line in lines)


def test_a_row_of_samples_that_is_gone_or_was_added_is_named(bundle: Path, tmp_path: Path) -> None:
    name = "data/samples/cupti/default/raw.csv"

    def change(data: bytes) -> bytes:
        head, _, *rest = data.decode().split("\n")
        return "\n".join([head, *rest[:-1], rest[0].replace("#L", "#L9"), ""]).encode()

    copy = probed.spoiled(bundle, tmp_path, name, change)
    render(copy, tmp_path / "out", formats=("html",), tier="full")
    lines = said(audit(tmp_path / "out", copy))

    assert any(re.search(r"raw\.csv: .*: it lacks \S+ at data/cupti/", line) for line in lines)
    assert any(
        re.search(r"raw\.csv: .*: it has \S+ at data/cupti/\S+#L9\d+, which the raw evidence does not give", line)
        for line in lines
    )


def test_a_changed_row_of_the_processed_table_is_named(bundle: Path, tmp_path: Path) -> None:
    name = "data/samples/cupti/default/processed.csv"
    value = one_more("MaxValue", timed)
    copy = probed.spoiled(bundle, tmp_path, name, value)
    render(copy, tmp_path / "out", formats=("html",), tier="full")
    lines = said(audit(tmp_path / "out", copy))

    assert len(lines) == 1
    assert re.search(
        rf"{re.escape(name)}: [0-9a-f]{{12}} \(cases, \w+, gpu__time_duration\.sum\): MaxValue is \d+, and the samples give \d+",
        lines[0],
    )


def test_another_version_may_have_written_another_processed_table(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "data/samples/cupti/default/processed.csv"
    value = one_more("MaxValue", timed)
    copy = probed.spoiled(bundle, tmp_path, name, value)
    monkeypatch.setattr(reportgen, "__version__", "9.9.9")
    render(copy, tmp_path / "out", formats=("html",), tier="full")
    found = audit(tmp_path / "out", copy)

    assert found.ok
    assert re.search(r"reportgen \S+ wrote another row: .*MaxValue is", found.notes[0])


def test_an_answer_of_the_suites_own_function_to_what_was_not_asked_is_named(bundle: Path, tmp_path: Path) -> None:
    def change(data: bytes) -> bytes:
        return re.sub(rb'"time": [\d.e-]+', b'"time": 1.0', data, count=1)

    copy = probed.spoiled(bundle, tmp_path, "data/derived.jsonl", change)
    render(copy, tmp_path / "out", formats=("html",), tier="full")
    lines = said(audit(tmp_path / "out", copy))

    assert any(line.startswith("data/derived.jsonl#L1: it does not say what the raw evidence gives") for line in lines)


def test_a_raw_file_that_is_gone_is_named(bundle: Path, tmp_path: Path) -> None:
    copy = probed.spoiled(bundle, tmp_path, "data/cupti/default/0/done.json", lambda _: b"no JSON")
    render(copy, tmp_path / "out", formats=("html",), tier="full")
    lines = said(audit(tmp_path / "out", copy))

    assert any(re.search(r"data/cupti/default/0: cannot be read again: ", line) for line in lines)
    assert any(re.search(r"raw\.csv: .*which the raw evidence does not give", line) for line in lines)


# --- what is no dossier, and other versions


def test_a_dossier_of_another_version_is_computed_again_and_not_held_to_what_it_may_lack(
    dossier: Path, bundle: Path
) -> None:
    path = dossier / "dossier.html"
    other = swap(r'content="reportgen [^"]+"', 'content="reportgen 0.0.1"')(path.read_text())
    path.write_text(swap(rf"{FIGURE}([^<]+)</data>", r"\1")(other))
    found = audit(path, bundle)

    assert found.ok
    assert "rendered by reportgen 0.0.1" in found.notes[0]
    path.write_text(swap(r'<data value="[^"]+"', '<data value="1.5"')(other))
    assert not audit(path, bundle).ok


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("x.html", b"<html><p>words", "does not say of which bundle"),
        ("x.html", b"\xff\xfe\x00", "neither a dossier's HTML nor its JSON"),
        ("x.txt", b"words", "neither a dossier's HTML nor its JSON"),
        ("x.json", b"{", "no JSON"),
        ("x.json", b'{"format": "else"}', "not the JSON of a dossier"),
        ("x.json", b'{"format": "reportgen dossier", "rows": 3, "data": 7}', "does not say of which bundle"),
    ],
)
def test_what_is_no_dossier_is_refused(bundle: Path, tmp_path: Path, name: str, data: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UserError, match=says):
        audit(tmp_path / name, bundle)


def test_a_path_without_a_dossier_is_refused(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="holds neither"):
        audit(tmp_path, bundle)
    with pytest.raises(UserError, match="no such file"):
        audit(tmp_path / "none", bundle)
    (tmp_path / "dossier.html").write_text("<html>")
    monkeypatch.setattr(auditing, "_MOST_BYTES", 3)
    with pytest.raises(UserError, match="far too large"):
        audit(tmp_path, bundle)


def test_nothing_passes_that_holds_no_figure(dossier: Path, bundle: Path) -> None:
    path = dossier / "dossier.html"
    empty: Sequence[tuple[str, str]] = [
        (r"<main.*</main>", "<main></main>"),
        (r"<data [^>]*>", "<b>"),
        ("</data>", "</b>"),
    ]
    text: Any = path.read_text()
    for old, new in empty:
        text = re.sub(old, new, text, flags=re.DOTALL)
    path.write_text(swap(r'content="reportgen [^"]+"', 'content="reportgen 0.0.1"')(text))
    shutil.rmtree(dossier / "dossier_files")
    found = audit(path, bundle)

    assert not found.ok
    assert said(found) == ["dossier.html: missing: : it holds no figure at all: nothing was computed again"]
