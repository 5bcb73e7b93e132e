"""Writes completions/ and man/ from the live command tree: `python -m ragcli.cli.reference.generate [DIRECTORY]`."""

import sys
from pathlib import Path

from ragcli.cli.app import tree
from ragcli.cli.reference.man import pages
from ragcli.cli.reference.shells import FILE_NAMES, SCRIPTS


def generated() -> dict[str, str]:
    """Return every generated file, by its path below the project."""
    commands = tree()
    files = {f"completions/{FILE_NAMES[shell]}": make(commands) for shell, make in SCRIPTS.items()}
    return files | {f"man/{name}": text for name, text in pages(commands).items()}


def main(directory: str = ".") -> None:
    """Write the generated files; pages of commands that are gone are removed."""
    files = generated()
    for folder in ("completions", "man"):
        Path(directory, folder).mkdir(exist_ok=True)
    for old in Path(directory, "man").glob("ragcli*.1"):
        if f"man/{old.name}" not in files:
            old.unlink()
    for name, text in files.items():
        Path(directory, name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:2])
