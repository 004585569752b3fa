"""Regions whose kernels are easily lost: split, launched by another thread, by a graph, on two streams."""

from functools import lru_cache
from typing import Any

import torch
import triton
import triton.language as tl

from reportgen.suite import annotate, benchmark

LARGE = 2**30  # floats: 4 GiB, more than a 32-bit index reaches
BLOCK = 1024


@triton.jit  # type: ignore[untyped-decorator]
def _twice(source, target, block: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    place = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(target + place, 2 * tl.load(source + place))


@lru_cache
def _large() -> Any:
    return torch.rand(LARGE, device="cuda")


@lru_cache
def _streams() -> tuple[Any, Any]:
    return torch.cuda.Stream(), torch.cuda.Stream()


@lru_cache
def _graph() -> tuple[Any, Any]:
    """Capture a product and a GELU, after a warm-up on a stream of its own; the input is kept alive beside it."""
    x = torch.rand(1024, 1024, device="cuda", dtype=torch.float16)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            torch.nn.functional.gelu(torch.matmul(x, x))
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        torch.nn.functional.gelu(torch.matmul(x, x))
    return captured, x


@benchmark(runs=3, warmup=2)
def regions() -> None:
    """Count the kernels of each region."""
    torch.backends.cuda.matmul.allow_tf32 = False
    small = torch.rand(512, 512, device="cuda")
    with annotate("split-k"):
        torch.matmul(small, small)

    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.GELU(), torch.nn.Linear(512, 16)).cuda()
    loss = model(torch.rand(128, 256, device="cuda")).square().mean()
    with annotate("backward"):
        loss.backward()

    captured, _ = _graph()
    with annotate("graph"):
        captured.replay()

    half = torch.rand(1024, 1024, device="cuda", dtype=torch.float16)
    first, second = _streams()
    with annotate("streams"):
        with torch.cuda.stream(first):
            torch.matmul(half, half)
        with torch.cuda.stream(second):
            torch.matmul(half, half)

    source, target = torch.rand(2, 2**20, device="cuda")
    with annotate("triton"):
        _twice[(2**20 // BLOCK,)](source, target, BLOCK)

    large = _large()
    with annotate("large"):
        torch.mul(large, 2)
