"""Rich Text Format as plain text, by striprtf. Reads no picture and no embedded object."""

from ragcli.documents import ExtractionContext, NormalizedDocument
from ragcli.extract.decode import normalize
from ragcli.extract.refusal import refused
from ragcli.extract.text import plain_document
from ragcli.model import DocumentFormat

_HEADER = b"{\\rtf"


class RtfExtractor:
    """The text of a document in lines; control words, fonts, pictures and hidden groups are left out."""

    id = "rtf"
    version = "1"
    formats = frozenset({DocumentFormat.RTF})

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        from striprtf.striprtf import rtf_to_text

        if not raw.lstrip().startswith(_HEADER):
            raise refused(context, "not RTF: it does not begin with {\\rtf" if raw else "the file is empty")
        # Control words are ASCII; each letter beyond it is an escape in the code page that the file names.
        text = rtf_to_text(raw.decode("latin-1"), errors="replace")  # type: ignore[no-untyped-call]
        return plain_document(normalize(text).strip("\n") + "\n", context, {})
