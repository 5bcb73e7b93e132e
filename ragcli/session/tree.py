"""The tree that a session is of: what an index run is asked to do, and whether the session may take that tree."""

import os
from typing import NamedTuple

from ragcli.config.options import STANDARD, IndexOptions, RunOptions
from ragcli.errors import SourceRejectedError, UsageError
from ragcli.indexing.request import IndexRequest
from ragcli.session.locator import SessionPlace, root_key


class StoredTree(NamedTuple):
    """The tree of the last index run: `root` is '' before the first, `only` one file below it or ''."""

    root: str
    only: str
    options: IndexOptions


def root_of(path: str) -> tuple[str, str]:
    """A path as its real root and, for a file, its name there.

    UsageError where there is nothing, SourceRejectedError for a link to nothing.
    """
    if not os.path.lexists(path):
        piped = "a text from standard input is added with: ragcli add -"
        raise UsageError(f"{path} does not exist", piped if path == "-" else "name a directory or a file")
    real = os.path.realpath(path)
    if os.path.isdir(real):
        return real, ""
    if os.path.islink(path) and not os.path.exists(real):
        raise SourceRejectedError(f"{path} is a link to nothing", "name a directory or a file")
    return os.path.dirname(real), os.path.basename(real)


def index_request(
    place: SessionPlace,
    root: str,
    only: str,
    stored: StoredTree | None,
    options: IndexOptions | None,
    run: RunOptions,
) -> IndexRequest:
    """What to do to index a tree (see `root_of`) into a session. Without options, those of the last run are meant.

    UsageError where the session is another tree's.
    """
    if stored is not None:
        _check_root(place, stored, root, only, run.rebuild)
    if options is None:
        options = stored.options if stored is not None and stored.root else IndexOptions(limits=STANDARD)
    return IndexRequest(
        session=place.name or place.id,
        name=place.name,
        root=root,
        only=only,
        store=os.path.realpath(os.path.dirname(place.path)),
        root_key=root_key(os.path.join(root, only)),
        options=options,
        run=run,
    )


def _check_root(place: SessionPlace, stored: StoredTree, root: str, only: str, rebuild: bool) -> None:
    """A named session keeps its root while that is there; a directory's session has no other."""
    old = os.path.join(stored.root, stored.only)
    if not stored.root or old == os.path.join(root, only) or rebuild or not os.path.lexists(old):
        return
    raise UsageError(
        f"session {place.name or place.id} is of {old}, not of {os.path.join(root, only)}",
        "use another name, or give --rebuild to replace it",
    )
