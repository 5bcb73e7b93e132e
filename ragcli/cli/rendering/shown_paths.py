"""How the paths of results read to people: relative to the working directory. Touches no file."""

import os

from ragcli.model import SearchResult


def shown_path(root: str, file: str, cwd: str) -> str:
    """Return a result's path relative to the working directory, safe to hand to another command."""
    if not root:
        return file
    path = f"{root.rstrip('/')}/{file}"
    inside = f"{cwd}/" if cwd != "/" else "/"
    relative = path[len(inside) :] if path.startswith(inside) else os.path.relpath(path, cwd)
    # A name that begins with a dash would read as an option behind `| xargs`.
    return f"./{relative}" if relative.startswith("-") else relative


def result_path(root: str, result: SearchResult, cwd: str) -> str:
    """Return the path of a result, below its own root where it has one; an added document shows as <id>."""
    return shown_path(result.root or root, result.file, cwd) if result.file else f"<{result.id}>"


def document_id(text: str) -> str:
    """Return the id in a name as results show it, or as it is."""
    return text[1:-1] if text.startswith("<") and text.endswith(">") else text


def working_directory() -> str:
    """Return the working directory, '/' where it is gone."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return "/"
