"""Make the small real reports under `tests/data` and `tests/benchmarks`: run under ncu by `make_reports.sh` on a GPU.

ncu … python3 make_reports.py SUBJECT
"""

import sys

import nvtx
import torch

DOMAIN = "bench"


class Region:
    """A start/end range, so that launches of other threads belong to it as well."""

    def __init__(self, message: str) -> None:
        self.message = message

    def __enter__(self) -> None:
        torch.cuda.synchronize()
        self.range = nvtx.start_range(message=self.message, domain=DOMAIN)

    def __exit__(self, *_: object) -> None:
        torch.cuda.synchronize()
        nvtx.end_range(self.range)


def many(runs: int = 250) -> None:
    """Launch a thousand small kernels: four sizes, `runs` runs."""
    data = {n: torch.rand(n, device="cuda") for n in (2**14, 2**16, 2**18, 2**20)}
    for run in range(runs):
        for n, x in data.items():
            with Region(f"double|n={n}|run={run}"):
                x * 2


def full(runs: int = 3) -> None:
    """Launch matrix multiplications of four sizes in two precisions, for a full set of metrics."""
    for n in (256, 512, 1024, 2048):
        a, b = torch.rand(n, n, device="cuda"), torch.rand(n, n, device="cuda")
        for name, dtype in (("fp32", torch.float32), ("fp16", torch.float16)):
            x, y = a.to(dtype), b.to(dtype)
            x @ y
            for run in range(runs):
                with Region(f"{name}|n={n}|run={run}"):
                    x @ y


def graph() -> None:
    """Replay a CUDA graph of two kernels, three times."""
    x = torch.rand(2048, 2048, device="cuda", dtype=torch.float16)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            torch.nn.functional.gelu(x @ x)
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        torch.nn.functional.gelu(x @ x)
    for run in range(3):
        with Region(f"replay|n=2048|run={run}"):
            captured.replay()


def ranges() -> None:
    """Launch two kernels in a range that is replayed as a whole."""
    x = torch.rand(1024, 1024, device="cuda")
    torch.nn.functional.gelu(x @ x)
    for run in range(3):
        with Region(f"both|n=1024|run={run}"):
            torch.nn.functional.gelu(x @ x)


def bare() -> None:
    """Launch kernels without any range."""
    for n in (2**16, 2**16, 2**20):
        torch.rand(n, device="cuda") * 2
    torch.cuda.synchronize()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
