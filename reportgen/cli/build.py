"""`reportgen build`: all bundles of a site become pages."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reportgen.cli.commands import example
from reportgen.cli.output import count, json_option, print_json, warn
from reportgen.cli.paths import PATH

if TYPE_CHECKING:
    from reportgen.dossier.model import Tier


@click.command(epilog=example("reportgen build site", "reportgen build site --tier full --strict --jobs 8"))
@click.argument("site", type=PATH)
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Render N dossiers at once; one for each core unless given."
)
@click.option("--strict", is_flag=True, help="Verify every bundle, and publish nothing if there is a warning.")
@click.option(
    "--tier",
    type=click.Choice(["public", "full"]),
    help="'public' withholds hosts, users, paths, addresses and raw reports.  [default: site.toml's, else public]",
)
@json_option
def command(site: Path, jobs: int | None, strict: bool, tier: Tier | None, as_json: bool) -> None:
    """Build the static site SITE/public from all bundles under SITE/bundles.

    SITE/site.toml is optional. What an earlier build made is used again where nothing that it came from has changed.
    A bundle that is spoiled is named in a warning, and the rest is published.
    """
    from reportgen.publish.site import StrictError, build

    begin = time.monotonic()
    try:
        built = build(site, jobs=jobs, strict=strict, tier=tier)
    except StrictError as error:
        for line in error.warnings:
            warn(line)
        raise
    for line in built.warnings:
        warn(line)
    if as_json:
        print_json(
            {
                "front_page": built.front,
                "url": built.front.as_uri(),
                "tier": built.tier,
                "dossiers": built.dossiers,
                "rendered": built.rendered,
                "reused": built.reused,
                "warnings": built.warnings,
            }
        )
        return
    seconds = time.monotonic() - begin
    click.echo(
        f"{count(built.dossiers, 'dossier')}: {built.rendered} rendered, {built.reused} unchanged, in {seconds:.1f} s"
    )
    click.echo(f"front page: {built.front}")
    click.echo(f"            {built.front.as_uri()}")
