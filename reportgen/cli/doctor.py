"""`reportgen doctor`: what this machine can measure, and what to do about what it cannot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from reportgen.cli.commands import example
from reportgen.cli.output import json_option, print_json, printable

if TYPE_CHECKING:
    from reportgen.collect.doctor import Ability, Check


@click.command(epilog=example("reportgen doctor", "reportgen doctor --json"))
@json_option
def command(as_json: bool) -> int:
    """Look at what measuring needs: GPU, driver, profilers, permissions, packages, disk.

    Says for each backend whether it can measure here, in which scenarios, and for each lack the mend. Changes
    nothing. The exit code is 3 when no backend at all can measure.

    With REPORTGEN_CLOCKS=leave in the environment no GPU's clocks are ever set: scenarios with base clocks are then
    skipped with that reason.
    """
    from reportgen.collect.doctor import abilities, examine
    from reportgen.collect.probe import Probe

    checks = examine(Probe())
    found = abilities(checks)
    if as_json:
        print_json(
            {
                "checks": [asdict(check) for check in checks],
                "backends": [{**asdict(ability), "can": ability.can} for ability in found],
            }
        )
    else:
        for line in (*_checks(checks), "", *_backends(found)):
            click.echo(printable(line))
    return 0 if any(ability.can for ability in found) else 3


def _checks(checks: Sequence[Check]) -> Iterator[str]:
    width = max(len(check.name) for check in checks)
    for check in checks:
        yield f"{check.name:{width}}  {check.state:7}  {check.found}"
        if check.mend:
            yield f"{'':{width}}  {'':7}  mend: {check.mend}"


def _backends(found: Sequence[Ability]) -> Iterator[str]:
    for ability in found:
        if ability.can:
            unsure = f"; not certain: {', '.join(ability.unsure)}" if ability.unsure else ""
            yield f"{ability.backend:5}  can measure {', '.join(ability.scenarios)}{unsure}"
        else:
            yield f"{ability.backend:5}  cannot measure: see {', '.join(ability.lacks)}"
