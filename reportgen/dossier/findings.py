"""What a dossier says, by rules over samples: each a small function with its wording in one place.

A rule looks at one group, so it can never reach across backends, workloads or scenarios, and says nothing when its
evidence is not there. `weigh` orders the findings, strongest first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from reportgen.analysis import bottleneck, groups
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Case, Group, Measured
from reportgen.analysis.processed import SM_CLOCK
from reportgen.analysis.statistics import Ratio
from reportgen.dossier.model import Figure, Finding, Sentence
from reportgen.dossier.text import Scale, count, figure, keep_together, listed, number, plural, say, shorten

MOST = 7
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
_WORTH_SAYING = 0.03


@dataclass(frozen=True, slots=True)
class Weighed:
    """A finding with its weight: the larger comes first."""

    weight: float
    finding: Finding


Rule = Callable[[Group, str], Iterator[Weighed]]


def find(all_groups: Iterable[tuple[Group, str]], why: bool = True, most: int = MOST) -> tuple[Finding, ...]:
    """Return the `most` strongest findings over groups, each given with the id of the block that shows it.

    What limits a kernel is shown in a block of its own, `<id>-why`, when the dossier has that part (`why`).
    """
    found = [w for group, target in all_groups for rule in RULES for w in rule(group, target)]
    ordered = sorted(enumerate(found), key=lambda item: (-item[1].weight, item[0]))
    chosen = [weighed.finding for _, weighed in ordered[:most]]
    return tuple(replace(f, target=f"{f.target}-why") if why and f.rule == "limited" else f for f in chosen)


def fastest(group: Group, target: str) -> Iterator[Weighed]:
    """Say which annotation is fastest at the largest configuration and by how much."""
    rivals = [cases for cases in group.rivals() if sum(case.time is not None for case in cases) >= 2]
    if not rivals:
        return
    cases = [case for case in rivals[-1] if case.time is not None]
    best = min(cases, key=_time)
    slowest = max(cases, key=_time)
    ratio = groups.ratio(slowest, best, TIME)
    best_time = best.time
    if ratio is None or best_time is None or ratio.value - 1 < _WORTH_SAYING:
        return
    if ratio.interval is not None and ratio.interval.low <= 1:
        return
    sentence = say(
        "{best} takes {time}{speed}{at}, {times} times as fast as {other} ({interval}{how}).",
        best=shorten(best.annotation, 40),
        time=figure(best_time.mean, best_time.unit, best_time.source(), spread=best_time.half),
        speed=_speed(best, group),
        at=_at(best),
        times=_ratio_figure(ratio, slowest, best),
        other=shorten(slowest.annotation, 40),
        interval=_interval(ratio, slowest, best),
        how=how(group, ratio, best_time),
    )
    yield Weighed(90 + min(9.0, math.log2(ratio.value)), Finding("fastest", sentence, target))


def _speed(case: Case, group: Group) -> Sentence:
    row = next((found for name in group.derived if (found := case.get(name)) is not None), None)
    if row is None or ":" in row.metric:
        return ()
    return (" and reaches ", figure(row.mean, row.unit, row.source(), spread=row.half))


def limited(group: Group, target: str) -> Iterator[Weighed]:
    """Say what limits each annotation at its largest configuration."""
    said: list[Sentence] = []
    for annotation in group.annotations:
        case = group.at(annotation)[-1]
        verdict = bottleneck.judge({name: case.value(name) for name in case.metrics})
        if verdict.limit == "not known":
            continue
        sm = figure(verdict.sm_pct, "%", case.metrics[verdict.sm_metric].source())
        dram = figure(verdict.dram_pct, "%", case.metrics[verdict.dram_metric].source())
        said.append(
            say(
                "{name} by {limit} (SM {sm}, DRAM {dram})",
                name=shorten(annotation, 40),
                limit=verdict.limit,
                sm=sm,
                dram=dram,
            )
        )
    if not said:
        return
    at = _at(group.at(group.annotations[-1])[-1]) if group.axis else ()
    joined: Sentence = tuple(part for index, s in enumerate(said[:4]) for part in ((", ", *s) if index else s))
    more = (f", and {len(said) - 4} more below",) if len(said) > 4 else ()
    sentence = say(
        "What limits it{at}: {joined}{more}; throughputs in percent of their sustained peak ({backend}, {scenario}).",
        at=at,
        joined=joined,
        more=more,
        backend=group.backend,
        scenario=_scenario(group),
    )
    yield Weighed(70, Finding("limited", sentence, target))


def fused(group: Group, target: str) -> Iterator[Weighed]:
    """Say how many bytes one annotation reads fewer than another that launches more kernels for each configuration."""
    for cases in reversed(group.rivals()):
        known = [case for case in cases if case.get(READ) is not None]
        if len(known) < 2:
            continue
        least = min(known, key=lambda case: case.value(READ))
        most = max(known, key=lambda case: case.value(READ))
        kernels = least.metrics[READ].kernels, most.metrics[READ].kernels
        saved = 1 - least.value(READ) / most.value(READ)
        if saved < _WORTH_SAYING or not _always_fewer(group, least.annotation, most.annotation):
            continue
        first, second = least.metrics[READ], most.metrics[READ]
        pair = f"share_saved({first.source()},{second.source()})"
        sentence = say(
            "{least} reads {a} from DRAM where {most} reads {b}: {share} fewer, in {k} {word} instead of {m}{at} (n = {n} runs, {backend}, {scenario}).",
            least=shorten(least.annotation, 40),
            a=figure(first.mean, first.unit, first.source()),
            most=shorten(most.annotation, 40),
            b=figure(second.mean, second.unit, second.source()),
            share=figure(saved * 100, "%", pair),
            k=count(kernels[0], first.source("NumKernels")),
            word=plural(kernels[0], "kernel"),
            m=count(kernels[1], second.source("NumKernels")),
            at=_at(least),
            n=count(min(first.runs, second.runs), first.source("NumRuns")),
            backend=group.backend,
            scenario=_scenario(group),
        )
        yield Weighed(80 + saved * 10, Finding("fused", sentence, target))
        return


def _always_fewer(group: Group, fewer: str, more: str) -> bool:
    """Tell whether one annotation launches fewer kernels than the other wherever both ran: fused, not split-K by chance."""
    pairs = []
    for cases in group.rivals():
        kernels = {case.annotation: case.metrics[READ].kernels for case in cases if READ in case.metrics}
        if fewer in kernels and more in kernels:
            pairs.append((kernels[fewer], kernels[more]))
    return bool(pairs) and all(a < b for a, b in pairs)


def several_kernels(group: Group, target: str) -> Iterator[Weighed]:
    """Say where a region launched more than one kernel while it launched one elsewhere."""
    for annotation in group.annotations:
        timed = [(case, case.metrics[TIME]) for case in group.at(annotation) if TIME in case.metrics]
        numbers = {row.kernels for _, row in timed}
        if len(numbers) < 2:
            continue
        split = [(case, row) for case, row in timed if row.kernels > 1]
        where = keep_together(listed(case.configuration for case, _ in split[:4]))
        sentence = say(
            "{name} launches {k} kernels at {where} and {one} elsewhere; their times and bytes are added for each run.",
            name=shorten(annotation, 40),
            k=count(split[0][1].kernels, split[0][1].source("NumKernels")),
            where=where,
            one=count(min(numbers), next(row.source("NumKernels") for _, row in timed if row.kernels == min(numbers))),
        )
        yield Weighed(50, Finding("several-kernels", sentence, target))


def one_region_many_kernels(group: Group, target: str) -> Iterator[Weighed]:
    """Say what a region of several kernels takes in all, where there is no rival to compare it with."""
    if len(group.cases) > 2 or any(len(cases) > 1 for cases in group.rivals()):
        return
    for case in group.cases:
        row = case.time
        if row is None or row.kernels < 2:
            continue
        sentence = say(
            "{name} takes {time} in {k} kernels (sum of kernel times, n = {n} {runs}, {backend}, {scenario}).",
            name=shorten(case.annotation, 40),
            time=figure(row.mean, row.unit, row.source(), spread=row.half),
            k=count(row.kernels, row.source("NumKernels")),
            n=count(row.runs, row.source("NumRuns")),
            runs=plural(row.runs, "run"),
            backend=group.backend,
            scenario=_scenario(group),
        )
        yield Weighed(60, Finding("region", sentence, target))


def alone(group: Group, target: str) -> Iterator[Weighed]:
    """Say how long the largest configuration takes where nothing else says anything of it."""
    if any(len([c for c in cases if c.time]) > 1 for cases in group.rivals()) or not group.axis:
        return
    case = group.at(group.annotations[0])[-1]
    if (row := case.time) is None:
        return
    sentence = say(
        "{name} takes {time}{speed}{at} (n = {n} {runs}, {backend}, {scenario}).",
        name=shorten(case.annotation, 40),
        time=figure(row.mean, row.unit, row.source(), spread=row.half),
        speed=_speed(case, group),
        at=_at(case),
        n=count(row.runs, row.source("NumRuns")),
        runs=plural(row.runs, "run"),
        backend=group.backend,
        scenario=_scenario(group),
    )
    yield Weighed(60, Finding("alone", sentence, target))


def clock_moved(group: Group, target: str) -> Iterator[Weighed]:
    """Say between which clocks the SMs ran, when that range is wider than 3 %."""
    clocks = [row for case in group.cases if (row := case.get(SM_CLOCK)) is not None]
    if len(clocks) < 2:
        return
    low, high = min(clocks, key=lambda row: row.mean), max(clocks, key=lambda row: row.mean)
    if high.mean / low.mean - 1 < _WORTH_SAYING:
        return
    scale = Scale("MHz", 1e6)
    sentence = say(
        "The SM clock was not one clock: from {low} to {high} over the rows ({backend}, {scenario}). Times of different rows compare the clock too.",
        low=_clock(low, scale),
        high=_clock(high, scale),
        backend=group.backend,
        scenario=_scenario(group),
    )
    yield Weighed(40, Finding("clock", sentence, target))


def _clock(row: Measured, scale: Scale) -> Figure:
    return Figure(row.mean, number(row.mean / scale.factor, 0), scale.unit, f"{row.mean:.12g} hz", row.source())


def _time(case: Case) -> float:
    return case.value(TIME)


def _at(case: Case) -> Sentence:
    if not case.params:
        return ()
    parts: list[str | Figure] = [" at "]
    for index, (name, value) in enumerate(case.params):
        parts.append(keep_together(f"{', ' if index else ''}{name} = "))
        if isinstance(value, int) and not isinstance(value, bool):
            parts.append(Figure(float(value), str(value), "", str(value), f"parameter:{name}"))
        else:
            parts.append(str(value))
    return tuple(parts)


def _ratio_figure(ratio: Ratio, numerator: Case, denominator: Case) -> Figure:
    spread = (ratio.interval.high - ratio.interval.low) / 2 if ratio.interval else math.nan
    return figure(ratio.value, "", f"ratio({_pair(numerator, denominator)})", spread=spread)


def _interval(ratio: Ratio, numerator: Case, denominator: Case) -> Sentence:
    if ratio.interval is None:
        return ()
    spread = (ratio.interval.high - ratio.interval.low) / 2
    pair = _pair(numerator, denominator)
    low = figure(ratio.interval.low, "", f"ratio_low({pair})", spread=spread)
    high = figure(ratio.interval.high, "", f"ratio_high({pair})", spread=spread)
    return ("95\u00a0% CI ", low, " to ", high, ", ")


def _pair(numerator: Case, denominator: Case) -> str:
    return f"{numerator.metrics[TIME].row},{denominator.metrics[TIME].row}"


def how(group: Group, ratio: Ratio, row: Measured) -> Sentence:
    """Say over how many runs or processes a ratio was taken, under which backend and scenario."""
    n = ratio.interval.n if ratio.interval else row.runs
    unit = "processes" if ratio.interval and ratio.interval.unit == "process" else plural(n, "run")
    kind = "paired " if ratio.paired and n > 1 else ""
    source = row.source("NumProcesses" if unit == "processes" else "NumRuns")
    return ("n\u00a0=\u00a0", count(n, source), f" {kind}{unit}, {group.backend}, {_scenario(group)}")


def _scenario(group: Group) -> str:
    return "scenario not recorded" if group.scenario == "not-recorded" else f"scenario {group.scenario}"


RULES: Sequence[Rule] = (fastest, fused, limited, one_region_many_kernels, alone, several_kernels, clock_moved)
