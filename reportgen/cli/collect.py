"""`reportgen collect`: run a suite under a backend, and keep what it leaves as a bundle."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reportgen.cli.commands import example
from reportgen.cli.guard import INTERRUPTED, Stopped
from reportgen.cli.output import json_option, print_json, printable
from reportgen.cli.paths import PATH
from reportgen.cli.progress import Narrator

if TYPE_CHECKING:
    from reportgen.workflow.collection import Collected


@click.command(
    "collect",
    epilog=example(
        "reportgen collect suites/matmul_precision.py --out bundles",
        "reportgen collect suites/matmul_precision.py --backend torch --quick --out bundles",
        "reportgen collect mine.py --backend torch --select matmul/fp16,n=512 --out bundles",
        "reportgen collect mine.py --backend torch --select 'conv,shape=[64,64],mode=\"same\"' --out bundles",
    ),
)
@click.argument("suites", nargs=-1, required=True, metavar="SUITE…", type=PATH)
@click.option("--out", required=True, metavar="DIR", type=PATH, help="Put the bundles below here.")
@click.option(
    "--backend",
    "backends",
    multiple=True,
    default=("ncu", "cupti"),
    show_default=True,
    type=click.Choice(["ncu", "cupti", "torch"]),
    help="What measures; may be given again.",
)
@click.option("--scenario", "scenarios", multiple=True, metavar="NAME", help="Only this cache and clock policy.")
@click.option("--runs", type=click.IntRange(1), metavar="N", help="Measure each configuration N times.")
@click.option("--processes", type=click.IntRange(1), metavar="N", help="Run the plan in N processes of its own each.")
@click.option(
    "--select",
    metavar="BENCH[/ANNOTATION][,key=value]",
    help="Measure only this part of the suite; an empty BENCH is all of them. What begins with a double quote, [ or { is JSON and may hold commas.",
)
@click.option("--quick", is_flag=True, help="Measure the suite's small set, for a first look.")
@click.option("--resume", is_flag=True, help="Go on with a collection that was stopped.")
@click.option(
    "--order",
    type=click.Choice(["rounds", "blocks"]),
    default="rounds",
    show_default=True,
    help="Go round over all configurations in each run, or finish one first.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(1),
    default=600,
    show_default=True,
    metavar="S",
    help="Stop a process after S seconds.",
)
@click.option(
    "--sass",
    type=click.Choice(["none", "all"]),
    default="none",
    show_default=True,
    help="Keep the kernels' machine code in ncu's reports, which makes them many times larger.",
)
@json_option
def command(
    suites: tuple[Path, ...],
    out: Path,
    backends: tuple[str, ...],
    scenarios: tuple[str, ...],
    runs: int | None,
    processes: int | None,
    select: str | None,
    quick: bool,
    resume: bool,
    order: str,
    timeout: float,
    sass: str,
    as_json: bool,
) -> int:
    """Run suites and make one bundle of each.

    A suite is code, and it is run. Each backend, scenario and repetition has a process of its own; one that dies or
    hangs costs only itself.
    """
    from reportgen.collect.plan import parse_selection
    from reportgen.workflow.collection import Asked, collect

    selection = parse_selection(select) if select else None
    typed = shlex.join(["reportgen", *sys.argv[1:]])
    asked = Asked(backends, scenarios, runs, processes, selection, quick, resume, order, timeout, sass, typed)
    made = []
    with Narrator(sys.stderr) as narrator:
        for suite in suites:
            narrator.loading(suite.name)
            try:
                collected = collect(suite, out, asked, narrator)
            except (KeyboardInterrupt, Stopped) as stop:
                narrator.close()
                click.echo(
                    "reportgen: stopped; what is whole stays, and the same command with --resume goes on", err=True
                )
                return 128 + stop.number if isinstance(stop, Stopped) else INTERRUPTED
            made.append(collected)
            narrator.close()
            if not as_json:
                _print(collected)
    if as_json:
        print_json({"bundles": [_facts(collected) for collected in made]})
    return 0 if all(collected.whole for collected in made) else 1


def _print(collected: Collected) -> None:
    states = ", ".join(f"{count:,} {state}" for state, count in collected.states.items())
    click.echo(f"{collected.bundle_id}: {states}\n{printable(str(collected.path))}")
    for state, reason in collected.reasons.items():
        click.echo(f"  {state}: {printable(reason)}")
    if collected.resumable:
        click.echo("  the same command with --resume measures again what was dropped or not permitted")


def _facts(collected: Collected) -> dict[str, Any]:
    return {
        "path": str(collected.path),
        "id": collected.bundle_id,
        "states": dict(collected.states),
        "reasons": dict(collected.reasons),
        "resumable": collected.resumable,
    }
