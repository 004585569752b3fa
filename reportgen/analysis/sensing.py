"""What sensors read around the runs: clocks, temperature and power, and whether power or heat held the GPU back."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reportgen.analysis.groups import Case, Group
from reportgen.analysis.measurements import Measurements
from reportgen.analysis.processed import decoded
from reportgen.analysis.sources import Kind, computes, counts
from reportgen.evidence import throttle
from reportgen.evidence.sensed import Reading, Region, Sensed


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
    return frozenset((region.process, region.run) for region in regions(sensed, group, case) if slowed(region))


@dataclass(frozen=True, slots=True)
class Ends:
    """The least and the most that a sensor read; NaN where it read nothing."""

    least: float
    most: float

    @property
    def known(self) -> bool:
        """Tell whether it read anything."""
        return not math.isnan(self.least)


def of_step(sensed: Sensed, backend: str, scenario: str) -> dict[int, list[Region]]:
    """Return the regions that a backend ran under a scenario, by process, each in the order taken."""
    found: dict[int, list[Region]] = {}
    for region in sensed.regions:
        if (region.backend, region.scenario) == (backend, scenario):
            found.setdefault(region.process, []).append(region)
    return found


_PLACE: tuple[Kind, ...] = ("measurements", "text", "text")


@computes("sm_clock_least", *_PLACE, part=lambda ends: ends.least, unit="hz")
@computes("sm_clock_most", *_PLACE, part=lambda ends: ends.most, unit="hz")
def clock(of: Measurements, backend: str, scenario: str) -> Ends:
    """The SM clock as NVML read it around the regions of a backend and scenario: the least or the most."""
    return _ends(of, backend, scenario, lambda reading: reading.sm_clock_hz)


@computes("temperature_least", *_PLACE, part=lambda ends: ends.least, unit="°C")
@computes("temperature_most", *_PLACE, part=lambda ends: ends.most, unit="°C")
def temperature(of: Measurements, backend: str, scenario: str) -> Ends:
    """The GPU's temperature as NVML read it around the regions of a backend and scenario: the least or the most."""
    return _ends(of, backend, scenario, lambda reading: reading.temperature_c)


@computes("power_least", *_PLACE, part=lambda ends: ends.least, unit="W")
@computes("power_most", *_PLACE, part=lambda ends: ends.most, unit="W")
def power(of: Measurements, backend: str, scenario: str) -> Ends:
    """The power as NVML read it around the regions of a backend and scenario: the least or the most."""
    return _ends(of, backend, scenario, lambda reading: reading.power_w)


@counts("regions held back", "text", "text")
def regions_held_back(of: Measurements, backend: str, scenario: str) -> int:
    """The regions of a backend and scenario around which a sensor saw power or heat hold the GPU back."""
    return sum(slowed(region) for regions in of_step(of.sensed, backend, scenario).values() for region in regions)


def slowed(region: Region) -> bool:
    """Tell whether a sensor saw power or heat hold the GPU back before or after a region."""
    return any((reading.throttle or 0) & throttle.SLOWS for reading in (region.before, region.after))


def _ends(of: Measurements, backend: str, scenario: str, read: Callable[[Reading], float]) -> Ends:
    """Return what a sensor read before and after the regions."""
    regions = (region for part in of_step(of.sensed, backend, scenario).values() for region in part)
    values = [value for r in regions for value in (read(r.before), read(r.after)) if not math.isnan(value)]
    return Ends(min(values), max(values)) if values else Ends(math.nan, math.nan)
