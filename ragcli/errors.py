"""The exception tree. Each class owns its exit code and a hint; this module imports nothing of ours.

RagError (2)
  UsageError (2)
    SourceRejectedError (2)
  SessionNotFoundError (3)
  DocumentNotFoundError (3)
  StoreError (2)
  LockedError (4)
  IndexCorruptError (5)
    IndexVersionError (5)
  StrictError (6)
  DocumentProcessingError (a document's failure: data in a report, never the end of a run)
"""

from enum import StrEnum


class RagError(Exception):
    """An error that a user can act on: one line, a hint, an exit code."""

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(RagError):
    """Arguments or settings that cannot be meant."""


class SourceRejectedError(UsageError):
    """A tree that is not indexed at all (a walk cap, nothing usable, a vanished root); the previous index stays."""


class SessionNotFoundError(RagError):
    """No such session."""

    exit_code = 3


class DocumentNotFoundError(RagError):
    """No such added document or indexed file."""

    exit_code = 3


class LockedError(RagError):
    """Another process is writing the session and the wait is over."""

    exit_code = 4


class StoreError(RagError):
    """The data directory cannot be written (full, read-only, no permission); the previous generation stays."""


# What a user does about an index that cannot be read.
REBUILD_HINT = "run: ragcli index --rebuild"


class IndexCorruptError(RagError):
    """Stored bytes that do not match their checksum or make no sense."""

    exit_code = 5


class IndexVersionError(IndexCorruptError):
    """An index written by another major version of the format."""


class StrictError(RagError):
    """`index --strict` met a document that failed; nothing was committed."""

    exit_code = 6


class FailureCode(StrEnum):
    """Why a document could not be processed."""

    UNSUPPORTED_FORMAT = "UNSUPPORTED_FORMAT"
    EXTRACTION = "EXTRACTION"
    LIMIT = "LIMIT"
    VALIDATION = "VALIDATION"


class DocumentProcessingError(RagError):
    """One document failed. Carries no text of the document and no chained cause.

    `source` is the source's name ('' by default), `uri` the path relative to the root, `detail` a sentence of ours.
    """

    def __init__(self, code: FailureCode, source: str, uri: str, format: str, detail: str) -> None:
        super().__init__(f"{uri}: {detail}")
        self.code = code
        self.source = source
        self.uri = uri
        self.format = format
        self.detail = detail

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.code, self.source, self.uri, self.format, self.detail)
