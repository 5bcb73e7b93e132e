"""Write a session of today's format, and what it must answer for as long as that format is read.

    python -m tests.compat.make VERSION

Run it once for each format version, then never again: what it wrote is what people have on their disks.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from ragcli.config.options import QueryOptions
from ragcli.session.json_output import listing_value, outcome_value, status_value, stored_value
from ragcli.session.service import RagService
from ragcli.store.directory import RamDirectory
from tests.engine import index, service, write
from tests.office_files import docx, inline, paragraph, pptx, shape, xlsx
from tests.pdf_files import pdf, shown
from tests.test_extract_epub import book, page

FOLDER = Path(__file__).parent
QUERIES = ("kiwi", "harbour basket", "total", "added")
TREE: dict[str, str | bytes] = {
    "src/shop.py": 'class Basket:\n    """Holds kiwis."""\n\n    def total(self):\n        return kiwi_price * 3\n',
    "src/odd.py": "def broken(:\n    kiwi = \n" * 3,
    "src/plain.sh": "echo kiwi harbour\n",
    "docs/guide.md": "# Guide\n\nThe harbour.\n\n## Kiwi\n\nA kiwi in a basket.\n",
    "data/prices.csv": "fruit,price\n" + "kiwi,3\nplum,4\n" * 60,
    "data/stock.json": json.dumps({"kiwi": {"count": [3] * 90}, "harbour": ["north", "south"] * 40}, indent=1),
    "data/log.jsonl": '{"kiwi": 1}\n{"plum": 2}\n',
    "data/fruit.xml": "<fruits><fruit><name>kiwi</name></fruit></fruits>\n",
    "page.html": "<title>Kiwi page</title><h1>Kiwi</h1><p>harbour basket</p>",
    "note.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": ["kiwi = 1"], "outputs": []},
                                        {"cell_type": "markdown", "source": ["# Harbour"]}],
                              "metadata": {}, "nbformat": 4, "nbformat_minor": 5}),
    "latin.txt": "kiwi à la carte, très bien, voilà le déjeuner préféré\n".encode("latin-1"),
    "empty.txt": "",
    "report.docx": docx(paragraph("A kiwi in the harbour")),
    "prices.xlsx": xlsx({"Fruit": f'<row r="1">{inline("A1", "kiwi")}{inline("B1", "harbour")}</row>'}),
    "show.pptx": pptx([shape("kiwi show", placeholder="title"), shape("harbour")]),
    "paper.pdf": pdf(shown("kiwi paper"), shown("harbour page")),
    "book.epub": book({"a": "1.xhtml"}, ["a"], {"1.xhtml": page("<h1>Kiwi chapter</h1><p>basket</p>", "One")}),
    "broken.pdf": b"%PDF-1.4 broken",
    "gone.txt": "kiwi gone\n",
}  # fmt: skip
ADDED = (("added kiwi one", {"topic": "fruit", "number": 1}), ("added harbour\r\ntwo", {"kind": "own", "good": True}))


def answers(rag: RagService) -> dict[str, Any]:
    """All that is stored, and the plain fusion's order of it, which no later ranking changes."""
    options = QueryOptions(signals=False, max_per_file=9)
    status = status_value(rag.get_status())
    for key in ("bytes", "last_indexed", "root", "session"):
        status.pop(key, None)
    searches = {}
    for query in QUERIES:
        results: Any = outcome_value(rag.query(query, 20, options))["results"]
        searches[query] = [
            {key: value for key, value in hit.items() if key not in ("stale", "line")} for hit in results
        ]
    return {
        "status": status,
        "searches": searches,
        "documents": listing_value(rag.list_documents(), [])["documents"],
        "stored": [stored_value(rag.show(info.file)) for info in rag.list_files()],
        "failed": listing_value([], rag.list_failed())["files"],
    }


def main(version: str) -> None:
    """Write the session's directory, its export and its answers below this directory."""
    directory = RamDirectory()
    rag = service(directory)
    with tempfile.TemporaryDirectory() as folder:
        root = write(Path(folder) / "tree", TREE)
        index(rag, root)
        for text, metadata in ADDED:
            rag.add_document(text, metadata)
        (root / "gone.txt").unlink()
        index(rag, root)
    target = FOLDER / version
    (target / "session").mkdir(parents=True)
    for name, raw in directory.files.items():
        (target / "session" / name).write_bytes(raw)
    with open(target / "session.tar", "wb") as file:
        rag.export(file)
    text = json.dumps(answers(rag), indent=1, ensure_ascii=True, sort_keys=True)
    (target / "answers.json").write_text(text + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
