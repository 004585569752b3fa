"""How it was measured: the plan, what collecting took, runs in order and clocks for each backend and scenario, what is missing."""

from __future__ import annotations

from reportgen.analysis import groups
from reportgen.dossier import keeping, steadiness_table, words
from reportgen.dossier.gathered import Gathered
from reportgen.dossier.method import gaps, planned, ran, took
from reportgen.dossier.model import Block, Section

__all__ = ["method"]


def method(of: Gathered) -> Section:
    """Make the section: one block for each backend and scenario, between what was asked for and what is not there."""
    pairs = dict.fromkeys((g.backend, g.scenario) for g in of.groups if g.measured)
    blocks = [
        *planned.block(of),
        *took.block(of),
        *(ran.block(of, backend, scenario) for backend, scenario in pairs),
        *_readings(of),
        gaps.block(of),
    ]
    lead = keeping.files_read(of.info) or planned.policy(of)
    return Section("method", "How it was measured", lead, tuple(blocks), words.SIDE_BY_SIDE if len(pairs) > 1 else "")


def _readings(of: Gathered) -> list[Block]:
    read = of.table[groups.readings(of.table)]
    if not len(read):
        return []
    table = steadiness_table.readings(read, "readings")
    return [Block("readings-how", "What the suite's collectors read", (), (), (table,))]
