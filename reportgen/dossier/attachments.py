"""The files that travel inside a PDF: a reviewer who has nothing else can check and recompute every figure.

These are the bundle's own files as its tier publishes them, byte for byte, and what this dossier was written from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from reportgen.dossier import jsonform
from reportgen.dossier.model import Dossier, Figure
from reportgen.dossier.text import figure
from reportgen.evidence.bundle import INFO, MANIFEST, PROVENANCE, TAG_MANIFEST, Bundle
from reportgen.evidence.redaction import redact

Relationship = Literal["Source", "Data", "Alternative", "Supplement", "Unspecified"]

JSON = "dossier.json"
_PROCESSED = re.compile(r"data/samples/([^/]+)/([^/]+)/processed\.csv(\.zst)?")
_KEPT = {
    INFO: "What the bundle is: its plan, formulas and states.",
    PROVENANCE: "On what, with what and how it was measured.",
    MANIFEST: "The digest of every payload file of the bundle.",
    TAG_MANIFEST: "The digests of the bundle’s own files; its SHA-256 is the bundle’s digest.",
}


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file inside the PDF; `path` is the bundle's file that it is, or "" for one that was made for this dossier.

    `relationship` is PDF's word for what the file is to the document.
    """

    name: str
    data: bytes
    description: str
    relationship: Relationship = "Data"
    path: str = ""

    @property
    def sha256(self) -> str:
        """Return the file's digest."""
        return sha256(self.data).hexdigest()

    @property
    def size(self) -> Figure:
        """Return the file's size as it is printed."""
        return figure(float(len(self.data)), "byte", f"file:{self.path or self.name}.bytes")


def attachments(dossier: Dossier, bundle: Bundle) -> tuple[Attachment, ...]:
    """Gather the files to attach to the PDF of `dossier`, no two of one name or of the same bytes.

    In the public tier a file of the bundle is what `redact` makes of it. A processed table that the bundle keeps packed,
    or that this version of reportgen computes differently, is attached as this dossier shows it too.
    """
    found: dict[bytes, Attachment] = {}
    names: set[str] = set()
    for attachment in (*_kept(dossier, bundle), *_made(dossier)):
        if attachment.data not in found and attachment.name not in names:
            found[attachment.data] = attachment
            names.add(attachment.name)
    return tuple(found.values())


def _kept(dossier: Dossier, bundle: Bundle) -> Iterator[Attachment]:
    for file in bundle.files():
        table = _PROCESSED.fullmatch(file.path)
        if table is None and file.path not in _KEPT:
            continue
        kept = bundle.read(file.path)
        data = kept if dossier.tier == "full" else redact(file.path, kept)
        name = file.path.removeprefix("data/").removeprefix("samples/").replace("/", "-")
        if table is None:
            yield Attachment(name, data, _KEPT[file.path], "Supplement", file.path)
        else:
            backend, scenario, packed = table.groups()
            said = f"The processed table of {backend}, {scenario}, as the bundle keeps it{', packed by zstd' if packed else ''}."
            yield Attachment(name, data, said, "Source", file.path)


def _made(dossier: Dossier) -> Iterator[Attachment]:
    yield Attachment(
        JSON, jsonform.render(dossier), "This dossier as data: every figure, table and chart’s data.", "Alternative"
    )
    for file in dossier.data:
        if not file.inline:
            yield Attachment(file.name, file.text.encode(), file.description, "Data")
