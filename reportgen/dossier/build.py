"""Build the dossier of a bundle: gather the evidence, then say what it says. Nothing is written here."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

import pandas as pd

import reportgen
from reportgen.analysis import groups, sources
from reportgen.analysis.timer import tick
from reportgen.dossier import cautions, findings, keeping, words
from reportgen.dossier.declared import declared
from reportgen.dossier.findings import Evidence
from reportgen.dossier.gathered import Gathered
from reportgen.dossier.method import method
from reportgen.dossier.model import Chip, DataFile, Dossier, Part, Sentence, Tier
from reportgen.dossier.origins import with_sources
from reportgen.dossier.sections import section
from reportgen.dossier.text import count, figure, plural, say, shorten, visible
from reportgen.dossier.why import limits
from reportgen.evidence import samples
from reportgen.evidence import tables as csv_tables
from reportgen.evidence.bundle import Bundle, slug


def build(bundle: Bundle, tier: Tier = "public", beside: str = "") -> Dossier:
    """Build the dossier of `bundle`; the public tier holds nothing that names a host, a path or a person.

    `beside` is the folder, relative to the dossier, into which its evidence is published, if it is.
    """
    of = Gathered(bundle, tier, beside)
    info = of.info
    sections = tuple(section(of, benchmark) for benchmark in dict.fromkeys(g.benchmark for g in of.groups))
    why, how = limits(of), method(of)
    provenance = keeping.provenance(of.provenance)
    _processed_files(of)
    made = Dossier(
        title=visible(info.title),
        suite=visible(info.suite),
        bundle_id=info.id,
        digest=of.bundle.digest,
        version=of.bundle.version,
        reportgen=reportgen.__version__,
        status=info.status,
        tier=of.tier,
        started=keeping.iso(info.start),
        gpu=visible(str(of.fact("gpu.name") or "GPU not recorded")),
        lead=_lead(of),
        chips=_chips(of),
        findings=findings.find(_evidence(of), why is not None),
        cautions=cautions.of_bundle(of.groups, of.samples, of.losses, of.provenance),
        sections=sections,
        limits=why,
        method=how,
        provenance=provenance,
        evidence=keeping.evidence(of.bundle, of.tier, of.beside),
        verify_command=f"reportgen verify {info.start}-{of.bundle.version}",
        render_command=f"reportgen render {info.start}-{of.bundle.version} --out . --tier {of.tier}",
        glossary=keeping.glossary(of.used | _words(of), provenance),
        data=tuple(of.data),
    )
    return with_sources(made, of.measurements)


def _lead(of: Gathered) -> Sentence:
    """Say in one line what was run."""
    annotations = list(dict.fromkeys(a for g in of.groups for a in g.annotations))
    rows = [row for g in of.groups for c in g.cases if (row := c.get(g.main)) is not None]
    launches = samples.launches(of.samples)
    names: list[Part] = []
    for index, name in enumerate(annotations[:3]):
        last = index == len(annotations) - 1
        names += [(" and " if last else ", ") if index else "", shorten(name, 40)]
    more = len(annotations) - 3
    axis = next((g.axis for g in of.groups if g.axis), "")
    return say(
        "{names}{more}{axis}{runs}; {launches} profiled {word}.",
        names=tuple(part for part in names if part),
        more=(" and ", count(more, _others(annotations[:3])), " more") if more > 0 else (),
        axis=_swept(of, axis),
        runs=_runs(sorted({row.runs for row in rows}), rows),
        launches=count(launches, "count(launches)"),
        word=plural(launches, "launch", "launches"),
    )


def _others(named: Sequence[str]) -> str:
    return sources.call("count", "other annotations", *map(sources.quoted, named))


def _swept(of: Gathered, axis: str) -> Sentence:
    swept = [(float(dict(c.params)[axis]), c) for g in of.groups if axis and g.axis == axis for c in g.cases]
    if not swept:
        return ()
    ends = (min(swept, key=itemgetter(0)), max(swept, key=itemgetter(0)))
    low, high = (figure(value, "", case.source(axis)) for value, case in ends)
    return (f" over {visible(axis)}\u00a0=\u00a0", low, " to ", high)


def _runs(runs: Sequence[int], rows: Sequence[groups.Measured]) -> Sentence:
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


def _chips(of: Gathered) -> tuple[Chip, ...]:
    chips = [Chip("status", of.info.status, words.STATUSES.get(of.info.status, ""))]
    if of.info.losses:
        chips.append(Chip("status", "partial", words.STATUSES["partial"]))
    chips += [Chip("backend", b, words.BACKENDS.get(b, "")) for b in dict.fromkeys(g.backend for g in of.groups)]
    chips += [
        Chip("scenario", s.replace("-", " "), words.scenario_meaning(s))
        for s in dict.fromkeys(g.scenario for g in of.groups)
    ]
    return tuple(chips)


def _words(of: Gathered) -> set[str]:
    scenarios = {g.scenario for g in of.groups}
    return {"annotation", "95 % CI", "deviation", *(g.backend for g in of.groups), *scenarios}


def _processed_files(of: Gathered) -> None:
    pairs = dict.fromkeys((g.backend, g.scenario) for g in of.groups)
    for backend, scenario in pairs:
        part: pd.DataFrame = of.table[(of.table["Backend"] == backend) & (of.table["Scenario"] == scenario)]
        name = f"processed-{slug(backend)}-{slug(scenario)}.csv"
        text = csv_tables.frame_to_csv(part).decode()
        of.data.append(DataFile(name, f"The processed table, {backend}, {scenario}.", text, inline=False))


def _evidence(of: Gathered) -> Evidence:
    """Return what the rules of the findings read."""
    ticks = {backend: tick(of.measurements, backend) for backend in dict.fromkeys(g.backend for g in of.groups)}
    return Evidence(
        tuple((shown.group, shown.id) for shown in of.shown),
        of.provenance,
        of.info.formulas,
        declared(of.info.plan),
        {backend: step for backend, step in ticks.items() if step is not None},
        of.measurements.sensed,
    )
