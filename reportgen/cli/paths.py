"""How commands take paths."""

from __future__ import annotations

import os
from pathlib import Path

import click


class GivenPath(click.Path):
    """A path that was given: an empty one, as of a variable that was not set, is not taken for the current folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """Return the path, or say that it is empty."""
        if not os.fspath(value):
            self.fail("it is empty; write . for the current folder", param, ctx)
        return super().convert(value, param, ctx)


PATH = GivenPath()
