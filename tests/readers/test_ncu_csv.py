import contextlib
import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reportgen.evidence.errors import ReadError
from reportgen.evidence.samples import Samples
from reportgen.readers import csv_text, ncu_csv, nvtx_text
from reportgen.readers.launches import Range
from reportgen.readers.numerals import NUMBER, Numerals

DATA = Path(__file__).parent.parent / "data"
POWERS = {"Kbyte": 3, "Mbyte": 6, "Gbyte": 9, "us": 3, "ms": 6, "Ghz": 9, "Mhz": 6, "Kbyte/block": 3}
HEADER = ("ID", "Process ID", "Kernel Name", "Block Size", "Grid Size", "Device", "CC")
NVTX = "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"


def _rows(name: str) -> list[list[str]]:
    with (DATA / name).open(newline="") as file:
        return list(csv.reader(file))


def _truth() -> dict[tuple[str, str], tuple[str, str]]:
    """Read ncu's own base-unit export, apart from the code under test: (ID, metric) to text and unit."""
    header, units, *rows = _rows("matmul.raw.base.csv")
    return {(row[0], n): (c, u) for row in rows for n, c, u in zip(header, row, units, strict=True) if "__" in n}


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text.replace(",", ""))
    except ArithmeticError:
        return None


def _write(tmp_path: Path, rows: Iterable[Sequence[str]], delimiter: str = ",", ahead: str = "") -> Path:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    path = tmp_path / "x.csv"
    path.write_text(ahead + text.getvalue(), encoding="utf-8")
    return path


def _raw(metrics: Mapping[str, tuple[str, Sequence[str]]], count: int | None = None) -> list[list[str]]:
    """Make a raw page: metric to unit and one cell for each launch."""
    count = len(next(iter(metrics.values()))[1]) if count is None else count
    rows = [[*HEADER, *metrics], ["" for _ in HEADER] + [unit for unit, _ in metrics.values()]]
    for i in range(count):
        rows.append([str(i), "9", f"k{i}", "(64, 1, 1)", "(8, 1, 1)", "0", "9.0", *(c[i] for _, c in metrics.values())])
    return rows


def _read(path: Path) -> Samples:
    return ncu_csv.read(path, "data/import/x.csv")


# ------------------------------------------------------------------------------------------------ the real files


@pytest.mark.parametrize("name", ["matmul.raw.auto.csv", "matmul.raw.base.csv", "matmul.details.csv"])
def test_every_value_of_the_real_files_is_that_of_the_base_export(name: str) -> None:
    truth = _truth()
    frame = _read(DATA / name).frame
    printed = _printed(name)
    assert len(frame) == len(printed)
    expected_count = 30 * 6 if "details" in name else 30 * 282
    assert len(frame) == expected_count
    ids = [str(i) for i in range(30) for _ in range(expected_count // 30)]
    for launch, metric, value, unit, text, state in zip(
        ids, frame["metric"], frame["value"], frame["unit"], frame["text"], frame["state"], strict=True
    ):
        cell, base_unit = truth[launch, metric]
        assert unit == base_unit
        assert state == "ok"
        exact = _decimal(cell)
        if exact is None:
            assert text == cell
            continue
        digits, exponent = printed[launch, metric]
        assert Decimal(repr(value)) == digits.scaleb(exponent)  # no digit of the file is changed
        step = Decimal(1).scaleb(int(digits.as_tuple().exponent) + exponent)
        assert abs(Decimal(repr(value)) - exact) <= step / 2 + Decimal("0.005")


def _printed(name: str) -> dict[tuple[str, str], tuple[Decimal, int]]:
    header, *rows = _rows(name)
    found: dict[tuple[str, str], tuple[str, str]] = {}
    if "details" in name:
        at = {n: header.index(n) for n in ("ID", "Metric Name", "Metric Unit", "Metric Value")}
        for row in rows:
            found[row[at["ID"]], row[at["Metric Name"]]] = (row[at["Metric Value"]], row[at["Metric Unit"]])
    else:
        units, *launches = rows
        for row in launches:
            found |= {(row[0], n): (c, u) for n, c, u in zip(header, row, units, strict=True) if "__" in n}
    return {key: (_decimal(cell) or Decimal(0), POWERS.get(unit, 0)) for key, (cell, unit) in found.items()}


@pytest.mark.parametrize("name", ["matmul.raw.auto.csv", "matmul.details.csv"])
def test_the_places_are_those_of_the_ranges(name: str) -> None:
    frame = _read(DATA / name).frame
    frame = frame[frame["metric"] == "gpu__time_duration.sum"]
    assert len(frame) == 30
    assert set(frame["param:n"]) == {"256", "512", "1024", "2048"}
    kernels = frame.groupby(["annotation", "param:n", "run"], observed=True)["kernel_index"].agg(list)
    assert len(kernels) == 24
    for (annotation, n, _run), indexes in zip(kernels.index.tolist(), kernels.tolist(), strict=True):
        assert indexes == ([0, 1] if annotation == "fp32" and n in ("256", "512") else [0])
    assert set(frame["run"]) == {0, 1, 2}
    assert set(frame["workload"]) == {"kernel"}


def test_sources_name_the_line() -> None:
    raw = _read(DATA / "matmul.raw.auto.csv").frame
    assert list(dict.fromkeys(raw["source"])) == [f"data/import/x.csv#L{i}" for i in range(3, 33)]
    details = _read(DATA / "matmul.details.csv").frame
    assert sorted(details["source"]) == sorted(f"data/import/x.csv#L{i}" for i in range(2, 182))


def test_facts_of_the_device() -> None:
    found = _read(DATA / "matmul.raw.auto.csv")
    assert found.losses == ()
    expected = {
        "gpu.name": "NVIDIA H200",
        "gpu.compute_capability": "9.0",
        "gpu.sm_count": "132",
        "gpu.l2_bytes": "62914560",
        "gpu.memory_bytes": "150109880320",
        "gpu.bus_width_bits": "6016",
        "clocks.sm_rated_hz": "1980000000",
        "clocks.memory_rated_hz": "3201000000",
    }
    assert found.facts | expected == found.facts


def test_words_and_empty_words() -> None:
    frame = _read(DATA / "matmul.raw.auto.csv").frame
    word = frame[frame["metric"] == "launch__func_cache_config"]
    assert set(word["text"]) == {"CachePreferNone"}
    assert word["value"].isna().all()
    empty = frame[frame["metric"] == "launch__kernel_name"]
    assert set(empty["text"]) == {""}
    assert set(empty["state"]) == {"ok"}


# ------------------------------------------------------------------------------------------------ locales, units


_LOCALES = {
    "english": (",", ".", ","),
    "german": (".", ",", ";"),
    "german in commas": (".", ",", ","),
    "french": ("\u202f", ",", ";"),
    "nbsp": ("\u00a0", ",", "\t"),
    "si": (" ", ".", ","),
    "swiss": ("'", ".", ";"),
    "swiss typographic": ("\u2019", ",", ","),
    "plain": ("", ".", ","),
    "plain comma": ("", ",", ";"),
}


def _format(value: Decimal, group: str, decimal: str) -> str:
    whole, _, fraction = f"{value:,f}".partition(".")
    return whole.replace(",", group) + (decimal + fraction if fraction else "")


@settings(deadline=None, max_examples=150)
@given(
    locale=st.sampled_from(sorted(_LOCALES)),
    unit=st.sampled_from(["byte", "Kbyte", "Mbyte", "us", "ns", "Ghz", "%", "", "Kbyte/block"]),
    numbers=st.lists(
        st.decimals(-(10**9), 10**12, places=3) | st.integers(0, 10**13).map(Decimal), min_size=1, max_size=6
    ),
    details=st.booleans(),
)
def test_any_locale_unit_and_grouping_comes_back(
    tmp_path_factory: pytest.TempPathFactory, locale: str, unit: str, numbers: list[Decimal], details: bool
) -> None:
    group, decimal, delimiter = _LOCALES[locale]
    # A file of nothing but ambiguous cells follows its delimiter; any other shows its locale in some cell.
    cells = [_format(n, group, decimal) for n in [*numbers, Decimal("0.25")]]
    if details:
        rows = [["ID", "Kernel Name", "Metric Name", "Metric Unit", "Metric Value"]]
        rows += [[str(i), "k", "m__x.sum", unit, cell] for i, cell in enumerate(cells)]
    else:
        rows = _raw({"m__x.sum": (unit, cells)})
    path = _write(tmp_path_factory.mktemp("locale"), rows, delimiter)
    found = _read(path)
    assert found.losses == ()
    expected = [float(n.scaleb(POWERS.get(unit, 0))) for n in numbers]
    assert found.frame["value"].tolist()[:-1] == expected


@pytest.mark.parametrize(
    ("cells", "delimiter", "expected"),
    [
        (["1,234"], ",", ["1234"]),
        (["1,234"], ";", ["1.234"]),
        (["1.234"], ",", ["1.234"]),
        (["1.234", "7,5"], ",", ["1234", "7.5"]),
        (["1.234", "1.980.000,5"], ",", ["1234", "1980000.5"]),
        (["1,234", "1,980,000"], ",", ["1234", "1980000"]),
        (["1,234", "0,567"], ",", ["1.234", "0.567"]),
        (["1 980 000", "1,234"], ",", ["1980000", "1234"]),
        (["1 980 000,5", "1,234"], ",", ["1980000.5", "1.234"]),
        (["12,34,567.5"], ",", ["1234567.5"]),
        (["\u22125,5"], ",", ["-5.5"]),
        (["1.5e+06", "2E-3"], ",", ["1.5e+06", "2E-3"]),
        (["3.5 (1; 2; 3)"], ",", ["3.5"]),
    ],
)
def test_the_file_decides_what_a_cell_leaves_open(cells: list[str], delimiter: str, expected: list[str]) -> None:
    numerals = Numerals(cells, delimiter)
    assert [numerals.cells[c].text for c in cells] == expected


@pytest.mark.parametrize(
    "word", ["1.2.3", "192.168.0.1", "1 2 3", "1,2,3", "0x12", "NVIDIA H200", "No-CC", "1-2", "a,b"]
)
def test_words_are_not_numbers(word: str) -> None:
    assert Numerals([word]).cells[word].kind != NUMBER


def test_a_file_in_two_locales_says_so(tmp_path: Path) -> None:
    found = _read(_write(tmp_path, _raw({"m__x.sum": ("", ["1,234", "1.25", "2.75", "3,5"])})))
    assert found.frame["value"].tolist() == [1234.0, 1.25, 2.75, 3.5]
    assert "two locales" in found.losses[0]


def test_each_row_of_the_details_page_has_its_own_unit(tmp_path: Path) -> None:
    rows = [["Metric Value", "ID", "Metric Unit", "Kernel Name", "Metric Name"]]
    rows += [["999.50", "0", "Kbyte", "k", "dram__bytes.sum"], ["1.07", "1", "Mbyte", "k", "dram__bytes.sum"]]
    frame = _read(_write(tmp_path, rows)).frame
    assert frame["value"].tolist() == [999500.0, 1070000.0]
    assert set(frame["unit"]) == {"byte"}


# ------------------------------------------------------------------------------------------------ states


def test_a_failed_launch_and_other_nan(tmp_path: Path) -> None:
    metrics = {
        "gpu__time_duration.sum": ("ns", ["nan", "32", "64"]),
        "dram__bytes.sum": ("byte", ["(!) nan", "nan", "1"]),
        "a__b.sum": ("", ["1", "", "n/a"]),
        "word__a": ("", ["", "Policy", "N/A"]),
        "none__a": ("", ["", "", ""]),
        "big__a": ("", ["inf", "1e999", "3"]),
    }
    frame = _read(_write(tmp_path, _raw(metrics))).frame
    found = {
        (s[-2:], m): (state, reason) for s, m, state, reason in frame[["source", "metric", "state", "reason"]].values
    }
    failed = ("failed", "the launch failed: the profiler recorded no duration")
    assert found["L3", "gpu__time_duration.sum"] == failed
    assert found["L3", "dram__bytes.sum"] == failed
    assert found["L3", "a__b.sum"] == ("ok", "")
    assert found["L4", "dram__bytes.sum"] == ("dropped", "the profiler recorded nan")
    assert found["L4", "a__b.sum"] == ("dropped", "the file holds no value")
    assert found["L5", "a__b.sum"] == ("dropped", "the profiler recorded n/a")
    assert found["L3", "word__a"] == ("ok", "")
    assert found["L5", "none__a"] == ("ok", "")
    assert found["L4", "big__a"] == ("dropped", "the profiler recorded inf")


# ------------------------------------------------------------------------------------------------ shapes of files


def test_columns_may_stand_in_any_order(tmp_path: Path) -> None:
    rows = [list(reversed(row)) for row in _rows("matmul.raw.auto.csv")]
    columns = ["source", "metric", "value", "unit", "text", "annotation", "run", "kernel_index", "param:n"]
    found = _read(_write(tmp_path, rows)).frame[columns].astype(str)
    whole = _read(DATA / "matmul.raw.auto.csv").frame[columns].astype(str)
    assert sorted(found.values.tolist()) == sorted(whole.values.tolist())


def test_a_repeated_metric_stands_once_and_a_contradiction_is_told(tmp_path: Path) -> None:
    rows = _raw({"a__x.sum": ("Kbyte", ["1.5", "2.5"])})
    rows = [[*row, extra, other] for row, extra, other in zip(rows, ["a__x.sum"] * 4, ["b__y"] * 4, strict=True)]
    rows[1][-2:], rows[2][-2:], rows[3][-2:] = ["byte", ""], ["1,500", "1"], ["2,501", "2"]
    found = _read(_write(tmp_path, rows))
    assert found.frame["value"].tolist() == [1500.0, 1.0, 2500.0, 2.0]
    assert len(found.losses) == 1
    assert found.losses[0].startswith("line 4: 'a__x.sum'")


def test_sections_that_share_a_name_for_two_things_are_told_apart(tmp_path: Path) -> None:
    rows = [["ID", "Kernel Name", "Section Name", "Metric Name", "Metric Unit", "Metric Value", "Rule Name"]]
    for launch in ("0", "1"):
        rows += [
            [launch, "k", "GPU Speed Of Light Throughput", "Memory Throughput", "%", "14.26", ""],
            [launch, "k", "GPU Speed Of Light Throughput", "Duration", "us", "2.85", ""],
            [launch, "k", "SpeedOfLight", "", "", "", "SOLBottleneck"],
            [launch, "k", "Memory Workload Analysis", "Memory Throughput", "Gbyte/s", "91.5", ""],
            [launch, "k", "Launch Statistics", "Registers Per Thread", "register/thread", "32", ""],
            [launch, "k", "Occupancy", "Registers Per Thread", "register/thread", "32"],
        ]
    found = _read(_write(tmp_path, rows))
    one = found.frame[:4]
    assert one["metric"].tolist() == [
        "Memory Throughput",
        "Duration",
        "Memory Workload Analysis: Memory Throughput",
        "Registers Per Thread",
    ]
    assert one["value"].tolist() == [14.26, 2850.0, 91.5e9, 32.0]
    assert len(found.frame) == 8
    assert found.losses == ()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_encodings_and_newlines(tmp_path: Path, encoding: str, newline: str) -> None:
    text = (DATA / "matmul.details.csv").read_text().replace("python3.12", "pythön").replace("\n", newline)
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode(encoding))
    assert csv_text.sniff_csv(path) == "ncu-details"
    found = _read(path)
    assert len(found.frame) == 180
    assert found.losses == ()


def test_chatter_ahead_and_between_and_files_one_after_another(tmp_path: Path) -> None:
    one = (DATA / "matmul.raw.auto.csv").read_text()
    ahead = (
        "==WARNING== Note: Running with unmodified GPU clocks. If not controlled otherwise, more text.\n"
        '==PROF== Profiling "sm80_xmma" - 0: 0%....50%....100% - 9 passes\nepoch "1, loss 0.5\n\n'
    )
    path = tmp_path / "x.csv"
    path.write_text(ahead + one + "==PROF== Connected to process 7\n" + one)
    found = _read(path)
    assert len(found.frame) == 2 * 8460
    assert found.frame["source"].iloc[0] == "data/import/x.csv#L7"
    assert found.frame["source"].iloc[-1] == f"data/import/x.csv#L{4 + 32 + 1 + 32}"
    assert found.facts["policy.clocks"] == "none"
    assert found.losses == ()


def test_lines_inside_quotes_are_counted(tmp_path: Path) -> None:
    rows = _raw({"a__x": ("", ["1", "2"])})
    rows[2][2] = 'two\nlines, "quoted"\n'
    frame = _read(_write(tmp_path, rows)).frame
    assert frame["source"].tolist() == ["data/import/x.csv#L3", "data/import/x.csv#L6"]
    assert frame["kernel"].iloc[0] == 'two\nlines, "quoted"'


def test_a_kernel_name_of_megabytes_is_read(tmp_path: Path) -> None:
    rows = _raw({"a__x": ("", ["1"])})
    rows[2][2] = "k" * 2_000_000
    assert len(_read(_write(tmp_path, rows)).frame["kernel"].iloc[0]) == 2_000_000


def test_without_kernel_names_or_ranges(tmp_path: Path) -> None:
    path = _write(tmp_path, [["ID", "Process ID", "a__x.sum"], ["", "", "us"], ["0", "1", "2.5"]])
    frame = _read(path).frame
    assert frame[["value", "unit", "kernel", "annotation"]].iloc[0].tolist() == [2500.0, "ns", "", "(no name)"]


@pytest.mark.parametrize("name", ["matmul.raw.auto.csv", "matmul.details.csv"])
def test_every_cut_keeps_whole_launches_or_says_so(tmp_path: Path, name: str) -> None:
    raw = (DATA / name).read_bytes()
    whole = _read(DATA / name).frame
    for size in [*range(len(raw) - 700, len(raw) - 1, 7), *range(15_000, len(raw), 9_001)]:
        (tmp_path / "x.csv").write_bytes(raw[:size])
        found = _read(tmp_path / "x.csv")
        kept = found.frame
        columns = ["metric", "value", "unit", "text", "annotation", "source"]
        assert kept[columns].astype(str).equals(whole[columns].astype(str)[: len(kept)])
        assert found.losses or raw[:size].endswith(b'"') or raw[:size].endswith(b"\n")
        if "raw" in name:
            assert len(kept) % 282 == 0


def test_ragged_rows_are_told_with_their_line(tmp_path: Path) -> None:
    rows = _raw({"a__x": ("", ["1", "2", "3"])})
    rows[3] = rows[3][:4]
    found = _read(_write(tmp_path, rows))
    assert found.frame["value"].tolist() == [1.0, 3.0]
    assert found.losses == ("line 4: 4 cells where the header has 8; the row is left out",)


def test_nul_bytes_are_told(tmp_path: Path) -> None:
    path = _write(tmp_path, _raw({"a__x": ("", ["1", "2"])}))
    path.write_bytes(path.read_bytes() + b"\0" * 4096)
    found = _read(path)
    assert found.frame["value"].tolist() == [1.0, 2.0]
    assert "NUL" in found.losses[0]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "empty"),
        ("\0\0", "empty"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer"),
        ("a,b,c\n1,2,3\n", "line 1: not a CSV of ncu"),
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", "line 1: .*ERR_NVGPUCTRPERM"),
        ("==PROF== x\n==WARNING== No kernels were profiled.\n", "line 2: .*no kernels were profiled"),
        ("ID,Kernel Name,a__x\n", "line 1: a header, and no launch"),
        ('ID,Kernel Name,a__x\n"","",ns\n', "line 1: a header, and no launch"),
        ("ID,Kernel Name,a__x\n0,k,5\n", "line 2: no row of units"),
        ("ID,Kernel Name,Metric Name,Metric Unit,Minimum,Maximum,Average\n0,k,a,ns,1,2,3\n", "line 1: a summary"),
        ("Annotation,Metric,Value\na,b,1\n", "line 1: .*another kind of CSV"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line_and_a_mend(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(ReadError, match=what) as error:
        _read(path)
    assert error.value.mend
    assert str(path) in error.value.line


@pytest.mark.parametrize("path", ["nothing-there.csv", "."])
def test_what_cannot_be_opened_is_a_read_error(path: str) -> None:
    with pytest.raises(ReadError, match="cannot be opened"):
        _read(Path(path))
    assert csv_text.sniff_csv(Path(path)) is None


# ------------------------------------------------------------------------------------------------ ranges, sniffing


@pytest.mark.parametrize(
    "message",
    ["fp32|n=256|run=0", "a:b::c", 'say "hi", ok', "none", "a:none:none:none:none:none", "x" * 5000, "n=1, m=2"],
)
@pytest.mark.parametrize("kind", ["start/end", "push/pop"])
def test_messages_come_back_whatever_they_hold(message: str, kind: str) -> None:
    head = "12:" if kind == "start/end" else ""
    one = f'"{head}bench:{message}:none:none:RGB:0xff:REGISTERED:{message}"'
    two = f'"{head}other:outer:none:none:none:none:none:none"'
    cell = f"123  {two} {one} "
    assert nvtx_text.ranges_in(cell, kind) == (Range("other", kind, "outer"), Range("bench", kind, message))


def test_a_cell_that_is_not_of_ncu_is_one_message() -> None:
    assert nvtx_text.ranges_in("fp32|n=1", "push/pop") == (Range("", "push/pop", "fp32|n=1"),)
    assert nvtx_text.ranges_in("  ", "push/pop") == ()


@pytest.mark.parametrize(
    ("kernel", "grid", "workload"),
    [
        ("range", "", "range"),
        ("graph", "", "graph"),
        ("CUDA Graph 3", "(0, 0, 0)", "graph"),
        ("range_kernel", "(8, 1, 1)", "kernel"),
        ("graphics", "", "kernel"),
    ],
)
def test_ranges_and_graphs_are_workloads_of_their_own(tmp_path: Path, kernel: str, grid: str, workload: str) -> None:
    rows = _raw({"a__x": ("", ["1"])})
    rows[2][2], rows[2][4] = kernel, grid
    assert _read(_write(tmp_path, rows)).frame["workload"].tolist() == [workload]


def test_sniffing_goes_by_content(tmp_path: Path) -> None:
    raw = (DATA / "matmul.raw.auto.csv").read_bytes()
    odd = tmp_path / "processed_data.txt"
    odd.write_bytes(b"==PROF== x\n" * 100_000 + raw)
    assert csv_text.sniff_csv(odd) == "ncu-raw"
    assert csv_text.sniff_csv(DATA / "matmul.details.csv") == "ncu-details"
    assert csv_text.sniff_csv(DATA / "matmul.session.txt") is None
    odd.write_bytes(bytes(range(256)) * 1000)
    assert csv_text.sniff_csv(odd) is None


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_no_bytes_make_it_crash(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["matmul.raw.auto.csv", "matmul.details.csv"]))
    raw = bytearray((DATA / name).read_bytes()[: 17_000 if "raw" in name else 6_000])
    for _ in range(data.draw(st.integers(1, 12))):
        at, byte = data.draw(st.integers(0, len(raw) - 1)), data.draw(st.integers(0, 255))
        raw[at : at + data.draw(st.integers(0, 2))] = bytes([byte])
    path = tmp_path_factory.mktemp("ncu") / "x.csv"
    path.write_bytes(bytes(raw[: data.draw(st.integers(0, len(raw)))]))
    csv_text.sniff_csv(path)
    with contextlib.suppress(ReadError):
        assert isinstance(_read(path), Samples)


def test_a_word_where_a_unit_stands_is_damage_and_no_word(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "ID,Process ID,Kernel Name,gpu__time_duration.sum,launch__name\n,,,ns,\n0,1,k,0x10,word\n1,1,k,12,word\n"
    )
    frame = ncu_csv.read(path, "data/import/a.csv").frame

    assert frame["state"].tolist() == ["dropped", "ok", "ok", "ok"]
    assert frame["reason"].iloc[0] == "the file holds a word in place of a value"
    assert frame["text"].iloc[1] == "word"
