"""Trees whose files all hold the word of one generation, and the check that an answer does not mix two."""

import os
from pathlib import Path

from ragcli.session.service import RagService


def write_generation(root: Path, number: int, files: int) -> None:
    """Give every file the word `gen<number>`; all with other times than before, so that none counts as known."""
    root.mkdir(exist_ok=True)
    for name in range(files):
        path = root / f"f{name:02}.txt"
        path.write_text(f"everywhere gen{number} file{name}\n" + "padding words here\n" * (number % 7))
        os.utime(path, ns=(number * 1_000_000_000, number * 1_000_000_000))


def generation_of(rag: RagService, files: int) -> str:
    """The one word that an answer shows, '' for an empty answer; an answer shows all files or none."""
    outcome = rag.query("everywhere", files + 20)
    words = {result.content.split()[1] for result in outcome.results}
    assert len(words) <= 1, f"one answer from two generations: {sorted(words)}"
    assert len(outcome.results) in (0, files)
    assert not outcome.degraded
    return "".join(words)


def check_one_generation(rag: RagService, files: int) -> None:
    """Ask at each door of a reader, and hold each answer against itself."""
    word = generation_of(rag, files)
    assert word
    stored = rag.show("f00.txt")
    assert "".join(chunk.content for chunk in stored.chunks) == stored.text
    assert len({chunk.file for chunk in stored.chunks}) == 1
    status = rag.get_status()
    assert status.files == files
    assert status.chunks == status.files + status.documents
    assert len(rag.list_files()) == files
