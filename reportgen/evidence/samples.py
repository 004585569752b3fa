"""The samples table: one row for each kernel and metric, whatever the evidence was.

The columns, in order, are `suite benchmark backend workload scenario process`, one `param:<name>` for each
parameter, `annotation run kernel_index kernel metric value unit state reason source text`.

`value` is float64 in base units (ns, byte, hz, %, 1 written as the empty unit). `param:<name>` holds canonical
JSON (`2048`, `"fp16"`), or is empty where a row has no such parameter. `process`, `run` and `kernel_index` are
nullable integers.
`text` is empty but for metrics whose value is a word (`CachePreferNone`); their `value` is NaN and their state `ok`.
`source` is a path in the bundle and a place in it (`data/import/matmul.ncu-rep#0/12`, `…#0/*` for all launches of a
range).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from reportgen.evidence.errors import UserError

BEFORE_PARAMS = ("suite", "benchmark", "backend", "workload", "scenario", "process")
AFTER_PARAMS = (
    "annotation",
    "run",
    "kernel_index",
    "kernel",
    "metric",
    "value",
    "unit",
    "state",
    "reason",
    "source",
    "text",
)
_MEASURED = ("metric", "value", "unit", "state", "reason", "text")
INTEGERS = ("process", "run", "kernel_index")
STATES = ("ok", "failed", "skipped", "dropped", "not permitted")
PARAM = "param:"
RECORDED = "data/derived.jsonl"  # the file of the values that a suite's own functions gave

# One value over all launches of a report says something of the machine, not of a launch, unless the name is of these.
_OF_A_LAUNCH = ("launch__",)
_LAUNCH = re.compile(r"#[^#/]*/[^#/*]+\Z")
_Codes = npt.NDArray[Any]


@dataclass(frozen=True)
class Samples:
    """What a reader found in one file.

    `frame` is a samples table whose `suite`, `benchmark` and `scenario` the caller fills in.
    `facts` are provenance facts that the file states of itself, under provenance keys (`gpu.name`, `versions.ncu`).
    `losses` says in one line each what could not be read; a file with losses is a partial import.
    """

    frame: pd.DataFrame
    facts: dict[str, str] = field(default_factory=dict)
    losses: tuple[str, ...] = ()


def canonical(value: Any) -> str:
    """Return a parameter's value as canonical JSON: sorted keys, no spaces, no NaN.

    A set is a sorted list, any other type that JSON lacks its `str`.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    return sorted(value, key=canonical) if isinstance(value, set | frozenset) else str(value)


def param_columns(frame: pd.DataFrame) -> list[str]:
    """Return the parameter columns of a samples table, in the table's order."""
    return [name for name in frame.columns if name.startswith(PARAM)]


def columns(params: list[str] | tuple[str, ...]) -> list[str]:
    """Return all column names, in order, of a table with these `param:<name>` columns."""
    return [*BEFORE_PARAMS, *params, *AFTER_PARAMS]


def make(data: dict[str, Any], length: int) -> pd.DataFrame:
    """Make a checked samples table from columns; a missing text column is filled with the empty text.

    Values may be scalars or sequences of `length`. Text columns become categoricals: names repeat a thousand times.
    """
    params = [name for name in data if name.startswith(PARAM)]
    made: dict[str, Any] = {}
    for name in columns(params):
        given = data.get(name, "" if name not in (*INTEGERS, "value") else pd.NA)
        if name in INTEGERS:
            scalar = given is pd.NA or np.isscalar(given)
            made[name] = pd.array([given] * length if scalar else given, dtype="Int64")
        elif name == "value":
            made[name] = np.full(length, np.nan) if given is pd.NA else np.asarray(given, dtype="float64")
        else:
            made[name] = _texts(given, length)
    return check(pd.DataFrame(made))


def _texts(given: Any, length: int) -> pd.Categorical:
    if isinstance(given, pd.Categorical):
        return given
    if isinstance(given, str):
        return pd.Categorical.from_codes(np.zeros(length, dtype="int8"), categories=pd.Index([given], dtype="object"))
    codes, uniques = pd.factorize(np.asarray(given, dtype="object"))
    return pd.Categorical.from_codes(codes, categories=pd.Index(uniques, dtype="object"))


def constant_text(text: str, length: int) -> pd.Categorical:
    """Return a text column that holds `text` in every row."""
    return _texts(text, length)


def check(frame: pd.DataFrame, where: str = "samples") -> pd.DataFrame:
    """Return `frame` if it keeps the schema, else raise `UserError` that names the column, the row and the mend."""
    params = param_columns(frame)
    expected = columns(params)
    if list(frame.columns) != expected:
        missing = [c for c in expected if c not in frame.columns]
        extra = [c for c in frame.columns if c not in expected]
        raise UserError(
            where,
            f"not a samples table: missing columns {missing}, unknown columns {extra}"
            if missing or extra
            else "the columns of the samples table stand in another order",
            "write the table again with this version of reportgen",
        )
    if frame["value"].dtype != np.dtype("float64"):
        what = f"column 'value' holds {frame['value'].dtype}, not float64"
        raise UserError(where, what, "give numbers in base units")
    for name in INTEGERS:
        if frame[name].dtype != pd.Int64Dtype():
            raise UserError(where, f"column '{name}' holds {frame[name].dtype}, not Int64", "give whole numbers or NA")
    for name in (*expected[:5], *params, "annotation", "kernel", "metric", "unit", "state", "reason", "source", "text"):
        if frame[name].isna().any():
            row = int(np.flatnonzero(frame[name].isna().to_numpy())[0])
            raise UserError(where, f"column '{name}' is empty (not a text) in row {row}", "give the empty text instead")
    _check_rows(frame, where)
    return frame


def _check_rows(frame: pd.DataFrame, where: str) -> None:
    known = frame["state"].isin(STATES).to_numpy()
    reason = (frame["reason"] == "").to_numpy()
    ok = (frame["state"] == "ok").to_numpy()
    value = ~np.isnan(frame["value"].to_numpy())
    text = (frame["text"] != "").to_numpy()
    rules = (
        (~known, f"state is not one of {', '.join(STATES)}"),
        (known & ~ok & reason, "a state that is not ok has no reason"),
        (ok & ~reason, "a sample that is ok has a reason"),
        (~ok & value, "a sample that is not ok has a value"),
        (value & text, "a sample has both a number and a text"),
        ((frame["metric"] == "").to_numpy(), "the metric has no name"),
        ((frame["source"] == "").to_numpy(), "the sample has no source"),
    )
    for broken, what in rules:
        if broken.any():
            row = int(np.flatnonzero(broken)[0])
            raise UserError(where, f"row {row}: {what}", "the file was changed by hand or by another program")


def concat(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Join samples tables; a parameter that one of them lacks is empty there."""
    if not frames:
        return make({"value": []}, 0)
    params: list[str] = []
    for frame in frames:
        params += [p for p in param_columns(frame) if p not in params]
    order = columns(params)
    data: dict[str, Any] = {}
    for name in order:
        parts = [f[name] if name in f.columns else pd.Series([""] * len(f), dtype="object") for f in frames]
        if name in INTEGERS:
            data[name] = pd.concat([p.astype("Int64") for p in parts], ignore_index=True).array
        elif name == "value":
            data[name] = np.concatenate([p.to_numpy(dtype="float64") for p in parts])
        else:
            data[name] = np.concatenate([np.asarray(p, dtype="object") for p in parts])
    return make(data, sum(len(f) for f in frames))


def launches(frame: pd.DataFrame) -> int:
    """Count the profiled launches: a place among a run's kernels counts once, however many rows and sources it has."""
    place = [*BEFORE_PARAMS, *param_columns(frame), "annotation", "run", "kernel_index", "kernel"]
    return len(frame.loc[of_kernels(frame), place].drop_duplicates())


def of_kernels(frame: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Tell for each row whether it is of a kernel (under torch: of an operator): not a span, a copy or a suite's own value.

    A foreign table may name kernels without their place.
    """
    named = (frame["kernel"] != "") & ~(frame["kernel"].str.startswith("[").fillna(value=False))
    return (frame["kernel_index"].notna() | named).to_numpy(dtype=bool)


def split_constants(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Take out the metrics that hold one value over all launches of a report: device attributes and the like.

    Returns `(raw, constants)`. A constant's source ends in `/*` in place of the launch; `expand` brings every row back.
    Nothing is taken out of a report with a single launch, or where a launch would be left without rows.
    """
    codes, sources, reports = _launches(frame)
    metrics, names = pd.factorize(frame["metric"].astype("object"))
    of_machine = np.array([not n.startswith(_OF_A_LAUNCH) and "." not in n for n in names], dtype=bool)
    spread = np.array([bool(report) for report in reports], dtype=bool)
    candidate = spread[codes] & of_machine[metrics] if len(frame) else np.zeros(0, dtype=bool)
    if not candidate.any():
        return frame, frame.iloc[:0]
    report_of, known_reports = pd.factorize(np.asarray(reports, dtype="object"))
    total = np.bincount(report_of, minlength=len(known_reports))
    uneven = _uneven(codes, len(sources), [_codes(frame[name]) for name in _launch_columns(frame)])
    broken = np.bincount(report_of, weights=uneven, minlength=len(known_reports)) > 0

    rows = np.flatnonzero(candidate)
    key = report_of[codes[rows]].astype(np.int64) * len(names) + metrics[rows]
    keys, first, group = np.unique(key, return_index=True, return_inverse=True)
    size = np.bincount(group)
    varies = _uneven(group, len(keys), [_codes(frame[name])[rows] for name in _MEASURED])
    pair = codes[rows].astype(np.int64) * len(names) + metrics[rows]
    once = np.bincount(group[np.unique(pair, return_index=True)[1]], minlength=len(keys)) == size
    its_report = keys // len(names)
    constant = ~varies & once & (size == total[its_report]) & (size > 1) & ~broken[its_report]
    bare = _bare(codes, rows[constant[group]], report_of, len(known_reports))
    constant &= ~bare[its_report]

    taken = np.zeros(len(frame), dtype=bool)
    taken[rows[constant[group]]] = True
    kept = np.sort(rows[first[constant]])
    constants = frame.iloc[kept].reset_index(drop=True)
    constants["source"] = _texts([reports[code] for code in codes[kept]], len(kept))
    for name in ("run", "kernel_index"):
        constants[name] = pd.array([pd.NA] * len(kept), dtype="Int64")
    for name in ("annotation", "kernel", *param_columns(frame)):
        constants[name] = _texts("", len(kept))
    return frame[~taken].reset_index(drop=True), constants


def expand(raw: pd.DataFrame, constants: pd.DataFrame) -> pd.DataFrame:
    """Spread each constant over all launches of its report: the inverse of `split_constants`, ordered by launch.

    Raises `UserError` where a constant's report has no launches in `raw`.
    """
    if constants.empty:
        return raw
    codes, sources, reports = _launches(raw)
    first = np.full(len(sources), len(raw), dtype=np.int64)
    np.minimum.at(first, codes, np.arange(len(raw)))
    launches: dict[str, list[int]] = {}
    for code, report in enumerate(reports):
        launches.setdefault(report, []).append(code)
    of_launch: list[int] = []
    of_constant: list[int] = []
    for row, report in enumerate(constants["source"].astype("object")):
        if report not in launches:
            raise UserError(report, "constants of a report without launches", "take the bundle from a copy")
        of_launch += launches[report]
        of_constant += [row] * len(launches[report])
    spread = raw.iloc[first[of_launch]].reset_index(drop=True)
    for name in _MEASURED:
        spread[name] = constants[name].iloc[of_constant].array
    both = concat([raw, spread[list(raw.columns)]])
    order = np.concatenate([codes, np.asarray(of_launch, dtype=codes.dtype)])
    return both.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)


def _launch_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns that say which launch a row is of; every row of a launch must agree in them."""
    return [*BEFORE_PARAMS, *param_columns(frame), "annotation", "run", "kernel_index", "kernel"]


def _launches(frame: pd.DataFrame) -> tuple[_Codes, list[str], list[str]]:
    """Return a number for each row's source, in order of appearance, each source, and the report that it is of.

    The report is empty for a source that is not of the form PATH#RANGE/LAUNCH: only those can be spread again.
    """
    codes, sources = pd.factorize(frame["source"].astype("object"))
    reports = [s.rsplit("/", 1)[0] + "/*" if _LAUNCH.search(s) else "" for s in sources]
    return codes, list(sources), reports


def _codes(column: pd.Series[Any]) -> _Codes:
    """Return a number for each value such that equal values, and only they, have the same: NaN is NaN, 0 is not -0."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy()
    if column.dtype == np.dtype("float64"):
        values = column.to_numpy()
        return np.where(np.isnan(values), np.nan, values).view(np.int64)
    codes: _Codes = pd.factorize(column)[0]
    return codes


def _uneven(group: _Codes, count: int, columns: list[_Codes]) -> npt.NDArray[np.bool_]:
    """Say for each of `count` groups whether its rows differ in one of `columns`."""
    first = np.zeros(count, dtype=np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    differs = np.zeros(len(group), dtype=bool)
    for column in columns:
        differs |= column != column[first[group]]
    return np.bincount(group[differs], minlength=count) > 0


def _bare(codes: _Codes, taken: _Codes, report_of: _Codes, count: int) -> npt.NDArray[np.bool_]:
    """Say for each of `count` reports whether a launch of it would be left without rows."""
    left = np.bincount(codes, minlength=len(report_of)) - np.bincount(codes[taken], minlength=len(report_of))
    return np.bincount(report_of[left == 0], minlength=count) > 0
