"""ragcli turns directories into a local, ranked, citable index, and a question into a prompt.

The names below are the library; each is imported when it is first asked for, so that a command pays for what it uses.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragcli.config.options import IndexOptions as IndexOptions
    from ragcli.config.options import Limits as Limits
    from ragcli.config.options import QueryOptions as QueryOptions
    from ragcli.documents import ContentExtractor as ContentExtractor
    from ragcli.documents import IndexProgress as IndexProgress
    from ragcli.documents import IndexReport as IndexReport
    from ragcli.documents import NormalizedDocument as NormalizedDocument
    from ragcli.errors import DocumentProcessingError as DocumentProcessingError
    from ragcli.errors import RagError as RagError
    from ragcli.extract.registry import ContentExtractorRegistry as ContentExtractorRegistry
    from ragcli.indexing.indexer import FileIndexer as FileIndexer
    from ragcli.ingest.chunkers import CodeChunker as CodeChunker
    from ragcli.ingest.chunkers import NormalizedDocumentChunker as NormalizedDocumentChunker
    from ragcli.ingest.ingestion_service import FileIngestionService as FileIngestionService
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
    from ragcli.model import Document as Document
    from ragcli.model import DocumentFormat as DocumentFormat
    from ragcli.model import DocumentInfo as DocumentInfo
    from ragcli.model import IndexStatus as IndexStatus
    from ragcli.model import KnowledgeBase as KnowledgeBase
    from ragcli.model import SearchResult as SearchResult
    from ragcli.retrieval.chunk_source import ChunkSource as ChunkSource
    from ragcli.session.manager import SessionManager as SessionManager
    from ragcli.session.service import RagService as RagService

__version__ = "0.1.0"

_MODULES = {
    "DeclaredKnowledge": "knowledge.declared",
    "KnowledgePaths": "knowledge.paths",
    "KnowledgeUsage": "knowledge.values",
    "SearchSettings": "knowledge.values",
    "KnowledgeSourceConfig": "knowledge.values",
    "KnowledgeEntry": "knowledge.values",
    "KnowledgeHost": "knowledge.host",
    "ChatKnowledgeBinding": "knowledge.bindings",
    "KnowledgeBase": "model",
    "BM25Stream": "memory.streams",
    "ChunkSource": "retrieval.chunk_source",
    "CodeChunker": "ingest.chunkers",
    "ContentExtractor": "documents",
    "ContentExtractorRegistry": "extract.registry",
    "Document": "model",
    "DocumentFormat": "model",
    "DocumentInfo": "model",
    "DocumentProcessingError": "errors",
    "FileIndexer": "indexing.indexer",
    "FileIngestionService": "ingest.ingestion_service",
    "HybridRetriever": "memory.hybrid",
    "InMemoryKnowledgeBase": "memory.streams",
    "IndexOptions": "config.options",
    "IndexProgress": "documents",
    "IndexReport": "documents",
    "IndexStatus": "model",
    "KnowledgeBaseStream": "memory.streams",
    "Limits": "config.options",
    "NormalizedDocument": "documents",
    "NormalizedDocumentChunker": "ingest.chunkers",
    "RagError": "errors",
    "RagService": "session.service",
    "SearchResult": "model",
    "QueryOptions": "config.options",
    "SessionManager": "session.manager",
}

__all__ = [
    "BM25Stream",
    "ChatKnowledgeBinding",
    "ChunkSource",
    "CodeChunker",
    "ContentExtractor",
    "ContentExtractorRegistry",
    "DeclaredKnowledge",
    "Document",
    "DocumentFormat",
    "DocumentInfo",
    "DocumentProcessingError",
    "FileIndexer",
    "FileIngestionService",
    "HybridRetriever",
    "InMemoryKnowledgeBase",
    "IndexOptions",
    "IndexProgress",
    "IndexReport",
    "IndexStatus",
    "KnowledgeBase",
    "KnowledgeBaseStream",
    "KnowledgeEntry",
    "KnowledgeHost",
    "KnowledgePaths",
    "KnowledgeSourceConfig",
    "KnowledgeUsage",
    "Limits",
    "NormalizedDocument",
    "NormalizedDocumentChunker",
    "QueryOptions",
    "RagError",
    "RagService",
    "SearchResult",
    "SearchSettings",
    "SessionManager",
    "__version__",
]


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'ragcli' has no attribute {name!r}")
    return getattr(importlib.import_module(f"ragcli.{module}"), name)
