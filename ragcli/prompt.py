"""Wraps search results in the untrusted-context fence of a prompt and keeps it within a token budget. Pure text.

The fence is `<tnsai-memory>`; whatever is quoted inside it is XML-escaped, so no content can close it. The query
follows unchanged. This module may not search, read files or print.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from ragcli.errors import UsageError
from ragcli.model import ContextPrompt, SearchResult
from ragcli.text.escapes import prompt_text, prompt_value
from ragcli.text.graphemes import splits_character
from ragcli.text.secrets import masked

CUT_MARK = "[cut here to fit the token budget]"

_MEMORY_OPEN, _MEMORY_CLOSE = "<tnsai-memory>\n", "</tnsai-memory>\n"
_USER_OPEN, _USER_CLOSE = "\n<tnsai-user-message>\n", "\n</tnsai-user-message>"


def render(
    query: str, results: Sequence[SearchResult], max_tokens: int | None = None, *, allow_secrets: bool = False
) -> ContextPrompt:
    """Make the prompt for a query from ranked results; the query alone where there is nothing to quote.

    What looks like a well-known key is masked in what is quoted, unless `allow_secrets`.

    `max_tokens` bounds the estimate of the whole text with a final line feed: whole chunks in rank order, then one
    chunk cut at a line end. A query that is over the budget by itself is a UsageError.
    """
    distinct = list(_without_repeats(results))
    if not allow_secrets:
        distinct = [result._replace(content=masked(result.content)) for result in distinct]
    if max_tokens is None:
        return _assemble(query, distinct)
    alone = estimate_tokens(f"{query}\n")
    if alone > max_tokens:
        raise UsageError(
            f"the query alone takes about {alone} tokens, over the budget of {max_tokens}",
            "raise --max-tokens or shorten the query",
        )
    fence = _MEMORY_OPEN + _MEMORY_CLOSE + _USER_OPEN + query + _USER_CLOSE + "\n"
    return _assemble(query, list(_within(distinct, max_tokens - estimate_tokens(fence))))


def evidence_fence(results: Sequence[SearchResult]) -> str:
    """Render results as one fence by itself, '' for none."""
    blocks = "".join(map(evidence_block, _without_repeats(results)))
    return _MEMORY_OPEN + blocks + _MEMORY_CLOSE if blocks else ""


def evidence_block(result: SearchResult) -> str:
    """Render one result as an `<evidence>` element, every part of it escaped."""
    entries = "".join(
        f"<entry><key>{_escape_value(key)}</key><value>{_escape_value(value)}</value></entry>\n"
        for key, value in _provenance(result)
    )
    return (
        f"<evidence>\n<document-id>{_escape_value(result.id)}</document-id>\n<provenance>\n{entries}</provenance>\n"
        f"<content>{_xml(prompt_text(result.content))}</content>\n</evidence>\n"
    )


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text, on the high side; texts joined at a line end never cost more than apart.

    Words of ASCII letters (a capital begins a new one) cost one token for each started four letters, or three where
    the line holds accented Latin letters. Digits and other ASCII characters cost one each, and one more for a number of
    three digits; spaces beyond the one that a word carries one for each started eight; long runs of letters and digits
    that are no words one a character. Beyond ASCII a run costs one, and 1.25 for each character of two bytes in UTF-8,
    2 for one of three (Han, kana, Hangul), 3.75 for one of four (emoji). Three more are for the edges.

    Held against cl100k, o200k, Llama 1 and 3, Mistral and the published Claude one this was never under on prose in
    fifteen languages, code, markup and data, and about 1.6 times the first on English and on code. Made-up text, such
    as rare Han characters in a row, can take more.
    """
    lines = text.split("\n")
    return 3 + len(lines) - 1 + sum(map(_line_cost, lines))


_PIECES = re.compile(
    r"(?=[A-Za-z+/]{0,24}[0-9])[A-Za-z0-9+/]{24,}|[A-Za-z0-9]{40,}"  # hashes, base64, filler
    r"|[A-Za-z][a-z]*|[0-9]+| +|[^\x00-\x7f]+|></|<[/!]|><|[\x00-\x7f]"
)
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")


def _line_cost(line: str) -> int:
    letters = 4 if line.isascii() or not _ACCENTED.search(line) else 3
    return sum(_cost(piece, letters) for piece in _PIECES.findall(line))


def _cost(piece: str, letters: int) -> int:
    if piece[0] > "\x7f":
        size, beyond = len(piece.encode("utf-8", "surrogatepass")), sum(character > "\uffff" for character in piece)
        return 1 + beyond - (len(piece) - 3 * size) // 4
    if piece[0] == " ":
        return -(-(len(piece) - 1) // 8)
    if piece.isalpha() and len(piece) < 40:
        return -(-len(piece) // letters)
    if piece[0] in "<>":
        return 1
    return len(piece) + (piece.isdigit() and len(piece) > 2)


def _assemble(query: str, evidence: list[SearchResult]) -> ContextPrompt:
    prompt = query
    if evidence:
        blocks = "".join(map(evidence_block, evidence))
        prompt = _MEMORY_OPEN + blocks + _MEMORY_CLOSE + _USER_OPEN + query + _USER_CLOSE
    return ContextPrompt(query, prompt, estimate_tokens(f"{prompt}\n"), evidence)


def _provenance(result: SearchResult) -> list[tuple[str, object]]:
    values: dict[str, object] = dict(result.metadata)
    if not result.file:
        return sorted(values.items())
    values |= {"start_line": result.start_line, "end_line": result.end_line}
    if result.language:
        values.setdefault("language", result.language)
    values.pop("file", None)
    return [("file", result.file), *sorted(values.items())]


def _escape_value(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return _xml(prompt_value(text))


def _xml(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _without_repeats(results: Sequence[SearchResult]) -> Iterator[SearchResult]:
    """Leave out what a better-ranked result of the same file quotes already, whole results or their first lines."""
    quoted: dict[tuple[str, str], list[SearchResult]] = {}
    for result in results:
        key = result.source, result.file or result.id
        earlier = quoted.setdefault(key, [])
        trimmed: SearchResult | None = result
        for other in earlier:
            if trimmed is not None:
                trimmed = _beyond(other, trimmed)
        if trimmed is not None:
            earlier.append(trimmed)
            yield trimmed


def _beyond(earlier: SearchResult, later: SearchResult) -> SearchResult | None:
    """Return the part of `later` whose lines `earlier` does not hold, None where it holds them all."""
    # All chunks of an added document have its id.
    if (later.file and later.id == earlier.id) or (_covers(earlier, later) and later.content in earlier.content):
        return None
    if not earlier.start_line <= later.start_line <= earlier.end_line < later.end_line:
        return later
    lines = _lines(later.content)
    shared = earlier.end_line - later.start_line + 1
    head = "".join(lines[:shared])
    if not head.strip() or not earlier.content.rstrip("\n").endswith(head.rstrip("\n")):
        return later
    return later._replace(start_line=later.start_line + shared, content="".join(lines[shared:]))


def _covers(outer: SearchResult, inner: SearchResult) -> bool:
    return outer.start_line <= inner.start_line and inner.end_line <= outer.end_line


def _within(results: Sequence[SearchResult], budget: int) -> Iterator[SearchResult]:
    for result in results:
        cost = estimate_tokens(evidence_block(result))
        if cost <= budget:
            budget -= cost
            yield result
            continue
        cut = _cut(result, budget)
        if cut is not None:
            yield cut
        return


def _cut(result: SearchResult, budget: int) -> SearchResult | None:
    """Shorten a result to the budget at a line end, inside its first line only where even that line is too long."""
    lines = _lines(result.content)

    def shortened(count: int) -> SearchResult:
        content = "".join(lines[:count]).rstrip("\n")
        return result._replace(content=f"{content}\n{CUT_MARK}", end_line=result.start_line + count - 1)

    def fits(candidate: SearchResult) -> bool:
        return estimate_tokens(evidence_block(candidate)) <= budget

    count = _largest(len(lines) - 1, lambda number: fits(shortened(number)))
    if count and "".join(lines[:count]).strip():
        return shortened(count)
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return None
    begun = result._replace(start_line=result.start_line + first, end_line=result.start_line + first)

    def part(length: int) -> SearchResult:
        return begun._replace(content=f"{lines[first][:length].rstrip()}\n{CUT_MARK}")

    length = _boundary(lines[first], _largest(len(lines[first]) - 1, lambda number: fits(part(number))))
    return part(length) if lines[first][:length].strip() else None


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _largest(high: int, holds: Callable[[int], bool]) -> int:
    """Return the largest number up to `high` for which a falling predicate holds, 0 where none does."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _boundary(line: str, length: int) -> int:
    """Step back from the middle of a word or of a composed character (accents, joined emoji, flags)."""
    space = line.rfind(" ", 0, length)
    if space > length * 3 // 4:
        return space
    while 0 < length < len(line) and splits_character(line, length):
        length -= 1
    return length
