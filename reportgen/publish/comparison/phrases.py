"""How a comparison is said, the same in every format: a change, a verdict, its reason and the next step."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reportgen.analysis.compare import Absent, Broken, Comparison, Row, Units, Unlike
from reportgen.analysis.differences import Difference
from reportgen.analysis.series import Series
from reportgen.analysis.verdicts import MOST_PROCESSES, RATE_PCT, Effect, Verdict, beyond
from reportgen.dossier import words
from reportgen.dossier.text import decimals_for, figure, listed, number, plural, scale_for, visible
from reportgen.evidence.provenance import KEYS, NOT_RECORDED, WITHHELD

CONDITIONS = {
    "gpu": "GPU",
    "cache": "cache policy",
    "clocks": "clock policy",
    "granularity": "flush granularity",
    "heat": "heat policy",
    "replay": "replay policy",
}
_CAUSES = {
    "set": "the suite's own",
    "two ticks": "two ticks of the timer",
    "between collections": "three deviations between collections of identical code",
}
_STEADIER = "its processes differ among themselves; measure longer work, or lock the clocks"
_CERTAIN = ("slower", "faster", "cannot tell", "same")


def counts(of: Comparison) -> str:
    """Return how many series there are of each kind; of what is not compared, only the kinds that there are."""
    found = of.counts
    said = [f"{found[kind]} {kind}" for kind in _CERTAIN]
    said += [f"{count} {kind}" for kind, count in found.items() if kind not in _CERTAIN and count]
    return ", ".join(one.replace(" ", "\u00a0") for one in said)  # no line ends within one


def tested(of: Comparison) -> str:
    """Return how many series were tested, and how sure the table is."""
    if not of.rows:
        return "No series stands on both sides, so nothing is compared."
    if not of.tested:
        return f"None of the {len(of.rows)} series has enough processes for the test."
    rate = f"at most {percent(RATE_PCT, 0)} of those called slower or faster are expected to be false alarms"
    return f"{of.tested} of {len(of.rows)} series have enough processes for the test; {rate}."


def case(of: Series) -> str:
    """Return the annotation and configuration in words."""
    return visible(", ".join(part for part in (of.annotation or "no annotation", of.configuration) if part))


def place(of: Series) -> str:
    """Return the benchmark and what it was measured by: `addcmul, cupti, cold cache (default)`."""
    workload = "" if of.workload == "kernel" else f" by {of.workload}"
    return visible(f"{of.benchmark}, {words.backend(of.backend)}{workload}, {words.conditions(of.scenario)}")


def metric(of: Series) -> str:
    """Return the short name of a series' metric."""
    return visible(words.label(of.metric))


def change(one: Effect) -> str:
    """Return a change in percent with its interval: `+4.1 % (3.2 to 5.0)`."""
    value = (one.ratio - 1) * 100
    if one.interval is None:
        return f"{_signed(value, decimals_for(value, 0.3))} %"
    ends = [(end - 1) * 100 for end in (one.interval.low, one.interval.high)]
    decimals = decimals_for(value, (ends[1] - ends[0]) / 2)
    return f"{_signed(value, decimals)} % ({number(ends[0], decimals)} to {number(ends[1], decimals)})"


def _signed(value: float, decimals: int) -> str:
    return f"{'+' if value > 0 else ''}{number(value, decimals)}"


def percent(value: float, decimals: int = 1) -> str:
    """Return a percentage."""
    return f"{number(value, decimals, percent=True)} %"


def probability(p: float) -> str:
    """Return a p: `p 0.0022`."""
    return f"p {number(p, decimals_for(p, p / 5))}"


def units(row: Row) -> str:
    """Return how many units stand behind both sides: `6 and 6 processes`."""
    old, new = row.old, row.new
    if old.unit == new.unit and old.n == new.n == 1:
        return f"{_counted(old)} each"
    if old.unit == new.unit:
        return f"{old.n} and {new.n} {_plural(old.unit, max(old.n, new.n))}"
    return f"{_counted(old)} and {_counted(new)}"


def _counted(side: Units) -> str:
    return f"{side.n} {_plural(side.unit, side.n)}"


def _plural(unit: str, n: int) -> str:
    return plural(n, unit, f"{unit}es" if unit == "process" else "")


def values(row: Row) -> tuple[str, str]:
    """Return what both sides have, in one unit."""
    return _values(row.old.value, row.new.value, row.unit)


def beside(row: Row) -> str:
    """Return the main metric that stands beside a time, with its name; empty where there is none."""
    if row.beside is None:
        return ""
    old, new = _values(row.beside.old, row.beside.new, row.beside.unit)
    return f"{visible(row.beside.metric)}: {old} to {new}"


def _values(old: float, new: float, unit: str) -> tuple[str, str]:
    if math.isnan(old) or math.isnan(new):
        return ("not known", "not known")
    scale = scale_for([old, new], unit)
    decimals = max(decimals_for(value / scale.factor) for value in (old, new))
    said = [
        f"{number(value / scale.factor, decimals, scale.unit == '%')} {visible(scale.unit)}".rstrip()
        for value in (old, new)
    ]
    return said[0], said[1]


def effect(row: Row) -> str:
    """Return all that a row says in one line: `+4.1 % (3.2 to 5.0), p 0.0022, 6 and 6 processes`."""
    said = [] if row.effect is None else [change(row.effect)]
    said += [] if math.isnan(row.p) else [probability(row.p)]
    return ", ".join([*said, units(row)])


def limit(row: Row) -> str:
    """Return a row's threshold with its cause."""
    return f"{_short(row.threshold.value * 100)} ({_CAUSES[row.threshold.cause]})"


def _short(value: float) -> str:
    """Return a percentage with two digits; a whole one as it is."""
    return percent(value, 0 if math.isclose(value, round(value)) else decimals_for(value, value / 10))


def may_have_changed(row: Row) -> bool:
    """Tell whether a row's change exceeds its threshold, or is not known."""
    return row.effect is None or beyond(row.effect, row.threshold)


def why(row: Row) -> str:
    """Return the reason of a `cannot tell` with the next step, in one line; empty for another verdict."""
    step = next_step(row)
    return f"{row.verdict.reason}: {step}" if step else row.verdict.reason


def why_of(rows: Sequence[Row]) -> str:
    """Return what `why` says, once for rows of one reason; how many processes each needs is its own (`needs`)."""
    reason = rows[0].verdict.reason
    needed = max((row.verdict.needed or 0 for row in rows), default=0)
    more = f"collect both again with --processes {needed}" if needed else ""
    if reason == "too few processes":
        return f"{reason}: {more}" if more else reason
    if reason == "unstable":
        return f"{reason}: {_STEADIER}{f', or {more}' if more else ''}"
    steps = dict.fromkeys(next_step(row) for row in rows)
    return f"{reason}: {next(iter(steps))}" if len(steps) == 1 else reason


def needs(row: Row) -> str:
    """Return how many processes a row needs on each side; empty where they are not what it lacks."""
    if row.verdict.reason not in ("too few processes", "unstable", "near the threshold"):
        return ""
    if row.verdict.needed is None:
        return f"over {MOST_PROCESSES} needed"
    known = row.effect is not None and not math.isnan(row.effect.deviation)
    return f"{'' if known else 'at least '}{row.verdict.needed} needed"


def next_step(row: Row) -> str:
    """Return what to do so that more can be told; empty where all is told."""
    verdict = row.verdict
    if verdict.reason == "too few processes":
        return _more(verdict, row.effect)
    if verdict.reason == "unstable":
        return f"{_STEADIER}, or more processes: {_more(verdict, row.effect)}" if verdict.needed else _STEADIER
    name = visible(row.series.metric)
    return {
        "within two ticks": f"two ticks of the timer are {_short(row.threshold.value * 100)} of it; give it more work",
        "the SM clock moved": "collect both again at one clock: scenario strict, or a GPU that nothing else heats",
        "near the threshold": f"over {MOST_PROCESSES} processes on each side would tell; look at it, or set another threshold",
        "not above zero": "what is not above zero has no ratio; compare another metric",
        "no direction": f"declare which direction of {name} is better",
    }.get(verdict.reason, "")


def _more(verdict: Verdict, one: Effect | None) -> str:
    if verdict.needed is None:
        return f"over {MOST_PROCESSES} on each side would be needed"
    known = one is not None and not math.isnan(one.deviation)
    sure = "would do" if known else "are the least that could do"
    return f"{verdict.needed} on each side {sure} (collect --processes {verdict.needed})"


def absent(of: Absent) -> str:
    """Return why a series has no value on one side or both."""
    sides = (("OLD", of.old_state, of.old_reason), ("NEW", of.new_state, of.new_reason))
    said = []
    for name, state, reason in sides:
        if state not in ("", "ok"):
            said.append(f"{state} in {name}{f': {reason}' if reason else ''}")
        elif not state:
            said.append(f"not there in {name}")
    return visible("; ".join(said))


def broken(of: Broken) -> str:
    """Return why a series cannot be compared."""
    return "; ".join(_unlike(one) for one in of.unlike)


def _unlike(one: Unlike) -> str:
    name = CONDITIONS.get(one.condition, one.condition)
    return visible(f"another {name}: {listed(one.old)} in OLD, {listed(one.new)} in NEW")


def difference(of: Difference) -> tuple[str, str]:
    """Return what both sides say of a fact in which they differ; what names a person or a machine is withheld."""
    if of.sensitive:
        return (WITHHELD if of.old else NOT_RECORDED), (f"{WITHHELD}, another" if of.new else NOT_RECORDED)
    short = [listed(_scaled(value, of.key.unit) for value in side) for side in (of.old, of.new)]
    if short[0] == short[1]:  # so close that only the exact values tell them apart
        short = [listed(f"{value} {of.key.unit}".rstrip() for value in side) for side in (of.old, of.new)]
    return visible(short[0] or NOT_RECORDED), visible(short[1] or NOT_RECORDED)


def _scaled(value: str, unit: str) -> str:
    """Return a fact's value in a unit that a person reads, where it is one number; else as it is."""
    try:
        known = float(value)
    except ValueError:
        return f"{value} {unit}".rstrip()
    if not unit:
        return value
    found = figure(known, unit, "")
    return f"{found.text} {found.unit}"


def label(of: Difference) -> str:
    """Return the name of a fact, with its group where another has the same."""
    alike = sum(key.label == of.key.label for key in KEYS) > 1
    return visible(f"{of.key.label} ({of.key.group})" if alike else of.key.label)
