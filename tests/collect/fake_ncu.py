"""A stand-in for ncu, which this machine need not have: it answers as the real one does, in our own words around its marks.

`install` puts one in a folder. `--help` and `--version` are answered from a text in tests/data/ncu_help, which `FAKE_NCU_HELP`
names; a profiling call does as `FAKE_NCU` says and keeps what it was asked as `asked.json` beside the report.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"
METRICS = ("dram__bytes_read", "dram__bytes_write", "gpc__cycles_elapsed", "gpu__time_duration", "sm__throughput")
FLAGS = ("--nvtx", "--force-overwrite")

CONNECTED = "==PROF== Connected to process 7 (python)\n"
NO_KERNELS = "==WARNING== No kernels were profiled.\n"
SAYS = {
    "ok": CONNECTED + "==WARNING== Note: Running with unmodified GPU clocks, as asked.\n",
    "launch failed": CONNECTED + '==ERROR== LaunchFailed\n==ERROR== Failed to profile "k" in process 7\n',
    "permission": CONNECTED + "==ERROR== ERR_NVGPUCTRPERM - this user may not, on device 0.\n" + NO_KERNELS,
    "driver": "==ERROR== Cuda driver is not compatible with Nsight Compute.\n",
    "dcgm": CONNECTED + "==ERROR== Profiling failed because a driver resource was unavailable.\n" + NO_KERNELS,
    "metric": CONNECTED + "==ERROR== Failed to find metric regex:^dram__bytes_raed\\.(sum|avg)$\n" + NO_KERNELS,
    "no kernels": CONNECTED + NO_KERNELS,
}


def install(folder: Path) -> Path:
    """Put the stand-in into `folder` as `ncu`, and return its path."""
    path = folder / "ncu"
    path.write_text(
        f"#!{sys.executable}\nimport runpy\nrunpy.run_path({__file__!r}, run_name='__main__')\n", encoding="utf-8"
    )
    path.chmod(0o755)
    return path


def help_text(version: str) -> str:
    """Return the text of a version's help."""
    return (DATA / "ncu_help" / f"{version}.txt").read_text(encoding="utf-8")


def child_of(arguments: Sequence[str]) -> list[str]:
    """Return the command that ncu is to profile."""
    index = 0
    while index < len(arguments) and arguments[index].startswith("--"):
        index += 1 if arguments[index] in FLAGS else 2
    return list(arguments[index:])


def profile(arguments: Sequence[str], behaviour: str) -> int:
    """Run the child; say and leave what the behaviour is."""
    report = Path(arguments[arguments.index("--export") + 1])
    (report.parent / "asked.json").write_text(json.dumps(list(arguments)), encoding="utf-8")
    ran = subprocess.run(child_of(arguments), check=False)
    sys.stdout.write(SAYS[behaviour])
    if behaviour in {"ok", "launch failed"}:
        shutil.copyfile(os.environ.get("FAKE_NCU_REPORT", DATA / "thread.ncu-rep"), report)
        return ran.returncode
    return 0 if behaviour == "no kernels" else 1


def main(arguments: Sequence[str]) -> int:
    """Answer as ncu does."""
    if arguments in (["--help"], ["--version"]):
        sys.stdout.write(help_text(os.environ.get("FAKE_NCU_HELP", "2025.3")))
        return 0
    if arguments == ["--query-metrics"]:
        sys.stdout.write("Device GPU (CHIP)\n----\n" + "".join(f"{m}    Counter    x    …\n" for m in METRICS))
        return 0
    return profile(arguments, os.environ.get("FAKE_NCU", "ok"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
