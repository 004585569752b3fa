"""A dossier's tables and charts as a notebook whose outputs are in place, and its page from a dossier that is ready.

`python notebook.py DOSSIER.pickle PAGE` renders the page, in a fresh process: what nbconvert does with the notebook.
"""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from reportgen.dossier.model import Dossier, Table


def notebook(dossier: Dossier) -> str:
    """Return a notebook with the charts of `dossier` as SVG and its tables as pandas would show them: nothing is left to run."""
    from reportgen.dossier.references import blocks

    cells = [_words(f"# {dossier.title}")]
    for block in blocks(dossier):
        cells.append(_words(f"## {block.heading}"))
        cells += [_output("image/svg+xml", panel) for chart in block.charts for panel in chart.panels]
        cells += [_output("text/html", _html(table)) for table in block.tables]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": cells})


def _words(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _output(kind: str, data: str) -> dict[str, Any]:
    shown = {"output_type": "display_data", "metadata": {}, "data": {kind: data}}
    return {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": "show()", "outputs": [shown]}


def _html(table: Table) -> str:
    from reportgen.dossier.text import plain

    head = "".join(f"<th>{escape(column.label)} {escape(column.unit)}</th>" for column in table.columns)
    rows = ("".join(f"<td>{escape(plain(cell.parts))} {escape(cell.mark)}</td>" for cell in row) for row in table.rows)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<table border="1" class="dataframe"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def counts(dossier: Dossier) -> Iterator[str]:
    """Say how much a notebook of `dossier` holds."""
    from reportgen.dossier.references import blocks

    tables = [table for block in blocks(dossier) for table in block.tables]
    yield f"{sum(len(chart.panels) for chart in dossier.charts)} drawings"
    yield f"{len(tables)} tables of {sum(len(table.rows) for table in tables)} rows"


def main() -> int:
    """Render a page."""
    from reportgen.dossier import html

    source, target = map(Path, sys.argv[1:])
    dossier = pickle.loads(source.read_bytes())  # noqa: S301 - the benchmark wrote it itself
    target.write_text(html.render(dossier), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
