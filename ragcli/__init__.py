"""ragcli turns directories into a local, ranked, citable index, and a question into a prompt.

The names below are the library; each is imported when it is first asked for, so that a command pays for what it uses.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragcli.config.options import STANDARD as STANDARD
    from ragcli.config.options import STRICT as STRICT
    from ragcli.config.options import IndexOptions as IndexOptions
    from ragcli.config.options import Limits as Limits
    from ragcli.config.options import QueryOptions as QueryOptions
    from ragcli.config.options import SearchFilter as SearchFilter
    from ragcli.documents import ContentExtractor as ContentExtractor
    from ragcli.documents import IndexProgress as IndexProgress
    from ragcli.documents import IndexReport as IndexReport
    from ragcli.documents import NormalizedDocument as NormalizedDocument
    from ragcli.errors import DocumentNotFoundError as DocumentNotFoundError
    from ragcli.errors import DocumentProcessingError as DocumentProcessingError
    from ragcli.errors import FailureCode as FailureCode
    from ragcli.errors import IndexCorruptError as IndexCorruptError
    from ragcli.errors import IndexVersionError as IndexVersionError
    from ragcli.errors import LockedError as LockedError
    from ragcli.errors import RagError as RagError
    from ragcli.errors import SessionNotFoundError as SessionNotFoundError
    from ragcli.errors import SourceRejectedError as SourceRejectedError
    from ragcli.errors import StoreError as StoreError
    from ragcli.errors import StrictError as StrictError
    from ragcli.errors import UsageError as UsageError
    from ragcli.ingest.chunkers import NormalizedDocumentChunker as NormalizedDocumentChunker
    from ragcli.knowledge.bindings import ChatKnowledgeBinding as ChatKnowledgeBinding
    from ragcli.knowledge.declared import DeclaredKnowledge as DeclaredKnowledge
    from ragcli.knowledge.host import KnowledgeHost as KnowledgeHost
    from ragcli.knowledge.paths import KnowledgePaths as KnowledgePaths
    from ragcli.knowledge.values import KnowledgeEntry as KnowledgeEntry
    from ragcli.knowledge.values import KnowledgeSourceConfig as KnowledgeSourceConfig
    from ragcli.knowledge.values import KnowledgeUsage as KnowledgeUsage
    from ragcli.knowledge.values import SearchSettings as SearchSettings
    from ragcli.memory.hybrid import HybridRetriever as HybridRetriever
    from ragcli.memory.streams import BM25Stream as BM25Stream
    from ragcli.memory.streams import InMemoryKnowledgeBase as InMemoryKnowledgeBase
    from ragcli.memory.streams import KnowledgeBaseStream as KnowledgeBaseStream
    from ragcli.model import ContextPrompt as ContextPrompt
    from ragcli.model import Document as Document
    from ragcli.model import DocumentFormat as DocumentFormat
    from ragcli.model import DocumentInfo as DocumentInfo
    from ragcli.model import IndexStatus as IndexStatus
    from ragcli.model import KnowledgeBase as KnowledgeBase
    from ragcli.model import SearchOutcome as SearchOutcome
    from ragcli.model import SearchResult as SearchResult
    from ragcli.retrieval.chunk_source import ChunkSource as ChunkSource
    from ragcli.session.manager import SessionManager as SessionManager
    from ragcli.session.service import RagService as RagService

__version__ = "0.1.0"

_MODULES = {
    "BM25Stream": "memory.streams",
    "ChatKnowledgeBinding": "knowledge.bindings",
    "ChunkSource": "retrieval.chunk_source",
    "ContentExtractor": "documents",
    "ContextPrompt": "model",
    "DeclaredKnowledge": "knowledge.declared",
    "Document": "model",
    "DocumentFormat": "model",
    "DocumentInfo": "model",
    "DocumentNotFoundError": "errors",
    "DocumentProcessingError": "errors",
    "FailureCode": "errors",
    "HybridRetriever": "memory.hybrid",
    "InMemoryKnowledgeBase": "memory.streams",
    "IndexCorruptError": "errors",
    "IndexOptions": "config.options",
    "IndexProgress": "documents",
    "IndexReport": "documents",
    "IndexStatus": "model",
    "IndexVersionError": "errors",
    "KnowledgeBase": "model",
    "KnowledgeBaseStream": "memory.streams",
    "KnowledgeEntry": "knowledge.values",
    "KnowledgeHost": "knowledge.host",
    "KnowledgePaths": "knowledge.paths",
    "KnowledgeSourceConfig": "knowledge.values",
    "KnowledgeUsage": "knowledge.values",
    "Limits": "config.options",
    "LockedError": "errors",
    "NormalizedDocument": "documents",
    "NormalizedDocumentChunker": "ingest.chunkers",
    "QueryOptions": "config.options",
    "RagError": "errors",
    "RagService": "session.service",
    "STANDARD": "config.options",
    "STRICT": "config.options",
    "SearchFilter": "config.options",
    "SearchOutcome": "model",
    "SearchResult": "model",
    "SearchSettings": "knowledge.values",
    "SessionManager": "session.manager",
    "SessionNotFoundError": "errors",
    "SourceRejectedError": "errors",
    "StoreError": "errors",
    "StrictError": "errors",
    "UsageError": "errors",
}

__all__ = [
    "STANDARD",
    "STRICT",
    "BM25Stream",
    "ChatKnowledgeBinding",
    "ChunkSource",
    "ContentExtractor",
    "ContextPrompt",
    "DeclaredKnowledge",
    "Document",
    "DocumentFormat",
    "DocumentInfo",
    "DocumentNotFoundError",
    "DocumentProcessingError",
    "FailureCode",
    "HybridRetriever",
    "InMemoryKnowledgeBase",
    "IndexCorruptError",
    "IndexOptions",
    "IndexProgress",
    "IndexReport",
    "IndexStatus",
    "IndexVersionError",
    "KnowledgeBase",
    "KnowledgeBaseStream",
    "KnowledgeEntry",
    "KnowledgeHost",
    "KnowledgePaths",
    "KnowledgeSourceConfig",
    "KnowledgeUsage",
    "Limits",
    "LockedError",
    "NormalizedDocument",
    "NormalizedDocumentChunker",
    "QueryOptions",
    "RagError",
    "RagService",
    "SearchFilter",
    "SearchOutcome",
    "SearchResult",
    "SearchSettings",
    "SessionManager",
    "SessionNotFoundError",
    "SourceRejectedError",
    "StoreError",
    "StrictError",
    "UsageError",
    "__version__",
]


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'ragcli' has no attribute {name!r}")
    return getattr(importlib.import_module(f"ragcli.{module}"), name)
