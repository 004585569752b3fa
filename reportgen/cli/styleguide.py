"""`reportgen styleguide`: each element of a dossier once, by its name."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from reportgen.cli.commands import example
from reportgen.cli.output import json_option, print_json
from reportgen.cli.paths import PATH


@click.command(
    epilog=example(
        "reportgen styleguide site/bundles/*/* --out styleguide",
        "reportgen styleguide bundles/matmul/20261130T211006Z-1f0c2ab94e57 --out styleguide --templates site/templates",
    )
)
@click.argument("bundles", nargs=-1, required=True, metavar="BUNDLE...", type=PATH)
@click.option("--out", required=True, metavar="DIR", type=PATH, help="Put styleguide.html here.")
@click.option(
    "--templates",
    metavar="DIR",
    type=PATH,
    help="Templates and style sheets that go before those that ship; see docs/templates.md.",
)
@json_option
def command(bundles: tuple[Path, ...], out: Path, templates: Path | None, as_json: bool) -> None:
    """Show each element of a dossier once, by its name, taken from real bundles.

    The page is made by the templates and the style of a dossier, so that whoever changes these sees all that they change.
    An element that none of the bundles has is named and not shown.
    """
    from reportgen.dossier.styleguide import NOT_SHOWN, write_guide

    written, known = write_guide(bundles, out, templates and templates.resolve())
    if as_json:
        print_json({"files": [str(path) for path in written], "elements": [asdict(one) for one in known]})
        return
    for path in written:
        click.echo(str(path))
    lacking = [one.name for one in known if not one.bundle]
    if lacking:
        click.echo(f"{NOT_SHOWN}: {', '.join(lacking)}")
