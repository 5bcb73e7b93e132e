"""What one index run is asked to do, as a plain value."""

from typing import NamedTuple

from ragcli.config.options import IndexOptions, RunOptions


class IndexRequest(NamedTuple):
    """One index run: what to index and how. `only` is one file below the root, '' for the whole tree; `store` is the
    directory that holds the sessions, which is never a part of a tree."""

    session: str
    name: str
    root: str
    options: IndexOptions
    only: str = ""
    store: str = ""
    root_key: tuple[int, int] = (0, 0)
    run: RunOptions = RunOptions()
