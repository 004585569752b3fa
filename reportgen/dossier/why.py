"""Why it is so: what limits each kernel, where a profiler read the counters that say it."""

from __future__ import annotations

from reportgen.analysis import bottleneck, kernels
from reportgen.analysis.derive import TIME
from reportgen.dossier import charts, kernel_table
from reportgen.dossier.gathered import Gathered, heading, scenario
from reportgen.dossier.model import Block, Section
from reportgen.dossier.text import figure, say, visible

_KERNEL_METRICS = (
    TIME,
    *bottleneck.SM_METRICS,
    *bottleneck.MEMORY_METRICS,
    *("launch__registers_per_thread", "launch__grid_size", "launch__block_size", "launch__waves_per_multiprocessor"),
)


def limits(of: Gathered) -> Section | None:
    """Make the section, or nothing where no group has the counters."""
    blocks = []
    for shown in of.shown:
        group = shown.group
        found = kernels.of_group(of.samples, group, _KERNEL_METRICS)
        points = [(case, bottleneck.judge({m: case.value(m) for m in case.metrics})) for case in group.cases]
        points = [(case, verdict) for case, verdict in points if verdict.limit != "not known"]
        if not points:
            continue
        of.used |= {"limit", *bottleneck.SM_METRICS}
        chart_id = f"{shown.id}-limits"
        title = "SM against DRAM throughput"
        describe = "Each point is one annotation and configuration, in one of three regions: compute, memory, latency."
        drawn = charts.limits(points, group, of.palette, chart_id, title, describe)
        caption = say(
            "Each point is one annotation and configuration{axis}, kernels weighed by time; {backend}, {scenario}. Right and low is limited by compute, left and high by memory; below {busy} of both peaks the kernel waits.",
            axis=f" ({visible(group.axis)} beside it)" if group.axis else "",
            backend=group.backend,
            scenario=scenario(group),
            busy=figure(bottleneck.BUSY_PCT, "%", "constant:bottleneck.BUSY_PCT"),
        )
        chart = of.chart(chart_id, title, describe, caption, drawn)
        table = kernel_table.kernels(found, group, f"{shown.id}-kernels", of.declared(group.benchmark))
        blocks.append(Block(f"{shown.id}-why", f"{visible(group.benchmark)}: {heading(group)}", (), (chart,), (table,)))
    if not blocks:
        return None
    lead = ("The busier of SM and DRAM decides. This says where to look first, not how much there is to gain.",)
    return Section("why", "Why it is so", lead, tuple(blocks))
