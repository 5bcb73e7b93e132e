"""Page texts by PDFium, faster than pypdf. Knows nothing of limits, fields, notes or passwords.

PDFium is one machine for a whole process: a document is held open by one thread at a time. What it cannot open, or
counts other pages in than pypdf does, is left to pypdf.
"""

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

_LOCK = threading.Lock()
# PDFium joins a word that a line end breaks and puts this in place of hyphen and line end.
_BROKEN_WORD = "\ufffe"


class PageText(NamedTuple):
    """The text of a page as shown, the glyphs counted in it, and where the first runs of text begin (x, y)."""

    text: str
    glyphs: int
    starts: list[tuple[float, float]]


class PdfiumPages:
    """The pages of one open document, by their number from 0."""

    def __init__(self, document: Any, max_starts: int) -> None:
        self._document = document
        self._max_starts = max_starts

    def read(self, number: int) -> PageText | None:
        """Read a page, None where PDFium cannot."""
        from pypdfium2 import PdfiumError

        try:
            page = self._document[number]
        except PdfiumError:
            return None
        try:
            text_page = page.get_textpage()
            try:
                text = text_page.get_text_range(errors="ignore").replace(_BROKEN_WORD, "-\n")
                return PageText(text, text_page.count_chars(), _starts(page.raw, self._max_starts))
            finally:
                text_page.close()
        except PdfiumError:
            return None
        finally:
            page.close()


@contextmanager
def pdfium_pages(raw: bytes, count: int, max_starts: int) -> Iterator[PdfiumPages | None]:
    """Open a document of `count` pages; None where PDFium refuses it or finds another number of pages."""
    import pypdfium2

    with _LOCK:
        try:
            document = pypdfium2.PdfDocument(raw)
        except pypdfium2.PdfiumError:
            yield None
            return
        try:
            yield PdfiumPages(document, max_starts) if len(document) == count else None
        finally:
            document.close()


def _starts(page: Any, most: int) -> list[tuple[float, float]]:
    """Give where the runs of text on the page itself begin, in points, in the order drawn."""
    import pypdfium2.raw as pdfium

    matrix = pdfium.FS_MATRIX()
    place = ctypes.byref(matrix)
    found: list[tuple[float, float]] = []
    for index in range(min(pdfium.FPDFPage_CountObjects(page), most)):
        drawn = pdfium.FPDFPage_GetObject(page, index)
        is_text = pdfium.FPDFPageObj_GetType(drawn) == pdfium.FPDF_PAGEOBJ_TEXT
        if is_text and pdfium.FPDFPageObj_GetMatrix(drawn, place):
            found.append((matrix.e, matrix.f))
    return found
