"""What an index costs as it grows: `python -m tests.benchmarks.cost_curve 1000 10000 100000 1000000`.

Generated Markdown, one section of 100 words a chunk, words drawn by Zipf's law from 50,000; the same text for the
same number. Each figure is of whole processes of the command line: wall seconds, the largest sum over time of the
memory of all of them, and medians of five searches.
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORDS = 50_000
WORDS_A_CHUNK = 100
CHUNKS_A_FILE = 100
FILES_A_DIRECTORY = 500


def word(rank: int) -> str:
    """A word of letters for a rank; frequent ones are short, as words are."""
    letters = ""
    rank += 5
    while rank:
        rank, syllable = divmod(rank, 75)
        letters += "bdfgklmnprstvzh"[syllable // 5] + "aeiou"[syllable % 5]
    return letters


RARE = f"{word(40_001)} {word(31_007)}"
COMMON = f"{word(1)} {word(30)} {word(120)}"


def write_tree(root: Path, chunks: int) -> int:
    """Write the text of so many chunks; its bytes."""
    chosen = random.Random(20_010_109)
    weights = [1 / (rank + 2.7) for rank in range(WORDS)]
    # One long draw, cut at random places: a draw for each chunk would take longer than indexing it.
    stream = [word(rank) for rank in chosen.choices(range(WORDS), weights, k=2_000_000)]
    total = 0
    for file in range(-(-chunks // CHUNKS_A_FILE)):
        path = root / f"{file // FILES_A_DIRECTORY:03}" / f"f{file:06}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        sections = []
        for section in range(min(CHUNKS_A_FILE, chunks - file * CHUNKS_A_FILE)):
            at = chosen.randrange(len(stream) - WORDS_A_CHUNK)
            sections.append(f"# Section {file}.{section}\n\n{' '.join(stream[at : at + WORDS_A_CHUNK])}\n")
        text = "\n".join(sections)
        path.write_text(text)
        total += len(text)
    return total


def proportional_memory(root: int) -> int:
    """Bytes of memory of a process and all below it, shared pages shared out."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parent = int(Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry))
    total, waiting = 0, [root]
    while waiting:
        process = waiting.pop()
        waiting += children.get(process, [])
        try:
            rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        total += 1024 * sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return total


def run(data: Path, *words: str, watch: bool = False) -> tuple[float, int]:
    """Seconds and, if watched, peak memory of one command line."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "ragcli", *words],
        env={**os.environ, "RAGCLI_DATA_DIR": str(data)},
        stdout=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    peak = 0
    while watch and process.poll() is None:
        peak = max(peak, proportional_memory(process.pid))
        time.sleep(0.1)
    assert process.wait() in (0, 1), words  # 1: nothing found
    return time.perf_counter() - began, peak


def measure(chunks: int, folder: Path) -> list[str]:
    """One row of the table."""
    tree, data = folder / "tree", folder / "data"
    text = write_tree(tree, chunks)
    seconds, memory = run(data, "index", str(tree), "-s", "curve", "-q", watch=True)
    again, _ = run(data, "index", str(tree), "-s", "curve", "-q")
    size = sum(path.stat().st_size for path in data.rglob("*") if path.is_file())
    searches = [
        statistics.median(run(data, "search", query, "-s", "curve", "--json")[0] for _ in range(5))
        for query in (RARE, COMMON)
    ]
    return [
        f"{chunks:,}",
        f"{text / 1e6:.1f} MB",
        f"{seconds:.1f} s",
        f"{again:.2f} s",
        f"{size / text:.2f}",
        f"{memory / 2**20:.0f} MiB",
        *(f"{1000 * spent:.0f} ms" for spent in searches),
    ]


def main(counts: list[int]) -> None:
    """Print the table."""
    print("| chunks | text | first index | nothing changed | index ÷ text | memory | search, rare | search, common |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for chunks in counts:
        with tempfile.TemporaryDirectory(prefix="ragcli-curve-") as folder:
            print(f"| {' | '.join(measure(chunks, Path(folder)))} |", flush=True)


if __name__ == "__main__":
    main([int(argument.replace(",", "")) for argument in sys.argv[1:]] or [1_000, 10_000, 100_000])
