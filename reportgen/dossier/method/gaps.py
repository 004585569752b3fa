"""The list of everything that was not measured, and why."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.analysis.sources import call, quoted
from reportgen.analysis.unmeasured import Gap, gaps
from reportgen.dossier import steadiness_table, words
from reportgen.dossier.gathered import Gathered
from reportgen.dossier.model import Block, Cell, Column, Part, Sentence, Table
from reportgen.dossier.text import count, shorten, visible

_HEADING = "What was not measured"
_NAMED = 3  # annotations or metrics
_MOST_ROWS = 200


def block(of: Gathered) -> Block:
    """Make the block: a table with a row for each reason, or a line that there is none."""
    found = gaps(of.samples)
    if not found and not of.losses:
        return Block("method-gaps", _HEADING, (_all_measured(of),))
    columns = (
        Column("state"),
        Column("samples", "", True),
        Column("reason"),
        Column("benchmark"),
        Column("under"),
        Column("annotations"),
        Column("metrics"),
    )
    rows = [_lost(loss) for loss in of.losses] + [_row(gap) for gap in found]
    shown = tuple(rows[:_MOST_ROWS])
    caption = "Everything that has no value here, by its reason; none of it is in a mean."
    table = Table(
        "method-gaps-table",
        caption,
        columns,
        shown,
        len(rows) - len(shown),
        folded=len(shown) > steadiness_table.FOLDED_ROWS,
    )
    return Block("method-gaps", _HEADING, (), (), (table,))


def _all_measured(of: Gathered) -> str:
    if of.info.plan.get("benchmarks"):
        return "Nothing is missing: every sample of every part of the plan has a value."
    return "Nothing is missing: every sample has a value."


def _lost(loss: str) -> tuple[Cell, ...]:
    return (Cell(("lost",), "lost"), Cell(("",), ""), Cell((visible(loss),), loss), *([Cell(("",))] * 4))


def _row(gap: Gap) -> tuple[Cell, ...]:
    place = (gap.benchmark, gap.backend, gap.scenario, gap.state, gap.reason)
    source = call("count", "samples without a value", *map(quoted, place))
    return (
        Cell((gap.state,), gap.state),
        Cell((count(gap.samples, source),), gap.samples),
        Cell((visible(gap.reason) or "no reason was given",), gap.reason),
        Cell((visible(gap.benchmark),), gap.benchmark),
        Cell((f"{words.backend(visible(gap.backend))}, {visible(gap.scenario)}",), f"{gap.backend} {gap.scenario}"),
        Cell(_names(gap.annotations), ", ".join(gap.annotations[:_NAMED])),
        Cell(_names(gap.metrics), ", ".join(gap.metrics[:_NAMED])),
    )


def _names(found: Sequence[str]) -> Sentence:
    """Return the first few names, and that there are more."""
    parts: list[Part] = []
    for name in found[:_NAMED]:
        parts += [", "] if parts else []
        parts.append(shorten(name, 40))
    return (*parts, *([" and others"] if len(found) > _NAMED else [])) or ("",)
