"""A site's settings, `site.toml`: every key has a default, every mistake is named with its key."""

from __future__ import annotations

import os
import tomllib
import unicodedata
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails

from reportgen.evidence import write
from reportgen.evidence.errors import UserError, shown

FILE = "site.toml"
_LONGEST = 1 << 20


class SiteConfig(BaseModel):
    """What `site.toml` may say."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    title: str = Field(default="GPU performance dossiers", min_length=1, max_length=200)
    """The heading of the front page."""

    description: str = Field(default="", max_length=2000)
    """A sentence or two under the heading."""

    base_address: str = ""
    """Where the site is published (`https://perf.example.org/gpu/`); only pages that need a whole address use it."""

    pdf: Literal["latest", "all", "none"] = "latest"
    """Which dossiers come with a PDF: the newest of each suite (by GPU, backend and scenario), all, or none."""

    tier: Literal["public", "full"] = "public"
    """What is published of the evidence; `reportgen build --tier` goes before it."""

    paper: Literal["a4", "letter"] = "a4"
    """The PDFs' paper."""

    @field_validator("title", "description")
    @classmethod
    def _is_text(cls, value: str) -> str:
        if any(unicodedata.category(c) == "Cc" and c not in "\n\t" for c in value):
            raise ValueError("it holds a control character")
        if value and not value.strip():
            raise ValueError("it is blank")
        return value

    @field_validator("base_address")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        if value and not value.startswith(("https://", "http://")):
            raise ValueError("give a whole address that begins with https://")
        if any(c in ' "<>\\^`{|}' or not c.isprintable() for c in value):
            raise ValueError("give an address without spaces, quotes and control characters")
        return value if not value or value.endswith("/") else f"{value}/"


def load(site: Path) -> SiteConfig:
    """Read the settings of a site's folder; without a `site.toml` all are the defaults."""
    path = site / FILE
    if not os.path.lexists(path):
        return SiteConfig()
    try:
        found = tomllib.loads(_text(path))
    except UnicodeDecodeError as error:
        raise UserError(path, f"not UTF-8 at byte {error.start}", "save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(path, f"not TOML: {error}", 'write one key = "value" a line') from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, thousands of brackets
        raise UserError(path, f"cannot be read as TOML: {error}", 'write one key = "value" a line') from None
    try:
        return SiteConfig.model_validate(found)
    except ValidationError as error:
        raise UserError(path, *_explain(error.errors())) from None


def _text(path: Path) -> str:
    data = bytearray()
    for chunk in write.read_chunks(path):
        data += chunk
        if len(data) > _LONGEST:
            raise UserError(path, f"is larger than {_LONGEST} bytes", "it holds a few settings: take out the rest")
    return bytes(data).decode("utf-8-sig")


def _explain(errors: list[ErrorDetails]) -> tuple[str, str]:
    """Return what is wrong and the mend; the first mistake is told whole, the others are counted."""
    first = errors[0]
    key = ".".join(str(part) for part in first["loc"])
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    if first["type"] == "extra_forbidden":
        near = get_close_matches(key, SiteConfig.model_fields, n=1)
        mend = f"did you mean '{near[0]}'?" if near else f"the keys are {', '.join(SiteConfig.model_fields)}"
        return f"unknown key '{key}'{more}", mend
    if first["type"] == "literal_error":
        return f"key '{key}' is '{shown(str(first['input']))}'{more}", f"give {first['ctx']['expected']}"
    return (
        f"key '{key}': {first['msg'].removeprefix('Value error, ')}{more}",
        f"mend it or take out the line '{key} = …'",
    )
