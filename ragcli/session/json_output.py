"""Turns the engine's values into the documented JSON objects (schema 1). Adds nothing, renders nothing.

Keys that do not apply are absent. A name that is not UTF-8 keeps its bytes as lone surrogates U+DC80-U+DCFF and
comes with the exact bytes in base64 beside it (`file_bytes`).
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ragcli.model import ContextPrompt, DocumentInfo, FileInfo, IndexStatus, SearchOutcome, SearchResult, StoredDocument
from ragcli.text import excerpt

if TYPE_CHECKING:
    from ragcli.documents import IndexReport
    from ragcli.session.passages import Passage

Value = dict[str, object]

SCHEMA = 1
# The order of the contract; other provenance (cell, element, header, symbol_start_line ...) follows by name.
_PROVENANCE = (
    "symbol", "qualified_symbol", "kind", "signature", "heading", "page", "sheet", "cells", "slide", "chapter",
    "pointer", "parser", "fallback", "fallback_reason",
)  # fmt: skip
_OWN_KEYS = frozenset(("rank", "id", "file", "start_line", "end_line", "line", "score", "streams", "format", "language",
                       "stale", "content", "metadata", "parts", "source", "root"))  # fmt: skip


def result_value(result: SearchResult, *, ranked: bool = True, wanted: excerpt.Terms | None = None) -> Value:
    """Return one chunk as JSON, without rank and score where it was not ranked.

    `line` is the one that says most of what is `wanted`, as `path:line` of the plain output names it.
    """
    value: Value = {"rank": result.rank} if ranked else {}
    value["id"] = result.id
    if result.source:
        value |= {"source": result.source, **_named("root", result.root)}
    value |= _named("file", result.file)
    value |= {"start_line": result.start_line, "end_line": result.end_line}
    if result.line is not None:
        value["line"] = result.line
    elif wanted is not None:
        value["line"] = result.start_line + excerpt.best_line(excerpt.lines_of(result.content), wanted)
    if ranked:
        value["score"] = result.score
        value["streams"] = {
            name: {"rank": place.rank, "score": place.score} for name, place in sorted(result.streams.items())
        }
        if result.parts:
            value["parts"] = dict(sorted(result.parts.items()))
    value |= {key: text for key, text in (("format", result.format), ("language", result.language)) if text}
    if result.file:
        value |= {key: result.metadata[key] for key in _PROVENANCE if key in result.metadata}
        others = sorted(set(result.metadata) - set(_PROVENANCE) - _OWN_KEYS)
        value |= {key: result.metadata[key] for key in others if key not in value}
    else:
        value["metadata"] = dict(sorted(result.metadata.items()))
    if result.stale is not None:
        value["stale"] = result.stale
    value["content"] = result.content
    return value


def outcome_value(outcome: SearchOutcome) -> Value:
    """Return a whole search as JSON."""
    wanted = excerpt.terms(outcome.query)
    return {
        "schema": SCHEMA,
        "query": outcome.query,
        "session": outcome.session,
        **_named("root", outcome.root),
        "generation": outcome.generation,
        "results": [result_value(result, wanted=wanted) for result in outcome.results],
        "degraded": list(outcome.degraded),
    }


def hit_values(outcome: SearchOutcome) -> Iterable[Value]:
    """Return one JSON object a hit, each complete by itself."""
    wanted = excerpt.terms(outcome.query)
    for result in outcome.results:
        yield {"schema": SCHEMA, **_named("root", outcome.root), **result_value(result, wanted=wanted)}


def prompt_value(prompt: ContextPrompt) -> Value:
    """Return a prompt and what it quotes as JSON."""
    return {
        "schema": SCHEMA,
        "query": prompt.query,
        "prompt": prompt.prompt,
        "tokens": prompt.tokens,
        "evidence": [result_value(result) for result in prompt.evidence],
    }


def report_value(report: "IndexReport") -> Value:
    """Return what an index run did as JSON."""
    return {
        "schema": SCHEMA,
        "session": report.session,
        **_named("root", report.root),
        "generation": report.generation,
        "files": report.files._asdict(),
        "chunks": report.chunks,
        "seconds": round(report.seconds, 3),
        "failed": [{**_named("file", failure.file), "code": failure.code, "reason": failure.reason}
                   for failure in report.failed],
    }  # fmt: skip


def status_value(status: IndexStatus) -> Value:
    """Return a session's status as JSON; `last_indexed` in seconds since the epoch, absent before the first run."""
    value: Value = {"schema": SCHEMA, "session": status.session, **_named("root", status.root)}
    if status.problem:
        return value | {"problem": status.problem}
    value |= {"files": status.files, "chunks": status.chunks, "documents": status.documents}
    if status.last_indexed:
        value["last_indexed"] = status.last_indexed
    return value | {
        "generation": status.generation,
        "bytes": status.bytes,
        "text_bytes": status.text_bytes,
        "without_text": status.without_text,
        "failed": [{**_named("file", failure.file), "code": failure.code, "reason": failure.reason}
                   for failure in status.failed],
        "skipped": dict(sorted(status.skipped.items())),
        "formats": dict(sorted(status.formats.items())),
        "languages": dict(sorted(status.languages.items())),
    }  # fmt: skip


def listing_value(documents: Iterable[DocumentInfo], files: Iterable[FileInfo]) -> Value:
    """Return added documents and files as JSON."""
    return {
        "schema": SCHEMA,
        "documents": [
            {
                "id": entry.id,
                "preview": entry.preview,
                "content_length": entry.content_length,
                "metadata": dict(sorted(entry.metadata.items())),
            }
            for entry in documents
        ],
        "files": [_file_value(entry) for entry in files],
    }


def stored_value(stored: StoredDocument) -> Value:
    """Return what is stored of one document as JSON."""
    value: Value = {"schema": SCHEMA}
    value |= _named("file", stored.file) if stored.file else {"id": stored.id, "metadata": dict(stored.metadata)}
    value |= {key: text for key, text in (("format", stored.format), ("language", stored.language)) if text}
    return value | {
        "fingerprint": stored.fingerprint,
        "text_length": len(stored.text),
        "chunks": [result_value(chunk, ranked=False) for chunk in stored.chunks],
    }


def passage_value(stored: StoredDocument, found: "Passage") -> Value:
    """Return a part of a document as JSON: its lines, text, and the chunks that it touches."""
    part = {"start_line": found.start_line, "end_line": found.end_line, "content": found.text}
    value = stored_value(stored._replace(chunks=found.chunks))
    chunks = value.pop("chunks")
    return value | part | {"chunks": chunks}


def _file_value(entry: FileInfo) -> Value:
    value: Value = {**_named("file", entry.file)}
    value |= {key: text for key, text in (("format", entry.format), ("language", entry.language)) if text}
    value |= {"chunks": entry.chunks, "status": entry.status}
    return value | {key: text for key, text in (("code", entry.code), ("reason", entry.reason)) if text}


def _named(key: str, name: str) -> Value:
    """Return a name under its key, with its exact bytes where it is not UTF-8; nothing for no name."""
    if not name:
        return {}
    if name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name):
        return {key: name}
    from binascii import b2a_base64

    return {key: name, f"{key}_bytes": b2a_base64(name.encode("utf-8", "surrogateescape"), newline=False).decode()}
