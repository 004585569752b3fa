"""The table of what Nsight Compute's own rules say, and the same whole as CSV."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from reportgen.analysis.advice import Advice
from reportgen.dossier import kernel_table, words
from reportgen.dossier.charts import frame
from reportgen.dossier.kernel_table import Shown
from reportgen.dossier.model import Cell, Column, DataFile, Table
from reportgen.dossier.text import Scale, clip, figure, visible

MOST_ROWS = 20
LONGEST = 180  # characters of a rule's message in a page


def advice(found: Sequence[Advice], of: Shown, table_id: str, data_name: str) -> Table | None:
    """Make the table of what rules say, what promises most first; None where no rule said anything."""
    if not found:
        return None
    promises = any(one.speedup is not None for one in found)
    columns = (
        Column("rule", "", False, words.TERMS["rule"]),
        *((Column("annotation"),) if of.apart else ()),
        *(() if of.one_each else (Column("kernel"),)),
        *((Column("may gain", "%", True, words.TERMS["may gain"]),) if promises else ()),
        Column("what it says"),
    )
    rows = tuple(tuple(_row(one, of, promises=promises)) for one in found[:MOST_ROWS])
    caption = "What Nsight Compute's own rules say, in their words; the most that one promises first."
    return Table(table_id, caption, columns, rows, max(0, len(found) - MOST_ROWS), data_name)


def _row(one: Advice, of: Shown, *, promises: bool) -> list[Cell]:
    cells = [Cell((visible(one.title),), one.title)]
    if of.apart:
        annotation = kernel_table.name(one.kind.annotation or "", whole=False, longest=28)
        cells.append(Cell((annotation,), annotation.text))
    if not of.one_each:
        kernel = kernel_table.name(one.kind.name, whole=False)
        cells.append(Cell((kernel,), kernel.text))
    if promises:
        value = one.speedup
        known = value is not None and not math.isnan(value.mean)
        cells.append(
            Cell((figure(value.mean, "%", value.source, Scale("%", 1.0), value.mean / 30),), value.mean)
            if value is not None and known
            else Cell(("",), -math.inf)
        )
    cells.append(Cell((clip(one.message, LONGEST),), one.message[:40]))
    return cells


def data(found: Sequence[Advice], data_name: str) -> DataFile:
    """Make the CSV of all that rules say, whole."""
    table: list[list[Any]] = [["rule", "title", "kernel", "annotation", "configuration", "may_gain_pct", "message"]]
    table += [
        [
            *(one.rule, visible(one.title), visible(one.kind.name), "; ".join(map(visible, one.kind.annotations))),
            ", ".join(f"{key} = {value}" for key, value in one.kind.params),
            *(None if one.speedup is None else one.speedup.mean, visible(one.message)),
        ]
        for one in found
    ]
    return DataFile(
        data_name, "What Nsight Compute's own rules say of every kernel.", frame.csv_of(table), inline=False
    )
