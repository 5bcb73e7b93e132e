"""Say in one line why a document is refused. May not quote the document nor chain a parser's exception."""

from ragcli.documents import ExtractionContext
from ragcli.errors import DocumentProcessingError, FailureCode


def refused(
    context: ExtractionContext, detail: str, code: FailureCode = FailureCode.EXTRACTION
) -> DocumentProcessingError:
    """Make the failure of one document; the caller raises it outside its except clause, or `from None`."""
    return DocumentProcessingError(code, context.source, context.uri, str(context.format), detail)
