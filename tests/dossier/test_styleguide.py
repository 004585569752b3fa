"""The style guide shows every element of a dossier that its bundles have, once and by its name, and names the others."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from jinja2 import nodes
from jinja2.runtime import Macro

from reportgen.cli import main
from reportgen.dossier import elements, environment, model, styleguide
from reportgen.dossier.environment import Templates
from reportgen.dossier.markup import tree
from reportgen.dossier.model import Block, Cell, Chart, Dossier, Figure, Name, Table
from reportgen.evidence.errors import UserError
from tests.dossier import shipped, specimen
from tests.dossier.test_links import Page, faults

# What the page of a dossier does not hold.
ELSEWHERE = {
    **dict.fromkeys(
        [model.Sources, model.SourceFile, model.SourceRow, model.SourceCall, model.Origin],
        "what figures are computed from stands on pages of its own",
    ),
}
ON_PAPER = {"plain": "a cell on paper holds words only"}


def parts_of(value: Any) -> Iterator[Any]:
    if is_dataclass(value):
        yield value
        for field in fields(value):
            yield from parts_of(getattr(value, field.name))
    elif isinstance(value, tuple):
        for one in value:
            yield from parts_of(one)


def sourced(value: Any) -> Any:
    """Give each figure of the specimen a source that can be read: those of its own stand for nothing."""
    if isinstance(value, Figure):
        return replace(value, source="1f0c2ab94e57.AvgValue")
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: sourced(getattr(value, one.name)) for one in fields(value)})
    return tuple(map(sourced, value)) if isinstance(value, tuple) else value


def drawn(name: str, title: str, description: str = "Of another kind.") -> Chart:
    made = specimen.chart(name, title, "us", {"fp16": (1.0, 2.0, 3.0, 4.0)}, "CUPTI, continuous")
    return replace(made, description=description, data_name="")


def full() -> Dossier:
    """Return the specimen with what it lacks: then it has every element that a dossier can have."""
    base = specimen.dossier()
    block = base.sections[0].blocks[0]
    table = block.tables[0]
    chart = block.charts[0]
    ends = ("speedup", "bytes", "error", "limits", "roofline", "runs", "sensors", "other")
    charts = [drawn(f"more-{end}", "Error against speed" if end == "error" else end) for end in ends]
    charts += [
        drawn("sweep", "Sweep", "A line for each annotation shows it."),
        drawn("ranked", "Ranked", "A point for each annotation shows it."),
        replace(chart, id="several", panels=(*drawn("several-0", "One").panels, *drawn("several-1", "Two").panels)),
    ]
    marks = tuple(replace(table.rows[0][2], mark=mark, why="a reason") for mark in elements.BESIDE)
    marks += tuple(Cell((), mark=mark, why="a reason") for mark in elements.INSTEAD)
    marks += (Cell(("words",)), Cell((Name("a", "a"),)), Cell((Name("a…", "a whole"),)), Cell(()))
    rows = tuple((mark, *table.rows[0][1:]) for mark in marks)
    columns = (replace(table.columns[0], code=True), *table.columns[1:])
    more = replace(table, id="every-mark", columns=columns, rows=rows, left_out=0, folded=True)
    further = Block("further", "Further", ("A lead.",), tuple(charts), (more,), (chart.id,))
    fact = base.provenance[0].entries[2]
    spread = replace(fact, key="spread", value=(*fact.value, " to ", *fact.value))
    group = replace(base.provenance[0], entries=(*base.provenance[0].entries, spread))
    made = replace(
        base,
        sections=(replace(base.sections[0], blocks=(block, further), prose="Its *own* words."), *base.sections[1:]),
        cautions=(*base.cautions, replace(base.cautions[0], mend=())),
        provenance=(group, *base.provenance[1:]),
        evidence=(*base.evidence, replace(base.evidence[0], path="linked", href="#evidence")),
        data=(*base.data, replace(base.data[0], name="long.csv", inline=False)),
    )
    whole: Dossier = sourced(made)
    return whole


@pytest.fixture(scope="module")
def dossiers() -> list[Dossier]:
    return [shipped.dossier(path, "public") for path in shipped.BUNDLES]


def shown_tables(dossier: Dossier) -> list[Table]:
    return [table for section in dossier.sections for block in section.blocks for table in block.tables]


GROUPS: tuple[tuple[tuple[elements.Element[Any], ...], Callable[[Dossier], Iterable[Any]]], ...] = (
    (elements.HEAD, lambda it: [it]),
    (elements.HEAD_FACTS, lambda it: it.head),
    (elements.CHIPS, lambda it: it.chips),
    (elements.FINDINGS, lambda it: it.findings),
    (elements.CAUTIONS, lambda it: it.cautions),
    (elements.SECTIONS, lambda it: it.sections),
    (elements.BLOCKS, lambda it: [block for section in it.sections for block in section.blocks]),
    (elements.CHARTS, lambda it: it.charts),
    (elements.TABLES, shown_tables),
    (elements.COLUMNS, lambda it: [column for table in shown_tables(it) for column in table.columns]),
    (elements.CELLS, lambda it: [cell for table in shown_tables(it) for row in table.rows for cell in row]),
    (elements.FACTS, lambda it: [entry for group in it.provenance for entry in group.entries]),
    (elements.FILES, lambda it: it.evidence),
    (elements.DATA, lambda it: it.data),
    (elements.TERMS, lambda it: it.glossary),
    (elements.ALWAYS, lambda it: [it]),
)


def test_every_element_has_one_name_and_says_what_it_is() -> None:
    names = [element.name for element in elements.EVERY]

    assert len(set(names)) == len(names) > 50
    assert all(element.what for element in elements.EVERY)
    assert set(elements.EVERY) == {element for group, _ in GROUPS for element in group}


@pytest.mark.parametrize("which", ["shipped", "full", "both"])
def test_each_element_is_shown_or_named_as_missing(which: str, dossiers: list[Dossier]) -> None:
    given = {"shipped": dossiers, "full": [full()], "both": [*dossiers, full()]}[which]
    page, known, made = styleguide.render(given)
    listed = {
        table.get("id"): table for table in tree(page).find("figure") if table.get("id") in ("elements", "lacking")
    }
    rows = {
        name: {next(row.find("th")).words for row in table.find("tr") if any(True for _ in row.find("td"))}
        for name, table in listed.items()
    }

    assert [one.name for one in known] == [element.name for element in elements.EVERY]
    assert rows["elements"] == {one.name for one in known if one.bundle}
    assert rows.get("lacking", set()) == {one.name for one in known if not one.bundle}
    assert ("Elements not shown by these bundles" in page) == bool(rows.get("lacking"))
    for group, items in GROUPS:
        for element in group:
            shown = any(element.of(one) for one in items(made))
            assert shown == (element.name in rows["elements"]), element.name
    for element in elements.EVERY if which != "shipped" else ():
        assert element.name in rows["elements"]


def test_every_type_of_the_model_is_shown() -> None:
    types = {kind for kind in vars(model).values() if isinstance(kind, type) and is_dataclass(kind)}
    _, _, made = styleguide.render([full()])
    seen = {type(one) for one in parts_of(made)}

    assert types - seen == set(ELSEWHERE) - {model.Sources}


def test_every_macro_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    names: set[str] = set()
    loaded = environment._environment(None)
    for template in ("dossier/parts.html.j2", "dossier/page.html.j2"):
        assert loaded.loader is not None
        source, _, _ = loaded.loader.get_source(loaded, template)
        names |= {macro.name for macro in loaded.parse(source).find_all(nodes.Macro)}
    called: set[str] = set()
    call = Macro.__call__

    def recorded(self: Macro, *args: Any, **kwargs: Any) -> str:
        called.add(self.name)
        return call(self, *args, **kwargs)

    monkeypatch.setattr(Macro, "__call__", recorded)
    styleguide.render([full()])

    assert names - called == set(ON_PAPER)


def test_what_the_shipped_dossiers_hold_has_a_name(dossiers: list[Dossier]) -> None:
    marks = {one.mark for dossier in dossiers for one in parts_of(dossier) if isinstance(one, Cell)}
    unnamed = [
        (dossier.bundle_id, one.id)
        for dossier in dossiers
        for one in parts_of(dossier)
        if isinstance(one, Chart)
        and not any(element.of(one) for element in elements.CHARTS if "another" not in element.name)
    ]

    assert marks - {""} <= {*elements.BESIDE, *elements.INSTEAD}
    assert unnamed == []


def test_ids_are_unique_and_links_lead_somewhere(dossiers: list[Dossier], tmp_path: Path) -> None:
    page, _, made = styleguide.render([*dossiers, full()])
    (tmp_path / "dossier_files").mkdir()
    for file in made.data:
        (tmp_path / "dossier_files" / file.name).write_text(file.text)
    guide = Page(tmp_path / "styleguide.html", page)
    guide.path.write_text(page, encoding="utf-8")

    assert list(faults(tmp_path, {guide.path: guide})) == []
    assert sum(address == "#sources" for address in guide.addresses) > 20


def test_it_is_small_and_the_same_each_time(dossiers: list[Dossier]) -> None:
    page, _, _ = styleguide.render(dossiers)

    assert page == styleguide.render(dossiers)[0]
    assert len(page.encode()) < 600_000


def test_the_command_writes_it_and_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = str(shipped.NEWEST[0])

    assert main(["styleguide", bundle, "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert f"{tmp_path / 'styleguide.html'}\n" in said
    assert "not shown by these bundles: " in said
    assert (tmp_path / "styleguide.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")

    assert main(["styleguide", bundle, "--out", str(tmp_path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert {one["name"]: one["bundle"] for one in facts["elements"]}["chip of a backend"].startswith(
        shipped.NEWEST[0].parent.name
    )
    assert str(tmp_path / "styleguide.html") in facts["files"]


def test_templates_of_one_s_own_make_it_too(tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "dossier").mkdir(parents=True)
    (own / "dossier/own.css").write_text("h1 { color: #123456; }")

    styleguide.write_guide([shipped.NEWEST[0]], tmp_path / "out", own)
    assert "h1 { color: #123456; }" in (tmp_path / "out/styleguide.html").read_text(encoding="utf-8")

    (tmp_path / "spoiled/dossier").mkdir(parents=True)
    (tmp_path / "spoiled/dossier/page.html.j2").write_text("{{ lost }}")
    with pytest.raises(UserError, match=r"page\.html\.j2:1: cannot be rendered"):
        styleguide.write_guide([shipped.NEWEST[0]], tmp_path / "other", tmp_path / "spoiled")
    assert not (tmp_path / "other").exists()


def test_it_is_never_written_into_a_bundle(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(shipped.NEWEST[0], bundle)
    with pytest.raises(UserError, match="lies in the bundle"):
        styleguide.write_guide([bundle], bundle / "data")
    with pytest.raises(UserError):
        styleguide.write_guide([tmp_path], tmp_path / "out")


def test_a_dossier_with_next_to_nothing_has_a_guide() -> None:
    base = specimen.dossier()
    bare = replace(
        base, sections=(), limits=None, findings=(), cautions=(), evidence=(), data=(), glossary=(), chips=(), head=(),
        provenance=(), method=replace(base.method, blocks=()),
    )  # fmt: skip
    page, known, _ = styleguide.render([bare], Templates())

    assert {one.name for one in known if one.bundle} >= {"title", "identity"}
    assert "Elements not shown by these bundles" in page
