"""A loader of database sources, as a package would bring one: the rows of a query on an SQLite file."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

from ragcli import Document

ENTRY_POINTS = "[ragcli.sources]\nsqlite = tests.sqlite_source:load\n"


def load(connection: str, query: str) -> Iterator[Document]:
    """Give each row as a document: the first column is its text, the others its metadata."""
    path = connection.removeprefix("sqlite:")
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        cursor = database.execute(query)
        names = [column[0] for column in cursor.description]
        for row in cursor:
            yield Document("", str(row[0]), {name: str(value) for name, value in zip(names[1:], row[1:], strict=True)})
