"""The ncu backend: the command that wraps the worker, and the ranges that the worker sets under it.

`ncu` runs the worker as its child. Start/end ranges are the process's, not a thread's, so that what another thread launches
belongs to its region; their message carries benchmark, configuration, run and annotation back through the report.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from reportgen.evidence.errors import EnvironmentLacks, UserError

DOMAIN = "reportgen"
REPORT = "report.ncu-rep"
ALWAYS = ("gpu__time_duration.sum", "gpc__cycles_elapsed.max", "gpc__cycles_elapsed.avg.per_second")
NOT_PERMITTED = "ERR_NVGPUCTRPERM"
_POLICIES = {"default": ("all", "none"), "strict": ("all", "base"), "continuous": ("none", "none")}


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

    def close(self) -> None:
        """Leave nothing: ncu writes the report."""


def find() -> str:
    """Return the path of ncu; raises `EnvironmentLacks` with the mend."""
    found = shutil.which("ncu")
    if found is None:
        raise EnvironmentLacks(None, "ncu is not on the PATH", "install Nsight Compute, or use --backend torch")
    return found


def command(ncu: str, scenario: str, metrics: Iterable[str], folder: Path, child: Sequence[str]) -> list[str]:
    """Return the command that profiles `child` under a scenario and leaves `report.ncu-rep` in `folder`."""
    if scenario not in _POLICIES:
        raise UserError(None, f"ncu cannot measure the scenario '{scenario}'", f"use one of {', '.join(_POLICIES)}")
    cache, clocks = _POLICIES[scenario]
    asked = ",".join(dict.fromkeys((*ALWAYS, *metrics)))
    return [
        ncu,
        *("--cache-control", cache, "--clock-control", clocks, "--import-sass", "no", "--force-overwrite"),
        *("--nvtx", "--nvtx-include", f"regex:{DOMAIN}@.+", "--metrics", asked),
        *("--export", str(folder / REPORT), "--target-processes", "application-only"),
        *child,
    ]


def why_no_report(log: str) -> tuple[str, str]:
    """Return the state and the reason of a step for which ncu wrote no report, by what it said."""
    if NOT_PERMITTED in log:
        return "not permitted", (
            "the host does not let this user read the GPU's counters (ERR_NVGPUCTRPERM); ask its owner to set "
            "NVreg_RestrictProfilingToAdminUsers=0, or collect with --backend cupti"
        )
    errors = [line.removeprefix("==ERROR==").strip() for line in log.splitlines() if line.startswith("==ERROR==")]
    if errors:
        return "dropped", f"ncu: {' '.join(errors[0].split())[:300]}"
    if "No kernels were profiled" in log:
        return "dropped", "ncu profiled no kernel: did the suite touch CUDA before reportgen's ranges?"
    return "dropped", "ncu left no report; its log says more"
