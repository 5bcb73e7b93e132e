"""Documents and trees made for measurements: the same bytes for the same arguments, of about the size asked for.

Words are those of the cost curve, drawn by Zipf's law. Source code is the samples again and again, their symbols
renamed and with longer comments; its words repeat less than those of real code, so it costs more to index.
"""

import json
import random
import re
from pathlib import Path

from ragcli.extract.source.languages import BY_NAME, language_for
from tests.benchmarks.cost_curve import word

SAMPLES = Path(__file__).parents[1] / "samples" / "source"
NAMES = tuple(sorted(path.name for path in SAMPLES.iterdir() if path.suffix != ".outline"))
VOCABULARY = 5_000
TREE_BYTES = 5_000_000
FILE_CHARS = (2_000, 20_000)
MAX_COMMENT = 21  # lines before a symbol
# What may stand only at the beginning or end of a file: its repetitions would not parse.
_ONCE = re.compile(r"^(?:#!|package |module [\w.]+ |#pragma ).*\n", re.MULTILINE)
_LAST = re.compile(r"^return \{(?:.*\n)*", re.MULTILINE)
_SYMBOL = re.compile(r"^(\d+)-\d+ \w+ (\S+)", re.MULTILINE)
_FIXED = frozenset({"constructor", "init", "deinit", "new", "main", "default", "operator", "subscript", "get", "set"})


class Prose:
    """Words, sentences and paragraphs out of one long draw."""

    def __init__(self, seed: int = 1) -> None:
        self._chosen = random.Random(seed)
        weights = [1 / (rank + 2.7) for rank in range(VOCABULARY)]
        self._stream = [word(rank) for rank in self._chosen.choices(range(VOCABULARY), weights, k=200_000)]

    def words(self, count: int) -> str:
        """So many words."""
        at = self._chosen.randrange(len(self._stream) - count)
        return " ".join(self._stream[at : at + count])

    def sentence(self) -> str:
        """A sentence of 6 to 20 words."""
        return self.words(self._chosen.randint(6, 20)).capitalize() + "."

    def paragraph(self) -> str:
        """Two to six sentences."""
        return " ".join(self.sentence() for _ in range(self._chosen.randint(2, 6)))

    def paragraphs(self, size: int) -> list[str]:
        """Paragraphs of `size` characters in all."""
        found, total = [], 0
        while total < size:
            found.append(self.paragraph())
            total += len(found[-1]) + 2
        return found

    def number(self, below: int) -> int:
        """A number from 0."""
        return self._chosen.randrange(below)


def source(name: str, prose: Prose, chars: int) -> str:
    """A file of the language of a sample."""
    sample = _LAST.sub("", (SAMPLES / name).read_text())
    found = _SYMBOL.findall((SAMPLES / f"{name}.outline").read_text())
    starts = {int(line) for line, _ in found}
    known = sorted({part for _, symbol in found for part in re.findall(r"\w{3,}", symbol)} - _FIXED)
    names = re.compile(rf"\b(?:{'|'.join(known)})\b")
    mark = BY_NAME[language_for(name, sample)].comment.split()[0]
    end = " */" if mark == "/*" else ""
    pieces: list[str] = []
    size = 0
    while size < chars:
        new = {symbol: symbol + prose.words(1).capitalize() for symbol in known}
        for number, line in enumerate(sample.splitlines(keepends=True), 1):
            if number in starts:
                indent = line[: len(line) - len(line.lstrip())]
                pieces += [f"{indent}{mark} {prose.words(9)}{end}\n" for _ in range(prose.number(MAX_COMMENT))]
            if not (size and _ONCE.match(line)):
                pieces.append(names.sub(lambda match, new=new: new[match[0]], line))
        pieces.append("\n")
        size = sum(map(len, pieces))
    return "".join(pieces)


def markdown(prose: Prose, chars: int) -> str:
    """Sections of paragraphs, lists and fenced code."""
    pieces: list[str] = []
    for number, paragraph in enumerate(prose.paragraphs(chars)):
        if number % 4 == 0:
            pieces.append(f"{'#' * (1 + number // 4 % 3)} {prose.words(3)}")
        if number % 8 == 5:
            pieces.append("\n".join(f"- {prose.words(5)}" for _ in range(4)))
        if number % 8 == 7:
            pieces.append(f"```python\nprint({prose.words(1)!r})\n```")
        pieces.append(paragraph)
    return "\n\n".join(pieces) + "\n"


def record(prose: Prose) -> dict[str, object]:
    """A record of words, numbers, a list and a nested value."""
    return {
        "id": prose.number(1_000_000),
        "name": prose.words(2),
        "text": prose.sentence(),
        "tags": prose.words(3).split(),
        "size": {"width": prose.number(1000), "unit": prose.words(1), "open": bool(prose.number(2))},
    }


def records(prose: Prose, chars: int) -> list[dict[str, object]]:
    """Records of so many characters as JSON."""
    found, size = [], 0
    while size < chars:
        found.append(record(prose))
        size += len(json.dumps(found[-1], indent=2))
    return found


def write_tree(root: Path, size: int = TREE_BYTES) -> Path:
    """A source tree: seven files of code, then one of Markdown or JSON, in directories of twenty."""
    prose = Prose()
    written = number = 0
    while written < size:
        name = NAMES[number % len(NAMES)]
        chars = FILE_CHARS[0] + prose.number(FILE_CHARS[1] - FILE_CHARS[0])
        if number % 8 < 7:
            text = source(name, prose, chars)
        elif number % 16 == 7:
            name, text = "notes.md", markdown(prose, chars)
        else:
            name, text = "data.json", json.dumps(records(prose, chars), indent=2)
        path = root / prose.words(1) / f"d{number // 20:03}" / f"{prose.words(1)}{number:04}{Path(name).suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        written += len(text)
        number += 1
    return root
