"""Stores that somebody crafted: sound in every checksum, and nonsense inside. An answer or exit 5, never a bug."""

import io
import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import pytest

from ragcli.errors import IndexCorruptError, RagError
from ragcli.session import json_output
from ragcli.session.service import RagService
from ragcli.store.codec import decode, encode
from ragcli.store.directory import RamDirectory
from ragcli.store.document_file import DOCUMENTS_KIND
from ragcli.store.snapshots import CURRENT, CURRENT_KIND, MANIFEST_KIND, PENDING, PENDING_KIND, SnapshotStore
from ragcli.store.stat_cache import STAT_KIND
from tests.compat.make import TREE
from tests.engine import index, service, write
from tests.exports import checked, components_of, payload_of

Files = dict[str, bytes]
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 0.5, float("nan"), float("inf"), "", "x", "\udcff", "\0",
    "../../etc/passwd", "\x1b[2J", b"", b"x" * 40, [], {}, [[]], {"a": 1}, {1: 2}, [None] * 3,
)  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("crafted") / "tree", TREE)


@pytest.fixture(scope="module")
def sound(tree: Path) -> Files:
    """A session with all kinds of documents, deleted ones, added ones, and a segment that waits for the next run."""
    directory = RamDirectory()
    rag = service(directory)
    index(rag, tree)
    (tree / "gone.txt").unlink()
    for text in ("added kiwi one", "added harbour two"):
        rag.add_document(text, {"topic": "fruit", "number": 1})
    index(rag, tree)
    other = RamDirectory()
    index(service(other), write(tree.parent / "other", {"late.txt": "kiwi late\n", "later.md": "# Kiwi\n"}))
    (late,) = [name for name in other.files if name.endswith(".segment")]
    directory.files[late] = other.files[late]
    directory.files[PENDING] = encode(PENDING_KIND, PENDING, [late])
    return directory.files


def kind_of(name: str) -> bytes:
    kinds = {"manifest": MANIFEST_KIND, "stat": STAT_KIND, "documents": DOCUMENTS_KIND}
    return {CURRENT: CURRENT_KIND, PENDING: PENDING_KIND}.get(name) or kinds[name.rpartition(".")[2]]


def altered(value: Any, random_: random.Random) -> Any:
    """A value with something else somewhere in it."""
    if isinstance(value, dict | list) and value and random_.random() < 0.85:
        copy: Any = dict(value) if isinstance(value, dict) else list(value)
        key = random_.choice(list(copy)) if isinstance(copy, dict) else random_.randrange(len(copy))
        what = random_.random()
        if what < 0.7:
            copy[key] = altered(copy[key], random_)
        elif what < 0.8:
            del copy[key]
        elif isinstance(copy, list):
            copy.append(copy[key])
        else:
            copy[random_.choice(("x", 1, None, b"k"))] = copy[key]
        return copy
    if type(value) is int and random_.random() < 0.4:
        return value + random_.choice((-1, 1, 7, 1000))
    if isinstance(value, bytes) and value and random_.random() < 0.6:
        at = random_.randrange(len(value))
        return value[:at] + random_.randbytes(random_.choice((0, 1, 4))) + value[at + 1 :]
    return random_.choice(VALUES)


def crafted_segment(raw: bytes, random_: random.Random) -> bytes:
    """Another payload under right checksums: other bytes in a component, another header, or other rows."""
    payload = bytearray(payload_of(raw))
    places = {name: place for name, place in components_of(bytes(payload)).items() if place[1]}
    if random_.random() < 0.25:
        size = int.from_bytes(payload[-4:], "little")
        header = altered(msgpack.unpackb(payload[-4 - size : -4]), random_)
        made = packed(header)
        payload[-4 - size :] = made + len(made).to_bytes(4, "little")
    else:
        offset, size = places[random_.choice(sorted(places))]
        for _ in range(random_.choice((1, 1, 2, 8))):
            at = offset + random_.randrange(size)
            width = random_.choice((1, 1, 4))
            new = random_.choice((random_.randbytes(width), b"\xff" * width, bytes(width), b"\xc0" * width))
            payload[at : at + width] = new[: max(len(payload) - at, 0)]
    return checked(bytes(payload))[1]


def packed(value: Any) -> bytes:
    made: bytes = msgpack.packb(value, use_bin_type=True, unicode_errors="surrogateescape")
    return made


def crafted(files: Files, random_: random.Random) -> tuple[str, Files]:
    """One file of a session with other contents, everything that checks it adjusted to them."""
    number = SnapshotStore(RamDirectory(dict(files))).current_number()
    names = [
        n
        for n in files
        if n != "lock" and not (n[0].isdigit() and n.endswith(".manifest") and n != f"{number}.manifest")
    ]
    name = random_.choice([*sorted(names), f"{number}.manifest", f"{number}.manifest"])
    if not name.endswith(".segment"):
        kind = kind_of(name)
        try:
            raw = encode(kind, name, altered(decode(kind, name, files[name]), random_))
        except (ValueError, TypeError, OverflowError):  # no such value in msgpack
            return crafted(files, random_)
        return name, {**files, name: raw}
    raw = crafted_segment(files[name], random_)
    manifest = decode(MANIFEST_KIND, f"{number}.manifest", files[f"{number}.manifest"])
    for info in manifest["segments"]:
        if info["name"] == name:
            info |= {"size": len(raw), "check": int.from_bytes(raw[-8:-4], "little")}
    entry = f"{number}.manifest"
    return name, {**files, name: raw, entry: encode(MANIFEST_KIND, entry, manifest)}


def doors(tree: Path) -> list[Callable[[RagService], object]]:
    """All that can be asked of a session, as far as what is printed."""
    return [
        lambda rag: json_output.outcome_value(rag.query("kiwi harbour", 50)),
        lambda rag: json_output.outcome_value(rag.query("Basket total", 5)),
        lambda rag: json_output.prompt_value(rag.context_prompt("kiwi")),
        lambda rag: json_output.status_value(rag.get_status()),
        lambda rag: json_output.listing_value(rag.list_documents(), [*rag.list_files(), *rag.list_failed()]),
        lambda rag: json_output.listing_value([], rag.list_skipped()),
        lambda rag: json_output.stored_value(rag.show("src/shop.py")),
        lambda rag: rag.export(io.BytesIO()),
        lambda rag: rag.add_document("one more kiwi"),
        lambda rag: index(rag, tree).generation,
        lambda rag: index(rag, tree, verify=True).generation,
        lambda rag: index(rag, tree, rebuild=True).generation,
        lambda rag: rag.clear(),
    ]


def check(files: Files, tree: Path, seed: int) -> None:
    for number, door in enumerate(doors(tree)):
        rag = service(RamDirectory(dict(files)))
        try:
            json.dumps(door(rag), allow_nan=False).encode("utf-8", "surrogateescape")
        except RagError as error:
            assert isinstance(error, IndexCorruptError) or error.exit_code in (2, 3), (seed, number, error)
            assert "\n" not in error.message
        except Exception as error:
            raise AssertionError(f"seed {seed}, door {number}: {type(error).__name__}: {error}") from error


@pytest.mark.parametrize("part", range(4))
def test_no_crafted_store_meets_a_bug(sound: Files, tree: Path, part: int) -> None:
    for seed in range(part * 25, part * 25 + 25):
        _, files = crafted(sound, random.Random(seed))
        check(files, tree, seed)


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_no_crafted_store_meets_a_bug_in_twenty_minutes(sound: Files, tree: Path) -> None:
    end = time.monotonic() + 60 * float(os.environ.get("RAGCLI_TEST_MINUTES", "20"))
    seed = 1_000  # those before are the short version
    while time.monotonic() < end:
        random_ = random.Random(seed)
        files = sound
        for _ in range(random_.choice((1, 1, 2, 3))):
            try:
                _, files = crafted(files, random_)
            except (RagError, KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
                break  # what was crafted first cannot be crafted further
        check(files, tree, seed)
        seed += 1
    print(f"{seed - 1_000} stores")
