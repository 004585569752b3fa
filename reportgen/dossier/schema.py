"""The JSON Schema of a dossier's JSON, made from the model's types; `make docs` writes it to docs/dossier.schema.json."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import fields
from typing import Any

from pydantic import TypeAdapter

from reportgen.dossier import model
from reportgen.dossier.jsonform import FORMAT, FORMAT_VERSION, KINDS, LEFT_OUT, SCHEMA
from reportgen.dossier.model import Dossier

_COMMENT = re.compile(r"^    (\w+):[^#\n]*#\s*(.+)$", re.MULTILINE)
_REFERENCE = re.compile(r'"#/\$defs/(\w+)"')
_PART = "A part of a sentence: words, or an object that says by its kind what it is."
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    """Return the schema of version `FORMAT_VERSION`: every key is required, and no other is allowed."""
    made = TypeAdapter(Dossier).json_schema(mode="serialization")
    part = made["properties"]["lead"]["items"]
    types = {name: made["$defs"][name] for name in sorted(made["$defs"])}
    for name, found in types.items():
        _close(found, getattr(model, name))
    _close(made, Dossier)
    own = {
        "$schema": {"const": SCHEMA},
        "format": {"const": FORMAT},
        "format_version": {"const": FORMAT_VERSION},
    }
    properties = own | _with_parts(made["properties"], part)
    whole = {"Part": {"description": _PART, **part}, **_with_parts(types, part)}
    return {
        "$schema": _DIALECT,
        "$id": SCHEMA,
        "title": f"{FORMAT}, version {FORMAT_VERSION}",
        "description": made["description"],
        "type": "object",
        "properties": properties,
        "required": [*own, *made["required"]],
        "additionalProperties": False,
        "$defs": _reached(properties, whole),
    }


def _reached(properties: Any, types: dict[str, Any]) -> dict[str, Any]:
    """Return those of the types that properties refer to, themselves or through others."""
    found: set[str] = set()
    waiting = [json.dumps(properties)]
    while waiting:
        for name in _REFERENCE.findall(waiting.pop()):
            if name not in found:
                found.add(name)
                waiting.append(json.dumps(types[name]))
    return {name: made for name, made in types.items() if name in found}


def text() -> str:
    """Return the schema as it is published."""
    return json.dumps(schema(), ensure_ascii=False, indent=1) + "\n"


def remarks(kind: type) -> dict[str, str]:
    """Return what the model's source remarks on the fields of a type, by field."""
    return dict(_COMMENT.findall(inspect.getsource(kind)))


def _close(found: dict[str, Any], kind: type) -> None:
    """Make an object's schema say what the writer does: all of its keys and no others, and `null` for what is no number."""
    if not found.get("properties"):
        return
    left_out = LEFT_OUT.get(kind, frozenset())
    said = {name: {"description": text} for name, text in remarks(kind).items()}
    properties = {
        f.name: _written(found["properties"][f.name]) | said.get(f.name, {})
        for f in fields(kind)
        if f.name not in left_out
    }
    if kind in KINDS:
        properties = {"kind": {"const": KINDS[kind]}, **properties}
    found["properties"] = properties
    found["required"] = list(properties)
    found["additionalProperties"] = False
    found.pop("title", None)


def _with_parts(value: Any, part: Any) -> Any:
    """Refer to a part of a sentence by its name wherever it stands."""
    if value == part:
        return {"$ref": "#/$defs/Part"}
    if isinstance(value, dict):
        return {key: _with_parts(item, part) for key, item in value.items()}
    return [_with_parts(item, part) for item in value] if isinstance(value, list) else value


def _written(value: Any) -> Any:
    """Return a property's schema without titles and defaults, in which a number may be null: JSON has no NaN."""
    if isinstance(value, list):
        return [_written(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _written(item) for key, item in value.items() if key not in ("title", "default")}
    return kept | {"type": ["number", "null"]} if kept.get("type") == "number" else kept
