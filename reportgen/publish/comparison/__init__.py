"""A comparison for people and for CI: one writer for each format, each from `analysis.compare.Comparison` to a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from reportgen.analysis.compare import Comparison
from reportgen.publish.comparison import facts, junit, lines, markdown

Format = Literal["text", "json", "markdown", "junit"]

WRITERS: dict[Format, Callable[[Comparison], str]] = {
    "text": lines.write,
    "json": facts.write,
    "markdown": markdown.write,
    "junit": junit.write,
}
