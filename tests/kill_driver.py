"""A process to be killed: changes one session without end, and says before and after each step what it does.

    python -m tests.kill_driver DATA_DIR ROOT SEED FILES

Each line on standard output is JSON: {"begin": kind} or {"end": kind}. Every index step first writes the tree so that
all its files hold one word, `gen<number>`, which tells generations apart, and says so: {"writing": number}.
"""

import json
import random
import sys
from pathlib import Path

from ragcli.index import merge_policy
from ragcli.session.manager import SessionManager
from ragcli.session.service import RagService
from tests.engine import index
from tests.generations import write_generation

WEIGHTED = ("index", "index", "index", "add", "add", "rm", "merge", "clear")
FIRST_OF_RUN = 1_000_000


def main(data: str, root: str, seed: int, files: int) -> None:
    """Change the session until somebody ends this process."""
    merge_policy.MAX_PER_CLASS = 2  # merges, which this process must be killed in too, come often
    random_ = random.Random(seed)
    rag = SessionManager(data).get_rag("killed")
    step = seed * FIRST_OF_RUN
    while True:
        step += 1
        act(rag, Path(root), random_.choice(WEIGHTED), step, files, random_)


def act(rag: RagService, root: Path, kind: str, step: int, files: int, random_: random.Random) -> None:
    """Do one step, told before and after."""
    match kind:
        case "add":
            told({"begin": "add", "id": "", "step": step})
            told({"end": "add", "id": rag.add_document(f"added kiwi number{step}"), "step": step})
        case "rm":
            known = sorted(info.id for info in rag.list_documents()) if rag.stored_options() else []
            if known:
                chosen = random_.choice(known)
                told({"begin": "rm", "id": chosen, "step": step})
                rag.remove_document(chosen)
                told({"end": "rm", "id": chosen, "step": step})
        case "clear":
            if rag.stored_options() and random_.random() < 0.3:
                told({"begin": "clear", "step": step})
                rag.clear()
                told({"end": "clear", "step": step})
        case "index" | "merge":
            parts = 3 if kind == "merge" else 1
            for part in range(parts):
                number = step * 10 + part
                told({"writing": number})
                write_generation(root, number, files)
                told({"begin": "index", "gen": number})
                index(rag, root)
                told({"end": "index", "gen": number})


def told(what: dict[str, object]) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
