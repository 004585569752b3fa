"""Audit a dossier: compute every figure that it prints again, from the raw evidence.

Raw files → samples → processed table → figure, each step held to the next: the raw files are read again and must give the samples
that the bundle keeps; from what they give the processed table and every figure are computed anew; and what stands in the finished
files of the dossier is held to that, by those files alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

import reportgen
from reportgen.analysis.evaluate import Evaluator
from reportgen.analysis.measurements import Measurements
from reportgen.dossier import finished, held
from reportgen.dossier.build import build
from reportgen.dossier.finished import Finished
from reportgen.dossier.held import Wrong
from reportgen.dossier.model import Dossier
from reportgen.evidence import sensed
from reportgen.evidence.bundle import Bundle, open_bundle
from reportgen.evidence.errors import ReadError, UserError
from reportgen.evidence.redaction import TIERS, Tier, public_provenance, public_samples
from reportgen.evidence.verify import verify
from reportgen.workflow import again, compared

HTML, JSON = "dossier.html", "dossier.json"
_ROWS = "dossier_files/rows*.html"
_MOST_BYTES = 1 << 28  # of one file of a dossier


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong with the evidence itself: the file in the bundle, and what."""

    file: str
    what: str


@dataclass(frozen=True, slots=True)
class Audited:
    """One file of the dossier: its figures that were recomputed and equal, those taken as recorded, and all that is wrong."""

    name: str
    equal: int
    recorded: int
    wrong: tuple[Wrong, ...]


@dataclass(frozen=True)
class Audit:
    """What an audit found. `raw` files were read again and gave `samples` rows; `processed` rows of the bundle's own tables are equal."""

    digest: str
    files: tuple[Audited, ...] = ()
    raw: int = 0
    samples: int = 0
    processed: int = 0
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Tell whether all is as it should be."""
        return not self.faults and bool(self.files) and not any(file.wrong for file in self.files)


def audit(dossier: Path, evidence: Path) -> Audit:
    """Audit the dossier at `dossier`, a file or the folder that holds its files, against the bundle at `evidence`.

    Raises `UserError` for what is no dossier or no bundle. A bundle that does not verify is not read further.
    """
    files = _files(dossier)
    if faults := verify(evidence):
        return Audit("", faults=tuple(Fault(fault.file, fault.what) for fault in faults))
    bundle = open_bundle(evidence)
    read = again.read(bundle)
    of = _Evidence(bundle, compared.known(bundle, read.frame))
    samples, processed = (
        compared.samples_held(bundle, read.frame),
        compared.processed_held(bundle, of.measured["full"].table),
    )
    found = [Fault(fault.file, fault.what) for fault in read.faults]
    found += [Fault(one.file, f"{one.row}: {one.what}") for one in samples.differences]
    snapshot = [Fault(one.file, f"{one.row}: {one.what}") for one in processed.differences]
    if not len(read.frame):
        found.append(Fault("data", "no raw file gave a sample: nothing was read again"))
    made = [_audit(path, of) for path in files]
    return Audit(
        digest=bundle.digest,
        files=tuple(one for audited, _ in made for one in audited),
        raw=read.files,
        samples=samples.equal,
        processed=processed.equal,
        # The processed table is a snapshot: another version may rightly give other statistics of the same samples.
        faults=(*found, *snapshot) if bundle.software == reportgen.__version__ else tuple(found),
        notes=tuple(
            dict.fromkeys((*_notes(bundle, samples, snapshot), *(note for _, notes in made for note in notes)))
        ),
    )


def _files(dossier: Path) -> list[Path]:
    """Return the files to audit."""
    if dossier.is_dir():
        found = [dossier / name for name in (HTML, JSON) if (dossier / name).is_file()]
        if not found:
            raise UserError(
                dossier, f"holds neither {HTML} nor {JSON}", "name the dossier, or the folder that it is in"
            )
        return found
    if not dossier.exists():
        raise UserError(dossier, "there is no such file", "check the path")
    return [dossier]


def _notes(bundle: Bundle, samples: compared.Held, snapshot: Sequence[Fault]) -> Iterator[str]:
    if samples.unread:
        metrics = ", ".join(samples.unread)
        yield f"this version reads more of the raw files than the one that made the bundle did: {metrics}"
    if snapshot and bundle.software != reportgen.__version__:
        yield from (f"reportgen {bundle.software} wrote another row: {fault.file}: {fault.what}" for fault in snapshot)


class _Evidence:
    """A bundle as its raw files give it, for each tier."""

    def __init__(self, bundle: Bundle, frame: pd.DataFrame) -> None:
        self.bundle, self._frame = bundle, frame

    @cached_property
    def measured(self) -> dict[Tier, Measurements]:
        """Return the measurements as each tier has them."""
        info, facts, seen = self.bundle.info, self.bundle.provenance, sensed.read(self.bundle)
        return {
            "full": Measurements(self._frame, info, facts, seen),
            "public": Measurements(public_samples(self._frame), info, public_provenance(facts), seen),
        }

    @cached_property
    def evaluators(self) -> dict[Tier, Evaluator]:
        """Return what computes the figures of each tier."""
        sizes = {file.path: file.size for file in self.bundle.files()}
        return {tier: Evaluator(of, sizes) for tier, of in self.measured.items()}

    def dossier(self, tier: Tier) -> Dossier:
        """Return the dossier as it is made today, which says what should stand in the files."""
        if tier not in self._made:
            self._made[tier] = build(self.bundle, tier)
        return self._made[tier]

    @cached_property
    def _made(self) -> dict[Tier, Dossier]:
        return {}


def _audit(path: Path, of: _Evidence) -> tuple[list[Audited], list[str]]:
    """Audit one file, and the pages of rows that lie beside a page."""
    found = _read(path)
    tier = next((tier for tier in TIERS if tier == found.tier), None)
    if tier is None or not found.digest:
        raise ReadError(path, "it does not say of which bundle and tier it is", "audit what reportgen rendered")
    wrong: list[Wrong] = []
    if found.digest != of.bundle.digest:
        what = f"it is of the bundle {found.digest}, and the evidence is {of.bundle.digest}"
        wrong.append(Wrong("differs", "", what, found.digest, of.bundle.digest))
    pages = [(page, _read(page)) for page in sorted(path.parent.glob(_ROWS))] if found.words else []
    notes = []
    if found.reportgen == reportgen.__version__:
        wrong += held.whole(found, of.dossier(tier), path.parent)
        if pages or found.words:
            wrong += held.rows([page for _, page in pages], of.dossier(tier).sources)
    else:
        notes.append(
            f"{path.name} was rendered by reportgen {found.reportgen or 'of an unknown version'} and this is "
            f"{reportgen.__version__}: its figures were computed again, and what it may lack was not looked for"
        )
    made = [_counted(path.name, found, of.evaluators[tier], wrong)]
    made += [_counted(f"{page.parent.name}/{page.name}", one, of.evaluators[tier], []) for page, one in pages]
    return made, notes


def _counted(name: str, found: Finished, evaluate: Evaluator, wrong: Sequence[Wrong]) -> Audited:
    counted = held.figures(found, evaluate)
    return Audited(name, counted.equal, counted.recorded, (*wrong, *counted.wrong))


def _read(path: Path) -> Finished:
    """Read a file of a dossier; raises `ReadError` for what is none."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ReadError(path, "is far too large for a file of a dossier", "audit what reportgen rendered")
        data = path.read_bytes()
    except OSError as error:
        raise ReadError(path, f"cannot be read: {error.strerror}", "check the path") from None
    if data.lstrip()[:1] == b"{":
        return finished.read_json(data, str(path))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ReadError(path, "it is neither a dossier's HTML nor its JSON", "name one of these") from None
    if "<html" not in text[:2000].lower():
        raise ReadError(path, "it is neither a dossier's HTML nor its JSON", "name one of these")
    return finished.read_html(text)
