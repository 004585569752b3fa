"""A dossier as JSON, for other programs: the same model in reading order, without the drawings."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from typing import Any

from reportgen.dossier.model import Chart, Dossier, Figure, Name

FORMAT = "reportgen dossier"
FORMAT_VERSION = 1


def render(dossier: Dossier) -> bytes:
    """Render `dossier` as JSON in UTF-8; a part of a sentence is a string, or an object with its `kind`."""
    whole = {"format": FORMAT, "format_version": FORMAT_VERSION, **_fields(dossier)}
    text = json.dumps(whole, ensure_ascii=False, allow_nan=False, indent=1)
    # Half of a surrogate pair, which no UTF-8 can hold, becomes JSON's own escape for it.
    return f"{text}\n".encode("utf-8", "backslashreplace")


def _plain(value: Any) -> Any:
    if isinstance(value, Figure):
        return {"kind": "figure", **_fields(value)}
    if isinstance(value, Name):
        return {"kind": "name", **_fields(value)}
    if is_dataclass(value):
        return _fields(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None  # its text still says what it is
    return value


def _fields(value: Any) -> dict[str, Any]:
    names = [field.name for field in fields(value) if not (isinstance(value, Chart) and field.name == "svg")]
    return {name: _plain(getattr(value, name)) for name in names}
