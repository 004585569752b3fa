"""Look before measuring: what a backend needs of the machine, and the mend for each lack."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from reportgen.collect import ncu
from reportgen.collect.nvml import Sensors
from reportgen.evidence.errors import EnvironmentLacks

_NEEDS = {"torch": ("torch",), "cupti": ("torch", "cupti", "pynvml"), "ncu": ("torch", "nvtx", "pynvml")}
_EXTRA = {"torch": "torch", "cupti": "gpu", "pynvml": "gpu", "nvtx": "gpu"}


def check(backends: Sequence[str]) -> None:
    """Raise `EnvironmentLacks` for the first thing that a backend lacks; nothing falls back in silence."""
    for backend in backends:
        for package in _NEEDS[backend]:
            if find_spec(package) is None:
                mend = f"pip install 'reportgen[{_EXTRA[package]}]'"
                raise EnvironmentLacks(None, f"the backend '{backend}' needs the Python package '{package}'", mend)
        if backend != "torch" and (reason := Sensors().reason):
            raise EnvironmentLacks(
                None,
                f"the backend '{backend}' needs an NVIDIA GPU: {reason}",
                "use --backend torch to measure on the CPU",
            )
        if backend == "ncu":
            ncu.find()
