"""Render dossiers into a site that is being built, several at once; one that fails never takes the others along."""

from __future__ import annotations

import hashlib
import json
import logging
import multiprocessing
import os
import signal
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reportgen.dossier.environment import TemplateFault
from reportgen.dossier.model import Tier
from reportgen.evidence import redaction, write
from reportgen.evidence.bundle import open_bundle
from reportgen.evidence.errors import EnvironmentLacks, UserError
from reportgen.evidence.verify import in_short, verify
from reportgen.publish.index import PublishedFile, Summary

SUMMARY = "summary.json"


@dataclass(frozen=True, slots=True)
class Task:
    """A dossier to make: its bundle, and the folder of the unfinished site that it goes to."""

    bundle: Path
    target: Path
    tier: Tier
    paper: str
    formats: tuple[str, ...]
    templates: Path | None = None  # a folder of the site's own templates


@dataclass(frozen=True, slots=True)
class Made:
    """A dossier that was made."""

    summary: Summary
    files: dict[str, PublishedFile]


@dataclass(frozen=True, slots=True)
class Failed:
    """A dossier that could not be made, and why, in one line."""

    why: str


Outcome = Made | Failed


def run(
    tasks: Sequence[Task], jobs: int | None, work: Callable[[Task], Outcome] | None = None
) -> Iterator[tuple[Task, Outcome]]:
    """Make all dossiers, `jobs` at once (one for each core unless given), and yield each when it is done."""
    work = work or make
    workers = min(jobs or cores(), len(tasks))
    if workers <= 1:
        yield from ((task, work(task)) for task in tasks)
        return
    broken: list[Task] = []
    others = set(multiprocessing.active_children())
    with _safe_path(), _pool(workers) as pool:
        waiting: dict[Future[Outcome], Task] = {pool.submit(work, task): task for task in tasks}
        try:
            for done in as_completed(waiting):
                if isinstance(done.exception(), BrokenProcessPool):
                    broken.append(waiting[done])
                else:
                    yield waiting[done], done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()  # what it renders goes nowhere now
            raise
    for task in broken:
        yield task, _alone(task, work)


def _alone(task: Task, work: Callable[[Task], Outcome]) -> Outcome:
    # A worker that was killed breaks the whole pool, and nobody knows which dossier it was: each gets one of its own.
    with _safe_path(), _pool(1) as pool:
        try:
            return pool.submit(work, task).result()
        except BrokenProcessPool:
            return Failed("the process that rendered it was killed, perhaps for want of memory; try --jobs 1")


def _pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"), initializer=_die_quietly)


def _die_quietly() -> None:
    # Ctrl-C reaches all processes of a terminal; only the first one says so.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if not os.environ.get("REPORTGEN_DEBUG"):
        warnings.simplefilter("ignore")
        logging.disable(logging.WARNING)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this worker when the process that started it was killed: it would wait for ever, and hold its memory."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _safe_path() -> Iterator[None]:
    """Start workers with nothing of the current folder on their path: a user's `random.py` is not Python's."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def make(task: Task) -> Outcome:
    """Verify a bundle, render it, and write its dossier and published evidence; never raise what one bundle causes."""
    try:
        faults = verify(task.bundle)
        if faults:
            return Failed(in_short(faults))
        return _make(task)
    except (EnvironmentLacks, TemplateFault):
        raise  # no space, no Pango, a template that cannot be used: so it is for every dossier
    except UserError as error:
        return Failed(inside(task.bundle, error))
    except Exception as error:  # noqa: BLE001 - one dossier's failure is a warning, and the others are published
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        return Failed(
            f"internal error at {place}: {type(error).__name__}: {' '.join(str(error).split())}; please report it"
        )


def _make(task: Task) -> Made:
    from reportgen.dossier.render import pages

    made = pages(
        task.bundle,
        tier=task.tier,
        paper=task.paper,
        formats=task.formats,
        beside="evidence",
        templates=task.templates,
    )
    summary = Summary.model_validate(json.loads(made.pop(SUMMARY)))
    files = {name: _publish(task.target, name, data) for name, data in sorted(made.items())}
    for name, data in evidence(task.bundle, task.tier):
        files[f"evidence/{name}"] = _publish(task.target, f"evidence/{name}", data)
    return Made(summary, files)


def evidence(bundle: Path, tier: str) -> Iterator[tuple[str, bytes]]:
    """Yield the bundle's files as `tier` publishes them."""
    for file in open_bundle(bundle).files():
        how = "as is" if tier == "full" else redaction.published(file.path)
        if how == "withheld":
            continue
        data = (bundle / file.path).read_bytes()
        yield file.path, redaction.redact(file.path, data) if how == "redacted" else data


def inside(bundle: Path, error: UserError) -> str:
    """Return an error's line with paths relative to the bundle that it is about."""
    return error.line.replace(f"{bundle}/", "").removeprefix(f"{bundle}: ")


def _publish(target: Path, name: str, data: bytes) -> PublishedFile:
    write.write_file(target / name, data, durable=False)
    return PublishedFile(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
