"""What limits a kernel: arithmetic, memory, or neither.

Five kernels of different kinds under the counters that tell them apart. The busier of SM and DRAM says where to look first; a
kernel that keeps neither busy waits, for its launch, for memory's answer, or for the rest of its own grid.
"""

import torch

from reportgen.suite import annotate, benchmark

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
ON_GPU = DEVICE == "cuda"
COUNTERS = (
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_bytes.sum",
)
# The roofline's own: what the floating-point pipes did, and what they could have done.
ROOFLINE = (
    "sm__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "sm__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "sm__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "sm__inst_executed_pipe_tensor.sum",
    "section:SpeedOfLight_RooflineChart",
)


@benchmark(
    configs=[{}],
    metrics=(*COUNTERS, *ROOFLINE),
    derive={
        "bytes moved": ("dram__bytes_read.sum + dram__bytes_write.sum", "byte"),
        "DRAM GB/s": "(dram__bytes_read.sum + dram__bytes_write.sum) / time / 1e9",
    },
)
def kinds() -> None:
    """What limits a product of matrices, a scaling, a softmax, a gather and a small sum?"""
    side = 4096 if ON_GPU else 128
    a, b = (torch.rand(side, side, device=DEVICE, dtype=torch.float16) for _ in range(2))
    with annotate("matmul fp16 4096"):
        a @ b

    x = torch.rand((256 << 20) // 4 if ON_GPU else 1 << 12, device=DEVICE)
    with annotate("x * 2, 256 MiB"):
        x * 2

    logits = torch.rand(8192 if ON_GPU else 64, 1024 if ON_GPU else 128, device=DEVICE)
    with annotate("softmax 8192 x 1024"):
        torch.softmax(logits, dim=1)

    at = torch.randint(x.numel(), (x.numel() // 16,), device=DEVICE)
    with annotate("gather"):
        x[at]

    small = torch.rand(1 << 10, device=DEVICE)
    with annotate("small launch"):
        small + 1.0


@benchmark(configs=[{"launches": count} for count in (1, 8)], quick=[{"launches": 1}], scenarios=("continuous",))
def small_launches(launches: int) -> None:
    """What does a launch cost that has nothing to do? The span of the region holds what the sum of its kernels does not."""
    x = torch.rand(1 << 10, device=DEVICE)
    with annotate("x + 1"):
        for _ in range(launches):
            x + 1.0
