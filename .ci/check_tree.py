"""Check what the tree may hold: no machine's paths, no address but known ones, whole documents.

Looks at all files that git tracks or would add. Exit code 1 and one line for each thing to mend.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Kept byte for byte, whatever stands in it.
EVIDENCE = ("site/bundles/", "tests/data/")

# The hosts that a committed text may point to. No package registry is among them: where packages come from is for each
# machine's own settings to say.
HOSTS = {
    "127.0.0.1",
    "docs.nvidia.com",
    "developer.nvidia.com",
    "git-lfs.github.com",
    "github.com",
    "json-schema.org",
    "keepachangelog.com",
    "localhost",
    "ns.adobe.com",
    "purl.org",
    "semver.org",
    "www.aiim.org",
    "www.apache.org",
    "www.rfc-editor.org",
    "www.w3.org",
}
ADDRESS = re.compile(r"https?://([\w.-]+)", re.IGNORECASE)
EXAMPLE = re.compile(r"(^|\.)example(\.(org|com|net))?$|^[^.]+$|(^|\.)(invalid|test)$")
MACHINE = re.compile(r"(?<![\w.:/*<>-])/(?:home|mnt|root|srv|Users|work|workspace)/\w[\w.-]*")
# Paths of nobody, for texts that are about paths.
NOBODY = re.compile(r"/(?:home|Users)/(?:ada|alice|bob|me|user|someone|you)\b")


def files() -> Iterator[str]:
    """Yield the names of all files that are in git or would be."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    yield from sorted({name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()})


def faults_of_text(name: str, text: str) -> Iterator[str]:
    """Yield what one text file may not hold."""
    for number, line in enumerate(text.splitlines(), 1):
        for host in ADDRESS.findall(line):
            if host.lower() not in HOSTS and not EXAMPLE.search(host.lower()):
                yield f"{name}:{number}: an address at {host}, which is not one of the known hosts"
        for path in MACHINE.findall(line):
            if not NOBODY.match(path):
                yield f"{name}:{number}: {path} is a path of one machine"
        if name.startswith("requirements/") and "://" in line:
            yield f"{name}:{number}: a requirement file holds an address; make it with: make lock"


def faults_of_documents() -> Iterator[str]:
    """Yield what is missing from the documents, and links that lead nowhere."""
    version = re.search(
        r'^__version__ = "(.+)"$', (ROOT / "reportgen/__init__.py").read_text(encoding="utf-8"), re.MULTILINE
    )
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if version is None or f"## [{version[1]}]" not in changelog:
        yield "CHANGELOG.md: the version of reportgen/__init__.py has no section"
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text(encoding="utf-8")):
            if "://" not in target and not (document.parent / target).exists():
                yield f"{document.relative_to(ROOT)}: the link to {target} leads nowhere"


def main() -> int:
    """Print what there is to mend; return the exit code."""
    if not (ROOT / ".git").exists():
        print("tree: not checked, since this is no git checkout")
        return 0
    faults = list(faults_of_documents())
    for name in files():
        if name.startswith(EVIDENCE):
            if str(ROOT).encode() in (ROOT / name).read_bytes():
                faults.append(f"{name}: holds the path of this checkout")
            continue
        try:
            faults += faults_of_text(name, (ROOT / name).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            continue
    for fault in faults:
        print(fault)
    print(f"tree: {len(faults)} to mend" if faults else "tree: ok")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
