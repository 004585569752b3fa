"""What a dossier says, by rules over samples: each a small function with its wording in one place.

A rule looks at one group, so it can never reach across backends, workloads or scenarios, and says nothing when its
evidence is not there. `weigh` orders the findings, strongest first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from reportgen.analysis import bottleneck, groups, sources, statistics
from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Case, Group, Measured
from reportgen.analysis.processed import SM_CLOCK
from reportgen.analysis.statistics import Ratio
from reportgen.dossier.model import Figure, Finding, Sentence
from reportgen.dossier.text import Scale, count, figure, keep_together, listed, number, plural, say, shorten, visible

MOST = 7
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
_WORTH_SAYING = 0.03
_MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class Weighed:
    """A finding with its weight: the larger comes first."""

    weight: float
    finding: Finding


Rule = Callable[[Group, str], Iterator[Weighed]]


def find(
    all_groups: Iterable[tuple[Group, str]], why: bool = True, most: int = MOST, apart: Collection[str] = ()
) -> tuple[Finding, ...]:
    """Return the `most` strongest findings over groups, each given with the id of the block that shows it.

    The annotations of a benchmark in `apart` do different work, and none is said to be faster than another.
    What limits a kernel is shown in a block of its own, `<id>-why`, when the dossier has that part (`why`).
    """
    together = list(all_groups)
    found = [
        replace(w, finding=replace(w.finding, sentence=(*_of(group, [g for g, _ in together]), *w.finding.sentence)))
        for group, target in together
        for rule in RULES
        if rule is not fastest or group.benchmark not in apart
        for w in rule(group, target)
    ]
    ordered = sorted(enumerate(found), key=lambda item: (-item[1].weight, item[0]))
    chosen = [weighed.finding for _, weighed in ordered[:most]]
    return tuple(replace(f, target=f"{f.target}-why") if why and f.rule == "limited" else f for f in chosen)


def _of(group: Group, together: Sequence[Group]) -> Sentence:
    """Say what a finding is of where a dossier holds several benchmarks or workloads: the same names may stand in each."""
    said = [visible(group.benchmark)] if len({(g.suite, g.benchmark) for g in together}) > 1 else []
    said += [f"by {visible(group.workload)}"] if len({g.workload for g in together}) > 1 else []
    return (f"{', '.join(said)}: ",) if said else ()


def fastest(group: Group, target: str) -> Iterator[Weighed]:
    """Say which annotation is fastest at the largest configuration and by how much.

    Silent without an interval, when it holds 1, and when the difference is under two ticks of the timer.
    """
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
    if ratio.interval is None or ratio.interval.low <= 1 or _time(slowest) - _time(best) < 2 * _tick(group):
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
        how=how(group, ratio, slowest, best),
    )
    yield Weighed(90 + min(9.0, math.log2(ratio.value)), Finding("fastest", sentence, target))


def _tick(group: Group) -> float:
    return statistics.tick([v for case in group.cases for v in case.runs.get(TIME, {}).values()]) or 0.0


def _speed(case: Case, group: Group) -> Sentence:
    rates = [found for name in group.derived if (found := case.get(name)) is not None and found.unit.endswith("/s")]
    row = rates[0] if rates else None
    if row is None or ":" in row.metric:
        return ()
    return (" and reaches ", figure(row.mean, row.unit, row.source(), spread=row.half))


def limited(group: Group, target: str) -> Iterator[Weighed]:
    """Say what limits each annotation at its largest configuration."""
    judged: list[tuple[Case, Sentence]] = []
    for annotation in group.annotations:
        case = group.at(annotation)[-1]
        verdict = bottleneck.judge({name: case.value(name) for name in case.metrics})
        if verdict.limit == "not known":
            continue
        sm = figure(verdict.sm_pct, "%", case.metrics[verdict.sm_metric].source())
        dram = figure(verdict.dram_pct, "%", case.metrics[verdict.dram_metric].source())
        name = shorten(annotation, 40)
        judged.append((case, (name, f" by {verdict.limit} (SM ", sm, ", DRAM ", dram, ")")))
    if not judged:
        return
    one = all(case.params == judged[0][0].params for case, _ in judged)
    at = _at(judged[0][0]) if one else ()
    said = [s if one else (s[0], *_at(case), *s[1:]) for case, s in judged]
    joined: Sentence = tuple(
        part for index, s in enumerate(said[:_MOST_NAMED]) for part in ((", ", *s) if index else s)
    )
    left = len(said) - _MOST_NAMED
    more = (
        (", and ", count(left, _these([case for case, _ in judged[_MOST_NAMED:]])), " more below") if left > 0 else ()
    )
    sentence = say(
        "What limits it{at}: {joined}{more}; throughputs in percent of their sustained peak ({backend}, {scenario}).",
        at=at,
        joined=joined,
        more=more,
        backend=visible(group.backend),
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
        ratio = groups.ratio(most, least, READ)
        if ratio is None or ratio.interval is None or ratio.interval.low <= 1:
            continue
        saved = 1 - least.value(READ) / most.value(READ)
        if saved < _WORTH_SAYING or not _always_fewer(group, least.annotation, most.annotation):
            continue
        first, second = least.metrics[READ], most.metrics[READ]
        fewest = min(first, second, key=lambda row: row.runs)
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
            n=count(fewest.runs, fewest.source("NumRuns")),
            backend=visible(group.backend),
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
    """Say where a region launched more kernels than it did elsewhere."""
    for annotation in group.annotations:
        timed = [(case, row) for case in group.at(annotation) if (row := case.time) is not None]
        if len({row.kernels for _, row in timed}) < 2:
            continue
        least = min((row for _, row in timed), key=lambda row: row.kernels)
        split = [(case, row) for case, row in timed if row.kernels > least.kernels]
        sentence = say(
            "{name} launches {k} kernels at {where} and {one} elsewhere; their times and bytes are added for each run.",
            name=shorten(annotation, 40),
            k=_from_to([row for _, row in split]),
            where=_where([case for case, _ in split]),
            one=count(least.kernels, least.source("NumKernels")),
        )
        yield Weighed(50, Finding("several-kernels", sentence, target))


def _from_to(rows: Sequence[Measured]) -> Sentence:
    least, most = min(rows, key=lambda row: row.kernels), max(rows, key=lambda row: row.kernels)
    first = count(least.kernels, least.source("NumKernels"))
    if least.kernels == most.kernels:
        return (first,)
    return (first, " to ", count(most.kernels, most.source("NumKernels")))


def _where(cases: Sequence[Case]) -> Sentence:
    names = [keep_together(visible(case.configuration)) for case in cases[:_MOST_NAMED]]
    left = len(cases) - len(names)
    if not left:
        return (listed(names),)
    more = count(left, _these(cases[_MOST_NAMED:]))
    return (f"{', '.join(names)} and ", more, f" {plural(left, 'configuration')} more")


def _these(cases: Sequence[Case]) -> str:
    """Return the source of how many cases there are, each by its first row."""
    return sources.call("count", "these", *(next(iter(case.metrics.values())).row for case in cases))


def one_region_many_kernels(group: Group, target: str) -> Iterator[Weighed]:
    """Say what a region of several kernels takes in all, where there is no rival to compare it with."""
    if len(group.cases) > 2 or any(len(cases) > 1 for cases in group.rivals()):
        return
    for case in group.cases:
        row = case.time
        if row is None or row.kernels < 2:
            continue
        sentence = say(
            "{name} takes {time}{at} in {k} kernels (sum of kernel times, n = {n} {runs}, {backend}, {scenario}).",
            name=shorten(case.annotation, 40),
            at=_at(case),
            time=figure(row.mean, row.unit, row.source(), spread=row.half),
            k=count(row.kernels, row.source("NumKernels")),
            n=count(row.runs, row.source("NumRuns")),
            runs=plural(row.runs, "run"),
            backend=visible(group.backend),
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
        backend=visible(group.backend),
        scenario=_scenario(group),
    )
    yield Weighed(60, Finding("alone", sentence, target))


def clock_moved(group: Group, target: str) -> Iterator[Weighed]:
    """Say between which clocks the SMs ran, when that range is wider than 3 %."""
    clocks = [row for case in group.cases if (row := case.get(SM_CLOCK)) is not None]
    if len(clocks) < 2:
        return
    low, high = min(clocks, key=lambda row: row.mean), max(clocks, key=lambda row: row.mean)
    if low.mean <= 0 or high.mean / low.mean - 1 < _WORTH_SAYING:
        return
    scale = Scale("MHz", 1e6)
    sentence = say(
        "The SM clock was not one clock: from {low} to {high} over the rows ({backend}, {scenario}). Times of different rows compare the clock too.",
        low=_clock(low, scale),
        high=_clock(high, scale),
        backend=visible(group.backend),
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
        parts.append(keep_together(f"{', ' if index else ''}{visible(name)} = "))
        if isinstance(value, int | float) and not isinstance(value, bool):
            parts.append(Figure(float(value), str(value), "", str(value), case.source(name)))
        else:
            parts.append(visible(str(value)))
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


def how(group: Group, ratio: Ratio, numerator: Case, denominator: Case) -> Sentence:
    """Say over how many runs or processes a ratio of times was taken, under which backend and scenario."""
    n, source = denominator.metrics[TIME].runs, denominator.metrics[TIME].source("NumRuns")
    if ratio.interval:
        n, source = ratio.interval.n, f"ratio_n({_pair(numerator, denominator)})"
    unit = "processes" if ratio.interval and ratio.interval.unit == "process" else plural(n, "run")
    kind = "paired " if ratio.paired and n > 1 else ""
    return ("n\u00a0=\u00a0", count(n, source), f" {kind}{unit}, {visible(group.backend)}, {_scenario(group)}")


def _scenario(group: Group) -> str:
    return "scenario not recorded" if group.scenario == "not-recorded" else f"scenario {visible(group.scenario)}"


RULES: Sequence[Rule] = (fastest, fused, limited, one_region_many_kernels, alone, several_kernels, clock_moved)
