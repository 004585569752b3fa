"""The sizes of the sweep that nsight-python can run too; `nsight_python.py` holds the same function."""

import torch

from reportgen.suite import annotate, benchmark


@benchmark(configs=[{"n": n} for n in (1024, 2048, 4096)], runs=10, scenarios=("default", "continuous"))
def matmul(n: int) -> None:
    """How fast is a product of two square matrices in two precisions?"""
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = torch.rand(n, n, device="cuda"), torch.rand(n, n, device="cuda")
    with annotate("fp32"):
        torch.matmul(a, b)
    a16, b16 = a.half(), b.half()
    with annotate("fp16"):
        torch.matmul(a16, b16)
