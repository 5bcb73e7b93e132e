"""Where a relative path of a declaration leads, and whether a tree may name it."""

import os
import re

from ragcli.errors import UsageError
from ragcli.knowledge.values import KnowledgeEntry, Layer, SourceType

_URL = r"[A-Za-z][A-Za-z0-9+.-]+://"


class KnowledgePaths:
    """Resolves paths as the readers of sources do."""

    @staticmethod
    def resolve(path: str | os.PathLike[str], base: str | os.PathLike[str] | None = None) -> str:
        """An absolute, normalized path; relative ones count from `base`, the working directory where it is None.

        A URL is returned as written.
        """
        text = os.fspath(path)
        if re.match(_URL, text):
            return text
        return os.path.abspath(os.path.join(os.fspath(base) if base is not None else os.curdir, text))


def resolved(entry: KnowledgeEntry, base_directory: str = "") -> str:
    """Where an entry's documents are: an absolute path, a URL or connection as written, '' for none."""
    if entry.source.type is not SourceType.FILE:
        return entry.location
    return KnowledgePaths.resolve(entry.source.path, _base(entry.origin.layer, entry.origin.base, base_directory))


def is_configured(entry: KnowledgeEntry, base_directory: str = "") -> bool:
    """Whether a higher layer gave the entry another location than its declaration resolves to."""
    if entry.declared is None:
        return bool(entry.location)
    text, base = entry.declared
    if entry.source.type is not SourceType.FILE:
        return text != entry.location
    declared = KnowledgePaths.resolve(text, _base(Layer.DECLARATION, base, base_directory))
    return declared != resolved(entry, base_directory)


def check_reach(entry: KnowledgeEntry, base_directory: str = "") -> None:
    """Refuse what a tree declares outside itself; UsageError names the entry and what would allow it.

    The tree is what holds the file that gave the location; `base_directory`, which the user gave, counts as part of it.
    """
    root = entry.origin.root
    if not root or not entry.location:
        return
    where = f"{entry.origin.file}: {entry.origin.key}"
    hint = "allow it with --allow-outside, or allow_outside = true in your own settings"
    if entry.source.type is not SourceType.FILE:
        raise UsageError(f"{where}: the source {entry.name} of this tree reaches out of it ({entry.source.type})", hint)
    place = os.path.realpath(resolved(entry, base_directory))
    roots = [os.path.realpath(one) for one in (root, base_directory) if one]
    if not any(is_inside(place, one) for one in roots):
        raise UsageError(f"{where}: the source {entry.name} of this tree leads out of it, to {place}", hint)


def is_inside(path: str, root: str) -> bool:
    """Whether a real path is a real directory or below it."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def shown_url(url: str) -> str:
    """A URL for a message: without user, password and query."""
    from urllib.parse import urlsplit, urlunsplit

    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        return urlunsplit((parts.scheme, host + (f":{parts.port}" if parts.port else ""), parts.path, "", ""))
    except ValueError:
        return "a URL that makes no sense"


def _base(layer: Layer, base: str, base_directory: str) -> str | None:
    """A run file's path counts from its own directory, any other from the base directory where there is one."""
    if layer is Layer.RUN_FILE:
        return base
    return base_directory or base or None
