"""Build the dossier of a bundle: gather the evidence, then say what it says. Nothing is written here."""

from __future__ import annotations

import pandas as pd

import reportgen
from reportgen.analysis.timer import tick
from reportgen.dossier import cautions, findings, head, keeping, words
from reportgen.dossier.findings import Evidence
from reportgen.dossier.gathered import Gathered
from reportgen.dossier.method import method
from reportgen.dossier.model import DataFile, Dossier, Tier
from reportgen.dossier.origins import with_sources
from reportgen.dossier.sections import section
from reportgen.dossier.text import visible
from reportgen.dossier.why import limits
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
    evidence = _evidence(of)
    provenance = keeping.provenance(of.provenance, evidence.ticks)
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
        lead=head.lead(of),
        chips=head.chips(of),
        findings=findings.find(evidence, why is not None),
        cautions=cautions.of_bundle(evidence, of.samples, of.losses),
        sections=sections,
        limits=why,
        method=how,
        provenance=provenance,
        evidence=keeping.evidence(of.bundle, of.tier, of.beside),
        verify_command=f"reportgen verify {info.start}-{of.bundle.version}",
        render_command=f"reportgen render {info.start}-{of.bundle.version} --out . --tier {of.tier}",
        glossary=keeping.glossary(of.used | _words(of), provenance),
        data=tuple(of.data),
        head=head.facts(of),
        question=visible(info.question),
        prose=info.prose,
        note=words.SIDE_BY_SIDE if len({(g.backend, g.scenario) for g in of.groups}) > 1 else "",
    )
    return with_sources(made, of.measurements)


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
        of.declares,
        {backend: step for backend, step in ticks.items() if step is not None},
        of.measurements.sensed,
    )
