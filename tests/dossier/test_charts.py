from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from reportgen.analysis import bottleneck, groups
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Group
from reportgen.dossier import charts, svg
from reportgen.dossier.charts import Advantage, Drawn, Palette, Panel, Sheet, frame
from reportgen.dossier.charts.order import Strip
from tests import hostile
from tests.analysis.building import DRAM, READ, SM, WRITTEN, Row, grouped, runs

SVG = "{http://www.w3.org/2000/svg}"
NASTY = (*hostile.NAMES, "a\x00b\x1f", "\udcff", "x" * 8000, 'a id="b style="c" url(#d', "line\nbreak", "% \\ $")


def draw(kind: str, group: Group, prefix: str = "p-1", heading: str = "") -> Drawn:
    palette = Palette(group.annotations)
    rest = (palette, prefix, "A title", "A description")
    sheet, panels = Sheet(*rest), [Panel(heading, group, group.cases)]
    if kind == "limits":
        points = [(c, bottleneck.judge({m: c.value(m) for m in c.metrics})) for c in group.cases]
        return charts.limits([p for p in points if p[1].limit != "not known"], group, *rest)
    if kind == "in_order":
        cases = [case for case in group.cases if len(case.runs.get(TIME, {})) > 1]
        return charts.in_order([Strip("", c, c.runs[TIME], c.metrics[TIME].stable) for c in cases], *rest)
    if kind == "bytes_moved":
        return charts.bytes_moved(panels, READ, WRITTEN, "", sheet)
    if kind == "error":
        return charts.error_against_speed(group, TIME, SM, sheet)
    if kind == "speedups":
        found = [
            Advantage(case, cases[0], ratio)
            for cases in group.rivals()
            for case in cases[1:]
            if (ratio := groups.ratio(cases[0], case, TIME)) is not None
        ]
        return charts.speedups(group, found, sheet)
    return {"sweep": charts.sweep, "ranked": charts.ranked}[kind](panels, TIME, sheet)


KINDS = ("sweep", "ranked", "speedups", "bytes_moved", "error", "limits", "in_order")


def case(annotation: str = "fp32", factor: float = 1.0, **over: Any) -> list[Row]:
    values: dict[str, list[Any]] = {TIME: [1000.0 * factor, 1010.0 * factor, 1005.0 * factor]}
    values |= {READ: [5e6 * factor] * 3, WRITTEN: [1e6] * 3, SM: [80.0] * 3, DRAM: [20.0] * 3}
    return runs(values, annotation=annotation, **over)


def swept(
    annotations: tuple[str, ...] = ("fp32", "fp16"), name: str = "n", sizes: tuple[int, ...] = (256, 512, 1024)
) -> Group:
    rows = [row for n in sizes for i, a in enumerate(annotations) for row in case(a, n / (i + 1), **{name: n})]
    return grouped(rows)[0]


def checked(drawn: Drawn, prefix: str = "p-1") -> ET.Element:
    root = ET.fromstring(drawn.svg)  # noqa: S314
    ids = [e.attrib["id"] for e in root.iter() if "id" in e.attrib]
    assert len(ids) == len(set(ids))
    assert all(i.startswith((f"{prefix}-", f"{svg.short(prefix)}-")) for i in ids)
    for element in root.iter():
        assert "style" not in element.attrib
        assert element.tag.removeprefix(SVG) not in {"script", "style", "metadata", "image", "foreignObject"}
        for attribute, value in element.attrib.items():
            assert not attribute.lower().startswith("on")
            for reference in re.findall(r"url\(#([^)]*)\)", value) + re.findall(r"^#(.*)", value):
                if attribute not in {"fill", "stroke"}:
                    assert reference in ids
    list(csv.reader(io.StringIO(drawn.data), strict=True))
    return root


def words(root: ET.Element) -> list[str]:
    return ["".join(e.itertext()) for e in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_group_gives_the_same_bytes_whatever_was_drawn_before(kind: str) -> None:
    group = swept()
    first = draw(kind, group)
    draw("ranked", swept(("x",)), "q")
    assert draw(kind, group) == first
    checked(first)
    other = draw(kind, group, "p-2")
    ids = [set(re.findall(r'\bid="([^"]+)"', d.svg)) for d in (first, other)]
    assert not ids[0] & ids[1]


@pytest.mark.parametrize("kind", KINDS)
def test_any_names_keep_a_chart_well_formed(kind: str) -> None:
    drawn = draw(kind, swept(NASTY, name="\x07</text><script>" + "n" * 8000))
    assert checked(drawn).find(f"{SVG}title") is not None
    assert not re.search(r"<script|<svg/", drawn.svg.lower())


def test_names_stand_in_a_chart_as_they_are() -> None:
    name = '<b>&"c" $x$ \\d id="'
    assert any(name in w for w in words(checked(draw("ranked", grouped(case(name))[0]))))


def test_titles_are_escaped_and_made_visible() -> None:
    group = swept()
    sheet = Sheet(Palette(group.annotations), "p-1", "</title><script>\x07", "\u202e&")
    drawn = charts.sweep([Panel("", group, group.cases)], TIME, sheet)
    root = checked(drawn)
    assert root.findtext(f"{SVG}title") == "</title><script>U+0007"
    assert root.findtext(f"{SVG}desc") == "U+202E&"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "group",
    [
        pytest.param(lambda: swept(("fp32", "fp16"), sizes=tuple(range(1, 21))), id="forty"),
        pytest.param(lambda: swept(tuple(f"a{i}" for i in range(40)), sizes=(1, 2, 3)), id="forty-lines"),
        pytest.param(lambda: swept(("a", "b"), sizes=(1, 2, 2**40)), id="far-apart"),
        pytest.param(lambda: grouped([r for n in (1, 2, 3) for a in "ab" for r in case(a, 0.0, n=n)])[0], id="zero"),
        pytest.param(
            lambda: grouped([r for n in (1, 2, 3) for a in "ab" for r in case(a, -5.0, n=n)])[0], id="negative"
        ),
        pytest.param(
            lambda: grouped([r for n in (1, 2, 3) for a in "ab" for r in case(a, n - 2.0, n=n)])[0], id="signs"
        ),
        pytest.param(
            lambda: grouped(
                [
                    r
                    for n in (1, 2, 3)
                    for a in "ab"
                    for r in runs({TIME: ["boom" if n == 2 else 5.0]}, annotation=a, n=n)
                ]
            )[0],
            id="failed",
        ),
        pytest.param(
            lambda: grouped([r for n in (1, 2, 3) for a in "ab" for r in runs({TIME: ["boom"]}, annotation=a, n=n)])[0],
            id="none-known",
        ),
    ],
)
def test_any_values_are_drawn(kind: str, group: Callable[[], Group]) -> None:
    made = group()
    if kind == "speedups" and not any(groups.ratio(c[0], c[1], TIME) for c in made.rivals()):
        return
    checked(draw(kind, made))


@pytest.mark.parametrize("kind", ["ranked", "bytes_moved", "error", "limits", "in_order"])
def test_a_single_case_is_drawn(kind: str) -> None:
    checked(draw(kind, grouped(case())[0]))


def test_what_failed_stands_at_its_place() -> None:
    rows = [r for n in (1, 2, 3) for r in runs({TIME: ["boom" if n == 2 else 5.0] * 3}, n=n)]
    drawn = draw("sweep", grouped(rows)[0])
    assert "× fp32 failed" in words(checked(drawn))
    assert [(r["n"], r["state"]) for r in csv.DictReader(io.StringIO(drawn.data))] == [
        ("1", "ok"), ("2", "failed"), ("3", "ok"),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["ranked", "bytes_moved"])
def test_what_failed_or_was_skipped_keeps_its_line(kind: str) -> None:
    skipped = runs({TIME: ["no"], READ: ["no"], WRITTEN: ["no"]}, annotation="skips")
    rows = [
        *case("works"),
        *runs({TIME: ["boom"], READ: ["boom"], WRITTEN: ["boom"]}, annotation="breaks"),
        *({**row, "state": "skipped"} for row in skipped),
    ]
    drawn = draw(kind, grouped(rows)[0])
    root = checked(drawn)
    level = {"".join(e.itertext()): float(e.attrib["y"]) for e in root.iter(f"{SVG}text")}
    assert level["× failed"] == pytest.approx(level["breaks"], abs=3)
    assert level["× skipped"] == pytest.approx(level["skips"], abs=3)
    got = list(csv.DictReader(io.StringIO(drawn.data)))
    assert [(r["annotation"], r["state"]) for r in got] == [("works", "ok"), ("breaks", "failed"), ("skips", "skipped")]


def test_an_error_that_is_not_there_or_is_none_at_all_stands_at_the_foot() -> None:
    errors = {"exact": 0.0, "fp16": 1e-4, "fp8": 2e-2}
    rows = [r for a, e in errors.items() for r in runs({TIME: [5.0] * 3, SM: [e] * 3}, annotation=a)]
    rows += [*runs({TIME: ["boom"], SM: ["boom"]}, annotation="broken"), *runs({TIME: [7.0] * 3}, annotation="silent")]
    seen = words(checked(draw("error", grouped(rows)[0])))
    assert {"exact: no error at all", "× broken failed", "× silent has no error recorded"} <= set(seen)
    assert {"fp16", "fp8"} <= set(seen)


def vertical(root: ET.Element, colour: str) -> list[list[float]]:
    """Return the ends of the thick vertical lines of one colour: intervals."""
    found = []
    for path in root.iter(f"{SVG}path"):
        if path.attrib.get("stroke") == colour and path.attrib.get("stroke-width") == "2.2":
            points = re.findall(r"[ML] ([\d.-]+) ([\d.-]+)", path.attrib["d"])
            found.append([float(y) for _, y in points])
    return found


def test_intervals_are_drawn_in_full_even_when_wide() -> None:
    rows = [r for n in (1, 2, 3) for r in runs({TIME: [500.0, 1000.0, 1500.0]}, n=n)]
    root = checked(draw("sweep", grouped(rows)[0]))
    height = float(root.attrib["height"])
    bars = vertical(root, svg.SERIES[0])
    assert len(bars) == 3
    top = 0.30 * 72
    assert all(top - 0.5 <= min(ys) for ys in bars), "no interval is cut off at the top"
    assert all(max(ys) <= height - 0.5 * 72 + 0.5 for ys in bars), "nor at its foot"


def test_the_data_of_a_chart_is_what_it_shows() -> None:
    group = swept(("fp32",))
    rows = list(csv.DictReader(io.StringIO(draw("sweep", group).data)))
    assert [r["annotation"] for r in rows] == ["fp32"] * 3
    assert [r["n"] for r in rows] == ["256", "512", "1024"]
    assert [float(r[f"{TIME} (us)"]) for r in rows] == pytest.approx([1005 * n / 1000 for n in (256, 512, 1024)])
    for r, c in zip(rows, group.cases, strict=True):
        row = c.metrics[TIME]
        assert float(r["ci95_low"]) == pytest.approx(row.ci_low / 1000)
        assert (r["n"], r["row"]) == (str(c.params[0][1]), row.row)


def test_the_data_of_bytes_keeps_its_columns_where_parameters_differ() -> None:
    rows = [*case("a", n=1), *case("b", m=2), *runs({READ: [4e6] * 3}, annotation="c", n=1, m=3)]
    got = list(csv.reader(io.StringIO(draw("bytes_moved", grouped(rows)[0]).data)))
    assert got == [
        ["annotation", "n", "m", "read (MB)", "written (MB)", "state"],
        ["a", "1", "", "5", "1", "ok"],
        ["b", "", "2", "5", "1", "ok"],
        ["c", "1", "3", "4", "", "ok"],
    ]


def test_the_data_of_runs_is_their_distance_in_the_order_in_which_they_ran() -> None:
    group = grouped([*runs({TIME: [102.0, 98.0]}, process=1), *runs({TIME: [100.0, 100.0]}, process=0)])[0]
    got = list(csv.DictReader(io.StringIO(draw("in_order", group).data)))
    assert [(r["order"], float(r["distance_pct"])) for r in got] == [
        ("0", 0),
        ("1", 0),
        ("2", pytest.approx(2)),
        ("3", pytest.approx(-2)),
    ]


def test_the_axis_says_what_was_measured() -> None:
    assert {"1048576", "16777216"} <= set(words(checked(draw("sweep", swept(sizes=(2**20, 2**22, 2**24))))))


def test_annotations_keep_their_colour_and_sixty_four_have_their_own_look() -> None:
    palette = Palette(tuple(f"a{i}" for i in range(64)))
    looks = [(palette.colour(a), palette.marker(a)) for a in palette.annotations]
    assert len(set(looks)) == 64
    assert len({c for c, _ in looks[:8]}) == len({m for _, m in looks[:8]}) == 8


def test_colours_carry_the_class_that_recolours_them() -> None:
    root = checked(draw("sweep", swept()))
    used = list(itertools.chain.from_iterable(e.attrib.get("class", "").split() for e in root.iter()))
    assert {"l-s0", "l-s1", "f-s0", "f-s1", "f-muted", "l-rule"} <= set(used)
    for element in root.iter():
        for name, short in (("fill", "f"), ("stroke", "l")):
            if element.attrib.get(name) in svg.SERIES:
                assert f"{short}-s{svg.SERIES.index(element.attrib[name])}" in element.attrib["class"].split()


def test_of_very_many_runs_the_ends_of_each_stretch_are_shown() -> None:
    values = [float(i % 7) for i in range(5000)]
    values[1234], values[4999] = 100.0, -100.0
    group = grouped(runs({TIME: [1000.0 + v for v in values]}, annotation="fp32"))[0]
    drawn = draw("in_order", group)
    rows = list(csv.DictReader(io.StringIO(drawn.data)))

    assert len(rows) <= charts.most_points(1) == charts.MOST_POINTS
    assert {"1234", "4999"} <= {row["order"] for row in rows}
    assert [int(row["order"]) for row in rows] == sorted(int(row["order"]) for row in rows)
    assert len(drawn.svg) < 500_000


def test_of_few_runs_all_are_shown() -> None:
    assert charts.thinned([3.0, 1.0, 2.0], 1) == [(0, 3.0), (1, 1.0), (2, 2.0)]


# --- labels


def boxes(root: ET.Element) -> list[tuple[str, frame.Box]]:
    """Return about where each text of a chart stands; up is down in an SVG, which changes nothing about what overlaps."""
    found = []
    for e in root.iter(f"{SVG}text"):
        text, size = "".join(e.itertext()), float(e.attrib["font-size"])
        wide = 72 * frame.width_of(text, size) * 0.95
        back = {"middle": 0.5, "end": 1.0}.get(e.attrib.get("text-anchor", ""), 0.0)
        x, y = float(e.attrib["x"]), float(e.attrib["y"])
        found.append((text, frame.Box(x - back * wide, y - 0.75 * size, x + (1 - back) * wide, y + 0.1 * size)))
    return found


def assert_readable(drawn: Drawn, prefix: str = "p-1") -> None:
    root = checked(drawn, prefix)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    placed = boxes(root)
    for index, (text, box) in enumerate(placed):
        assert box.inside(frame.Box(-1, -1, width + 1, height + 1)), text
        for other, there in placed[:index]:
            assert not box.meets(there), (text, other)


@pytest.mark.parametrize("kind", ["sweep", "speedups", "ranked", "bytes_moved", "error"])
def test_no_label_covers_another_or_is_cut_off(kind: str) -> None:
    alike = tuple(f"{name} of a kernel with a rather long name" for name in ("a", "b", "c", "d"))
    near = [1.0, 1.001, 1.002, 1.003]
    rows = [
        row
        for n in (256, 512, 1024, 4096, 1_000_000)
        for a, f in zip(alike, near, strict=True)
        for row in case(a, n * f, n=n)
    ]
    group = grouped(rows)[0]
    if kind in ("ranked", "bytes_moved"):
        group = grouped([row for a, f in zip(alike, near, strict=True) for row in case(a, f)])[0]
    assert_readable(draw(kind, group, heading="n = 4096"), "p-1" if kind in ("speedups", "error") else "p-1-1")


def test_labels_are_moved_apart_both_ways_and_stay_within_their_bounds() -> None:
    assert frame.apart([50, 50, 50], 0, 100, 10) == [40, 50, 60]
    assert frame.apart([0, 1, 99], 0, 100, 10) == [0, 10, 99]
    assert frame.apart([98, 99, 100], 0, 100, 10) == [80, 90, 100]
    assert frame.apart([10, 30, 50], 0, 100, 10) == [10, 30, 50]


def test_a_line_that_ends_early_is_named_beside_the_others() -> None:
    rows = [r for n in (1, 2, 3) for a in ("whole", "early") if a == "whole" or n < 3 for r in case(a, n, n=n)]
    root = checked(draw("sweep", grouped(rows)[0]))
    at = {"".join(e.itertext()): float(e.attrib["x"]) for e in root.iter(f"{SVG}text")}
    assert at["whole"] == at["early"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (0.5, "0.5"), (1500, "1500"), (30_000, "30\u00a0000"), (9999.96, "10\u00a0000"), (-0.25, "-0.25"),
        (5e-5, "5\u00a0×\u00a010⁻⁵"), (1e-7, "10⁻⁷"), (2.56e-5, "2.56\u00a0×\u00a010⁻⁵"), (1e6, "10⁶"),
        (-2e-9, "-2\u00a0×\u00a010⁻⁹"),
    ],
)  # fmt: skip
def test_numbers_at_axes_have_powers_of_ten_and_never_an_e(value: float, text: str) -> None:
    assert frame.short(value) == text


def test_ticks_that_would_overlap_are_left_blank_and_both_ends_stay() -> None:
    sizes = tuple(range(100_000, 2_100_000, 100_000))
    seen = words(checked(draw("sweep", swept(sizes=sizes))))
    labels = [w for w in seen if w in map(str, sizes)]
    assert {"100000", "2000000"} <= set(labels)
    assert 3 <= len(labels) < 8


def test_a_sweep_is_narrow_enough_to_stand_beside_another_and_to_be_read_on_a_phone() -> None:
    root = checked(draw("sweep", swept()))
    width = float(root.attrib["width"])
    sizes = {float(e.attrib["font-size"]) for e in root.iter(f"{SVG}text")}
    assert root.attrib["class"] == "chart narrow"
    assert min(sizes) * (390 - 32) / width >= 8.5


def test_panels_have_ids_and_titles_of_their_own_and_the_same_axes() -> None:
    group = swept()
    sheet = Sheet(Palette(group.annotations), "p", "A title", "A description")
    panels = [Panel("small", group, group.cases[:2]), Panel("all", group, group.cases)]
    drawn = charts.ranked(panels, TIME, sheet)
    one, other = (checked(Drawn(panel, drawn.data), f"p-{n}") for n, panel in enumerate(drawn.panels, 1))
    assert [root.findtext(f"{SVG}title") for root in (one, other)] == ["A title: small", "A title: all"]
    assert one.attrib["width"] == other.attrib["width"]
    assert "time (us)" in words(one)
