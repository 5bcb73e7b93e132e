"""Cases after public bug reports about chunks and source code. The id of a case stands in the name of its test."""

from itertools import pairwise
from pathlib import Path

import pytest

from ragcli.config.options import STANDARD, IndexOptions
from ragcli.errors import UsageError
from ragcli.model import SearchResult
from ragcli.session.service import RagService
from tests.cases import indexed, run
from tests.engine import index, service, write

# -- limits

PLAIN = {
    "short.txt": "".join(f"zql{number:03}\n" for number in range(400)),
    "noblank.txt": "a" * 5000,
    "cjk.txt": "".join(chr(0x4E00 + number * 37 % 2000) for number in range(3000)),
    "tiny.txt": "zqt",
    "exact.txt": ("amber basin cedar delta " * 42)[:999] + ".",
}


def limited(**limits: int) -> IndexOptions:
    return IndexOptions(limits=STANDARD._replace(**limits))


@pytest.mark.parametrize(("lines", "size"), [(100, 16_384), (100, 1_000), (100, 100), (7, 49), (1, 50), (3, 5), (1, 4)])
def test_whatever_the_limits_chunking_advances_and_covers_the_file(tmp_path: Path, lines: int, size: int) -> None:
    """ragcli has no overlap, so the case's second setting has nothing to set: the contract's chunks tile the file."""
    rag = indexed(write(tmp_path, dict(PLAIN)), options=limited(max_chunk_lines=lines, max_chunk_bytes=size))

    for name, text in PLAIN.items():
        chunks = rag.show(name).chunks
        assert "".join(chunk.content for chunk in chunks) == text
        assert all(0 < len(chunk.content.encode()) <= size for chunk in chunks)
        assert all(chunk.end_line - chunk.start_line < lines for chunk in chunks)
        assert all(before.start_line <= after.start_line for before, after in pairwise(chunks))
        assert len({chunk.id for chunk in chunks}) == len(chunks)
    assert len(rag.show("tiny.txt").chunks) == 1
    assert (len(rag.show("exact.txt").chunks) == 1) == (size >= 1_000)


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("max_chunk_lines", 0),
        ("max_chunk_lines", -5),
        ("max_chunk_bytes", 3),
        ("max_chunk_bytes", -1),
        ("max_chunks", 0),
    ],
)
def test_limits_that_cannot_advance_are_refused_before_any_work(tmp_path: Path, limit: str, value: int) -> None:
    tree = write(tmp_path / "tree", {"a.txt": "zqlimit\n"})
    rag = service()
    index(rag, tree)
    (tree / "a.txt").write_text("zqlimit changed\n")

    with pytest.raises(UsageError, match=f"{limit}={value}"):
        index(rag, tree, limited(**{limit: value}))

    assert rag.list_failed() == []
    assert rag.show("a.txt").text == "zqlimit\n"


def test_the_command_line_refuses_them_too_and_makes_no_session(tmp_path: Path) -> None:
    for words in (("--max-chunk-bytes", "3"), ("--max-chunk-lines", "0")):
        done = run("index", str(tmp_path), *words, data=tmp_path / "data")
        assert done.code == 2
        assert words[0] in done.err
    assert not (tmp_path / "data").exists()


# -- one tree, a directory for each case

NAMES = ("open_valve", "close_valve", "read_gauge", "log_state")
APP = '''"""Module doc."""
import os
LIMIT = "zqconst"


def handler_a():
    return 1


# zqcomment about b

@route("/b")
@cached
def handler_b():
    """Doc b."""
    return "zqbodyb"


class Outer:
    """Outer doc."""
    class Inner:
        def deep(self):
            return "zqdeepmethod"


if __name__ == "__main__":
    print("zqmainblock")
'''
SHOP = """package x;

public class Shop {
    /** zqjavadoc total of the basket. */
    @Override
    public int total(int a) {
        return a;
    }

    private static final int MAX = 9; // zqfield
}
"""
STORE = """/** zqjsdoc load everything */
export const loadAll = async (id: number): Promise<void> => {
  await go(id);
};

export function pick(a: string): string;
export function pick(a: number): number;
export function pick(a: any) {
  return a; // zqimpl
}

@Injectable()
export class Store {
  get size() { return 1; }
}
"""
DOC = """---
title: x
# not a heading
---

# Main Guide

Intro zqintro.

```bash
# install zqfence
pip install x
```

~~~py
# setup note
y = 2
~~~

````md
```
# nested
```
````

    # indented

#hashtag line

####### seven

<!--
# hidden
-->

Second Part
---

## Third ##

zqthird text
"""
SOURCES: dict[str, str | bytes] = {
    "places/arrows.py": "# → — π 🦊 header\n# état: naïve\n\n\n"
    + "".join(f"def {name}(state):\n    # → {name} — 🦊\n    return state + 'π'\n\n\n" for name in NAMES),
    "places/han.js": "// 说明文字 🦊\nfunction 计算总和(甲, 乙) {\n  return 甲 + 乙; // 加法\n}\n\n"
    "function drawAll(项) {\n  return '全部' + 项;\n}\n",
    "places/combining.py": "# cafe\u0301 re\u0301sume\u0301\ndef zqcomb():\n    return 'e\u0301'\n",
    "places/bom.py": b"\xef\xbb\xbfdef zqbomfn():\n    return 1\n",
    "decorated/app.py": APP,
    "decorated/Shop.java": SHOP,
    "decorated/store.ts": STORE,
    "decorated/one.go": "package main\n\n// zqgodoc says what Run does.\nfunc Run() int {\n\treturn 1\n}\n",
    "unparsed/broken.py": "import os\n\ndata = [1, 2,\n\n\ndef after_error():\n    return 'zqbroken'\n",
    "unparsed/old.py": "def old():\n    print 'zqpytwo'\n",
    "unparsed/template.py": "{% if x %}\ndef {{ name }}():\n    return 'zqjinja'\n{% endif %}\n",
    "unparsed/legacy.cob": "       IDENTIFICATION DIVISION.\n       PROGRAM-ID. ZQ.\n       PROCEDURE DIVISION.\n"
    "           DISPLAY 'zqcobol'.\n",
    "unparsed/README": "Read zqreadme first.\n",
    "unparsed/large.py": "".join(f"def f{number}():\n    return {number}\n\n" for number in range(4000))
    + "ZQ = 'zqlarge'\n",
    "unparsed/mixed_tabs.py": "def a():\n\tx = 1\n        return 'zqtabs'\n",
    "headings/doc.md": DOC,
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("source"), dict(SOURCES))


@pytest.fixture(scope="module")
def rag(root: Path) -> RagService:
    return indexed(root)


def symbols(rag: RagService, name: str) -> dict[object, SearchResult]:
    """The chunks of a file by their qualified symbols."""
    return {chunk.metadata.get("qualified_symbol"): chunk for chunk in rag.show(name).chunks}


def span(chunk: SearchResult) -> tuple[int, int]:
    return chunk.start_line, chunk.end_line


def place(rag: RagService, query: str) -> tuple[str, str]:
    """The file of the first hit, and the symbol."""
    result = rag.search(query, 1)[0]
    return result.file, str(result.metadata.get("symbol", ""))


def test_symbols_keep_their_places_behind_letters_of_several_bytes(rag: RagService) -> None:
    found = symbols(rag, "places/arrows.py")
    assert [*found] == [None, *NAMES]
    for name, line in zip(NAMES, (5, 10, 15, 20), strict=True):
        assert span(found[name]) == (line, line + 2)
        assert found[name].content.startswith(f"def {name}(state):\n    # → {name} — 🦊\n")
    assert {name: span(chunk) for name, chunk in symbols(rag, "places/han.js").items()} == {
        "计算总和": (1, 4),
        "drawAll": (6, 8),
    }
    assert [*symbols(rag, "places/combining.py")] == ["zqcomb"]
    (chunk,) = rag.show("places/bom.py").chunks
    assert (chunk.metadata["symbol"], chunk.start_line) == ("zqbomfn", 1)
    assert chunk.content.startswith("def zqbomfn")


def test_decorators_comments_and_the_code_between_have_their_chunks(rag: RagService) -> None:
    found = symbols(rag, "decorated/app.py")
    assert span(found["handler_b"]) == (12, 16)
    assert found["handler_b"].metadata["symbol_end_line"] == 16
    assert span(found["Outer.Inner.deep"]) == (22, 23)
    assert {"handler_a", "Outer"} <= {*found}
    total = symbols(rag, "decorated/Shop.java")["Shop.total"]
    assert total.start_line == 4
    assert "zqjavadoc" in total.content
    assert "zqjsdoc" in symbols(rag, "decorated/store.ts")["loadAll"].content
    assert span(symbols(rag, "decorated/one.go")["Run"]) == (3, 6)
    assert place(rag, "zqjavadoc") == ("decorated/Shop.java", "total")
    assert place(rag, "zqgodoc") == ("decorated/one.go", "Run")
    for name in ("app.py", "Shop.java", "store.ts", "one.go"):
        whole = "".join(chunk.content for chunk in rag.show(f"decorated/{name}").chunks)
        assert whole == SOURCES[f"decorated/{name}"]


def test_what_does_not_parse_is_found_all_the_same(rag: RagService) -> None:
    for word, name in (("zqbroken", "broken.py"), ("zqpytwo", "old.py"), ("zqjinja", "template.py"),
                       ("zqcobol", "legacy.cob"), ("zqreadme", "README"), ("zqlarge", "large.py"),
                       ("zqtabs", "mixed_tabs.py")):  # fmt: skip
        assert place(rag, word)[0] == f"unparsed/{name}", word
    after = symbols(rag, "unparsed/broken.py")["after_error"]
    assert span(after) == (6, 7)
    assert after.metadata["fallback_reason"] == "parse-failed"
    assert symbols(rag, "unparsed/legacy.cob")["ZQ"].metadata["fallback_reason"] == "grammar-unavailable"
    assert rag.list_failed() == []
    assert all(info.chunks >= 1 for info in rag.list_files())


def test_only_headings_are_headings_and_fences_stay_whole(rag: RagService) -> None:
    chunks = rag.show("headings/doc.md").chunks
    assert [chunk.metadata["heading"] for chunk in chunks] == [
        "Main Guide",
        "Main Guide > Second Part",
        "Main Guide > Third",
    ]
    fence = rag.search("zqfence", 1)[0]
    assert fence.metadata["heading"] == "Main Guide"
    assert "```bash\n# install zqfence\npip install x\n```\n" in fence.content
    assert rag.search("zqthird", 1)[0].metadata["heading"] == "Main Guide > Third"


def test_lines_are_those_of_the_word(root: Path, tmp_path: Path) -> None:
    assert run("index", str(root), data=tmp_path).code == 0
    lines = {
        "zqconst": "decorated/app.py:3", "zqmainblock": "decorated/app.py:27", "zqfield": "decorated/Shop.java:10",
        "zqbroken": "unparsed/broken.py:7", "zqlarge": "unparsed/large.py:12001", "zqfence": "headings/doc.md:11",
        "zqthird": "headings/doc.md:41",
    }  # fmt: skip
    done = run("search", *lines, "-k", "30", data=tmp_path, cwd=root)
    for word, place_of_word in lines.items():
        (line,) = [line for line in done.out.decode().splitlines() if word in line]
        assert line.startswith(f"{place_of_word}:"), line
