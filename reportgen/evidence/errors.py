"""The errors that a user can mend, each with the exit code that the command line gives it."""

from __future__ import annotations

from pathlib import Path


class UserError(Exception):
    """Something that the user can mend: one line that names the file, what is wrong and the mend.

    `exit_code` is 2 (wrong use or unreadable input) unless a subclass says otherwise.
    """

    exit_code = 2

    def __init__(self, path: str | Path | None, what: str, mend: str = "") -> None:
        self.path = None if path is None else str(path)
        self.what = what
        self.mend = mend
        super().__init__(self.line)

    def __reduce__(self) -> tuple[object, ...]:
        """Let a worker process hand the error over whole."""
        return type(self), (self.path, self.what, self.mend)

    def __str__(self) -> str:
        """Return the message, also where `path` was made better known since."""
        return self.line

    @property
    def line(self) -> str:
        """Return the message as one printable line."""
        place = f"{self.path}: " if self.path else ""
        mend = f"; {self.mend}" if self.mend else ""
        whole = f"{place}{self.what}{mend}"
        return "".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in whole)


def shown(text: str, most: int = 80) -> str:
    """Return what someone gave as a message quotes it: its beginning tells enough of a long text."""
    return text if len(text) <= most else f"{text[:most]}…"


class ReadError(UserError):
    """A file that cannot be read as what it claims to be."""


class BundleError(UserError):
    """A bundle that is not whole, or not one that this version can open."""


class EnvironmentLacks(UserError):
    """The machine lacks something: a package, a library, a permission, disk space."""

    exit_code = 3
