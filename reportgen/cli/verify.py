"""`reportgen verify`: is a bundle still what was kept?"""

from __future__ import annotations

from pathlib import Path

import click

from reportgen.cli.commands import example
from reportgen.cli.output import count, json_option, print_json, printable
from reportgen.cli.paths import PATH


@click.command(epilog=example("reportgen verify bundles/matmul/20261130T211006Z-1f0c2ab94e57"))
@click.argument("bundle", type=PATH)
@json_option
def command(bundle: Path, as_json: bool) -> int:
    """Check every file of a bundle against its manifests, and the manifests against each other.

    Finds any changed, missing, extra or renamed file and says which, one a line; the exit code is 1 then.
    """
    from reportgen.evidence.verify import verify

    faults = verify(bundle)
    files, digest = (0, "") if faults else _identity(bundle)
    if as_json:
        found = [{"file": fault.file, "what": fault.what} for fault in faults]
        print_json({"path": bundle, "ok": not faults, "files": files, "digest": digest, "faults": found})
    elif faults:
        for fault in faults:
            click.echo(printable(f"{fault.file}: {fault.what}"))
    else:
        click.echo(f"ok: {count(files, 'file')}, digest {digest}")
    return 1 if faults else 0


def _identity(bundle: Path) -> tuple[int, str]:
    """Return how many files a bundle has and its digest."""
    from reportgen.evidence.bundle import open_bundle

    opened = open_bundle(bundle)
    return len(opened.files()), opened.digest
