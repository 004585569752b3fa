"""What a dossier says, by rules over samples: each a small function with its wording beside it.

A rule looks at one group, or sets groups side by side under their own names: nothing is computed across backends, workloads or
scenarios. It says nothing when its evidence is not there. What several groups show is one finding with the figures of each
(`claims`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reportgen.dossier.findings import conditions, limits, shape, speed
from reportgen.dossier.findings.claims import Claim, Evidence, Rule, findings
from reportgen.dossier.model import Finding

MOST = 7
MOST_OF_A_RULE = 4
RULES: Sequence[Rule] = (
    speed.is_fastest,
    limits.saves_bytes,
    speed.costs_error,
    speed.reaches,
    limits.is_limited,
    shape.leaves_cache,
    shape.goes_as_expected,
    shape.cold_and_warm,
    conditions.bursts_and_load,
    conditions.clock_moved,
    conditions.varies,
    speed.splits,
    conditions.measuring_took,
)


def find(of: Evidence, why: bool = True, most: int = MOST) -> tuple[Finding, ...]:
    """Return the `most` strongest findings, at most `MOST_OF_A_RULE` of one rule unless there is room.

    What limits a kernel is shown in a block of its own, `<id>-why`, when the dossier has that part (`why`).
    """
    found = findings((claim for rule in RULES for claim in rule(of)), of)
    taken: dict[str, int] = {}
    chosen: list[tuple[int, Finding]] = []
    spare: list[tuple[int, Finding]] = []
    for place, finding in enumerate(found):
        taken[finding.rule] = taken.get(finding.rule, 0) + 1
        (chosen if taken[finding.rule] <= MOST_OF_A_RULE else spare).append((place, finding))
    kept = sorted([*chosen[:most], *spare[: max(0, most - len(chosen))]], key=lambda pair: pair[0])
    return tuple(replace(f, target=f"{f.target}-why") if why and f.rule == "limited" else f for _, f in kept)


__all__ = ["MOST", "RULES", "Claim", "Evidence", "find"]
