"""What of a dossier is printed: shares of charts and rows, columns that fit, reasons once, and where the rest stands."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from reportgen.dossier import pdf, printed
from reportgen.dossier.attachments import Attachment
from reportgen.dossier.model import Block, Cell, Chart, Column, Dossier, Finding, Name, Section, Table
from reportgen.dossier.printed import Printed, allot, select
from reportgen.dossier.references import references
from tests.dossier import specimen
from tests.dossier.pdf.conftest import Print
from tests.dossier.pdf.reading import collisions, squeezed

A4 = pdf.MEASURES["a4"]
WHOLE = Attachment("dossier.json", b"{}\n", "This dossier as data", "Alternative")


def selected(dossier: Dossier, **homes: str) -> Printed:
    return select(dossier, references(dossier), homes, A4)


def chart(name: str, panels: int = 1) -> Chart:
    made = specimen.chart(name, f"Chart {name}", "us", {"fp16": (1.0, 2.0, 3.0, 4.0)}, "CUPTI, continuous")
    return replace(made, panels=made.panels * panels)


def section(name: str, *counts: int) -> Section:
    """Return a section with a block for each count, of so many charts."""
    blocks = [
        Block(f"{name}-{index}", f"Block {index}", (), tuple(chart(f"{name}-{index}-{n}") for n in range(count)))
        for index, count in enumerate(counts)
    ]
    return Section(name, name, (), tuple(blocks))


def with_sections(*sections: Section, told: str = "") -> Dossier:
    base = specimen.dossier()
    finding = (Finding("fastest", ("fp16 is fastest.",), told),) if told else ()
    method = replace(base.method, blocks=())
    return replace(base, sections=sections, limits=None, method=method, findings=finding)


def with_table(table: Table) -> Dossier:
    block = Block("block", "Block", (), (), (table,))
    return with_sections(Section("only", "Only", (), (block,)))


def test_few_charts_are_all_printed() -> None:
    dossier = specimen.dossier()

    assert selected(dossier).charts == {made.id for made in dossier.charts}
    assert selected(dossier).hidden == frozenset()


def test_the_main_chart_of_every_block_goes_before_the_second_of_any() -> None:
    chosen = selected(with_sections(section("a", 10, 10, 10), section("b", 1, 2))).charts

    assert len(chosen) == printed.MOST_PANELS
    assert {"b-0-0", "b-1-0", "b-1-1"} <= chosen
    assert {f"a-{block}-{place}" for block in range(3) for place in range(7)} == chosen - {"b-0-0", "b-1-0", "b-1-1"}


def test_sections_with_much_to_show_get_equal_shares() -> None:
    chosen = selected(with_sections(section("a", 40), section("b", 40), section("c", 2))).charts
    counts = {name: sum(made.startswith(name) for made in chosen) for name in "abc"}

    assert counts == {"a": 11, "b": 11, "c": 2}


def test_what_a_finding_leads_to_is_printed_in_any_case() -> None:
    dossier = with_sections(section("a", 40), section("b", 40), told="b-0-39")

    assert "b-0-39" in selected(dossier).charts


def test_a_chart_counts_with_its_panels() -> None:
    blocks = tuple(Block(f"x-{n}", "", (), (chart(f"x-{n}-0", 10),)) for n in range(4))
    chosen = selected(with_sections(Section("x", "x", (), blocks))).charts

    assert chosen == {"x-0-0", "x-1-0"}


def test_what_is_not_printed_is_named_and_nothing_leads_to_it() -> None:
    dossier = with_sections(section("a", 30), told="a-0")
    found = selected(dossier)
    page = pdf.page(dossier)

    assert len(found.hidden) == 6
    assert found.absent["a-0"][0] == "Figure 25 (Chart a-0-24)"
    assert "Not printed: Figure 25 (Chart a-0-24); Figure 26" in page
    for name in found.hidden:
        assert f'href="#{name}"' not in page
        assert f'id="{name}"' not in page


def test_every_link_leads_somewhere_even_where_its_goal_is_not_printed() -> None:
    base = specimen.dossier()
    many = replace(base.method.blocks[0], tables=(specimen.many_rows(600),))
    tables = tuple(replace(specimen.many_rows(5), id=f"small-{n}") for n in range(60))
    dossier = replace(
        base,
        method=replace(base.method, blocks=(many, Block("b", "", (), (), tables))),
        findings=(*base.findings, Finding("x", ("See.",), "b")),
    )
    page = pdf.page(dossier)
    ids = set(re.findall(r'\sid="([^"]*)"', page))

    assert set(re.findall(r'href="#([^"]*)"', page)) <= ids
    assert selected(dossier).hidden


def test_at_most_250_rows_and_the_rest_is_told() -> None:
    dossier = with_table(specimen.many_rows(600))
    page = pdf.page(dossier, (WHOLE, replace(WHOLE, name="processed.csv", data=dossier.data[-1].text.encode())))
    rows = sum(body.count("<tr>") for body in re.findall(r"<tbody>(.*?)</tbody>", page, flags=re.DOTALL))

    assert 200 < rows <= printed.MOST_ROWS
    left = re.search(r"(\d+) more rows are not printed and stand in the attached file <code>processed.csv</code>", page)
    assert left is not None
    assert int(left[1]) + rows == 600


@pytest.mark.parametrize(
    ("attachments", "place"),
    [((), "the HTML form of this dossier"), ((WHOLE,), "the attached file <code>dossier.json</code>")],
)
def test_the_rest_is_where_it_is_said_to_be(attachments: tuple[Attachment, ...], place: str) -> None:
    page = pdf.page(specimen.dossier(), attachments)

    assert f"12 more rows are not printed and stand in {place}." in page


def test_results_go_before_how_they_were_measured() -> None:
    base = with_table(replace(specimen.many_rows(240), id="results"))
    block = Block("how", "How", (), (), (replace(specimen.many_rows(200), id="steady"),))
    found = selected(replace(base, method=replace(base.method, blocks=(block,))))

    assert len(found.tables["results"].parts[0].table.rows) == 240
    assert len(found.tables["steady"].parts[0].table.rows) == 10


def wide_table(rows: int, columns: int) -> Table:
    heads = (Column("annotation"), *(Column(f"metric {n}", "MB", True) for n in range(columns)))
    cells = tuple(
        (Cell((Name(f"a{row}", f"a{row}"),)), *(Cell((specimen.figure(n, f"{n}.1234 567"),)) for n in range(columns)))
        for row in range(rows)
    )
    return Table("wide", "A wide table.", heads, cells, 0, "processed.csv")


def test_columns_that_do_not_fit_stand_in_further_parts_with_the_same_rows() -> None:
    (table,) = selected(with_table(wide_table(20, 24))).tables.values()

    assert len(table.parts) > 1
    assert (table.rows, table.columns) == (0, ())
    assert {len(part.table.rows) for part in table.parts} == {20}
    assert {part.table.columns[0].label for part in table.parts} == {"annotation"}
    labels = [column.label for part in table.parts for column in part.table.columns[1:]]
    assert labels == [f"metric {n}" for n in range(24)]


def test_columns_without_room_are_counted_and_named() -> None:
    dossier = with_table(wide_table(200, 24))
    table = selected(dossier).tables["wide"]

    assert len(table.parts) == 1
    shown = len(table.parts[0].table.columns) - 1
    assert table.columns == tuple(f"metric {n}" for n in range(shown, 24))
    page = pdf.page(dossier, (WHOLE,))
    stand = f"{24 - shown} more columns are not printed and stand in the attached file <code>dossier.json</code>"
    assert f"{stand}: metric {shown}, " in page


def test_wide_tables_print_without_a_collision(printed: Print) -> None:
    document = printed(with_table(wide_table(30, 24)))

    assert collisions(document) == []
    assert all(f"metric{n}" in squeezed(document.text) for n in range(24))


def test_reasons_stand_once_below_a_table() -> None:
    heads = (Column("annotation"), Column("time", "us", True), Column("clock", "GHz", True))
    lost = Cell((), mark="failed", why="there is no memory left")
    rows = tuple((Cell((Name(f"a{n}", f"a{n}"),)), lost, lost) for n in range(5))
    dossier = with_table(Table("t", "T.", heads, rows))
    page = pdf.page(dossier)

    assert selected(dossier).tables["t"].reasons == (printed.Reason("failed", "there is no memory left", ""),)
    assert page.count("there is no memory left") == 1


def test_several_reasons_name_their_rows() -> None:
    heads = (Column("annotation"), Column("n", numeric=True), Column("time", "us", True))
    why = ["no memory"] * 5 + ["a wrong shape"]
    rows = tuple(
        (Cell((Name(f"a{n}", f"a{n}"),)), Cell((str(n),)), Cell((), mark="failed", why=reason))
        for n, reason in enumerate(why)
    )
    reasons = selected(with_table(Table("t", "T.", heads, rows))).tables["t"].reasons

    assert [(reason.why, reason.rows) for reason in reasons] == [
        ("no memory", "a0 0, a1 1, a2 2 and 2 others"),
        ("a wrong shape", "a5 5"),
    ]


def test_allot_shows_small_ones_whole() -> None:
    shown = allot({"a": 5, "b": 400, "c": 100}, 250)
    assert (shown["a"], shown["c"], sum(shown.values())) == (5, 100, 250)
    assert allot({}, 250) == {}
    assert allot({"a": 3}, 250) == {"a": 3}
    assert allot({"a": 3, "b": 0}, -5) == {"a": 0, "b": 0}


@pytest.mark.parametrize("most", [0, 3, 10, 35, 100, 1000])
def test_allot_gives_none_too_few(most: int) -> None:
    sizes = {**{f"one-{n}": 1 for n in range(6)}, **{f"big-{n}": 18 for n in range(9)}, "two": 2}
    shown = allot(sizes, most, 4)

    assert set(shown) == set(sizes)
    assert sum(shown.values()) <= most
    assert all(rows in {0, sizes[name]} or rows >= 4 for name, rows in shown.items())
    assert most < 10 or sum(shown.values()) > 0
    assert most < 1000 or shown == sizes
