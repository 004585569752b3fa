"""Show a built site on this machine: static files, the site's own 404 page, no lists of folders."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from reportgen.evidence.errors import EnvironmentLacks, UserError


class Handler(SimpleHTTPRequestHandler):
    """Serve files below one folder and nothing else."""

    extensions_map = {  # noqa: RUF012 - the base class declares it so
        **SimpleHTTPRequestHandler.extensions_map,
        ".csv": "text/csv; charset=utf-8",
        ".html": "text/html; charset=utf-8",
        ".txt": "text/plain; charset=utf-8",
    }

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing of requests."""

    def list_directory(self, path: str | PathLike[str]) -> None:
        """Answer a folder without a page as what it is: not found."""
        del path
        self.send_error(HTTPStatus.NOT_FOUND)

    def send_head(self) -> BinaryIO | None:
        """Refuse what leads out of the folder, through links too."""
        root = Path(self.directory).resolve()
        try:
            inside = Path(os.path.realpath(self.translate_path(self.path))).is_relative_to(root)
        except ValueError:  # a NUL in the address
            inside = False
        if not inside:
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        return super().send_head()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a missing page with the site's own 404 page."""
        page = Path(self.directory) / "404.html"
        if code != HTTPStatus.NOT_FOUND or not page.is_file():
            super().send_error(code, message, explain)
            return
        body = page.read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def end_headers(self) -> None:
        """Let a rebuilt page show at the next reload."""
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a browser that went away."""


@contextmanager
def server(site: Path, *, port: int, bind: str) -> Iterator[ThreadingHTTPServer]:
    """Open a server of `site`'s built pages; the caller runs it."""
    public = site / "public"
    if not (public / "index.html").is_file():
        raise UserError(site, "the site is not built", f"run: reportgen build {site}")
    if not bind.strip():
        # An empty address would mean all of them: too much for a variable that was not set.
        raise UserError(None, "--bind is empty", "give 127.0.0.1, or 0.0.0.0 to show the site to the network")
    try:
        running = _Server((bind, port), partial(Handler, directory=str(public)))
    except (OSError, OverflowError) as error:
        raise _explain(error, port, bind) from None
    with running:
        yield running


def _explain(error: OSError | OverflowError, port: int, bind: str) -> UserError:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return EnvironmentLacks(None, f"port {port} is taken", "choose another: --port 0 takes any that is free")
    if number == errno.EACCES:
        return EnvironmentLacks(None, f"port {port} is not for this user", "choose one above 1023")
    return UserError(None, f"cannot listen on {bind}", "give an address of this machine to --bind, such as 127.0.0.1")
