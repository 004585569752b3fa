"""One value for each run: how a metric is combined over the kernels that a region launched.

Times, bytes, counts and elapsed cycles add. Percentages of peak sustained elapsed and rates per second weigh by time.
Minima and maxima take the minimum and the maximum. What describes a launch (registers, grid) or the machine is kept when
all kernels agree. A ratio whose denominator is not there is not combined, and says so.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd

from reportgen.analysis.derive import TIME
from reportgen.evidence.samples import BEFORE_PARAMS, param_columns

Rule = Literal["add", "weigh", "min", "max", "same", "none"]

NOT_COMBINED = "a ratio over several kernels is not combined without its denominator"
DIFFERS = "it differs between the kernels of the region"
NO_TIME = "it weighs by time, and a kernel's time is not known"
_BY_TIME = (".pct_of_peak_sustained_elapsed", ".per_second")
_RATIOS = (".ratio", ".pct", ".per_cycle_active", ".per_cycle_elapsed", ".pct_of_peak_sustained_active", ".max_rate", ".peak_sustained")
_OF_ONE = ("launch__", "device__", "nvlink__", "numa__", "c2clink__", "profiler__", "sm__maximum", "smsp__maximum")


def rule(metric: str) -> Rule:
    """Return how `metric`, by its profiler's own name, combines over several kernels."""
    if "__" not in metric or metric.startswith(_OF_ONE):
        return "same"
    if metric.endswith(_BY_TIME):
        return "weigh"
    if metric.endswith(_RATIOS) or metric.count(".") > 1:
        return "none"
    suffix = metric.rpartition(".")[2]
    if suffix in ("min", "max"):
        return "min" if suffix == "min" else "max"
    return "add" if suffix in ("sum", "avg") else "same"


def per_run(samples: pd.DataFrame) -> pd.DataFrame:
    """Combine a samples table over the kernels of each region; metrics whose value is a word are left out.

    Returns one row for each run and metric: the identity columns, `value`, `unit`, `state`, `reason`, `kernels` (how many),
    `kernel` (their names, joined by `|`), `source` (of the first) and `order` (of the first row in the table).
    """
    worded = (samples["state"] == "ok").to_numpy() & np.isnan(samples["value"].to_numpy())
    samples = samples[~worded] if worded.any() else samples
    keys = [*BEFORE_PARAMS, *param_columns(samples), "annotation", "run", "metric"]
    groups = samples.groupby(keys, observed=True, sort=False, dropna=False)
    number = groups.ngroup().to_numpy()
    count = int(number.max()) + 1 if len(number) else 0
    sizes = np.bincount(number, minlength=count)
    first = _first_rows(number, count)
    columns = [*keys, "value", "unit", "state", "reason", "source", "kernel"]
    out = samples.iloc[first][columns].reset_index(drop=True).astype({"state": "object", "reason": "object", "kernel": "object"})
    out["kernels"] = np.where(out["metric"].astype("object").str.startswith("region__"), 0, sizes)
    out["order"] = first
    several = sizes > 1
    if several.any():
        _combine(samples, number, count, several, out)
    return out


def _first_rows(number: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    first = np.full(count, len(number), dtype=np.int64)
    np.minimum.at(first, number, np.arange(len(number)))
    return first


def _combine(
    samples: pd.DataFrame, number: np.ndarray[Any, Any], count: int, several: np.ndarray[Any, Any], out: pd.DataFrame
) -> None:
    rows = several[number]
    member = number[rows]
    part = samples.loc[rows]
    value = part["value"].to_numpy()
    weight = _times(samples, part)
    metrics = out["metric"].astype("object")
    rules = metrics.map({m: rule(m) for m in metrics.unique()}).to_numpy()
    total = np.bincount(member, value, minlength=count)
    with np.errstate(invalid="ignore", divide="ignore"):
        weighed = np.bincount(member, value * weight, minlength=count) / np.bincount(member, weight, minlength=count)
    low = np.full(count, np.inf)
    high = np.full(count, -np.inf)
    with np.errstate(invalid="ignore"):
        np.minimum.at(low, member, value)
        np.maximum.at(high, member, value)
    same = low == high
    result = np.select(
        [rules == "add", rules == "weigh", rules == "min", rules == "max", (rules == "same") & same],
        [total, weighed, low, high, low],
        np.nan,
    )
    out.loc[several, "value"] = result[several]
    _say_why(part, member, several, rules, same, weighed, out)
    names = part["kernel"].astype("object").groupby(member, sort=True).agg("|".join)
    out.loc[names.index, "kernel"] = names


def _times(samples: pd.DataFrame, part: pd.DataFrame) -> np.ndarray[Any, Any]:
    timed = samples[(samples["metric"] == TIME).to_numpy()]
    times = pd.Series(timed["value"].to_numpy(), index=timed["source"].astype("object").to_numpy())
    times = times[~times.index.duplicated()]
    return part["source"].astype("object").map(times).to_numpy(dtype="float64", na_value=np.nan)


def _say_why(
    part: pd.DataFrame,
    member: np.ndarray[Any, Any],
    several: np.ndarray[Any, Any],
    rules: np.ndarray[Any, Any],
    same: np.ndarray[Any, Any],
    weighed: np.ndarray[Any, Any],
    out: pd.DataFrame,
) -> None:
    """Give each run that has no combined value its state and reason: a kernel's own first."""
    for mask, reason in (
        (rules == "none", NOT_COMBINED),
        ((rules == "same") & ~same, DIFFERS),
        ((rules == "weigh") & np.isnan(weighed), NO_TIME),
    ):
        chosen = several & mask
        out.loc[chosen, ["value", "state", "reason"]] = [np.nan, "dropped", reason]
    bad = (part["state"] != "ok").to_numpy()
    if bad.any():
        worst = part.loc[bad, ["state", "reason"]].astype("object").groupby(member[bad]).first()
        out.loc[worst.index, ["state", "reason"]] = worst.to_numpy()
        out.loc[worst.index, "value"] = np.nan
