"""Write the parts of docs/ that come from the code; with `--check`, only say what is out of date (exit code 1)."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

import click

from reportgen.cli.commands import COMMANDS, group
from reportgen.evidence.provenance import KEYS

DOCS = Path(__file__).resolve().parent.parent / "docs"
INTRODUCTION = """\
# Commands

<!-- Made by `make docs` from the commands' own help. -->

"""


def commands() -> str:
    """Return the help of every command as one document."""
    found = {"reportgen": _help(group, "reportgen")}
    for name, entry in COMMANDS.items():
        found[f"reportgen {name}"] = _help(import_module(entry.module).command, f"reportgen {name}")
    return INTRODUCTION + "\n".join(f"## {name}\n\n```text\n{text}\n```\n" for name, text in found.items())


def _help(command: click.Command, path: str) -> str:
    context = click.Context(command, info_name=path, terminal_width=100, max_content_width=100)
    return "\n".join(line.rstrip() for line in command.get_help(context).splitlines())


def facts() -> str:
    """Return the table of provenance keys."""
    lines = ["| key | meaning | unit | public tier |", "| --- | --- | --- | --- |"]
    for key in KEYS:
        lines.append(
            f"| `{key.name}` | {key.group}: {key.label} | {key.unit} | {'withheld' if key.sensitive else ''} |"
        )
    return "\n".join(lines)


def filled(text: str, name: str, body: str) -> str:
    """Return `text` with what stands between the marks of `name` replaced."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    if not pattern.search(text):
        raise SystemExit(f"docs: the marks <!-- {name} --> and <!-- /{name} --> are missing")
    return pattern.sub(lambda found: f"{found[1]}{body}\n{found[2]}", text)


def main(check: bool) -> int:
    """Write or check every made document; return the exit code."""
    bundle = DOCS / "bundle.md"
    wanted = {DOCS / "commands.md": commands(), bundle: filled(bundle.read_text(encoding="utf-8"), "facts", facts())}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if check:
            print(f"docs/{path.name} is out of date; run: make docs")
        else:
            path.write_text(wanted[path], encoding="utf-8")
            print(f"wrote docs/{path.name}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
