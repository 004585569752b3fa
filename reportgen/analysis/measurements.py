"""The samples of one bundle and all that analysis makes of them, each made once and when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from reportgen.analysis import groups, processed
from reportgen.analysis.groups import Group, Runs
from reportgen.evidence.bundle import BundleInfo
from reportgen.evidence.provenance import Provenance
from reportgen.evidence.samples import RECORDED
from reportgen.evidence.sensed import NOTHING, Sensed


class Measurements:
    """A bundle's samples, what it says of itself, its provenance, and what was sensed while it was measured."""

    def __init__(
        self, samples: pd.DataFrame, info: BundleInfo, provenance: Provenance, sensed: Sensed = NOTHING
    ) -> None:
        self.samples, self.info, self.provenance, self.sensed = samples, info, provenance, sensed

    @cached_property
    def per_run(self) -> pd.DataFrame:
        """Return one row for each run and metric, derived metrics among them."""
        return processed.runs(self.samples, self.info.formulas, self.provenance)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Return the processed table."""
        return processed.from_runs(self.per_run, self.provenance)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Return the groups, in the order of the table."""
        return groups.gather(self.per_run, self.table)

    def row(self, row: str) -> Mapping[str, Any]:
        """Return the cells of a row of the processed table; raises `KeyError` where there is no such row."""
        index = self._at[row]
        return {name: column[index] for name, column in self._cells.items()}

    def runs(self, row: str) -> Runs:
        """Return the values of a row's single runs by process and run; raises `KeyError` where there is no such row."""
        rows = self._runs_of[self._at[row]]
        part = self.per_run.iloc[rows[(self.per_run["state"].iloc[rows] == "ok").to_numpy()]]
        process = part["process"].to_numpy(dtype="int64", na_value=0).tolist()
        run = part["run"].to_numpy(dtype="int64", na_value=0).tolist()
        return dict(zip(zip(process, run, strict=True), part["value"].tolist(), strict=True))

    def samples_of(self, row: str) -> pd.DataFrame:
        """Return the samples of a row of the processed table, in their order; a derived metric has none of its own."""
        return self.samples.iloc[self._samples_of.get(row, _NONE)]

    def places_of(self, row: str) -> list[str]:
        """Return the places in the evidence of a row's samples, in their order."""
        return list(self._places[self._samples_of.get(row, _NONE)])

    def reads(self, row: str) -> tuple[str, ...]:
        """Return the rows that the formula of a derived metric's row reads; none for a metric that was measured."""
        cells = self.row(row)
        formula = next(
            (f for f in self.info.formulas if f.metric == cells["Metric"] and f.benchmark in ("", cells["Benchmark"])),
            None,
        )
        if formula is None:
            return ()
        identity = dict(zip(self._keys, self._identities[self._at[row]], strict=True))
        found = []
        for metric, annotation in processed.operands(formula):
            asked = {**identity, "metric": metric, "annotation": annotation or identity["annotation"]}
            found.append(processed.row_id(asked.values()))
        return tuple(row for row in dict.fromkeys(found) if row in self._at)

    @cached_property
    def recorded(self) -> frozenset[str]:
        """Return the rows whose values a function of the suite gave, and those made of them: a bundle's code is never run again."""
        if not any(str(place).startswith(RECORDED) for place in self.per_run["source"].unique()):
            return frozenset()
        own = self.per_run["source"].astype("object").str.startswith(f"{RECORDED}#").to_numpy(dtype=bool)
        names = set(zip(self.per_run.loc[own, "benchmark"], self.per_run.loc[own, "metric"], strict=True))
        for formula in self.info.formulas:
            names |= {
                (benchmark, formula.metric)
                for benchmark, _ in tuple(names)
                if formula.benchmark in ("", benchmark)
                and {metric for metric, _ in processed.operands(formula)} & {m for of, m in names if of == benchmark}
            }
        found = zip(self.table["Row"], self.table["Benchmark"], self.table["Metric"], strict=True)
        return frozenset(row for row, benchmark, metric in found if (benchmark, metric) in names)

    @cached_property
    def _at(self) -> dict[str, int]:
        return {row: index for index, row in enumerate(self.table["Row"])}

    @cached_property
    def _cells(self) -> dict[str, list[Any]]:
        return {str(name): self.table[name].tolist() for name in self.table.columns}

    @cached_property
    def _places(self) -> np.ndarray[Any, Any]:
        places: np.ndarray[Any, Any] = self.samples["source"].astype("object").to_numpy()
        return places

    @cached_property
    def _keys(self) -> list[str]:
        return processed.keys(self.per_run)

    @cached_property
    def _identities(self) -> list[tuple[str, ...]]:
        head = self.per_run.iloc[[rows[0] for rows in self._runs_of]]
        return list(zip(*(head[key].astype("object") for key in self._keys), strict=True))

    @cached_property
    def _runs_of(self) -> list[np.ndarray[Any, Any]]:
        """Return the rows of `per_run` for each row of the processed table."""
        number = processed.row_numbers(self.per_run)
        return np.split(np.argsort(number, kind="stable"), np.cumsum(np.bincount(number))[:-1])

    @cached_property
    def _samples_of(self) -> dict[str, np.ndarray[Any, Any]]:
        if self.samples.empty:
            return {}
        keys = processed.keys(self.samples)
        number = processed.row_numbers(self.samples)
        parts = np.split(np.argsort(number, kind="stable"), np.cumsum(np.bincount(number))[:-1])
        head = self.samples.iloc[[part[0] for part in parts]]
        identities = zip(*(head[key].astype("object") for key in keys), strict=True)
        return {processed.row_id(identity): part for identity, part in zip(identities, parts, strict=True)}


_NONE = np.array([], dtype=np.int64)
