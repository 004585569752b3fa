"""A dossier as JSON, for other programs: the same model in reading order, without the drawings.

`schema.py` makes the published schema of this form from the same types and the tables below.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from reportgen.dossier.model import Chart, Dossier, Figure, Moment, Name

FORMAT = "reportgen dossier"
FORMAT_VERSION = 1
SCHEMA = f"urn:reportgen:dossier:{FORMAT_VERSION}"  # the `$id` of the published schema

# A part of a sentence is a string, or an object that says of which kind it is.
KINDS: Mapping[type, str] = {Figure: "figure", Name: "name", Moment: "moment"}
# What stands in the model and not in the JSON; what figures are computed from is a data file there.
LEFT_OUT: Mapping[type, frozenset[str]] = {Chart: frozenset({"panels"}), Dossier: frozenset({"sources"})}


def render(dossier: Dossier) -> bytes:
    """Render `dossier` as JSON in UTF-8; a part of a sentence is a string, or an object with its `kind`."""
    whole = {"$schema": SCHEMA, "format": FORMAT, "format_version": FORMAT_VERSION, **_plain(dossier)}
    text = json.dumps(whole, ensure_ascii=False, allow_nan=False, indent=1)
    # Half of a surrogate pair, which no UTF-8 can hold, becomes JSON's own escape for it.
    return f"{text}\n".encode("utf-8", "backslashreplace")


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        kind = {"kind": KINDS[type(value)]} if type(value) in KINDS else {}
        left_out = LEFT_OUT.get(type(value), ())
        return kind | {f.name: _plain(getattr(value, f.name)) for f in fields(value) if f.name not in left_out}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None  # its text still says what it is
    return value
