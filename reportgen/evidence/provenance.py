"""Provenance: on what, with what and how something was measured, one fact for each key.

What could not be read is a fact without a value and with a reason, never a guess and never a gap.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from reportgen.evidence.errors import BundleError

FORMAT = 1
NOT_RECORDED = "not recorded"
WITHHELD = "withheld"
OTHER = "Other"

Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing known, or known to be not recorded: then `value` is None and `reason` says why.

    `origin` says where the value came from (`NVML`, `matmul.ncu-rep device attributes`). A fact that the public tier
    hides has `withheld` set and the word itself as its value.
    """

    value: Value
    reason: str = ""
    origin: str = ""
    withheld: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.value, str | int | float | bool | None):
            raise ValueError(f"a fact's value is a text, a number, true, false or None, not {type(self.value)}")
        if self.value is None and not self.reason:
            raise ValueError("a fact that is not recorded needs a reason")
        if isinstance(self.value, float) and not math.isfinite(self.value):
            raise ValueError("a fact's value is not a finite number")

    @property
    def recorded(self) -> bool:
        """Say whether the value itself stands here: neither not recorded nor withheld."""
        return self.value is not None and not self.withheld

    @property
    def text(self) -> str:
        """Return the value in words: as it is, `not recorded`, or `withheld`."""
        if self.value is None:
            return NOT_RECORDED
        return ("yes" if self.value else "no") if isinstance(self.value, bool) else str(self.value)


@dataclass(frozen=True, slots=True)
class Key:
    """What one fact is about: its dotted `name`, its `label` and `group` on a page, and its `unit` (or empty).

    A `sensitive` fact names a person, a machine, a place in it or what was typed there: the public tier withholds it.
    """

    name: str
    label: str
    group: str
    unit: str = ""
    sensitive: bool = False


GPU = "GPU"
CLOCKS = "Clocks and power"
SOFTWARE = "Software"
POLICY = "Measurement policy"
HOST = "Host"
SUITE = "Suite and source"
COLLECTION = "Collection"

KEYS: tuple[Key, ...] = (
    Key("gpu.name", "GPU", GPU),
    Key("gpu.uuid", "UUID", GPU, sensitive=True),
    Key("gpu.serial", "Serial number", GPU, sensitive=True),
    Key("gpu.count", "GPUs in the machine", GPU),
    Key("gpu.compute_capability", "Compute capability", GPU),
    Key("gpu.sm_count", "SMs", GPU),
    Key("gpu.memory_bytes", "Memory", GPU, "byte"),
    Key("gpu.bus_width_bits", "Memory bus width", GPU, "bit"),
    Key("gpu.l2_bytes", "L2 cache", GPU, "byte"),
    Key("gpu.warps_per_sm", "Warps an SM", GPU),
    Key("gpu.shared_memory_per_sm_bytes", "Shared memory an SM", GPU, "byte"),
    Key("gpu.ecc", "ECC", GPU),
    Key("gpu.mig", "MIG", GPU),
    Key("gpu.mps", "MPS", GPU),
    Key("gpu.vbios", "VBIOS", GPU),
    Key("gpu.pcie", "PCIe in effect", GPU),
    Key("gpu.power_limit_w", "Power limit", GPU, "W"),
    Key("gpu.persistence", "Persistence mode", GPU),
    Key("clocks.sm_rated_hz", "SM clock, rated", CLOCKS, "hz"),
    Key("clocks.memory_rated_hz", "Memory clock, rated", CLOCKS, "hz"),
    Key("clocks.sm_observed_hz", "SM clock, observed", CLOCKS, "hz"),
    Key("clocks.memory_observed_hz", "Memory clock, observed", CLOCKS, "hz"),
    Key("power.before_w", "Power before", CLOCKS, "W"),
    Key("power.during_w", "Power during", CLOCKS, "W"),
    Key("power.after_w", "Power after", CLOCKS, "W"),
    Key("temperature.before_c", "Temperature before", CLOCKS, "°C"),
    Key("temperature.during_c", "Temperature during", CLOCKS, "°C"),
    Key("temperature.after_c", "Temperature after", CLOCKS, "°C"),
    Key("throttle.before", "Throttle reasons before", CLOCKS),
    Key("throttle.during", "Throttle reasons during", CLOCKS),
    Key("throttle.after", "Throttle reasons after", CLOCKS),
    Key("timer.ncu_tick_ns", "Timer's tick, ncu", CLOCKS, "ns"),
    Key("timer.cupti_tick_ns", "Timer's tick, CUPTI", CLOCKS, "ns"),
    Key("versions.driver", "Driver", SOFTWARE),
    Key("versions.cuda", "CUDA", SOFTWARE),
    Key("versions.ncu", "Nsight Compute (ncu)", SOFTWARE),
    Key("versions.ncu_report", "ncu_report", SOFTWARE),
    Key("versions.cupti", "CUPTI", SOFTWARE),
    Key("versions.cupti_python", "cupti-python", SOFTWARE),
    Key("versions.perfworks", "PerfWorks", SOFTWARE),
    Key("versions.torch", "torch", SOFTWARE),
    Key("versions.triton", "triton", SOFTWARE),
    Key("versions.python", "Python", SOFTWARE),
    Key("versions.reportgen", "reportgen", SOFTWARE),
    Key("policy.cache", "Cache policy", POLICY),
    Key("policy.clocks", "Clock policy", POLICY),
    Key("policy.replay", "Replay policy", POLICY),
    Key("policy.flush_bytes", "Flush size", POLICY, "byte"),
    Key("policy.flush_granularity", "Flush granularity", POLICY),
    Key("policy.heat", "Heat policy", POLICY),
    Key("policy.thermal", "Thermal mode", POLICY),
    Key("policy.counters_permitted", "Counters permitted", POLICY),
    Key("host.name", "Host name", HOST, sensitive=True),
    Key("host.user", "User", HOST, sensitive=True),
    Key("host.addresses", "Addresses", HOST, sensitive=True),
    Key("host.architecture", "Architecture", HOST),
    Key("host.cpu", "CPU", HOST),
    Key("host.cores", "Cores", HOST),
    Key("host.memory_bytes", "Memory", HOST, "byte"),
    Key("host.kernel", "Kernel", HOST),
    Key("host.os", "Operating system", HOST),
    Key("host.container", "Container", HOST),
    Key("host.numa", "NUMA", HOST),
    Key("suite.git_commit", "Git commit of the suite", SUITE),
    Key("suite.git_dirty", "Uncommitted changes", SUITE),
    Key("command.profiler", "Profiler's command", SUITE, sensitive=True),
    Key("command.reportgen", "reportgen's command", SUITE, sensitive=True),
    Key("import.files", "Imported files", SUITE),
    Key("import.backend_reason", "How the backend was told", SUITE),
    Key("collection.start", "Start", COLLECTION),
    Key("collection.end", "End", COLLECTION),
    Key("collection.duration_s", "Duration", COLLECTION, "s"),
    Key("collection.created", "Report created", COLLECTION),
)
_BY_NAME = {key.name: key for key in KEYS}


def key_of(name: str) -> Key:
    """Return the key called `name`; one that is not of `KEYS` is of the group `Other`, labelled by its name."""
    return _BY_NAME.get(name) or Key(name, name, OTHER)


@dataclass(frozen=True)
class Provenance:
    """All facts of one collection, by key, in the order of `KEYS` and then of the other names."""

    facts: Mapping[str, Fact]

    def __post_init__(self) -> None:
        order = [key.name for key in KEYS if key.name in self.facts]
        order += sorted(set(self.facts) - _BY_NAME.keys())
        object.__setattr__(self, "facts", MappingProxyType({name: self.facts[name] for name in order}))

    def get(self, name: str) -> Fact:
        """Return the fact called `name`; a key that an older bundle does not know is not recorded."""
        return self.facts.get(name) or Fact(None, "the reportgen that wrote this bundle did not know this key")

    def groups(self) -> tuple[tuple[str, tuple[tuple[Key, Fact], ...]], ...]:
        """Return every fact under its group's name, in the order in which a page prints them."""
        found: dict[str, list[tuple[Key, Fact]]] = {}
        for key in (*KEYS, *(key_of(name) for name in self.facts if name not in _BY_NAME)):
            found.setdefault(key.group, []).append((key, self.get(key.name)))
        return tuple((group, tuple(rows)) for group, rows in found.items())


def from_facts(known: Mapping[str, Fact | Value], missing_reason: str, origin: str = "") -> Provenance:
    """Make the provenance of what is `known`; every other key of `KEYS` is not recorded, for `missing_reason`.

    A plain value becomes a fact from `origin`; a plain None is not recorded.
    """
    facts: dict[str, Fact] = {key.name: Fact(None, missing_reason) for key in KEYS}
    for name, value in known.items():
        if isinstance(value, Fact):
            facts[name] = value
        elif value is not None:
            facts[name] = Fact(value, "", origin)
        else:
            facts.setdefault(name, Fact(None, missing_reason))
    return Provenance(facts)


def to_json(provenance: Provenance) -> bytes:
    """Return provenance as pretty, sorted JSON, the same bytes for the same facts."""
    facts = {name: _fact_to_json(fact) for name, fact in provenance.facts.items()}
    text = json.dumps({"format": FORMAT, "facts": facts}, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True)
    return (text + "\n").encode("utf-8")


def from_json(data: bytes, where: str = "data/provenance.json") -> Provenance:
    """Read provenance from JSON; raises `BundleError` that names `where` and the key."""
    whole = json_object(data, where)
    check_format(whole, where, FORMAT)
    facts = whole.get("facts")
    if set(whole) != {"format", "facts"} or not isinstance(facts, dict):
        raise BundleError(where, "does not hold 'format' and 'facts', and only these")
    return Provenance({name: _fact_from_json(name, fact, where) for name, fact in facts.items()})


def json_object(data: bytes, where: str) -> dict[str, Any]:
    """Read one JSON object strictly (UTF-8, no NaN, no key twice); raises `BundleError` that names `where`."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a key stands twice")
        return found

    def no_constant(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    try:
        whole = json.loads(data.decode("utf-8"), object_pairs_hook=once, parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        raise BundleError(where, f"is not JSON: {error}", "take the bundle from a copy") from error
    if not isinstance(whole, dict):
        raise BundleError(where, "is not a JSON object", "take the bundle from a copy")
    return whole


def check_format(whole: Mapping[str, Any], where: str, newest: int) -> None:
    """Raise `BundleError` unless `whole` has a format version from 1 to `newest`."""
    from reportgen import __version__

    version = whole.get("format")
    if type(version) is not int or version < 1:
        raise BundleError(where, "has no format version")
    if version > newest:
        what = f"needs reportgen with bundle format {version}; this is {__version__}, which opens up to {newest}"
        raise BundleError(where, what, "install a newer reportgen")


def _fact_to_json(fact: Fact) -> dict[str, Value]:
    found: dict[str, Value] = {"value": fact.value, "reason": fact.reason, "origin": fact.origin}
    return {**found, "withheld": True} if fact.withheld else found


def _fact_from_json(name: str, fact: Any, where: str) -> Fact:
    if not isinstance(fact, dict) or not {"value", "reason", "origin"} <= set(fact) <= set(Fact.__slots__):
        raise BundleError(where, f"'{name}' does not hold 'value', 'reason' and 'origin', and only these")
    if not isinstance(fact["reason"], str) or not isinstance(fact["origin"], str):
        raise BundleError(where, f"'{name}': reason and origin must be texts")
    if not isinstance(fact.get("withheld", False), bool):
        raise BundleError(where, f"'{name}': withheld must be true or false")
    try:
        return Fact(**fact)
    except ValueError as error:
        raise BundleError(where, f"'{name}': {error}") from error
