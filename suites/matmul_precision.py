"""Matrix multiplication by precision."""

import torch

from reportgen.suite import annotate, benchmark

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@benchmark(
    configs=[{"n": n} for n in (512, 1024, 2048, 4096)],
    quick=[{"n": n} for n in (64, 128, 256)],
    runs=10,
    metrics=(
        "sm__throughput.avg.pct_of_peak_sustained_elapsed",
        "dram__throughput.avg.pct_of_peak_sustained_elapsed",
        "dram__bytes_read.sum",
        "dram__bytes_write.sum",
    ),
    derive={"TFLOP/s": "2*n**3 / time / 1e12"},
    scenarios=("default", "continuous"),
)
def matmul(n: int) -> None:
    """How fast is a product of two square matrices in each precision?"""
    a, b = torch.rand(n, n, device=DEVICE), torch.rand(n, n, device=DEVICE)
    torch.backends.cuda.matmul.allow_tf32 = False
    with annotate("fp32"):
        a @ b
    a16, b16 = a.half(), b.half()
    with annotate("fp16"):
        a16 @ b16
    abf, bbf = a.bfloat16(), b.bfloat16()
    with annotate("bf16"):
        abf @ bbf
