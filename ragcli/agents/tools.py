"""What each tool does with the session service.

Knows nothing of the protocol. Every answer is text for the model and an object for programs; an error says what to do.
"""

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ragcli.agents.answers import DISCLOSURE, passage_answer, search_answer, status_answer
from ragcli.agents.scope import Scope, Source, explained
from ragcli.agents.tool_schemas import MAX_RESULTS, TOOLS, Tool
from ragcli.config.options import STANDARD, IndexOptions, QueryOptions, SearchFilter
from ragcli.documents import IndexProgress
from ragcli.errors import DocumentNotFoundError, RagError, UsageError
from ragcli.knowledge.declared import DeclaredKnowledge
from ragcli.model import SearchOutcome, SearchResult, StoredDocument
from ragcli.session.json_output import outcome_value, prompt_value, report_value, result_value, status_value
from ragcli.session.passages import Selection, passage
from ragcli.text.secrets import masked

COMPACT_TOKENS, FULL_TOKENS, READ_TOKENS, PROMPT_TOKENS = 1_500, 6_000, 4_000, 4_000
# Chunk ids of the last searches, so that `read` finds them without looking through an index.
REMEMBERED_CHUNKS = 2_000
# What of a result a compact answer repeats for programs.
_COMPACT_KEYS = (
    "rank", "id", "source", "root", "file", "file_bytes", "start_line", "end_line", "line", "score", "kind", "symbol",
    "qualified_symbol", "heading", "page", "sheet", "cells", "slide", "chapter", "cell", "pointer", "stale",
)  # fmt: skip

Arguments = Mapping[str, Any]


class Answer(NamedTuple):
    """What a tool answers: text for a model, an object for a program (None with an error)."""

    text: str
    structured: dict[str, Any] | None = None
    is_error: bool = False


class _TimeUp(Exception):
    """A refresh took longer than its bound."""


class ToolBox:
    """Runs tools over the sessions of a scope. `fresh` are the seconds that a refresh before an answer may take."""

    def __init__(self, data_dir: str, *, allow_index: bool = False, fresh: float = 0.0) -> None:
        self._data_dir = data_dir
        self._allow_index = allow_index
        self._fresh = fresh
        self._chunks: dict[str, tuple[str, str]] = {}

    def tools(self) -> list[Tool]:
        """The tools on offer: those that write only where that is allowed."""
        return [tool for tool in TOOLS if self._allow_index or not tool.writes]

    def call(self, scope: Scope, name: str, arguments: Arguments) -> Answer:
        """Run a tool whose arguments fit its schema. What a user can act on is an answer; bugs are raised."""
        run: dict[str, Callable[[Scope, Arguments], Answer]] = {
            "search": self._search, "read": self._read, "prompt": self._prompt, "status": self._status,
            "index": self._index, "knowledge": self._knowledge,
        }  # fmt: skip
        if name not in {tool.name for tool in self.tools()}:
            return Answer(
                f"there is no tool {name}\nthere are: {', '.join(tool.name for tool in self.tools())}", None, True
            )
        try:
            return run[name](scope, arguments)
        except RagError as error:
            return Answer(explained(error), None, True)
        except OSError as error:
            return Answer(f"the index cannot be read: {error.strerror or error}", None, True)

    def _search(self, scope: Scope, arguments: Arguments) -> Answer:
        sources, notices = self._ready(scope, arguments)
        globs = arguments.get("path", ())
        where = SearchFilter(
            globs=(globs,) if isinstance(globs, str) else tuple(globs),
            languages=(arguments["type"],) if "type" in arguments else (),
        )
        options = QueryOptions(where=where)
        outcome = scope.union(sources).query(arguments["query"], arguments.get("k", 8), options)
        results = [result._replace(content=masked(result.content)) for result in outcome.results]
        outcome = outcome._replace(results=results, notices=[*notices, *outcome.notices])
        self._remember(sources, outcome)
        full = arguments.get("mode", "compact") == "full"
        budget = arguments.get("max_tokens", FULL_TOKENS if full else COMPACT_TOKENS)
        value = outcome_value(outcome)
        if not full:
            value["results"] = [_compact(result) for result in outcome.results]
        return Answer(search_answer(outcome, budget, full=full), value)

    def _read(self, scope: Scope, arguments: Arguments) -> Answer:
        source, stored, selection = self._located(scope, arguments)
        found = passage(stored, selection)
        budget = arguments.get("max_tokens", READ_TOKENS)
        cited = f"{stored.file or f'<{stored.id}>'}:{found.start_line}-{found.end_line} in {source.root or source.name}"
        numbered = bool(stored.file) and stored.format not in ("PDF", "DOCX", "PPTX", "XLSX", "EPUB", "RTF")
        text, last = passage_answer(cited, found.text, found.start_line, budget, numbered=numbered)
        value = {
            "schema": 1, "session": source.name, "root": source.root, "file": stored.file, "id": stored.id,
            "start_line": found.start_line, "end_line": last, "cut": last < found.end_line,
            "chunks": [_compact(chunk, ranked=False) for chunk in found.chunks[:MAX_RESULTS]],
        }  # fmt: skip
        return Answer(text, {key: entry for key, entry in value.items() if entry not in ("", [])})

    def _prompt(self, scope: Scope, arguments: Arguments) -> Answer:
        sources, notices = self._ready(scope, arguments)
        budget = arguments.get("max_tokens", PROMPT_TOKENS)
        made = scope.union(sources).context_prompt(arguments["query"], arguments.get("k", 5), max_tokens=budget)
        text = f"{DISCLOSURE.replace('untrusted-evidence', 'tnsai-memory')}\n\n{made.prompt}"
        value = prompt_value(made)
        value["evidence"] = [_compact(result) for result in made.evidence]
        value.pop("prompt")
        return Answer("\n".join([text, *notices]), value)

    def _knowledge(self, scope: Scope, arguments: Arguments) -> Answer:
        rows = []
        for directory in scope.directories:
            declared = DeclaredKnowledge(self._data_dir, directory)
            for entry in declared.entries():
                place = declared.sources.shown_location(entry)
                row = {"name": entry.name, "type": str(entry.source.type), "use": str(entry.use), "location": place}
                rows.append({"directory": directory, **row, "enabled": entry.source.enabled})
        lines = [f"{row['name']}: {row['type']}, {row['use']}, {row['location']}" for row in rows]
        text = "\n".join(lines) or "No knowledge is declared below the permitted directories."
        return Answer(text, {"schema": 1, "sources": rows})

    def _status(self, scope: Scope, arguments: Arguments) -> Answer:
        statuses = [source.service.get_status() for source in scope.chosen()]
        return Answer(status_answer(statuses), {"schema": 1, "sessions": [status_value(status) for status in statuses]})

    def _index(self, scope: Scope, arguments: Arguments) -> Answer:
        if "path" in arguments:
            if not scope.permits(arguments["path"]):
                raise UsageError(
                    f"{arguments['path']} is outside what may be read", f"inside: {', '.join(scope.directories)}"
                )
            targets = [(scope.service_of(arguments["path"]), arguments["path"])]
        else:
            targets = [(source.service, source.root) for source in scope.chosen() if source.root]
        reports = []
        for service, root in targets:
            options = service.stored_options() or IndexOptions(limits=STANDARD)
            reports.append(service.index_directory(root, options=options))
        scope.forget_listing()
        lines = [f"Indexed {report.root}: {report.files.new} new, {report.files.changed} changed, "
                 f"{report.files.gone} deleted, {report.files.failed} failed" for report in reports]  # fmt: skip
        return Answer("\n".join(lines), {"schema": 1, "runs": [report_value(report) for report in reports]})

    def _ready(self, scope: Scope, arguments: Arguments) -> tuple[list[Source], list[str]]:
        """The sessions to ask, refreshed first where that is wanted; and what to say of it."""
        sources = scope.chosen(arguments.get("session", ""))
        notices = []
        for source in sources if self._fresh else ():
            if source.root:
                notices += self._refreshed(source)
        return sources, notices

    def _refreshed(self, source: Source) -> list[str]:
        """Refresh within the time bound; an index that cannot be refreshed in time answers as it is."""
        end = time.monotonic() + self._fresh

        def in_time(progress: IndexProgress) -> None:
            if time.monotonic() > end:
                raise _TimeUp

        try:
            source.service.index_directory(
                source.root, in_time, options=source.service.stored_options(), wait=self._fresh
            )
        except _TimeUp:
            return [f"The index was not refreshed within {self._fresh:g} s; stale results are marked."]
        except RagError as error:
            return [f"The index was not refreshed: {error.message}"]
        return []

    def _located(self, scope: Scope, arguments: Arguments) -> tuple[Source, StoredDocument, Selection]:
        path, first, last = _path_and_lines(arguments)
        chunk = arguments.get("id", "")
        if bool(path) == bool(chunk):
            raise UsageError("give either path or id", "path and lines as a search result cites them")
        session = arguments.get("session", "")
        if chunk:
            known = self._chunks.get(chunk)
            if known is None:
                return *self._added(scope, session, chunk), Selection()
            session, path = known
        source, stored_path = scope.located(path, session)
        place = next(((key, str(arguments[key])) for key in ("page", "sheet", "slide") if key in arguments), None)
        selection = Selection(first, last, arguments.get("symbol", ""), chunk, place)
        return source, source.service.show(stored_path), selection

    def _added(self, scope: Scope, session: str, id: str) -> tuple[Source, StoredDocument]:
        for source in scope.chosen(session):
            with contextlib.suppress(DocumentNotFoundError):
                return source, source.service.show(id.strip("<>"))
        raise DocumentNotFoundError(f"no chunk or document {id}", "search again, or read by path and lines")

    def _remember(self, sources: Sequence[Source], outcome: SearchOutcome) -> None:
        for result in outcome.results:
            if result.file:
                self._chunks.pop(result.id, None)
                self._chunks[result.id] = result.source or sources[0].name, result.file
        while len(self._chunks) > REMEMBERED_CHUNKS:
            self._chunks.pop(next(iter(self._chunks)))


def _path_and_lines(arguments: Arguments) -> tuple[str, int | None, int | None]:
    """The path with the lines that it may end with, which `start_line` and `end_line` override."""
    path = arguments.get("path", "")
    first, last = arguments.get("start_line"), arguments.get("end_line")
    head, colon, lines = path.rpartition(":")
    numbers = lines.split("-")
    if colon and head and len(numbers) <= 2 and all(number.isascii() and number.isdigit() for number in numbers):
        path = head
        first = first or int(numbers[0])
        last = last or int(numbers[-1])
    if first and last and last < first:
        raise UsageError(f"end_line {last} comes before start_line {first}")
    return path, first, last


def _compact(result: SearchResult, *, ranked: bool = True) -> dict[str, Any]:
    value = result_value(result, ranked=ranked)
    return {key: value[key] for key in _COMPACT_KEYS if key in value}
