"""A page as a tree of its elements, read by Python's own parser: for what looks at finished pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import accumulate

_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


@dataclass(eq=False)
class Node:
    """An element: its attributes, and what stands in it in order; `begin` and `end` are its place in the page's text."""

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    inside: list[Node | str] = field(default_factory=list)
    begin: int = 0
    end: int = 0

    def get(self, name: str) -> str:
        """Return an attribute, empty where it is not there."""
        return self.attributes.get(name, "")

    def nodes(self) -> Iterator[Node]:
        """Yield the element and all elements in it, in the order of the page."""
        yield self
        for one in self.inside:
            if isinstance(one, Node):
                yield from one.nodes()

    def find(self, *tags: str) -> Iterator[Node]:
        """Yield the elements of these names within this one."""
        return (node for node in self.nodes() if node.tag in tags and node is not self)

    @property
    def text(self) -> str:
        """Return all text within the element, its spaces as they are."""
        return "".join(one if isinstance(one, str) else one.text for one in self.inside)

    @property
    def words(self) -> str:
        """Return all text within the element, with single spaces."""
        return " ".join(self.text.split())


def tree(text: str) -> Node:
    """Read a page; an element that is not closed ends with the one around it."""
    reader = _Reader(text)
    reader.feed(text)
    reader.close()
    return reader.root


class _Reader(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self._lines = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        self.root = Node("", end=len(text))
        self._open = [self.root]

    def _offset(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def _begin(self, tag: str, attrs: list[tuple[str, str | None]]) -> Node:
        begin = self._offset()
        node = Node(tag, {name: value or "" for name, value in attrs}, begin=begin)
        node.end = begin + len(self.get_starttag_text() or "")
        self._open[-1].inside.append(node)
        return node

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element."""
        node = self._begin(tag, attrs)
        if tag not in _VOID:
            self._open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take an element that ends where it begins."""
        self._begin(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """End an element, and those within it that were left open."""
        if not any(node.tag == tag for node in self._open[1:]):
            return
        while True:
            node = self._open.pop()
            node.end = self._offset() + len(f"</{tag}>")
            if node.tag == tag:
                return

    def handle_data(self, data: str) -> None:
        """Take text."""
        self._open[-1].inside.append(data)
