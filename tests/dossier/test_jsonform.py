"""The JSON form: the model, in reading order."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace

from reportgen.dossier import jsonform
from reportgen.dossier.model import Dossier
from tests.dossier import specimen


def test_holds_every_field_in_reading_order_without_drawings() -> None:
    data = json.loads(jsonform.render(specimen.dossier()))
    assert list(data) == ["format", "format_version", *(field.name for field in fields(Dossier))]
    chart = data["sections"][0]["blocks"][0]["charts"][0]
    assert list(chart) == ["id", "title", "description", "caption", "data_name"]
    assert data["data"][0]["text"].startswith("n,")


def test_figures_and_names_are_objects_with_their_kind() -> None:
    sentence = json.loads(jsonform.render(specimen.dossier()))["findings"][0]["sentence"]
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
    assert [entry["value"]["whole"] for entry in group["entries"]] == list(specimen.HOSTILE)
    assert specimen.CHINESE.encode() in raw


def test_what_is_not_a_number_is_null_with_its_text() -> None:
    lost = specimen.figure(math.nan, "not known")
    raw = jsonform.render(replace(specimen.dossier(), lead=(lost, specimen.figure(math.inf, "infinite"))))
    lead = json.loads(raw, parse_constant=lambda word: f"<{word}>")["lead"]
    assert [(part["value"], part["text"]) for part in lead] == [(None, "not known"), (None, "infinite")]


def test_is_the_same_each_time() -> None:
    assert jsonform.render(specimen.dossier()) == jsonform.render(specimen.dossier())
