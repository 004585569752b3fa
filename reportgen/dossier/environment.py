"""The one place that knows Jinja: where templates come from, the few filters, and how a page's style and script are gathered.

A folder of someone's own goes before the templates that ship, file by file: `dossier/page.html.j2` there is used instead of
ours, and may extend it as `shipped/dossier/page.html.j2`. What such a folder holds is data, not a program: its templates
run in Jinja's sandbox, and whatever goes wrong in one is an error that names its file and line.
"""

from __future__ import annotations

import base64
import math
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, StrictUndefined, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from reportgen.analysis import sources
from reportgen.dossier import prose
from reportgen.dossier.model import Cell, Figure, Moment, Name, Part
from reportgen.dossier.notes import notes
from reportgen.dossier.text import day, moment, runs, visible
from reportgen.evidence.errors import UserError
from reportgen.resources import templates

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# Style sheets that a folder of one's own may add; there are none that ship.
ADDED = ("dossier/own.css", "dossier/own-print.css", "site/own.css")
SHIPPED = "shipped"
_ENDS = ("</style", "</script")
_LONGEST_KEY = 200


class TemplateFault(UserError):
    """A template or style sheet of someone's own that cannot be used; it would spoil every page alike."""


class Templates:
    """The templates that ship, and before them those of the folder `own`, if there is one."""

    def __init__(self, own: Path | None = None) -> None:
        self.own = own
        self._environment = _environment(own)

    def render(self, template: str, context: DataclassInstance) -> str:
        """Render a template with the fields of `context` as its variables.

        Raises `TemplateFault` with the place where templates of someone's own are in use and rendering fails.
        """
        values = {field.name: getattr(context, field.name) for field in fields(context)}
        try:
            return self._environment.get_template(template).render(values)
        except Exception as error:
            if self.own is None:
                raise
            raise self._fault(error) from error

    def source(self, *names: str) -> str:
        """Return style sheets or scripts as one text, in this order; those of `ADDED` only where they are."""
        texts = [self._text(name) for name in names]
        return "\n".join(text for text in texts if text)

    def check(self) -> None:
        """Raise `TemplateFault` unless the folder of one's own is there, changes something, and can be compiled."""
        if self.own is None:
            return
        if not self.own.is_dir():
            raise TemplateFault(self.own, "there is no such folder", "name a folder of templates")
        held = {path.relative_to(self.own).as_posix() for path in self.own.rglob("*") if path.is_file()}
        known = replaceable()
        if not held.intersection(known):
            raise TemplateFault(self.own, "holds nothing in place of what ships", f"it may hold {', '.join(known)}")
        for name in sorted(held):
            if name.endswith(".j2"):
                try:
                    self._environment.get_template(name)
                except Exception as error:
                    raise self._fault(error) from error
            elif name in known:
                self._text(name)

    def _text(self, name: str) -> str:
        own = self.own / name if self.own is not None else None
        if own is not None and own.is_file():
            try:
                text = own.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise TemplateFault(own, f"cannot be read: {error}", "it is to be a text in UTF-8") from error
            if (end := next((end for end in _ENDS if end in text.lower()), None)) is not None:
                raise TemplateFault(own, f"holds '{end}', which would end it within the page", "take it out")
            return text.strip()
        return "" if name in ADDED else (templates() / name).read_text(encoding="utf-8").strip()

    def _fault(self, error: Exception) -> TemplateFault:
        """Return an error that names the template and line at which `error` was raised, those of one's own before ours."""
        assert self.own is not None
        places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
        if isinstance(error, TemplateSyntaxError) and error.filename:
            places.append((error.filename, error.lineno))
        made = [(Path(name), line) for name, line in places if name.endswith(".j2")]
        mine = [(path, line) for path, line in made if path.is_relative_to(self.own)]
        path, line = (mine or made or [(self.own, 0)])[-1]
        what = " ".join(str(error).split()) or type(error).__name__
        return TemplateFault(
            f"{path}:{line}" if line else path,
            f"cannot be rendered: {what}",
            "what a template may use stands in docs/templates.md",
        )


def replaceable() -> list[str]:
    """Return the names of the files of `templates/` that a folder of one's own may hold in their place, and those it may add."""
    shipped = templates()
    return sorted({path.relative_to(shipped).as_posix() for path in shipped.rglob("*") if path.is_file()} | {*ADDED})


@cache
def _environment(own: Path | None) -> Environment:
    shipped = FileSystemLoader(templates())
    options: dict[str, Any] = {
        "autoescape": True,
        "undefined": StrictUndefined,
        "trim_blocks": True,
        "lstrip_blocks": True,
        "keep_trailing_newline": True,
        "finalize": _finalize,
    }
    environment = (
        Environment(loader=shipped, **options)  # noqa: S701 - it stands in the options
        if own is None
        else ImmutableSandboxedEnvironment(
            loader=ChoiceLoader([FileSystemLoader(own), shipped, PrefixLoader({SHIPPED: shipped})]), **options
        )
    )
    environment.filters.update(
        base64=as_base64,
        chunks=chunks,
        day=day,
        minute=minute,
        number=number,
        prose=prose_html,
        runs=runs,
        sort_key=sort_key,
        verbatim=verbatim,
    )
    environment.filters.update(anchor=anchor, notes=notes, origin=origin, row_origin=row_origin, any_origin=any_origin)
    environment.tests.update(figure=is_figure, moment=is_moment, name=is_name)
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


def is_moment(part: Part) -> bool:
    """Tell whether a part of a sentence is a moment."""
    return isinstance(part, Moment)


def number(value: float) -> str:
    """Return the shortest text that reads back as exactly `value`."""
    if math.isfinite(value) and value == int(value) and abs(value) < 2**53:
        return str(int(value))
    return repr(value)


def sort_key(order: float | str) -> str:
    """Return what a column sorts by as an attribute's text; the beginning of a long name is enough."""
    return order[:_LONGEST_KEY] if isinstance(order, str) else number(float(f"{order:.12g}"))


@dataclass(frozen=True, slots=True)
class RowOrigin:
    """The row of the processed table that a table's row begins with, and where it stands."""

    id: str
    href: str


def origin(part: Part, origins: Mapping[str, str]) -> str:
    """Return where it stands what a part of a sentence is computed from, empty where that is nowhere."""
    return origins.get(part.source, "") if isinstance(part, Figure) else ""


def any_origin(rows: Sequence[Sequence[Cell]], origins: Mapping[str, str]) -> bool:
    """Tell whether any of a table's rows has an origin."""
    return any(row_origin(row, origins) is not None for row in rows)


def row_origin(row: Sequence[Cell], origins: Mapping[str, str]) -> RowOrigin | None:
    """Return the origin of a table's row: that of the first of its figures that has one."""
    for cell in row:
        for part in cell.parts:
            if isinstance(part, Figure) and part.source in origins:
                rows = list(sources.rows(sources.parse(part.source)))
                if rows:
                    return RowOrigin(rows[0], origins[part.source])
    return None


def anchor(source: str) -> str:
    """Return the id of the element that says what a source gives: an id holds no white space."""
    return "_".join(source.split())


def as_base64(text: str) -> str:
    """Return `text` as base64 for a `data:` address."""
    return base64.b64encode(text.encode("utf-8", "backslashreplace")).decode("ascii")


def chunks(text: str, size: int = 8) -> Sequence[str]:
    """Cut a digest into pieces between which a line may break."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def minute(iso: str) -> str:
    """Return the day and minute of an ISO 8601 moment in words and in UTC: `30 November 2026, 21:10 UTC`."""
    return moment(iso).text


def prose_html(text: str) -> Markup:
    """Return a suite's own Markdown as safe HTML."""
    return Markup(prose.html(text))  # noqa: S704


def verbatim(text: str) -> Markup:
    """Let `text` stand as it is: a style or script of ours, or a chart that our exporter drew and escaped."""
    return Markup(text)  # noqa: S704
