"""Measure what is promised of speed and size, and print it beside its target: `make bench`.

Machines are shared and their clocks wander. So what is compared takes turns within one run, a figure is the least of
several rounds, and the spread of the rounds stands beside it. A target that is missed is said, never an error.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import pickle
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import zstandard

from reportgen.dossier import render
from reportgen.dossier.build import build
from reportgen.evidence.bundle import open_bundle
from reportgen.readers import ncu_rep
from reportgen.readers.ncu_pool import WORKERS, Pool
from tests.benchmarks import notebook

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests" / "data"
REPORTS = Path(__file__).resolve().parent / "data"
WARM_UP = DATA / "matmul.ncu-rep"
NSIGHT = "nsight-python==1.1.0"
HEAVY = ("pandas", "matplotlib", "weasyprint")
SIX = (
    "gpu__time_duration.sum",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "gpc__cycles_elapsed.avg.per_second",
)
# The full set does not hold all of those six.
SIX_OF_FULL = tuple(name.replace("dram__throughput.avg", "dram__bytes_read.sum") for name in SIX)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure, and how often."""

    reports: tuple[tuple[Path, tuple[str, ...]], ...]  # with the six metrics to pick out of each
    dossiers: tuple[tuple[str, tuple[Path, ...]], ...]  # a name, and the reports that its bundle is made of
    bundles: Path | None  # the folder of the bundles that a site is built of
    pdf: bool = True
    rounds: int = 5
    starts: int = 10


WHOLE = Plan(
    reports=((REPORTS / "many.ncu-repz", SIX), (REPORTS / "full.ncu-repz", SIX_OF_FULL)),
    dossiers=(
        ("one report", (DATA / "matmul.ncu-rep",)),
        ("three reports", (DATA / "matmul.ncu-rep", DATA / "compile_cold.ncu-rep", DATA / "graph_node.ncu-rep")),
    ),
    bundles=ROOT / "site" / "bundles",
)


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table; `holds` is None where there is no target or nothing was measured."""

    what: str
    measured: str
    target: str = ""
    holds: bool | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Took:
    """What one round took; `cpu` is of all processes that had a part in it."""

    wall: float
    cpu: float
    values: int = 0


def main(arguments: Sequence[str] | None = None, plan: Plan = WHOLE) -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=plan.rounds, help="repeat each measurement so often")
    parser.add_argument("parts", nargs="*", help=f"only these: {', '.join(PARTS)} (all unless given)")
    options = parser.parse_args(arguments)
    unknown = set(options.parts) - set(PARTS)
    if options.rounds < 1 or unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}" if unknown else "--rounds must be 1 or more")
    plan = replace(plan, rounds=options.rounds)
    print(_machine(plan))
    lines: list[tuple[str, Line | None]] = []
    with tempfile.TemporaryDirectory(prefix="reportgen-bench-") as folder:
        for name, part in PARTS.items():
            if not options.parts or name in options.parts:
                lines += [(part.__doc__ or name, None), *((name, line) for line in part(plan, Path(folder)))]
    print("\n".join(_table(lines)))
    missed = [line for _, line in lines if line is not None and line.holds is False]
    judged = [line for _, line in lines if line is not None and line.holds is not None]
    print(f"\n{len(judged) - len(missed)} of {len(judged)} targets hold.")
    for line in missed:
        print(f"missed: {line.what}: {line.measured}, target {line.target}")
    return 0


# --- reading


def reading(plan: Plan, scratch: Path) -> Iterator[Line]:
    """Reading a report into memory."""
    for report, six in plan.reports:
        path = _unpacked(report, scratch)
        name = path.name.removesuffix(".ncu-rep")
        for words, metrics in (("all metrics", None), ("six metrics", six)):
            rivals = ["bare", "named"]
            with_nsight = metrics is not None and importlib.util.find_spec("nsight") is not None
            if with_nsight:
                rivals.append("nsight")
            ours: list[Took] = []
            theirs: dict[str, list[Took]] = {rival: [] for rival in rivals}
            for _ in range(plan.rounds):
                for rival in rivals:
                    theirs[rival].append(_loop(rival, path, metrics))
                ours.append(_read(path, metrics))
            assert {took.values for took in ours} == {took.values for took in theirs["bare"]}, (
                "not the same values were read"
            )
            yield from _against_loops(f"{name}, {words}", ours, theirs["bare"], theirs["named"])
            if with_nsight:
                yield from _against_nsight(f"{name}, {words}", ours, theirs["nsight"])
            elif metrics is not None:
                yield Line(
                    f"{name}, {words}: time against nsight-python",
                    "skipped",
                    "<= 1.00 x",
                    None,
                    f"install it: pip install {NSIGHT}",
                )


def _against_loops(what: str, ours: list[Took], bare: list[Took], named: list[Took]) -> Iterator[Line]:
    values = f"{ours[0].values:,} values"
    yield _ratio(f"{what}: time against a bare loop", ours, bare, "wall", 1.2, values)
    processes = f"over all {WORKERS + 1} processes"
    yield _ratio(f"{what}: CPU against a bare loop", ours, bare, "cpu", 1.2, processes)
    # The bare loop does not know of which launch its values are.
    yield _ratio(f"{what}: CPU against a loop that names launches", ours, named, "cpu", None, "with names and ranges")


def _against_nsight(what: str, ours: list[Took], nsight: list[Took]) -> Iterator[Line]:
    yield _ratio(f"{what}: time against nsight-python", ours, nsight, "wall", 1.0, "extract_df_from_report")
    yield _ratio(f"{what}: CPU against nsight-python", ours, nsight, "cpu", 1.0, f"over all {WORKERS + 1} processes")


def _ratio(what: str, ours: list[Took], theirs: list[Took], kind: str, most: float | None, note: str) -> Line:
    mine, yours = _least(ours, kind), _least(theirs, kind)
    rounds = [getattr(a, kind) / getattr(b, kind) for a, b in zip(ours, theirs, strict=True)]
    told = f"{mine:.2f} s against {yours:.2f} s; rounds {min(rounds):.2f} to {max(rounds):.2f} x; {note}"
    target, holds = ("", None) if most is None else (f"<= {most:.2f} x", mine / yours <= most)
    return Line(what, f"{mine / yours:.2f} x", target, holds, told)


def _least(took: list[Took], kind: str) -> float:
    found: float = min(getattr(one, kind) for one in took)
    return found


def _unpacked(report: Path, scratch: Path) -> Path:
    """Give the report as the `.ncu-rep` that ncu wrote, whose reading is what is promised."""
    path = scratch / f"{report.stem}.ncu-rep"
    if report.suffix == ".ncu-repz":
        with report.open("rb") as packed, path.open("wb") as plain:
            zstandard.ZstdDecompressor().copy_stream(packed, plain)
    else:
        shutil.copy(report, path)
    return path


def _loop(way: str, path: Path, metrics: Sequence[str] | None) -> Took:
    """Read by `loops.py`, in a fresh and warm process."""
    script = Path(__file__).with_name("loops.py")
    command = [sys.executable, str(script), way, str(path), json.dumps(metrics), str(WARM_UP)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(f"{way} loop over {path.name}:\n{ran.stderr}")
    return Took(**json.loads(ran.stdout.splitlines()[-1]))


def _read(path: Path, metrics: Sequence[str] | None) -> Took:
    """Read as reportgen does, from a fresh and warm pool."""
    pool = Pool()
    try:
        request = {"path": str(WARM_UP), "first": 0, "end": None, "metrics": None if metrics is None else list(metrics)}
        pool.ask_all([request] * WORKERS, 60.0)
        clock, cpu = time.perf_counter(), _cpu(pool)
        found = ncu_rep.read(path, "data/import/report.ncu-rep", metrics, pool)
        took = Took(time.perf_counter() - clock, _cpu(pool) - cpu, len(found.frame))
    finally:
        pool.close()
    assert not found.losses, found.losses
    return took


def _cpu(pool: Pool) -> float:
    """Return the CPU time of this process, of the children that ended, and of those in `pool` (on Linux only)."""
    clocks = [(~child.process.pid << 3) | 2 for child in pool._idle] if sys.platform == "linux" else []
    return time.process_time() + _children() + sum(time.clock_gettime(clock) for clock in clocks)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# --- dossiers


def dossiers(plan: Plan, scratch: Path) -> Iterator[Line]:
    """One dossier: CPU time and size."""
    for name, reports in plan.dossiers:
        bundle = _import(reports, scratch / name.replace(" ", "-"))
        yield from _dossier(name, bundle, scratch / "out", plan)


def _dossier(name: str, bundle: Path, out: Path, plan: Plan) -> Iterator[Line]:
    documents = ("html", "pdf") if plan.pdf else ("html",)
    sizes = {document: _bytes(bundle, document) for document in documents}  # and all is warm now
    warm: dict[str, list[float]] = {document: [] for document in documents}
    cold: dict[str, list[float]] = {document: [] for document in documents}
    for _ in range(min(3, plan.rounds)):
        for document in documents:
            formats = documents[: documents.index(document) + 1]
            warm[document].append(_spent(partial(_bytes, bundle, *formats)))
            options = [f"--format={made}" for made in formats]
            cold[document].append(_ran("render", str(bundle), "--out", str(out), *options)[0])
    what = f"{name}, {len(build(open_bundle(bundle)).charts)} charts"
    yield _seconds(f"{what}: HTML, warm", warm["html"], 1.5)
    yield _seconds(f"{what}: HTML, cold, the whole process", cold["html"], 3.0)
    yield Line(f"{what}: HTML's size", _size(sizes["html"]), "< 1 MB", sizes["html"] < 1_000_000)
    if plan.pdf:
        yield _seconds(f"{what}: PDF beyond it, warm", _beyond(warm), 4.0)
        yield _seconds(f"{what}: PDF beyond it, cold", _beyond(cold), 4.0)
        yield Line(f"{what}: PDF's size", _size(sizes["pdf"]), "", None, "with its attachments")


def _beyond(spent: dict[str, list[float]]) -> list[float]:
    return [both - html for html, both in zip(spent["html"], spent["pdf"], strict=True)]


def _import(reports: Sequence[Path], out: Path) -> Path:
    _ran("import", *map(str, reports), "--out", str(out))
    return next(out.rglob("bagit.txt")).parent


def _bytes(bundle: Path, *formats: str) -> int:
    """Render in this process, to memory; return the size of the last format's document."""
    return len(render.pages(bundle, formats=formats)[f"dossier.{formats[-1]}"])


def _size(count: int) -> str:
    return f"{count / 1000:,.0f} kB"


# --- notebooks


def notebooks(plan: Plan, scratch: Path) -> Iterator[Line]:
    """A page of tables and charts, against nbconvert and a notebook of the same."""
    if importlib.util.find_spec("nbconvert") is None:
        yield Line("against nbconvert", "skipped", "<= 1.00 x", None, "install it: pip install nbconvert")
        return
    for number, (name, bundle) in enumerate(_to_compare(plan, scratch)):
        folder = scratch / f"notebook-{number}"
        folder.mkdir()
        dossier = build(open_bundle(bundle))
        (folder / "dossier.pickle").write_bytes(pickle.dumps(dossier))
        (folder / "notebook.ipynb").write_text(notebook.notebook(dossier), encoding="utf-8")
        yield from _against_nbconvert(f"{name}, {' and '.join(notebook.counts(dossier))}", bundle, folder, plan)


def _to_compare(plan: Plan, scratch: Path) -> Iterator[tuple[str, Path]]:
    """Yield the newest shipped bundle of each suite, or what the dossiers are made of."""
    if plan.bundles is not None:
        yield from {path.parent.name: path for path in sorted(plan.bundles.glob("*/*"))}.items()
    else:
        yield from ((name, _import(reports, scratch / f"of-{name}")) for name, reports in plan.dossiers)


def _against_nbconvert(what: str, bundle: Path, folder: Path, plan: Plan) -> Iterator[Line]:
    page, theirs_page = folder / "page.html", folder / "notebook.html"
    ours, theirs, whole = [], [], []
    for _ in range(min(3, plan.rounds)):
        ours.append(_process(str(Path(notebook.__file__)), str(folder / "dossier.pickle"), str(page)))
        theirs.append(
            _process(
                "-m", "nbconvert", "--log-level=ERROR", "--to=html", "--output=notebook", str(folder / "notebook.ipynb")
            )
        )
        cpu, wall = _ran("render", str(bundle), "--out", str(folder / "out"), "--format=html")
        whole.append(Took(wall, cpu))
    ready = "cold; both are given what is to be shown"
    yield _ratio(f"{what}: time", ours, theirs, "wall", 1.0, ready)
    yield _ratio(f"{what}: CPU", ours, theirs, "cpu", 1.0, ready)
    small, large = page.stat().st_size, theirs_page.stat().st_size
    said = f"{_size(small)} with provenance, digests and data, against {_size(large)} that asks the network for more"
    yield Line(f"{what}: size", f"{small / large:.2f} x", "<= 1.00 x", small <= large, said)
    note = "verified, read, computed and drawn, against a notebook whose outputs are there"
    yield _ratio(f"{what}: time from the evidence on", whole, theirs, "wall", None, note)
    yield _ratio(f"{what}: CPU from the evidence on", whole, theirs, "cpu", None, note)


def _process(*arguments: str) -> Took:
    """Run Python; return the time on the clock and the CPU time, of its children too."""
    clock, cpu = time.perf_counter(), _children()
    ran = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, env=_environment(), cwd=ROOT
    )
    wall = time.perf_counter() - clock
    if ran.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: exit code {ran.returncode}\n{ran.stderr}")
    return Took(wall, _children() - cpu)


# --- starting


def starting(plan: Plan, _scratch: Path) -> Iterator[Line]:
    """Starting."""
    helped = [_ran("--help") for _ in range(plan.starts)]
    bare = []
    for _ in range(plan.starts):
        clock = time.perf_counter()
        subprocess.run([sys.executable, "-c", ""], check=True)
        bare.append(time.perf_counter() - clock)
    wall = min(wall for _, wall in helped)
    median = statistics.median(wall for _, wall in helped)
    note = f"median {median:.3f} s of {len(helped)}; CPU {min(cpu for cpu, _ in helped):.3f} s; Python alone {min(bare):.3f} s"
    yield Line("reportgen --help", f"{wall:.3f} s", "< 0.2 s", wall < 0.2, note)
    code = f"import sys, reportgen; print(*(m for m in {HEAVY!r} if m in sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=_environment())
    loaded = ran.stdout.strip()
    yield Line("import reportgen loads", loaded or "none", "none", not loaded, f"of {', '.join(HEAVY)}")


# --- sites


def sites(plan: Plan, scratch: Path) -> Iterator[Line]:
    """A site: CPU time."""
    if plan.bundles is None:
        return
    site = scratch / "site"
    shutil.copytree(plan.bundles, site / "bundles")
    (site / "site.toml").write_text('pdf = "all"\n', encoding="utf-8")
    count = len(list(site.rglob("bagit.txt")))
    first, wall = _ran("build", str(site))
    most = 6 + 5 / count
    note = f"{first:.1f} s of CPU in {wall:.1f} s for {count} bundles, with their PDFs"
    yield Line(
        "reportgen build, for each bundle",
        f"{first / count:.2f} s",
        f"<= {most:.2f} s",
        first / count <= most,
        f"{note}; 6 s each and 5 s once",
    )
    again = [_ran("build", str(site))[0] for _ in range(min(3, plan.rounds))]
    yield Line(
        "reportgen build, when nothing changed",
        f"{min(again):.2f} s",
        "",
        None,
        f"{min(again) / first:.1%} of the first build",
    )


# --- what the parts share


def _spent(work: Callable[[], object]) -> float:
    cpu = time.process_time()
    work()
    return time.process_time() - cpu


def _seconds(what: str, found: list[float], most: float) -> Line:
    note = f"CPU, rounds {min(found):.2f} to {max(found):.2f} s"
    return Line(what, f"{min(found):.2f} s", f"<= {most:.1f} s", min(found) <= most, note)


def _ran(*arguments: str) -> tuple[float, float]:
    """Run reportgen; return the CPU time, of its children too, and the time on the clock."""
    clock, cpu = time.perf_counter(), _children()
    ran = subprocess.run(
        [sys.executable, "-P", "-c", "import sys; from reportgen.cli import main; sys.exit(main())", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=_environment(),
    )
    wall = time.perf_counter() - clock
    if ran.returncode:
        raise RuntimeError(f"reportgen {' '.join(arguments)}: exit code {ran.returncode}\n{ran.stderr}")
    return _children() - cpu, wall


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])}


def _machine(plan: Plan) -> str:
    versions = ", ".join(f"{name} {_version(name)}" for name in ("ncu-report", "pandas", "nsight-python", "nbconvert"))
    load = os.getloadavg()[0]
    return (
        f"{platform.machine()} with {os.cpu_count()} cores, load {load:.1f}; Python {platform.python_version()}, {versions}.\n"
        f"Each figure is the least of up to {plan.rounds} rounds in which what is compared took turns."
    )


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _table(lines: list[tuple[str, Line | None]]) -> Iterator[str]:
    rows = [line for _, line in lines if line is not None]
    whats, measured, targets = (
        max((len(getattr(row, field)) for row in rows), default=0) for field in ("what", "measured", "target")
    )
    for title, line in lines:
        if line is None:
            yield f"\n{title.rstrip('.')}"
            continue
        holds = {True: "holds", False: "MISSED", None: ""}[line.holds]
        row = f"  {line.what:<{whats}}  {line.measured:>{measured}}  {line.target:>{targets}}  {holds:<6}  {line.note}"
        yield row.rstrip()


PARTS: dict[str, Callable[[Plan, Path], Iterator[Line]]] = {
    "reading": reading,
    "dossiers": dossiers,
    "notebooks": notebooks,
    "starting": starting,
    "sites": sites,
}


if __name__ == "__main__":
    sys.exit(main())
