"""Time the product of `suites/figures.py` with triton.testing.do_bench, the SM clock observed: do_bench.py OUT."""

from __future__ import annotations

import json
import statistics
import sys
import threading
import time
from pathlib import Path
from typing import Any, Self

import pynvml
import torch
from triton.testing import do_bench

SIZE = 8192
TIMES = 10
REST_S, HEAT_S = 0.3, 2.0


class Clock:
    """Reads the SM clock every two milliseconds while it is open."""

    def __init__(self) -> None:
        pynvml.nvmlInit()
        self._device = pynvml.nvmlDeviceGetHandleByIndex(0)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read)
        self.seen: list[float] = []

    def _read(self) -> None:
        while not self._stop.wait(0.002):
            self.seen.append(pynvml.nvmlDeviceGetClockInfo(self._device, pynvml.NVML_CLOCK_SM) * 1e6)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def _timed(function: Any, warmup: int, rep: int) -> tuple[float, float]:
    """Return the median time in ns by do_bench, and the median of the SM clock meanwhile in hz."""
    with Clock() as clock:
        milliseconds = float(do_bench(function, warmup=warmup, rep=rep, return_mode="median"))
    return milliseconds * 1e6, statistics.median(clock.seen) if clock.seen else 0.0


def main(out: str) -> None:
    """Time it in short bursts with rests between, then under load."""
    torch.manual_seed(0)
    a = torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16)

    def product() -> None:
        torch.matmul(a, b)

    product()
    bursts = []
    for _ in range(TIMES):
        torch.cuda.synchronize()
        time.sleep(REST_S)
        bursts.append(_timed(product, 1, 1))
    end = time.monotonic() + HEAT_S
    while time.monotonic() < end:
        for _ in range(8):
            product()
        torch.cuda.synchronize()
    load = [_timed(product, 300, 500) for _ in range(3)]
    figures = {
        name: {"ns": [ns for ns, _ in found], "sm_clock_hz": [hz for _, hz in found]}
        for name, found in (("burst", bursts), ("sustained", load))
    }
    Path(out).write_text(json.dumps(figures), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
