"""Build the dossier of a bundle: gather the evidence, then say what it says. Nothing is written here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

import reportgen
from reportgen.analysis import bottleneck, groups, kernels, processed
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Group
from reportgen.analysis.statistics import tick
from reportgen.dossier import cautions, charts, findings, keeping, tables, words
from reportgen.dossier.charts import Advantage, Drawn, Palette
from reportgen.dossier.model import Block, Chart, Chip, DataFile, Dossier, Part, Section, Sentence, Tier
from reportgen.dossier.text import count, figure, listed, plural, say, shorten, visible
from reportgen.evidence import samples
from reportgen.evidence import tables as csv_tables
from reportgen.evidence.bundle import Bundle, slug
from reportgen.evidence.provenance import Provenance
from reportgen.evidence.redaction import public_provenance, scrub

_KERNEL_METRICS = (
    TIME,
    *bottleneck.SM_METRICS,
    *bottleneck.MEMORY_METRICS,
    *("launch__registers_per_thread", "launch__grid_size", "launch__block_size", "launch__waves_per_multiprocessor"),
)
_MOST_RANKED = 40


def build(bundle: Bundle, tier: Tier = "public", beside: str = "") -> Dossier:
    """Build the dossier of `bundle`; the public tier holds nothing that names a host, a path or a person.

    `beside` is the folder, relative to the dossier, into which its evidence is published, if it is.
    """
    return _Builder(bundle, tier, beside).dossier()


@dataclass(frozen=True)
class _Shown:
    """A group with its place on the page."""

    group: Group
    id: str


class _Builder:
    """Gathers what every part of the dossier reads, once."""

    def __init__(self, bundle: Bundle, tier: Tier, beside: str) -> None:
        self.bundle, self.info, self.tier, self.beside = bundle, bundle.info, tier, beside
        self.provenance: Provenance = public_provenance(bundle.provenance) if tier == "public" else bundle.provenance
        self.samples = bundle.samples()
        self.losses = tuple(bundle.info.losses)
        if tier == "public":
            self.samples = _scrubbed(self.samples)
            self.losses = tuple(scrub(loss) for loss in self.losses)
        self.per_run = processed.runs(self.samples, self.info.formulas, self.provenance)
        self.table = processed.from_runs(self.per_run, self.provenance)
        self.groups = _as_planned(groups.gather(self.per_run, self.table), self.info.plan)
        names = dict.fromkeys(a for group in self.groups for a in group.annotations)
        self.palette = Palette(tuple(names))
        self.shown = [_Shown(g, _block_id(g, index)) for index, g in enumerate(self.groups)]
        self.data: list[DataFile] = []
        self.used: set[str] = set()

    def dossier(self) -> Dossier:
        """Assemble the parts in the order in which they are read."""
        info = self.info
        sections = tuple(self._section(benchmark) for benchmark in dict.fromkeys(g.benchmark for g in self.groups))
        limits, method = self._limits(), self._method()
        provenance = keeping.provenance(self.provenance)
        self._processed_files()
        return Dossier(
            title=visible(info.title),
            suite=visible(info.suite),
            bundle_id=info.id,
            digest=self.bundle.digest,
            version=self.bundle.version,
            reportgen=reportgen.__version__,
            status=info.status,
            tier=self.tier,
            started=keeping.iso(info.start),
            gpu=visible(str(self._fact("gpu.name") or "GPU not recorded")),
            lead=self._lead(),
            chips=self._chips(),
            findings=findings.find([(s.group, s.id) for s in self.shown], limits is not None, apart=_apart(info.plan)),
            cautions=cautions.of_bundle(self.groups, self.samples, self.losses, self.provenance),
            sections=sections,
            limits=limits,
            method=method,
            provenance=provenance,
            evidence=keeping.evidence(self.bundle, self.tier, self.beside),
            verify_command=f"reportgen verify {info.start}-{self.bundle.version}",
            render_command=f"reportgen render {info.start}-{self.bundle.version} --out . --tier {self.tier}",
            glossary=keeping.glossary(self.used | self._words(), provenance),
            data=tuple(self.data),
        )

    def _fact(self, key: str) -> str | int | float | bool | None:
        found = self.provenance.facts.get(key)
        return None if found is None else found.value

    def _lead(self) -> Sentence:
        """Say in one line what was run."""
        annotations = list(dict.fromkeys(a for g in self.groups for a in g.annotations))
        rows = [row for g in self.groups for c in g.cases if (row := c.get(g.main)) is not None]
        launches = samples.launches(self.samples)
        names: list[Part] = []
        for index, name in enumerate(annotations[:3]):
            last = index == len(annotations) - 1
            names += [(" and " if last else ", ") if index else "", shorten(name, 40)]
        more = len(annotations) - 3
        axis = next((g.axis for g in self.groups if g.axis), "")
        return say(
            "{names}{more}{axis}{runs}; {launches} profiled {word}.",
            names=tuple(part for part in names if part),
            more=(" and ", count(more, "count(annotations)"), " more") if more > 0 else (),
            axis=self._swept(axis),
            runs=self._runs(sorted({row.runs for row in rows}), rows),
            launches=count(launches, "count(launches)"),
            word=plural(launches, "launch", "launches"),
        )

    def _swept(self, axis: str) -> Sentence:
        values = sorted(
            {float(dict(c.params)[axis]) for g in self.groups if g.axis == axis for c in g.cases} if axis else ()
        )
        if not values:
            return ()
        low, high = (figure(v, "", f"parameter:{axis}") for v in (values[0], values[-1]))
        return (f" over {visible(axis)}\u00a0=\u00a0", low, " to ", high)

    def _runs(self, runs: Sequence[int], rows: Sequence[groups.Measured]) -> Sentence:
        if not runs:
            return ()
        least = next(row for row in rows if row.runs == runs[0])
        most = next(row for row in rows if row.runs == runs[-1])
        if len(runs) == 1:
            return (", ", count(runs[0], least.source("NumRuns")), f" {plural(runs[0], 'run')} each")
        return (
            ", ",
            count(runs[0], least.source("NumRuns")),
            " to ",
            count(runs[-1], most.source("NumRuns")),
            " runs each",
        )

    def _chips(self) -> tuple[Chip, ...]:
        chips = [Chip("status", self.info.status, words.STATUSES.get(self.info.status, ""))]
        if self.info.losses:
            chips.append(Chip("status", "partial", words.STATUSES["partial"]))
        chips += [Chip("backend", b, words.BACKENDS.get(b, "")) for b in dict.fromkeys(g.backend for g in self.groups)]
        chips += [
            Chip("scenario", s.replace("-", " "), words.scenario_meaning(s))
            for s in dict.fromkeys(g.scenario for g in self.groups)
        ]
        return tuple(chips)

    def _words(self) -> set[str]:
        scenarios = {g.scenario for g in self.groups}
        return {"annotation", "95 % CI", "deviation", *(g.backend for g in self.groups), *scenarios}

    def _section(self, benchmark: str) -> Section:
        shown = [s for s in self.shown if s.group.benchmark == benchmark]
        note = ""
        if len(shown) > 1:
            note = "These stand side by side and are not computed into each other: backends, workloads and scenarios define their values differently."
        first = shown[0].group
        lead = say(
            "{n} {word}: {names}{axis}.",
            n=count(len(first.annotations), f"count(annotations of {benchmark})"),
            word=plural(len(first.annotations), "annotation"),
            names=listed(shorten(a, 40).text for a in first.annotations[:6])
            + (" and others" if len(first.annotations) > 6 else ""),
            axis=f", over {visible(first.axis)}" if first.axis else "",
        )
        return Section(f"b-{slug(benchmark)}", visible(benchmark), lead, tuple(self._block(s) for s in shown), note)

    def _block(self, shown: _Shown) -> Block:
        group = shown.group
        if not group.measured:
            state, reason = group.why_not
            return Block(shown.id, _heading(group), (f"Not measured ({state}): {visible(reason)}.",), (), ())
        made = [*self._main_charts(shown), *self._speedup_chart(shown), *self._bytes_chart(shown)]
        table = tables.results(group, f"{shown.id}-table", self._processed_name(group))
        self.used |= {m for case in group.cases for m in case.metrics if case.get(m)} | {
            column.label for column in table.columns
        }
        lead: Sentence = (words.scenario_meaning(group.scenario), " ", words.WORKLOADS.get(group.workload, ""))
        return Block(shown.id, _heading(group), lead, tuple(made), (table,))

    def _chart(self, chart_id: str, title: str, describe: str, caption: Sentence, drawn: Drawn) -> Chart:
        name = f"{chart_id}.csv"
        self.data.append(DataFile(name, f"The data of the chart “{title}”.", drawn.data))
        return Chart(chart_id, title, describe, drawn.svg, caption, name)

    def _main_charts(self, shown: _Shown) -> list[Chart]:
        group = shown.group
        known = [m for m in (group.main, *self._leading(group)) if any(case.get(m) for case in group.cases)]
        made = []
        for metric in reversed(dict.fromkeys(known)):
            word = words.label(metric)
            chart_id = f"{shown.id}-{slug(word)}"
            if group.axis:
                title = f"{_capital(word)} over {group.axis}"
                describe = f"A line for each annotation shows {word} over {group.axis}, with intervals."
                drawn = charts.sweep(group, metric, self.palette, chart_id, title, describe)
            elif 1 < len(group.cases) <= _MOST_RANKED:
                title = f"{_capital(word)} by annotation"
                describe = f"A point for each annotation and configuration shows {word}, with its interval."
                drawn = charts.ranked(group, metric, self.palette, chart_id, title, describe)
            else:
                continue
            made.append(self._chart(chart_id, visible(title), visible(describe), self._caption(group, metric), drawn))
        return made

    def _leading(self, group: Group) -> list[str]:
        """Return the first derived metric of a group that is a formula's, and the first that is recorded."""
        formulas = {formula.metric for formula in self.info.formulas}
        of_formula = [metric for metric in group.derived if metric in formulas]
        recorded = [metric for metric in group.derived if metric not in formulas]
        return [*recorded[:1], *of_formula[:1]]

    def _caption(self, group: Group, metric: str) -> Sentence:
        rows = [row for case in group.cases if (row := case.get(metric)) is not None]
        least, most = min(rows, key=lambda row: row.runs), max(rows, key=lambda row: row.runs)
        runs: Sentence = (count(least.runs, least.source("NumRuns")),)
        if least.runs != most.runs:
            runs = (*runs, " to ", count(most.runs, most.source("NumRuns")))
        look = (
            "Bars at the points are 95 % intervals"
            if any(not math.isnan(row.half) for row in rows)
            else "There are too few runs for intervals"
        )
        hollow = "; hollow points are unstable (2 % or more)" if any(row.stable is False for row in rows) else ""
        return say(
            "{metric}, mean of {runs} {word}; {backend}, {scenario}. {look}{hollow}.",
            metric=_capital(visible(words.label(metric))),
            runs=runs,
            word=plural(most.runs, "run"),
            backend=group.backend,
            scenario=_scenario(group),
            look=look,
            hollow=hollow,
        )

    def _speedup_chart(self, shown: _Shown) -> list[Chart]:
        group = shown.group
        if not group.axis or len(group.annotations) < 2:
            return []
        baseline = group.annotations[0]
        found = []
        for cases in group.rivals():
            base = next((case for case in cases if case.annotation == baseline), None)
            for case in cases:
                if base is not None and case is not base and (ratio := groups.ratio(base, case, TIME)) is not None:
                    found.append(Advantage(case, base, ratio))
        if not found:
            return []
        chart_id = f"{shown.id}-speedup"
        title = f"Speed against {visible(baseline)} over {visible(group.axis)}"
        describe = f"A line for each annotation shows how many times as fast as {visible(baseline)} it is."
        drawn = charts.speedups(group, found, self.palette, chart_id, title, describe)
        interval = found[0].ratio.interval
        n, unit = (interval.n, interval.unit) if interval else (0, "run")
        source = found[0].case.metrics[TIME].source("NumProcesses" if unit == "process" else "NumRuns")
        caption = say(
            "Time of {baseline} over the time of each, geometric mean of {kind}runs{n}; {backend}, {scenario}. The line at 1 is {baseline} itself.",
            baseline=shorten(baseline, 40),
            kind="paired " if found[0].ratio.paired else "",
            n=(
                " with 95\u00a0% intervals (n\u00a0=\u00a0",
                count(n, source),
                f" {plural(n, unit, 'processes' if unit == 'process' else '')})",
            )
            if n
            else (),
            backend=group.backend,
            scenario=_scenario(group),
        )
        return [self._chart(chart_id, title, describe, caption, drawn)]

    def _bytes_chart(self, shown: _Shown) -> list[Chart]:
        group = shown.group
        read, write = tables.BYTES
        known = [case for case in group.cases if case.get(read) or case.get(write)]
        if not known or len(known) > 16:
            return []
        chart_id = f"{shown.id}-bytes"
        title = "Bytes read from and written to DRAM"
        describe = "Two bars for each annotation and configuration show the bytes read and written."
        drawn = charts.bytes_moved(group, read, write, self.palette, chart_id, title, describe)
        caption = say(
            "Mean bytes between L2 and DRAM; {backend}, {scenario}. Filled bars are bytes read. Bytes written leave out what still lay dirty in L2 when the kernel ended.",
            backend=group.backend,
            scenario=_scenario(group),
        )
        return [self._chart(chart_id, title, describe, caption, drawn)]

    def _limits(self) -> Section | None:
        blocks = []
        for shown in self.shown:
            group = shown.group
            found = kernels.of_group(self.samples, group, _KERNEL_METRICS)
            points = [(case, bottleneck.judge({m: case.value(m) for m in case.metrics})) for case in group.cases]
            points = [(case, verdict) for case, verdict in points if verdict.limit != "not known"]
            if not points:
                continue
            self.used |= {"limit", *bottleneck.SM_METRICS}
            chart_id = f"{shown.id}-limits"
            title = "SM against DRAM throughput"
            describe = (
                "Each point is one annotation and configuration, in one of three regions: compute, memory, latency."
            )
            drawn = charts.limits(points, group, self.palette, chart_id, title, describe)
            caption = say(
                "Each point is one annotation and configuration{axis}, kernels weighed by time; {backend}, {scenario}. Right and low is limited by compute, left and high by memory; below {busy} of both peaks the kernel waits.",
                axis=f" ({visible(group.axis)} beside it)" if group.axis else "",
                backend=group.backend,
                scenario=_scenario(group),
                busy=figure(bottleneck.BUSY_PCT, "%", "constant:bottleneck.BUSY_PCT"),
            )
            chart = self._chart(chart_id, title, describe, caption, drawn)
            table = tables.kernels(found, group, f"{shown.id}-kernels")
            blocks.append(
                Block(f"{shown.id}-why", f"{visible(group.benchmark)}: {_heading(group)}", (), (chart,), (table,))
            )
        if not blocks:
            return None
        lead = ("The busier of SM and DRAM decides. This says where to look first, not how much there is to gain.",)
        return Section("why", "Why it is so", lead, tuple(blocks))

    def _method(self) -> Section:
        blocks = []
        for shown in self.shown:
            group = shown.group
            if not group.measured:
                continue
            made = []
            if (
                any(len(case.runs.get(group.main, {})) >= 2 for case in group.cases)
                and len(group.cases) <= _MOST_RANKED
            ):
                chart_id = f"{shown.id}-runs"
                title, describe = (
                    "Runs in the order in which they were taken",
                    "Each point is a run, as its distance from its row's mean in percent.",
                )
                drawn = charts.in_order(group, group.main, self.palette, chart_id, title, describe)
                caption = (
                    "Each point is one run; the band is ±2 %, within which a row counts as stable. Hollow points belong to unstable rows.",
                )
                most = charts.most_points(sum(len(case.runs.get(group.main, {})) >= 2 for case in group.cases))
                if any(len(case.runs.get(group.main, {})) > most for case in group.cases):
                    thin = f" Of a row of more than {most:,} runs the lowest and the highest of each stretch are shown."
                    caption = (caption[0] + thin,)
                made.append(self._chart(chart_id, title, describe, caption, drawn))
            table = tables.stability(group, f"{shown.id}-stability")
            blocks.append(
                Block(
                    f"{shown.id}-how",
                    f"{visible(group.benchmark)}: {_heading(group)}",
                    self._tick(group),
                    tuple(made),
                    (table,),
                )
            )
        read = self.table[groups.readings(self.table)]
        if len(read):
            table = tables.readings(read, "readings")
            blocks.append(Block("readings-how", "What the suite's collectors read", (), (), (table,)))
        files = keeping.files_read(self.info)
        lead: Sentence = (*files, *self._policy())
        return Section("method", "How it was measured", lead, tuple(blocks))

    def _policy(self) -> Sentence:
        said = {
            "policy.cache": {
                "flush": "Caches were flushed before each kernel and pass.",
                "none": "Caches were left as they were.",
            },
            "policy.clocks": {"base": "Clocks were locked to base.", "none": "Clocks were free."},
        }
        parts = [table.get(str(self._fact(key)), "") for key, table in said.items()]
        return tuple(f" {part}" for part in parts if part)

    def _tick(self, group: Group) -> Sentence:
        rows = self.samples[(self.samples["metric"] == TIME).to_numpy() & (self.samples["state"] == "ok").to_numpy()]
        mine = rows[(rows["backend"] == group.backend).to_numpy()]
        step = tick(mine["value"].to_numpy())
        if step is None:
            return ("The timer's tick could not be estimated from so few times.",)
        self.used.add("tick")
        source = f"tick({group.backend})"
        return say(
            "The timer's tick, estimated from all times of this backend here, is {tick}.",
            tick=figure(step, "ns", source),
        )

    def _processed_name(self, group: Group) -> str:
        return f"processed-{slug(group.backend)}-{slug(group.scenario)}.csv"

    def _processed_files(self) -> None:
        pairs = dict.fromkeys((g.backend, g.scenario) for g in self.groups)
        for backend, scenario in pairs:
            part: pd.DataFrame = self.table[(self.table["Backend"] == backend) & (self.table["Scenario"] == scenario)]
            name = f"processed-{slug(backend)}-{slug(scenario)}.csv"
            text = csv_tables.frame_to_csv(part).decode()
            self.data.append(DataFile(name, f"The processed table, {backend}, {scenario}.", text, inline=False))


def _as_planned(found: Sequence[Group], plan: Mapping[str, Any]) -> tuple[Group, ...]:
    """Return the groups in the order in which the plan names their benchmarks and backends, the usual scenario first."""
    planned, measured_by = plan.get("benchmarks"), plan.get("backends")  # anything, in a bundle from elsewhere
    benchmarks = (
        [bench.get("name") for bench in planned if isinstance(bench, dict)] if isinstance(planned, list) else []
    )
    backends = measured_by if isinstance(measured_by, list) else []

    def place(known: Sequence[Any], word: str) -> int:
        return known.index(word) if word in known else len(known)

    return tuple(
        sorted(
            found,
            key=lambda g: (
                place(benchmarks, g.benchmark),
                place(backends, g.backend),
                place(tuple(words.SCENARIOS), g.scenario),
            ),
        )
    )


def _apart(plan: Mapping[str, Any]) -> set[str]:
    """Return the benchmarks whose suite sets their annotations against none of them: they do different work."""
    planned = plan.get("benchmarks")
    found = [bench for bench in planned if isinstance(bench, dict)] if isinstance(planned, list) else []
    return {str(bench.get("name")) for bench in found if bench.get("normalize_against") == ""}


def _scrubbed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return samples whose reasons name no path and no address."""
    reason = frame["reason"].astype("object")
    return frame.assign(reason=reason.map({text: scrub(text) for text in reason.unique()}))


def _block_id(group: Group, index: int) -> str:
    return f"g{index}-{slug(group.backend)}-{slug(group.scenario)}"


def _heading(group: Group) -> str:
    name = {"ncu": "Nsight Compute", "cupti": "CUPTI", "torch": "PyTorch Profiler"}.get(group.backend, group.backend)
    workload = "" if group.workload == "kernel" else f", by {group.workload}"
    return f"{name}{workload}, {_scenario(group)}"


def _scenario(group: Group) -> str:
    return "scenario not recorded" if group.scenario == "not-recorded" else f"scenario {visible(group.scenario)}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if text[:1].islower() else text
