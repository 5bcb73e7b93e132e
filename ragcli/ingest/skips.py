"""What a walk leaves out by name alone: directories of tools and builds, and files that hold secrets.

The lists are data; no matching of ignore files, no input or output. Names are compared in lower case.
"""

# Never indexed, whatever a flag or an ignore file says.
FORBIDDEN = frozenset((".aws", ".git", ".gnupg", ".kube", ".ssh"))
# These also leave out a file of that name (the `.git` file of a linked worktree), since they match any path component.
COMPONENTS = FORBIDDEN | {".hg", ".svn", "node_modules", "vendor"}
DIRECTORIES = COMPONENTS | {
    ".gradle", ".idea", ".next", ".vscode", "__pycache__", "build", "coverage", "dist", "out", "target",
    # Ours besides: environments and caches of Python tools.
    ".venv", "venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".cache",
}  # fmt: skip
SECRET_NAMES = frozenset(
    (".env", ".git-credentials", ".netrc", ".npmrc", ".pypirc", "id_dsa", "id_ecdsa", "id_ed25519", "id_rsa")
)
SECRET_PREFIX = ".env."
IGNORE_FILES = (".gitignore", ".tnsignore")
NAMED_FILES = SECRET_NAMES | COMPONENTS | {*IGNORE_FILES}  # whose names need a second look


def secret_rule(name: str) -> str:
    """Name the rule that makes a file of this name a secret; '' when none does."""
    lower = name.lower()
    if lower in SECRET_NAMES:
        return lower
    return SECRET_PREFIX + "*" if lower.startswith(SECRET_PREFIX) else ""
