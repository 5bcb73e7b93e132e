"""The tools that agents are offered: names, descriptions and the JSON schemas of their arguments. Plain values."""

from typing import Any, NamedTuple

from ragcli.agents.answers import DISCLOSURE

MAX_RESULTS = 50
MAX_QUERY = 10_000
MAX_TOKENS = 50_000


class Tool(NamedTuple):
    """A tool as it is offered: `writes` tells those that change an index."""

    name: str
    title: str
    description: str
    properties: dict[str, dict[str, Any]]
    required: tuple[str, ...] = ()
    writes: bool = False

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        return {
            "type": "object",
            "properties": self.properties,
            "required": list(self.required),
            "additionalProperties": False,
        }


def _text(description: str, limit: int = 4_096) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": limit, "description": description}


def _number(description: str, least: int, most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most, "description": description}


_SESSION = _text("Which index, where several are open: its name or root as the tool status lists them.")
_BUDGET = _number("The most tokens that the answer may take (estimated).", 100, MAX_TOKENS)
_PATH = {
    "anyOf": [_text("A glob."), {"type": "array", "items": _text("A glob."), "maxItems": 50}],
    "description": "Only files that match, as ripgrep's -g: `src/**`, `*.py`, `!tests/**`.",
}

TOOLS: tuple[Tool, ...] = (
    Tool(
        "search",
        "Search code and documents",
        "Find code and documents by meaning of words, names, or an error message; ranked, with path:lines to cite. "
        "Use it before grep or reading whole files. " + DISCLOSURE,
        {
            "query": _text("What to find: words, an identifier, an error message.", MAX_QUERY),
            "k": _number("How many results (8).", 1, MAX_RESULTS),
            "path": _PATH,
            "type": _text("Only this language, as `python` or `markdown`."),
            "mode": {"enum": ["compact", "full"], "description": "compact: a few lines each; full: whole chunks."},
            "max_tokens": _BUDGET,
            "session": _SESSION,
        },
        ("query",),
    ),
    Tool(
        "read",
        "Read an indexed file",
        "Read part of an indexed file: lines, a symbol, a page, sheet or slide, or a chunk by the id that search gave. "
        "Give path and lines as a search result cites them. " + DISCLOSURE,
        {
            "path": _text("The file, as cited; `path:30-42` is understood."),
            "start_line": _number("First line.", 1, 10**9),
            "end_line": _number("Last line.", 1, 10**9),
            "symbol": _text("A function, class or method, as `Store.commit`."),
            "page": _number("A page of a PDF.", 1, 10**6),
            "sheet": _text("A sheet of a workbook."),
            "slide": _number("A slide of a presentation.", 1, 10**6),
            "id": _text("A chunk's or an added document's id, instead of a path."),
            "max_tokens": _BUDGET,
            "session": _SESSION,
        },
    ),
    Tool(
        "prompt",
        "Evidence for a question",
        "The best evidence for a question as one fenced block with citations, within a budget of tokens. " + DISCLOSURE,
        {
            "query": _text("The question.", MAX_QUERY),
            "k": _number("How many chunks at the most (5).", 1, MAX_RESULTS),
            "max_tokens": _BUDGET,
            "session": _SESSION,
        },
        ("query",),
    ),
    Tool("status", "What is indexed", "The open indexes: root, number of files, when indexed, what failed.", {}),
    Tool(
        "knowledge",
        "Declared knowledge",
        "The knowledge sources that the project declares in ragcli.toml: name, kind, use and place.",
        {},
    ),
    Tool(
        "index",
        "Index or refresh a directory",
        "Index a directory, or bring its index up to date; only what changed is read. Directories outside the client's "
        "roots are refused.",
        {"path": _text("The directory; without it every open index is refreshed.")},
        writes=True,
    ),
)  # fmt: skip
