"""What every meter on a device does around a region, and no profiler: flush, synchronise, read the time.

As a backend of its own it measures nothing; it is what the cost of a profiler is set against.
"""

from __future__ import annotations

import time
from typing import Any

from reportgen.collect.scenarios import policy

TIMES_L2 = 4


class PlainMeter:
    """Flushes the caches before each region where the scenario asks for it, and waits for the device around it."""

    def __init__(self, scenario: str) -> None:
        import torch

        self._torch = torch
        torch.cuda.init()
        self._flush = Flush(torch) if policy(scenario).cache == "flushed" else None
        self._start = 0

    def before(self) -> None:
        """Bring the caches to the scenario's state."""
        if self._flush is not None:
            self._torch.cuda.synchronize()
            self._flush()

    def start(self, message: str) -> None:
        """Wait for the device, and read the time."""
        self._torch.cuda.synchronize()
        self._start = self.now()

    def stop(self) -> dict[str, Any]:
        """Wait for the device, and read the time again."""
        self._torch.cuda.synchronize()
        return {"start": self._start, "end": self.now()}

    def wait(self) -> None:
        """Wait for the device."""
        self._torch.cuda.synchronize()

    def now(self) -> int:
        """Return the host's time in ns."""
        return time.perf_counter_ns()

    def close(self) -> dict[str, Any]:
        """Return what is to be known of the device and of the flush."""
        return self.facts()

    def facts(self) -> dict[str, Any]:
        """Return provenance facts that only a process with a CUDA context can read."""
        found = device_facts(self._torch)
        if self._flush is not None:
            found["policy.flush_bytes"] = self._flush.bytes
        return found


def device_facts(torch: Any) -> dict[str, Any]:
    """Return what torch knows of the first device and of CUDA, under provenance keys."""
    device = torch.cuda.get_device_properties(0)
    return {
        "versions.cuda": torch.version.cuda,
        "gpu.sm_count": device.multi_processor_count,
        "gpu.l2_bytes": device.L2_cache_size,
    }


class Flush:
    """Empties the caches: writes a buffer of four times L2, then reads another, so that no dirty line is left."""

    def __init__(self, torch: Any) -> None:
        self.bytes = TIMES_L2 * int(torch.cuda.get_device_properties(0).L2_cache_size)
        self._written = torch.empty(self.bytes // 4, dtype=torch.int32, device="cuda")
        self._read = torch.zeros(self.bytes // 4, dtype=torch.int32, device="cuda")

    def __call__(self) -> None:
        """Flush."""
        self._written.fill_(1)
        self._read.max()
