"""The same model feeds all four formats: the same figures are read back out of each, from the finished files alone.

JSON is what the others are held to. HTML carries each figure with its value and source; Markdown is read as GitHub reads it,
and the PDF by pdftotext, so that of both only what is printed can be compared, in its sentence or its row.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options

from reportgen.dossier import fonts, html, jsonform, markdown, pdf, printed
from reportgen.dossier.finished import GAP, Finished, read_html, read_json
from reportgen.dossier.markup import Node, tree
from reportgen.dossier.model import Dossier, Figure
from reportgen.dossier.references import references
from reportgen.dossier.text import visible
from tests.dossier import shipped, specimen

HEAD = "head, findings and cautions"


@dataclass(frozen=True)
class Files:
    """One dossier in its four formats, as finished files are read."""

    html: Finished
    json: Finished
    whole: Any  # the JSON as it is
    markdown: Node
    pdf: str  # without white space
    rows_of_pdf: str  # likewise, in the order in which it was drawn: row after row, cell after cell


def squeezed(text: str) -> str:
    """Return `text` without white space: where a line ends says nothing of what is said."""
    return "".join(text.split())


def files(dossier: Dossier, folder: Path) -> Files:
    path = folder / "dossier.pdf"
    path.write_bytes(pdf.render(dossier))
    whole = jsonform.render(dossier)
    text = cmarkgfm.github_flavored_markdown_to_html(markdown.render(dossier), Options.CMARK_OPT_UNSAFE)
    return Files(
        read_html(html.render(dossier)),
        read_json(whole, "dossier.json"),
        json.loads(whole),
        tree(text),
        squeezed(_pdftotext(path)),
        squeezed(_pdftotext(path, "-raw")),
    )


def _pdftotext(path: Path, *options: str) -> str:
    ran = subprocess.run(["pdftotext", *options, str(path), "-"], capture_output=True, text=True, check=True)
    return ran.stdout


# --- what a sentence says, in each format


def said(sentence: Sequence[Any], unit: str = "") -> str:
    """Return a sentence of the JSON as it is printed; `unit` is what the head of the column says already."""
    return visible("".join(_said(part, unit) for part in sentence))


def _said(part: Any, unit: str) -> str:
    if isinstance(part, str):
        return part
    own = part.get("unit", "")
    return f"{part['text']} {own}" if own and own != unit else str(part["text"])


def sentences(whole: Any) -> Iterator[list[Any]]:
    """Yield what stands in the head, the findings and the cautions, sentence by sentence."""
    yield whole["lead"]
    for fact in whole["head"]:
        yield fact["value"]
    for finding in whole["findings"]:
        yield from (finding["sentence"], *finding["entries"], finding["closing"])
    for caution in whole["cautions"]:
        yield from (caution["what"], [caution["effect"]], caution["mend"], *caution["items"])


def page_text(page: Finished) -> str:
    """Return a page's words with each figure in its place."""
    pieces = page.text.split(GAP)
    texts = [figure.text for figure in page.figures]
    assert len(pieces) == len(texts) + 1
    return "".join(piece + text for piece, text in zip(pieces, [*texts, ""], strict=True))


def not_found(whole: Any, made: Files) -> dict[str, list[str]]:
    """Name by format the sentences of a JSON that are not in the other formats as they stand there."""
    texts = {
        "html": squeezed(page_text(made.html)),
        "markdown": squeezed(made.markdown.text),
        "pdf": made.pdf,
    }
    found: dict[str, list[str]] = {name: [] for name in texts}
    for sentence in sentences(whole):
        words = squeezed(said(sentence))
        for name, text in texts.items():
            wanted = squeezed(fonts.printable(words, fonts.characters())) if name == "pdf" else words
            if wanted not in text:
                found[name].append(said(sentence))
    return found


# --- tables


def tables(whole: Any) -> Iterator[dict[str, Any]]:
    """Yield the tables of a JSON in reading order."""
    for section in [*whole["sections"], *([whole["limits"]] if whole["limits"] else []), whole["method"]]:
        for block in section["blocks"]:
            yield from block["tables"]


def key(figure: Any) -> tuple[str, str, float | None]:
    """Return what two formats must agree on of a figure."""
    value = figure.value
    return (figure.source or "", figure.text, None if value in (None, "nan") else float(value))


@pytest.fixture(scope="module", params=[*shipped.NEWEST, None], ids=lambda p: shipped.name(p) if p else "specimen")
def dossier(request: pytest.FixtureRequest) -> Dossier:
    return shipped.dossier(request.param) if request.param else specimen.dossier()


@pytest.fixture(scope="module")
def made(dossier: Dossier, tmp_path_factory: pytest.TempPathFactory) -> Files:
    if shutil.which("pdftotext") is None:
        pytest.skip("needs pdftotext: apt-get install poppler-utils")
    return files(dossier, tmp_path_factory.mktemp("formats"))


def test_html_and_json_hold_the_same_figures(made: Files) -> None:
    page, data = Counter(map(key, made.html.figures)), Counter(map(key, made.json.figures))

    assert page == data
    assert sum(page.values()) > 60
    for figure in made.html.figures:
        assert figure.source
        assert figure.exact


def test_each_cell_of_each_table_is_the_same_in_html_and_json(made: Files) -> None:
    compared = 0
    for table in tables(made.whole):
        ours, theirs = made.html.tables[table["id"]], made.json.tables[table["id"]]
        assert len(ours) == len(theirs) == len(table["rows"])
        for line, other in zip(ours, theirs, strict=True):
            assert [key(figure) for figure in line.figures] == [key(figure) for figure in other.figures], line.place
            assert [figure.exact for figure in line.figures] == [figure.exact for figure in other.figures]
            compared += len(line.figures)
    assert compared > 30


def test_units_stand_beside_each_figure_or_in_its_head(made: Files) -> None:
    units = {(source, text): unit for source, text, unit in _with_units(made.whole)}

    for figure in made.html.figures:
        unit = visible(units[figure.source or "", figure.text])
        assert not unit or figure.after.lstrip().startswith(unit) or unit in figure.heads, figure


def _with_units(value: Any) -> Iterator[tuple[str, str, str]]:
    if isinstance(value, dict):
        if value.get("kind") == "figure":
            yield value["source"], value["text"], value["unit"]
        for one in value.values():
            yield from _with_units(one)
    elif isinstance(value, list):
        for one in value:
            yield from _with_units(one)


def test_every_sentence_of_the_head_the_findings_and_the_cautions_is_in_all_four(made: Files) -> None:
    figures = [part for sentence in sentences(made.whole) for part in sentence if isinstance(part, dict)]

    assert not_found(made.whole, made) == {"html": [], "markdown": [], "pdf": []}
    assert sum(part["kind"] == "figure" for part in figures) >= 5


def test_a_figure_that_is_another_in_one_format_is_found(made: Files) -> None:
    whole = json.loads(json.dumps(made.whole))
    changed = next(
        part
        for sentence in sentences(whole)
        for part in sentence
        if isinstance(part, dict) and part["kind"] == "figure"
    )
    changed["text"] = "7.7777"

    assert all(len(lost) == 1 for lost in not_found(whole, made).values())


def test_each_printed_cell_of_the_markdown_is_that_of_the_json(made: Files) -> None:
    shown = [table for table in tables(made.whole) if table["rows"]]
    compared = 0
    for node, table in zip(made.markdown.find("table"), shown, strict=False):
        units = [column["unit"] for column in table["columns"]]
        rows = [[cell.text for cell in row.inside if isinstance(cell, Node)] for row in node.find("tr")]
        assert rows[0][0].startswith(visible(table["columns"][0]["label"]))
        for row, cells in zip(rows[1:], table["rows"], strict=False):
            for text, cell, unit in zip(row, cells, units, strict=False):
                assert squeezed(text).startswith(squeezed(said(cell["parts"], unit)))
                assert cell["mark"] in text
                compared += 1
    assert compared > 20


def test_each_row_that_is_printed_stands_in_the_pdf_with_the_figures_of_the_json(dossier: Dossier, made: Files) -> None:
    chosen = printed.select(dossier, references(dossier), {}, pdf.MEASURES["a4"])
    by_id = {table["id"]: table for table in tables(made.whole)}
    rows = 0
    for name, table in chosen.tables.items():
        columns = [(column["label"], column["unit"]) for column in by_id[name]["columns"]]
        for part in table.parts:
            places = _places([(column.label, column.unit) for column in part.table.columns], columns)
            for cells in by_id[name]["rows"][: len(part.table.rows)]:
                words = "".join(_on_paper(cells[place], by_id[name]["columns"][place]) for place in places)
                wanted = squeezed(fonts.printable(words, fonts.characters()))
                assert wanted in made.rows_of_pdf, (name, wanted)
                rows += 1
    assert 10 < rows <= printed.MOST_ROWS


def _places(wanted: list[tuple[str, str]], columns: list[tuple[str, str]]) -> list[int]:
    """Return where the columns of a part stand in the whole table; both are in the same order."""
    places: list[int] = []
    for column in wanted:
        after = columns.index(column, places[-1] + 1 if places else 0)
        places.append(after)
    return places


def _on_paper(cell: Any, column: Any) -> str:
    words = said(cell["parts"], column["unit"] or column["label"])
    return f"{cell['mark']}{words}" if column["numeric"] else f"{words}{cell['mark']}"


def test_a_figure_without_a_value_is_told_in_its_words_everywhere(tmp_path: Path) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("needs pdftotext: apt-get install poppler-utils")
    lost = Figure(float("nan"), "not known", "", "not known", "1f0c2ab94e57.AvgValue")
    made = files(replace(specimen.dossier(), lead=("It took ", lost, ".")), tmp_path)

    assert not_found(made.whole, made) == {"html": [], "markdown": [], "pdf": []}
    assert made.whole["lead"][1]["value"] is None
