"""What ncu's log says: why there is no report, and what went wrong although there is one, in words that name the mend."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

NO_COUNTERS = (
    "the host does not let this user read the GPU's counters (ERR_NVGPUCTRPERM); ask its owner to set "
    "NVreg_RestrictProfilingToAdminUsers=0, or collect with --backend cupti"
)
UNEXPLAINED = "ncu left no report; its log says more"
PAUSE_DCGM = "ask the host's owner for `dcgmi profile --pause`, and `--resume` afterwards"
_SUFFIXES = ("sum", "avg", "min", "max")
_MOST = 20
_SAID = re.compile(r"^==(ERROR|WARNING)==\s*(.+?)\s*$", re.MULTILINE)
_DIFFERS = re.compile(r'"[^"]*"|\d+')
# ncu says so of each collection with free clocks or kept caches, which the scenario has told already.
# A warning of these tells of evidence that is not there; others, such as that a replay is slow, of none that is lost.
_LOST = re.compile(
    r"\b(?:fail|unable|unsupported|cannot|could not|not (?:be )?(?:available|collected|profiled|supported|found)"
    r"|skipp|dropp|lost|missing|incomplete|child processes)",
    re.IGNORECASE,
)
_EXPECTED = re.compile(r"unmodified GPU clocks|uncontrolled GPU caches|^No kernels were profiled")


@dataclass(frozen=True, slots=True)
class Known:
    """What is known beside the log: versions, what holds the counters, and a way to ask which metrics there are."""

    version: str = ""
    driver: str = ""
    dcgm: str = ""
    metrics: Callable[[], Sequence[str]] = tuple


NOTHING = Known()


def why_no_report(log: str, known: Known = NOTHING) -> tuple[str, str]:
    """Return the state and the reason of a step for which ncu wrote no report."""
    if "ERR_NVGPUCTRPERM" in log:
        return "not permitted", NO_COUNTERS
    for pattern, explain in _CAUSES:
        if found := pattern.search(log):
            return "dropped", explain(found, log, known)
    errors = [line for _, line in _SAID.findall(log) if not _EXPECTED.search(line)]
    if errors:
        return "dropped", f"ncu: {_one_line(errors[0])}"
    return "dropped", UNEXPLAINED


@dataclass(frozen=True, slots=True)
class Problem:
    """One kind of complaint, in one line; `loss` where evidence is not there because of it."""

    line: str
    loss: bool


def problems(log: str) -> tuple[Problem, ...]:
    """Return what ncu complained of although it wrote a report, one for each kind, with how often it came.

    Complaints that differ in names and numbers alone are of one kind; its line is the first of them.
    """
    kinds: dict[str, Counter[str]] = {}
    losses: set[str] = set()
    for level, text in _SAID.findall(log):
        line = _one_line(re.sub(r" in process \d+", "", text))
        if _EXPECTED.search(line):
            continue
        kind = _DIFFERS.sub("", line)
        kinds.setdefault(kind, Counter())[line] += 1
        if level == "ERROR" or _LOST.search(line):
            losses.add(kind)
    found = [Problem(f"ncu: {_counted(lines)}", kind in losses) for kind, lines in kinds.items()]
    if len(found) <= _MOST:
        return tuple(found)
    rest = found[_MOST:]
    return (*found[:_MOST], Problem(f"ncu: {len(rest)} more; see the log", any(one.loss for one in rest)))


def _counted(lines: Counter[str]) -> str:
    first, total = next(iter(lines)), lines.total()
    if len(lines) > 1:
        return f"{first} (and {total - 1} like it)"
    return f"{first} ({total} times)" if total > 1 else first


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]


def _driver(_: re.Match[str], __: str, known: Known) -> str:
    version, driver = known.version or "this version", known.driver or "not known"
    return (
        f"the driver ({driver}) is too old for ncu ({version}); update the driver, or install an older Nsight Compute"
    )


def _busy(_: re.Match[str], __: str, known: Known) -> str:
    holder = f"{known.dcgm} runs and may hold them" if known.dcgm else "DCGM or another profiler holds them"
    return f"the GPU's counters are taken: {holder}; {PAUSE_DCGM}, or end the other profiler"


def _unsupported(_: re.Match[str], log: str, known: Known) -> str:
    version = known.version or "this version"
    if "WSL" in log:
        return f"ncu ({version}) cannot profile this GPU under WSL; update Windows and its driver, or boot Linux"
    return (
        f"ncu ({version}) does not support this GPU: it is older or newer than the chips that `ncu --list-chips` names; "
        "install the Nsight Compute that does, or collect with --backend cupti"
    )


def _disk(_: re.Match[str], __: str, ___: Known) -> str:
    return "the disk is full; make room, and go on with --resume"


def _locked(_: re.Match[str], __: str, ___: Known) -> str:
    return (
        "another user's ncu left its lock file in the folder for temporary files; set TMPDIR to a folder of your own, "
        "once no other ncu runs"
    )


def _metrics(_: re.Match[str], log: str, known: Known) -> str:
    names = tuple(dict.fromkeys(_unknown(log)))
    there = known.metrics()
    hints = tuple(dict.fromkeys(hint for name in names for hint in _near(name, there)))
    mend = f"did you mean {' or '.join(hints)}?" if hints else "`ncu --query-metrics` lists those it has"
    listed = ", ".join(f"'{name}'" for name in names[:5])
    return f"ncu does not have the metric{'s' if len(names) > 1 else ''} {listed} on this GPU; {mend}"


def _unknown(log: str) -> Iterator[str]:
    """Yield the names that the log calls unknown; ncu may write one as the expression that it made of it."""
    for found in _METRIC.finditer(log):
        for name in (found[1] or found[2] or found[3]).split(","):
            yield name.strip().replace("\\", "").rstrip(".")


def _near(name: str, there: Sequence[str]) -> list[str]:
    base, _, suffix = name.partition(".")
    if base in there:
        return [f"{base}.{known}" for known in _SUFFIXES if known != suffix]
    dotted = f".{suffix}" if suffix else ""
    return [near + dotted for near in get_close_matches(base, there, n=3, cutoff=0.75)]


def _section(found: re.Match[str], _: str, __: Known) -> str:
    kind, name = found[1], found[2]
    return f"ncu has no {kind} '{name}'; `ncu --list-{kind}s` names those it has"


def _died(found: re.Match[str], log: str, _: Known) -> str:
    lines = [line for line in log.splitlines() if line.strip() and not line.startswith("==")]
    said = f"; it last said: {_one_line(lines[-1])[:200]}" if lines else ""
    return f"the suite's process ended with exit code {found[1]} under ncu{said}"


def _no_kernels(_: re.Match[str], log: str, __: Known) -> str:
    if "launched by child processes" in log:
        return (
            "the suite launches its kernels in processes of its own, which ncu does not follow; launch them in its own"
        )
    if "Connected to process" not in log:
        return "ncu profiled no kernel: the suite did not use the GPU"
    seen = "kernels, but none" if "Available Kernels" in log else "no kernel"
    return (
        f"ncu saw {seen} within a measured region; a suite that touches CUDA while it is loaded loses its regions: "
        "make tensors inside the benchmark, and launch inside annotate()"
    )


_METRIC = re.compile(
    r"Failed to find metric (?:regex:\^?)?([A-Za-z_][\w.\\]*)"
    r"|Failed to access the following (?:\d+ )?metrics?: ([\w., ]+)"
    r"|[Mm]etric '?([a-z][\w.]*)'? (?:is )?not available"
)
_CAUSES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], str, Known], str]], ...] = (
    (re.compile(r"driver is not compatible with Nsight|does not support the current driver", re.IGNORECASE), _driver),
    (re.compile(r"driver resource was unavailable|ERR_NVGPUCTR\w*"), _busy),
    (
        re.compile(r"[Pp]rofiling is not supported on (?:the )?(?:target )?device|is not supported on device"),
        _unsupported,
    ),
    (re.compile(r"No space left on device|Disk quota exceeded"), _disk),
    (re.compile(r"InterprocessLock|nsight-compute-lock"), _locked),
    (_METRIC, _metrics),
    (re.compile(r"Option '--(set|section) ([^']*)' did not match"), _section),
    (re.compile(r"The application returned an error code \((\d+)\)"), _died),
    (re.compile(r"No kernels were profiled"), _no_kernels),
)
