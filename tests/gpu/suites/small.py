"""Many small regions, for what it costs to measure one."""

from functools import lru_cache
from typing import Any

import torch

from reportgen.suite import annotate, benchmark


@lru_cache
def _matrix(n: int) -> Any:
    return torch.rand(n, n, device="cuda", dtype=torch.float16)


@benchmark(runs=5000, scenarios=("continuous",))
def small() -> None:
    """How long does a small region take from one to the next?"""
    a = _matrix(512)
    with annotate("fp16"):
        torch.matmul(a, a)
