"""HTML pages as text in sections, each under its path of headings. Follows no link and runs no script."""

from ragcli.documents import Block, ExtractionContext, NormalizedDocument
from ragcli.errors import FailureCode
from ragcli.extract.charset import decode_html
from ragcli.extract.decode import looks_binary, normalize
from ragcli.extract.embedded_data import without_embedded
from ragcli.extract.refusal import refused
from ragcli.extract.text import bounded_blocks
from ragcli.extract.web.html_text import Rendered, render
from ragcli.model import DocumentFormat, Metadata

_TITLE_SHOWN = 2_000  # a page that says its title within so many characters need not say it twice


class HtmlExtractor:
    """One page: its title, its visible text, a section for each heading."""

    id = "html"
    version = "3"
    formats = frozenset({DocumentFormat.HTML})

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        if looks_binary(raw):
            raise refused(context, "not HTML: the bytes look like a binary format")
        decoded, encoding = decode_html(raw)
        source = without_embedded(normalize(decoded))
        head = source[:1024].lower()
        xml = head.lstrip().startswith("<?xml") or "http://www.w3.org/1999/xhtml" in head
        page = render(source, xml=xml)
        text, marks = _with_title(page)
        if len(marks) > context.limits.max_blocks:
            detail = f"more than {context.limits.max_blocks} headings (max_blocks)"
            raise refused(context, detail, FailureCode.LIMIT)
        metadata: dict[str, str] = {"encoding": encoding}
        if page.title:
            metadata["title"] = page.title
        blocks = section_blocks(text, 0, marks, {}, context.limits.max_block_chars)
        return NormalizedDocument(text, tuple(blocks), context.format, metadata=metadata)


def section_blocks(
    text: str, start: int, marks: list[tuple[int, str]], metadata: Metadata, max_chars: int
) -> list[Block]:  # fmt: skip
    """Tile text[start:] with a block for each section; `marks` are offsets from `start`."""
    blocks: list[Block] = []
    for (offset, heading), end in zip(marks, [offset for offset, _ in marks[1:]] + [len(text) - start], strict=True):
        shown = {**metadata, "heading": heading} if heading else metadata
        blocks += bounded_blocks(text, Block(start + offset, start + end, shown), max_chars)
    return blocks


def _with_title(page: Rendered) -> tuple[str, list[tuple[int, str]]]:
    """Begin with the title where the page itself does not say it: it often names what the text takes for granted."""
    if not page.title or page.title in page.text[:_TITLE_SHOWN]:
        return page.text, page.marks
    lead = page.title + ("\n\n" if page.text else "")
    return lead + page.text, [(0, page.marks[0][1])] + [(at + len(lead), heading) for at, heading in page.marks[1:]]
