"""The table of what limits each kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reportgen.analysis import bottleneck
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Group
from reportgen.analysis.kernels import Kernel
from reportgen.dossier import cells, words
from reportgen.dossier.declared import Declared
from reportgen.dossier.model import Cell, Column, Table
from reportgen.dossier.text import Scale, figure, scale_for, shorten, visible


def kernels(found: Sequence[Kernel], group: Group, table_id: str, declared: Declared = cells.NOTHING) -> Table:
    """Make the table of what limits each kernel of a group."""
    scale = scale_for([k.metrics[TIME].mean for k in found if TIME in k.metrics], "ns")
    params = cells.params(group)
    columns = (
        Column("kernel"),
        Column("annotation"),
        *(Column(visible(name), numeric=cells.numeric(group, name), code=True) for name in params),
        Column("time", scale.unit, True, words.METRICS[TIME]),
        Column("SM", "%", True, words.METRICS[bottleneck.SM_METRICS[0]]),
        Column("DRAM", "%", True, words.METRICS[bottleneck.MEMORY_METRICS[0]]),
        Column("limit", "", False, words.TERMS["limit"]),
        Column("registers", "a thread", True),
        Column("blocks", "", True),
        Column("threads", "a block", True),
        Column("waves", "an SM", True),
    )
    rows = []
    for kernel in found[: cells.MOST_ROWS]:
        verdict = bottleneck.judge({name: value.mean for name, value in kernel.metrics.items()})
        known = dict(kernel.params)
        row = next(iter(kernel.metrics.values())).source.partition("/")[0]
        line = [
            Cell((shorten(kernel.name, 46),), kernel.name),
            Cell((shorten(kernel.annotation, 32),), kernel.annotation),
            *(cells.given(known.get(p, ""), f"parameter:{row}.{p}", declared.units.get(p, "")) for p in params),
            _of(kernel, TIME, scale),
            _of(kernel, verdict.sm_metric or bottleneck.SM_METRICS[0], Scale("%", 1)),
            _of(kernel, verdict.dram_metric or bottleneck.MEMORY_METRICS[0], Scale("%", 1)),
            _limit(verdict),
            _of(kernel, "launch__registers_per_thread", Scale("", 1)),
            _of(kernel, "launch__grid_size", Scale("", 1)),
            _of(kernel, "launch__block_size", Scale("", 1)),
            _of(kernel, "launch__waves_per_multiprocessor", Scale("", 1)),
        ]
        rows.append(tuple(line))
    caption = "Each row is one kernel of a region, by its place among the region's kernels; means over runs."
    return Table(table_id, caption, columns, tuple(rows), max(0, len(found) - cells.MOST_ROWS))


def _of(kernel: Kernel, metric: str, scale: Scale) -> Cell:
    value = kernel.metrics.get(metric)
    if value is None or math.isnan(value.mean):
        return Cell((), -math.inf, "not known", "this metric was not measured")
    return Cell((figure(value.mean, value.unit, value.source, scale, value.spread),), value.mean)


def _limit(verdict: bottleneck.Verdict) -> Cell:
    if verdict.limit == "not known":
        return Cell((), "~", "not known", "a throughput was not measured")
    return Cell((verdict.limit,), verdict.limit)
