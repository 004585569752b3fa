"""A comparison as JSON: every number in its base unit with 12 digits, every text as it is kept."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from reportgen.analysis.compare import Absent, Broken, Comparison, Row, Units
from reportgen.analysis.differences import Difference
from reportgen.analysis.series import Series
from reportgen.analysis.verdicts import RATE_PCT
from reportgen.publish.comparison import phrases

FORMAT = 1


def write(of: Comparison) -> str:
    """Return a comparison as pretty JSON that any parser takes; what is not known is null."""
    whole = {
        "format": FORMAT,
        "suite": of.suite,
        "old": list(of.old),
        "new": list(of.new),
        "counts": of.counts,
        "test": {"false_discovery_rate": RATE_PCT / 100, "tested": of.tested, "level": _number(of.level)},
        "differences": [_difference(one) for one in of.differences],
        "rows": [_row(row) for row in of.rows],
        "new_series": [_absent(one) for one in of.fresh],
        "gone_series": [_absent(one) for one in of.gone],
        "without_a_value": [_absent(one) for one in of.failed],
        "not_comparable": [_broken(one) for one in of.broken],
    }
    text = json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(f"{value:.12g}")


def _series(of: Series) -> dict[str, Any]:
    return {
        "id": of.id,
        "benchmark": of.benchmark,
        "annotation": of.annotation,
        "configuration": {name: json.loads(value) for name, value in of.params},
        "metric": of.metric,
        "backend": of.backend,
        "workload": of.workload,
        "scenario": of.scenario,
    }


def _row(row: Row) -> dict[str, Any]:
    one = row.effect
    interval = (
        None if one is None or one.interval is None else [_number(end) for end in (one.interval.low, one.interval.high)]
    )
    verdict = {
        "kind": row.verdict.kind,
        "reason": row.verdict.reason,
        "needed_on_each_side": row.verdict.needed,
        "next_step": phrases.next_step(row),
    }
    return {
        **_series(row.series),
        "unit": row.unit,
        "better": row.better,
        "old": _units(row.old),
        "new": _units(row.new),
        "ratio": None if one is None else _number(one.ratio),
        "interval_95": interval,
        "p": _number(row.p),
        "adjusted_p": _number(row.adjusted),
        "threshold": {"change": _number(row.threshold.value), "cause": row.threshold.cause},
        "deviation_pct": None if one is None else _number(one.spread_pct),
        "sm_clock_ratio": None if one is None else _number(math.exp(one.clock)),
        "cycles_ratio": None if one is None else _number(math.exp(one.cycles)),
        "verdict": verdict,
        "beside": None
        if row.beside is None
        else {
            "metric": row.beside.metric,
            "unit": row.beside.unit,
            "old": _number(row.beside.old),
            "new": _number(row.beside.new),
        },
    }


def _units(side: Units) -> dict[str, Any]:
    return {"value": _number(side.value), "n": side.n, "unit": side.unit, "runs": side.runs, "note": side.note}


def _absent(one: Absent) -> dict[str, Any]:
    sides = (("old", one.old_state, one.old_reason), ("new", one.new_state, one.new_reason))
    states = {name: {"state": state or None, "reason": reason} for name, state, reason in sides}
    return {**_series(one.series), **states}


def _broken(one: Broken) -> dict[str, Any]:
    conditions = [{"condition": of.condition, "old": list(of.old), "new": list(of.new)} for of in one.unlike]
    return {**_series(one.series), "differs": conditions}


def _difference(one: Difference) -> dict[str, Any]:
    def said(values: Sequence[str]) -> list[str] | None:
        return None if one.sensitive else list(values)

    head = {"key": one.key.name, "label": one.key.label, "unit": one.key.unit, "kind": one.kind, "usual": one.usual}
    return {**head, "withheld": one.sensitive, "old": said(one.old), "new": said(one.new)}
