"""Only `evidence/write.py` writes files: every other module of reportgen is read as a syntax tree and held to it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import reportgen
from reportgen.evidence import write

PACKAGE = Path(reportgen.__file__).parent
OWNER = Path(write.__file__)

# Functions of the standard library, by full name, that write, remove or rename whatever their arguments are.
WRITERS = {
    *(
        f"os.{n}"
        for n in [
            "replace",
            "rename",
            "renames",
            "mkdir",
            "makedirs",
            "remove",
            "unlink",
            "rmdir",
            "removedirs",
            "link",
            "symlink",
        ]
    ),
    *(f"os.{n}" for n in ["truncate", "chmod", "chown", "utime", "mkfifo", "mknod", "open"]),
    *("logging.FileHandler", "logging.handlers.RotatingFileHandler", "logging.handlers.TimedRotatingFileHandler"),
    *("shelve.open", "dbm.open", "mmap.mmap", "pickle.dump", "numpy.save", "numpy.savez", "numpy.savez_compressed"),
    *("numpy.savetxt", "numpy.memmap", "joblib.dump"),
}
READERS = {"shutil.which", "shutil.disk_usage", "shutil.get_terminal_size", "tempfile.gettempdir"}
# Methods that nothing but a path has.
METHODS = {
    "write_text",
    "write_bytes",
    "mkdir",
    "rmdir",
    "unlink",
    "touch",
    "symlink_to",
    "hardlink_to",
    "chmod",
    "lchmod",
}
# Methods that write when they are given a place; a buffer in memory or a standard stream is no place.
TO_A_PLACE = {
    "to_csv",
    "to_parquet",
    "to_json",
    "to_excel",
    "to_pickle",
    "to_hdf",
    "to_feather",
    "to_html",
    "to_latex",
    "to_markdown",
    "to_xml",
    "to_string",
    "savefig",
    "write_pdf",
    "write_png",
    "write_image",
    "write_html",
    "tofile",
    "dump_stats",
}
# Functions that open what they name: the place of the mode among their arguments, and what they do without one.
OPENERS = {
    "open": (1, "r"),
    "io.open": (1, "r"),
    "codecs.open": (1, "r"),
    "zstandard.open": (1, "rb"),
    "gzip.open": (1, "rb"),
    "bz2.open": (1, "rb"),
    "lzma.open": (1, "rb"),
    "tarfile.open": (1, "r"),
    "gzip.GzipFile": (1, "rb"),
    "bz2.BZ2File": (1, "rb"),
    "lzma.LZMAFile": (1, "r"),
    "tarfile.TarFile": (1, "r"),
    "zipfile.ZipFile": (1, "r"),
    "io.FileIO": (1, "r"),
    "zipfile.PyZipFile": (1, "r"),
}
BUFFERS = {"io.BytesIO", "io.StringIO"}
STREAMS = {"sys.stdout", "sys.stderr", "sys.stdout.buffer", "sys.stderr.buffer"}


def offences(source: str) -> list[tuple[int, str]]:
    """Return the line and the call of everything in `source` that may write to a file."""
    return sorted(_Reader(ast.parse(source)).found)


class _Reader(ast.NodeVisitor):
    def __init__(self, tree: ast.Module) -> None:
        self.found: list[tuple[int, str]] = []
        self.names: dict[str, str] = {}
        self.buffers: set[str] = set()
        for node in ast.walk(tree):
            self._learn(node)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        nowhere = {call.func for call in calls if call.args and self._name(call.args[0]) == "os.devnull"}
        for call in calls:
            self._judge(call)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name | ast.Attribute) and self._name(node) in WRITERS and node not in nowhere:
                self.found.append((node.lineno, self._name(node)))  # also when it is only handed on

    def _learn(self, node: ast.AST) -> None:
        """Learn what an import or an assignment calls a module, a function or a buffer."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                self.names[name] = alias.name if alias.asname else name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                self.names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
            if self._name(node.value.func) in BUFFERS:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                self.buffers |= {target.id for target in targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.withitem) and isinstance(node.context_expr, ast.Call):
            buffer = self._name(node.context_expr.func) in BUFFERS
            if buffer and isinstance(node.optional_vars, ast.Name):
                self.buffers.add(node.optional_vars.id)

    def _name(self, node: ast.AST) -> str:
        """Return the full dotted name of what is called, as far as the imports tell it."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            before = self._name(node.value)
            return f"{before}.{node.attr}" if before else ""
        return ""

    def _in_memory(self, node: ast.AST | None) -> bool:
        if isinstance(node, ast.Name) and node.id in self.buffers:
            return True
        if isinstance(node, ast.Call) and self._name(node.func) in BUFFERS:
            return True
        return (isinstance(node, ast.Constant) and node.value is None) or (
            node is not None and self._name(node) in STREAMS
        )

    def _judge(self, call: ast.Call) -> None:
        name = self._name(call.func)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if self._writes(call, name) or (method and self._writes_as_method(call, name, method)):
            self.found.append((call.lineno, name or method))

    def _writes(self, call: ast.Call, name: str) -> bool:
        if name in OPENERS:
            place, default = OPENERS[name]
            target = next((k.value for k in call.keywords if k.arg == "fileobj"), call.args[0] if call.args else None)
            return _for_writing(call, place, default) and not self._in_memory(target)
        if name == "sqlite3.connect":
            return not (call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value == ":memory:")
        return name.split(".", maxsplit=1)[0] in ("shutil", "tempfile") and "." in name and name not in READERS

    def _writes_as_method(self, call: ast.Call, name: str, method: str) -> bool:
        if method in METHODS:
            return name not in WRITERS
        if method in TO_A_PLACE and not name.startswith("reportgen."):
            places = [*call.args[:1], *(k.value for k in call.keywords if k.arg in _PLACES)]
            return any(not self._in_memory(place) for place in places)
        if method in ("replace", "rename"):  # of a path: one place, and nothing else; a text is replaced by two
            moved = len(call.args) == 1 and not call.keywords and name not in WRITERS
            return moved and not isinstance(call.args[0], ast.Constant)
        if method == "open" and name not in OPENERS:  # of a path; a name that an import explains was judged above
            return name.split(".", maxsplit=1)[0] not in self.names.values() and _for_writing(call, 0, "r")
        return False


_PLACES = {"path", "path_or_buf", "buf", "excel_writer", "fname", "target", "filename", "file"}


def _for_writing(call: ast.Call, place: int, default: str) -> bool:
    """Say whether a mode is one for writing, or one that cannot be told."""
    given = next((k.value for k in call.keywords if k.arg == "mode"), None)
    if given is None and len(call.args) > place:
        given = call.args[place]
    if given is None:
        return any(k.arg is None for k in call.keywords) or any(c in default for c in "wax+")
    if not (isinstance(given, ast.Constant) and isinstance(given.value, str)):
        return True
    return any(c in given.value for c in "wax+")


MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != OWNER]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_only_write_writes(path: Path) -> None:
    found = offences(path.read_text(encoding="utf-8"))
    assert not found, f"{path.relative_to(PACKAGE)} writes by itself; use evidence/write.py: {found}"


def test_the_owner_is_looked_at_rightly() -> None:
    names = {name for _, name in offences(OWNER.read_text(encoding="utf-8"))}
    assert {"open", "os.replace", "os.rename", "shutil.rmtree", "tempfile.mkdtemp"} <= names
    assert len(MODULES) > 10


@pytest.mark.parametrize(
    "snippet",
    [
        "open('x', 'w')",
        "open('x', mode='ab')",
        "open('x', 'r+')",
        "open('x', 'x')",
        "open('x', mode)",
        "open('x', **how)",
        "import io\nio.open('x', 'w')",
        "path.open('w')",
        "path.open(mode='a')",
        "Path('x').open('wb')",
        "self.path.open('xb')",
        "path.write_text('x')",
        "path.parent.write_bytes(b'')",
        "path.mkdir()",
        "path.unlink(missing_ok=True)",
        "path.touch()",
        "path.rename(other)",
        "path.replace(other)",
        "path.symlink_to(other)",
        "import os\nos.replace(a, b)",
        "import os as o\no.rename(a, b)",
        "from os import makedirs\nmakedirs(a)",
        "from os import remove as gone\ngone(a)",
        "import os\nos.open(a, os.O_WRONLY)",
        "import os\ncarry = os.link",
        "import shutil\nshutil.rmtree(a)",
        "from shutil import copy2\ncopy2(a, b)",
        "import tempfile\ntempfile.mkdtemp()",
        "from tempfile import NamedTemporaryFile\nNamedTemporaryFile()",
        "frame.to_csv('x.csv')",
        "frame.to_csv(path_or_buf=path)",
        "frame.to_parquet(path)",
        "figure.savefig(path)",
        "figure.savefig(fname=path)",
        "HTML(string=x).write_pdf(target)",
        "import zipfile\nzipfile.ZipFile(path, 'w')",
        "import zipfile as z\nz.ZipFile(path, mode='a')",
        "import tarfile\ntarfile.open(path, 'w:gz')",
        "import gzip\ngzip.open(path, 'wb')",
        "import lzma\nlzma.open(path, 'wb')",
        "from zipfile import ZipFile\nZipFile(path, 'x')",
        "import sqlite3\nsqlite3.connect(path)",
        "from sqlite3 import connect\nconnect('x.db')",
        "import logging\nlogging.FileHandler('x')",
        "import numpy as np\nnp.save(path, a)",
        "def f():\n    with open('x', 'w') as g:\n        pass",
    ],
)
def test_a_planted_writer_is_found(snippet: str) -> None:
    assert offences(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "open('x')",
        "open('x', 'rb')",
        "open('x', encoding='utf-8')",
        "path.open()",
        "path.open('rb')",
        "path.open(encoding='utf-8')",
        "path.read_text()",
        "text.replace('a', 'b')",
        "moment.replace(tzinfo=None)",
        "import dataclasses\ndataclasses.replace(one, two=3)",
        "from dataclasses import replace\nreplace(one, two=3)",
        "frame.rename(columns=names)",
        "series.rename('name')",
        "items.remove(x)",
        "frame.to_csv()",
        "frame.to_csv(None, index=False)",
        "import io\nframe.to_csv(io.StringIO())",
        "import io\nmade = io.BytesIO()\nfigure.savefig(made, format='svg')",
        "from io import BytesIO\nwith BytesIO() as made:\n    figure.savefig(made)",
        "import sys\nframe.to_csv(sys.stdout)",
        "html.write_pdf()",
        "import io, zipfile\nmade = io.BytesIO()\nzipfile.ZipFile(made, 'w')",
        "import io, tarfile\nmade = io.BytesIO()\ntarfile.open(fileobj=made, mode='w')",
        "import tarfile\ntarfile.open(path)",
        "import gzip\ngzip.open(path)",
        "import sqlite3\nsqlite3.connect(':memory:')",
        "import os\nos.open(os.devnull, os.O_WRONLY)",
        "from reportgen.evidence import provenance\nprovenance.to_json(facts)",
        "import shutil\nshutil.which('ncu')",
        "import os\nos.path.exists(a)",
        "from reportgen.evidence import write\nwrite.write_file(path, b'')\nwrite.new_folder(path)",
        "import webbrowser\nwebbrowser.open(address, 2)",
    ],
)
def test_what_does_not_write_is_left_alone(snippet: str) -> None:
    assert offences(snippet) == []
