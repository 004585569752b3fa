"""Reduce the text of `ncu --version` and `ncu --help` on stdin to the lines that name options and choices."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

OPTION = re.compile(r"^ {1,6}(?:-\w \[ )?--[\w-]+(?: \])?(?: \[=[^\]]*\]| arg)?(?: \(=[^)]*\))?(?=\s|$)")
CHOICE = re.compile(r"^\s{8,}[a-z][\w-]*(?:\s+\(default\))?(?=\s*:\s|\s*$)")


def reduced(text: str) -> Iterator[str]:
    """Yield the lines that stay: the version, options with a mark for their explanation, choices."""
    for line in text.splitlines():
        if re.match(r"Version \d", line):
            yield line.split(" (")[0]
        elif option := OPTION.match(line):
            said = line[option.end() :]
            yield option[0] + " " * (len(said) - len(said.lstrip())) + "…" if said.strip() else option[0]
        elif choice := CHOICE.match(line):
            yield choice[0]


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in reduced(sys.stdin.read()))
