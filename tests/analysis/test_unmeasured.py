from __future__ import annotations

from reportgen.analysis import unmeasured
from reportgen.analysis.derive import TIME
from reportgen.analysis.measurements import Measurements
from reportgen.analysis.unmeasured import Gap
from reportgen.evidence import provenance
from reportgen.evidence.bundle import BundleInfo
from tests.analysis.building import READ, SM, run, runs, table

NO_VALUE = "the report holds no value"


def test_what_has_no_value_is_gathered_by_its_reason_and_counted() -> None:
    rows = [
        *run({TIME: 5.0, READ: NO_VALUE, SM: NO_VALUE}, annotation="a"),
        *runs({TIME: ["out of memory", "out of memory"]}, annotation="a"),
        *run({TIME: "out of memory"}, annotation="b"),
        *run({TIME: "out of memory"}, annotation="b", backend="cupti"),
    ]
    frame = table(rows)
    assert unmeasured.gaps(frame) == (
        Gap("square", "ncu", "default", "failed", "out of memory", 3, ("a", "b"), (TIME,)),
        Gap("square", "cupti", "default", "failed", "out of memory", 1, ("b",), (TIME,)),
        Gap("square", "ncu", "default", "failed", NO_VALUE, 2, ("a",), (READ, SM)),
    )
    assert [gap.loss for gap in unmeasured.gaps(frame)] == [True, True, False]
    of = Measurements(frame, BundleInfo("m", "M", "20261201T000000Z", "partial"), provenance.from_facts({}, "not said"))
    assert unmeasured.samples_of(of, "square", "ncu", "default", "failed", "out of memory") == 3
    assert unmeasured.samples_of(of, "square", "torch", "default", "failed", "out of memory") == 0


def test_where_all_has_a_value_nothing_is_missing() -> None:
    assert unmeasured.gaps(table(runs({TIME: [1.0, 2.0]}))) == ()
