"""Folders of public test collections: queries and judgements (qrels) as BEIR and TREC write them.

Documents are not read: they are the indexed files, named by their ids.
"""

import os
import re
from collections.abc import Iterator

from ragcli.errors import UsageError
from ragcli.evaluation.judgements import JudgedQuery, Target, json_rows, read_text

_TOPIC = re.compile(r"<top>(.*?)</top>", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"<num>\s*(?:Number:)?\s*([^\s<]+)", re.IGNORECASE)
_TITLE = re.compile(r"<title>\s*(?:Topic:)?\s*(.*?)\s*(?:</title>|<desc>|<narr>|$)", re.DOTALL | re.IGNORECASE)
_SHAPE = "a folder has queries.jsonl, queries.tsv or topics*, and qrels.tsv, qrels/test.tsv or qrels*"


def read_folder(folder: str) -> list[JudgedQuery]:
    """Read a folder's queries, each with its documents judged above 0; queries without any are left out.

    UsageError where a file is missing or a line makes no sense.
    """
    queries = dict(_queries(folder))
    judged: dict[str, list[Target]] = {}
    for query, document, grade in _judgements(_qrels(folder)):
        if grade > 0:
            judged.setdefault(query, []).append(Target(document, frozenset((document,)), grade=grade))
    unknown = next((query for query in judged if query not in queries), None)
    if unknown is not None and not any(query in queries for query in judged):
        raise UsageError(f"{folder}: the judgements are of other queries ({unknown})", _SHAPE)
    return [
        JudgedQuery(id, text, tuple({target.name: target for target in judged[id]}.values()), category)
        for id, (text, category) in queries.items()
        if id in judged
    ]


def _queries(folder: str) -> Iterator[tuple[str, tuple[str, str]]]:
    names = sorted(os.listdir(folder))
    if "queries.jsonl" in names:
        yield from _beir_queries(os.path.join(folder, "queries.jsonl"))
        return
    if "queries.tsv" in names:
        path = os.path.join(folder, "queries.tsv")
        for line_number, line in enumerate(read_text(path).splitlines(), 1):
            id, tab, text = line.partition("\t")
            if tab and text.strip():
                yield id.strip(), (text.strip(), "")
            elif line.strip():
                raise UsageError(
                    f"{path}:{line_number}: not an id and a query", "one query a line: ID, a tab, the text"
                )
        return
    topics = [name for name in names if name.startswith("topics")]
    if not topics:
        raise UsageError(f"{folder} has no queries", _SHAPE)
    for name in topics:
        for topic in _TOPIC.findall(read_text(os.path.join(folder, name))):
            number, title = _NUMBER.search(topic), _TITLE.search(topic)
            if number and title and title[1]:
                yield number[1], (" ".join(title[1].split()), "")


def _beir_queries(path: str) -> Iterator[tuple[str, tuple[str, str]]]:
    for where, row in json_rows(path, read_text(path)):
        id, text = row.get("_id", row.get("id")), row.get("text", row.get("query"))
        if id is None or not isinstance(text, str):
            raise UsageError(f"{where}: no _id or no text", 'such as: {"_id": "1", "text": "what is a wing"}')
        category = row.get("category")
        yield str(id), (text, category if isinstance(category, str) else "")


def _qrels(folder: str) -> str:
    """The judgements of a folder: those of the test split where there are several."""
    found = [name for name in sorted(os.listdir(folder)) if "qrels" in name]
    inside = os.path.join(folder, "qrels")
    if os.path.isdir(inside):
        splits = sorted(os.listdir(inside))
        found = [
            os.path.join("qrels", name) for name in ("test.tsv", "dev.tsv", "train.tsv", *splits) if name in splits
        ]
    files = [os.path.join(folder, name) for name in found]
    path = next((path for path in files if os.path.isfile(path)), None)
    if path is None:
        raise UsageError(f"{folder} has no judgements", _SHAPE)
    return path


def _judgements(path: str) -> Iterator[tuple[str, str, float]]:
    """Yield (query, document, grade) of `query document grade` or `query iteration document grade`, a line each."""
    for number, line in enumerate(read_text(path).splitlines(), 1):
        cells = line.split("\t") if "\t" in line else line.split()
        if not line.strip():
            continue
        try:
            grade = float(cells[-1])
        except ValueError:
            if number == 1:  # BEIR's header
                continue
            grade = float("nan")
        if len(cells) not in (3, 4) or not abs(grade) < float("inf"):
            raise UsageError(f"{path}:{number}: not a judgement", "columns: query, (iteration,) document, grade")
        yield cells[0].strip(), cells[-2].strip(), grade
