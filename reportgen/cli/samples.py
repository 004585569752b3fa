"""`reportgen samples`: a bundle's tables, for people and other programs."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reportgen.cli.commands import example
from reportgen.cli.paths import PATH
from reportgen.evidence.errors import EnvironmentLacks, UserError

if TYPE_CHECKING:
    import pandas as pd


@click.command(
    epilog=example(
        "reportgen samples bundles/matmul/20261130T211006Z-1f0c2ab94e57 > samples.csv",
        "reportgen samples BUNDLE --processed --format json",
    )
)
@click.argument("bundle", type=PATH)
@click.option(
    "--processed", is_flag=True, help="One row for each annotation, configuration and metric, not each launch."
)
@click.option("--format", "form", type=click.Choice(["csv", "json", "parquet"]), default="csv", show_default=True)
def command(bundle: Path, processed: bool, form: str) -> None:
    """Print every sample of a bundle, or its processed table, to standard output.

    Values are in base units: ns, byte, hz, %. JSON is a list with one object for each row, where null stands for what
    has no value. Every column is described in docs/columns.md.
    """
    if form == "parquet":
        _check_parquet()
    from reportgen.evidence.bundle import open_bundle

    opened = open_bundle(bundle)
    table = opened.samples()
    if processed:
        from reportgen.analysis import processed as analysis

        table = analysis.table(table, formulas=opened.info.formulas, provenance=opened.provenance)
    {"csv": _csv, "json": _json, "parquet": _parquet}[form](table)


def _check_parquet() -> None:
    if find_spec("pyarrow") is None:
        raise EnvironmentLacks(None, "--format parquet needs the package pyarrow", "pip install 'reportgen[analytics]'")
    if sys.stdout.isatty():
        raise UserError(None, "parquet is not for a terminal", "send it to a file: > samples.parquet")


def _csv(table: pd.DataFrame) -> None:
    from reportgen.evidence.tables import frame_to_csv

    click.echo(frame_to_csv(table), nl=False)


def _json(table: pd.DataFrame) -> None:
    import numpy as np

    columns = []
    for name in table.columns:
        column = table[name].astype("object")
        values = column.where(column.notna(), None).tolist()
        columns.append([None if isinstance(v, float) and not np.isfinite(v) else v for v in values])
    names = [str(name) for name in table.columns]
    click.echo("[", nl=False)
    for number, row in enumerate(zip(*columns, strict=True)):
        click.echo(",\n " if number else "\n ", nl=False)
        click.echo(
            json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, allow_nan=False, default=_plain),
            nl=False,
        )
    click.echo("\n]")


def _plain(value: object) -> object:
    """Return a numpy scalar as the number or truth that it is."""
    item = getattr(value, "item", None)
    return item() if callable(item) else str(value)


def _parquet(table: pd.DataFrame) -> None:
    import io

    # A categorical of texts is a dictionary in parquet, which not every reader takes for a text.
    texts = {name: "string" for name in table.columns if table[name].dtype == "category"}
    made = io.BytesIO()
    table.astype(texts).to_parquet(made, index=False)
    click.echo(made.getvalue(), nl=False)
