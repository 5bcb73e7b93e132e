"""Which extractor reads which format, and the one way to run it. Imports no parser until a document needs it.

`extract` is the wall around parsers: whatever they do with hostile bytes, out comes a document within the limits whose
blocks tile its text, or a DocumentProcessingError without a word of the document in it.
"""

import importlib
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ragcli.documents import Block, ContentExtractor, ExtractionContext, NormalizedDocument
from ragcli.errors import DocumentProcessingError, FailureCode
from ragcli.extract.decode import well_formed
from ragcli.model import DocumentFormat, Metadata

F = DocumentFormat
# The reason of a failure that a fresh process may not have.
OUT_OF_MEMORY = "out of memory"


class ExtractorSpec(NamedTuple):
    """An extractor by name: `id` and `version` are part of each fingerprint, `module` is imported on first use."""

    id: str
    version: str
    formats: frozenset[DocumentFormat]
    module: str
    attribute: str


def _spec(id: str, format: DocumentFormat, module: str, attribute: str, version: str = "1") -> ExtractorSpec:
    return ExtractorSpec(id, version, frozenset({format}), f"ragcli.extract.{module}", attribute)


# The versions repeat those of the classes, so that planning an index imports no parser; a test compares the two.
SPECS: tuple[ExtractorSpec, ...] = (
    _spec("text", F.TEXT, "text", "TextExtractor", "2"),
    _spec("markdown", F.MARKDOWN, "markdown", "MarkdownExtractor", "2"),
    _spec("html", F.HTML, "web.html", "HtmlExtractor", "3"),
    _spec("xml", F.XML, "web.xml", "XmlExtractor", "2"),
    _spec("json", F.JSON, "data.json_data", "JsonExtractor", "2"),
    _spec("jsonl", F.JSONL, "data.json_data", "JsonLinesExtractor", "2"),
    _spec("yaml", F.YAML, "data.config_data", "YamlExtractor", "2"),
    _spec("toml", F.TOML, "data.config_data", "TomlExtractor", "2"),
    _spec("csv", F.CSV, "data.csv_data", "CsvExtractor", "2"),
    _spec("notebook", F.NOTEBOOK, "data.notebook", "NotebookExtractor", "2"),
    _spec("pdf", F.PDF, "pdf.pdf", "PdfExtractor", "2"),
    _spec("docx", F.DOCX, "office.docx", "DocxExtractor"),
    _spec("xlsx", F.XLSX, "office.xlsx", "XlsxExtractor"),
    _spec("pptx", F.PPTX, "office.pptx", "PptxExtractor"),
    _spec("epub", F.EPUB, "web.epub", "EpubExtractor", "2"),
    _spec("rtf", F.RTF, "office.rtf", "RtfExtractor"),
    _spec("source", F.SOURCE_CODE, "source.source_code", "SourceCodeContentExtractor", "2"),
)
_BY_FORMAT = {format: spec for spec in SPECS for format in spec.formats}


def spec_for(format: DocumentFormat) -> ExtractorSpec | None:
    """Return the extractor of a format, None for AUTO."""
    return _BY_FORMAT.get(format)


def extract(raw: bytes, context: ExtractionContext) -> NormalizedDocument:
    """Read a document with the extractor of `context.format`; raise DocumentProcessingError and nothing else."""
    spec = spec_for(context.format)
    if spec is None:
        raise _error(context, FailureCode.UNSUPPORTED_FORMAT, f"no extractor reads {context.format}")
    return _run(spec.id, lambda: _load(spec).extract(raw, context), context)


class ContentExtractorRegistry:
    """Extractors by format for a program that brings its own; starts with the built-in ones unless told otherwise."""

    def __init__(self, specs: Iterable[ExtractorSpec] = SPECS) -> None:
        self._specs: dict[DocumentFormat, ExtractorSpec] = {}
        self._own: dict[str, ContentExtractor] = {}
        for spec in specs:
            self._claim(spec)

    @property
    def formats(self) -> frozenset[DocumentFormat]:
        """The formats that some extractor reads."""
        return frozenset(self._specs)

    def register(self, extractor: ContentExtractor) -> None:
        """Add an extractor; raise VALIDATION for one that is broken or whose id or format is taken."""
        if not callable(getattr(extractor, "extract", None)):
            raise _invalid(extractor, "it has no extract method")
        id, version = getattr(extractor, "id", None), getattr(extractor, "version", None)
        formats = getattr(extractor, "formats", None)
        if not (isinstance(id, str) and id and isinstance(version, str) and version):
            raise _invalid(extractor, "id and version must be non-empty strings")
        if not isinstance(formats, (set, frozenset)) or not formats:
            raise _invalid(extractor, "formats must be a non-empty set of DocumentFormat")
        if not all(isinstance(format, DocumentFormat) and format is not F.AUTO for format in formats):
            raise _invalid(extractor, "formats may hold members of DocumentFormat only, and not AUTO")
        kind = type(extractor)
        self._claim(ExtractorSpec(id, version, frozenset(formats), kind.__module__, kind.__qualname__))
        self._own[id] = extractor

    def spec_for(self, format: DocumentFormat) -> ExtractorSpec | None:
        """Return the extractor of a format, None where no one reads it."""
        return self._specs.get(format)

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        """Read a document as the module's `extract` does, with the extractors held here."""
        spec = self._specs.get(context.format)
        if spec is None:
            raise _error(context, FailureCode.UNSUPPORTED_FORMAT, f"no extractor reads {context.format}")
        return _run(spec.id, lambda: (self._own.get(spec.id) or _load(spec)).extract(raw, context), context)

    def _claim(self, spec: ExtractorSpec) -> None:
        if any(spec.id == other.id for other in self._specs.values()):
            raise _invalid(spec, f"the id {spec.id!r} is taken")
        for format in sorted(spec.formats):
            if format in self._specs:
                raise _invalid(spec, f"{format} is read by {self._specs[format].id!r} already")
        self._specs.update(dict.fromkeys(spec.formats, spec))


def _load(spec: ExtractorSpec) -> ContentExtractor:
    extractor: ContentExtractor = getattr(importlib.import_module(spec.module), spec.attribute)()
    return extractor


def _run(id: str, read: Callable[[], NormalizedDocument], context: ExtractionContext) -> NormalizedDocument:
    """Run a parser; its exceptions become ours. Raised outside the handlers, so that no cause or context is chained."""
    document: NormalizedDocument | None = None
    try:
        document = read()
        failure = _flaw(document, context)
        if failure is None:
            document = _clean(document)
    except DocumentProcessingError as error:
        failure = DocumentProcessingError(error.code, context.source, context.uri, context.format, error.detail)
    except ImportError as error:
        missing = f" ({error.name} is missing)" if error.name else ""
        detail = f"the library that reads {context.format} did not load{missing}"
        failure = _error(context, FailureCode.UNSUPPORTED_FORMAT, detail)
    except MemoryError:
        failure = _error(context, FailureCode.EXTRACTION, OUT_OF_MEMORY)
    except Exception as error:
        failure = _error(context, FailureCode.EXTRACTION, f"{id} failed: {type(error).__name__}")
    if failure is not None or document is None:
        raise failure or _error(context, FailureCode.EXTRACTION, f"{id} failed: it returned nothing")
    return document


def _flaw(document: NormalizedDocument, context: ExtractionContext) -> DocumentProcessingError | None:
    """Hold a document against the limits and the promise that its blocks tile its text."""
    limits, blocks = context.limits, document.blocks
    if len(document.text) > limits.max_text:
        return _over(context, "max_text", limits.max_text, "characters of text")
    if len(blocks) > limits.max_blocks:
        return _over(context, "max_blocks", limits.max_blocks, "blocks")
    at = 0
    for block in blocks:
        if block.start != at or block.end <= at:
            return _error(context, FailureCode.EXTRACTION, "the extractor's blocks do not tile the text")
        at = block.end
        if at - block.start > limits.max_block_chars:
            return _over(context, "max_block_chars", limits.max_block_chars, "characters in one block")
    if at != len(document.text):
        return _error(context, FailureCode.EXTRACTION, "the extractor's blocks do not tile the text")
    return None


def _clean(document: NormalizedDocument) -> NormalizedDocument:
    """Replace what cannot be stored (NUL, lone surrogates) one for one, so that blocks keep their place."""
    text = well_formed(document.text)
    blocks = document.blocks
    if any(not _storable(block.metadata) for block in blocks):
        blocks = tuple(Block(b.start, b.end, _storable_copy(b.metadata), b.mergeable, b.cuts) for b in blocks)
    metadata = document.metadata if _storable(document.metadata) else _storable_copy(document.metadata)
    if text is document.text and blocks is document.blocks and metadata is document.metadata:
        return document
    return document._replace(text=text, blocks=blocks, metadata=metadata)


def _storable(metadata: Metadata) -> bool:
    for value in metadata.values():
        if isinstance(value, str) and not value.isascii() and well_formed(value) != value:
            return False
    return True


def _storable_copy(metadata: Metadata) -> Metadata:
    return {key: well_formed(value) if isinstance(value, str) else value for key, value in metadata.items()}


def _over(context: ExtractionContext, cap: str, value: int, what: str) -> DocumentProcessingError:
    return _error(context, FailureCode.LIMIT, f"more than {value:,} {what} ({cap})")


def _error(context: ExtractionContext, code: FailureCode, detail: str) -> DocumentProcessingError:
    return DocumentProcessingError(code, context.source, context.uri, context.format, detail)


def _invalid(extractor: object, why: str) -> DocumentProcessingError:
    name = extractor.attribute if isinstance(extractor, ExtractorSpec) else type(extractor).__name__
    return DocumentProcessingError(FailureCode.VALIDATION, "", name, "", f"the extractor cannot be registered: {why}")
