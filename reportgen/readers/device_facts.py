"""Provenance facts that a report states of its GPU in its device attributes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

_ATTRIBUTE = "device__attribute_"
_WHOLE_NUMBERS = {
    "gpu.sm_count": ("multiprocessor_count", 1),
    "gpu.l2_bytes": ("l2_cache_size", 1),
    "gpu.memory_bytes": ("total_memory", 1),
    "gpu.bus_width_bits": ("global_memory_bus_width", 1),
    "gpu.shared_memory_per_sm_bytes": ("max_shared_memory_per_multiprocessor", 1),
    "gpu.warps_per_sm": ("max_warps_per_multiprocessor", 1),
    # Clock rates are device attributes in kHz: the rated maximum, not what was seen while the kernels ran.
    "clocks.sm_rated_hz": ("clock_rate", 1000),
    "clocks.memory_rated_hz": ("memory_clock_rate", 1000),
}
_SWITCHES = {"gpu.ecc": "ecc_enabled", "gpu.mps": "mps_enabled"}


def facts_from(values: Mapping[str, float | str]) -> dict[str, str]:
    """Return the provenance facts that the metrics in `values` (name to value, in base units) state of the GPU."""
    facts: dict[str, str] = {}
    name = values.get(_ATTRIBUTE + "display_name")
    if isinstance(name, str) and name:
        facts["gpu.name"] = name
    major = _whole(values, "compute_capability_major")
    minor = _whole(values, "compute_capability_minor")
    if major is not None and minor is not None:
        facts["gpu.compute_capability"] = f"{major}.{minor}"
    for key, (attribute, factor) in _WHOLE_NUMBERS.items():
        number = _whole(values, attribute)
        if number is not None:
            facts[key] = str(number * factor)
    for key, attribute in _SWITCHES.items():
        number = _whole(values, attribute)
        if number is not None:
            facts[key] = "on" if number else "off"
    return facts


def _whole(values: Mapping[str, float | str], attribute: str) -> int | None:
    value = values.get(_ATTRIBUTE + attribute)
    if value is None or isinstance(value, str) or not math.isfinite(value) or value != int(value):
        return None
    return int(value)


def join(found: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Join the facts of several devices or hosts: each key with its different values, in order, by commas."""
    values: dict[str, dict[str, None]] = {}
    for facts in found:
        for key, value in facts.items():
            values.setdefault(key, {})[value] = None
    return {key: ", ".join(texts) for key, texts in values.items()}
