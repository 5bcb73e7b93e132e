"""What ignore files of a tree may cost a walk: rules in force, and what holding them against names takes."""

import random
from pathlib import Path

import pytest

from ragcli.config.options import STANDARD, IndexOptions
from ragcli.errors import SourceRejectedError
from ragcli.ingest import ignore
from ragcli.ingest.walk import walk
from tests.bounded import bounded
from tests.engine import write

OPTIONS = IndexOptions(limits=STANDARD)


def nested(root: Path, levels: int, rules: int, rule: str) -> Path:
    """A chain of directories, each with an ignore file of its own; `rule` knows {level} and {n}."""
    directory = root
    for level in range(levels):
        text = "".join(rule.format(level=level, n=n) + "\n" for n in range(rules))
        write(directory, {".gitignore": text, **{f"f{n}.txt": "x" for n in range(5)}})
        directory = directory / "aab"
    return root


ATTACKS = {
    "nothing matches": "**/a*{level}x{n}*b/**/c?{n}",
    "all match, one segment is left": "**/a*b/**/c?{level}x{n}",
    "all match, paths are left": "**/a*b/**/d?{n}/**/e*{level}/f{n}",
    "deep and anchored": "/**/a*b/**/*{n}?/**/x{level}",
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize(("levels", "rules"), [(4, 1000), (60, 60)])
def test_rules_up_to_the_bound_cost_little(tmp_path: Path, attack: str, levels: int, rules: int) -> None:
    nested(tmp_path / "tree", levels, rules, ATTACKS[attack])

    done = bounded("index", str(tmp_path / "tree"), "--dry-run", data=tmp_path / "data", cwd=tmp_path, cpu=10)

    assert done.code == 0, done
    assert f"{levels * 5} new" in done.err


def test_more_rules_than_the_bound_are_refused_and_the_file_is_named(tmp_path: Path) -> None:
    nested(tmp_path / "tree", 60, 1000, ATTACKS["nothing matches"])

    done = bounded("index", str(tmp_path / "tree"), data=tmp_path / "data", cwd=tmp_path, cpu=10)

    assert done.code == 2
    assert "aab/aab/aab/aab/.gitignore" in done.err and "4,096 rules are in force there" in done.err
    assert bounded("index", str(tmp_path / "tree"), "--no-ignore", data=tmp_path / "data", cwd=tmp_path).code == 0


def test_more_bytes_than_the_bound_are_refused(tmp_path: Path) -> None:
    nested(tmp_path, 6, 60, "{n}" + "x" * 900 + "{level}")

    with pytest.raises(SourceRejectedError, match="262,144 bytes of rules are in force"):
        walk(str(tmp_path), OPTIONS)


def test_files_side_by_side_are_not_in_force_together(tmp_path: Path) -> None:
    for number in range(12):
        write(tmp_path, {f"d{number}/.gitignore": "".join(f"x{n}\n" for n in range(1000)), f"d{number}/a.txt": "x"})

    assert len(walk(str(tmp_path), OPTIONS).files) == 12


def test_very_many_rules_answer_as_few_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One expression of all rules, and one after the other."""
    random_ = random.Random(5)
    atoms = ["a", "b", "?", "*", "[ab]", "ab"]
    lines = ["".join(random_.choices(atoms, k=random_.randint(1, 4))) for _ in range(260)]
    lines = [("!" if random_.random() < 0.4 else "") + line + ("/" if random_.random() < 0.2 else "") for line in lines]
    names = {"".join(random_.choices("abc", k=random_.randint(1, 6))) for _ in range(300)}
    write(tmp_path, {".gitignore": "\n".join(lines), **{f"{name}.d/{name}": "x" for name in names}})
    write(tmp_path, {f"{name}x": "x" for name in names})
    many = [file.path for file in walk(str(tmp_path), OPTIONS).files]

    monkeypatch.setattr(ignore, "_MAX_JOINED", 10_000)
    joined = [file.path for file in walk(str(tmp_path), OPTIONS).files]

    assert many == joined
    assert 0 < len(many) < 2 * len(names)
