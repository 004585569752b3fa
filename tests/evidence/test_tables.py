"""CSV that comes back exactly, and the compression of long tables."""

from __future__ import annotations

import csv
import io
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reportgen.evidence import samples, tables
from reportgen.evidence.errors import BundleError, UserError
from tests.evidence.making import assert_same, report, table

NASTY = st.text(
    st.one_of(st.sampled_from("\"',;\n\r\0\t\x1f\x7f\x85\u2028\ufeff aä日"), st.characters(codec="utf-8")), max_size=12
)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(NASTY, NASTY, st.floats(allow_nan=False, width=64)), max_size=6))
@example([("\r", "\ufeff", -0.0), ("\0", '""', 5e-324)])
def test_samples_come_back_exactly(rows: list[tuple[str, str, float]]) -> None:
    frame = table(
        [{"kernel": k, "annotation": a, "param:p": k, "value": v, "run": None} for k, a, v in rows], ("param:p",)
    )
    data = tables.samples_to_csv(frame)
    again = tables.samples_from_csv(data, "raw.csv")
    assert_same(again, frame)
    assert [struct.pack("d", v) for v in again["value"]] == [struct.pack("d", v) for v in frame["value"]]
    assert tables.samples_to_csv(again) == data


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 3).flatmap(lambda width: st.lists(st.lists(NASTY, min_size=width, max_size=width), min_size=1)))
@example([["name"], [""]])
def test_any_rows_come_back_exactly(rows: list[list[str]]) -> None:
    data = tables.rows_to_csv(rows)
    assert list(tables.csv_rows(data, "any.csv")) == rows
    assert list(csv.reader(io.StringIO(data.decode(), newline=""))) == rows
    frame = pd.DataFrame(rows[1:], columns=rows[0], dtype="object")
    assert tables.frame_to_csv(frame) == data


def test_how_values_are_printed() -> None:
    frame = pd.DataFrame(
        {
            "float": [0.1, 1980000000.0, -0.0, np.nan, 1e300, np.inf],
            "whole": pd.array([1, None, -3, 4, 5, 2**53 + 1], dtype="Int64"),
            "int": np.arange(6),
            "bool": [True, False] * 3,
            "text": pd.Categorical(["a", None, 'q"', "x,y", "", " s"]),
            "mixed": [1, 2.0, None, "t", True, pd.NA],
        }
    )
    assert tables.frame_to_csv(frame).decode().split("\n") == [
        "float,whole,int,bool,text,mixed",
        "0.1,1,0,True,a,1",
        "1980000000,,1,False,,2",
        '-0.0,-3,2,True,"q""",',
        ',4,3,False,"x,y",t',
        "1e+300,5,4,True,,True",
        'inf,9007199254740993,5,False," s",',
        "",
    ]


def test_samples_as_they_are_kept() -> None:
    assert tables.samples_to_csv(report(1)).decode().split("\n")[:2] == [
        (
            "suite,benchmark,backend,workload,scenario,process,param:n,annotation,run,kernel_index,kernel,metric,value,unit,"
            "state,reason,source,text"
        ),
        (
            'matmul,square,ncu,kernel,default,0,512,fp32,0,0,"void k<a, b>(float*)",gpu__time_duration.sum,1000.25,ns,'
            "ok,,data/import/m.ncu-rep#0/0,"
        ),
    ]


def test_pandas_reads_what_is_kept() -> None:
    frame = pd.read_csv(io.BytesIO(tables.samples_to_csv(report())))
    assert list(frame["value"]) == list(report()["value"]) or frame["value"].isna().sum() == 3


def test_an_empty_table_comes_back() -> None:
    empty = samples.concat([])
    assert_same(tables.samples_from_csv(tables.samples_to_csv(empty), "raw.csv"), empty)


GOOD = tables.samples_to_csv(report(1))


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "line 1 is not the header"),
        (b"\n", "line 1 has 0 fields"),
        (b"\xff\xfe", "line 1 is not UTF-8"),
        (GOOD.replace(b"fp32", b"fp\xff32", 1), "line 2 is not UTF-8"),
        (GOOD[:-20], "line 5 has 17 fields where the header has 18"),
        (GOOD + b"x\n", "line 6 has 1 fields"),
        (GOOD + b"\n", "line 6 has 0 fields"),
        (GOOD[:-1] + b",more\n", "line 5 has 19 fields"),
        (GOOD + b'"never closed', "line 6: unexpected end of data"),
        (GOOD + b'"a"b\n', "line 6: ',' expected after"),
        (GOOD.replace(b",unit,", b",units,", 1), r"missing columns \['unit'\], unknown columns \['units'\]"),
        (GOOD.replace(b"suite,benchmark", b"benchmark,suite", 1), "columns out of order"),
        (GOOD.replace(b"1000.25", b"fast", 1), "row 0 .line 2 .*'value' holds 'fast', not a number"),
        (GOOD.replace(b"1000.25", b"1_000", 1), "'1_000', not a number"),
        (GOOD.replace(b"1000.25", b"nan", 1), "'nan', not a number"),
        (GOOD.replace(b"fp32,0,", b"fp32,0.0,", 1), "'run' holds '0.0', not a whole number"),
        (GOOD.replace(b",ok,", b",fine,", 1), "row 0: state is not one of"),
        (GOOD.replace(b"param:n", b"\xef\xbb\xbfparam:n", 1), "unknown columns"),
    ],
)
def test_a_damaged_table_names_the_file_and_the_line(data: bytes, what: str) -> None:
    with pytest.raises(BundleError, match=what) as caught:
        tables.samples_from_csv(data, "data/samples/ncu/default/raw.csv")
    assert caught.value.path == "data/samples/ncu/default/raw.csv"


def test_a_parameter_twice_is_refused() -> None:
    data = GOOD.replace(b"param:n", b"param:n,param:n", 1)
    with pytest.raises(BundleError, match="names a column twice"):
        tables.samples_from_csv(data, "raw.csv")


def test_every_flipped_byte_is_an_error_or_a_table_that_is_written_so() -> None:
    """Nothing that is read may come from guessing: what is read must print as what was read."""
    for place in range(0, len(GOOD), 13):
        data = bytearray(GOOD)
        data[place] ^= 1
        try:
            again = tables.samples_from_csv(bytes(data), "raw.csv")
        except BundleError:
            continue
        # The one freedom: how a number or a field that needs no quotation marks is spelled.
        assert_same(tables.samples_from_csv(tables.samples_to_csv(again), "raw.csv"), again)


def test_text_that_is_not_unicode_is_a_users_error() -> None:
    with pytest.raises(UserError, match="line 2 of the table holds text that is not Unicode"):
        tables.samples_to_csv(table([{"kernel": "\ud800"}]))


def test_the_limit_of_a_field_is_left_as_it_was() -> None:
    before = csv.field_size_limit()
    long = table([{"kernel": "k" * 200_000}])
    assert_same(tables.samples_from_csv(tables.samples_to_csv(long), "raw.csv"), long)
    assert csv.field_size_limit() == before


class TestStore:
    def test_up_to_1_mb_as_it_is(self, tmp_path: Path) -> None:
        name, data = tables.store("raw.csv", b"x" * 1_000_000)
        assert (name, len(data)) == ("raw.csv", 1_000_000)
        (tmp_path / name).write_bytes(data)
        assert tables.load(tmp_path / name) == data

    def test_over_1_mb_compressed(self, tmp_path: Path) -> None:
        whole = bytes(range(256)) * 5000
        name, data = tables.store("raw.csv", whole)
        assert name == "raw.csv.zst"
        assert len(data) < 100_000
        frame = zstandard.get_frame_parameters(data)
        assert frame.has_checksum
        assert frame.content_size == len(whole)
        assert tables.store("raw.csv", whole)[1] == data
        (tmp_path / name).write_bytes(data)
        assert tables.load(tmp_path / name) == whole

    def test_refuses_to_inflate_over_the_limit(self) -> None:
        bomb = tables.compress(bytes(50_000_000))
        assert len(bomb) < 5000
        with pytest.raises(BundleError, match="would inflate to 50000000 bytes, over the limit of 1000"):
            tables.inflate(bomb, "raw.csv.zst", limit=1000)

    def test_refuses_a_frame_that_hides_its_size(self) -> None:
        hidden = zstandard.ZstdCompressor(write_content_size=False).compressobj()
        data = hidden.compress(bytes(50_000_000)) + hidden.flush()
        with pytest.raises(BundleError, match="damaged"):
            tables.inflate(data, "raw.csv.zst")

    def test_every_damage_is_found(self) -> None:
        whole = b"".join(b"%d,%d\n" % (n, n * n) for n in range(300))
        data = tables.compress(whole)
        damaged = [data[:end] for end in range(0, len(data), 7)]
        damaged += [data + b"x", data + data, b"not zstd at all", b""]
        for place in range(0, len(data), 5):
            flipped = bytearray(data)
            flipped[place] ^= 4
            damaged.append(bytes(flipped))
        for bad in damaged:
            try:
                assert tables.inflate(bad, "raw.csv.zst") == whole  # a bit that says nothing of the content
            except BundleError:
                continue
        with pytest.raises(BundleError, match="damaged"):
            tables.inflate(data[:-5], "raw.csv.zst")

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(BundleError, match="No such file"):
            tables.load(tmp_path / "raw.csv")


def test_the_different_texts_of_columns_are_each_given_once() -> None:
    data = b'a,b,c\nx,"y, ""z""",1\nx,,1\nw,y,1\n'
    assert tables.distinct(data, ("a", "b", "other"), "t") == {"a": ["x", "w"], "b": ['y, "z"', "", "y"]}
    assert tables.distinct(data.replace(b"w", b"w\0"), ("a",), "t") == {"a": ["x", "w\0"]}
    assert tables.distinct(b"", ("a",), "t") == {}
