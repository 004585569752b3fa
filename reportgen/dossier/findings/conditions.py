"""Under what it ran: rated against observed clocks, bursts beside sustained load, why rows are unstable, what measuring took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reportgen.analysis import sensing, steadiness
from reportgen.analysis.groups import Case, Group, Measured
from reportgen.analysis.processed import SM_CLOCK
from reportgen.analysis.sources import call, quoted
from reportgen.analysis.steadiness import CYCLES, Cause
from reportgen.dossier.declared import Declared
from reportgen.dossier.findings import phrases
from reportgen.dossier.findings.claims import Claim, Evidence
from reportgen.dossier.model import Figure, Sentence
from reportgen.dossier.text import count, figure, listed, plural, say

NVML_CLOCK, POWER = "nvml__sm_clock", "nvml__power"
APART = 0.03  # clocks that lie further apart than this are worth saying
MOST_OF_A_CAUSE = 2
_SMALL = Figure(
    steadiness.SMALL_NS,
    f"{steadiness.SMALL_NS / 1e3:g}",
    "us",
    f"{steadiness.SMALL_NS:g} ns",
    "constant:steadiness.SMALL_NS",
)
_CAUSES: dict[Cause, Sentence] = {
    "clock": ("by the SM clock, as their cycles did not vary",),
    "throttled": ("by power or heat that held the GPU back",),
    "first run": ("by the first run of a process",),
    "processes": ("by processes that differ, each being steady by itself",),
    "drift": ("by a drift over the runs",),
    "one run": ("by one run that stands apart",),
    "tick": ("by the timer, within two of its ticks",),
    "small": ("by a launch, taking under ", _SMALL),
}


def clock_moved(of: Evidence) -> Iterator[Claim]:
    """Say between which clocks the SMs ran where that range is wide or lies below the rated clock, and what held them back."""
    rated = of.number("clocks.sm_rated_hz")
    for group, target in of.shown:
        rows = [(case, row) for case in group.cases if (row := _clock(case)) is not None]
        if not rows:
            continue
        low, high = min(rows, key=lambda pair: pair[1].mean), max(rows, key=lambda pair: pair[1].mean)
        below = rated is not None and low[1].mean < (1 - APART) * rated
        wide = low[1].mean > 0 and high[1].mean / low[1].mean - 1 >= APART
        if not below and not wide:
            continue
        opening: Sentence = (
            say(
                "The SMs ran below their rated clock of {rated}; times of different rows compare the clock too",
                rated=phrases.megahertz(rated, "provenance:clocks.sm_rated_hz"),
            )
            if below and rated is not None
            else ("The SMs did not run at one clock; times of different rows compare the clock too",)
        )
        declared = of.of(group)
        figures = _at_clock(*low, group, declared, of)
        if wide:
            figures = (*figures, ", ", *_at_clock(*high, group, declared, of))
        yield Claim("clock", "", 50, opening, figures, group, target)


def _clock(case: Case) -> Measured | None:
    """Return the SM clock of a case: counted by the kernel itself, else as NVML read it after the run."""
    return case.get(SM_CLOCK) or case.get(NVML_CLOCK)


def _at_clock(case: Case, row: Measured, group: Group, declared: Declared, of: Evidence) -> Sentence:
    reasons = sensing.held_back(of.sensed, group, case)
    return say(
        "{clock}{power} in {name}{at}{held}",
        clock=phrases.megahertz(row.mean, row.source()),
        power=_power(case),
        name=phrases.name(case),
        at=phrases.at(case, declared),
        held=f" (held back: {listed(reasons)})" if reasons else "",
    )


def _power(case: Case) -> Sentence:
    row = case.get(POWER)
    return (" and ", phrases.value(row)) if row is not None else ()


def bursts_and_load(of: Evidence) -> Iterator[Claim]:
    """Set the same annotation and configuration side by side, measured in bursts and under sustained load.

    They are two benchmarks and may be two scenarios: each stands under its own name, and nothing is computed from one to the other.
    """
    for hot, hot_target in of.shown:
        if of.of(hot).heat != "sustained":
            continue
        for case in hot.cases:
            found = in_bursts(case, hot, of)
            if case.time is None or found is None:
                continue
            cool, cool_target, same = found
            declared = of.of(hot)
            opening = say(
                "{name}{at} stands in bursts beside sustained load",
                name=phrases.name(case),
                at=phrases.at(case, declared),
            )
            about = f"{hot.benchmark}\0{case.annotation}\0{case.configuration}"
            pair = ((cool, same, cool_target, "in bursts "), (hot, case, hot_target, "sustained "))
            for group, one, target, how in pair:
                figures = (how, *phrases.time_and_rate(group, one, of.of(group)), *_clock_and_power(one))
                yield Claim("heat", about, 66, opening, figures, group, target)


def in_bursts(case: Case, hot: Group, of: Evidence) -> tuple[Group, str, Case] | None:
    """Return the same case as measured in bursts by the same backend, in the same scenario where there is one."""
    found = [
        (group.scenario != hot.scenario, index)
        for index, (group, _) in enumerate(of.shown)
        if of.of(group).heat == "burst" and (group.backend, group.workload) == (hot.backend, hot.workload)
        if any(_same(case, other) for other in group.cases)
    ]
    if not found:
        return None
    group, target = of.shown[min(found)[1]]
    return group, target, next(other for other in group.cases if _same(case, other))


def _same(case: Case, other: Case) -> bool:
    return (case.annotation, case.params) == (other.annotation, other.params) and other.time is not None


def _clock_and_power(case: Case) -> Sentence:
    row = _clock(case)
    if row is None:
        return ()
    return (" at an SM clock of ", phrases.megahertz(row.mean, row.source()), *_power(case))


def varies(of: Evidence) -> Iterator[Claim]:
    """Say why rows are unstable, by what was recorded of the same runs; a row that nothing explains is not mentioned."""
    for group, target in of.shown:
        declared = of.of(group)
        by_cause: dict[Cause, list[tuple[Case, Measured]]] = {}
        for case in group.cases:
            row = case.get(group.main)
            if row is None or row.stable is not False:
                continue
            held = sensing.held_runs(of.sensed, group, case)
            runs, cycles = (dict(case.runs.get(metric, {})) for metric in (group.main, CYCLES))
            cause = steadiness.cause(runs, cycles, of.tick(group), held)
            by_cause.setdefault(cause, []).append((case, row))
        by_cause.pop("unknown", None)
        if by_cause:
            opening = ("Unstable rows vary for a likely cause",)
            parts = [_varying(cause, rows, declared) for cause, rows in by_cause.items()]
            yield Claim("unstable", "", 45, opening, phrases.series(parts, ", "), group, target)


def _varying(cause: Cause, rows: Sequence[tuple[Case, Measured]], declared: Declared) -> Sentence:
    """Say which rows vary by a cause, the most unstable first."""
    worst = sorted(rows, key=lambda pair: -pair[1].relative_pct)
    parts = [_unstable(case, row, declared) for case, row in worst[:MOST_OF_A_CAUSE]]
    more = phrases.limited_to([case for case, _ in worst], MOST_OF_A_CAUSE)
    return (*phrases.series(parts, ", " if more else " and "), *more, " ", *_CAUSES[cause])


def _unstable(case: Case, row: Measured, declared: Declared) -> Sentence:
    spread = figure(row.relative_pct, "%", row.source("RelativeStdDevPct"), spread=row.relative_pct)
    return (phrases.name(case), *phrases.at(case, declared), " (", spread, ")")


def measuring_took(of: Evidence) -> Iterator[Claim]:
    """Say how long each backend's processes took to run how many regions; nothing is computed across backends."""
    if len({process.backend for process in of.sensed.processes}) < 2:
        return
    for backend in dict.fromkeys(group.backend for group, _ in of.shown):
        mine = [process for process in of.sensed.processes if process.backend == backend]
        if not mine:
            continue
        group = next(group for group, _ in of.shown if group.backend == backend)
        word = quoted(backend)
        figures = say(
            "{seconds} for {regions} {word} in {processes} {many}",
            seconds=figure(sum(p.seconds for p in mine), "s", call("measuring", word)),
            regions=count(sum(p.regions for p in mine), call("count", "measured regions", word)),
            word=plural(sum(p.regions for p in mine), "region"),
            processes=count(len(mine), call("count", "processes", word)),
            many=plural(len(mine), "process", "processes"),
        )
        opening = ("Measuring took its time, start-up left out",)
        yield Claim("cost", "", 15, opening, figures, group, "method", whole_backend=True)
