"""The JSON form: the model, in reading order."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

from reportgen.dossier import jsonform, model, schema
from reportgen.dossier.model import Dossier
from tests.dossier import shipped, specimen

ROOT = Path(__file__).parent.parent.parent


def test_holds_every_field_in_reading_order_without_drawings() -> None:
    data = json.loads(jsonform.render(specimen.dossier()))
    assert list(data) == [
        "$schema",
        "format",
        "format_version",
        *(field.name for field in fields(Dossier) if field.name != "sources"),
    ]
    chart = data["sections"][0]["blocks"][0]["charts"][0]
    assert list(chart) == ["id", "title", "description", "caption", "data_name"]
    assert data["data"][0]["text"].startswith("n,")


def test_figures_and_names_are_objects_with_their_kind() -> None:
    data = json.loads(jsonform.render(specimen.dossier()))
    sentence = data["findings"][0]["sentence"]
    built = next(entry for group in data["provenance"] for entry in group["entries"] if entry["key"] == "built")
    assert built["value"] == [{"kind": "moment", "text": "29 November 2026, 08:00 UTC", "iso": "2026-11-29T08:00:00Z"}]
    assert sentence[0] == {"kind": "name", "text": "fp16", "whole": "fp16"}
    assert sentence[1] == " reaches "
    assert sentence[2] == {
        "kind": "figure",
        "value": 795214023180000.0,
        "text": "795",
        "unit": "TFLOP/s",
        "exact": "795.21402318 TFLOP/s",
        "source": "1f0c2ab94e57.AvgValue",
    }


def test_names_come_back_as_they_were() -> None:
    raw = jsonform.render(specimen.dossier())
    group = json.loads(raw)["provenance"][-1]
    assert [entry["value"][0]["whole"] for entry in group["entries"]] == list(specimen.HOSTILE)
    assert specimen.CHINESE.encode() in raw


def test_what_is_not_a_number_is_null_with_its_text() -> None:
    lost = specimen.figure(math.nan, "not known")
    raw = jsonform.render(replace(specimen.dossier(), lead=(lost, specimen.figure(math.inf, "infinite"))))
    lead = json.loads(raw, parse_constant=lambda word: f"<{word}>")["lead"]
    assert [(part["value"], part["text"]) for part in lead] == [(None, "not known"), (None, "infinite")]


def test_what_is_written_fits_the_published_schema() -> None:
    published = json.loads((ROOT / "docs" / "dossier.schema.json").read_text(encoding="utf-8"))
    assert published == schema.schema(), "docs/dossier.schema.json is out of date; run: make docs"
    validator = jsonschema.Draft202012Validator(published)
    validator.check_schema(published)

    lost = replace(specimen.dossier(), lead=(specimen.figure(math.nan, "not known"),), limits=None)
    for dossier in (specimen.dossier(), lost, *map(shipped.dossier, shipped.NEWEST)):
        assert list(validator.iter_errors(json.loads(jsonform.render(dossier)))) == []


@pytest.mark.parametrize(
    ("spoil", "where"),
    [
        (lambda data: data.pop("findings"), []),
        (lambda data: data.update(more=1), []),
        (lambda data: data.update(format_version=2), ["format_version"]),
        (lambda data: data["lead"].append({"kind": "figure"}), ["lead", -1]),
        (lambda data: data["findings"][0]["sentence"].append(1.5), ["findings", 0, "sentence", -1]),
        (lambda data: data["evidence"][0].update(published="perhaps"), ["evidence", 0, "published"]),
        (
            lambda data: data["sections"][0]["blocks"][0]["tables"][0].pop("rows"),
            ["sections", 0, "blocks", 0, "tables", 0],
        ),
    ],
)
def test_the_schema_refuses_what_is_not_written(spoil: Callable[[Any], object], where: list[object]) -> None:
    data = json.loads(jsonform.render(specimen.dossier()))
    spoil(data)
    found = [list(error.absolute_path) for error in jsonschema.Draft202012Validator(schema.schema()).iter_errors(data)]
    counted = [step if step != -1 else found[0][index] for index, step in enumerate(where)] if found else where
    assert found == [counted]


def test_every_kind_of_part_says_its_kind() -> None:
    kinds = {kind for kind in get_args(model.Part) if is_dataclass(kind)}
    assert kinds == set(jsonform.KINDS)


def test_the_same_types_are_described_in_the_schema_and_in_the_model() -> None:
    types = schema.schema()["$defs"]
    assert (
        types["Figure"]["properties"]["value"]["description"]
        == "in base units; never rounded beyond 12 significant digits"
    )
    assert all(found.get("description") for found in types.values())


def test_is_the_same_each_time() -> None:
    assert jsonform.render(specimen.dossier()) == jsonform.render(specimen.dossier())
