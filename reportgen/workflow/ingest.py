"""Make a bundle of foreign files: recognise, read, place, and keep every byte.

One import is one bundle. Reports come before tables: a CSV that holds the launches of a report of the same import, or of a
fuller CSV, is kept as evidence and not sampled twice.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import reportgen
from reportgen.analysis import derive, processed
from reportgen.analysis.derive import TIME
from reportgen.evidence import bundle, provenance, samples, tables, write
from reportgen.evidence.bundle import BundleInfo, Formula
from reportgen.evidence.errors import ReadError, UserError, shown
from reportgen.evidence.provenance import Fact
from reportgen.evidence.samples import Samples
from reportgen.readers import ncu_csv, ncu_rep, nsight_python
from reportgen.readers import session as session_text
from reportgen.readers.csv_text import sniff_csv
from reportgen.readers.recognise import KINDS, Kind, check_file, recognise

_READERS = {
    "ncu-rep": ncu_rep.read,
    "ncu-raw": ncu_csv.read,
    "ncu-details": ncu_csv.read,
    "nsight-profiled": nsight_python.read,
    "nsight-processed": nsight_python.read,
}
_NOT_SAID = "the imported files do not say it"
_SUFFIXES = re.compile(r"(\.(ncu-repz?|csv|txt|log|raw|details|base|auto|session))+$", re.IGNORECASE)
_TABLES = ("ncu-raw", "ncu-details", "nsight-profiled", "nsight-processed")
_DURATION = "Duration"  # the time, by its name in the details page
_SAME_METRICS = 0.9  # of those that two files have in common, where they hold the same launches


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import made; `notes` say in a line each what a person may want to know, `losses` what is missing."""

    path: Path
    bundle_id: str
    launches: int
    samples: int
    losses: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _File:
    """One file of the import: where it is kept in the bundle, and what was read from it."""

    path: Path
    name: str  # relative to data/
    kind: Kind
    read: Samples | None
    digest: str
    use: str = "kept"

    @property
    def label(self) -> str:
        """Return the file's own name, as a text that can be kept and printed whatever its bytes are."""
        return os.fsencode(self.path.name).decode("utf-8", "backslashreplace")


def ingest(
    files: Sequence[Path],
    out: Path,
    *,
    kind: str | None = None,
    suite: str | None = None,
    title: str | None = None,
    scenario: str | None = None,
    date: str | None = None,
    session: Path | None = None,
    derived: Sequence[str] = (),
) -> Imported:
    """Import `files` into one bundle below `out`; `derived` are formulas of the form `TFLOP/s=2*n**3/time/1e12`.

    Raises `UserError` for what cannot be read; nothing is written then.
    """
    _check_options(suite, title, scenario, kind)
    formulas = tuple(_formula(text) for text in derived)
    given = [*files, *([session] if session is not None and session not in files else [])]
    if not given:
        raise UserError(None, "no files to import", "name at least one report or CSV")
    read = _mark_repeated([_read(path, name, kind, session) for path, name in _names(given)])
    sampled = [file for file in read if file.use == "sampled"]
    if not sampled:
        raise UserError(given[0], "none of the files holds launches", "name a report or a CSV of ncu or nsight-python")
    said = _session_facts(read)
    policy = scenario if scenario is not None else session_text.scenario_of(said) or "not-recorded"
    suite_name = suite if suite is not None else bundle.slug(stem(sampled[0].path))
    benchmarks = _benchmarks(sampled, suite_name)
    frame = joined([Sampled(benchmarks[f.name], f.read.frame) for f in sampled if f.read], suite_name, policy)
    start, start_origin = _start(date, said, sampled)
    losses = tuple(f"{file.label}: {loss}" for file in sampled if file.read for loss in file.read.losses)
    info = BundleInfo(
        suite=suite_name,
        title=title if title is not None else suite_name.replace("_", " "),
        start=start,
        status="imported",
        losses=losses,
        plan={"files": [_planned(file, benchmarks) for file in read]},
        formulas=formulas,
    )
    facts = _provenance(read, said, start, start_origin)
    table = processed.table(frame, formulas, facts)
    made = bundle.create(out, info, facts, {f.name: f.path for f in read}, frame, _by_scenario(table))
    launches = samples.launches(frame)
    notes = (*_notes(read, policy, frame), *_without_values(table, formulas))
    return Imported(made, info.id, launches, len(frame), losses, notes)


def _check_options(suite: str | None, title: str | None, scenario: str | None, kind: str | None) -> None:
    """Refuse what cannot be kept before any file is read; an option that is given is never silently passed over."""
    for what, name in (("suite", suite), ("scenario", scenario)):
        if name is not None:
            bundle.check_name(name, what)
    if title is not None and not any(c.isprintable() and not c.isspace() for c in title):
        raise UserError(None, "the title is blank", "give one, or leave out --title")
    if title is not None and any(unicodedata.category(c) in ("Cc", "Cs") for c in title):
        raise UserError(None, "the title holds a control character or what is not Unicode", "leave it out of --title")
    if kind is not None and kind not in KINDS:
        raise UserError(None, f"'{shown(kind)}' is not a kind of file", f"use one of {', '.join(KINDS)}")


def _names(paths: Sequence[Path]) -> list[tuple[Path, str]]:
    """Give each file its name in the bundle; files of one name get their number ahead."""
    unique = [(path, _safe(path.name)) for path in dict.fromkeys(paths)]
    counts = Counter(bundle.folded_name(name) for _, name in unique)
    return [
        (path, f"import/{name}" if counts[bundle.folded_name(name)] == 1 else f"import/{index}/{name}")
        for index, (path, name) in enumerate(unique)
    ]


def _safe(name: str) -> str:
    """Return a file's own name where it is safe on any system, else a name made of it."""
    try:
        return bundle.check_name(name) if "%" not in name else bundle.slug(name)
    except UserError:
        return bundle.slug(name)


def _read(path: Path, name: str, kind: str | None, session: Path | None) -> _File:
    found = _kind(path, "ncu-session" if session is not None and path == session else kind)
    reader = _READERS.get(found)
    source = f"data/{name}"
    try:
        samples = None if reader is None else reader(path, source)
        return _File(path, name, found, samples, _digest(path), "sampled" if reader else "kept")
    except OSError as error:  # of the disk, in the middle of a file: the system does not say of which
        raise ReadError(path, f"cannot be read ({error.strerror})", "copy it again from where it was made") from None


def _kind(path: Path, kind: str | None) -> Kind:
    if kind is None:
        return recognise(path)
    check_file(path)
    told: Kind = next(known for known in KINDS if known == kind)
    found = sniff_csv(path) if told in _TABLES else None
    if found is not None and found != told:
        raise ReadError(path, f"it is {found} and not {told}, by the names in its header", f"give --kind {found}")
    return told


def _digest(path: Path) -> str:
    made = hashlib.sha256()
    for chunk in write.read_chunks(path):
        made.update(chunk)
    return made.hexdigest()


def _mark_repeated(files: list[_File]) -> list[_File]:
    """Sample each launch once: the fullest file that holds it is sampled, the others are kept as evidence.

    A second copy of a file, whatever its name, is never sampled again.
    """
    order = {kind: rank for rank, kind in enumerate(KINDS)}
    ranked = sorted(range(len(files)), key=lambda i: (order[files[i].kind], i))
    taken: list[_File] = []
    result = list(files)
    for index in ranked:
        file = files[index]
        if file.read is None:
            continue
        if any(file.digest == other.digest for other in taken):
            result[index] = replace(file, use="kept: a copy of another file")
        elif file.kind != "ncu-rep" and any(_same_launches(file, other) for other in taken):
            result[index] = replace(file, use="kept: the same launches as another file")
        else:
            taken.append(file)
    return result


def _same_launches(file: _File, other: _File) -> bool:
    if file.kind == "nsight-processed":
        return other.kind == "nsight-profiled" and _annotations(file) <= _annotations(other)
    mine, theirs = _values(file), _values(other)
    if TIME not in mine or TIME not in theirs or not _agree(mine[TIME], theirs[TIME]):
        return False
    # Short kernels of two runs may well take the same number of the timer's ticks: the other metrics tell them apart.
    common = [_agree(values, theirs[metric]) for metric, values in mine.items() if metric in theirs]
    return sum(common) >= _SAME_METRICS * len(common)


def _agree(mine: np.ndarray[Any, Any], theirs: np.ndarray[Any, Any]) -> bool:
    """Say whether sorted values are the same within the digits of the one that was printed with fewer."""
    if len(mine) != len(theirs):
        return False
    unequal = mine != theirs
    pairs = zip(mine[unequal].tolist(), theirs[unequal].tolist(), strict=True)
    return all(abs(a - b) <= 0.51 * max(_last_digit(a), _last_digit(b)) for a, b in pairs)


def _last_digit(value: float) -> float:
    """Return what one unit of a number's last digit is worth: 10 for 5120, 0.01 for 0.25."""
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return 10.0**exponent if isinstance(exponent, int) and value else 0.0


def _annotations(file: _File) -> set[str]:
    assert file.read is not None
    return set(file.read.frame["annotation"].astype("object"))


def _values(file: _File) -> dict[str, np.ndarray[Any, Any]]:
    """Return the values of each metric of a file, sorted: two files of the same launches agree in them."""
    assert file.read is not None
    frame = file.read.frame[["metric", "value"]].dropna(subset="value").sort_values("value")
    found = {str(metric): part["value"].to_numpy() for metric, part in frame.groupby("metric", observed=True)}
    if _DURATION in found:
        found.setdefault(TIME, found[_DURATION])
    return found


def stem(path: Path) -> str:
    """Return a file's name without what says its kind."""
    return _SUFFIXES.sub("", path.name) or path.name


def _benchmarks(files: Sequence[_File], suite: str) -> dict[str, str]:
    """Return the benchmark of each file by its name in the bundle: of several files each its own, a single one the suite's."""
    stems = Counter(stem(file.path) for file in files)
    found = {}
    for file in files:
        name = stem(file.path)
        own = name if stems[name] == 1 else file.name.removeprefix("import/")
        found[file.name] = suite if len(files) == 1 else own
    return found


def _planned(file: _File, benchmarks: Mapping[str, str]) -> dict[str, str]:
    """Return what the bundle says of a file: by this it is read again."""
    found = {"name": file.name, "kind": file.kind, "use": file.use}
    return {**found, "benchmark": benchmarks[file.name]} if file.name in benchmarks else found


@dataclass(frozen=True)
class Sampled:
    """The samples of one imported file, and the benchmark that they are of."""

    benchmark: str
    frame: pd.DataFrame


def sampled(folder: Path, name: str, kind: str, benchmark: str) -> Sampled:
    """Read an imported file again from the bundle in `folder`, by what the bundle says of it (`_planned`)."""
    reader = _READERS.get(kind)
    if reader is None:
        raise ReadError(
            name, f"'{shown(kind)}' is not a kind of file that is sampled", f"it is one of {', '.join(_READERS)}"
        )
    return Sampled(benchmark, reader(folder / "data" / name, f"data/{name}").frame)


def joined(files: Sequence[Sampled], suite: str, scenario: str) -> pd.DataFrame:
    """Join the samples of imported files, which are of one suite and scenario."""
    frames = []
    for file in files:
        frame = file.frame.copy()
        for column, text in (("suite", suite), ("benchmark", file.benchmark), ("scenario", scenario)):
            frame[column] = samples.constant_text(text, len(frame))
        frames.append(frame)
    return samples.concat(frames) if len(frames) > 1 else samples.check(frames[0])


def _session_facts(files: Sequence[_File]) -> dict[str, str]:
    said: dict[str, str] = {}
    for file in files:
        if file.kind == "ncu-session":
            said |= session_text.read(file.path)
    return said


def _start(date: str | None, said: Mapping[str, str], files: Sequence[_File]) -> tuple[str, str]:
    """Return when the evidence was taken, in UTC, and how that is known."""
    if date is not None:
        return _parsed(date), "given by --date"
    stated = [
        file.read.facts["collection.created"] for file in files if file.read and "collection.created" in file.read.facts
    ]
    if stated:
        return _parsed(min(stated)), "the report's own time of creation"
    if "collection.created" in said:
        return _parsed(said["collection.created"]), "the session page (its time zone is not stated; taken as UTC)"
    newest = max(file.path.stat().st_mtime for file in files)
    return f"{datetime.fromtimestamp(newest, UTC):%Y%m%dT%H%M%SZ}", "the newest file's modification time"


def _parsed(date: str) -> str:
    try:
        moment = datetime.fromisoformat(date)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        return f"{moment:%Y%m%dT%H%M%SZ}"
    except (ValueError, OverflowError):
        raise UserError(None, f"'{shown(date)}' is not a date", "write it like 2026-11-30T21:10:06Z") from None


def _provenance(files: Sequence[_File], said: Mapping[str, str], start: str, origin: str) -> provenance.Provenance:
    """Gather what the files state of themselves; where two differ, both stand."""
    facts: dict[str, Fact] = {}
    for file in files:
        stated = {} if file.read is None else file.read.facts
        for key, value in stated.items():
            known = facts.get(key)
            if known is None:
                facts[key] = _fact(value, file.label)
            elif str(known.value) != value and file.use == "sampled":
                facts[key] = Fact(f"{known.value}; {value}", "", f"{known.origin}; {file.label}")
    facts |= {key: _fact(value, "ncu's session page") for key, value in said.items()}
    facts["collection.start"] = Fact(start, "", origin)
    facts["import.files"] = Fact(", ".join(file.label for file in files), "", "the import")
    facts["versions.reportgen"] = Fact(reportgen.__version__, "", "the import")
    return provenance.from_facts(facts, _NOT_SAID)


def _fact(value: str, origin: str) -> Fact:
    """Keep a number as a number, so that a dossier prints it with its unit."""
    try:
        number = float(value)
    except ValueError:
        return Fact(value, "", origin)
    if not np.isfinite(number) or value.count(".") or len(value) > 15:
        return Fact(value, "", origin)
    return Fact(int(number), "", origin)


def _without_values(table: pd.DataFrame, formulas: Sequence[Formula]) -> list[str]:
    """Name the derived metrics that have no value at all: a name in their formula was probably mistyped."""
    notes = []
    for formula in formulas:
        rows = table[table["Metric"] == formula.metric]
        if len(rows) and rows["AvgValue"].isna().all():
            notes.append(f"{formula.metric}: no row has a value; {next(iter(rows['Reason']), '')}")
    return notes


def _by_scenario(table: pd.DataFrame) -> dict[tuple[str, str], bytes]:
    found = {}
    for (backend, scenario), part in table.groupby(["Backend", "Scenario"], sort=False):
        found[str(backend), str(scenario)] = tables.frame_to_csv(part)
    return found


def _formula(text: str) -> Formula:
    metric, equals, formula = text.partition("=")
    if not equals or not metric.strip():
        raise UserError(None, f"'{shown(text)}' is not a derived metric", "write it like TFLOP/s=2*n**3/time/1e12")
    derive.parse(metric.strip(), formula)
    return Formula(metric.strip(), formula.strip(), metric.strip())


def _notes(files: Sequence[_File], scenario: str, frame: pd.DataFrame) -> tuple[str, ...]:
    notes = [f"{file.label}: {file.use}" for file in files if file.use.startswith("kept:")]
    if scenario == "not-recorded":
        notes.append("the cache and clock policy is not recorded; state it with --scenario or --session")
    if f"{samples.PARAM}launch" in frame.columns:
        notes.append("ranges without a configuration were told apart by their launch shape (parameter 'launch')")
    return tuple(notes)
