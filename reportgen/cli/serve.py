"""`reportgen serve`: a built site in a browser on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from reportgen.cli.commands import example
from reportgen.cli.paths import PATH


@click.command(epilog=example("reportgen serve site", "reportgen serve site --port 9000 --bind 0.0.0.0"))
@click.argument("site", type=PATH)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes any that is free."
)
@click.option(
    "--bind", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="0.0.0.0 shows it to the network."
)
def command(site: Path, port: int, bind: str) -> None:
    """Serve SITE/public until Ctrl-C. The pages also open without a server, straight from the folder."""
    from reportgen.publish.serve import server

    with server(site, port=port, bind=bind) as running:
        host, bound = running.server_address[:2]
        shown = f"[{host!s}]" if ":" in str(host) else str(host)
        click.echo(f"serving {site}: http://{shown}:{bound}/ (Ctrl-C stops it)")
        running.serve_forever()
