"""What `-t`, `--format` and `-g` mean: aliases and extensions, unknown values, and what meets no file."""

from pathlib import Path

import pytest

from ragcli.config.options import QueryOptions, SearchFilter
from ragcli.errors import UsageError
from ragcli.session.service import RagService
from tests.cases import Done, indexed, run
from tests.engine import write

TREE = {
    "a.py": "def zqlang(): pass\n", "b.js": "function zqlang() {}\n", "c.tsx": "export const zqlang = 1;\n",
    "d.cpp": "int zqlang;\n", "d.h": "int zqlang;\n", "e.md": "# zqlang\n", "f.rst": "zqlang\n", "g.txt": "zqlang\n",
    "h.yml": "zqlang: 1\n", "i.rb": "def zqlang; end\n", "j.sh": "zqlang() { :; }\n", "k.cs": "class zqlang {}\n",
    "l.ipynb": '{"cells": [{"cell_type": "markdown", "metadata": {}, "source": ["zqlang"]}], "metadata": {},'
    ' "nbformat": 4, "nbformat_minor": 5}',
}  # fmt: skip


@pytest.fixture(scope="module")
def rag(tmp_path_factory: pytest.TempPathFactory) -> RagService:
    return indexed(write(tmp_path_factory.mktemp("tree"), dict(TREE)))


def found(rag: RagService, **where: tuple[str, ...]) -> set[str]:
    return {r.file for r in rag.query("zqlang", 50, QueryOptions(where=SearchFilter(**where))).results}


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("py", "a.py"), ("python", "a.py"), ("PY", "a.py"), (".py", "a.py"), ("python3", "a.py"),
        ("js", "b.js"), ("mjs", "b.js"), ("node", "b.js"), ("ts", "c.tsx"), ("tsx", "c.tsx"), ("typescript", "c.tsx"),
        ("c++", "d.cpp"), ("cpp", "d.cpp"), ("hpp", "d.cpp"), ("h", "d.h"),
        ("md", "e.md"), ("markdown", "e.md"), ("rst", "f.rst"), ("txt", "g.txt"), ("yaml", "h.yml"), ("yml", "h.yml"),
        ("rb", "i.rb"), ("sh", "j.sh"), ("bash", "j.sh"), ("cs", "k.cs"), ("c#", "k.cs"), ("csharp", "k.cs"),
        ("ipynb", "l.ipynb"), ("jupyter", "l.ipynb"),
    ],
)  # fmt: skip
def test_a_type_goes_by_its_name_its_aliases_and_its_extensions(rag: RagService, name: str, files: str) -> None:
    assert found(rag, languages=(name,)) == set(files.split())


@pytest.mark.parametrize(
    ("name", "file"), [("md", "e.md"), ("Markdown", "e.md"), ("yml", "h.yml"), ("ipynb", "l.ipynb")]
)
def test_a_format_goes_by_its_name_and_its_extensions(rag: RagService, name: str, file: str) -> None:
    assert found(rag, formats=(name,)) == {file}
    assert found(rag, formats=("source-code",)) >= {"a.py", "b.js"}


@pytest.mark.parametrize(
    ("kind", "value", "meant"),
    [
        ("languages", "pyton", "did you mean python?"),
        ("languages", "nosuch", "this index has"),
        ("formats", "markdwon", "did you mean markdown?"),
        ("formats", "nosuch", "this index has"),
        ("formats", "auto", "this index has"),
    ],
)
def test_an_unknown_type_or_format_is_an_error_that_names_what_there_is(
    rag: RagService, kind: str, value: str, meant: str
) -> None:
    with pytest.raises(UsageError, match=f"unknown .* {value}") as failed:
        found(rag, **{kind: (value,)})

    assert meant in (failed.value.hint or "")
    assert ("python" if kind == "languages" else "MARKDOWN") in (failed.value.hint or "")


def test_what_is_known_and_not_in_the_index_is_said_and_finds_nothing(rag: RagService) -> None:
    for where, said in (
        (SearchFilter(languages=("kotlin",)), "no file of this index is of type kotlin; it has "),
        (SearchFilter(formats=("pdf",)), "no file of this index is of format pdf; it has "),
        (SearchFilter(globs=("nosuch/**",)), "-g nosuch/** matches no indexed file"),
        (SearchFilter(globs=("*.md", "!nosuch")), "-g !nosuch matches no indexed file"),
    ):
        outcome = rag.query("zqlang", 50, QueryOptions(where=where))
        assert any(notice.startswith(said) for notice in outcome.notices), outcome.notices
    assert rag.query("zqlang", 50, QueryOptions(where=SearchFilter(globs=("*.md",)))).notices == []


def test_the_command_line_says_so_and_exits_with_the_right_code(tmp_path: Path) -> None:
    tree, data = write(tmp_path / "tree", dict(TREE)), tmp_path / "data"
    assert run("index", ".", data=data, cwd=tree).code == 0

    def asked(*words: str) -> Done:
        return run("search", "zqlang", *words, data=data, cwd=tree)

    assert asked("-t", "py").code == 0
    unknown = asked("-t", "nosuch")
    assert (unknown.code, unknown.out) == (2, b"") and "unknown language nosuch" in unknown.err
    assert asked("--format", "nosuch").code == 2
    empty = asked("-g", "nosuch/**")
    assert empty.code == 1 and "-g nosuch/** matches no indexed file" in empty.err
    prompted = run("prompt", "zqlang", "-g", "nosuch/**", data=data, cwd=tree)
    assert prompted.out == b"zqlang\n" and "matches no indexed file" in prompted.err
