"""How commands print: facts for people as lines, facts for programs as strict JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON.")
"""The option that every command has which prints facts."""


def print_json(facts: Mapping[str, Any]) -> None:
    """Print facts as JSON that any parser takes: no NaN, a `Path` as its text."""
    click.echo(json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False, default=str))


def warn(line: str) -> None:
    """Print a warning on stderr."""
    click.echo(f"reportgen: warning: {printable(line)}", err=True)


def printable(text: str) -> str:
    """Return `text` as one line that a terminal shows and does not obey."""
    return "".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in text)


def count(n: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 file`, `2 files`."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
