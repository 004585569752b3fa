"""The one place that knows Jinja: the environment, its few filters, and how a page's style and script are gathered."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from datetime import datetime
from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from reportgen.dossier.model import Figure, Name, Part
from reportgen.dossier.text import visible
from reportgen.resources import templates

_LONGEST_KEY = 200
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def render(template: str, **values: object) -> str:
    """Render a template of `templates/` with `values`."""
    return _environment().get_template(template).render(values)


def source(*names: str) -> str:
    """Return files of `templates/` (styles, scripts) as one text, in this order."""
    return "\n".join((templates() / name).read_text(encoding="utf-8").strip() for name in names)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(templates()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_finalize,
    )
    environment.filters.update(
        base64=as_base64, chunks=chunks, day=day, minute=minute, number=number, sort_key=sort_key, verbatim=verbatim
    )
    environment.tests.update(figure=is_figure, name=is_name)
    return environment


def _finalize(value: object) -> object:
    """Print what cannot be seen, or hides what can, as `U+202E`; markup was made by a template and is left as it is."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value)
    return value


def is_figure(part: Part) -> bool:
    """Tell whether a part of a sentence is a figure."""
    return isinstance(part, Figure)


def is_name(part: Part) -> bool:
    """Tell whether a part of a sentence is a name, which is printed as code."""
    return isinstance(part, Name)


def number(value: float) -> str:
    """Return the shortest text that reads back as exactly `value`."""
    if math.isfinite(value) and value == int(value) and abs(value) < 2**53:
        return str(int(value))
    return repr(value)


def sort_key(order: float | str) -> str:
    """Return what a column sorts by as an attribute's text; the beginning of a long name is enough."""
    return order[:_LONGEST_KEY] if isinstance(order, str) else number(order)


def as_base64(text: str) -> str:
    """Return `text` as base64 for a `data:` address."""
    return base64.b64encode(text.encode("utf-8", "backslashreplace")).decode("ascii")


def chunks(text: str, size: int = 8) -> Sequence[str]:
    """Cut a digest into pieces between which a line may break."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def day(moment: str) -> str:
    """Return the day of an ISO 8601 moment in words: `30 November 2026`."""
    date = datetime.fromisoformat(moment)
    return f"{date.day} {_MONTHS[date.month - 1]} {date.year}"


def minute(moment: str) -> str:
    """Return the day and minute of an ISO 8601 moment in UTC: `30 November 2026, 21:10 UTC`."""
    return f"{day(moment)}, {datetime.fromisoformat(moment):%H:%M} UTC"


def verbatim(text: str) -> Markup:
    """Let `text` stand as it is: a style or script of ours, or a chart that our exporter drew and escaped."""
    return Markup(text)  # noqa: S704
