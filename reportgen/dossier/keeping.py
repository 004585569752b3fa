"""The parts of a dossier that say what is kept: provenance, evidence and its digests, and the words explained."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from types import MappingProxyType
from urllib.parse import quote

from reportgen.analysis.sources import call, quoted
from reportgen.dossier import words
from reportgen.dossier.model import (
    EvidenceFile,
    Figure,
    ProvenanceEntry,
    ProvenanceGroup,
    Published,
    Sentence,
    Term,
    Tier,
)
from reportgen.dossier.text import Scale, count, figure, moment, plural, say, scale_for, visible
from reportgen.evidence import provenance as kept
from reportgen.evidence.bundle import Bundle, BundleFile, BundleInfo
from reportgen.evidence.redaction import published, redact

_ROLES = (
    ("data/import/", "imported file, byte for byte"),
    ("data/suite/", "the suite's source"),
    ("data/samples/", "samples"),
    ("data/bundle.json", "what the bundle is"),
    ("data/provenance.json", "provenance"),
    ("data/", "raw evidence"),
)


_BYTES = Scale("bytes", 1.0)  # a column of sizes has one unit, and each is known exactly
_TICK = re.compile(r"timer\.(.+)_tick_ns")
NO_TICKS: Mapping[str, float] = MappingProxyType({})
_MOMENT = re.compile(r"\d{4}-?\d\d-?\d\dT[\d:]{4,8}(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)")


def iso(start: str) -> str:
    """Return a bundle's start, `20261130T211006Z`, as ISO 8601."""
    return datetime.strptime(start, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def provenance(facts: kept.Provenance, ticks: Mapping[str, float] = NO_TICKS) -> tuple[ProvenanceGroup, ...]:
    """Return all facts in their groups, with what was not recorded and why.

    `ticks` are the timers' as this version estimates them, in ns by backend: where one differs from what was recorded, it says so.
    """
    return tuple(
        ProvenanceGroup(title, tuple(_with_tick(_entry(key, fact), ticks) for key, fact in entries))
        for title, entries in facts.groups()
        if entries
    )


def _with_tick(entry: ProvenanceEntry, ticks: Mapping[str, float]) -> ProvenanceEntry:
    """Say of a tick that was estimated otherwise at collection that it was, and what it is estimated to be here."""
    found = _TICK.fullmatch(entry.key)
    step = ticks.get(found[1]) if found else None
    recorded = [part.value for part in entry.value if isinstance(part, Figure)]
    if found is None or step is None or not recorded or step in recorded:
        return entry
    here = figure(step, "ns", call("tick", quoted(found[1])))
    return replace(entry, value=(*entry.value, " as estimated at collection; estimated here ", here))


def _entry(key: kept.Key, fact: kept.Fact) -> ProvenanceEntry:
    label = visible(key.label)
    if fact.withheld:
        return ProvenanceEntry(key.name, label, (), "withheld", "it may name a host, a path or a person", "")
    if fact.value is None:
        return ProvenanceEntry(key.name, label, (), "not recorded", visible(fact.reason), "")
    return ProvenanceEntry(key.name, label, _said(key, fact), "recorded", "", visible(fact.origin))


def _said(key: kept.Key, fact: kept.Fact) -> Sentence:
    """Return a fact as it is printed: a number in its unit, a range as two, a moment in words, else its own text."""
    source = f"provenance:{key.name}"
    if isinstance(fact.value, int | float) and not isinstance(fact.value, bool):
        return (figure(float(fact.value), key.unit, source),)
    text = str(fact.text)
    if key.unit and (ends := [_as_number(end) for end in text.split(" to ")]) and None not in ends:
        values = [end for end in ends if end is not None]
        if len(values) == 1:
            return (figure(values[0], key.unit, source),)
        if len(values) == 2:
            low, high = values
            scale = scale_for([high], key.unit)
            return (
                figure(low, key.unit, f"{source}[0]", scale),
                " to ",
                figure(high, key.unit, f"{source}[1]", scale),
            )
    if _MOMENT.fullmatch(text):
        try:
            return (moment(text),)
        except ValueError:
            pass
    return (visible(text),)


def _as_number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def evidence(bundle: Bundle, tier: Tier, beside: str) -> tuple[EvidenceFile, ...]:
    """Return every file of the bundle with its size, its digest and whether this tier publishes it.

    `beside` is the folder, relative to the dossier, into which the files are published, or "" when they are not.
    """
    return tuple(_evidence_file(bundle, file, tier, beside) for file in bundle.files())


def _evidence_file(bundle: Bundle, file: BundleFile, tier: Tier, beside: str) -> EvidenceFile:
    how: Published = "as is" if tier == "full" else published(file.path)
    digest = sha256(redact(file.path, bundle.read(file.path))).hexdigest() if how == "redacted" else ""
    if digest == file.sha256:  # there was nothing to hide
        how, digest = "as is", ""
    return EvidenceFile(
        path=visible(file.path),
        role=next((role for prefix, role in _ROLES if file.path.startswith(prefix)), "the bag's own"),
        size=figure(float(file.size), "byte", f"file:{file.path}.bytes", _BYTES),
        sha256=file.sha256,
        published=how,
        published_sha256=digest,
        href=f"{beside}/{quote(file.path)}" if beside and how != "withheld" else "",
    )


def files_read(info: BundleInfo) -> Sentence:
    """Say from which files the samples were taken."""
    files = [f for f in info.plan.get("files", []) if isinstance(f, dict)]
    sampled = [f for f in files if f.get("use") == "sampled"]
    if not files:
        return ()
    return say(
        "Imported from {n} {word}, of which {k} {was} sampled; the rest is kept beside as evidence.",
        n=count(len(files), "count(imported files)"),
        word=plural(len(files), "file"),
        k=count(len(sampled), "count(sampled files)"),
        was="was" if len(sampled) == 1 else "were",
    )


def glossary(used: Iterable[str], groups: Iterable[ProvenanceGroup]) -> tuple[Term, ...]:
    """Return the words used on this page that have a meaning."""
    states = {entry.state for group in groups for entry in group.entries}
    return tuple(Term(word, meaning) for word, meaning in words.glossary({*used, *states}))
