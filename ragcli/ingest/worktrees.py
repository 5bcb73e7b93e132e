"""Other checkouts of the repository that is walked: linked worktrees, whose files are copies or drafts of its own.

git does not list them either. Reads git's pointer files (`.git`, `commondir`) and nothing else.
"""

import os
import stat

from ragcli.ingest.repository import pointer

# Where agents keep worktrees of the repository they work on, whether git knows of them or not.
_OF_AGENTS = (".claude/worktrees", ".cursor/worktrees", ".codex/worktrees")


def is_agents_worktree(path: str) -> bool:
    """Whether a directory, by its path from the root, is a worktree that an agent made."""
    above = f"/{path.rpartition('/')[0]}"
    return any(above.endswith(f"/{place}") for place in _OF_AGENTS)


def repository_of(directory: str) -> str:
    """The git directory of the repository that a directory lies in, shared by all its worktrees; '' outside of any."""
    directory = os.path.realpath(directory)
    while True:
        if found := git_directory(directory):
            return found
        if directory == "/":
            return ""
        directory = os.path.dirname(directory)


def git_directory(directory: str) -> str:
    """The git directory that all worktrees of a directory's own repository share; '' where it is none's top."""
    git = os.path.join(directory, ".git")
    try:
        mode = os.lstat(git).st_mode
    except OSError:
        return ""
    if not stat.S_ISREG(mode):
        return os.path.realpath(git)
    target = pointer(git)
    if not target.startswith("gitdir: "):
        return ""
    git = os.path.realpath(os.path.join(directory, target.removeprefix("gitdir: ")))
    common = pointer(os.path.join(git, "commondir"))
    if common:
        return os.path.realpath(os.path.join(git, common))
    above, kind = os.path.split(os.path.dirname(git))
    return above if kind == "worktrees" else git


def is_linked(directory: str) -> bool:
    """Whether a directory is a checkout whose repository lies elsewhere: its `.git` is a file."""
    try:
        return stat.S_ISREG(os.lstat(os.path.join(directory, ".git")).st_mode)
    except OSError:
        return False
