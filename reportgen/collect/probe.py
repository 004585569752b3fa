"""Read this machine for `doctor`: each reading by itself, and none that could take this process down with it.

A reading raises `EnvironmentLacks` where what it reads is not there, with the mend.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from reportgen.collect import machine, ncu, ncu_options, scenarios
from reportgen.collect.ncu_options import Offered
from reportgen.evidence.errors import EnvironmentLacks

_CHILD_TIMEOUT_S = 60.0
_PARAMS = Path("/proc/driver/nvidia/params")
_VERSION = Path("/proc/driver/nvidia/version")
_PROC = Path("/proc")
_UNKNOWN = "of an unknown version"
_DISTRIBUTIONS = {"cupti": "cupti-python", "ncu_report": "ncu-report", "pynvml": "nvidia-ml-py"}
_EXTRAS = {"torch": "torch", "cupti": "gpu", "nvtx": "gpu", "pynvml": "gpu"}
_NO_GPU = "use a machine with an NVIDIA GPU and its driver, or use --backend torch to measure on the CPU"
_PANGO = {
    "Pango": ("pango-1.0", "libpango-1.0.so.0"),
    "PangoFT2": ("pangoft2-1.0", "libpangoft2-1.0.so.0"),
    "HarfBuzz": ("harfbuzz-subset", "libharfbuzz-subset.so.0"),
    "Fontconfig": ("fontconfig", "libfontconfig.so.1"),
}
_TORCH = """
import json, torch
there = torch.cuda.is_available()
print(json.dumps([torch.__version__, torch.version.cuda or "", there, torch.cuda.device_count() if there else 0]))
"""
_CUPTI = """
import json
from cupti import cupti
from reportgen.collect.cupti import library_version
cupti.get_timestamp()
print(json.dumps(library_version()))
"""


@dataclass(frozen=True, slots=True)
class Gpu:
    """What NVML tells of a GPU; `mig` is `on`, `off` or empty where it has none."""

    name: str
    memory_bytes: int
    capability: str
    mig: str = ""


@dataclass(frozen=True, slots=True)
class Torch:
    """What torch says of itself: its CUDA is empty in a build for the CPU."""

    version: str
    cuda: str
    available: bool
    devices: int


class Probe:
    """The readings of this machine; a test stands in with its own."""

    def gpus(self) -> tuple[Gpu, ...]:
        """Return the GPUs that NVML sees."""
        nvml = _nvml()
        try:
            found = tuple(_gpu(nvml, index) for index in range(nvml.nvmlDeviceGetCount()))
        except nvml.NVMLError as error:
            raise EnvironmentLacks(None, f"NVML cannot be used ({error})", _NO_GPU) from None
        if not found:
            raise EnvironmentLacks(None, "NVML sees no GPU", _NO_GPU)
        return found

    def visible(self) -> int:
        """Return how many GPUs CUDA may use, by the environment and NVML."""
        chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
        return (
            len(self.gpus()) if chosen is None else len([c for c in chosen.split(",") if c.strip() not in ("", "-1")])
        )

    def driver(self) -> str:
        """Return the driver's version, by the kernel or by NVML."""
        try:
            if found := re.search(r"\s(\d{3,}(?:\.\d+)+)\s", _VERSION.read_text()):
                return found[1]
        except OSError:
            pass
        nvml = _nvml()
        try:
            return str(nvml.nvmlSystemGetDriverVersion())
        except nvml.NVMLError as error:
            raise EnvironmentLacks(None, f"NVML does not tell it ({error})", _NO_GPU) from None

    def parameters(self) -> str:
        """Return the driver's parameters, as it lists them."""
        return _PARAMS.read_text()

    def admin(self) -> bool:
        """Tell whether the driver takes this process for an administrator's."""
        return scenarios.is_admin()

    def processes(self) -> tuple[str, ...]:
        """Return the names of the processes that are seen here; in a container, not the host's."""
        return tuple(_names())

    def not_lockable(self) -> str:
        """Return why the clocks cannot be held at base, empty where they can."""
        return scenarios.clocks_lockable()

    def locked(self) -> bool:
        """Tell whether the clocks are locked already."""
        return scenarios.locked()

    def ncu(self) -> tuple[str, Offered]:
        """Return where ncu is and what it offers."""
        path = ncu.find()
        return path, ncu_options.offered(path)

    def package(self, module: str) -> str:
        """Return the version of the package that has a module, which is not imported."""
        distribution = _DISTRIBUTIONS.get(module, module)
        if find_spec(module) is None:
            extra = _EXTRAS.get(module)
            mend = f"pip install 'reportgen[{extra}]'" if extra else f"pip install {distribution}"
            raise EnvironmentLacks(None, f"the Python package '{module}' is not installed", mend)
        if module == "ncu_report":
            return str(machine.ncu_report().value or _UNKNOWN)
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            return _UNKNOWN

    def torch(self) -> Torch:
        """Return what torch says, asked in a child process."""
        version, cuda, available, devices = _ask("torch", _TORCH)
        return Torch(version, cuda, available, devices)

    def libcupti(self) -> str:
        """Return the version of the CUPTI library that cupti-python loads, asked in a child process."""
        return str(_ask("cupti", _CUPTI))

    def free_bytes(self) -> int:
        """Return the free space on the disk of the current folder."""
        return shutil.disk_usage(Path.cwd()).free

    def missing_libraries(self) -> tuple[str, ...]:
        """Return which of the system libraries that draw PDFs are not here."""
        return tuple(name for name, files in _PANGO.items() if not _loads(*files))


def _nvml() -> Any:
    try:
        import pynvml
    except ImportError:
        raise EnvironmentLacks(
            None, "NVML cannot be asked without the Python package 'pynvml'", "pip install 'reportgen[gpu]'"
        ) from None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        raise EnvironmentLacks(None, f"NVML cannot be used ({error})", _NO_GPU) from None
    return pynvml


def _gpu(nvml: Any, index: int) -> Gpu:
    device = nvml.nvmlDeviceGetHandleByIndex(index)
    try:
        mig = "on" if nvml.nvmlDeviceGetMigMode(device)[0] else "off"
    except nvml.NVMLError:
        mig = ""
    return Gpu(
        nvml.nvmlDeviceGetName(device),
        int(nvml.nvmlDeviceGetMemoryInfo(device).total),
        ".".join(map(str, nvml.nvmlDeviceGetCudaComputeCapability(device))),
        mig,
    )


def _names() -> Iterator[str]:
    for path in _PROC.glob("[0-9]*/comm"):
        try:
            yield path.read_text().strip()
        except OSError:
            continue  # it has ended meanwhile


def _ask(package: str, code: str) -> Any:
    """Run Python code in a child process and return the JSON on its last line."""
    paths = os.pathsep.join(path for path in sys.path if path)
    try:
        ran = subprocess.run(
            [sys.executable, "-P", "-c", code],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_CHILD_TIMEOUT_S,
            env={**os.environ, "PYTHONPATH": paths},
        )
    except subprocess.TimeoutExpired:
        raise EnvironmentLacks(
            None, f"importing {package} took over {_CHILD_TIMEOUT_S:g} s", f"try: python -c 'import {package}'"
        ) from None
    lines = ran.stdout.splitlines()
    if ran.returncode != 0 or not lines:
        said = ran.stderr.strip().splitlines()
        what = f"importing {package} ended with exit code {ran.returncode}"
        raise EnvironmentLacks(None, f"{what}: {said[-1]}" if said else what, f"install {package} again")
    return json.loads(lines[-1])


def _loads(name: str, file: str) -> bool:
    for candidate in (file, ctypes.util.find_library(name)):
        if candidate is not None:
            try:
                ctypes.CDLL(candidate)
            except OSError:
                continue
            return True
    return False
