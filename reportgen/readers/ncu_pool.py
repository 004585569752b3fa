"""A small warm pool of child processes that read Nsight Compute reports for us.

A child that dies or outlasts its time is replaced, and only its request fails. One that has grown is replaced too:
`ncu_report` never gives back the memory of a launch, ten to fifteen times what the launch takes in the report.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import selectors
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

WORKERS = 2
_GROWN = 1 << 30
_LENGTHS = struct.Struct("<QQ")


class ChildDied(Exception):
    """The child process was killed by what it read, or was stopped because it took too long."""


class ChildLate(ChildDied):
    """The child process was stopped because it took too long."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a child found: `head` in words, `values` float64, flat, launch after launch."""

    head: dict[str, Any]
    values: np.ndarray[Any, np.dtype[np.float64]]


class _Child:
    def __init__(self) -> None:
        # -P keeps the current folder out of the path: a file of the user's must not stand in for a module.
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "reportgen.readers.ncu_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        )

    def ask(self, request: dict[str, Any], timeout: float) -> Reply:
        assert self.process.stdin is not None
        end = time.monotonic() + timeout
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except OSError as error:
            raise ChildDied("the reading process ended") from error
        text, values = _LENGTHS.unpack(self._read(_LENGTHS.size, end))
        head = json.loads(self._read(text, end))
        return Reply(head, np.frombuffer(self._read(values, end), dtype="<f8"))

    def _read(self, size: int, end: float) -> bytes:
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        parts: list[bytes] = []
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while size:
                if not selector.select(max(0.0, end - time.monotonic())):
                    raise ChildLate("reading took too long and was stopped")
                part = os.read(descriptor, min(size, 1 << 20))
                if not part:
                    raise ChildDied("reading it crashed the reading process")
                parts.append(part)
                size -= len(part)
        return b"".join(parts)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


class Pool:
    """Up to `WORKERS` children, started when they are first needed and kept for the next report."""

    def __init__(self) -> None:
        self._idle: list[_Child] = []
        self._busy: set[_Child] = set()
        self._lock = threading.Lock()

    def ask(self, request: dict[str, Any], timeout: float) -> Reply:
        """Have one child answer `request` within `timeout` seconds, or raise `ChildDied`."""
        with self._lock:
            child = self._idle.pop() if self._idle else None
        if child is not None:
            try:
                return self._asked(child, request, timeout)
            except ChildLate:
                raise
            except ChildDied:
                pass  # perhaps by what it had read before: only a fresh child's death says something of this report
        return self._asked(_Child(), request, timeout)

    def _asked(self, child: _Child, request: dict[str, Any], timeout: float) -> Reply:
        with self._lock:
            self._busy.add(child)
        try:
            reply = child.ask(request, timeout)
        except BaseException:
            child.stop()
            raise
        finally:
            with self._lock:
                self._busy.discard(child)
        if reply.head["memory"] > _GROWN:
            child.stop()
        else:
            with self._lock:
                self._idle.append(child)
        return reply

    def ask_all(self, requests: list[dict[str, Any]], timeout: float) -> list[Reply]:
        """Have the children share `requests` out among them; replies come in the order of the requests."""
        if len(requests) == 1:
            return [self.ask(requests[0], timeout)]
        with ThreadPoolExecutor(WORKERS) as threads:
            try:
                return list(threads.map(lambda request: self.ask(request, timeout), requests))
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                with self._lock:
                    for child in self._busy:
                        child.process.kill()  # nobody waits for its answer now
                raise

    def close(self) -> None:
        """Stop all children."""
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.stop()


POOL = Pool()
atexit.register(POOL.close)
