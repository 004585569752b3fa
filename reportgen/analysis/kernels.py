"""Single kernels of a region: the mean of each metric over the runs, by the kernel's place among its region's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd

from reportgen.analysis import processed
from reportgen.analysis.groups import Group
from reportgen.analysis.statistics import round_digits
from reportgen.evidence.samples import PARAM, param_columns


@dataclass(frozen=True, slots=True)
class Value:
    """A kernel's mean of one metric with its `source`; `spread` is the deviation over runs."""

    mean: float
    spread: float
    unit: str
    source: str


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel at one place of one annotation and configuration."""

    name: str
    annotation: str
    params: tuple[tuple[str, Any], ...]
    index: int
    metrics: Mapping[str, Value]


def of_group(samples: pd.DataFrame, group: Group, metrics: Sequence[str]) -> tuple[Kernel, ...]:
    """Return the kernels of a group with those of `metrics` that have values, in the order of the samples."""
    identity = {n: getattr(group, n) for n in ("suite", "benchmark", "backend", "workload", "scenario")}
    chosen = samples["metric"].isin(list(metrics)).to_numpy() & (samples["state"] == "ok").to_numpy()
    for name, value in identity.items():
        chosen &= (samples[name] == value).to_numpy()
    part = samples[chosen & samples["kernel_index"].notna().to_numpy()]
    if part.empty:
        return ()
    params = param_columns(samples)
    keys = [*params, "annotation", "kernel_index", "kernel"]
    text = part.astype(dict.fromkeys((*params, "annotation", "kernel", "metric", "unit"), "object"))
    kernels: dict[tuple[Any, ...], dict[str, Value]] = {}
    names: dict[tuple[str, Any], list[str]] = {}  # of the kernels that took one place of a row, each once
    for key, values in text.groupby([*keys, "metric", "unit"], sort=False)["value"]:
        *place, metric, unit = cast("tuple[Any, ...]", key)
        row = processed.row_id([*identity.values(), *place[: len(params)], place[len(params)], metric])
        array = values.to_numpy()
        mean = float(round_digits(np.array([array.mean() if array.min() != array.max() else array[0]]))[0])
        spread = float(array.std(ddof=1)) if len(array) > 1 and array.min() != array.max() else math.nan
        taken = names.setdefault((row, place[-2]), [])
        if place[-1] not in taken:
            taken.append(place[-1])
        which = f"@{n}" if (n := taken.index(place[-1])) else ""
        source = f"{row}/k{place[-2]}{which}.AvgValue"
        kernels.setdefault(tuple(place), {})[metric] = Value(mean, spread, unit, source)
    return tuple(
        Kernel(
            name=key[-1],
            annotation=key[len(params)],
            params=tuple(
                (p.removeprefix(PARAM), processed.decoded(t)) for p, t in zip(params, key, strict=False) if t != ""
            ),
            index=int(key[-2]),
            metrics=found,
        )
        for key, found in kernels.items()
    )
