"""Whole dossiers of the shipped bundles as text that people can compare: `python -m tests.dossier.goldens` accepts what is there now.

A dossier in HTML, Markdown and JSON is brought into lines, one for each element, row or object, and passes the scrubs below:
each takes out one thing that may change without the dossier saying anything else, and has its reason beside it. What is
left is kept whole for the first bundle of each suite, and as a line with a digest for each file of every bundle.
"""

from __future__ import annotations

import difflib
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from reportgen.dossier.markup import Node, tree
from reportgen.dossier.render import pages
from tests.dossier import shipped

GOLDEN = Path(__file__).parent / "golden"
DIGESTS = "digests.txt"
FORMATS = ("html", "markdown", "json")
COMMAND = "make golden"
MOST_SHOWN = 60  # lines of a difference
_WIDE = 150  # characters of an object or list of JSON that stands on one line

# --- what is taken out, and why


@dataclass(frozen=True)
class Scrub:
    """Something that is taken out of files of one kind, and the reason."""

    name: str
    files: str  # what the names of its files end in
    reason: str
    apply: Callable[[Any], Any]  # Node -> None for .html, in place; object -> object for .json; text -> text for others


def _reportgen_text(text: str) -> str:
    return _page_words(text)


def _reportgen_page(root: Node) -> None:
    for node in root.nodes():
        if node.get("name") == "generator":
            node.attributes = {**node.attributes, "content": "reportgen VERSION"}
        node.inside = [_page_words(one) if isinstance(one, str) else one for one in node.inside]


def _page_words(text: str) -> str:
    return re.sub(r"((?:rendered by|again, with) reportgen )[^\s,:]+", r"\1VERSION", text)


def _reportgen_json(whole: Any) -> Any:
    return {**whole, "reportgen": "VERSION"}


def _drawings(root: Node) -> None:
    for svg in list(root.find("svg")):
        svg.attributes = {}
        svg.inside = [Node(one.tag, {}, [one.words]) for one in svg.find("title", "desc", "text")]


def _style_and_script(root: Node) -> None:
    for node in root.find("style", "script"):
        node.inside = []


def _policy(root: Node) -> None:
    for node in root.find("meta"):
        if node.get("http-equiv") == "Content-Security-Policy":
            node.attributes = {**node.attributes, "content": re.sub("'sha256-[^']+'", "HASH", node.get("content"))}


def _data_addresses(root: Node) -> None:
    for node in root.find("a"):
        if node.get("href").startswith("data:"):
            node.attributes = {**node.attributes, "href": f"data: {_sha256(node.get('href'))}"}


def _data_texts(whole: Any) -> Any:
    return {**whole, "data": [{**file, "text": _sha256(file["text"])} for file in whole["data"]]}


SCRUBS = (
    Scrub("reportgen's version", ".md", "each release changes it, and nothing with it", _reportgen_text),
    Scrub("reportgen's version", ".html", "each release changes it, and nothing with it", _reportgen_page),
    Scrub("reportgen's version", "dossier.json", "each release changes it, and nothing with it", _reportgen_json),
    Scrub("drawings", ".html", "a stroke may move with Matplotlib; titles, descriptions and words stay", _drawings),
    Scrub("style and script", ".html", "how a page looks is for eyes and for tests/browser", _style_and_script),
    Scrub("hashes of style and script", ".html", "they change with those; test_html.py holds them", _policy),
    Scrub("data within the page", ".html", "base64 that nobody reads: its digest stands for it", _data_addresses),
    Scrub(
        "data within the JSON",
        "dossier.json",
        "long tables of which most stand nowhere else: a digest each",
        _data_texts,
    ),
)


def normal(name: str, data: bytes, scrubs: tuple[Scrub, ...] = SCRUBS) -> str:
    """Return a file of a dossier as lines to compare, after the scrubs for files of its kind."""
    text = data.decode("utf-8", "backslashreplace")
    own = [scrub for scrub in scrubs if name.endswith(scrub.files)]
    if name.endswith(".html"):
        root = tree(text)
        for scrub in own:
            scrub.apply(root)
        return "".join(f"{line}\n" for line in _elements(root, 0))
    if name.endswith(".json"):
        whole = json.loads(text)
        for scrub in own:
            whole = scrub.apply(whole)
        return "".join(f"{line}\n" for line in _objects(whole, "", 0))
    for scrub in own:
        text = scrub.apply(text)
    return text


def _sha256(text: str) -> str:
    return f"sha256 {sha256(text.encode('utf-8', 'backslashreplace')).hexdigest()}"


# --- pages in lines

_WORDS = {"a", "b", "code", "data", "em", "i", "span", "strong", "sub", "sup", "time", "title", "desc", "text", "wbr"}


def _elements(node: Node, depth: int) -> Iterator[str]:
    """Yield an element in lines: what holds only words and what is set among words stands on one."""
    indent = " " * depth
    if node.tag and _is_line(node):
        yield f"{indent}{_begin(node)}{_inline(node)}"
        return
    if node.tag:
        yield f"{indent}{_begin(node)}"
    run: list[Node | str] = []
    inner = depth + bool(node.tag)
    for one in [*node.inside, None]:
        if isinstance(one, str) or (one is not None and _is_word(one)):
            run.append(one)
            continue
        if words := _inline(replace(node, inside=run)):
            yield f"{' ' * inner}{words}"
        run = []
        if one is not None:
            yield from _elements(one, inner)


def _is_word(node: Node) -> bool:
    return node.tag in _WORDS and _is_line(node)


def _is_line(node: Node) -> bool:
    return all(isinstance(one, str) or _is_word(one) for one in node.inside)


def _begin(node: Node) -> str:
    return f"<{' '.join([node.tag, *(f'{name}={_quoted(value)}' for name, value in node.attributes.items())])}>"


def _quoted(value: str) -> str:
    words = " ".join(value.split())
    return '"' + escape(words, quote=False).replace('"', "&quot;") + '"'


def _inline(node: Node) -> str:
    return " ".join("".join(_inline_parts(node)).split(" ")).strip()


def _inline_parts(node: Node) -> Iterator[str]:
    for one in node.inside:
        if isinstance(one, str):
            yield re.sub(r"[ \t\n]+", " ", escape(one, quote=False))
        else:
            yield f"{_begin(one)}{''.join(_inline_parts(one))}</{one.tag}>"


# --- JSON in lines


def _objects(value: Any, name: str, depth: int) -> Iterator[str]:
    """Yield a JSON value in lines: what is short stands on one."""
    begin = f"{' ' * depth}{json.dumps(name, ensure_ascii=False) + ': ' if name else ''}"
    short = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or len(short) <= _WIDE:
        yield f"{begin}{short}"
        return
    yield f"{begin}{'{' if isinstance(value, dict) else '['}"
    inner = value.items() if isinstance(value, dict) else (("", one) for one in value)
    for key, one in inner:
        yield from _objects(one, key, depth + 1)


# --- what is kept


@dataclass(frozen=True)
class Golden:
    """What is kept of some dossiers: whole files, and a line for each file of each bundle, by their names in `GOLDEN`."""

    whole: Mapping[str, str]
    digests: Mapping[str, str]  # file -> digest

    @property
    def files(self) -> dict[str, str]:
        """Return the files as they are kept."""
        lines = (f"{digest}  {name}\n" for name, digest in sorted(self.digests.items()))
        return {**self.whole, DIGESTS: "".join(lines)}


def of(bundle: Path, keep_whole: bool) -> Golden:
    """Return what is kept of one bundle's dossier."""
    made = pages(bundle, "public", formats=FORMATS)
    files = {name: normal(name, data) for name, data in made.items()}
    suite = bundle.parent.name
    whole = {f"{suite}/{name}.txt": text for name, text in files.items() if name in WHOLE} if keep_whole else {}
    return Golden(
        whole, {f"{suite}/{bundle.name}/{name}": sha256(text.encode()).hexdigest() for name, text in files.items()}
    )


WHOLE = ("dossier.html", "dossier.md", "dossier.json")


def first_of_its_suite(bundle: Path) -> bool:
    """Tell whether a bundle is the one of its suite whose dossier is kept whole."""
    return bundle == min(path for path in shipped.BUNDLES if path.parent == bundle.parent)


def kept(folder: Path = GOLDEN) -> Golden:
    """Read what was accepted."""
    whole = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*/*.txt"))
    }
    list_of = folder / DIGESTS
    lines = list_of.read_text(encoding="utf-8").splitlines() if list_of.is_file() else []
    return Golden(whole, {name: digest for digest, _, name in (line.partition("  ") for line in lines)})


def accept(folder: Path = GOLDEN) -> list[str]:
    """Keep the shipped bundles' dossiers as they are now, and nothing else; return the names of the files that changed."""
    before = kept(folder).files
    whole: dict[str, str] = {}
    digests: dict[str, str] = {}
    for bundle in shipped.BUNDLES:
        made = of(bundle, first_of_its_suite(bundle))
        whole |= made.whole
        digests |= made.digests
    after = Golden(whole, digests).files
    for suite in folder.glob("*/"):
        shutil.rmtree(suite)
    for name, text in after.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def difference(was: Golden, now: Golden) -> str:
    """Say in lines what one bundle's dossier says now and did not say, or no longer says; nothing where all is the same."""
    said = []
    for name in sorted(now.digests.keys() | was.digests.keys()):
        if was.digests.get(name) == now.digests.get(name):
            continue
        how = "is new" if name not in was.digests else "is gone" if name not in now.digests else "differs"
        said.append(f"{name} {how}")
    for name in sorted(now.whole.keys() | was.whole.keys()):
        old, new = was.whole.get(name, ""), now.whole.get(name, "")
        lines = list(
            difflib.unified_diff(old.splitlines(), new.splitlines(), f"accepted/{name}", name, lineterm="", n=1)
        )
        said += lines[:MOST_SHOWN]
        said += [f"… and {len(lines) - MOST_SHOWN} lines more"] if len(lines) > MOST_SHOWN else []
    return "\n".join(said)


def main() -> int:
    """Accept the dossiers as they are, and say which kept files that changed."""
    changed = accept()
    print("\n".join(f"tests/dossier/golden/{name}" for name in changed) or "nothing changed")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
