"""Memory bandwidth, from what fits a cache to what does not.

GB/s counts the bytes that a kernel asks to be moved, both ways. The best of a sweep is not the memory's: what fits L2 is
faster, and a launch of a few microseconds is mostly a launch.
"""

import torch

from reportgen.suite import annotate, backend, benchmark, collector, skip

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
FLOAT = 4  # bytes
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SIZES = (64 * KIB, 4 * MIB, 32 * MIB, 256 * MIB, 4 * GIB)
UP_TO = 4 * MIB  # small launches differ more, and are measured more often
# All in one pass: with more, ncu saves and restores what a kernel wrote, 4 GiB at the largest.
COUNTERS = ("dram__bytes_read.sum", "dram__bytes_write.sum")
ALL_FOUR = ("default", "continuous", "strict", "continuous-strict")
BLOCK = 4096

if triton is not None:

    @triton.jit
    def copy_kernel(x, y, count, block: tl.constexpr):
        """Copy x to y."""
        at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
        tl.store(y + at, tl.load(x + at, mask=at < count), mask=at < count)


def device() -> tuple:
    """Return NVML and the first GPU; without either, what asks for them is skipped."""
    try:
        import pynvml
    except ImportError:
        skip("NVML's Python package is not installed")
    try:
        pynvml.nvmlInit()
        return pynvml, pynvml.nvmlDeviceGetHandleByIndex(0)
    except pynvml.NVMLError as error:
        skip(f"NVML is not there: {error}")


@collector(scope="once")
def driver() -> str:
    nvml, _ = device()
    return nvml.nvmlSystemGetDriverVersion()


@collector(scope="config", unit="hz")
def sm_clock() -> float:
    nvml, gpu = device()
    return nvml.nvmlDeviceGetClockInfo(gpu, nvml.NVML_CLOCK_SM) * 1e6


@collector(scope="run", unit="°C")
def temperature() -> float:
    nvml, gpu = device()
    return nvml.nvmlDeviceGetTemperature(gpu, nvml.NVML_TEMPERATURE_GPU)


def rates(arrays: int) -> dict:
    """Return the derived metrics of a kernel that reads and writes so many arrays of `size` bytes."""
    return {
        "GB/s": f"{arrays} * size / time / 1e9",
        "share of the rated": (f"100 * {arrays} * size / time / rated_bandwidth", "%"),
        "share of the best seen": (f'100 * ({arrays} * size / time / 1e9) / highest("GB/s")', "%"),
    }


def runs(size: int) -> int:
    return 20 if size <= UP_TO else 10


SWEEP = {
    "configs": [{"size": size} for size in SIZES],
    "quick": [{"size": 64 * KIB}],
    "runs": runs,
    "metrics": COUNTERS,
    "scenarios": ALL_FOUR,
    "main": "GB/s",
    "axis": "size",
    "units": {"size": "byte"},
}


@benchmark(**SWEEP, derive=rates(2))
def two_arrays(size: int) -> None:
    """How fast is what reads one array and writes one, the driver's own copy among them?

    What is small is mostly a launch; what fits L2 may be served from there when the caches are warm; beyond it DRAM decides.
    `memcpy` is the driver's copy engine or kernel, which Nsight Compute does not profile.
    """
    x = torch.rand(size // FLOAT, device=DEVICE)
    y = torch.empty_like(x)
    with annotate("copy"):
        if DEVICE == "cpu" or triton is None:
            skip("the copy kernel is written in Triton, for a GPU")
        copy_kernel[(triton.cdiv(x.numel(), BLOCK),)](x, y, x.numel(), BLOCK, num_warps=8)
    with annotate("scale"):
        torch.mul(x, 2.0, out=y)
    with annotate("memcpy"):
        if backend() == "ncu":
            skip("ncu measures kernels, and this is a copy by the driver")
        y.copy_(x)


@benchmark(**{**SWEEP, "scenarios": ("default",)}, derive=rates(3))
def three_arrays(size: int) -> None:
    """How fast is what reads two arrays and writes one?"""
    x, y = (torch.rand(size // FLOAT, device=DEVICE) for _ in range(2))
    z = torch.empty_like(x)
    with annotate("add"):
        torch.add(x, y, out=z)
    with annotate("triad"):
        torch.add(x, y, alpha=3.0, out=z)


@benchmark(configs=[{"n": 1 << 14}, {"n": 1 << 24}], quick=[{"n": 1 << 12}], runs=20)
def vector_sums(n: int) -> None:
    """How steady are a tiny sum and a large one?"""
    a, b = torch.rand(n, device=DEVICE), torch.rand(n, device=DEVICE)
    with annotate("a + b"):
        a + b


@benchmark(configs=[{"side": 2048}], quick=[{"side": 128}], runs=20)
def matmul_beside(side: int) -> None:
    """How steady is a product of matrices beside them?"""
    m = torch.rand(side, side, device=DEVICE)
    with annotate("m @ m"):
        m @ m


@benchmark(
    configs=[{"size": 256 * MIB}], quick=[{"size": 64 * KIB}], thermal="off", derive=rates(2), units={"size": "byte"}
)
def without_waiting(size: int) -> None:
    """How fast is a scaling when nothing waits for the GPU to cool?"""
    x = torch.rand(size // FLOAT, device=DEVICE)
    with annotate("scale"):
        x * 2.0


@benchmark(
    configs=[{"size": 256 * MIB}], quick=[{"size": 64 * KIB}], thermal="auto", derive=rates(2), units={"size": "byte"}
)
def with_waiting(size: int) -> None:
    """How fast is the same scaling when each run waits for a hot GPU?"""
    x = torch.rand(size // FLOAT, device=DEVICE)
    with annotate("scale"):
        x * 2.0
