"""Evidence for the rules of the findings, made of a few samples, and their findings as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reportgen.analysis.derive import TIME
from reportgen.analysis.statistics import tick
from reportgen.dossier import findings
from reportgen.dossier.declared import Declared
from reportgen.dossier.findings import Evidence
from reportgen.dossier.model import Figure, Finding
from reportgen.dossier.text import plain
from reportgen.evidence import provenance
from reportgen.evidence.bundle import Formula
from reportgen.evidence.sensed import Sensed
from tests.analysis.building import Row, grouped


def evidence(
    rows: Iterable[Row],
    declared: Declared | Mapping[str, Declared] = Declared(),  # noqa: B008 - frozen
    formulas: Sequence[Formula] = (),
    sensed: Sensed = Sensed(),  # noqa: B008 - frozen
    **facts: Any,
) -> Evidence:
    """Make the evidence of samples; one `declared` is of the benchmark that `building` names, `gpu__l2_bytes` a fact."""
    groups = grouped(rows, formulas)
    ticks: dict[str, float] = {}
    for backend in {group.backend for group in groups}:
        mine = (case for group in groups if group.backend == backend for case in group.cases)
        ticks[backend] = tick([v for case in mine for v in case.runs.get(TIME, {}).values()]) or 0.0
    return Evidence(
        [(group, f"g{index}") for index, group in enumerate(groups)],
        provenance.from_facts({key.replace("__", "."): value for key, value in facts.items()}, "not said", "a test"),
        formulas,
        {"square": declared} if isinstance(declared, Declared) else declared,
        ticks,
        sensed,
    )


def found(of: Evidence, rule: str = "", most: int = 99) -> list[Finding]:
    """Return the findings of a rule, or all."""
    return [finding for finding in findings.find(of, why=False, most=most) if rule in ("", finding.rule)]


def said(of: Evidence, rule: str = "", most: int = 99) -> list[str]:
    """Return the sentences of the findings of a rule, or of all, with common spaces."""
    return [sentence(finding) for finding in found(of, rule, most)]


def sentence(finding: Finding) -> str:
    """Return a finding's sentence with common spaces."""
    return plain(finding.whole).replace("\u00a0", " ").replace("\u202f", " ")


def figures(finding: Finding) -> list[Figure]:
    """Return the figures of a finding in order."""
    return [part for part in finding.whole if isinstance(part, Figure)]


def by_function(finding: Finding) -> dict[str, Figure]:
    """Return the figures of a finding by the function of their source, the first of each."""
    known: dict[str, Figure] = {}
    for one in figures(finding):
        known.setdefault(one.source.partition("(")[0], one)
    return known
