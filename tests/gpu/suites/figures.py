"""Figures that someone who knows the GPU has in mind: a copy of 4 GiB, and a large product cool and hot."""

from functools import lru_cache
from typing import Any

import torch
import triton
import triton.language as tl

from reportgen.suite import annotate, benchmark

COUNT = 2**30  # floats: 4 GiB
BLOCK = 2048


@triton.jit  # type: ignore[untyped-decorator]
def _copy(source, target, block: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    place = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(target + place, tl.load(source + place))


@lru_cache
def _pair(count: int) -> tuple[Any, Any]:
    return torch.rand(count, device="cuda"), torch.empty(count, device="cuda")


@lru_cache
def _matrices(n: int) -> tuple[Any, Any]:
    torch.manual_seed(0)
    return (
        torch.randn(n, n, device="cuda", dtype=torch.bfloat16),
        torch.randn(n, n, device="cuda", dtype=torch.bfloat16),
    )


@benchmark(configs=[{"n": 8192}], runs=10, heat="burst")
def burst(n: int) -> None:
    """How fast is a product on a cool chip?"""
    a, b = _matrices(n)
    with annotate("bf16"):
        torch.matmul(a, b)


@benchmark(runs=10)
def copies() -> None:
    """How near is a kernel that copies to a memcpy?"""
    source, target = _pair(COUNT)
    with annotate("memcpy"):
        target.copy_(source)
    with annotate("triton"):
        _copy[(COUNT // BLOCK,)](source, target, BLOCK)
    with annotate("torch"):
        torch.add(source, 0, out=target)


@benchmark(configs=[{"n": 8192}], runs=10, heat="sustained")
def sustained(n: int) -> None:
    """How fast is a product under load?"""
    a, b = _matrices(n)
    with annotate("bf16"):
        torch.matmul(a, b)
