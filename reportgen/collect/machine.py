"""What the machine is: host, software and the suite's source, as provenance facts. What cannot be read says why."""

from __future__ import annotations

import getpass
import os
import platform
import re
import subprocess
from collections.abc import Callable, Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import reportgen
from reportgen.collect import ncu_options
from reportgen.evidence.errors import EnvironmentLacks
from reportgen.evidence.provenance import Fact, Value

_PACKAGES = {
    "versions.torch": "torch",
    "versions.triton": "triton",
    "versions.cupti_python": "cupti-python",
}
_SAYS_VERSION = re.compile(r"""^__version__\s*=\s*["']([^"']+)["']""", re.MULTILINE)
_IN_FOLDER = re.compile(r"nsight-compute[-/](\d{4}\.\d+(?:\.\d+)*)")


def facts(suite: Path) -> dict[str, Fact]:
    """Return what can be read of this machine and of the suite at `suite`."""
    found = dict(_read())
    for key, package in _PACKAGES.items():
        found[key] = _version(package)
    found["versions.ncu_report"] = ncu_report()
    found |= _git(suite)
    return found


def _read() -> Iterator[tuple[str, Fact]]:
    readings: tuple[tuple[str, Callable[[], Value], str], ...] = (
        ("host.name", platform.node, "the host"),
        ("host.user", getpass.getuser, "the host"),
        ("host.architecture", platform.machine, "the host"),
        ("host.kernel", platform.release, "the host"),
        ("host.os", _system, "/etc/os-release"),
        ("host.cpu", _cpu, "/proc/cpuinfo"),
        ("host.cores", _cores, "the host"),
        ("host.memory_bytes", _memory, "the host"),
        ("host.container", _container, "the host"),
        ("host.numa", _numa, "/sys"),
        ("versions.python", platform.python_version, "the interpreter"),
        ("versions.reportgen", lambda: reportgen.__version__, "the program"),
    )
    for key, read, origin in readings:
        try:
            value = read()
        except (OSError, KeyError, ValueError, StopIteration) as error:
            yield key, Fact(None, f"it could not be read ({type(error).__name__})")
        else:
            yield key, Fact(value, "", origin) if value else Fact(None, "the host does not say it")


def _system() -> str:
    return platform.freedesktop_os_release()["PRETTY_NAME"]


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _container() -> str:
    """Say what kind of container this is: the marks that the usual ones leave, and the cgroup's path."""
    marks = {"/.dockerenv": "docker", "/run/.containerenv": "podman"}
    for path, name in marks.items():
        if Path(path).exists():
            return name
    named = os.environ.get("container", "")  # noqa: SIM112 - systemd and podman write it so
    groups = Path("/proc/1/cgroup").read_text()
    known = next((name for name in ("kubepods", "docker", "containerd", "lxc") if name in groups), "")
    return named or known or "none was seen"


def _numa() -> str:
    nodes = sorted(path.name for path in Path("/sys/devices/system/node").glob("node[0-9]*"))
    return f"{len(nodes)} {'node' if len(nodes) == 1 else 'nodes'}" if nodes else ""


def ncu_report() -> Fact:
    """Return the version of the `ncu_report` that would be imported, which is not done here.

    It is a package of its own, or a module that came with an Nsight Compute: then it is as old as the ncu beside it.
    """
    spec = find_spec("ncu_report")
    if spec is None or spec.origin is None:
        return Fact(None, "ncu_report is not installed")
    origin = Path(spec.origin).resolve()
    try:
        package = metadata.distribution("ncu-report")
    except metadata.PackageNotFoundError:
        package = None
    if package is not None and origin.is_relative_to(Path(str(package.locate_file("ncu_report"))).resolve()):
        return Fact(package.version, "", "the package")
    if found := _SAYS_VERSION.search(_text(origin)):
        return Fact(found[1], "", "the module")
    for folder in origin.parents[1:]:
        if version := _version_of_ncu(folder / "ncu"):
            return Fact(version, "", "the ncu that the module lies beside")
    if found := _IN_FOLDER.search(str(origin)):
        return Fact(found[1], "", "the name of the folder that the module lies in")
    return Fact(None, "the module tells no version, and no ncu lies beside it")


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _version_of_ncu(path: Path) -> str:
    """Return the version of the ncu at `path`; an empty text where there is none, or it tells none."""
    if not (path.is_file() and os.access(path, os.X_OK)):
        return ""
    try:
        return ncu_options.version(str(path))
    except EnvironmentLacks:
        return ""


def _version(package: str) -> Fact:
    try:
        return Fact(metadata.version(package), "", "the package")
    except metadata.PackageNotFoundError:
        return Fact(None, f"{package} is not installed")


def _git(suite: Path) -> dict[str, Fact]:
    """Return the commit of the suite's repository, and whether the suite itself differs from it."""
    commit = _ask_git(suite, "rev-parse", "HEAD")
    if commit is None:
        missing = Fact(None, "the suite is in no git repository, or git is not installed")
        return {"suite.git_commit": missing, "suite.git_dirty": missing}
    changed = _ask_git(suite, "status", "--porcelain", "--", suite.name)
    return {"suite.git_commit": Fact(commit, "", "git"), "suite.git_dirty": Fact(bool(changed), "", "git")}


def _ask_git(suite: Path, *arguments: str) -> str | None:
    try:
        ran = subprocess.run(
            ["git", "-C", str(suite.absolute().parent), *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ran.stdout.strip() if ran.returncode == 0 else None
