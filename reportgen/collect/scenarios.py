"""The scenarios by name: what becomes of the caches and of the clocks, which backend can keep to it, and on which machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reportgen.evidence.errors import UserError

CLOCKS = "REPORTGEN_CLOCKS"
"""The environment variable by which a machine's owner asks, with `leave`, that no clock is touched."""

_STATUS = Path("/proc/self/status")
_SYS_ADMIN = 1 << 21  # Linux: CAP_SYS_ADMIN, by which NVIDIA's driver knows an administrator
_LOCKED = 0x2  # NVML: the clocks are held by a setting, not by load, heat or power


@dataclass(frozen=True, slots=True)
class Policy:
    """What is done to the caches before each measurement, and to the clocks during it."""

    cache: Literal["flushed", "kept"]
    clocks: Literal["free", "base"]


POLICIES: Mapping[str, Policy] = {
    "default": Policy("flushed", "free"),
    "strict": Policy("flushed", "base"),
    "continuous": Policy("kept", "free"),
    "continuous-strict": Policy("kept", "base"),
}


def names() -> tuple[str, ...]:
    """Return the names of all scenarios."""
    return tuple(POLICIES)


def policy(scenario: str) -> Policy:
    """Return the policy of a scenario; raises `UserError` that names the known ones."""
    if scenario not in POLICIES:
        raise UserError(None, f"there is no scenario '{scenario}'", f"use one of {', '.join(names())}")
    return POLICIES[scenario]


def of_backend(backend: str) -> tuple[str, ...]:
    """Return the scenarios that a backend can keep to: torch.profiler neither flushes nor sets clocks.

    CUPTI sets no clocks either, but measures with base clocks where they are locked already.
    """
    return ("continuous",) if backend == "torch" else names()


def clocks_lockable() -> str:
    """Return why no scenario with base clocks can be measured here; an empty text when one can."""
    return why_not_lockable(os.environ.get(CLOCKS, ""), is_admin, locked)


def why_not_lockable(asked: str, admin: Callable[[], bool], held: Callable[[], bool]) -> str:
    """Return the reason of `clocks_lockable` from what the owner asked and what this machine says of itself."""
    if asked == "leave":
        return f"the owner asks that clocks are left alone ({CLOCKS}=leave)"
    if asked:
        return f"{CLOCKS} is '{asked}', which means nothing; it may be 'leave', or not set"
    if admin() or held():
        return ""
    return "this user may not set the GPU's clocks, and they are not locked already"


def is_admin() -> bool:
    """Tell whether NVIDIA's driver takes this process for an administrator's: root in a container often is none."""
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return os.geteuid() == 0
    capabilities = next((line.partition(":")[2] for line in lines if line.startswith("CapEff:")), "0")
    return bool(int(capabilities, 16) & _SYS_ADMIN)


def locked() -> bool:
    """Tell whether NVML says that the first GPU's clocks are held by a setting."""
    try:
        import pynvml
    except ImportError:
        return False
    try:
        pynvml.nvmlInit()
        device = pynvml.nvmlDeviceGetHandleByIndex(0)
        return bool(pynvml.nvmlDeviceGetCurrentClocksEventReasons(device) & _LOCKED)
    except pynvml.NVMLError:
        return False
