"""A comparison in each of its formats: what a person, a program and a CI server read."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options

from reportgen.analysis.compare import Asked, Comparison, compare
from reportgen.publish.comparison import WRITERS, Format
from tests import hostile
from tests.analysis.collections_of import FACTS, collected, rows

STEADY = [100000.0, 100200.0, 99900.0, 100100.0, 99800.0, 100300.0, 99700.0, 100050.0]
SLOW = [1.041 * time for time in STEADY]


@pytest.fixture(scope="module")
def found() -> Comparison:
    """Return a comparison that has a row of every kind."""
    warm = {"scenario": "continuous"}
    old = [*rows(STEADY, "slow", n=512), *rows(SLOW, "fast", n=512), *rows(STEADY, "still", n=512)]
    new = [*rows(SLOW, "slow", n=512), *rows(STEADY, "fast", n=512), *rows(STEADY[::-1], "still", n=512)]
    old += [*rows(STEADY[:1], "once"), *rows(STEADY, "gone"), *rows(STEADY, "fails"), *rows(STEADY, "broken", **warm)]
    new += [
        *rows(SLOW[:1], "once"),
        *rows(STEADY, "new"),
        *rows(["no memory"], "fails"),
        *rows(STEADY, "broken", **warm),
    ]
    old += rows(["not here"], "skipped")
    new += rows(["not here"], "skipped")
    facts = {"versions.driver": "590", "host.name": "vm2", "policy.clocks": "default: free; continuous: locked to base"}
    sides = collected(old, facts={**FACTS, "host.name": "vm1"}), collected(new, facts={**FACTS, **facts}, digest="1")
    return compare(sides[:1], sides[1:])


def text(of: Comparison, form: Format = "text") -> str:
    return WRITERS[form](of)


# Text


def test_the_text_says_the_counts_first_and_then_what_differs(found: Comparison) -> None:
    lines = text(found).splitlines()

    assert lines[:2] == [
        "matmul: 1 slower, 1 faster, 1 cannot tell, 1 same, 1 new, 1 gone, 2 without a value,",
        "    1 not comparable",
    ]
    assert "3 differences in how it was measured" in lines
    assert "  Driver        not recorded → 590" in lines
    assert "vm1" not in text(found)


def test_a_row_of_the_text_is_whole(found: Comparison) -> None:
    line = next(line for line in text(found).splitlines() if line.strip().startswith("slow,"))

    assert re.fullmatch(r"    slow, n = 512  \+4\.10 % \(\d\.\d\d to \d\.\d\d\), p 0\.00016, 8 and 8 processes", line)
    assert "      time 100.0 us to 104.1 us; threshold 3 % (the suite's own)" in text(found).splitlines()


def test_the_kinds_stand_in_their_order(found: Comparison) -> None:
    titles = [line for line in text(found).splitlines() if re.match(r"\w.*\(\d+\)$", line)]

    assert [title.partition(" (")[0] for title in titles] == [
        "Slower",
        "Faster",
        "Cannot tell whether it changed, too few processes: collect both again with --processes 5",
        "Same",
        "New",
        "Gone",
        "Without a value",
        "Not comparable",
    ]


def test_reasons_are_said(found: Comparison) -> None:
    whole = " ".join(text(found).split())

    assert "once +4.1 %, 1 process each, at least 5 needed" in whole
    assert "failed in NEW: no memory" in whole
    assert "another clock policy: free in OLD, locked to base in NEW" in whole


def test_no_line_of_the_text_is_wider_than_a_terminal(found: Comparison) -> None:
    long = {"n": "x" * 300, "words": "many words " * 30}
    wide = compare(
        [collected(rows(STEADY, "a name of " * 12, **long))], [collected(rows(SLOW, "a name of " * 12, **long))]
    )

    assert max(map(len, text(found).splitlines())) <= 100
    unbroken = [line for line in text(wide).splitlines() if "x" * 100 not in line]
    assert max(map(len, unbroken)) <= 100


def test_nothing_to_compare_is_said() -> None:
    found = compare([collected(rows(STEADY, "a"))], [collected(rows(STEADY, "b"))])

    assert "No series stands on both sides, so nothing is compared." in text(found)
    assert "Nothing that was recorded of how it was measured differs." in text(found)


# JSON


def test_the_json_is_strict_and_exact(found: Comparison) -> None:
    whole = json.loads(text(found, "json"), parse_constant=pytest.fail)

    assert whole["format"] == 1
    assert whole["counts"] == found.counts
    slow = next(row for row in whole["rows"] if row["annotation"] == "slow")
    assert slow["configuration"] == {"n": 512}
    assert slow["ratio"] == pytest.approx(1.041, rel=1e-11)
    assert slow["p"] == pytest.approx(2 / 12870)
    assert slow["verdict"] == {"kind": "slower", "reason": "", "needed_on_each_side": None, "next_step": ""}
    once = next(row for row in whole["rows"] if row["annotation"] == "once")
    assert (once["interval_95"], once["p"], once["verdict"]["needed_on_each_side"]) == (None, None, 5)
    assert {one["annotation"] for one in whole["without_a_value"]} == {"fails", "skipped"}
    assert whole["not_comparable"][0]["differs"][0]["condition"] == "clocks"
    assert next(one for one in whole["differences"] if one["key"] == "host.name")["old"] is None


# Markdown


def test_the_markdown_is_whole_tables(found: Comparison) -> None:
    page = cmarkgfm.github_flavored_markdown_to_html(text(found, "markdown"), Options.CMARK_OPT_UNSAFE)

    assert page.count("<table>") == 9
    assert "<summary>Same (1)</summary>" in page
    for table in re.findall(r"<table>.*?</table>", page, re.DOTALL):
        widths = {row.count("<td") + row.count("<th") for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)}
        assert len(widths) == 1
    assert re.search(r"<td><code>slow</code></td>\s*<td><code>n = 512</code></td>", page)
    assert "vm1" not in page


# JUnit


def test_the_junit_has_a_case_for_each_series(found: Comparison) -> None:
    root = ET.fromstring(text(found, "junit").encode("utf-8"))  # noqa: S314 - our own
    suite = root[0]
    cases = {case.attrib["name"].partition(" ")[0].rstrip(","): case for case in suite.iter("testcase")}

    assert (root.tag, suite.tag, suite.attrib["name"]) == ("testsuites", "testsuite", "matmul")
    assert {name: [child.tag for child in case] for name, case in cases.items()} == {
        "slow": ["failure"],
        "fast": ["system-out"],
        "still": ["system-out"],
        "once": ["skipped"],
        "new": ["skipped"],
        "gone": ["skipped"],
        "fails": ["error"],
        "skipped": ["skipped"],
        "broken": ["skipped"],
    }
    for tag in ("failures", "errors", "skipped", "tests"):
        word = {"failures": "failure", "errors": "error", "tests": "testcase"}.get(tag, tag)
        assert int(suite.attrib[tag]) == int(root.attrib[tag]) == len(list(suite.iter(word)))
    failure = cases["slow"].find("failure")
    assert failure is not None
    assert failure.attrib["message"].startswith("slower, +4.10 %")
    assert all({"name", "classname", "time"} <= set(case.attrib) for case in cases.values())


# Names from elsewhere


@pytest.mark.parametrize("form", list(WRITERS))
@pytest.mark.parametrize("name", hostile.NAMES)
def test_a_hostile_name_breaks_no_format(form: Format, name: str) -> None:
    sides = [collected(rows(times, name, benchmark=name, word=name)) for times in (STEADY, SLOW)]
    written = text(compare(sides[:1], sides[1:], Asked()), form)

    assert written.encode("utf-8")
    if form == "json":
        assert json.loads(written)["rows"][0]["verdict"]["kind"] == "slower"
    elif form == "junit":
        assert len(list(ET.fromstring(written.encode("utf-8")).iter("failure"))) == 1  # noqa: S314 - our own
    elif form == "markdown":
        page = cmarkgfm.github_flavored_markdown_to_html(written, Options.CMARK_OPT_UNSAFE)
        assert "<script" not in page
        assert re.search(r"(<td.*?</td>\s*){9}", page, re.DOTALL)
    else:
        assert "1 slower" in written
        assert all(line.isprintable() for line in written.splitlines())
