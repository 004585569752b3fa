"""What knows WeasyPrint: a page and its attachments become a tagged PDF/A-3 that is PDF/UA too.

Import it inside `fonts.only_ours()`: WeasyPrint looks for fonts when it is imported.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from weasyprint import HTML
from weasyprint import Attachment as Embedded
from weasyprint.urls import FatalURLFetchingError, URLFetcher

from reportgen.dossier.attachments import Attachment

_VARIANT = "pdf/a-3a"
_POINTS = 0.75  # in a pixel
_MEDIA_TYPES = {
    ".csv": "text#2fcsv",
    ".json": "application#2fjson",
    ".md": "text#2fmarkdown",
    ".py": "text#2fx-python",
    ".txt": "text#2fplain",
}
_UA = """\
<rdf:Description rdf:about="" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/"><pdfuaid:part>1</pdfuaid:part></rdf:Description>
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" \
xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
<pdfaSchema:schema>PDF/UA identification</pdfaSchema:schema>
<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI>
<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>
<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource">
<pdfaProperty:name>part</pdfaProperty:name>
<pdfaProperty:valueType>Integer</pdfaProperty:valueType>
<pdfaProperty:category>internal</pdfaProperty:category>
<pdfaProperty:description>The part of ISO 14289 that the document follows</pdfaProperty:description>
</rdf:li></rdf:Seq></pdfaSchema:property>
</rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description>
</rdf:RDF>"""


class _Sealed(URLFetcher):  # type: ignore[misc]
    """Fetches nothing but what stands in the page itself; anything else stops the printing."""

    def fetch(self, url: str, headers: Any = None) -> Any:
        if not url.startswith("data:"):
            raise FatalURLFetchingError(f"the page asks for {url[:200]}, and a dossier holds all that it needs")
        return super().fetch(url, headers)


def press(html: str, attachments: Sequence[Attachment], moment: datetime) -> bytes:
    """Print `html` with `attachments`, all of which bear the date `moment`; the same input gives the same bytes."""
    ordered = sorted(attachments, key=lambda attachment: attachment.name.encode())  # a PDF's name tree is sorted
    embedded = [
        Embedded(
            string=attachment.data,
            name=attachment.name,
            description=attachment.description,
            relationship=attachment.relationship,
            created=moment,
            modified=moment,
            url_fetcher=_Sealed(),
        )
        for attachment in ordered
    ]

    def finish(_document: Any, pdf: Any) -> None:
        _say_accessible(pdf)
        _name_types(pdf, ordered)
        _mend_structure(pdf)

    with _collector_at_rest(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # WeasyPrint leaves it to Python to close its colour profile
        try:
            page = HTML(string=html, url_fetcher=_Sealed())
            printed: bytes = page.write_pdf(pdf_variant=_VARIANT, attachments=embedded, finisher=finish)
        except FatalURLFetchingError as error:  # not an Exception: it would pass every handler above
            raise ValueError(str(error)) from error
    return printed


@contextmanager
def _collector_at_rest() -> Generator[None]:
    """Keep the garbage collector from walking the layout again and again while it grows: that is a third of the time."""
    was_at_work = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_at_work:
            gc.enable()


def _say_accessible(pdf: Any) -> None:
    """Add the PDF/UA identification to the metadata: WeasyPrint writes PDF/A or PDF/UA, and this is both."""
    stream = _object(pdf, pdf.catalog["Metadata"]).stream
    stream[:] = [piece.replace(b"</rdf:RDF>", _UA.encode()) for piece in stream]


def _name_types(pdf: Any, attachments: Sequence[Attachment]) -> None:
    """Name each attachment once in the catalogue, and give its media type without asking the machine's list of types."""
    if "AF" not in pdf.catalog:
        return
    unique = list(dict.fromkeys(pdf.catalog["AF"]))
    pdf.catalog["AF"][:] = unique
    for attachment, reference in zip(attachments, unique, strict=True):
        suffix = attachment.name[attachment.name.rfind(".") :]
        file = _object(pdf, _object(pdf, reference)["EF"]["F"])
        file.extra["Subtype"] = f"/{_MEDIA_TYPES.get(suffix, 'application#2foctet-stream')}"


def _mend_structure(pdf: Any) -> None:
    """Say of each head whether a column or a row is under it, and where on its page each drawing stands.

    WeasyPrint links cells to their heads by ids only, and gives places in pixels from the top.
    """
    for element in pdf.objects:
        kind = element.get("S") if isinstance(element, dict) else None
        if kind == "/TH":
            group = _object(pdf, _object(pdf, element["P"])["P"])
            element["A"]["Scope"] = "/Column" if group["S"] == "/THead" else "/Row"
        elif kind == "/Figure":
            left, top, right, bottom = (side * _POINTS for side in element["A"]["BBox"])
            height = _object(pdf, element["Pg"])["MediaBox"][3]
            element["A"]["BBox"][:] = [left, height - bottom, right, height - top]


def _object(pdf: Any, reference: bytes) -> Any:
    return pdf.objects[int(reference.split()[0])]
