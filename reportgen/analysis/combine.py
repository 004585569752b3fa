"""One value for each run: how a metric is combined over the kernels that a region launched.

Times, bytes, counts and elapsed cycles add. Percentages of peak sustained elapsed and rates per second weigh by time.
Minima and maxima take the minimum and the maximum. What describes a launch (registers, grid) or the machine is kept when
all kernels agree. A ratio whose denominator is not there is not combined, and says so.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from reportgen.analysis.derive import TIME
from reportgen.evidence.samples import BEFORE_PARAMS, of_kernels, param_columns

Rule = Literal["add", "weigh", "min", "max", "same", "none"]
_Numbers = npt.NDArray[Any]

NOT_COMBINED = "a ratio over several kernels is not combined without its denominator"
DIFFERS = "it differs between the kernels of the region"
NO_TIME = "it weighs by time, and a kernel's time is not known"
IGNORED = "the suite ignores this kernel"
PARTIAL = "not every kernel of the region has it"
_TORCH_SUMS = (
    "self_cpu_time_total",
    "self_device_time_total",
    "self_memory_usage",
    "calls",
)  # torch.profiler's own names
_BY_TIME = (".pct_of_peak_sustained_elapsed", ".per_second")
_RATIOS = (
    ".ratio",
    ".pct",
    ".per_cycle_active",
    ".per_cycle_elapsed",
    ".pct_of_peak_sustained_active",
    ".max_rate",
    ".peak_sustained",
)
# What passes passes for every unit alike: its least and its greatest add up as it does.
_PASSING = ("__time_duration", "__cycles_elapsed")
# Names of these beginnings describe a launch or the machine; ncu has them in every report.
OF_ONE = ("launch__", "device__", "nvlink__", "numa__", "c2clink__", "profiler__", "sm__maximum", "smsp__maximum")


def rule(metric: str) -> Rule:
    """Return how `metric`, by its profiler's own name, combines over several kernels."""
    if metric in _TORCH_SUMS:
        return "add"
    if "__" not in metric or metric.startswith(OF_ONE):
        return "same"
    if metric.endswith(_BY_TIME):
        return "weigh"
    if metric.endswith(_RATIOS) or metric.count(".") > 1:
        return "none"
    base, _, suffix = metric.rpartition(".")
    if suffix in ("min", "max") and not base.endswith(_PASSING):
        return "min" if suffix == "min" else "max"
    return "add" if suffix in ("sum", "avg", "min", "max") else "same"


def per_run(samples: pd.DataFrame) -> pd.DataFrame:
    """Combine a samples table over the kernels of each region; metrics whose value is a word are left out.

    Returns one row for each run and metric: the identity columns, `value`, `unit`, `state`, `reason`, `kernels` (how many,
    none for what is of no kernel, such as a span, a clock, a copy or a value of the suite's own), `kernel` (their names, joined by `|`), `source` (of the first) and `order` (of the first row in the table).
    """
    samples = _without_ignored(samples)
    worded = (samples["state"] == "ok").to_numpy() & np.isnan(samples["value"].to_numpy())
    samples = samples[~worded] if worded.any() else samples
    keys = [*BEFORE_PARAMS, *param_columns(samples), "annotation", "run", "metric"]
    number, count = _numbered(samples, keys)
    sizes = np.bincount(number, minlength=count)
    first = _first_rows(number, count)
    columns = [*keys, "value", "unit", "state", "reason", "source", "kernel"]
    out = samples.iloc[first][columns].reset_index(drop=True)
    out = out.astype({"state": "object", "reason": "object", "kernel": "object"})
    names = out["metric"].astype("object")
    known = {metric: rule(metric) for metric in names.unique()}
    rules = names.map(known).to_numpy(dtype="object")
    out["kernels"] = np.bincount(number, of_kernels(samples), minlength=count).astype(np.int64)
    out["order"] = first
    region, regions = _numbered(out, keys[:-1])
    launch = _launches(samples, region[number])
    several = sizes > 1
    if several.any():
        _combine(samples, number, several, rules, launch, out)
    _drop_partial(out, rules, number, launch, region, regions)
    return out


def _without_ignored(samples: pd.DataFrame) -> pd.DataFrame:
    """Leave out the kernels that the suite ignores, wherever their region has others; alone, they say that it has none."""
    ignored = (samples["reason"] == IGNORED).to_numpy()
    if not ignored.any():
        return samples
    number, count = _numbered(samples, [*BEFORE_PARAMS, *param_columns(samples), "annotation", "run", "metric"])
    others = np.bincount(number[~ignored], minlength=count) > 0
    return samples[~(ignored & others[number])].reset_index(drop=True)


def _numbered(frame: pd.DataFrame, keys: list[str]) -> tuple[_Numbers, int]:
    """Number the groups of rows that agree in `keys`."""
    number: _Numbers = frame.groupby(keys, observed=True, sort=False, dropna=False).ngroup().to_numpy()
    return number, int(number.max()) + 1 if len(number) else 0


def _first_rows(number: _Numbers, count: int) -> _Numbers:
    first = np.full(count, len(number), dtype=np.int64)
    np.minimum.at(first, number, np.arange(len(number)))
    return first


def _launches(samples: pd.DataFrame, region: _Numbers) -> _Numbers:
    """Number each row's launch: its region and its place there; -1 for what is of no single kernel."""
    index = samples["kernel_index"].to_numpy(dtype="int64", na_value=-1)
    codes = pd.factorize(region * (int(index.max(initial=0)) + 1) + index)[0]
    return np.where(index < 0, -1, codes)


def _drop_partial(
    out: pd.DataFrame, rules: _Numbers, number: _Numbers, launch: _Numbers, region: _Numbers, regions: int
) -> None:
    """Drop what only some kernels of a region have: a part of a sum is not the sum."""
    rows = np.flatnonzero(launch >= 0)
    launches, first = np.unique(launch[rows], return_index=True)
    of_region = np.bincount(region[number[rows[first]]], minlength=regions)
    if not len(launches) or of_region.max() < 2:
        return
    having = np.bincount(number[rows], minlength=len(out))
    partial = (having > 0) & (having < of_region[region]) & (rules != "same") & (out["state"] == "ok").to_numpy()
    out.loc[partial, "value"] = np.nan
    out.loc[partial, "state"] = "dropped"
    out.loc[partial, "reason"] = PARTIAL


def _combine(
    samples: pd.DataFrame, number: _Numbers, several: _Numbers, rules: _Numbers, launch: _Numbers, out: pd.DataFrame
) -> None:
    rows = several[number]
    member = number[rows]
    count = len(out)
    part = samples.loc[rows]
    value = part["value"].to_numpy()
    weight = _times(samples, launch)[rows]
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


def _times(samples: pd.DataFrame, launch: _Numbers) -> npt.NDArray[np.float64]:
    """Return for each row the time of its launch, NaN where it is not known."""
    timed = (samples["metric"] == TIME).to_numpy() & (launch >= 0)
    times = np.full(int(launch.max(initial=-1)) + 2, np.nan)
    times[launch[timed]] = samples["value"].to_numpy()[timed]
    return np.where(launch >= 0, times[launch], np.nan)


def _say_why(
    part: pd.DataFrame,
    member: _Numbers,
    several: _Numbers,
    rules: _Numbers,
    same: _Numbers,
    weighed: _Numbers,
    out: pd.DataFrame,
) -> None:
    """Give each run that has no combined value its state and reason: a kernel's own first."""
    for mask, reason in (
        (rules == "none", NOT_COMBINED),
        ((rules == "same") & ~same, DIFFERS),
        ((rules == "weigh") & np.isnan(weighed), NO_TIME),
    ):
        chosen = several & mask
        out.loc[chosen, "value"] = np.nan
        out.loc[chosen, "state"] = "dropped"
        out.loc[chosen, "reason"] = reason
    bad = (part["state"] != "ok").to_numpy()
    if bad.any():
        worst = part.loc[bad, ["state", "reason"]].astype("object").groupby(member[bad]).first()
        out.loc[worst.index, ["state", "reason"]] = worst.to_numpy()
        out.loc[worst.index, "value"] = np.nan
