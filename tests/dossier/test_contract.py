"""The templates and their declared types, held to each other both ways."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from jinja2 import ChoiceLoader, DictLoader

from reportgen.dossier import context, environment, model
from reportgen.publish import pages
from tests.dossier.contract import Reader, declared

CONTEXTS = {**context.CONTEXTS, **pages.CONTEXTS}
# What is declared and not used by any of our templates, and why it is there.
FOR_OTHERS = {
    **dict.fromkeys(
        [(model.Dossier, "sources"), *((model.Sources, name) for name in ("rows", "calls", "files"))],
        "a page of rows is given its own part of them",
    ),
    (model.Finding, "rule"): "other programs tell findings apart by it",
}


def reader() -> Reader:
    return Reader(environment._environment(None))


@pytest.fixture(scope="module")
def all_templates() -> Reader:
    made = reader()
    for template, kind in CONTEXTS.items():
        made.read(template, kind)
    return made


def test_every_template_has_its_context(all_templates: Reader) -> None:
    shipped = {name for name in environment.replaceable() if name.endswith(".j2")}
    imported = set(all_templates._modules)

    assert shipped == set(CONTEXTS) | imported


def test_a_template_uses_only_what_is_declared(all_templates: Reader) -> None:
    assert sorted(all_templates.faults) == []


def test_what_is_declared_is_used_or_listed(all_templates: Reader) -> None:
    unused = {place for place in declared(list(CONTEXTS.values())) if place not in all_templates.used}

    assert unused == set(FOR_OTHERS)


def test_every_macro_is_called(all_templates: Reader) -> None:
    assert all_templates.macros == all_templates.called


@dataclass(frozen=True)
class Inner:
    there: str
    unused: str = ""


@dataclass(frozen=True)
class Outer:
    items: tuple[Inner, ...]
    one: Inner | str


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{{ lost }}", "t:1: 'lost' is not declared"),
        ("{{ one.lost }}", "t:1: 'lost' is declared by none of Inner, str"),
        ("{% if one is string %}{{ items[0].lost }}{% endif %}", "t:1: 'lost' is declared by none of Inner"),
        ("\n{% for it in items|sort(attribute='there') if it.lost %}{% endfor %}", "t:2: 'lost' is declared by none of Inner"),
        ("{% macro m(it) %}{{ it.lost }}{% endmacro %}{{ m(items|first) }}", "t:1: 'lost' is declared by none of Inner"),
        ("{% import 'parts' as p %}{{ p.lost(one) }}", "t:1: 'lost' is declared by none of parts"),
        ("{% import 'parts' as p %}{{ p.say(one) }}", "parts:1: 'lost' is declared by none of Inner, str"),
        ("{% for a, b in items|groupby('lost') %}{% endfor %}", "t:1: 'lost' is declared by none of Inner"),
        ("{% for a, b in items|groupby('there') %}{{ (b|first).lost }}{% endfor %}", "t:1: 'lost' is declared by none of Inner"),
        ("{{ items|map(attribute='lost')|join }}", "t:1: 'lost' is declared by none of Inner"),
        ("{% set it = items|last %}{{ it.there }}{{ it.lost if it.there else '' }}", "t:1: 'lost' is declared by none of Inner"),
    ],
)  # fmt: skip
def test_the_reader_finds_what_is_not_declared(text: str, fault: str) -> None:
    made = reader()
    sources = {"t": text, "parts": "{% macro say(it) %}{{ it.lost }}{% endmacro %}"}
    made.environment = made.environment.overlay(loader=ChoiceLoader([DictLoader(sources)]))
    made.read("t", Outer)

    assert made.faults == {fault}


def test_the_reader_finds_what_is_not_used() -> None:
    made = reader()
    source = {"t": "{% for it in items %}{{ it.there }}{{ loop.index }}{% endfor %}{{ range(3)|list }}"}
    made.environment = made.environment.overlay(loader=DictLoader(source))
    made.read("t", Outer)

    assert made.faults == set()
    assert set(declared([Outer])) - made.used == {(Outer, "one"), (Inner, "unused")}
