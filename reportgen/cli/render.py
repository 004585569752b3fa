"""`reportgen render`: one bundle becomes a dossier."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reportgen.cli.commands import example
from reportgen.cli.output import json_option, print_json
from reportgen.cli.paths import PATH

if TYPE_CHECKING:
    from reportgen.dossier.model import Tier

FORMATS = ("html", "pdf", "json", "markdown")


@click.command(
    epilog=example(
        "reportgen render bundles/matmul/20261130T211006Z-1f0c2ab94e57 --out dossier",
        "reportgen render BUNDLE --out dossier --format pdf --paper letter --tier public",
    )
)
@click.argument("bundle", type=PATH)
@click.option("--out", required=True, metavar="DIR", type=PATH, help="Put the dossier here.")
@click.option(
    "--format", "formats", multiple=True, type=click.Choice(FORMATS), help="May be given again.  [default: html, pdf]"
)
@click.option(
    "--tier",
    type=click.Choice(["public", "full"]),
    default="full",
    show_default=True,
    help="'public' withholds hosts, users, paths, addresses and raw reports.",
)
@click.option("--paper", type=click.Choice(["a4", "letter"]), default="a4", show_default=True)
@click.option(
    "--templates",
    metavar="DIR",
    type=PATH,
    help="Templates and style sheets that go before those that ship; see docs/templates.md.",
)
@json_option
def command(
    bundle: Path, out: Path, formats: tuple[str, ...], tier: Tier, paper: str, templates: Path | None, as_json: bool
) -> None:
    """Render a bundle as a dossier: dossier.html and dossier.pdf unless told otherwise.

    Only those files are replaced; DIR may hold others. Long tables go to dossier_files/ beside them. The same bundle
    and the same reportgen give the same bytes, anywhere.
    """
    from reportgen.dossier.render import render

    written = render(bundle, out, formats or ("html", "pdf"), tier, paper, templates and templates.resolve())
    if as_json:
        print_json({"tier": tier, "paper": paper, "files": [str(path) for path in written]})
    else:
        for path in written:
            click.echo(str(path))
