"""`reportgen audit`: is every figure of a dossier what the evidence gives?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reportgen.cli.commands import example
from reportgen.cli.output import count, json_option, print_json, printable
from reportgen.cli.paths import PATH

if TYPE_CHECKING:
    from reportgen.workflow.audit import Audit, Audited

_KINDS = {"differs": "differ", "no source": "without a source", "missing": "missing"}


@click.command(epilog=example("reportgen audit dossier --evidence bundles/matmul/20261130T211006Z-1f0c2ab94e57"))
@click.argument("dossier", type=PATH)
@click.option("--evidence", "bundle", required=True, metavar="BUNDLE", type=PATH, help="The bundle that it is made of.")
@json_option
def command(dossier: Path, bundle: Path, as_json: bool) -> int:
    """Compute every figure of a finished dossier again from its raw evidence.

    DOSSIER is a dossier.html, a dossier.json, or the folder that holds them. The bundle is verified; its raw files are
    read again and must give its samples; from these the processed table and every figure are computed anew, in 12
    significant digits. Each that differs, has no source or is missing is named, one a line; the exit code is 1 then.
    What a suite's own function gave is recorded, and counted apart: the code of a bundle is never run.
    """
    from reportgen.workflow.audit import audit

    found = audit(dossier, bundle)
    if as_json:
        files = [{**asdict(file), "wrong": [asdict(wrong) for wrong in file.wrong]} for file in found.files]
        print_json(
            {
                "ok": found.ok,
                "digest": found.digest,
                "files": files,
                "evidence": {"raw_files": found.raw, "samples": found.samples, "processed_rows": found.processed},
                "faults": [asdict(fault) for fault in found.faults],
                "notes": list(found.notes),
            }
        )
    else:
        for line in _lines(found):
            click.echo(printable(line))
    return 0 if found.ok else 1


def _lines(found: Audit) -> Iterator[str]:
    for file in found.files:
        for wrong in file.wrong:
            place = f"{wrong.place}: " if wrong.place else ""
            source = f" [{wrong.source}]" if wrong.source else ""
            yield f"{file.name}: {place}{wrong.what}{source}"
    for fault in found.faults:
        yield f"evidence: {fault.file}: {fault.what}"
    for note in found.notes:
        yield f"note: {note}"
    for file in found.files:
        yield f"{file.name}: {_summary(file)}"
    if found.raw:
        rows = count(found.processed, "processed row")
        yield f"evidence: {count(found.samples, 'sample')} of {count(found.raw, 'raw file')} and {rows} are equal"


def _summary(file: Audited) -> str:
    said = [f"{count(file.equal, 'figure')} recomputed and equal"]
    said += [f"{file.recorded:,} recorded"] if file.recorded else []
    for kind, word in _KINDS.items():
        number = sum(wrong.kind == kind for wrong in file.wrong)
        said += [f"{number:,} {word}"] if number else []
    return ", ".join(said)
