"""The one exporter of charts: a Matplotlib figure becomes an SVG that may stand inline in any page.

The colours stand as presentation attributes, so that a PDF needs no style sheet, and each carries a class (`f-s0` for a fill,
`l-s0` for a line) by which a page's style sheet may recolour it. Ids are prefixed, style and metadata are dropped, and the
same figure gives the same bytes everywhere.
"""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import matplotlib
from matplotlib.figure import Figure as Canvas

from reportgen.dossier.text import visible

INK, MUTED, RULE, STRONG, PAPER = "#1b1f24", "#57606a", "#dde1e6", "#8a939d", "#ffffff"
SERIES = ("#004a80", "#b94a0c", "#006244", "#b04886", "#8a5a00", "#1b76a8", "#66610a", "#3d444c")
COMPUTE, MEMORY, LATENCY = "#e8f0f9", "#e6f3ea", "#faf0da"
CLASSES = {
    **{colour: f"s{index}" for index, colour in enumerate(SERIES)},
    INK: "ink",
    MUTED: "muted",
    RULE: "rule",
    STRONG: "strong",
    PAPER: "paper",
    COMPUTE: "compute",
    MEMORY: "memory",
    LATENCY: "latency",
}
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.edgecolor": STRONG,
    "axes.labelcolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": STRONG,
    "ytick.color": STRONG,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.minor.visible": False,
    "ytick.minor.visible": False,
    "grid.color": RULE,
    "grid.linewidth": 0.7,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.5,
    "axes.unicode_minus": True,
}
# Matplotlib escapes the brackets in texts and attributes, so that a name can never look like a tag.
_TAG = re.compile(r"<[^<>]+>")
_REFERENCE = re.compile(r'(\bid="|="url\(#|="#|url\(#)')
_ID = re.compile(r' id="([^"]*)"')
_USED = re.compile(r'(?:="|url\()#([^")]+)')
_UPRIGHT = re.compile(r' transform="rotate\(-?0 [^)]*\)"')
_DIGITS = re.compile(r"(?<![\w.#])-?\d+\.\d{3,}")
_MARKS = re.compile(
    r'<use (?P<mark>xlink:href="[^"]*") x="[^"]*" y="[^"]*" (?P<rest>[^>]*?)/>\n'
    r'(?:<use (?P=mark) x="[^"]*" y="[^"]*" (?P=rest)/>\n){2,}'
)
_STYLE = re.compile(r' style="([^"]*)"')
_ATTRIBUTES = {
    "fill",
    "stroke",
    "stroke-width",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-dasharray",
    "stroke-dashoffset",
    "stroke-miterlimit",
    "opacity",
    "fill-opacity",
    "stroke-opacity",
    "text-anchor",
    "font-weight",
}
_NARROW = 360.0  # points: two of these stand side by side
_PIXELS = re.compile(r"([\d.]+)px")


@contextmanager
def settings(salt: str) -> Iterator[None]:
    """Draw under the house's settings; `salt` makes the ids inside one chart its own and the same each time."""
    with (
        matplotlib.rc_context({**matplotlib.rcParamsDefault, **_SETTINGS, "svg.hashsalt": salt}),
        warnings.catch_warnings(),
    ):
        # Texts stay texts, and a reader's own fonts draw them: what ours lacks is no fault here.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def export(canvas: Canvas, prefix: str, title: str, description: str) -> str:
    """Return `canvas` as inline SVG with a title and a description in words; its ids begin with `prefix` or `short` of it."""
    buffer = io.StringIO()
    canvas.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Type": None, "Format": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<style[^>]*>.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    within = short(prefix)
    text = _TAG.sub(lambda match: _plain_tag(match.group(), within), text)
    text = re.sub(r"<defs>\s*</defs>", "", text)
    text = _compact(text)
    head, body = text.split(">", 1)
    size = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', head)
    assert size is not None
    width, height = size.groups()
    kind = "chart narrow" if float(width) <= _NARROW else "chart"
    names = f'<title id="{prefix}-title">{escape(visible(title))}</title>'
    names += f'<desc id="{prefix}-desc">{escape(visible(description))}</desc>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" class="{kind}" role="img" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" aria-labelledby="{prefix}-title {prefix}-desc">'
        f"{names}{body}"
    )


def short(prefix: str) -> str:
    """Return what the ids within a chart begin with: it stands in every mark, and `prefix` is long."""
    return "c" + hashlib.sha256(prefix.encode()).hexdigest()[:7]


def _compact(text: str) -> str:
    """Leave out what draws nothing: ids that nothing refers to, groups that say nothing, digits below a hundredth of a point.

    Marks of one kind in a row share their attributes: a chart of many runs is mostly marks.
    """
    used = set(_USED.findall(text))
    open_groups: list[bool] = []

    def tag(match: re.Match[str]) -> str:
        found = _DIGITS.sub(lambda digits: f"{float(digits.group()):.2f}", match.group())
        found = _UPRIGHT.sub("", found)
        found = _ID.sub(lambda its: its.group() if its.group(1) in used else "", found)
        if found == "</g>":
            return found if open_groups.pop() else ""
        if found.startswith("<g") and found.endswith("/>"):
            return ""
        if re.match(r"<g[ >]", found):
            open_groups.append(found != "<g>")
            return found if open_groups[-1] else ""
        return found

    text = _TAG.sub(tag, text)
    text = re.sub(r"\s*\n\s*", "\n", text).strip()
    return _MARKS.sub(_share, text)


def _share(marks: re.Match[str]) -> str:
    """Give a row of marks of one kind their common attributes once."""
    places = "".join(f"<use {place}/>\n" for place in re.findall(r"<use ([^>]*?y=\"[^\"]*\")", marks.group()))
    return f"<g {marks.group('rest')}>\n{places}</g>\n"


def _plain_tag(tag: str, prefix: str) -> str:
    """Prefix a tag's ids and references, and turn its style into attributes; names between the tags stay as they are."""
    tag = _REFERENCE.sub(lambda match: match.group(1) + prefix + "-", tag)
    return _STYLE.sub(lambda match: _as_attributes(match.group(1)), tag)


def _as_attributes(style: str) -> str:
    """Turn a style attribute into presentation attributes, and its colours into classes beside them."""
    attributes: dict[str, str] = {}
    classes: list[str] = []
    for declaration in style.split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        if name in ("font", "font-size") and (size := _PIXELS.search(value)):
            attributes["font-size"] = size.group(1)
        if name in ("font", "font-family"):
            attributes["font-family"] = "DejaVu Sans"
        if name in _ATTRIBUTES:
            attributes[name] = value
    for name, short in (("fill", "f"), ("stroke", "l")):
        if (known := CLASSES.get(attributes.get(name, ""))) is not None:
            classes.append(f"{short}-{known}")
    if classes:
        attributes["class"] = " ".join(classes)
    return "".join(f' {name}="{value}"' for name, value in attributes.items())
