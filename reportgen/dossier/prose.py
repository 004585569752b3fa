"""A suite's own words in Markdown, as safe HTML or as plain sentences.

Only what a paragraph needs is read: emphasis, code, lists, quotations and links to the web. Markup of the suite's own is shown as
it was typed, pictures are never fetched, and a heading is a line of text, since the dossier's own headings are in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from reportgen.dossier.model import Name, Sentence
from reportgen.dossier.text import visible

_WEB = re.compile(r"(?:https?://|mailto:)\S", re.IGNORECASE)
_UNREAD = ("image", "heading", "lheading", "hr", "html_block", "html_inline", "reference")


class _Markdown(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - the library's own name
        """Take an address of the web only: nothing else leads anywhere from a page that may lie in any folder."""
        return _WEB.match(url) is not None


@cache
def _markdown() -> MarkdownIt:
    return _Markdown("commonmark", {"html": False}).disable(_UNREAD)


def html(text: str) -> str:
    """Return Markdown as HTML in which nothing runs and nothing is fetched."""
    return str(_markdown().render(_seen(text)))


def sentences(text: str) -> tuple[Sentence, ...]:
    """Return the paragraphs and the items of Markdown as sentences: words, and code as names."""
    blocks = (_inline(token) for token in _markdown().parse(_seen(text)))
    return tuple(block for block in blocks if block)


def _inline(token: Token) -> Sentence:
    if token.type in ("fence", "code_block"):
        return (Name(line := " ".join(token.content.split()), line),)
    return tuple(_joined(token.children or ()))


def _joined(children: object) -> Iterator[str | Name]:
    """Yield the words of a paragraph in as few pieces as its code allows."""
    words = ""
    for child in children if isinstance(children, list) else ():
        if child.type == "code_inline":
            if words:
                yield words
            words = ""
            yield Name(child.content, child.content)
        elif child.type in ("softbreak", "hardbreak"):
            words += " "
        else:
            words += child.content
    if words:
        yield words


def _seen(text: str) -> str:
    """Return text whose every line shows what cannot be seen."""
    return "\n".join(visible(line.expandtabs(4)) for line in text.splitlines())
