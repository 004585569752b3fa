"""The size sweep of the tutorial: one annotation launches two kernels at 512, and one from 1024 on."""

import torch

from reportgen.suite import annotate, benchmark


@benchmark(configs=[{"n": n} for n in (512, 1024, 2048, 4096)], runs=10, derive={"TFLOP/s": "2*n**3 / time / 1e12"})
def matmul(n: int) -> None:
    """How fast is a product of two square matrices in two precisions?"""
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = torch.rand(n, n, device="cuda"), torch.rand(n, n, device="cuda")
    with annotate("fp32"):
        torch.matmul(a, b)
    a16, b16 = a.half(), b.half()
    with annotate("fp16"):
        torch.matmul(a16, b16)
