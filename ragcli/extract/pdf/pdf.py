"""PDF pages as text, each under its number. Draws nothing, decodes no picture, and never asks for a password.

pypdf opens a file, lists its pages and reads fields and notes; PDFium reads the text of pages, and pypdf again where
PDFium finds none. What they log or warn of is not for the user and is kept in here.
"""

import io
import logging
import re
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from ragcli.documents import Block, ExtractionContext, NormalizedDocument
from ragcli.errors import DocumentProcessingError, FailureCode
from ragcli.extract.decode import normalize
from ragcli.extract.pdf.columns import are_prose, column_edges, column_of
from ragcli.extract.pdf.fields import written_on
from ragcli.extract.pdf.pages import page_list
from ragcli.extract.pdf.pdfium import PageText, pdfium_pages
from ragcli.extract.refusal import refused
from ragcli.extract.text import bounded_blocks
from ragcli.model import DocumentFormat, Scalar

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

_HEADER = b"%PDF-"
_HEADER_WITHIN = 1024  # bytes; readers accept junk before the header (PDF 1.7, annex H.3.4.1)
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u00ad\ufeff]")
# Presentation forms stand for letters that a query spells out: ligatures, Arabic forms, Kangxi radicals.
_FORMS = re.compile("[\ufb00-\ufdff\ufe70-\ufefc\u2e80-\u2fdf\uf900-\ufaff]+")
_BLANKS = re.compile(r"[ \t\xa0]+(?=\n|\Z)")
_MANY_NEWLINES = re.compile(r"\n{3,}")
_SHOWING = frozenset({b"Tj", b"TJ", b"'", b'"'})
_MAX_STARTS = 20_000  # runs of text that are looked at for columns; a dense page draws some thousands
_NO_TEXT = "no text layer (needs OCR)"
# Glyph names and code points that stand for no letter: fonts without a map from glyphs to characters.
_UNMAPPED = re.compile("(?:/[A-Za-z]{1,5}[0-9]{1,5})+|[\ue000-\uf8ff\ufffd]+")
_UNMAPPED_SHARE = 0.5


class PdfExtractor:
    """One block a page; a page that cannot be read costs itself only, and a note says so."""

    id = "pdf"
    version = "2"
    formats = frozenset({DocumentFormat.PDF})

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        if _HEADER not in raw[:_HEADER_WITHIN]:
            raise refused(context, "not a PDF: it does not begin with %PDF-" if raw else "the file is empty")
        with _quiet():
            reader = _open(raw, context)
            pages = _pages(reader, context)
            texts, broken = _texts(raw, pages, context)
            title = _title(reader)
        if len(broken) == len(pages):
            raise refused(context, "none of its pages could be read")
        metadata: dict[str, Scalar] = {"title": title} if title else {}
        return _document(texts, broken, context, metadata)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep pypdf's log and every warning away from the terminal while a document is read."""
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings(), _bounded():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _bounded() -> AbstractContextManager[object]:
    """Keep pypdf 7 and later from starting a program to decode pictures."""
    import pypdf

    apply = getattr(pypdf, "apply_configuration", None)
    return apply(jbig2dec_binary=None) if apply is not None else nullcontext()


def _open(raw: bytes, context: ExtractionContext) -> "PdfReader":
    """Open a document, an encrypted one with the empty password."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    problem = ""
    try:
        reader = PdfReader(io.BytesIO(raw))
        if not reader.is_encrypted or reader.decrypt(""):
            return reader
        problem = "encrypted: it needs a password"
    except MemoryError:
        raise
    except DependencyError:
        raise refused(context, "encrypted, and no library to decrypt it", FailureCode.UNSUPPORTED_FORMAT) from None
    except Exception as error:  # pypdf lets whatever a broken file causes pass: KeyError, RecursionError and the like
        problem = f"not a readable PDF ({type(error).__name__})"
    raise refused(context, problem)


def _pages(reader: "PdfReader", context: ExtractionContext) -> list["PageObject"]:
    limits = context.limits
    most = min(limits.max_pdf_pages, limits.max_blocks)
    pages = page_list(reader, most)
    if pages is None:
        raise refused(context, f"more than {most} pages (max_pdf_pages)", FailureCode.LIMIT)
    if not pages:
        raise refused(context, "not a readable PDF: it has no pages")
    return pages


def _texts(raw: bytes, pages: list["PageObject"], context: ExtractionContext) -> tuple[list[str], list[int]]:
    """Give each page's text, and the numbers of those that could not be read."""
    texts: list[str] = []
    broken: list[int] = []
    size = 0
    with pdfium_pages(raw, len(pages), _MAX_STARTS) as fast:
        for number, page in enumerate(pages, 1):
            text = ""
            try:
                text = _page_text(page, fast.read(number - 1) if fast else None, number, context)
                text = "\n".join([text.rstrip("\n"), *written_on(page)])
            except (MemoryError, DocumentProcessingError):
                raise
            except Exception:  # see _open; one page must not cost the others, nor a broken note its page
                broken.append(number)
            text = _clean(text)
            size += len(text)
            if size > context.limits.max_text:
                detail = f"more than {context.limits.max_text} characters of text (max_text)"
                raise refused(context, detail, FailureCode.LIMIT)
            texts.append(text)
    return texts, broken


def _page_text(page: "PageObject", fast: PageText | None, number: int, context: ExtractionContext) -> str:
    """Take PDFium's text where it is one, else read the page by pypdf; '' for glyphs that nothing maps to letters."""
    if fast is not None and fast.glyphs > context.limits.max_page_glyphs:
        raise _too_many_glyphs(number, context)
    usable = fast is not None and fast.text.strip() and not _is_unmapped(fast.text)
    if fast is not None and usable and not column_edges(fast.starts):
        return fast.text
    text = _slow_page_text(page, number, context)
    return "" if _is_unmapped(text) else text


def _is_unmapped(text: str) -> bool:
    """Tell whether most of what a text shows are names of glyphs or code points without a meaning."""
    shown = len("".join(text.split()))
    return sum(len(run) for run in _UNMAPPED.findall(text)) > _UNMAPPED_SHARE * shown


def _too_many_glyphs(number: int, context: ExtractionContext) -> DocumentProcessingError:
    cap = context.limits.max_page_glyphs
    return refused(context, f"page {number} shows more than {cap} glyphs (max_page_glyphs)", FailureCode.LIMIT)


def _slow_page_text(page: "PageObject", number: int, context: ExtractionContext) -> str:
    """Read one page by pypdf, counting the glyphs it shows: past the cap the document is refused."""
    cap = context.limits.max_page_glyphs
    shown = 0  # bytes of shown strings: one a glyph in most fonts, up to four in the others
    starts: list[tuple[float, float]] = []

    def count(operator: bytes, operands: Any, cm: list[float], tm: list[float]) -> None:
        nonlocal shown
        if operator in _SHOWING and operands:
            strings = operands[-1] if isinstance(operands[-1], list) else operands[-1:]
            shown += sum(len(string) for string in strings if isinstance(string, (str, bytes)))
            if shown > 4 * cap:
                raise _TooManyGlyphsError
            if len(starts) < _MAX_STARTS:
                starts.append(_position(cm, tm))

    try:
        text: str = page.extract_text(visitor_operand_before=count)
    except _TooManyGlyphsError:
        text = ""
    # pypdf passes over what is raised inside a form, so that the count decides.
    if shown > 4 * cap or min(shown, len(text)) > cap:
        raise _too_many_glyphs(number, context)
    edges = column_edges(starts)
    columns = [_column_text(page, column, edges) for column in range(len(edges) + 1)] if edges else []
    return "\n\n".join(columns) if columns and are_prose(columns) else text


def _position(cm: list[float], tm: list[float]) -> tuple[float, float]:
    """Give where a run of text begins, in points of the page."""
    return tm[4] * cm[0] + tm[5] * cm[2] + cm[4], tm[4] * cm[1] + tm[5] * cm[3] + cm[5]


def _column_text(page: "PageObject", column: int, edges: list[float]) -> str:
    """Read a page once more as if only the runs of one column were on it."""

    def keep(operator: bytes, operands: Any, cm: list[float], tm: list[float]) -> None:
        if operator in _SHOWING and operands and column_of(_position(cm, tm)[0], edges) != column:
            operands[-1] = type(operands[-1])()

    # Where runs of another column were left out, pypdf sees a gap and writes a blank.
    return "\n".join(line.strip() for line in page.extract_text(visitor_operand_before=keep).split("\n"))


class _TooManyGlyphsError(Exception):
    """A page shows more glyphs than the cap."""


def _clean(text: str) -> str:
    # A soft hyphen at the end of a line is there only because the line ends.
    text = _CONTROLS.sub("", normalize(text.replace("\0", "")).replace("\u00ad\n", ""))
    text = _FORMS.sub(lambda forms: unicodedata.normalize("NFKC", forms[0]), text)
    return _MANY_NEWLINES.sub("\n\n", _BLANKS.sub("", text)).strip("\n")


def _title(reader: "PdfReader") -> str:
    try:
        title = reader.metadata.title if reader.metadata is not None else None
    except MemoryError:
        raise
    except Exception:  # see _open
        return ""
    return _clean(title)[:300].strip() if isinstance(title, str) else ""


def _document(
    texts: list[str], broken: list[int], context: ExtractionContext, metadata: dict[str, Scalar]
) -> NormalizedDocument:  # fmt: skip
    pieces: list[str] = []
    blocks: list[Block] = []
    at = 0
    for number, text in enumerate(texts, 1):
        if not text.strip():
            continue
        piece = text + "\n\n"
        pieces.append(piece)
        page = bounded_blocks(piece, Block(0, len(piece), {"page": number}), context.limits.max_block_chars)
        blocks += [block._replace(start=at + block.start, end=at + block.end) for block in page]
        at += len(piece)
    notes = _notes(len(texts), len(pieces), broken)
    return NormalizedDocument("".join(pieces), tuple(blocks), context.format, metadata=metadata, notes=notes)


def _notes(pages: int, with_text: int, broken: list[int]) -> tuple[str, ...]:
    notes = []
    if not with_text:
        notes.append(_NO_TEXT)
    elif with_text < pages:
        notes.append(f"text on {with_text} of {pages} pages")
    if broken:
        numbers = ", ".join(map(str, broken[:10])) + (", ..." if len(broken) > 10 else "")
        notes.append(f"could not read {len(broken)} of {pages} pages: {numbers}")
    return tuple(notes)
