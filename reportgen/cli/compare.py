"""`reportgen compare`: what got slower, and is it real?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from reportgen.cli.commands import example
from reportgen.cli.paths import PATH

if TYPE_CHECKING:
    from reportgen.analysis.verdicts import Better
    from reportgen.publish.comparison import Format

FORMATS = ("text", "json", "markdown", "junit")


@click.command(
    epilog=example(
        "reportgen compare bundles/matmul/20261130T211006Z-1f0c2ab94e57 bundles/matmul/20261201T211004Z-7d90c1b2aa03",
        "reportgen compare OLD NEW --format junit --fail-on slower > compare.xml",
    )
)
@click.argument("old", type=PATH)
@click.argument("new", type=PATH)
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--fail-on", type=click.Choice(["slower"]), help="Exit with 1 where a series is slower.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, min_open=True),
    metavar="PCT",
    help="The change from which a series counts, unless its timer asks for more.  [default: 3]",
)
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Compare this metric too; may be given again.")
@click.option(
    "--better",
    "better",
    multiple=True,
    metavar="NAME=lower|higher",
    help="Which direction of a metric is better; of a time lower is, of a rate (GB/s) higher.",
)
def command(
    old: Path,
    new: Path,
    form: Format,
    fail_on: str | None,
    threshold: float | None,
    metrics: tuple[str, ...],
    better: tuple[str, ...],
) -> int:
    """Compare two collections of a suite: slower, faster, same or cannot tell, series by series.

    A process is the unit, never a run: its mean is one value of a permutation test, and of all that is called slower or
    faster at most 5 % are false alarms. `cannot tell` says why, and what to do next. What differs in how the two were
    measured stands first; what is new, gone, failed or cannot be compared is listed. Nothing is compared across backends,
    workloads or scenarios. The exit code is 0 also with regressions, unless --fail-on asks for 1.
    """
    from reportgen.analysis.compare import Asked
    from reportgen.publish.comparison import WRITERS
    from reportgen.workflow.comparing import compare

    asked = Asked(metrics=metrics, better=dict(map(_declared, better)))
    if threshold is not None:
        asked = Asked(metrics=metrics, better=asked.better, own_pct=threshold)
    found = compare([old], [new], asked)
    click.echo(WRITERS[form](found), nl=False)
    return 1 if fail_on == "slower" and found.of("slower") else 0


def _declared(text: str) -> tuple[str, Better]:
    name, _, direction = text.rpartition("=")
    if not name or direction not in ("lower", "higher"):
        raise click.BadParameter(f"'{text}' is not NAME=lower or NAME=higher", param_hint="'--better'")
    return name, cast("Better", direction)
