"""Fixed values for the renderers: every kind of provenance, and text that is out for trouble."""

from ragcli.documents import FileCounts, IndexReport, Skipped, SkipReason
from ragcli.model import (
    DocumentInfo,
    Failure,
    FileInfo,
    IndexStatus,
    SearchOutcome,
    SearchResult,
    StoredDocument,
    StreamScore,
)

CODE = '''\
class AuthMiddleware:
    """Checks who is asking."""

    def handle(self, request: Request) -> Response:
        token = request.headers.get("authorization", "")
        if not token:
            raise Denied("[bold red]no token[/]")
        return self.next(request)
'''
HOSTILE = "middleware \x1b[2J\x1b]0;title\x07 \x9b31m real\rfake \u202egnp.exe :warning: dict[str] \\[ → 漢字\n"

RESULTS = [
    SearchResult(
        1, "11aa22bb33cc44dd", "src/auth/middleware.py", 12, 19, 0.024396193,
        {"bm25": StreamScore(1, 7.25), "tfidf": StreamScore(2, 0.4375)}, "SOURCE_CODE", "python",
        {"symbol": "handle", "qualified_symbol": "AuthMiddleware.handle", "kind": "method", "parser": "tree-sitter",
         "signature": "def handle(self, request: Request) -> Response", "symbol_start_line": 15, "symbol_end_line": 19},
        CODE, False, {"definition": 0.004, "streams": 0.020396193},
    ),
    SearchResult(
        2, "55ee66ff77aa88bb", "docs/[guide] to\nmiddleware \udce9.pdf", 210, 210, 0.016,
        {"tfidf": StreamScore(1, 0.5)}, "PDF", "", {"page": 3, "heading": "Guide > Authentication"}, HOSTILE, True,
    ),
    SearchResult(
        3, "99cc00dd11ee22ff", "tables/roles.xlsx", 1, 2, 0.015, {"bm25": StreamScore(2, 3.5)}, "XLSX", "",
        {"sheet": "Roles", "cells": "A1:C2"}, "role,middleware,comment\n" + "x" * 150 + " middleware at the far end\n",
    ),
    SearchResult(
        4, "0123456789ab", "", 1, 1, 0.0125, {}, "TEXT", "", {"author": "Ada", "year": 1843},
        "A note on authentication middleware.",
    ),
]  # fmt: skip
OUTCOME = SearchOutcome(
    "authentication middleware", "52b156b96f8efae8", "/home/ada/project", "c0ffee", RESULTS, ["code"], ["a notice"]
)
FAILURES = [
    Failure("docs/[x] \x1b[31m.pdf", "EXTRACTION", "pdf failed: PdfReadError"),
    Failure("huge.json", "LIMIT", "text over max-text (64 MiB)"),
]
REPORT = IndexReport(
    "52b156b96f8efae8", "/home/ada/project", "c0ffee", FileCounts(12, 3, 1045, 2, 2, 5), 8123, 3.21, FAILURES,
    [
        Skipped("build", SkipReason.DEFAULT_SKIP, "build", True),
        Skipped("node_modules", SkipReason.DEFAULT_SKIP, "node_modules", True),
        Skipped("web/build", SkipReason.DEFAULT_SKIP, "build", True),
        Skipped(".env", SkipReason.SECRET, ".env"),
        Skipped("logo.png", SkipReason.BINARY),
    ],
    [], True,
)  # fmt: skip
STATUS = IndexStatus(
    "52b156b96f8efae8", "/home/ada/project", 1060, 8123, 1, 1_700_000_000.0, "c0ffee", 6_291_456, 31_457_280, 4,
    FAILURES, {"ignored": 7, "binary": 1}, {"SOURCE_CODE": 1000, "MARKDOWN": 60}, {"python": 990, "go": 10},
)  # fmt: skip
NAMED = IndexStatus("notes", "", 0, 1, 1, 0.0, "", 1740, 18, 0, [], {}, {}, {})
DOCUMENTS = [
    DocumentInfo("0123456789ab", "A note on\nauthentication middleware.", 36, {"author": "Ada", "year": 1843}),
    DocumentInfo("fedcba987654", "x" * 100, 12_345, {}),
]
FILES = [
    FileInfo("src/[postId].tsx", "SOURCE_CODE", "typescript", 3, "indexed"),
    FileInfo("README.md", "MARKDOWN", "", 1, "indexed"),
    FileInfo("docs/[x] \x1b[31m.pdf", "PDF", "", 0, "failed", "EXTRACTION", "pdf failed: PdfReadError"),
    FileInfo("build", "", "", 0, "skipped", "", "default-skip"),
]
STORED = StoredDocument(
    "src/auth/middleware.py", "", "SOURCE_CODE", "python", "ab" * 32, CODE, {"parser": "tree-sitter"}, RESULTS[:1]
)
