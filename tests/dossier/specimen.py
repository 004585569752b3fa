"""A dossier made by hand through the model: every element that a template knows, and the names that break templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from reportgen.dossier.model import (
    Block,
    Caution,
    Cell,
    Chart,
    Chip,
    Column,
    DataFile,
    Dossier,
    EvidenceFile,
    Figure,
    Finding,
    HeadFact,
    Moment,
    Name,
    ProvenanceEntry,
    ProvenanceGroup,
    Published,
    Section,
    Sentence,
    Table,
    Term,
)

SCRIPT = "</script><script>alert(1)</script>"
MARKUP = 'a & b "c", d<e>'
CHINESE = "gather/索引"
TURNED = "copy\u202egnp.exe\u202c"
CONTROLS = "bell\x07 and null\x00 and half \udcff"
LONG = "void cutlass::Kernel<" + ", ".join(f"cutlass::gemm::GemmShape<{n}, 128, 64>" for n in range(1, 200)) + ">"
HOSTILE = (SCRIPT, MARKUP, CHINESE, TURNED, CONTROLS, LONG)
COLOURS = ("#004a80", "#b94a0c", "#006244", "#b04886")
SIZES = (512, 1024, 2048, 4096)


def figure(value: float, text: str, unit: str = "", exact: str = "", source: str = "1f0c2ab94e57.AvgValue") -> Figure:
    return Figure(value, text, unit, exact or f"{value:.12g} {unit}".rstrip(), source)


def svg(prefix: str, title: str, lines: Mapping[str, Sequence[float]], unit: str) -> str:
    """Draw lines over SIZES as our exporter does: literal colours, a class beside each, prefixed ids."""
    top = max(max(line) for line in lines.values())
    xs = [50 + 110 * index for index in range(len(SIZES))]
    parts = []
    for tick in range(5):
        y = 210 - 45 * tick
        parts.append(f'<path d="M 44 {y} L 400 {y}" fill="none" stroke="#dde1e6" stroke-width="0.7" class="l-rule"/>')
        parts.append(
            f'<text x="38" y="{y + 3}" text-anchor="end" font-size="9" font-family="DejaVu Sans" fill="#57606a" class="f-muted">{top * tick / 4:.0f}</text>'
        )
    for x, size in zip(xs, SIZES, strict=True):
        parts.append(
            f'<text x="{x}" y="228" text-anchor="middle" font-size="9" font-family="DejaVu Sans" fill="#57606a" class="f-muted">{size}</text>'
        )
    for index, (label, line) in enumerate(lines.items()):
        colour = COLOURS[index % len(COLOURS)]
        ys = [210 - 180 * value / top for value in line]
        d = "M " + " L ".join(f"{x} {y:.2f}" for x, y in zip(xs, ys, strict=True))
        parts.append(f'<path d="{d}" fill="none" stroke="{colour}" stroke-width="1.6" class="l-s{index}"/>')
        parts.extend(
            f'<circle cx="{x}" cy="{y:.2f}" r="3" fill="{colour}" stroke="#ffffff" stroke-width="1" class="f-s{index} l-paper"/>'
            for x, y in zip(xs, ys, strict=True)
        )
        parts.append(
            f'<text x="{xs[-1] + 10}" y="{ys[-1] + 3:.2f}" font-size="9" font-weight="bold" font-family="DejaVu Sans" fill="{colour}" class="f-s{index}">{escape(label[:24])}</text>'
        )
    parts.append(
        f'<text x="8" y="14" font-size="9" font-family="DejaVu Sans" fill="#57606a" class="f-muted">{escape(unit)}</text>'
    )
    parts.append(
        '<text x="215" y="246" text-anchor="middle" font-size="9" font-family="DejaVu Sans" fill="#57606a" class="f-muted">n</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" width="532.8" height="252" viewBox="0 0 532.8 252" '
        f'aria-labelledby="{prefix}-title {prefix}-desc"><title id="{prefix}-title">{escape(title)}</title>'
        f'<desc id="{prefix}-desc">Lines over n, one for each annotation.</desc>{"".join(parts)}</svg>'
    )


def chart(prefix: str, title: str, unit: str, lines: Mapping[str, Sequence[float]], scenario: str) -> Chart:
    return Chart(
        id=prefix,
        title=title,
        description="Each point is the mean of the runs at that size, and the bar its 95 % interval. Hollow points are unstable. "
        "The axis starts at zero.",
        panels=(svg(prefix, title, lines, unit),),
        caption=(
            f"{title}. {scenario}, mean of ",
            figure(10, "10", source="count(runs)"),
            f" runs, {unit}. Look at where the lines part.",
        ),
        data_name=f"{prefix}.csv",
    )


def row(annotation: str | Name, n: int, time: float, speed: float, deviation: float) -> tuple[Cell, ...]:
    unstable = deviation >= 2
    name = annotation if isinstance(annotation, Name) else Name(annotation, annotation)
    return (
        Cell((name,), order=name.text),
        Cell((figure(n, f"{n}", source="parameter:n"),), order=n),
        Cell((figure(time * 1000, f"{time:.2f}", exact=f"{time * 1000:.12g} ns"),), order=time),
        Cell((f"{time * 0.997:.2f} to {time * 1.003:.2f}",), order=time * 0.997),
        Cell((figure(speed * 1e12, f"{speed:.1f}", exact=f"{speed:.9g} TFLOP/s"),), order=speed),
        Cell(
            (figure(deviation, f"{deviation:.2f}"),),
            order=deviation,
            mark="unstable" if unstable else "",
            why="the relative deviation is 2 % or more" if unstable else "",
        ),
    )


COLUMNS = (
    Column("Annotation"),
    Column("n", numeric=True),
    Column("Time", "us", numeric=True, meaning="Sum of the times of the region’s kernels, mean over runs"),
    Column("95 % interval", "us", numeric=True, meaning="Student’s t over process means"),
    Column("Speed", "TFLOP/s", numeric=True, meaning="2 n³ divided by the time"),
    Column("Deviation", "%", numeric=True, meaning="Standard deviation divided by the mean"),
)


def _rows() -> tuple[tuple[Cell, ...], ...]:
    rows = []
    for factor, annotation in ((1.0, "fp32"), (15.5, "fp16"), (15.2, "bf16"), (7.7, "tf32")):
        for n in SIZES:
            speed = 51.3 * factor * (1 - 300 / n * 0.4)
            rows.append(row(annotation, n, 2 * n**3 / speed / 1e6, speed, 4.61 if n == 512 else 0.28))
    failed = (
        Cell((Name("fp8", "fp8"),), order="fp8"),
        Cell((figure(512, "512", source="parameter:n"),), order=512),
        Cell((), mark="failed", why="cudaErrorInvalidValue: the shape is not a multiple of 16"),
        Cell(()),
        Cell((), mark="not permitted", why="ERR_NVGPUCTRPERM"),
        Cell((), mark="skipped"),
    )
    return (*rows, failed)


def _hostile_rows() -> tuple[tuple[Cell, ...], ...]:
    names = [Name(text if len(text) < 60 else f"{text[:29]}…{text[-29:]}", text) for text in HOSTILE]
    return tuple(row(name, 2048, 12.5 + index, 500.25, 0.4) for index, name in enumerate(names))


def _matmul() -> Section:
    speed = {
        "fp16": (310.1, 540.2, 702.0, 795.2),
        "bf16": (301.0, 530.2, 690.0, 779.4),
        "fp32": (39.3, 45.3, 49.1, 51.3),
    }
    ratio = {"fp16 against fp32": (7.9, 11.9, 14.3, 15.5), "bf16 against fp32": (7.7, 11.7, 14.0, 15.2)}
    return Section(
        id="matmul",
        title="Matrix multiplication by precision",
        lead=(
            "A square product ",
            Name("a @ b", "torch.matmul(a, b)"),
            " in four precisions over four sizes. The larger the product, the more the tensor cores are worth: at n = ",
            figure(4096, "4096", source="parameter:n"),
            " fp16 runs at ",
            figure(795.21402318e12, "795", "TFLOP/s", "795.21402318 TFLOP/s"),
            ".",
        ),
        note="The two backends define a kernel’s time differently, so their figures stand side by side and are never compared.",
        blocks=(
            Block(
                "matmul-cupti",
                "CUPTI, warm cache, clocks free",
                (
                    "fp16 is ",
                    figure(15.5, "15.5", source="ratio(aaa, bbb)"),
                    " times as fast as fp32 at the largest size (95 % CI ",
                    figure(15.4, "15.4"),
                    " to ",
                    figure(15.6, "15.6"),
                    ").",
                ),
                (
                    chart("matmul-cupti-speed", "Speed over size", "TFLOP/s", speed, "CUPTI, continuous"),
                    chart("matmul-cupti-ratio", "Speed-up against fp32", "times", ratio, "CUPTI, continuous"),
                ),
                (
                    Table(
                        "matmul-cupti-rows",
                        "Time and speed of every configuration",
                        COLUMNS,
                        _rows(),
                        12,
                        "processed.csv",
                    ),
                ),
            ),
            Block(
                "matmul-ncu",
                "Nsight Compute, cache flushed, clocks free",
                ("The same products with the cache flushed before each.",),
                (chart("matmul-ncu-speed", "Speed over size", "TFLOP/s", speed, "ncu, default"),),
                (
                    Table(
                        "matmul-ncu-rows",
                        "Time and speed of every configuration",
                        COLUMNS,
                        _rows()[:6],
                        0,
                        "processed.csv",
                    ),
                ),
            ),
        ),
    )


def _hostile() -> Section:
    return Section(
        id="hostile",
        title=f"Names that hold {MARKUP}",
        lead=(
            "Kernels called ",
            Name(SCRIPT, SCRIPT),
            ", ",
            Name(CHINESE, CHINESE),
            " and ",
            Name(TURNED, TURNED),
            ".",
        ),
        note=CONTROLS,
        name=SCRIPT,
        prose=f"# {SCRIPT}\n\n{MARKUP} ![a](a.png) [b](javascript:alert) {CHINESE}\n\n> {CONTROLS}",
        blocks=(
            Block(
                "hostile-cupti",
                f"CUPTI: {SCRIPT}",
                (MARKUP, " ", CHINESE),
                (
                    chart(
                        "hostile-chart",
                        f"Speed of {SCRIPT}",
                        "TFLOP/s",
                        {MARKUP: (1.0, 2.0, 3.0, 4.0), CHINESE: (2.0, 2.5, 3.0, 3.1), SCRIPT: (0.5, 0.6, 0.7, 0.8)},
                        MARKUP,
                    ),
                ),
                (
                    Table(
                        "hostile-rows",
                        f"Rows of {SCRIPT}",
                        COLUMNS,
                        _hostile_rows(),
                        0,
                        "hostile-chart.csv",
                        (SCRIPT, CHINESE),
                    ),
                ),
            ),
        ),
    )


def _limits() -> Section:
    columns = (
        Column("Kernel"),
        Column("SM", "% of peak", numeric=True, meaning="sm__throughput.avg.pct_of_peak_sustained_elapsed"),
        Column("DRAM", "% of peak", numeric=True, meaning="dram__throughput.avg.pct_of_peak_sustained_elapsed"),
        Column("Limited by"),
    )
    rows = (
        (Cell((Name("nvjet_hsh_128x256_64x4", "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NNT"),)), 91.4, 38.2, "compute"),
        (
            Cell((Name("vectorized_elementwise_kernel<…>", "void at::native::vectorized_elementwise_kernel<4>(int)"),)),
            12.9,
            93.1,
            "memory",
        ),
        (
            Cell((Name("softmax_warp_forward<…>", "void softmax_warp_forward<float, float, float, 10>(float*)"),)),
            31.2,
            44.0,
            "latency",
        ),
    )
    table = Table(
        "limits-rows",
        "What limits each kernel",
        columns,
        tuple(
            (
                name,
                Cell((figure(sm, f"{sm:.1f}"),), order=sm),
                Cell((figure(dram, f"{dram:.1f}"),), order=dram),
                Cell((word,)),
            )
            for name, sm, dram, word in rows
        ),
    )
    return Section(
        "limits",
        "Why it is so",
        (
            "Of ",
            figure(3, "3", source="count(kernels)"),
            " kernels one is limited by compute, one by memory and one by latency.",
        ),
        (Block("limits-ncu", "", (), (), (table,)),),
    )


def _method() -> Section:
    order = {"fp16": (171.2, 171.0, 171.9, 173.1)}
    return Section(
        "method",
        "How it was measured",
        (
            "Each configuration ran ",
            figure(10, "10", source="count(runs)"),
            " times in ",
            figure(3, "3", source="count(processes)"),
            " processes.",
        ),
        (
            Block(
                "method-order",
                "Runs in the order taken",
                ("A drift would show as a slope.",),
                (chart("method-drift", "Time of each run", "us", order, "CUPTI, continuous"),),
            ),
            Block(
                "method-scenarios", "The scenarios", ("continuous: the cache is kept warm and the clocks run free.",)
            ),
        ),
    )


def _provenance() -> tuple[ProvenanceGroup, ...]:
    def fact(key: str, label: str, value: Figure | Moment | Name | str, origin: str = "NVML") -> ProvenanceEntry:
        return ProvenanceEntry(key, label, (value,), "recorded", "", origin)

    return (
        ProvenanceGroup(
            "GPU",
            (
                fact("gpu.name", "Name", "NVIDIA H200"),
                fact("gpu.sm_count", "Streaming multiprocessors", figure(132, "132", source="provenance:gpu.sm_count")),
                fact("gpu.memory", "Memory", figure(150754820096, "150.8", "GB", source="provenance:gpu.memory")),
                fact(
                    "gpu.clock.sm.observed",
                    "SM clock seen",
                    figure(1.98e9, "1.98", "GHz", source="provenance:gpu.clock.sm.observed"),
                ),
                ProvenanceEntry("gpu.uuid", "UUID", (), "withheld", "the public tier hides it", "NVML"),
                ProvenanceEntry(
                    "gpu.vbios", "VBIOS", (), "not recorded", "NVML has no right to read it in this container", "NVML"
                ),
            ),
        ),
        ProvenanceGroup(
            "Software",
            (
                fact("driver", "Driver", "580.159.04"),
                fact("ncu", "Nsight Compute", "2025.3.1.0", "ncu --version"),
                fact("cuda", "CUDA", "13.0", "cuDriverGetVersion"),
                fact("torch", "torch", Name("2.11.0+cu130", "2.11.0+cu130"), "torch.__version__"),
                fact(
                    "suite.commit",
                    "Commit of the suite",
                    Name("9b1c2d3e4f50…", "9b1c2d3e4f5061728394a5b6c7d8e9f001122334"),
                    "git",
                ),
                fact("built", "Built", Moment("29 November 2026, 08:00 UTC", "2026-11-29T08:00:00Z"), "git"),
                ProvenanceEntry("triton", "triton", (), "not recorded", "not installed", "importlib.metadata"),
            ),
        ),
        ProvenanceGroup(
            "Names that break templates",
            tuple(
                fact(f"hostile.{index}", text[:60], Name(text[:80], text), SCRIPT) for index, text in enumerate(HOSTILE)
            ),
        ),
    )


def _evidence() -> tuple[EvidenceFile, ...]:
    def file(path: str, role: str, size: int, digit: str, published: Published = "as is") -> EvidenceFile:
        return EvidenceFile(
            path,
            role,
            figure(size, f"{size / 1000:,.1f}".replace(",", " "), "kB", f"{size} byte", f"file:{path}.bytes"),
            digit * 64,
            published,
        )

    return (
        file("data/bundle.json", "plan", 3120, "a"),
        file("data/provenance.json", "provenance", 8211, "b", "redacted"),
        file("data/suite/matmul_precision.py", "suite", 4242, "c"),
        file("data/ncu/default/0/report.ncu-rep", "raw report", 721344, "d", "withheld"),
        file("data/cupti/continuous/0/activity.csv", "raw activity", 120311, "e"),
        file("data/samples/cupti/continuous/processed.csv", "processed table", 20480, "f"),
        file(f"data/import/{SCRIPT}.csv", "imported", 99, "0"),
    )


def dossier() -> Dossier:
    """Return the specimen."""
    names = ("matmul-cupti-speed", "matmul-cupti-ratio", "matmul-ncu-speed", "hostile-chart", "method-drift")
    return Dossier(
        title="Matrix multiplication by precision",
        suite="matmul_precision",
        bundle_id="matmul_precision-20261130T211006Z",
        digest="1f0c2ab94e57" + "6d" * 26,
        version="1f0c2ab94e57",
        reportgen="0.1.0",
        status="complete",
        tier="public",
        started="2026-11-30T21:10:06Z",
        gpu="NVIDIA H200",
        lead=(
            "Square products of ",
            figure(4, "4", source="count(sizes)"),
            " sizes in ",
            figure(4, "4", source="count(annotations)"),
            " precisions, timed by CUPTI and explained by Nsight Compute.",
        ),
        chips=(
            Chip("backend", "CUPTI", "How long each kernel ran, from activity records"),
            Chip("backend", "ncu", "Hardware counters, by replaying each kernel"),
            Chip("scenario", "continuous", "The cache is kept, the clocks run free"),
            Chip("scenario", "default", "The cache is flushed, the clocks run free"),
            Chip("status", "complete", "All that was planned was measured"),
        ),
        findings=_findings(),
        cautions=(
            Caution(
                "clocks",
                (
                    "The clocks were not locked: the SM clock ran between ",
                    figure(1.755e9, "1.755", "GHz"),
                    " and ",
                    figure(1.98e9, "1.980", "GHz"),
                    ".",
                ),
                "Two runs at different clocks differ although the code is the same.",
                ("Collect again under the strict scenario, with the right to set clocks.",),
            ),
            Caution(
                "stability",
                (Name(MARKUP, MARKUP), " is unstable at the smallest size."),
                "Its interval is wide.",
                ("Take more runs: ", Name("--runs 50", "--runs 50"), "."),
                ((Name(SCRIPT, SCRIPT), ": ", figure(4.6, "4.6", "%")), (MARKUP,)),
            ),
        ),
        head=(
            HeadFact("Driver", (Name("580.159.04", "580.159.04"),), "provenance"),
            HeadFact("Clocks", (MARKUP,), "method"),
        ),
        question=f"How fast is {MARKUP}?",
        prose=f"What *it* is for, with `n` and {MARKUP}.\n\n- one\n- two",
        note="What two backends show stands side by side.",
        sections=(_matmul(), _hostile()),
        limits=_limits(),
        method=_method(),
        provenance=_provenance(),
        evidence=_evidence(),
        verify_command="reportgen verify matmul_precision/20261130T211006Z-1f0c2ab94e57",
        render_command="reportgen render matmul_precision/20261130T211006Z-1f0c2ab94e57 --out dossier --tier public",
        glossary=(
            Term("unstable", "The standard deviation over the runs is 2 % of the mean or more."),
            Term(
                "95 % interval", "Where the mean would lie in 95 of 100 repetitions, by Student’s t over process means."
            ),
            Term(SCRIPT, MARKUP),
        ),
        data=(
            *(DataFile(f"{name}.csv", f"The data of {name}", f"n,{CHINESE}\n512,1.5\n") for name in names),
            DataFile("processed.csv", "The processed table", "Annotation,AvgValue\nfp16,1.5\n"),
        ),
    )


def _findings() -> tuple[Finding, ...]:
    def words(*parts: str | Figure | Name) -> Sentence:
        return parts

    return (
        Finding(
            "fastest",
            words(
                Name("fp16", "fp16"), " reaches ", figure(795.21402318e12, "795", "TFLOP/s", "795.21402318 TFLOP/s"), " at n = ",
                figure(4096, "4096", source="parameter:n"), ", ", figure(15.5, "15.5", source="ratio(a, b)"), " times as fast as ",
                Name("fp32", "fp32"), " (95 % CI ", figure(15.4, "15.4"), " to ", figure(15.6, "15.6"), ", n = ", figure(10, "10"),
                ", CUPTI, warm cache).",
            ),
            "matmul-cupti",
        ),
        Finding(
            "cache",
            words("Cold and warm caches stand side by side for ", Name("fp16", "fp16"), "."),
            "matmul-ncu-speed",
            (
                words("cold: ", figure(4100.0, "4.1", "us"), " at n = ", figure(512, "512")),
                words(MARKUP, ": ", figure(3100.0, "3.1", "us"), " in ", Name(SCRIPT, SCRIPT)),
            ),
            words("What fits the L2 may be served from there when it is warm, ", Name(CHINESE, CHINESE), "."),
        ),
        Finding(
            "limited",
            words(Name("softmax_warp_forward<…>", "softmax"), " is limited by latency: SM ", figure(31.2, "31.2", "%"), ", DRAM ", figure(44.0, "44.0", "%"), "."),
            "limits",
        ),
        Finding("hostile", words(Name(SCRIPT, SCRIPT), " and ", Name(CHINESE, CHINESE), " are as fast as each other."), "hostile-rows"),
    )  # fmt: skip


def many_rows(count: int) -> Table:
    """Return a table of `count` rows."""
    return Table(
        "many",
        "Many rows",
        COLUMNS,
        tuple(row(f"annotation {index}", 512 + index, 10.0 + index / 7, 100.0 + index, 0.3) for index in range(count)),
        0,
        "processed.csv",
    )
