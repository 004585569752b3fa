"""The ncu backend: the command that wraps the worker, and the ranges that the worker sets under it.

`ncu` runs the worker as its child. Start/end ranges are the process's, not a thread's, so that what another thread launches
belongs to its region; their message carries benchmark, configuration, run and annotation back through the report.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reportgen.collect import scenarios
from reportgen.collect.ncu_options import Offered
from reportgen.collect.plain import device_facts
from reportgen.evidence.errors import EnvironmentLacks, UserError

DOMAIN = "reportgen"
REPORT = "report.ncu-rep"
ALWAYS = ("gpu__time_duration.sum", "gpc__cycles_elapsed.max", "gpc__cycles_elapsed.avg.per_second")
SET, SECTION = "set:", "section:"
_CACHE = {"flushed": "all", "kept": "none"}
_CLOCKS = {"free": "none", "base": "base"}
# Where installers put it, below `/`; a toolkit's own ncu goes with the driver that was installed for it, so it comes first.
_PLACES = ("usr/local/cuda/bin/ncu", "opt/nvidia/nsight-compute/*/ncu", "usr/local/cuda-*/bin/ncu")


@dataclass(frozen=True, slots=True)
class Profiling:
    """What is asked of one run of ncu.

    `metrics` are names of metrics, of sets as `set:NAME` and of sections as `section:NAME`.
    """

    ncu: str
    scenario: str
    metrics: tuple[str, ...] = ()
    replay: str = "kernel"  # or range, application
    graphs: str = "node"  # or graph
    sass: str = "none"  # or all


class NcuMeter:
    """Sets the ranges by which ncu knows what to profile."""

    def __init__(self) -> None:
        import nvtx
        import torch

        self._nvtx, self._torch = nvtx, torch
        self._range: Any = None

    def before(self) -> None:
        """Leave the caches: ncu flushes them itself before each kernel and pass."""

    def start(self, message: str) -> None:
        """Wait for the device and begin the range."""
        self._torch.cuda.synchronize()
        self._range = self._nvtx.start_range(message=message, domain=DOMAIN)

    def stop(self) -> dict[str, Any]:
        """Wait for the device and end the range."""
        self._torch.cuda.synchronize()
        self._nvtx.end_range(self._range)
        return {}

    def wait(self) -> None:
        """Wait for the device."""
        self._torch.cuda.synchronize()

    def close(self) -> dict[str, Any]:
        """Return what this process knows of the device; the report is ncu's to write."""
        return device_facts(self._torch)


def find(root: Path = Path("/")) -> str:
    """Return the path of ncu, from the PATH or else from where it is usually installed, the newest first.

    Raises `EnvironmentLacks` with the mend.
    """
    if found := shutil.which("ncu"):
        return found
    for place in _PLACES:
        for path in sorted(root.glob(place), key=_version, reverse=True):
            if os.access(path, os.X_OK):
                return str(path)
    raise EnvironmentLacks(
        None,
        "ncu is neither on the PATH nor where it is usually installed",
        "install Nsight Compute, or use --backend cupti or --backend torch",
    )


def _version(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", str(path))]


def command(asked: Profiling, offered: Offered, folder: Path, child: Sequence[str]) -> list[str]:
    """Return the command that profiles `child` and leaves `report.ncu-rep` in `folder`.

    Raises `EnvironmentLacks` where this version of ncu cannot do what is asked.
    """
    return [
        asked.ncu,
        *_policies(asked, offered),
        *_measured(asked.metrics),
        *("--nvtx", "--nvtx-include", f"regex:{DOMAIN}@.+", "--target-processes", "application-only"),
        *("--force-overwrite", "--export", str(folder / REPORT)),
        *child,
    ]


def _policies(asked: Profiling, offered: Offered) -> Iterator[str]:
    """Yield the options that have a choice; one that is not offered is left out where ncu does the same without it."""
    policy = scenarios.policy(asked.scenario)
    options = (
        ("--cache-control", _CACHE[policy.cache], "all"),
        ("--clock-control", _CLOCKS[policy.clocks], "base"),
        ("--replay-mode", asked.replay, "kernel"),
        ("--graph-profiling", asked.graphs, "node"),
    )
    for option, value, unset in options:
        if offered.takes(option, value):
            yield from (option, value)
        elif option in offered.options or value != unset:
            version = offered.version or "of an unknown version"
            raise EnvironmentLacks(
                asked.ncu, f"ncu {version} has no '{option} {value}'", "install a newer Nsight Compute"
            )
    # A version without this option always keeps the code: its reports are larger, and say the same.
    if "--import-sass" in offered.options:
        yield from ("--import-sass", "yes" if asked.sass == "all" else "no")


def _measured(metrics: Sequence[str]) -> Iterator[str]:
    plain = []
    for metric in dict.fromkeys((*ALWAYS, *metrics)):
        for prefix, option in ((SET, "--set"), (SECTION, "--section")):
            if metric.startswith(prefix):
                if not (name := metric.removeprefix(prefix)):
                    raise UserError(None, f"the metric '{metric}' names nothing", f"write it like {prefix}NAME")
                yield from (option, name)
                break
        else:
            plain.append(metric)
    yield from ("--metrics", ",".join(plain))
