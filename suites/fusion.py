"""Fusion: what one kernel instead of several saves in time and in bytes.

`least bytes read` is what each expression must read from DRAM when every input is read once; the counter beside it says what
was read. Only reads are set against the least: what lies dirty in L2 when a kernel ends is not counted as written.
"""

import torch
import torch.nn.functional as F

from reportgen.suite import annotate, benchmark, skip

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
FLOAT = 4  # bytes
BLOCK = 1024  # elements for each program of the Triton kernel
PROCESSES = {"cupti": 6}  # so many that two collections can be told apart
COUNTERS = ("dram__bytes_read.sum", "dram__bytes_write.sum")

if triton is not None:

    @triton.jit
    def multiply_add(a, b, c, out, count, block: tl.constexpr):
        """Write a + b * c."""
        at = tl.program_id(0) * block + tl.arange(0, block)
        inside = at < count
        x = tl.load(a + at, mask=inside)
        y = tl.load(b + at, mask=inside)
        z = tl.load(c + at, mask=inside)
        tl.store(out + at, x + y * z, mask=inside)


@torch.compile
def compiled(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    return a + b * c


def only_on_a_gpu() -> None:
    if DEVICE == "cpu":
        skip("it is built for a GPU here")


@benchmark(
    configs=[{"elements": 1 << 20}, {"elements": 1 << 25}],
    quick=[{"elements": 1 << 14}],
    metrics=COUNTERS,
    derive={
        "least bytes read": (f"3 * {FLOAT} * elements", "byte"),
        "read over least": (f"dram__bytes_read.sum / (3 * {FLOAT} * elements)", ""),
    },
    normalize_against="a + b * c",
    processes=PROCESSES,
)
def addcmul(elements: int) -> None:
    """What does a + b * c cost in two kernels, in torch's own one, in Triton and compiled?"""
    a, b, c = (torch.rand(elements, device=DEVICE) for _ in range(3))
    with annotate("a + b * c"):
        a + b * c
    with annotate("torch.addcmul"):
        torch.addcmul(a, b, c)
    out = torch.empty_like(a)
    with annotate("Triton"):
        only_on_a_gpu()
        multiply_add[(triton.cdiv(elements, BLOCK),)](a, b, c, out, elements, BLOCK)
    with annotate("torch.compile"):
        only_on_a_gpu()
        compiled(a, b, c)


@benchmark(
    configs=[{"rows": 8192, "columns": 1024}],
    quick=[{"rows": 64, "columns": 128}],
    metrics=COUNTERS,
    derive={"read over least": (f"dram__bytes_read.sum / ({FLOAT} * rows * columns)", "")},
    normalize_against="naive",
    processes=PROCESSES,
)
def softmax(rows: int, columns: int) -> None:
    """What does a softmax cost in five kernels and in one?"""
    x = torch.rand(rows, columns, device=DEVICE)
    with annotate("naive"):
        e = torch.exp(x - x.amax(dim=1, keepdim=True))
        e / e.sum(dim=1, keepdim=True)
    with annotate("fused"):
        torch.softmax(x, dim=1)


@benchmark(
    configs=[{"rows": 8192, "columns": 1024}],
    quick=[{"rows": 64, "columns": 128}],
    metrics=COUNTERS,
    derive={"read over least": (f"dram__bytes_read.sum / ({FLOAT} * (rows + 2) * columns)", "")},
    normalize_against="naive",
    processes=PROCESSES,
)
def layer_norm(rows: int, columns: int) -> None:
    """What does a layer norm cost step by step and in one kernel?"""
    x = torch.rand(rows, columns, device=DEVICE)
    weight, bias = torch.rand(columns, device=DEVICE), torch.rand(columns, device=DEVICE)
    with annotate("naive"):
        centred = x - x.mean(dim=1, keepdim=True)
        variance = (centred * centred).mean(dim=1, keepdim=True)
        centred * torch.rsqrt(variance + 1e-5) * weight + bias
    with annotate("fused"):
        F.layer_norm(x, (columns,), weight, bias)


@benchmark(
    configs=[{"rows": 8192, "columns": 1024}],
    quick=[{"rows": 64, "columns": 128}],
    metrics=COUNTERS,
    derive={"read over least": (f"dram__bytes_read.sum / ({FLOAT} * (rows + 1) * columns)", "")},
    normalize_against="naive",
    processes=PROCESSES,
)
def bias_gelu(rows: int, columns: int) -> None:
    """What does GELU of a sum with a bias cost in two kernels and in one?"""
    x, bias = torch.rand(rows, columns, device=DEVICE), torch.rand(columns, device=DEVICE)
    with annotate("naive"):
        F.gelu(x + bias)
    with annotate("fused"):
        only_on_a_gpu()
        fused_bias_gelu(x, bias)


@torch.compile
def fused_bias_gelu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.gelu(x + bias)
