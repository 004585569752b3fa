"""What a machine can measure, by readings that stand in for it; and what stops a collection before it begins."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

import pytest

from reportgen.collect import doctor, preflight, probe
from reportgen.collect.doctor import Ability, Check
from reportgen.collect.ncu_options import Offered, parse_help
from reportgen.collect.probe import Gpu, Probe, Torch
from reportgen.evidence.errors import EnvironmentLacks
from tests.collect import fake_ncu

PACKAGES = {
    "cupti": "13.4.0",
    "jinja2": "3.1.6",
    "matplotlib": "3.11",
    "ncu_report": "2026.3.1",
    "nvtx": "0.2.15",
    "pandas": "3.1",
    "pynvml": "13.0",
    "scipy": "1.17",
    "torch": "2.11.0",
    "triton": "3.6.0",
    "weasyprint": "70.0",
    "zstandard": "0.25",
}
H200 = Gpu("NVIDIA H200", 150_000_000_000, "9.0", "off")


@dataclass(frozen=True)
class Machine(Probe):
    """A machine with everything, unless told otherwise."""

    seen: tuple[Gpu, ...] = (H200,)
    chosen: int = 1
    version: str = "580.159.04"
    params: str = "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 0\n"
    root: bool = False
    running: tuple[str, ...] = ("bash", "python")
    not_held: str = ""
    held: bool = True
    help: str = "2025.3"
    without: tuple[str, ...] = ()
    torch_says: Torch = Torch("2.11.0", "13.0", True, 1)  # noqa: RUF009 - frozen
    free: int = 1 << 40
    libraries: tuple[str, ...] = ()
    packages: dict[str, str] = field(default_factory=lambda: PACKAGES)

    def gpus(self) -> tuple[Gpu, ...]:
        if not self.seen:
            raise EnvironmentLacks(None, "NVML sees no GPU", "use --backend torch to measure on the CPU")
        return self.seen

    def visible(self) -> int:
        return self.chosen

    def driver(self) -> str:
        return self.version

    def parameters(self) -> str:
        if not self.params:
            raise FileNotFoundError
        return self.params

    def admin(self) -> bool:
        return self.root

    def processes(self) -> tuple[str, ...]:
        return self.running

    def not_lockable(self) -> str:
        return self.not_held

    def locked(self) -> bool:
        return self.held

    def ncu(self) -> tuple[str, Offered]:
        if not self.help:
            raise EnvironmentLacks(None, "ncu is not here", "install Nsight Compute")
        return "/usr/bin/ncu", parse_help(fake_ncu.help_text(self.help))

    def package(self, module: str) -> str:
        if module in self.without:
            raise EnvironmentLacks(None, f"the Python package '{module}' is not installed", f"pip install {module}")
        return self.packages[module]

    def torch(self) -> Torch:
        return self.torch_says

    def libcupti(self) -> str:
        return "130400"

    def free_bytes(self) -> int:
        return self.free

    def missing_libraries(self) -> tuple[str, ...]:
        return self.libraries


ALL = Machine()
NOTHING = Machine(
    seen=(), chosen=0, params="", help="", without=("torch", "triton", "cupti", "nvtx", "pynvml"), libraries=("Pango",)
)


def named(checks: tuple[Check, ...]) -> dict[str, Check]:
    return {check.name: check for check in checks}


def able(machine: Probe) -> dict[str, Ability]:
    return {ability.backend: ability for ability in doctor.abilities(doctor.examine(machine))}


def test_a_machine_with_everything_measures_everything() -> None:
    checks = doctor.examine(ALL)
    found = able(ALL)

    assert {check.state for check in checks} == {"ok"}
    assert not any(check.mend for check in checks)
    assert all(ability.can and not ability.unsure for ability in found.values())
    assert found["ncu"].scenarios == ("default", "strict", "continuous", "continuous-strict")
    assert found["cupti"].scenarios == found["ncu"].scenarios
    assert found["torch"].scenarios == ("continuous",)
    assert named(checks)["GPU"].found == "NVIDIA H200, 139.7 GiB, compute capability 9.0"
    assert "whole graphs" in named(checks)["ncu"].found


def test_a_machine_with_nothing_has_a_mend_for_each_lack() -> None:
    checks = doctor.examine(NOTHING)

    assert not any(ability.can for ability in able(NOTHING).values())
    assert all(check.mend for check in checks if check.state == "lacking")
    assert {named(checks)[name].state for name in ("counters", "clocks", "clocks locked", "MIG")} == {"unknown"}
    assert able(NOTHING)["torch"].lacks == ("torch",)
    assert able(NOTHING)["ncu"].scenarios == ()


def test_this_machine_can_be_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPORTGEN_CLOCKS", "leave")
    checks = doctor.examine(Probe())

    assert len(checks) == len(doctor.examine(ALL))
    assert all(check.found for check in checks)
    assert all(check.mend for check in checks if check.state == "lacking")


def test_torch_alone_measures_on_the_cpu() -> None:
    machine = replace(NOTHING, without=("triton", "cupti", "nvtx", "pynvml"), torch_says=Torch("2.11", "", False, 0))
    found = able(machine)

    assert found["torch"].can
    assert not found["cupti"].can
    assert "built for the CPU" in named(doctor.examine(machine))["CUDA in torch"].found


@pytest.mark.parametrize(
    ("params", "root", "state"),
    [
        ("RmProfilingAdminOnly: 1\n", False, "lacking"),
        ("RmProfilingAdminOnly: 1\n", True, "ok"),
        ("", False, "unknown"),
    ],
)
def test_counters_need_the_owner_or_an_administrator(params: str, root: bool, state: str) -> None:
    machine = replace(ALL, params=params, root=root)
    found = named(doctor.examine(machine))["counters"]

    assert found.state == state
    assert ("NVreg_RestrictProfilingToAdminUsers=0" in found.mend) == (state == "lacking")
    assert able(machine)["ncu"].can == (state != "lacking")
    assert able(machine)["cupti"].can


@pytest.mark.parametrize("name", ["nv-hostengine", "dcgm-exporter"])
def test_dcgm_makes_the_counters_uncertain(name: str) -> None:
    machine = replace(ALL, running=("bash", name))
    found = named(doctor.examine(machine))["DCGM"]

    assert (found.state, found.found) == ("unknown", f"{name} runs, and may hold the counters")
    assert "dcgmi profile --pause" in found.mend
    assert able(machine)["ncu"].unsure == ("DCGM",)
    assert doctor.known("ncu", machine).dcgm == name


def test_a_driver_that_is_too_old_for_the_tools_is_named_with_the_mend() -> None:
    machine = replace(ALL, version="570.86.15")
    checks = named(doctor.examine(machine))

    assert checks["ncu"].found == "ncu 2025.3.1.0 needs the driver 580 or newer, and this is 570.86.15"
    assert "install Nsight Compute 2025.2" in checks["ncu"].mend
    assert checks["cupti-python"].state == "lacking"
    assert not able(machine)["ncu"].can
    assert able(replace(machine, help="2022.4"))["ncu"].can


def test_an_older_ncu_says_what_it_cannot_do() -> None:
    found = named(doctor.examine(replace(ALL, help="2022.4")))["ncu"]

    assert found.state == "ok"
    assert "whole graphs" not in found.found
    assert "for whole graphs, install a newer" in found.mend


def test_cupti_needs_exactly_one_visible_gpu() -> None:
    machine = replace(ALL, seen=(H200,) * 4, chosen=4)

    assert not able(machine)["cupti"].can
    assert able(machine)["ncu"].can
    assert "CUDA_VISIBLE_DEVICES=0" in named(doctor.examine(machine))["visible GPUs"].mend


def test_scenarios_with_base_clocks_need_the_right_to_set_them_and_for_cupti_locked_ones() -> None:
    free = replace(ALL, held=False)
    asked = replace(ALL, not_held="the owner asks that clocks are left alone (REPORTGEN_CLOCKS=leave)")

    assert "strict" in able(free)["ncu"].scenarios
    assert able(free)["cupti"].scenarios == ("default", "continuous")
    assert "--lock-gpu-clocks" in named(doctor.examine(free))["clocks locked"].mend
    assert able(asked)["ncu"].scenarios == able(asked)["cupti"].scenarios == ("default", "continuous")
    assert named(doctor.examine(asked))["clocks"].mend == "unset REPORTGEN_CLOCKS, if the owner agrees"


def test_what_else_is_lacking_has_its_mend() -> None:
    checks = named(
        doctor.examine(
            replace(
                ALL,
                seen=(replace(H200, mig="on"),),
                free=1 << 20,
                libraries=("Pango",),
                torch_says=Torch("2.11", "13.0", False, 0),
            )
        )
    )

    assert {name for name, check in checks.items() if check.state == "lacking"} == {"disk", "PDF", "CUDA in torch"}
    assert (checks["MIG"].state, checks["disk"].found) == ("unknown", "0.0 GiB free in this folder")
    assert "apt-get install libpango" in checks["PDF"].mend


def test_one_check_that_breaks_does_not_stop_the_others() -> None:
    class Broken(Machine):
        def processes(self) -> tuple[str, ...]:
            raise RuntimeError("strange\nmachine")

    checks = named(doctor.examine(Broken()))

    assert checks["DCGM"] == Check("DCGM", "unknown", "it could not be read (RuntimeError: strange machine)")
    assert {check.state for name, check in checks.items() if name != "DCGM"} == {"ok"}


def test_what_helps_to_explain_a_log_is_gathered(tmp_path: Path) -> None:
    path = str(fake_ncu.install(tmp_path))
    known = doctor.known(path, ALL)

    assert (known.version, known.driver, known.dcgm) == ("2025.3.1.0", "580.159.04", "")
    assert known.metrics() == fake_ncu.METRICS
    assert doctor.known(str(tmp_path / "none"), NOTHING).version == ""


# before a collection


def test_a_collection_begins_only_where_its_backends_can_measure() -> None:
    preflight.check(("ncu", "cupti", "torch"), ALL)
    with pytest.raises(
        EnvironmentLacks, match=r"the backend 'torch' cannot measure here: torch: .*; pip install torch"
    ):
        preflight.check(("torch",), NOTHING)
    with pytest.raises(EnvironmentLacks, match="NVML sees no GPU; use --backend torch"):
        preflight.check(("ncu", "cupti"), replace(ALL, seen=()))
    with pytest.raises(EnvironmentLacks, match="install Nsight Compute"):
        preflight.check(("ncu", "cupti"), replace(ALL, help=""))


def test_without_the_counters_ncu_alone_stops_and_beside_another_goes_on() -> None:
    machine = replace(ALL, params="RmProfilingAdminOnly: 1\n")

    preflight.check(("ncu", "cupti"), machine)
    with pytest.raises(EnvironmentLacks, match="or use --backend cupti, or --backend torch"):
        preflight.check(("ncu",), machine)


# the readings themselves


def fake_nvml(count: int) -> ModuleType:
    class NvmlError(Exception):
        pass

    def no_mig(_: int) -> tuple[int, int]:
        raise NvmlError

    module = ModuleType("pynvml")
    vars(module).update(
        NVMLError=NvmlError,
        nvmlInit=lambda: None,
        nvmlDeviceGetCount=lambda: count,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetName=lambda device: f"GPU {device}",
        nvmlDeviceGetMemoryInfo=lambda device: type("Memory", (), {"total": 1 << 30}),
        nvmlDeviceGetCudaComputeCapability=lambda device: (9, device),
        nvmlDeviceGetMigMode=no_mig,
        nvmlSystemGetDriverVersion=lambda: "580.1",
    )
    return module


def test_gpus_are_read_through_nvml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml(2))
    monkeypatch.setattr(probe, "_VERSION", Path("/nonexistent"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    assert Probe().gpus() == (Gpu("GPU 0", 1 << 30, "9.0"), Gpu("GPU 1", 1 << 30, "9.1"))
    assert (Probe().driver(), Probe().visible()) == ("580.1", 2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert Probe().visible() == 1
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml(0))
    with pytest.raises(EnvironmentLacks, match="NVML sees no GPU"):
        Probe().gpus()


def test_the_kernel_tells_the_driver_without_nvml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = tmp_path / "version"
    version.write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue Nov  4 2026\nGCC version: x\n")
    monkeypatch.setattr(probe, "_VERSION", version)

    assert Probe().driver() == "580.159.04"


def test_packages_are_asked_in_a_child_that_may_die(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "torch.py"
    package.write_text(
        "__version__ = '2.99'\nprint('hello')\n"
        "class version: cuda = '13.0'\n"
        "class cuda:\n    is_available = staticmethod(lambda: True)\n    device_count = staticmethod(lambda: 3)\n"
    )
    assert Probe().torch() == Torch("2.99", "13.0", True, 3)
    package.write_text("raise ImportError('libcudart.so.13: cannot open')\n")
    with pytest.raises(EnvironmentLacks, match=r"exit code 1: ImportError: libcudart\.so\.13"):
        Probe().torch()
    package.write_text("import os\nos.kill(os.getpid(), 11)\n")
    with pytest.raises(EnvironmentLacks, match="exit code -11"):
        Probe().torch()
    monkeypatch.setattr(probe, "_CHILD_TIMEOUT_S", 0.5)
    package.write_text("import time\ntime.sleep(60)\n")
    with pytest.raises(EnvironmentLacks, match=r"took over 0\.5 s"):
        Probe().torch()
