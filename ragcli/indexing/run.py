"""What an index run asks of the store that it writes, whatever engine that is. A run publishes one generation, or none.

Walk, plan, workers and account are the same for every engine: see `tree_run`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ragcli.indexing.ingest_task import Packer
from ragcli.indexing.run_summary import RunSummary
from ragcli.model import Failure
from ragcli.store.stat_cache import StatCache


class KnownFile(Protocol):
    """What the store has of a file."""

    @property
    def fingerprint(self) -> bytes:
        """Of its content and of all that decided what it became."""
        ...


class Base(NamedTuple):
    """The generation that a run builds on, as far as the run needs it.

    `generation` is its digest; `files` and `chunks` are counts. `cache` is None where every file must be looked at.
    `settled` says that nothing but the tree can call for a new generation. `notices` say what was found damaged.
    """

    generation: str
    files: int
    chunks: int
    failures: tuple[Failure, ...]
    cache: StatCache | None
    settled: bool
    notices: Sequence[str]


class Published(NamedTuple):
    """The current generation after a run, and whether the run made it: what changed nothing makes none."""

    generation: str
    chunks: int
    committed: bool


class Run(Protocol):
    """One index run over a store, under the session's lock. Readers see nothing of it before `publish`.

    Every method raises StoreError where the store cannot be written, IndexCorruptError where it is damaged.
    """

    @property
    def base(self) -> Base:
        """What the run builds on."""
        ...

    @property
    def packer(self) -> Callable[[], Packer]:
        """Makes the packer of a batch: an importable function or class, or a functools.partial of one."""
        ...

    def known(self) -> Mapping[str, KnownFile]:
        """The files of the base by path. Not called where the stat cache says that no file changed."""
        ...

    def pending(self) -> Mapping[str, KnownFile]:
        """The files that runs which never published have stored, by path."""
        ...

    def add(self, packed: Any) -> None:
        """Store what a packer made of new documents."""
        ...

    def reuse(self, path: str) -> None:
        """Take a pending file over as it is."""
        ...

    def drop(self, paths: Sequence[str]) -> None:
        """Leave out what the base has of these files, if anything; what `add` or `reuse` brought in stays."""
        ...

    @property
    def new_text_bytes(self) -> int:
        """Bytes of text added so far."""
        ...

    def text_bytes(self) -> int:
        """Bytes of text that the run would publish now."""
        ...

    def publish(self, started: int, summary: RunSummary) -> Published:
        """Make the outcome the current generation; `started` is when the run began, in nanoseconds since 1970.

        Where nothing changed there is no new generation, only what is known of the files is brought up to date.
        """
        ...

    def close(self) -> None:
        """Give everything back; what was not published is never seen. A second call does nothing."""
        ...
