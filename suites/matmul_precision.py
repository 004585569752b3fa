"""Matrix multiplication by precision.

Speed is shown beside what it costs: each product is compared with the same one in float64, over a few of its rows. Random
numbers, not zeros: a GPU whose clocks are free runs zeros faster.
"""

import torch

from reportgen.suite import annotate, benchmark, skip

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SIZES = [{"n": n} for n in (512, 1024, 2048, 4096, 8192)]
SMALL = [{"n": n} for n in (64, 128, 256)]
PROCESSES = {"cupti": 5}  # so many that two collections can be told apart
COUNTERS = ("dram__bytes_read.sum", "dram__bytes_write.sum")
DERIVED = {
    "TFLOP/s": "2*n**3 / time / 1e12",
    "share of the best seen": ('100 * (2*n**3 / time / 1e12) / highest("TFLOP/s")', "%"),
}
SCALE = 64.0  # of what goes into fp8
ROWS = 64  # of each product that are compared with float64


def relative_error(c: torch.Tensor, a: torch.Tensor, b: torch.Tensor, scale: float = 1.0) -> float:
    """Return the Frobenius norm of the product's error over that of the product, over its first rows."""
    exact = a[:ROWS].double() @ b.double()
    return float((c[:ROWS].double() * scale - exact).norm() / exact.norm())


def to_fp8(x: torch.Tensor) -> torch.Tensor:
    """Return normally distributed `x` in fp8, whose range ends at 448: seven deviations lie within it."""
    return (x * SCALE).to(torch.float8_e4m3fn)


@benchmark(
    configs=SIZES,
    quick=SMALL,
    metrics=COUNTERS,
    derive=DERIVED,
    normalize_against="fp32",
    main="TFLOP/s",
    axis="n",
    expect="rises",
    processes=PROCESSES,
)
def matmul(n: int) -> None:
    """How fast is a product of two square matrices in each precision, and how exact?

    A larger product has more arithmetic for each byte that it reads and fills more of the GPU, so the rate should rise with
    `n` until the arithmetic itself is the limit. The *relative error* is taken against the same product in float64.
    """
    a, b = torch.randn(n, n, device=DEVICE), torch.randn(n, n, device=DEVICE)

    torch.backends.cuda.matmul.allow_tf32 = False
    with annotate("fp32") as region:
        c = a @ b
    region.record("relative error", relative_error(c, a, b))

    with annotate("tf32") as region:
        if DEVICE == "cpu":
            skip("TF32 is a format of NVIDIA's tensor cores")
        torch.backends.cuda.matmul.allow_tf32 = True
        c = a @ b
    torch.backends.cuda.matmul.allow_tf32 = False
    if DEVICE != "cpu":
        region.record("relative error", relative_error(c, a, b))

    for name, dtype in (("fp16", torch.float16), ("bf16", torch.bfloat16)):
        x, y = a.to(dtype), b.to(dtype)
        with annotate(name) as region:
            c = x @ y
        region.record("relative error", relative_error(c, a, b))

    fp8 = DEVICE == "cuda" and torch.cuda.get_device_capability() >= (8, 9)
    one = torch.ones((), device=DEVICE)
    x, y = (to_fp8(a), to_fp8(b.t().contiguous()).t()) if fp8 else (a, b)
    with annotate("fp8") as region:
        if not fp8:
            skip("fp8 needs compute capability 8.9 or above")
        c = torch._scaled_mm(x, y, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    if fp8:
        region.record("relative error", relative_error(c, a, b, scale=SCALE**-2))


@benchmark(
    configs=[{"n": 8192}],
    quick=[{"n": 256}],
    metrics=COUNTERS,
    derive=DERIVED,
    scenarios=("continuous",),
    heat="sustained",
    main="TFLOP/s",
    processes=PROCESSES,
)
def sustained(n: int) -> None:
    """How fast is the largest product when the GPU has been at it for a while?

    A product that starts on a cool chip runs at a higher clock than one in the middle of a long job. Both are true, and they are
    two different figures.
    """
    a, b = (torch.randn(n, n, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))
    with annotate("bf16"):
        a @ b
