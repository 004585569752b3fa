"""Write the parts of docs/ that come from the code; with `--check`, only say what is out of date (exit code 1)."""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_type_hints

import click

from reportgen import resources
from reportgen.cli.commands import COMMANDS, group
from reportgen.dossier import context, environment, schema
from reportgen.evidence.provenance import KEYS
from reportgen.publish import pages

DOCS = Path(__file__).resolve().parent.parent / "docs"
CONTEXTS: dict[str, type] = {**context.CONTEXTS, **pages.CONTEXTS}
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


def replaced() -> str:
    """Return the list of the files that a folder of templates may hold, with the blocks and the context of each."""
    lines = ["| file | context | blocks |", "| --- | --- | --- |"]
    for name in environment.replaceable():
        if name in environment.ADDED:
            continue
        context = f"`{CONTEXTS[name].__name__}`" if name in CONTEXTS else ""
        text = (resources.templates() / name).read_text(encoding="utf-8")
        blocks = [f"`{block}`" for block in re.findall(r"{%-? block (\w+)", text)]
        lines.append(f"| `{name}` | {context} | {', '.join(blocks)} |")
    return "\n".join(lines)


def contract() -> str:
    """Return a table for each type that a template may use."""
    parts = []
    waiting: list[type] = list(dict.fromkeys(CONTEXTS.values()))
    seen: set[type] = set()
    while waiting:
        kind = waiting.pop(0)
        if kind in seen:
            continue
        seen.add(kind)
        said = schema.remarks(kind)
        lines = [
            f"### {kind.__name__}",
            "",
            inspect.getdoc(kind) or "",
            "",
            "| field | type | |",
            "| --- | --- | --- |",
        ]
        for field in fields(kind):
            lines.append(
                f"| `{field.name}` | `{str(field.type).replace('|', '&#124;')}` | {said.get(field.name, '')} |"
            )
        for name, found in vars(kind).items():
            if isinstance(found, property):
                lines.append(f"| `{name}` | {_code(found.fget.__annotations__['return'])} | {inspect.getdoc(found)} |")
        parts.append("\n".join(lines))
        waiting += [each for hint in get_type_hints(kind).values() for each in _types(hint)]
    return "\n\n".join(parts)


def _code(kind: object) -> str:
    return f"`{kind}`".replace("|", "\\|")


def _escaped(text: str) -> str:
    return text.replace("<", "\\<").replace("|", "\\|")


def _types(hint: Any) -> list[type]:
    """Return the dataclasses that a type is made of."""
    if isinstance(hint, list):
        return [each for one in hint for each in _types(one)]
    inner = [each for argument in get_args(hint) for each in _types(argument)]
    return [hint, *inner] if is_dataclass(hint) and isinstance(hint, type) else inner


def filled(text: str, name: str, body: str) -> str:
    """Return `text` with what stands between the marks of `name` replaced."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    if not pattern.search(text):
        raise SystemExit(f"docs: the marks <!-- {name} --> and <!-- /{name} --> are missing")
    return pattern.sub(lambda found: f"{found[1]}{body}\n{found[2]}", text)


def main(check: bool) -> int:
    """Write or check every made document; return the exit code."""
    bundle, templates = DOCS / "bundle.md", DOCS / "templates.md"
    about = filled(filled(templates.read_text(encoding="utf-8"), "files", replaced()), "contract", contract())
    wanted = {
        DOCS / "commands.md": commands(),
        DOCS / "dossier.schema.json": schema.text(),
        templates: about,
        bundle: filled(bundle.read_text(encoding="utf-8"), "facts", facts()),
    }
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
