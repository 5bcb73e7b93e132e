"""What a walk leaves out by name alone: directories of tools and builds. Files of secrets are in `secret_names`.

The lists are data; no matching of ignore files, no input or output. Names are compared in lower case.
"""

from ragcli.documents import SkipReason

# Never indexed, whatever a flag or an ignore file says.
FORBIDDEN = frozenset((".aws", ".git", ".gnupg", ".kube", ".ssh"))
# These also leave out a file of that name (the `.git` file of a linked worktree), since they match any path component.
COMPONENTS = FORBIDDEN | {".hg", ".svn", "node_modules", "vendor"}
DIRECTORIES = COMPONENTS | {
    ".gradle", ".idea", ".next", ".vscode", "__pycache__", "build", "coverage", "dist", "out", "target",
    # Ours besides: environments and caches of Python tools.
    ".venv", "venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".cache",
}  # fmt: skip
IGNORE_FILES = (".gitignore", ".tnsignore")
NAMED_FILES = COMPONENTS | {*IGNORE_FILES}  # whose names need a second look


# Owner files that office programs keep beside an open document.
_LOCK_FILES = (("~$", ""), (".~lock.", "#"))
_APPLE_DOUBLE = "._", b"\x00\x05\x16\x07"  # the resource fork beside a file (RFC 1740)
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_LFS_MOST = 1024


def is_lock_file(name: str) -> bool:
    """Whether a name is that of an office program's lock; its bytes are no document, whatever its extension."""
    return any(name.startswith(start) and name.endswith(end) for start, end in _LOCK_FILES)


def stand_in(name: str, raw: bytes) -> SkipReason | None:
    """What a file stands in for another with: a pointer of Git LFS, a resource fork; None for a file of its own."""
    if len(raw) <= _LFS_MOST and raw.startswith(_LFS_POINTER):
        return SkipReason.LFS_POINTER
    prefix, magic = _APPLE_DOUBLE
    return SkipReason.APPLE_DOUBLE if name.startswith(prefix) and raw.startswith(magic) else None
