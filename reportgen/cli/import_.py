"""`reportgen import`: files made elsewhere become one bundle."""

from __future__ import annotations

from pathlib import Path

import click

from reportgen.cli.commands import example
from reportgen.cli.output import count, json_option, print_json, warn
from reportgen.cli.paths import PATH

# Those of `readers.recognise`, which is not imported to print help; a test holds them to be the same.
KINDS = ("ncu-rep", "ncu-raw", "ncu-details", "nsight-profiled", "nsight-processed", "ncu-session", "ncu-log")


@click.command(
    "import",
    epilog=example(
        "reportgen import matmul.ncu-rep --out bundles --title 'fp32 against fp16 matmul'",
        "reportgen import raw.csv --suite matmul --scenario default --out bundles",
        "reportgen import matmul.ncu-rep --derive 'TFLOP/s=2*n**3/time/1e12' --out bundles",
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=PATH)
@click.option("--out", required=True, metavar="DIR", type=PATH, help="Put the bundle below here.")
@click.option(
    "--kind", metavar="KIND", help=f"What the files are, where their content does not tell: {', '.join(KINDS)}."
)
@click.option("--suite", metavar="NAME", help="The suite that they belong to; the first file's name unless given.")
@click.option("--title", metavar="TEXT", help="The dossier's title.")
@click.option("--scenario", metavar="NAME", help="The cache and clock policy they were taken under, if you know it.")
@click.option("--date", metavar="DATE", help="When they were taken, such as 2026-11-30 or 2026-11-30T21:10:06Z.")
@click.option(
    "--session",
    metavar="FILE",
    type=PATH,
    help="What `ncu --page session` printed of the report.",
)
@click.option(
    "--derive",
    "derived",
    multiple=True,
    metavar="METRIC=FORMULA",
    help="A metric to compute from others and from parameters, with time in seconds; may be given again.",
)
@json_option
def command(
    files: tuple[Path, ...],
    out: Path,
    kind: str | None,
    suite: str | None,
    title: str | None,
    scenario: str | None,
    date: str | None,
    session: Path | None,
    derived: tuple[str, ...],
    as_json: bool,
) -> int:
    """Make one bundle from profiling files made elsewhere.

    Takes Nsight Compute reports (.ncu-rep, .ncu-repz), the CSV that `ncu --csv` prints with --page raw or --page
    details, and the CSVs of nsight-python. Each file is known by its content and kept byte for byte. The bundle stands
    at DIR/<suite>/<start>-<digest>; its path is the last line printed. Exit code 1 if part of a file could not be read.
    """
    from reportgen.workflow.ingest import ingest

    made = ingest(
        list(files),
        out,
        kind=kind,
        suite=suite,
        title=title,
        scenario=scenario,
        date=date,
        session=session,
        derived=derived,
    )
    if as_json:
        facts = ("path", "bundle_id", "launches", "samples", "losses", "notes")
        print_json({"partial": bool(made.losses), **{name: getattr(made, name) for name in facts}})
    else:
        for loss in made.losses:
            warn(f"not read: {loss}")
        for note in made.notes:
            click.echo(f"note: {note}")
        whole = "partial" if made.losses else "whole"
        click.echo(
            f"{made.bundle_id}: {count(made.launches, 'launch', 'launches')}, {count(made.samples, 'sample')}, {whole}"
        )
        click.echo(str(made.path))
    return 1 if made.losses else 0
