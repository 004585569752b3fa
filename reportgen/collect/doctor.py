"""What this machine can measure, and the mend for what it cannot; `preflight` asks the same before a collection."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from reportgen.collect import ncu_options, scenarios
from reportgen.collect.ncu_log import PAUSE_DCGM, Known
from reportgen.collect.probe import Probe
from reportgen.evidence.errors import EnvironmentLacks

State = Literal["ok", "lacking", "unknown"]

# Tools of CUDA 13 need a driver of its own generation.
_CUDA_13_DRIVER = 580
_CUDA_13_NCU = (2025, 3)
_LEAST_FREE = 1 << 30
_DCGM = ("nv-hostengine", "dcgm")
_RENDERING = ("jinja2", "matplotlib", "pandas", "scipy", "weasyprint", "zstandard")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: what was found, and the mend where it is lacking."""

    name: str
    state: State
    found: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class Ability:
    """What a backend can measure here: the names of the checks in its way, and of those that leave it unsure."""

    backend: str
    lacks: tuple[str, ...]
    unsure: tuple[str, ...]
    scenarios: tuple[str, ...]

    @property
    def can(self) -> bool:
        """Tell whether it can measure."""
        return not self.lacks


# What a backend needs, in the order in which a user would mend it; `IN_DEPTH` takes seconds, and only `doctor` looks.
NEEDS: Mapping[str, tuple[str, ...]] = {
    "ncu": ("torch", "nvtx", "NVML", "GPU", "ncu", "counters"),
    "cupti": ("torch", "cupti-python", "NVML", "GPU", "visible GPUs"),
    "torch": ("torch",),
}
IN_DEPTH: Mapping[str, tuple[str, ...]] = {
    "ncu": ("CUDA in torch", "MIG", "DCGM"),
    "cupti": ("CUDA in torch", "libcupti", "MIG"),
    "torch": (),
}
# What a scenario with base clocks needs beside.
_BASE_CLOCKS: Mapping[str, tuple[str, ...]] = {"ncu": ("clocks",), "cupti": ("clocks", "clocks locked"), "torch": ()}


def examine(probe: Probe) -> tuple[Check, ...]:
    """Look at everything; what cannot be looked at is `unknown` and stops nothing else."""
    return tuple(check(name, probe) for name in _CHECKS)


def check(name: str, probe: Probe) -> Check:
    """Look at one thing."""
    try:
        state, found, mend = _CHECKS[name](probe)
    except EnvironmentLacks as error:
        return Check(name, "lacking", f"{error.path}: {error.what}" if error.path else error.what, error.mend)
    except Exception as error:  # noqa: BLE001 - whatever a strange machine does, the other checks stand
        text = " ".join(str(error).split())[:200]
        return Check(name, "unknown", f"it could not be read ({type(error).__name__}: {text})")
    return Check(name, state, found, mend)


def abilities(checks: Sequence[Check]) -> tuple[Ability, ...]:
    """Return what each backend can measure, by what was found."""
    states = {check.name: check.state for check in checks}
    return tuple(_ability(backend, states) for backend in NEEDS)


def _ability(backend: str, states: Mapping[str, State]) -> Ability:
    needs = (*NEEDS[backend], *IN_DEPTH[backend])
    lacks = tuple(name for name in needs if states[name] == "lacking")
    unsure = tuple(name for name in needs if states[name] == "unknown")
    named = scenarios.of_backend(backend)
    if any(states[name] != "ok" for name in _BASE_CLOCKS[backend]):
        named = tuple(name for name in named if scenarios.policy(name).clocks == "free")
    return Ability(backend, lacks, unsure, () if lacks else named)


def known(ncu: str, probe: Probe) -> Known:
    """Return what helps to explain the log of the ncu at a path; what cannot be read stays empty."""
    driver = check("driver", probe)
    holder = check("DCGM", probe)
    try:
        version = ncu_options.offered(ncu).version
    except EnvironmentLacks:
        version = ""
    return Known(
        version,
        driver.found if driver.state == "ok" else "",
        holder.found.split(" ")[0] if holder.state == "unknown" else "",
        partial(ncu_options.metrics, ncu),
    )


_Found = tuple[State, str, str]


def _ok(found: str) -> _Found:
    return "ok", found, ""


def _gpu(probe: Probe) -> _Found:
    gpus = probe.gpus()
    first = gpus[0]
    more = f"; {len(gpus)} of them" if len(gpus) > 1 else ""
    return _ok(f"{first.name}, {first.memory_bytes / 2**30:.1f} GiB, compute capability {first.capability}{more}")


def _with_gpu(look: Callable[[Probe], _Found]) -> Callable[[Probe], _Found]:
    """Make a check that has nothing to look at where there is no GPU."""

    def looked(probe: Probe) -> _Found:
        try:
            probe.gpus()
        except EnvironmentLacks:
            return "unknown", "no GPU can be asked", ""
        return look(probe)

    return looked


def _visible(probe: Probe) -> _Found:
    count = probe.visible()
    if count == 1:
        return _ok("one")
    mend = "choose one: export CUDA_VISIBLE_DEVICES=0"
    return "lacking", f"{count}; CUPTI needs exactly one, since a record does not tell whose work it is", mend


def _mig(probe: Probe) -> _Found:
    if any(gpu.mig == "on" for gpu in probe.gpus()):
        return "unknown", "on: figures are of a slice, not of the GPU", "ask the host's owner for a GPU without MIG"
    return _ok("off")


def _counters(probe: Probe) -> _Found:
    try:
        found = re.search(r"^RmProfilingAdminOnly:\s*(\d)", probe.parameters(), re.MULTILINE)
    except OSError:
        found = None
    if found is None:
        return "unknown", "the driver does not tell who may read them; ncu will", ""
    if found[1] == "0":
        return _ok("all users may read them")
    if probe.admin():
        return _ok("administrators may read them, and this process is one")
    mend = (
        "ask the host's owner to set NVreg_RestrictProfilingToAdminUsers=0, which no container can, or use "
        "--backend cupti, or --backend torch"
    )
    return "lacking", "only administrators may read them (RmProfilingAdminOnly is 1)", mend


def _dcgm(probe: Probe) -> _Found:
    running = sorted({name for name in probe.processes() if name.startswith(_DCGM)})
    if not running:
        return _ok("no process of it is seen here")
    return "unknown", f"{running[0]} runs, and may hold the counters", f"if ncu says that they are taken, {PAUSE_DCGM}"


def _clocks(probe: Probe) -> _Found:
    reason = probe.not_lockable()
    if not reason:
        return _ok("they can be held at base")
    mend = (
        f"unset {scenarios.CLOCKS}, if the owner agrees"
        if scenarios.CLOCKS in reason
        else "run as an administrator, or have the host's owner lock them (nvidia-smi --lock-gpu-clocks)"
    )
    return "lacking", f"{reason}; scenarios with base clocks are skipped", mend


def _locked(probe: Probe) -> _Found:
    if probe.locked():
        return _ok("they are held by a setting")
    mend = "have the host's owner lock them (nvidia-smi --lock-gpu-clocks); ncu locks them itself while it measures"
    return "lacking", "no; CUPTI measures no scenario with base clocks", mend


def _ncu(probe: Probe) -> _Found:
    path, offered = probe.ncu()
    if offered.release >= _CUDA_13_NCU:
        _fits(probe, f"ncu {offered.version}", "Nsight Compute 2025.2")
    can = {
        "range replay": offered.takes("--replay-mode", "range"),
        "application replay": offered.takes("--replay-mode", "application"),
        "whole graphs": offered.takes("--graph-profiling", "graph"),
    }
    without = [name for name, there in can.items() if not there]
    with_them = ", ".join(name for name, there in can.items() if there) or "kernel replay only"
    text = f"{offered.version or 'of an unknown version'} at {path}; {with_them}"
    return "ok", text, f"for {' and '.join(without)}, install a newer Nsight Compute" if without else ""


def _fits(probe: Probe, tool: str, older: str) -> None:
    """Raise `EnvironmentLacks` where the driver is known to be too old for a tool of CUDA 13."""
    try:
        driver = probe.driver()
    except EnvironmentLacks:
        return
    major = driver.partition(".")[0]
    if major.isdigit() and int(major) < _CUDA_13_DRIVER:
        raise EnvironmentLacks(
            None,
            f"{tool} needs the driver {_CUDA_13_DRIVER} or newer, and this is {driver}",
            f"update the driver, or install {older}",
        )


def _cupti(probe: Probe) -> _Found:
    version = probe.package("cupti")
    if version.startswith("13."):
        _fits(probe, f"cupti-python {version}", "an older cupti-python")
    return _ok(version)


def _cuda(probe: Probe) -> _Found:
    probe.package("torch")
    torch = probe.torch()
    if not torch.cuda:
        return "lacking", f"torch {torch.version} is built for the CPU", "install a torch that is built for CUDA"
    if not torch.available:
        mend = "check that the driver is new enough for it, and CUDA_VISIBLE_DEVICES"
        return "lacking", f"torch {torch.version} is built for CUDA {torch.cuda} and finds no GPU to use", mend
    return _ok(f"torch {torch.version}, CUDA {torch.cuda}, GPUs: {torch.devices}")


def _libcupti(probe: Probe) -> _Found:
    probe.package("cupti")
    return _ok(probe.libcupti())


def _package(module: str) -> Callable[[Probe], _Found]:
    return lambda probe: _ok(probe.package(module))


def _disk(probe: Probe) -> _Found:
    free = probe.free_bytes()
    text = f"{free / 2**30:.1f} GiB free in this folder"
    return _ok(text) if free >= _LEAST_FREE else ("lacking", text, "make room, or write to another disk with --out")


def _pdf(probe: Probe) -> _Found:
    version = probe.package("weasyprint")
    missing = probe.missing_libraries()
    if not missing:
        return _ok(f"WeasyPrint {version} and its system libraries")
    mend = "Debian and Ubuntu: apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0; macOS: brew install pango"
    return "lacking", f"system libraries are not here: {', '.join(missing)}", mend


def _pages(probe: Probe) -> _Found:
    for module in _RENDERING:
        probe.package(module)
    return _ok("all packages for dossiers and sites are here")


_CHECKS: Mapping[str, Callable[[Probe], _Found]] = {
    "GPU": _gpu,
    "visible GPUs": _with_gpu(_visible),
    "MIG": _with_gpu(_mig),
    "driver": lambda probe: _ok(probe.driver()),
    "counters": _with_gpu(_counters),
    "DCGM": _dcgm,
    "clocks": _with_gpu(_clocks),
    "clocks locked": _with_gpu(_locked),
    "ncu": _ncu,
    "ncu_report": _package("ncu_report"),
    "nvtx": _package("nvtx"),
    "NVML": _package("pynvml"),
    "cupti-python": _cupti,
    "libcupti": _libcupti,
    "torch": _package("torch"),
    "CUDA in torch": _cuda,
    "triton": _package("triton"),
    "disk": _disk,
    "PDF": _pdf,
    "pages": _pages,
}
