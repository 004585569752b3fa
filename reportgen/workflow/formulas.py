"""The formulas of a suite: read and checked before anything is measured, and held against what was measured.

A name that a formula cannot find makes its values `dropped`; here it is told on the spot, with the names that are near.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import pandas as pd

from reportgen.analysis import combine, derive
from reportgen.collect import ncu
from reportgen.collect.plan import PlannedBenchmark, SuitePlan
from reportgen.evidence.bundle import Formula
from reportgen.evidence.errors import UserError
from reportgen.readers import cupti_activity, runs, torch_trace

_OF_TORCH = (torch_trace.SELF_TIME, torch_trace.DEVICE_TIME, torch_trace.MEMORY, torch_trace.CALLS)
_OF_CUPTI = (cupti_activity.SPAN, cupti_activity.COPIES)
_SENSED = tuple(metric for metric, _ in runs.SENSED.values())
_ALWAYS = frozenset((*ncu.ALWAYS, derive.TIME, *_OF_TORCH, *_OF_CUPTI, *_SENSED))
_TIME = "time"
_NOWHERE = "neither a metric asked for, nor a parameter, nor `time`"


@dataclass(frozen=True, slots=True)
class Lack:
    """A name in the formula of a benchmark's derived metric `metric` that stands for nothing, and `why`."""

    benchmark: str
    metric: str
    name: str
    why: str
    near: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """Return it in one line, with the names that are near."""
        hint = f"; did you mean {' or '.join(self.near)}?" if self.near else ""
        return f"benchmark {self.benchmark}: the formula of '{self.metric}' names {self.name}, which {self.why}{hint}"


def of_plan(suite: Path, plan: SuitePlan) -> tuple[Formula, ...]:
    """Return the plan's formulas, read and checked; a derived metric that is a function of the suite is none.

    Raises `UserError` for one that cannot be read.
    """
    found = []
    for bench in plan.benchmarks:
        for one in bench.derive:
            if one.formula:
                found.append(Formula(one.metric, one.formula, one.unit, bench.name))
        if bench.normalize_against:
            base = derive.elsewhere(_TIME, bench.normalize_against)
            found.append(Formula(_speed_up(bench), f"{base} / time", "", bench.name))
    for index, formula in enumerate(found):
        where = f"benchmark {formula.benchmark}: {formula.metric}"
        try:
            names = derive.parse(formula.metric, formula.formula).names
        except UserError as error:
            raise UserError(suite, f"{where}: {error.what}", error.mend) from None
        before = {derive.highest(other.metric) for other in found[:index] if other.benchmark == formula.benchmark}
        if unknown := sorted(name for name in names - before if derive.is_highest(name)):
            raise UserError(suite, f"{where}: {unknown[0]} is no formula that stands above", "move it above this one")
    return tuple(found)


def unknown(plan: SuitePlan, formulas: Sequence[Formula], source: str) -> tuple[Lack, ...]:
    """Return the names that no measurement can give, before anything is measured.

    A name that the suite's `source` holds as a text or a function may be of a value that it records, and is not among them.
    """
    found: dict[tuple[str, str, str], Lack] = {}
    words = {word for _, word in re.findall(r"""(['"])([A-Za-z_]\w*)\1""", source)}
    for bench, formula, name in _names(plan, formulas):
        plain, _ = derive.place_of(name)
        if why := _why_unknown(bench, plain, source):
            near = _near(plain, {*_known(bench), *words, _TIME} - {plain}) if why == _NOWHERE else ()
            found.setdefault(
                (bench.name, formula.metric, plain), Lack(bench.name, formula.metric, f"'{plain}'", f"is {why}", near)
            )
    return tuple(found.values())


def absent(
    plan: SuitePlan, formulas: Sequence[Formula], frame: pd.DataFrame, rated: bool, told: Collection[Lack] = ()
) -> tuple[Lack, ...]:
    """Return the names that no run has, under a backend that could have had them.

    `frame` are the samples, `rated` says whether the GPU's rated bandwidth is known; what was `told` before is left out.
    """
    said = {(lack.benchmark, lack.metric, lack.name) for lack in told}
    good = frame[((frame["state"] == "ok") & frame["value"].notna()).to_numpy()]
    seen: dict[tuple[str, str], dict[str, set[str]]] = {}
    for benchmark, backend, annotation, metric in (
        good[["benchmark", "backend", "annotation", "metric"]]
        .astype("object")
        .drop_duplicates()
        .itertuples(index=False)
    ):
        seen.setdefault((benchmark, backend), {}).setdefault(metric, set()).add(annotation)
    lacks: dict[tuple[str, str, str], tuple[list[str], tuple[str, ...]]] = {}
    for bench, formula, name in _names(plan, formulas):
        plain, annotation = derive.place_of(name)
        if formula.metric == _speed_up(bench) or (bench.name, formula.metric, f"'{plain}'") in said:
            continue
        for backend in (b for benchmark, b in seen if benchmark == bench.name):
            metrics = seen[bench.name, backend]
            if not _could(backend, plain) or _has(metrics, bench, plain, annotation, rated):
                continue
            if annotation and plain in metrics:
                near = tuple(f"{plain}@{one!r}" for one in _near(annotation, metrics[plain]))
            else:
                near = _near(plain, {*metrics, *_numbers(bench), _TIME})
            lacks.setdefault((bench.name, formula.metric, name), ([], near))[0].append(backend)
    return tuple(
        Lack(benchmark, metric, name if "@" in name else f"'{name}'", f"no run under {' or '.join(backends)} has", near)
        for (benchmark, metric, name), (backends, near) in lacks.items()
    )


def without_baseline(plan: SuitePlan, frame: pd.DataFrame) -> list[str]:
    """Return a line for each benchmark that ran and whose `normalize_against` names no region that it has."""
    regions = frame.loc[(frame["annotation"] != "").to_numpy(), ["benchmark", "annotation"]].astype("object")
    found = set(regions.itertuples(index=False, name=None))
    ran = {benchmark for benchmark, _ in found}
    return [
        f"benchmark {b.name}: normalize_against names '{b.normalize_against}', and there is no such annotation"
        for b in plan.benchmarks
        if b.normalize_against and b.name in ran and (b.name, b.normalize_against) not in found
    ]


def _speed_up(bench: PlannedBenchmark) -> str:
    return f"speed-up over {bench.normalize_against}"


def _names(plan: SuitePlan, formulas: Sequence[Formula]) -> Iterator[tuple[PlannedBenchmark, Formula, str]]:
    """Yield every name of every formula that is to be looked up, with its benchmark."""
    by_name = {bench.name: bench for bench in plan.benchmarks}
    for formula in formulas:
        for name in sorted(derive.parse(formula.metric, formula.formula).names):
            if not derive.is_highest(name):
                yield by_name[formula.benchmark], formula, name


def _why_unknown(bench: PlannedBenchmark, name: str, source: str) -> str:
    if name in (_TIME, derive.RATED_BANDWIDTH) or name in _ALWAYS or name.startswith(combine.OF_ONE):
        return ""
    if name in (numbers := _numbers(bench)):
        return "" if numbers[name] else "a parameter that is no number"
    if name in bench.metrics or ("__" in name and any(m.startswith((ncu.SET, ncu.SECTION)) for m in bench.metrics)):
        return ""
    if any(name == other.metric for other in bench.derive):
        return "a derived metric, of which a formula can only read the highest"
    word = re.escape(name)
    if "__" not in name and re.search(rf"""(['"]){word}\1|\bdef {word}\b""", source):
        return ""
    return _NOWHERE


def _known(bench: PlannedBenchmark) -> set[str]:
    return {*bench.metrics, *_numbers(bench), *_ALWAYS}


def _numbers(bench: PlannedBenchmark) -> dict[str, bool]:
    """Return the benchmark's parameters, and whether any configuration has a number there."""
    found: dict[str, bool] = {}
    for config in bench.configs:
        for name, value in config.params:
            found[name] = found.get(name, False) or (value != "" and isinstance(json.loads(value), int | float))
    return found


def _could(backend: str, name: str) -> bool:
    """Tell whether a backend could have had a name; a region without a time has told why already."""
    if name == _TIME:
        return False
    if name in _OF_TORCH:
        return backend == "torch"
    if name in _OF_CUPTI:
        return backend == "cupti"
    if name in (derive.TIME, derive.RATED_BANDWIDTH, *_SENSED):
        return backend != "torch"
    return backend == "ncu" or "__" not in name


def _has(metrics: dict[str, set[str]], bench: PlannedBenchmark, name: str, annotation: str, rated: bool) -> bool:
    if name == derive.RATED_BANDWIDTH:
        return rated
    if annotation:
        return annotation in metrics.get(name, ())
    return name in metrics or _numbers(bench).get(name, False)


def _near(name: str, known: Collection[str]) -> tuple[str, ...]:
    return tuple(get_close_matches(name, sorted(known), n=3))
