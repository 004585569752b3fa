"""Which charts a block shows, in which order, and what each says: from made samples through a whole bundle."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from reportgen.analysis.derive import TIME
from reportgen.dossier import html, svg
from reportgen.dossier.build import build
from reportgen.dossier.model import Block, Chart, Dossier
from reportgen.dossier.references import references
from reportgen.dossier.text import plain
from reportgen.evidence import bundle, provenance
from reportgen.evidence.bundle import BundleInfo, Formula, open_bundle
from tests.analysis.building import READ, WRITTEN, Row, runs, table

SVG = "{http://www.w3.org/2000/svg}"
MIB = 1 << 20
RATE = Formula("GB/s", "2 * size / time / 1e9", "GB/s")
SWEEP = {"name": "square", "main": "GB/s", "axis": "size", "units": [["size", "byte"]], "normalize_against": ""}
LEAST = Formula("read over least", f"{READ} / (3 * 4 * elements)", "")
BOUND = Formula("least bytes read", "3 * 4 * elements", "byte")


def dossier(
    tmp_path: Path,
    rows: Iterable[Row],
    bench: dict[str, Any] | None = None,
    formulas: Sequence[Formula] = (),
    **facts: Any,
) -> Dossier:
    """Build the dossier of a bundle of these samples."""
    plan = {"benchmarks": [{"name": "square", **(bench or {})}]}
    info = BundleInfo("mine", "Mine", "20261201T000000Z", "complete", plan=plan, formulas=tuple(formulas))
    known = provenance.from_facts({key.replace("__", "."): value for key, value in facts.items()}, "not said")
    return build(open_bundle(bundle.create(tmp_path, info, known, {}, table(list(rows)), {})))


def blocks(made: Dossier) -> tuple[Block, ...]:
    return made.sections[0].blocks


def titles(block: Block) -> list[str]:
    return [chart.title for chart in block.charts]


def data(made: Dossier, chart: Chart) -> list[dict[str, str]]:
    text = next(file.text for file in made.data if file.name == chart.data_name)
    return list(csv.DictReader(io.StringIO(text)))


def words(panel: str) -> list[str]:
    return ["".join(e.itertext()) for e in ET.fromstring(panel).iter(f"{SVG}text")]  # noqa: S314


def caption(chart: Chart) -> str:
    return plain(chart.caption).replace("\u00a0", " ")


def timed(ns: float, **over: Any) -> list[Row]:
    return runs({TIME: [ns, ns * 1.001, ns * 1.002]}, **over)


def swept(**over: Any) -> list[Row]:
    """Make a sweep of copies that leave an L2 of 48 MiB between 16 and 64 MiB of each of two arrays."""
    rates = {4 * MIB: 6e3, 16 * MIB: 6e3, 64 * MIB: 4e3, 256 * MIB: 4e3}
    return [
        row
        for size, rate in rates.items()
        for a, f in (("copy", 1.0), ("scale", 0.9))
        for row in timed(2 * size / (rate * f), annotation=a, size=size, **over)
    ]


MEMORY = {"gpu__l2_bytes": 48 * MIB, "clocks__memory_rated_hz": 3.2e9, "gpu__bus_width_bits": 6144}


def expression(elements: int, read: float, annotation: str, **over: Any) -> list[Row]:
    values = {TIME: [1e3, 1.01e3, 1.02e3], READ: [read] * 3, WRITTEN: [4.0 * elements] * 3}
    return runs(values, annotation=annotation, elements=elements, **over)


# --- which, and in which order


def test_the_suites_main_metric_comes_first_and_then_the_time(tmp_path: Path) -> None:
    (block,) = blocks(dossier(tmp_path, swept(), SWEEP, [RATE]))
    assert titles(block) == ["GB/s over size", "Time over size"]


def test_without_a_declared_metric_the_first_rate_comes_first(tmp_path: Path) -> None:
    share = Formula("share", "100 * size / time / 1e15", "%")
    (block,) = blocks(dossier(tmp_path, swept(), None, [share, RATE]))
    assert titles(block)[:2] == ["GB/s over size", "Time over size"]


def test_a_bound_that_parameters_alone_give_has_no_chart(tmp_path: Path) -> None:
    rows = [*expression(1000, 16e3, "two"), *expression(1000, 12e3, "one")]
    (block,) = blocks(dossier(tmp_path, rows, None, [BOUND, LEAST]))
    assert titles(block) == ["Time by annotation", "Bytes read from and written to DRAM, and the least"]


def test_what_a_formula_reads_and_what_is_the_same_for_all_has_no_chart(tmp_path: Path) -> None:
    rows = [
        r
        for a, f in (("a", 1.0), ("b", 2.0))
        for r in runs({TIME: [1e3 * f] * 3, "FLOP": [5.0 * f] * 3, "rank": [3.0] * 3}, annotation=a)
    ]
    (block,) = blocks(dossier(tmp_path, rows, None, [Formula("FLOP/s", "FLOP / time", "FLOP/s")]))
    assert titles(block) == ["FLOP/s by annotation", "Time by annotation"]


def test_annotations_that_do_different_work_are_not_set_against_one_another(tmp_path: Path) -> None:
    (apart,) = blocks(dossier(tmp_path / "apart", swept(), {"normalize_against": ""}))
    (against,) = blocks(dossier(tmp_path / "against", swept(), {"normalize_against": "scale"}))
    assert titles(apart) == ["Time over size"]
    assert titles(against) == ["Time over size", "Speed against scale over size"]


def test_a_block_has_four_charts_at_most(tmp_path: Path) -> None:
    rows = [
        row
        for i, a in enumerate("ab", 1)
        for n in (1, 2, 3)
        for row in runs({TIME: [1e3 * i] * 3, READ: [1e6] * 3, "error": [0.1 * i] * 3}, annotation=a, size=n)
    ]
    (block,) = blocks(dossier(tmp_path, rows, {"normalize_against": "a"}, [RATE]))
    assert titles(block) == [
        "GB/s over size", "Time over size", "Error against GB/s", "Bytes read from and written to DRAM",
    ]  # fmt: skip


# --- several scenarios


def test_scenarios_of_one_backend_stand_in_one_chart_on_the_same_axes(tmp_path: Path) -> None:
    slow = [{**row, "value": row["value"] * 3} for row in swept(scenario="continuous")]
    made = dossier(tmp_path, [*swept(), *slow, *swept(backend="cupti")], SWEEP, [RATE])
    found = {block.id.partition("-")[2]: block for block in blocks(made)}
    default, continuous, cupti = (found[name] for name in ("ncu-default", "ncu-continuous", "cupti-default"))
    rate, time = default.charts

    assert (len(rate.panels), len(time.panels), continuous.charts, continuous.seen) == (2, 2, (), (rate.id, time.id))
    assert (cupti.seen, len(cupti.charts[0].panels)) == ((), 1)
    heads = ["cold cache (default)", "warm cache (continuous)"]
    assert all(head in words(panel) for head, panel in zip(heads, rate.panels, strict=True))
    ticks = [{w for w in words(panel) if re.fullmatch(r"[\d\u00a0.]+", w)} for panel in rate.panels]
    assert ticks[0] == ticks[1]
    assert "scenarios default and continuous" in caption(rate)
    assert caption(rate).count("Each panel is one scenario, all on the same axes.") == 1
    assert {(row["scenario"], row["annotation"]) for row in data(made, rate)} == {
        (s, a) for s in ("default", "continuous") for a in ("copy", "scale")
    }
    label = references(made).labels
    links = " and ".join(f'<a href="#{chart.id}">{label[chart.id]}</a>' for chart in (rate, time))
    assert f"Its rows are drawn in {links}." in html.render(made)


# --- the L2 and the rated bandwidth


def test_where_the_l2_ends_is_shaded_by_what_is_moved_and_the_rated_bandwidth_is_a_line(tmp_path: Path) -> None:
    made = dossier(tmp_path, swept(), SWEEP, [RATE], **MEMORY)
    rate, time = blocks(made)[0].charts
    seen = words(rate.panels[0])
    assert {"fits L2", "DRAM", "rated 4915", "4 MiB", "256 MiB"} <= set(seen)
    edges = {c: shaded(rate.panels[0], c) for c in ("f-compute", "f-memory")}
    places = [ticks_at(rate.panels[0])[name] for name in ("16 MiB", "64 MiB")]
    assert places[0] < edges["f-compute"][1] < places[1], "two arrays of 24 MiB fill the L2 of 48"
    assert edges["f-compute"][1] == edges["f-memory"][0]
    assert "fits the L2 of 50.33 MB" in caption(rate) or "fits the L2 of 48 MiB" in caption(rate)
    assert "rated clock" in caption(rate)
    assert "f-compute" not in time.panels[0]


def test_nothing_is_shaded_where_the_l2_or_what_is_moved_is_not_known(tmp_path: Path) -> None:
    unknown = dossier(tmp_path / "a", swept(), SWEEP, [RATE])
    square = Formula("GB/s", "2 * size**2 / time / 1e9", "GB/s")
    no_share = dossier(tmp_path / "b", swept(), SWEEP, [square], **MEMORY)
    within = dossier(tmp_path / "c", swept(), SWEEP, [RATE], gpu__l2_bytes=1e12)
    for made in (unknown, no_share, within):
        assert "f-compute" not in blocks(made)[0].charts[0].panels[0]
        assert "L2" not in caption(blocks(made)[0].charts[0])
    assert "rated" not in caption(blocks(unknown)[0].charts[0])


def shaded(panel: str, kind: str) -> tuple[float, float]:
    """Return from where to where a region is shaded."""
    (path,) = [e for e in ET.fromstring(panel).iter(f"{SVG}path") if e.attrib.get("class") == kind]  # noqa: S314
    xs = [float(x) for x in re.findall(r"[ML] ([\d.-]+) ", path.attrib["d"])]
    return min(xs), max(xs)


def ticks_at(panel: str) -> dict[str, float]:
    """Return where the labels of a panel stand from left to right."""
    found = {}
    for e in ET.fromstring(panel).iter(f"{SVG}text"):  # noqa: S314
        found["".join(e.itertext())] = float(e.attrib["x"])
    return found


# --- bytes, against the least


def test_the_least_that_must_be_read_is_marked_and_each_configuration_has_a_panel(tmp_path: Path) -> None:
    rows = [r for n in (1000, 1_000_000) for a, each in (("two", 16), ("one", 12)) for r in expression(n, each * n, a)]
    made = dossier(tmp_path, rows, None, [BOUND, LEAST])
    chart = blocks(made)[0].charts[-1]
    assert len(chart.panels) == 2
    assert "the mark is the least that must be read" in caption(chart)
    assert "Each panel is one configuration, with an axis of its own." in caption(chart)
    assert [head for panel in chart.panels for head in words(panel) if head.startswith("elements")] == [
        "elements = 1000",
        "elements = 1000000",
    ]
    assert [float(row["least read (MB)"]) for row in data(made, chart)] == [0.012, 0.012, 12.0, 12.0]
    for panel in chart.panels:
        marks = [e for e in ET.fromstring(panel).iter(f"{SVG}path") if e.attrib.get("stroke-width") == "1.8"]  # noqa: S314
        assert len(marks) == 2
        assert {e.attrib["class"] for e in marks} == {"l-ink"}


def test_without_a_least_no_mark_is_drawn_and_none_is_spoken_of(tmp_path: Path) -> None:
    rows = [*expression(1000, 16e3, "two"), *expression(1000, 12e3, "one")]
    made = dossier(tmp_path, rows)
    chart = blocks(made)[0].charts[-1]
    assert chart.title == "Bytes read from and written to DRAM"
    assert "least" not in caption(chart)
    assert "least" not in ",".join(data(made, chart)[0])


# --- error against speed


def test_an_error_stands_against_the_speed_and_not_over_the_axis(tmp_path: Path) -> None:
    rows = [
        row
        for n in (1, 2, 3)
        for a, ns, wrong in (("fp32", 4e3, 1e-7), ("fp16", 1e3, 4e-4))
        for row in runs(
            {TIME: [ns, ns * 1.01, ns], "relative error": [wrong, wrong * 1.01, wrong]}, annotation=a, size=n
        )
    ]
    made = dossier(tmp_path, rows, {"normalize_against": "fp32"}, [RATE])
    (block,) = blocks(made)
    assert titles(block) == [
        "GB/s over size",
        "Time over size",
        "Relative error against GB/s",
        "Speed against fp32 over size",
    ]
    chart = block.charts[2]
    assert {"fp32", "fp16", "10⁻⁵", "GB/s", "relative error"} <= set(words(chart.panels[0]))
    assert "Further right is faster, lower is more exact." in caption(chart)
    got = [(row["annotation"], row["size"], float(row["relative error"])) for row in data(made, chart)]
    assert got[:2] == [("fp32", "1", 1.00333333333e-07), ("fp16", "1", 0.000401333333333)]


def test_the_figures_of_captions_have_sources(tmp_path: Path) -> None:
    made = dossier(tmp_path, swept(), SWEEP, [RATE], **MEMORY)
    spoken = [part for chart in made.charts for part in chart.caption if not isinstance(part, str)]
    assert all(getattr(part, "source", "named") for part in spoken)
    sources = {part.source for part in spoken if hasattr(part, "source")}
    assert "provenance:gpu.l2_bytes" in sources
    assert svg.COMPUTE in made.charts[0].panels[0]
