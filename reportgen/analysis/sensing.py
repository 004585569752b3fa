"""What sensors read around the runs of one case: whether power or heat held the GPU back."""

from __future__ import annotations

from collections.abc import Iterator

from reportgen.analysis.groups import Case, Group
from reportgen.analysis.processed import decoded
from reportgen.evidence import throttle
from reportgen.evidence.sensed import Region, Sensed


def regions(sensed: Sensed, group: Group, case: Case) -> Iterator[Region]:
    """Yield the regions that the runs of a case were, in the order taken in each process."""
    params = dict(case.params)
    for region in sensed.regions:
        place = (region.backend, region.scenario, region.benchmark, region.annotation)
        if place == (group.backend, group.scenario, group.benchmark, case.annotation):
            known = {name: decoded(text) for name, text in region.params.items() if text}
            if known == params:
                yield region


def held_back(sensed: Sensed, group: Group, case: Case) -> tuple[str, ...]:
    """Return for what reasons sensors saw the GPU held back around a case's runs: power and heat, in NVML's words."""
    masks = [reading.throttle for region in regions(sensed, group, case) for reading in (region.before, region.after)]
    return throttle.slowing(throttle.in_words(mask for mask in masks if mask is not None))


def held_runs(sensed: Sensed, group: Group, case: Case) -> frozenset[tuple[int, int]]:
    """Return the runs of a case, by process and run, around which a sensor saw the GPU held back."""
    return frozenset(
        (region.process, region.run)
        for region in regions(sensed, group, case)
        if any((reading.throttle or 0) & throttle.SLOWS for reading in (region.before, region.after))
    )
