"""The processed table: one row for each annotation, configuration and metric, per backend, workload and scenario.

The first columns bear nsight-python's names, so that scripts written for it go on working; ours follow. Statistics keep
to the rules of evidence (`statistics`), kernels are combined by the metric's own rule (`combine`), and derived metrics are
evaluated for each run before anything is averaged.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import pandas as pd

from reportgen.analysis import combine, derive, statistics
from reportgen.evidence.errors import UserError
from reportgen.evidence.provenance import Provenance
from reportgen.evidence.samples import PARAM, param_columns

SM_CLOCK = "gpc__cycles_elapsed.avg.per_second"
NO_GEOMETRIC_MEAN = "a ratio that is not above zero has no geometric mean"
_CLOCKS = ("nvml__sm_clock", SM_CLOCK)  # the better one last: it counts the kernel's own cycles
NSIGHT_COLUMNS = (
    *("AvgValue", "StdDev", "MinValue", "MaxValue", "NumRuns", "CI95_Lower", "CI95_Upper", "RelativeStdDevPct"),
    *("StableMeasurement", "Metric", "Unit", "Kernel", "GPU", "Host", "ComputeClock", "MemoryClock"),
)
OUR_COLUMNS = (
    *(
        "Median",
        "Q1",
        "Q3",
        "NumProcesses",
        "SMClockObserved",
        "NumKernels",
        "Backend",
        "Workload",
        "Scenario",
        "State",
    ),
    *("Suite", "Benchmark", "Reason", "Row"),
)
_STATISTICS = {
    "AvgValue": "mean",
    "StdDev": "deviation",
    "MinValue": "low",
    "MaxValue": "high",
    "CI95_Lower": "ci_low",
    "CI95_Upper": "ci_high",
    "Median": "median",
    "Q1": "q1",
    "Q3": "q3",
}
_IDENTITY = ("suite", "benchmark", "backend", "workload", "scenario")
NUMBERS = (
    *_STATISTICS,
    *("NumRuns", "NumProcesses", "NumKernels", "RelativeStdDevPct", "ComputeClock", "MemoryClock", "SMClockObserved"),
)
WORDS = ("Annotation", *(name for name in (*NSIGHT_COLUMNS, *OUR_COLUMNS) if name not in NUMBERS))


class Formula(Protocol):
    """A derived metric as a bundle keeps it."""

    @property
    def metric(self) -> str:
        """Return the derived metric's name."""

    @property
    def formula(self) -> str:
        """Return the arithmetic."""

    @property
    def unit(self) -> str:
        """Return the unit of the result."""

    @property
    def benchmark(self) -> str:
        """Return the benchmark that it is of, empty for all."""


def row_id(identity: Iterable[str]) -> str:
    """Return the first 12 hex digits of the SHA-256 of a row's identity, as a JSON list of texts."""
    text = f"[{', '.join(map(_quoted, identity))}]"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


@lru_cache(maxsize=1 << 16)
def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def keys(frame: pd.DataFrame) -> list[str]:
    """Return the columns of a samples table, or of `runs`, that together are a row's identity."""
    return [*_IDENTITY, *param_columns(frame), "annotation", "metric"]


def row_numbers(frame: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Return for each row of `runs` the number of the row in the processed table that it goes into; likewise for samples."""
    number: np.ndarray[Any, Any] = (
        frame.groupby(keys(frame), observed=True, sort=False, dropna=False).ngroup().to_numpy()
    )
    return number


def operands(formula: Formula) -> list[tuple[str, str]]:
    """Return (metric, annotation) of what a formula reads, `annotation` being empty for the region's own values.

    Parameters may be among the metrics, and `time` is each that it may stand for.
    """
    found: list[tuple[str, str]] = []
    for name in sorted(derive.parse(formula.metric, formula.formula).names):
        metric, annotation = derive.operand(name)
        found += [(one, annotation) for one in (derive.TIMES if metric == "time" else (metric,))]
    return found


def table(
    samples: pd.DataFrame, formulas: Iterable[Formula] = (), provenance: Provenance | None = None
) -> pd.DataFrame:
    """Make the processed table of a samples table; rows keep the order in which their first sample was taken.

    Raises `UserError` when a parameter's name is that of a column.
    """
    return from_runs(runs(samples, formulas, provenance), provenance)


def runs(samples: pd.DataFrame, formulas: Iterable[Formula] = (), provenance: Provenance | None = None) -> pd.DataFrame:
    """Return one row for each run and metric (`combine.per_run`), derived metrics among them.

    A column `geometric` marks ratios of one run's regions, whose mean is the geometric one. Raises `UserError` when a derived metric has the name of another metric.
    """
    formulas = list(formulas)
    measured = combine.per_run(samples)
    measured["geometric"] = False
    names = measured[["benchmark", "metric"]].drop_duplicates().astype("object")
    _check_formulas(formulas, set(names.itertuples(index=False, name=None)))
    derived: list[pd.DataFrame] = []
    for formula in formulas:
        mine = measured
        if formula.benchmark:
            mine = measured[(measured["benchmark"] == formula.benchmark).to_numpy()].reset_index(drop=True)
        if len(mine):
            derived.append(_derive(mine, formula, derived, of_the_machine(provenance)))
    return pd.concat([measured, *derived], ignore_index=True) if derived else measured


def of_the_machine(provenance: Provenance | None) -> dict[str, float]:
    """Return what a formula may know of the GPU; double data rate: two transfers in a clock."""
    if provenance is None:
        return {}
    clock, width = (provenance.get(key).value for key in ("clocks.memory_rated_hz", "gpu.bus_width_bits"))
    if isinstance(clock, int | float) and isinstance(width, int | float):
        return {derive.RATED_BANDWIDTH: 2.0 * clock * width / 8}
    return {}


def from_runs(per_run: pd.DataFrame, provenance: Provenance | None = None) -> pd.DataFrame:
    """Make the processed table from `runs`."""
    params = param_columns(per_run)
    names = [p.removeprefix(PARAM) for p in params]
    check_names(names)
    number = row_numbers(per_run)
    first = np.unique(number, return_index=True)[1]
    head = per_run.iloc[first]
    out: dict[str, Any] = {"Annotation": head["annotation"].astype("object").to_numpy()}
    for param, name in zip(params, names, strict=True):
        texts = head[param].astype("object")
        known = {text: decoded(text) for text in texts.unique()}
        # Values of several types stay what they are: 1 beside 0.5 must not become 1.0.
        mixed = len({type(value) for value in known.values()}) > 1
        out[name] = pd.Series([known[text] for text in texts], dtype="object" if mixed else None)
    count = len(first)
    statistics_, undefined = _statistics(per_run, number, count)
    out |= statistics_
    for name in ("metric", "unit", "kernel"):
        out[name.capitalize()] = head[name].astype("object").to_numpy()
    out |= _machine(provenance)
    out["NumKernels"] = _most(per_run["kernels"].to_numpy(), number, count)
    for name in _IDENTITY:
        out[name.capitalize()] = head[name].astype("object").to_numpy()
    out |= _states(per_run, number, count)
    out["State"][undefined], out["Reason"][undefined] = "dropped", NO_GEOMETRIC_MEAN
    identities = zip(*(head[key].astype("object") for key in keys(per_run)), strict=True)
    out["Row"] = [row_id(identity) for identity in identities]
    frame = pd.DataFrame(out, index=pd.RangeIndex(count))
    frame["SMClockObserved"] = _clock(frame, names)
    return frame[["Annotation", *names, *NSIGHT_COLUMNS, *OUR_COLUMNS]]


def check_names(names: Sequence[str]) -> None:
    """Raise `UserError` when a parameter's name is that of a column."""
    taken = {"Annotation", *NSIGHT_COLUMNS, *OUR_COLUMNS}
    for name in names:
        if name in taken:
            raise UserError(
                None, f"the parameter '{name}' has the name of a column of the processed table", "rename the parameter"
            )


def _check_formulas(formulas: Sequence[Formula], measured: set[tuple[str, str]]) -> None:
    for index, formula in enumerate(formulas):
        known = {*measured, *((other.benchmark, other.metric) for other in formulas[:index])}
        if any(
            metric == formula.metric and (benchmark == formula.benchmark or "" in (benchmark, formula.benchmark))
            for benchmark, metric in known
        ):
            raise UserError(None, f"there are two metrics by the name '{formula.metric}'", "rename the derived metric")


def decoded(text: str) -> Any:
    """Return a parameter's value; what is not a number or a word stays canonical JSON, an absent one is empty.

    The empty word stays `""`, so that it is not taken for an absent one.
    """
    if text == "":
        return ""
    value = json.loads(text)
    return value if isinstance(value, str | int | float | bool) and value != "" else text


def _statistics(
    per_run: pd.DataFrame, number: np.ndarray[Any, Any], count: int
) -> tuple[dict[str, Any], np.ndarray[Any, Any]]:
    """Return the columns of statistics, and for each row whether it is of ratios that have no mean."""
    columns = {name: np.full(count, np.nan) for name in _STATISTICS}
    num_runs = np.zeros(count, dtype=np.int64)
    num_processes = np.zeros(count, dtype=np.int64)
    geometric = np.zeros(count, dtype=bool)
    geometric[number] = per_run["geometric"].to_numpy(dtype=bool)
    undefined = np.zeros(count, dtype=bool)
    for rows, matrix, processes in _layouts(per_run, number):
        found = statistics.summarise_rows(matrix, processes)
        undefined[rows] = _make_geometric(found, matrix, processes, geometric[rows])
        for name, key in _STATISTICS.items():
            columns[name][rows] = found[key]
        num_runs[rows], num_processes[rows] = found["runs"], found["processes"]
    mean, deviation = columns["AvgValue"], columns["StdDev"]
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(deviation == 0, 0.0, np.abs(deviation / mean) * 100)
    relative[~np.isfinite(relative)] = np.nan
    stable = [None if math.isnan(r) else bool(r < statistics.STABLE_BELOW_PCT) for r in relative]
    rounded = {name: statistics.round_digits(column) for name, column in columns.items()}
    rounded["RelativeStdDevPct"] = statistics.round_digits(relative)
    counts = {"NumRuns": num_runs, "NumProcesses": num_processes}
    return {**rounded, **counts, "StableMeasurement": np.array(stable, dtype="object")}, undefined


def _make_geometric(
    found: dict[str, np.ndarray[Any, Any]], matrix: statistics.Array, processes: np.ndarray[Any, Any], chosen: Any
) -> np.ndarray[Any, Any]:
    """Give the chosen rows, which are ratios, the geometric mean, and deviation and interval on their logarithms.

    The deviation is how far one deviation of the logarithms lies above the mean. Returns which rows have no such mean, since
    a value is not above zero: there mean, deviation and interval are not known.
    """
    positive = (matrix > 0).all(axis=1)
    undefined = np.asarray(chosen & ~positive)
    for name in ("mean", "deviation", "ci_low", "ci_high"):
        found[name] = np.where(undefined, np.nan, found[name])
    chosen = chosen & positive
    if chosen.any():
        logs = statistics.summarise_rows(np.log(matrix[chosen]), processes)
        for name in ("mean", "ci_low", "ci_high"):
            found[name][chosen] = np.exp(logs[name])
        found["deviation"][chosen] = found["mean"][chosen] * np.expm1(logs["deviation"])
    return undefined


def _layouts(
    per_run: pd.DataFrame, number: np.ndarray[Any, Any]
) -> Iterator[tuple[np.ndarray[Any, Any], statistics.Array, np.ndarray[Any, Any]]]:
    """Yield the rows that share one layout of runs and processes as matrices of shape (rows, runs)."""
    ok = (per_run["state"] == "ok").to_numpy() & np.isfinite(per_run["value"].to_numpy())
    process = per_run["process"].to_numpy(dtype="int64", na_value=0)[ok]
    run = per_run["run"].to_numpy(dtype="int64", na_value=0)[ok]
    value, group = per_run["value"].to_numpy()[ok], number[ok]
    order = np.lexsort((run, process, group))
    value, group, process = value[order], group[order], process[order]
    rows, starts, sizes = np.unique(group, return_index=True, return_counts=True)
    layouts: dict[tuple[int, bytes], list[int]] = {}
    for index, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        layouts.setdefault((int(size), process[start : start + size].tobytes()), []).append(index)
    for (size, _), members in layouts.items():
        at = starts[members][:, None] + np.arange(size)
        yield rows[members], value[at], process[at[0]]


def _most(values: np.ndarray[Any, Any], number: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    most = np.zeros(count, dtype=np.int64)
    np.maximum.at(most, number, values)
    return most


def _machine(provenance: Provenance | None) -> dict[str, Any]:
    """Give the columns that say where it ran; clocks are the rated ones in kHz, as nsight-python has them."""

    def fact(key: str) -> Any:
        found = provenance.facts.get(key) if provenance is not None else None
        return None if found is None else found.value

    def khz(key: str) -> float | str:
        value = fact(key)  # words where several files state several clocks
        return float(value) / 1000 if isinstance(value, int | float) else ""

    return {
        "GPU": fact("gpu.name") or "",
        "Host": fact("host.name") or "",
        "ComputeClock": khz("clocks.sm_rated_hz"),
        "MemoryClock": khz("clocks.memory_rated_hz"),
    }


def _states(per_run: pd.DataFrame, number: np.ndarray[Any, Any], count: int) -> dict[str, Any]:
    """A row is ok when one of its runs is; runs that are not are counted in its reason."""
    state = np.full(count, "ok", dtype="object")
    reason = np.full(count, "", dtype="object")
    bad = (per_run["state"] != "ok").to_numpy()
    if bad.any():
        total = np.bincount(number, minlength=count)
        missing = np.bincount(number[bad], minlength=count)
        worst = per_run.loc[bad, ["state", "reason"]].astype("object").groupby(number[bad]).first()
        for row, (its_state, its_reason) in zip(worst.index, worst.to_numpy(), strict=True):
            if missing[row] == total[row]:
                state[row], reason[row] = its_state, its_reason
            else:
                reason[row] = f"{missing[row]} of {total[row]} runs {its_state}: {its_reason}"
    return {"State": state, "Reason": reason}


def _clock(frame: pd.DataFrame, params: Sequence[str]) -> np.ndarray[Any, Any]:
    """Return for each row the SM clock in hz that was seen during the same runs, NaN where it was not measured."""
    keys = ["Suite", "Benchmark", "Backend", "Workload", "Scenario", *params, "Annotation"]
    number = frame.astype(dict.fromkeys(keys, "object")).groupby(keys, sort=False, dropna=False).ngroup().to_numpy()
    seen = np.full(int(number.max()) + 1 if len(number) else 0, np.nan)
    for clock in _CLOCKS:
        known = (frame["Metric"] == clock).to_numpy() & frame["AvgValue"].notna().to_numpy()
        seen[number[known]] = frame["AvgValue"].to_numpy()[known]
    return seen[number] if len(number) else np.array([])


def _derive(
    measured: pd.DataFrame, formula: Formula, before: Sequence[pd.DataFrame], machine: Mapping[str, float]
) -> pd.DataFrame:
    """Evaluate one formula for each run; `before` are the derived metrics that stand before it."""
    expression = derive.parse(formula.metric, formula.formula)
    params = param_columns(measured)
    of_run = [*_IDENTITY, "process", *params, "run"]
    number = measured.groupby([*of_run, "annotation"], observed=True, sort=False, dropna=False).ngroup().to_numpy()
    metric = measured["metric"].astype("object")
    first = np.unique(number, return_index=True)[1]
    plain = {name.partition("@")[0] if derive.is_elsewhere(name) else name for name in expression.names}
    needed = (plain - {"time"}) | (set(derive.TIMES) if "time" in plain else set())
    chosen = metric.isin(needed).to_numpy() & (measured["state"] == "ok").to_numpy()
    values = _numbers(measured.iloc[first], params)
    read = zip(number[chosen].tolist(), metric[chosen], measured["value"].to_numpy()[chosen].tolist(), strict=True)
    for group, name, value in read:
        values[group][name] = value
    for known in values:
        timed = next((name for name in derive.TIMES if name in known), None)
        if timed is not None:
            known["time"] = known[timed] / 1e9
        known.update(machine)
    _reach_out(measured.iloc[first], of_run, expression, values, before)
    # The row with most kernels among those that the formula reads says of which the result is; without one the run's first does.
    place = first.copy()
    rows = np.flatnonzero(chosen)
    rows = rows[np.argsort(measured["kernels"].to_numpy()[rows], kind="stable")]
    place[number[rows]] = rows
    results = [_result(expression, known) for known in values]
    # What a suite recorded outside of a region is of no kernel, and no formula speaks of it.
    speaks = np.zeros(len(first), dtype=bool)
    speaks[number[metric.isin([*needed, *derive.TIMES]).to_numpy() | (measured["kernel"] != "").to_numpy()]] = True
    out = measured.iloc[place].copy().reset_index(drop=True)
    out = out.astype({"metric": "object", "unit": "object", "state": "object", "reason": "object"})
    out["metric"], out["unit"], out["state"], out["reason"] = formula.metric, formula.unit, "ok", ""
    out["geometric"] = expression.paired
    out["value"] = [value for value, _ in results]
    untimed = (metric.isin(derive.TIMES) & (measured["state"] != "ok")).to_numpy()
    told = dict(
        zip(number[untimed].tolist(), measured.loc[untimed, ["state", "reason"]].to_numpy().tolist(), strict=True)
    )
    backends = out["backend"].astype("object")
    for row, (_, reason) in enumerate(results):
        if reason:  # a region that failed or was skipped says why itself
            lacks = _unread(expression, values[row], str(backends[row]))
            said = ["skipped", f"the formula needs {', '.join(lacks)}, which {backends[row]} does not read"]
            out.loc[row, ["state", "reason"]] = told.get(row, said if lacks else ["dropped", reason])
    return out[speaks].reset_index(drop=True)


def _reach_out(
    heads: pd.DataFrame,
    of_run: Sequence[str],
    expression: derive.Expression,
    values: Sequence[dict[str, float]],
    before: Sequence[pd.DataFrame],
) -> None:
    """Add to each region's values those that its formula reads elsewhere: in the run's other regions, in all runs."""
    paired = [name for name in expression.names if derive.is_elsewhere(name)]
    if paired:
        run = heads.groupby(list(of_run), observed=True, sort=False, dropna=False).ngroup().to_numpy().tolist()
        annotations = heads["annotation"].astype("object").tolist()
        known: dict[tuple[int, str], float] = {}
        for number, annotation, its in zip(run, annotations, values, strict=True):
            known |= {(number, derive.elsewhere(name, annotation)): value for name, value in its.items()}
        for number, its in zip(run, values, strict=True):
            its |= {name: known[number, name] for name in paired if (number, name) in known}
    for frame in before:
        name = derive.highest(str(frame["metric"].iloc[0])) if len(frame) else ""
        if name in expression.names:
            best = _highest(frame)
            keys = zip(*(heads[key].astype("object") for key in _IDENTITY), strict=True)
            for key, its in zip(keys, values, strict=True):
                if key in best:
                    its[name] = best[key]


def _highest(frame: pd.DataFrame) -> dict[tuple[Any, ...], float]:
    """Return for each benchmark, backend, workload and scenario the highest mean over runs of a derived metric."""
    ok = frame[(frame["state"] == "ok").to_numpy()]
    keys = [*_IDENTITY, *param_columns(frame), "annotation"]
    ok = ok.astype(dict.fromkeys(keys, "object"))
    means = ok.groupby(keys, sort=False, dropna=False)["value"].mean().reset_index()
    found: dict[tuple[Any, ...], float] = {}
    for row in means.itertuples(index=False):
        key = tuple(row[: len(_IDENTITY)])
        found[key] = max(found.get(key, -math.inf), float(row[-1]))
    return found


def _numbers(rows: pd.DataFrame, params: Sequence[str]) -> list[dict[str, float]]:
    """Return for each row the parameters that are numbers; the word `time` is the kernels' time, never a parameter."""
    found: list[dict[str, float]] = [{} for _ in range(len(rows))]
    for param in params:
        name = param.removeprefix(PARAM)
        texts = rows[param].astype("object")
        known = {text: decoded(text) for text in texts.unique()}
        if name == "time":
            continue
        for values, text in zip(found, texts, strict=True):
            if isinstance(value := known[text], int | float):
                values[name] = float(value)
    return found


def _unread(expression: derive.Expression, known: Mapping[str, float], backend: str) -> list[str]:
    """Return the hardware counters that a formula lacks because its row's backend never reads any."""
    if backend == "ncu":
        return []
    return sorted(name for name in expression.names - known.keys() if "__" in name and name not in derive.TIMES)


def _result(expression: derive.Expression, known: dict[str, float]) -> tuple[float, str]:
    missing = sorted(expression.names - known.keys())
    if missing:
        return math.nan, f"the formula needs {', '.join(missing)}, which this run does not have"
    value = expression(known)
    return value, "" if not math.isnan(value) else "the formula has no value here"
