"""A comparison as JUnit's XML, which CI servers show as tests: a series is a test case, a slower one failed.

What cannot be told, is new, is gone or cannot be compared is skipped with its reason; what has no value in NEW and had one in OLD is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as ET

from reportgen.analysis.compare import Absent, Comparison
from reportgen.analysis.series import Series
from reportgen.dossier.text import visible
from reportgen.publish.comparison import phrases


@dataclass(frozen=True, slots=True)
class _Case:
    """A test case: how it ended, in a line, and the whole of what there is to say."""

    series: Series
    end: Literal["", "failure", "skipped", "error"]
    message: str
    text: str = ""


def write(of: Comparison) -> str:
    """Return a comparison as one test suite."""
    cases = list(_cases(of))
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.end == "failure" for case in cases)),
        "errors": str(sum(case.end == "error" for case in cases)),
        "skipped": str(sum(case.end == "skipped" for case in cases)),
        "time": "0",
    }
    root = ET.Element("testsuites", {"name": "reportgen compare", **counts})
    suite = ET.SubElement(root, "testsuite", {"name": visible(of.suite), **counts})
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(of):
        ET.SubElement(properties, "property", {"name": name, "value": value})
    for case in cases:
        _add(suite, of, case)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "\n")
    )


def _properties(of: Comparison) -> Iterator[tuple[str, str]]:
    yield "OLD", ", ".join(of.old)
    yield "NEW", ", ".join(of.new)
    for one in of.differences:
        if not one.usual:
            old, new = phrases.difference(one)
            yield f"differs: {phrases.label(one)}", f"{old} → {new}"


def _add(suite: ET.Element, of: Comparison, case: _Case) -> None:
    one = case.series
    name = f"{phrases.case(one)} [{visible(one.backend)}, {visible(one.workload)}, {visible(one.scenario)}] {phrases.metric(one)}"
    place = {"classname": visible(f"{of.suite}.{one.benchmark}"), "name": name, "time": "0"}
    made = ET.SubElement(suite, "testcase", place)
    if case.end == "skipped":
        ET.SubElement(made, "skipped", {"message": case.message})
    elif case.end:
        found = ET.SubElement(made, case.end, {"message": case.message, "type": case.end})
        found.text = case.text or case.message
    elif case.text:
        ET.SubElement(made, "system-out").text = case.text


def _cases(of: Comparison) -> Iterator[_Case]:
    for row in of.rows:
        said = phrases.effect(row)
        old, new = phrases.values(row)
        text = "\n".join(
            filter(None, (said, f"{old} to {new}", phrases.beside(row), f"threshold {phrases.limit(row)}"))
        )
        kind = row.verdict.kind
        if kind == "cannot tell":
            yield _Case(row.series, "skipped", f"cannot tell, {phrases.why(row)}; {said}")
        else:
            yield _Case(row.series, "failure" if kind == "slower" else "", f"{kind}, {said}", f"{kind}, {text}")
    for name, found in (("new", of.fresh), ("gone", of.gone)):
        yield from (_Case(one.series, "skipped", f"{name}: {phrases.absent(one)}") for one in found)
    yield from (_Case(one.series, _end(one), phrases.absent(one)) for one in of.failed)
    yield from (_Case(one.series, "skipped", f"not comparable: {phrases.broken(one)}") for one in of.broken)


def _end(one: Absent) -> Literal["skipped", "error"]:
    """A series that lost its value is an error; one that never had it, or is skipped on purpose, is skipped."""
    return "error" if one.old_state == "ok" and one.new_state not in ("", "ok", "skipped") else "skipped"
