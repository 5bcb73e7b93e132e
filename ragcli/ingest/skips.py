"""What a walk leaves out by name alone: directories of tools and builds. Files of secrets are in `secret_names`.

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
IGNORE_FILES = (".gitignore", ".tnsignore")
NAMED_FILES = COMPONENTS | {*IGNORE_FILES}  # whose names need a second look
