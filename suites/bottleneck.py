"""What limits a kernel: arithmetic, memory, or neither.

Five kernels of different kinds under the counters that tell them apart. The busier of SM and DRAM says where to look first; a
kernel that keeps neither busy waits, for its launch, for memory's answer, or for the rest of its own grid.
"""

import torch

from reportgen.suite import annotate, benchmark

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
ON_GPU = DEVICE == "cuda"
PROCESSES = {"cupti": 6}  # so many that two collections can be told apart
COUNTERS = (
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_bytes.sum",
    "l1tex__t_bytes.sum",
)
# What each kernel did and what the GPU could have done (rooflines), what its warps waited for, how full it was, and what hit.
SECTIONS = (
    "section:SpeedOfLight",
    "section:SpeedOfLight_RooflineChart",
    "section:MemoryWorkloadAnalysis",
    "section:LaunchStats",
    "section:Occupancy",
    "section:SchedulerStats",
    "section:WarpStateStats",
)
MATMUL, ELEMENTS, ROWS, COLUMNS = (4096, 1 << 26, 8192, 1024) if ON_GPU else (128, 1 << 12, 64, 128)
FLOAT = 4  # bytes


@benchmark(
    configs=[{}],
    runs=5,
    metrics=(*COUNTERS, *SECTIONS),
    derive={
        "bytes moved": ("dram__bytes_read.sum + dram__bytes_write.sum", "byte"),
        "DRAM rate": ("(dram__bytes_read.sum + dram__bytes_write.sum) / time / 1e9", "GB/s"),
        "GFLOP/s": "FLOP / time / 1e9",
    },
    processes=PROCESSES,
)
def kinds() -> None:
    """What limits a product of matrices, a scaling, a softmax, a gather and a small sum?

    These do different work and are not rivals: what is compared is how busy each keeps the two ends of the GPU.
    """
    a, b = (torch.rand(MATMUL, MATMUL, device=DEVICE, dtype=torch.float16) for _ in range(2))
    with annotate("matmul fp16 4096") as region:
        a @ b
    region.record("FLOP", 2.0 * MATMUL**3, "FLOP")

    x = torch.rand(ELEMENTS, device=DEVICE)
    with annotate("x * 2, 256 MiB") as region:
        x * 2
    region.record("FLOP", float(ELEMENTS), "FLOP")

    logits = torch.rand(ROWS, COLUMNS, device=DEVICE)
    with annotate("softmax 8192 x 1024") as region:
        torch.softmax(logits, dim=1)
    region.record("FLOP", 5.0 * ROWS * COLUMNS, "FLOP")  # greatest, difference, exponential, sum, quotient

    at = torch.randint(x.numel(), (x.numel() // 16,), device=DEVICE)
    with annotate("gather") as region:
        x[at]
    region.record("FLOP", 0.0, "FLOP")

    small = torch.rand(1 << 10, device=DEVICE)
    with annotate("small launch") as region:
        small + 1.0
    region.record("FLOP", float(small.numel()), "FLOP")


@benchmark(
    configs=[{"n": 4096}, {"n": 8192}],
    quick=[{"n": 128}],
    runs=5,
    metrics=COUNTERS,
    derive={"TFLOP/s": "2*n**3 / time / 1e12"},
    main="TFLOP/s",
    ceiling="compute",
    processes=PROCESSES,
)
def most_arithmetic(n: int) -> None:
    """How much arithmetic does this GPU reach? The product that does the most sets the measured roof."""
    a, b = (torch.rand(n, n, device=DEVICE, dtype=torch.float16) for _ in range(2))
    with annotate("matmul fp16"):
        a @ b


@benchmark(
    configs=[{"size": 1 << 30}],
    quick=[{"size": 1 << 14}],
    runs=5,
    metrics=COUNTERS,
    derive={"GB/s": "2 * size / time / 1e9"},
    main="GB/s",
    units={"size": "byte"},
    ceiling="memory",
    processes=PROCESSES,
)
def most_bytes(size: int) -> None:
    """How many bytes does this GPU's memory move? A scaling in place of a large array sets the measured roof."""
    x = torch.rand(size // FLOAT, device=DEVICE)
    with annotate("x *= 2"):
        x.mul_(2.0)


@benchmark(
    configs=[{"launches": count} for count in (1, 8)],
    quick=[{"launches": 1}],
    scenarios=("continuous",),
    processes=PROCESSES,
)
def small_launches(launches: int) -> None:
    """What does a launch cost that has nothing to do?

    The span of the region holds what the sum of its kernels does not: the gaps between launches.
    """
    x = torch.rand(1 << 10, device=DEVICE)
    with annotate("x + 1"):
        for _ in range(launches):
            x + 1.0
