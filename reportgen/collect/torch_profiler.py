"""The torch backend in the worker: one trace of `torch.profiler` over all regions, kept as evidence.

Regions are `record_function` marks with the range's message, so the trace alone says what belongs where. Operators are read
from it by `readers.torch_trace`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reportgen.collect.plain import device_facts
from reportgen.evidence import write
from reportgen.readers import torch_trace

TRACE = "trace.json"


class TorchMeter:
    """Profiles the CPU, and a CUDA device where there is one."""

    def __init__(self, folder: Path) -> None:
        import torch

        self._torch = torch
        self._folder = folder
        activities = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available():
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        self._profile = torch.profiler.profile(activities=activities, profile_memory=True)
        self._profile.start()
        self._mark: Any = None

    def before(self) -> None:
        """Leave the caches: operator times are not cache benchmarks."""

    def start(self, message: str) -> None:
        """Mark the region in the trace."""
        self._mark = self._torch.profiler.record_function(torch_trace.mark(message))
        self._mark.__enter__()

    def stop(self) -> dict[str, Any]:
        """End the mark, after the device has done its work."""
        self.wait()
        self._mark.__exit__(None, None, None)
        return {}

    def wait(self) -> None:
        """Wait for the device, where there is one."""
        if self._torch.cuda.is_available():
            self._torch.cuda.synchronize()

    def close(self) -> dict[str, Any]:
        """Stop the profiler and keep its trace."""
        self._profile.stop()
        with write.scratch_folder() as scratch:
            path = scratch / TRACE
            self._profile.export_chrome_trace(str(path))
            write.copy_file(path, self._folder / TRACE)
        return device_facts(self._torch) if self._torch.cuda.is_available() else {}
