"""The tables of a group's kernels: what limits each, how it was launched and what it waited for, and the same as CSV.

Kernels stand together by name and launch shape, the most time first. A column in which nothing has a value is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reportgen.analysis import bottleneck, kernels, statistics
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Group
from reportgen.analysis.kernels import Kind, Value
from reportgen.analysis.sources import call
from reportgen.dossier import cells, words
from reportgen.dossier.charts import frame
from reportgen.dossier.declared import Declared
from reportgen.dossier.model import Cell, Column, DataFile, Name, Sentence, Table
from reportgen.dossier.text import Scale, brief, count, figure, scale_for, shorten, visible

MOST_KINDS = 24  # rows in a page; beyond them kernels of all annotations stand together
MOST_OPEN = 8  # rows of the second table that stand open: what limits comes first
_KERNEL, _ANNOTATION = 34, 28
_STALLS = 2
_NUMBER = Scale("", 1.0)
_PERCENT = Scale("%", 1.0)
_OF_MEMORY: dict[str, tuple[str, ...]] = {
    "DRAM": bottleneck.MEMORY_METRICS,
    "L2": bottleneck.L2_METRICS,
    "L1": bottleneck.L1_METRICS,
}


@dataclass(frozen=True, slots=True)
class Shown:
    """The kinds of kernels of a group as its tables show them: `kinds` in the page, of `every` one that there is."""

    group: Group
    kinds: tuple[Kind, ...]
    every: tuple[Kind, ...]
    apart: bool
    declared: Declared = cells.NOTHING

    @property
    def left_out(self) -> int:
        """Return how many kinds are not in the page."""
        return len(self.every) - len(self.kinds)

    @property
    def one_each(self) -> bool:
        """Tell whether annotation and configuration tell all kinds apart, so that a kernel's name need not stand by them."""
        return self.apart and len({(kind.annotation, kind.params) for kind in self.every}) == len(self.every)

    @property
    def uneven(self) -> bool:
        """Tell whether kinds were launched more or less often than others."""
        return len({kind.launches for kind in self.every}) > 1

    @property
    def named(self) -> bool:
        """Tell whether annotations say more than kernels' names: an imported report may have no others."""
        return any(annotation != kind.name for kind in self.every for annotation in kind.annotations)


@dataclass(frozen=True, slots=True)
class _Given:
    """A column and how its cell is made of a kind."""

    column: Column
    cell: Callable[[Kind], Cell]


def chosen(found: Sequence[kernels.Kernel], group: Group, declared: Declared = cells.NOTHING) -> Shown:
    """Choose how a group's kernels are shown: each annotation and configuration apart where that is a page's worth, else together."""
    own = any(kernel.annotation != kernel.name for kernel in found)
    apart = kernels.kinds(found, apart=True) if own else ()
    if own and len(apart) <= MOST_KINDS:
        return Shown(group, apart, apart, apart=True, declared=declared)
    every = kernels.kinds(found, apart=False)
    return Shown(group, every[:MOST_KINDS], every, apart=False, declared=declared)


def limits(of: Shown, table_id: str, data_name: str = "") -> Table:
    """Make the table of what limits each kernel."""
    scale = scale_for([kind.metrics[TIME].mean for kind in of.kinds if TIME in kind.metrics], "ns")
    given = [
        *_naming(of, whole=True),
        *([_Given(Column("launches", "", True, words.TERMS["launches"]), _launches)] if of.uneven else []),
        _Given(Column("time", scale.unit, True, words.METRICS[TIME]), lambda kind: _time(kind, scale)),
        _Given(Column("share", "%", True, words.TERMS["share of time"]), lambda kind: _share(kind, of)),
        _Given(Column("limit", "", False, words.TERMS["limit"]), _limit),
        _Given(Column("SM", "%", True, words.METRICS[bottleneck.SM_METRICS[0]]), _of(bottleneck.SM_METRICS, _PERCENT)),
        *(
            _Given(Column(level, "%", True, words.METRICS[names[0]]), _of(names, _PERCENT))
            for level, names in _OF_MEMORY.items()
            if level != "L1" or any(kind.verdict.level == level for kind in of.kinds)
        ),
    ]
    together = "by name and launch shape" if not of.apart else "by annotation, configuration, name and launch shape"
    caption = f"What limits each kernel; {together}, the most time first. Means over launches."
    return _table(of, table_id, caption, given, data_name)


def launches(of: Shown, table_id: str, data_name: str = "", *, whole: bool = False) -> Table | None:
    """Make the table of how each kernel was launched, how full it kept the SMs, what hit and what it waited for; None without facts.

    Names are given `whole` where no other table of the block does.
    """
    naming = _naming(of, whole=whole)
    given = [
        *naming,
        _Given(Column("occupancy", "%", True, words.TERMS["occupancy"]), _of((kernels.OCCUPANCY,), _PERCENT)),
        _Given(Column("at most", "%", True, words.TERMS["occupancy"]), _of((kernels.OCCUPANCY_MOST,), _PERCENT)),
        _Given(Column("held by", "", False, words.TERMS["held by"]), _held),
        _Given(Column("longest waits", "", False, words.TERMS["longest waits"]), _waits),
        _Given(Column("L1 hits", "%", True), _of((kernels.L1_HITS,), _PERCENT)),
        _Given(Column("L2 hits", "%", True), _of((kernels.L2_HITS,), _PERCENT)),
        _Given(Column("waves", "an SM", True, words.TERMS["waves"]), _of((kernels.WAVES,), _NUMBER)),
        _Given(Column("registers", "a thread", True), _of((kernels.REGISTERS,), _NUMBER)),
        _Given(Column("shared", "bytes a block", True), _of((kernels.SHARED,), _NUMBER)),
        *(_shape() if of.apart else ()),
    ]
    made = _table(of, table_id, "How each kernel was launched and how full it kept the SMs.", given, data_name)
    if len(made.columns) <= len(naming):
        return None
    return replace(made, folded=len(made.rows) > MOST_OPEN and not whole)


def _table(of: Shown, table_id: str, caption: str, given: Sequence[_Given], data_name: str) -> Table:
    """Make a table of the columns that have a value; the first names its rows and is always there."""
    made = [(one.column, [one.cell(kind) for kind in of.kinds]) for one in given]
    kept = [
        (column, column_cells)
        for index, (column, column_cells) in enumerate(made)
        if not index or any(cell.parts and cell.parts != ("",) for cell in column_cells)
    ]
    rows = tuple(zip(*(column_cells for _, column_cells in kept), strict=True))
    return Table(table_id, caption, tuple(column for column, _ in kept), rows, of.left_out, data_name)


def _naming(of: Shown, *, whole: bool) -> list[_Given]:
    """Return the columns that name a kind: annotation and configuration where they say something, and the kernel, with its launch shape where that tells kinds apart.

    A name is given `whole` in the first row that bears it, and not again; where it is not, nor needed to tell rows apart, it is left out.
    """
    given = [_Given(Column("annotation"), _annotations)] if of.named else []
    if of.apart:
        given += [_parameter(of, param) for param in cells.params(of.group)]
        if not whole and of.one_each:
            return given
    firsts = {id(next(other for other in of.kinds if other.name == kind.name)) for kind in of.kinds} if whole else set()
    given.append(_Given(Column("kernel"), lambda kind: _named(kind, whole=id(kind) in firsts)))
    return given if of.apart else [*given, *_shape()]


def _shape() -> list[_Given]:
    return [
        _Given(Column("blocks", "", True), _of((kernels.GRID,), _NUMBER)),
        _Given(Column("threads", "a block", True), _of((kernels.BLOCK,), _NUMBER)),
    ]


def _named(kind: Kind, *, whole: bool) -> Cell:
    made = name(kind.name, whole=whole)
    return Cell((made,), made.text)


def name(kernel: str, *, whole: bool, longest: int = _KERNEL) -> Name:
    """Return a kernel's name, shortened; a very long one is not given whole, since it stands in the CSV."""
    short = brief(kernel, longest)
    return short if whole else Name(short.text, short.text)


def _annotations(kind: Kind) -> Cell:
    first, *others = kind.annotations
    short = shorten(first, _ANNOTATION)
    parts: Sentence = (Name(short.text, short.text), *((" and others",) if others else ()))
    return Cell(parts, short.text)


def _parameter(of: Shown, param: str) -> _Given:
    numeric = cells.numeric(of.group, param)

    def cell(kind: Kind) -> Cell:
        value = dict(kind.params).get(param, "")
        return cells.given(value, f"parameter:{kind.any_row}.{param}", of.declared.units.get(param, ""))

    return _Given(Column(visible(param), numeric=numeric, code=True), cell)


def _launches(kind: Kind) -> Cell:
    source = call("count", "launches of a kernel", kind.any_row, kind.id)
    return Cell((count(kind.launches, source),), kind.launches)


def _time(kind: Kind, scale: Scale) -> Cell:
    value = kind.metrics.get(TIME)
    if value is None:
        return _unknown()
    relative = value.spread / value.mean * 100 if value.mean else math.nan
    mark = "unstable" if relative >= statistics.STABLE_BELOW_PCT else ""
    why = f"relative deviation {relative:.3g} %" if mark else ""
    return Cell((figure(value.mean, value.unit, value.source, scale, value.spread),), value.mean, mark, why)


def _share(kind: Kind, of: Shown) -> Cell:
    """Return the cell of a kind's part of the time; empty where it is all of it in every row."""
    shares = kernels.share_of_time(kind, of.every)
    if math.isnan(shares) or all(kernels.share_of_time(other, of.every) == 100 for other in of.kinds):
        return Cell(())
    source = call("time_share", kind.any_row, kind.id)
    return Cell((figure(shares, "%", source, spread=max(0.1, shares / 100)),), shares)


def _of(metrics: tuple[str, ...], scale: Scale) -> Callable[[Kind], Cell]:
    """Return what makes the cell of the first of some metrics that a kind has."""

    def cell(kind: Kind) -> Cell:
        value = next((kind.metrics[metric] for metric in metrics if metric in kind.metrics), None)
        return _unknown() if value is None or math.isnan(value.mean) else _cell(value, scale)

    return cell


def _cell(value: Value, scale: Scale) -> Cell:
    return Cell((figure(value.mean, value.unit, value.source, scale, value.spread),), value.mean)


def _unknown() -> Cell:
    return Cell((), -math.inf, "not known", "not measured")


def _limit(kind: Kind) -> Cell:
    verdict = kind.verdict
    if verdict.limit == "not known":
        return Cell((), "~", "not known", "a throughput was not measured")
    near = ", close" if verdict.margin < bottleneck.CLEAR_PCT else ""
    both = ", both busy" if verdict.both and not near else ""
    return Cell((f"{verdict.words}{near}{both}",), verdict.words)


def _held(kind: Kind) -> Cell:
    return Cell((", ".join(kind.limiters),), ", ".join(kind.limiters)) if kind.limiters else Cell(("",), "~")


def _waits(kind: Kind) -> Cell:
    parts: Sentence = ()
    for stall in kind.stalls()[:_STALLS]:
        share = figure(stall.share, "%", stall.source, spread=max(0.1, stall.share / 30))
        parts += ((", " if parts else "") + f"{stall.reason} ", share)
    return Cell(parts or ("",), kind.stalls()[0].reason if parts else "~")


# As CSV


def data(of: Shown, data_name: str) -> DataFile:
    """Make the CSV of all kinds of kernels with their whole names and all that is known of them, in base units."""
    metrics = sorted({metric for kind in of.every for metric in kind.metrics})
    head = [
        "kernel",
        "annotation",
        "configuration",
        "launches",
        "time_share_pct",
        "limit",
        "memory_level",
        "margin_points",
    ]
    table: list[list[Any]] = [[*head, "occupancy_held_by", "longest_waits", *metrics]]
    whole = math.fsum(kind.time for kind in of.every)
    for kind in of.every:
        verdict = kind.verdict
        share = kernels.share_of_time(kind, of.every) if of.apart else 100 * kind.time / whole if whole else None
        table.append(
            [
                *(visible(kind.name), "; ".join(map(visible, kind.annotations))),
                *(", ".join(f"{key} = {value}" for key, value in kind.params), kind.launches, share),
                *(verdict.limit, verdict.level, verdict.margin, ", ".join(kind.limiters)),
                ", ".join(stall.reason for stall in kind.stalls()[:_STALLS]),
                *(kind.metrics[metric].mean if metric in kind.metrics else None for metric in metrics),
            ]
        )
    return DataFile(
        data_name,
        "Every kernel by name and launch shape, with all that is known of it.",
        frame.csv_of(table),
        inline=False,
    )
