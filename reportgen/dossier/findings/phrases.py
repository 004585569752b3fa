"""Phrases that several rules share: where, how long, how fast, how many times, and over how many runs."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.analysis.derive import TIME
from reportgen.analysis.groups import Case, Group, Measured
from reportgen.analysis.sources import call
from reportgen.analysis.statistics import Interval, Ratio
from reportgen.dossier.declared import Declared
from reportgen.dossier.model import Figure, Name, Sentence
from reportgen.dossier.text import count, figure, keep_together, number, parameter, plural, shorten, visible

LONGEST_NAME = 40


def name(case: Case) -> Name:
    """Return an annotation as it is printed in a sentence."""
    return shorten(case.annotation, LONGEST_NAME)


def names(cases: Sequence[Case], last: str = " and ") -> Sentence:
    """Join annotations as a sentence does."""
    said: Sentence = ()
    for index, case in enumerate(cases):
        said += ((", " if index < len(cases) - 1 else last) if index else "", name(case))
    return tuple(part for part in said if part)


def of_configuration(case: Case, declared: Declared) -> Sentence:
    """Return a configuration in words and figures, `n = 2048, dtype = fp16`; nothing where it has no parameters."""
    said: Sentence = ()
    for index, (word, value) in enumerate(case.params):
        said += (f"{', ' if index else ''}{visible(word)}\u00a0=\u00a0", *of_parameter(case, word, value, declared))
    return said


def of_parameter(case: Case, word: str, value: object, declared: Declared) -> Sentence:
    """Return a parameter's value: a number as a figure in its declared unit, a word as a name."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (parameter(value, declared.units.get(word, ""), case.source(word)),)
    return (shorten(str(value), LONGEST_NAME),)


def at(case: Case, declared: Declared) -> Sentence:
    """Return ` at n = 2048`, nothing where there are no parameters."""
    said = of_configuration(case, declared)
    return (" at ", *said) if said else ()


def value(row: Measured) -> Figure:
    """Return a row's mean as a sentence has it."""
    return short(row.mean, row.unit, row.source(), row.half)


def short(of: float, unit: str, source: str, spread: float) -> Figure:
    """Return a figure with as many digits as its interval supports, and four at most: the rest stands in the tables."""
    return min(figure(of, unit, source, spread=spread), figure(of, unit, source), key=lambda one: len(one.text))


def rate(group: Group, case: Case, main: str = "") -> Measured | None:
    """Return what says how fast a case is: the metric that its suite names, else the first derived one that is a rate."""
    for metric in (main, *group.derived):
        row = case.get(metric) if metric not in ("", TIME) else None
        if row is not None and ":" not in row.metric and (metric == main or row.unit.endswith("/s")):
            return row
    return None


def time_and_rate(group: Group, case: Case, declared: Declared) -> Sentence:
    """Return `175.2 us, 784.4 TFLOP/s` of a case that has a time."""
    fast = rate(group, case, declared.main)
    return (value(case.metrics[TIME]), *((", ", value(fast)) if fast is not None else ()))


def times(ratio: Ratio, numerator: Case, denominator: Case, metric: str = TIME) -> Figure:
    """Return a ratio as a sentence has it."""
    spread = (ratio.interval.high - ratio.interval.low) / 2 if ratio.interval else float("nan")
    return short(ratio.value, "", call("ratio", *pair(numerator, denominator, metric)), spread)


def interval(
    of: Interval, numerator: Case, denominator: Case, metric: str = TIME, comparisons: int = 1
) -> tuple[Figure, str, Figure]:
    """Return an interval of a ratio: `15.4 to 15.6`."""
    spread = (of.high - of.low) / 2
    rows = (*pair(numerator, denominator, metric), *([str(comparisons)] if comparisons > 1 else []))
    low = short(of.low, "", call("ratio_low", *rows), spread)
    return low, " to ", short(of.high, "", call("ratio_high", *rows), spread)


def pair(numerator: Case, denominator: Case, metric: str = TIME) -> tuple[str, str]:
    """Return the rows of two cases as a source's arguments."""
    return numerator.metrics[metric].row, denominator.metrics[metric].row


def over_pairs(ratio: Ratio, numerator: Case, denominator: Case, metric: str = TIME) -> Sentence:
    """Return over how many runs or processes a ratio was taken: `n = 10 paired runs`."""
    n, unit = (ratio.interval.n, ratio.interval.unit) if ratio.interval else (numerator.metrics[metric].runs, "run")
    words = "processes" if unit == "process" else plural(n, "run")
    source = call("ratio_n", *pair(numerator, denominator, metric))
    return ("n\u00a0=\u00a0", count(n, source), f" {'paired ' if ratio.paired and n > 1 else ''}{words}")


def over_runs(row: Measured) -> Sentence:
    """Return over how many runs a mean was taken: `n = 10 runs`."""
    return ("n\u00a0=\u00a0", count(row.runs, row.source("NumRuns")), f" {plural(row.runs, 'run')}")


def megahertz(hz: float, source: str) -> Figure:
    """Return a clock in whole MHz."""
    return Figure(hz, number(hz / 1e6, 0), "MHz", f"{hz:.12g} hz", source)


def series(parts: Sequence[Sentence], last: str = " and ") -> Sentence:
    """Join parts of a sentence: a, b and c."""
    said: Sentence = ()
    for index, part in enumerate(parts):
        said += (*(((", " if index < len(parts) - 1 else last),) if index else ()), *part)
    return said


def these(cases: Sequence[Case]) -> str:
    """Return the source of how many cases there are, each by its first row."""
    return call("count", "these", *(next(iter(case.metrics.values())).row for case in cases))


def limited_to(cases: Sequence[Case], most: int, word: str = "") -> Sentence:
    """Return ` and 3 more` for what of `cases` is left out beyond `most`, nothing where none is."""
    left = cases[most:]
    return (" and ", count(len(left), these(left)), f" more{keep_together(word)}") if left else ()
