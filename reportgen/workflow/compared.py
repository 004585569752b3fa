"""Hold a bundle's tables to each other: the samples to what the raw files give, the processed table to what the samples give."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reportgen.analysis.statistics import same, same_cell
from reportgen.evidence import samples, tables
from reportgen.evidence.bundle import Bundle
from reportgen.evidence.errors import BundleError
from reportgen.evidence.samples import PARAM

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """A row of one of a bundle's tables that differs from what its evidence gives."""

    file: str
    row: str  # what tells the row to a person
    what: str


@dataclass(frozen=True)
class Held:
    """Rows that were held against their evidence: how many are equal, and how each other differs."""

    equal: int
    differences: tuple[Difference, ...]
    unread: tuple[str, ...] = ()  # metrics that this version reads and the one that made the bundle did not


def known(bundle: Bundle, frame: pd.DataFrame) -> pd.DataFrame:
    """Return those of the samples in `frame` whose metric the bundle's own tables have under their backend and scenario."""
    kept = bundle.samples()
    columns = ["backend", "scenario", "metric"]
    has = set(kept[columns].drop_duplicates().astype("object").itertuples(index=False, name=None))
    rows = zip(*(frame[column].astype("object") for column in columns), strict=True)
    return frame[np.array([row in has for row in rows], dtype=bool)].reset_index(drop=True)


def samples_held(bundle: Bundle, frame: pd.DataFrame) -> Held:
    """Hold each row of the bundle's samples to `frame`, what its raw files give."""
    mine = known(bundle, frame)
    unread = sorted(set(frame["metric"].astype("object")) - set(mine["metric"].astype("object")))
    equal, found = 0, list[Difference]()
    given, kept = dict(_by_pair(mine)), dict(_by_pair(bundle.samples()))
    for pair in sorted({*given, *kept}):
        file = _file(bundle, pair, "raw.csv")
        one, other = (part.get(pair, mine.iloc[:0]) for part in (kept, given))
        if not one.empty and _all_equal(one, other):
            equal += len(one)
            continue
        differences = list(_rows_differ(file, one, other))
        equal += max(0, len(one) - len(differences))
        found += differences
    return Held(equal, tuple(found), tuple(unread))


def _by_pair(frame: pd.DataFrame) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    """Yield the samples of each backend and scenario, in the order in which a bundle keeps them."""
    for pair, part in frame.groupby(["backend", "scenario"], observed=True, sort=True):
        yield (str(pair[0]), str(pair[1])), samples.expand(*samples.split_constants(part.reset_index(drop=True)))


def _all_equal(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    if len(one) != len(other) or set(one.columns) != set(other.columns):
        return False
    for name in one.columns:
        mine, theirs = one[name], other[name]
        if name == "value":
            if not np.array_equal(mine.to_numpy(), theirs.to_numpy(), equal_nan=True):
                return False
        elif name in samples.INTEGERS:
            numbers = [column.to_numpy(dtype="float64", na_value=np.nan) for column in (mine, theirs)]
            if not np.array_equal(numbers[0], numbers[1], equal_nan=True):
                return False
        elif not (mine.astype("object").to_numpy() == theirs.astype("object").to_numpy()).all():
            return False
    return True


def _rows_differ(file: str, one: pd.DataFrame, other: pd.DataFrame) -> Iterator[Difference]:
    """Name each row that only one of two tables has, or in which they differ; a row is known by its place and metric."""
    mine, theirs = _rows(one), _rows(other)
    for key, row in mine.items():
        source, metric, _ = key
        name = _name(row)
        if key not in theirs:
            yield Difference(file, name, f"it has {metric} at {source}, which the raw evidence does not give")
            continue
        given = theirs[key]
        if not same(_value(row["value"]), _value(given["value"])):
            yield Difference(
                file, name, f"its value is {_shown(row['value'])}, and {source} gives {_shown(given['value'])}"
            )
            continue
        for column in row:
            if column != "value" and _plain(row[column]) != _plain(given.get(column, "")):
                what = f"its {column} is '{_plain(row[column])}', and {source} gives '{_plain(given.get(column, ''))}'"
                yield Difference(file, name, what)
                break
    for key, row in theirs.items():
        if key not in mine:
            source, metric, _ = key
            yield Difference(file, _name(row), f"it lacks {metric} at {source}, which is {_shown(row['value'])}")


def _rows(frame: pd.DataFrame) -> dict[tuple[str, str, int], Row]:
    """Return the rows of a samples table by place, metric, and which of those that agree in both."""
    found: dict[tuple[str, str, int], Row] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for row in frame.astype("object").to_dict("records"):
        place = (str(row["source"]), str(row["metric"]))
        found[*place, seen[place]] = {str(name): value for name, value in row.items()}
        seen[place] += 1
    return found


def _plain(value: Any) -> str:
    return "" if value is pd.NA or value is None else str(value)


def _value(value: Any) -> float:
    return math.nan if value is pd.NA or value is None else float(value)


def _shown(value: Any) -> str:
    number = _value(value)
    return "no value" if math.isnan(number) else f"{number:.12g}"


def _name(row: Row) -> str:
    """Return what tells a sample to a person."""
    params = [f"{n.removeprefix(PARAM)} = {v}" for n, v in row.items() if n.startswith(PARAM) and v]
    words = [str(row["benchmark"]), str(row["annotation"]), *params, str(row["metric"])]
    words += [f"{name} {row[name]}" for name in ("process", "run") if row[name] is not pd.NA]
    return ", ".join(word for word in words if word)


def _file(bundle: Bundle, pair: tuple[str, str], name: str) -> str:
    path = f"data/samples/{pair[0]}/{pair[1]}/{name}"
    return (
        path
        if path in bundle.digests or f"{path}{tables.COMPRESSED}" not in bundle.digests
        else f"{path}{tables.COMPRESSED}"
    )


def processed_held(bundle: Bundle, table: pd.DataFrame) -> Held:
    """Hold each row of the processed tables that a bundle keeps to `table`, what its samples give."""
    equal, found = 0, list[Difference]()
    for pair, part in table.groupby(["Backend", "Scenario"], sort=True):
        file = _file(bundle, (str(pair[0]), str(pair[1])), "processed.csv")
        if file not in bundle.digests:
            found.append(Difference(file, "", "it is not there"))
            continue
        data = bundle.read(file)
        kept = _by_row(tables.inflate(data, file) if file.endswith(tables.COMPRESSED) else data, file)
        given = _by_row(tables.frame_to_csv(part), file)
        for row in dict.fromkeys((*kept, *given)):
            what = _cells_differ(kept.get(row), given.get(row))
            if what:
                found.append(Difference(file, f"{row} ({_label(kept.get(row) or given[row])})", what))
            else:
                equal += 1
    return Held(equal, tuple(found))


def _by_row(data: bytes, where: str) -> dict[str, dict[str, str]]:
    """Return the rows of a processed table by their id; raises `BundleError` for what is none."""
    head, *lines = tables.csv_rows(data, where)
    if "Row" not in head:
        raise BundleError(where, "line 1 is not the header of a processed table: it has no column 'Row'")
    return {line[head.index("Row")]: dict(zip(head, line, strict=True)) for line in lines}


def _label(row: Mapping[str, str]) -> str:
    return ", ".join(filter(None, (row.get("Benchmark", ""), row.get("Annotation", ""), row.get("Metric", ""))))


def _cells_differ(kept: Mapping[str, str] | None, given: Mapping[str, str] | None) -> str:
    """Say in which columns two rows differ, nothing where they are equal; a column that one lacks is not compared."""
    if kept is None or given is None:
        return "it is not in the samples" if given is None else "it is not there"
    wrong = [name for name in kept if name in given and not same_cell(kept[name], given[name])]
    said = [f"{name} is {kept[name] or 'empty'}, and the samples give {given[name] or 'nothing'}" for name in wrong]
    return "; ".join(said)
