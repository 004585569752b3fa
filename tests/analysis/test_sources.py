"""The grammar of sources, and its one evaluator, over a small table made by hand."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.analysis import sources, statistics
from reportgen.analysis.derive import TIME
from reportgen.analysis.evaluate import Computed, Evaluator
from reportgen.analysis.measurements import Measurements
from reportgen.analysis.sources import Call, Constant, Fact, File, Parameter, Place, SourceError, Text
from reportgen.evidence.bundle import BundleInfo, Formula
from reportgen.evidence.provenance import Fact as Known
from reportgen.evidence.provenance import Provenance
from reportgen.evidence.samples import RECORDED
from tests.analysis import building

ROW = "0123456789ab"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (f"{ROW}.AvgValue", Place(ROW, "AvgValue")),
        (f"{ROW}.a name, with (brackets)", Place(ROW, "a name, with (brackets)")),
        (f"{ROW}/k3.AvgValue", Place(ROW, "AvgValue", 3)),
        (f"{ROW}/k3@2.AvgValue", Place(ROW, "AvgValue", 3, 2)),
        (f"parameter:{ROW}.a (b", Parameter(ROW, "a (b")),
        ("provenance:gpu.l2_bytes", Fact("gpu.l2_bytes")),
        ("provenance:clocks.sm_observed_hz[1]", Fact("clocks.sm_observed_hz", 1)),
        ("file:data/import/a (1), b.ncu-rep.bytes", File("data/import/a (1), b.ncu-rep")),
        ("constant:bottleneck.BUSY_PCT", Constant("bottleneck", "BUSY_PCT")),
        (f"ratio({ROW},{ROW})", Call("ratio", (Place(ROW), Place(ROW)))),
        (
            f'f( {ROW}.AvgValue , g(h(),"a, \\"b\\u0020(" ), a word )',
            Call(
                "f",
                (
                    Place(ROW, "AvgValue"),
                    Call("g", (Call("h", ()), Text('a, "b ('))),
                    Text("a word"),
                ),
            ),
        ),
    ],
)
def test_every_form_is_read(text: str, read: sources.Source) -> None:
    assert sources.parse(text) == read


@pytest.mark.parametrize(
    "text",
    [
        *("", "795", ROW, "a word", "parameter:n", "file:data/x.sha256", "constant:BUSY_PCT", "constant:os.path"),
        *(f"{ROW}/k1", "f(", "f(a", 'f("a)', "f(a))", "f(a) b", f"{ROW.upper()}.AvgValue"),
    ],
)
def test_what_is_no_source_is_refused(text: str) -> None:
    with pytest.raises(SourceError):
        sources.parse(text)


@given(st.text())
def test_any_name_comes_back_out_of_a_call(name: str) -> None:
    written = sources.call("f", sources.quoted(name), ROW)

    assert not {" ", "\t", "\n", "\r", "\f"} & set(written)
    assert sources.parse(written) == Call("f", (Text(name), Place(ROW)))


@given(st.text(alphabet='0123456789ab./k@,()" f:pc\\'))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(SourceError):
        assert sources.parse(text) is not None


def test_the_rows_of_a_source_are_told() -> None:
    other = "ffffffffffff"

    assert list(sources.rows(sources.parse(f'f({ROW}.AvgValue,g({other},"{ROW}"))'))) == [ROW, other]


def test_a_name_is_given_to_one_function_alone() -> None:
    with pytest.raises(ValueError, match="two functions 'ratio'"):
        sources.computes("ratio", "runs", "runs")(statistics.ratio)


def test_every_function_says_what_it_gives() -> None:
    found = sources.functions()

    assert {"ratio", "ratio_low", "ratio_n", "tick", "count launches"} <= set(found)
    assert all(function.meaning and "\n" not in function.meaning for function in found.values())


@pytest.fixture
def of() -> Measurements:
    """Two annotations, three runs each of which `slow` launches two kernels; one value is a function's of the suite."""
    rows = []
    for index in range(3):
        rows += building.run({TIME: 100.0 + index}, index, annotation="fast", n=64)
        for place in range(2):
            name = "a" if place or index else "b"
            time = {TIME: 200.0 + 10 * place + index}
            rows += building.run(time, index, place, annotation="slow", kernel=name, n=64)
        rows += building.run({"own": 5.0}, index, annotation="fast", n=64, source=f"{RECORDED}#L{index + 1}")
    rows += building.run({TIME: "it broke"}, 3, annotation="fast", n=64)
    info = BundleInfo("s", "S", "20261201T000000Z", "complete", formulas=(Formula("twice", "own * 2", "1/s"),))
    facts = Provenance(
        {
            "gpu.l2_bytes": Known(50, "", "x"),
            "clocks.sm_observed_hz": Known("1e9 to 2e9", "", "x"),
            "gpu.name": Known("GPU", "", "x"),
            "gpu.serial": Known("withheld", "", "", withheld=True),
        }
    )
    return Measurements(building.table(rows), info, facts)


@pytest.fixture
def evaluate(of: Measurements) -> Evaluator:
    return Evaluator(of, {"data/x": 12})


def row(of: Measurements, annotation: str, metric: str = TIME) -> str:
    table = of.table
    return str(table[(table["Annotation"] == annotation) & (table["Metric"] == metric)]["Row"].iloc[0])


def test_cells_kernels_facts_files_and_constants(of: Measurements, evaluate: Evaluator) -> None:
    fast, slow = row(of, "fast"), row(of, "slow")

    assert evaluate(f"{fast}.AvgValue") == Computed(101.0, "ns")
    assert evaluate(f"{fast}.RelativeStdDevPct").unit == "%"
    assert evaluate(f"{slow}.AvgValue").value == 412.0
    assert evaluate(f"{slow}.NumKernels") == Computed(2.0, "")
    assert evaluate(f"parameter:{fast}.n") == Computed(64.0, "")
    assert evaluate(f"{slow}/k1.AvgValue") == Computed(211.0, "ns")
    assert evaluate(f"{slow}/k0.AvgValue") == Computed(200.0, "ns")  # the run in which the kernel b took the place
    assert evaluate(f"{slow}/k0@1.AvgValue") == Computed(201.5, "ns")
    assert evaluate("provenance:gpu.l2_bytes") == Computed(50.0, "byte")
    assert evaluate("provenance:clocks.sm_observed_hz[1]") == Computed(2e9, "hz")
    assert evaluate("file:data/x.bytes") == Computed(12.0, "byte")
    assert evaluate("constant:statistics.STABLE_BELOW_PCT") == Computed(2.0, "%")


def test_functions_take_runs_values_rows_and_words(of: Measurements, evaluate: Evaluator) -> None:
    fast, slow = row(of, "fast"), row(of, "slow")
    ratio = statistics.ratio(of.runs(slow), of.runs(fast))
    assert ratio is not None
    assert ratio.interval is not None

    assert evaluate(f"ratio({slow},{fast})") == Computed(ratio.value, "")
    assert evaluate(f"ratio_low({slow},{fast})").value == ratio.interval.low
    assert evaluate(f"ratio_n({slow},{fast})").value == 3
    assert evaluate(f"ratio_low({slow},{fast},6)").value < ratio.interval.low
    assert evaluate(f"share_saved({fast}.AvgValue,{slow}.AvgValue)").unit == "%"
    assert evaluate(f"count(these,{fast},{slow})").value == 2
    assert evaluate("count(launches)").value == 10
    assert evaluate('count(samples,"failed","it\\u0020broke")').value == 1
    assert evaluate('count(other annotations,"fast")').value == 1


def test_what_a_suites_own_function_gave_is_marked_as_recorded(of: Measurements, evaluate: Evaluator) -> None:
    own, twice = row(of, "fast", "own"), row(of, "fast", "twice")

    assert evaluate(f"{own}.AvgValue") == Computed(5.0, "", recorded=True)
    assert evaluate(f"{twice}.AvgValue") == Computed(10.0, "1/s", recorded=True)
    assert not evaluate(f"{twice}.NumRuns").recorded
    assert not evaluate(f"{row(of, 'fast')}.AvgValue").recorded


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("{fast}.Average", "no column 'Average'"),
        ("{fast}.State", "no column 'State' of numbers"),
        ("{fast}.n", "no column 'n' of numbers"),
        ("parameter:{fast}.NumRuns", "no number as its parameter"),
        ("parameter:{fast}.m", "no number as its parameter"),
        ("ffffffffffff.AvgValue", "no row ffffffffffff"),
        ("{fast}/k7.AvgValue", "no such kernel"),
        ("{fast}/k0.Median", "a mean"),
        ("provenance:gpu.name", "no number"),
        ("provenance:gpu.serial", "does not record"),
        ("provenance:gpu.l2_bytes[0]", "no number"),
        ("file:data/y.bytes", "no file 'data/y'"),
        ("constant:bottleneck.NONE", "no constant"),
        ("constant:nothing.NONE", "no constant"),
        ("guess({fast})", "no function 'guess'"),
        ("ratio({fast})", "takes 2 arguments"),
        ("ratio_low({fast},{fast},many)", "a whole number"),
        ("ratio_low({fast},{fast},1,1)", "takes 3 arguments"),
        ("ratio({fast}.AvgValue,{fast})", "a row is to be given"),
        ("count(rows,{fast})", "takes 0 arguments"),
        ("count(samples,{fast},x)", "in quotation marks"),
        ('count(unstable rows,"a","b","c","d")', "gives nothing"),
        ('tick("cupti")', "gives nothing"),
        ("share_saved({fast}.AvgValue,count(sampled files))", "gives nothing"),
    ],
)
def test_a_source_that_leads_nowhere_says_why(of: Measurements, evaluate: Evaluator, source: str, says: str) -> None:
    with pytest.raises(SourceError, match=says):
        evaluate(source.format(fast=row(of, "fast")))
