"""What the GPU's own sensors say, through NVML: clocks, power, temperature, throttle reasons, and what the GPU is."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from typing import Any

from reportgen.evidence.provenance import Fact, Value

_MISSING = "NVML is not here: install nvidia-ml-py, and a GPU's driver"


_FRESH_S = 0.005  # the driver itself renews its readings more slowly than this


class Sensors:
    """Reads five sensors of the first GPU; nothing where there is no NVML."""

    def __init__(self) -> None:
        self._nvml, self._device, self.reason = _open()
        self._last: tuple[float, dict[str, float]] = (-1.0, {})

    def recent(self) -> dict[str, float]:
        """Return the last reading if it is under 5 ms old, else a new one: a round of readings costs 25 us and more."""
        at, found = self._last
        return found if found and time.monotonic() - at < _FRESH_S else self.read()

    def temperature_c(self) -> float | None:
        """Return the temperature in degrees Celsius, None where it cannot be read."""
        return self.read().get("temperature_c")

    def slowdown_c(self) -> float | None:
        """Return the temperature in degrees Celsius at which the GPU slows itself down, None where NVML does not tell."""
        if self._nvml is None:
            return None
        nvml = self._nvml
        try:
            return float(nvml.nvmlDeviceGetTemperatureThreshold(self._device, nvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN))
        except nvml.NVMLError:
            return None

    def read(self) -> dict[str, float]:
        """Return clocks in hz, power in W, temperature in degrees Celsius and the throttle mask."""
        if self._nvml is None:
            return {}
        nvml, device = self._nvml, self._device
        readings: dict[str, Callable[[], float]] = {
            "sm_clock_hz": lambda: nvml.nvmlDeviceGetClockInfo(device, nvml.NVML_CLOCK_SM) * 1e6,
            "memory_clock_hz": lambda: nvml.nvmlDeviceGetClockInfo(device, nvml.NVML_CLOCK_MEM) * 1e6,
            "power_w": lambda: nvml.nvmlDeviceGetPowerUsage(device) / 1e3,
            "temperature_c": lambda: nvml.nvmlDeviceGetTemperature(device, nvml.NVML_TEMPERATURE_GPU),
            "throttle": lambda: nvml.nvmlDeviceGetCurrentClocksEventReasons(device),
        }
        found: dict[str, float] = {}
        for name, read in readings.items():
            try:
                found[name] = float(read())
            except nvml.NVMLError:
                continue
        self._last = (time.monotonic(), found)
        return found


def _open() -> tuple[Any, Any, str]:
    try:
        import pynvml
    except ImportError:
        return None, None, _MISSING
    try:
        pynvml.nvmlInit()
        return pynvml, pynvml.nvmlDeviceGetHandleByIndex(0), ""
    except pynvml.NVMLError as error:
        return None, None, f"NVML cannot be used ({error})"


def facts() -> Mapping[str, Fact]:
    """Return what NVML tells of the first GPU and the driver; each that it does not tell has the reason."""
    sensors = Sensors()
    nvml, device = sensors._nvml, sensors._device  # noqa: SLF001 - of this module
    if nvml is None:
        return {}
    clocks = (nvml.NVML_CLOCK_SM, nvml.NVML_CLOCK_MEM)
    readings: dict[str, Callable[[], Value]] = {
        "gpu.name": lambda: nvml.nvmlDeviceGetName(device),
        "gpu.uuid": lambda: hashlib.sha256(nvml.nvmlDeviceGetUUID(device).encode()).hexdigest()[:16],
        "gpu.count": nvml.nvmlDeviceGetCount,
        "gpu.compute_capability": lambda: ".".join(map(str, nvml.nvmlDeviceGetCudaComputeCapability(device))),
        "gpu.memory_bytes": lambda: int(nvml.nvmlDeviceGetMemoryInfo(device).total),
        "gpu.bus_width_bits": lambda: nvml.nvmlDeviceGetMemoryBusWidth(device),
        "gpu.ecc": lambda: "on" if nvml.nvmlDeviceGetEccMode(device)[0] else "off",
        "gpu.mig": lambda: "on" if nvml.nvmlDeviceGetMigMode(device)[0] else "off",
        "gpu.vbios": lambda: nvml.nvmlDeviceGetVbiosVersion(device),
        "gpu.power_limit_w": lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(device) / 1000,
        "gpu.persistence": lambda: "on" if nvml.nvmlDeviceGetPersistenceMode(device) else "off",
        "gpu.pcie": lambda: (
            f"generation {nvml.nvmlDeviceGetCurrPcieLinkGeneration(device)}, {nvml.nvmlDeviceGetCurrPcieLinkWidth(device)} lanes"
        ),
        "clocks.sm_rated_hz": lambda: nvml.nvmlDeviceGetMaxClockInfo(device, clocks[0]) * 1_000_000,
        "clocks.memory_rated_hz": lambda: nvml.nvmlDeviceGetMaxClockInfo(device, clocks[1]) * 1_000_000,
        "versions.driver": nvml.nvmlSystemGetDriverVersion,
    }
    found: dict[str, Fact] = {}
    for key, read in readings.items():
        try:
            found[key] = Fact(read(), "", "NVML")
        except nvml.NVMLError as error:
            found[key] = Fact(None, f"NVML does not tell it ({error})")
    return found
