"""The account of one index run: what became of each file, for the report, the manifest and the stat cache. Pure."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragcli.analysis.analyzers import ANALYZERS
from ragcli.config.options import IndexOptions, Limits
from ragcli.documents import FileCounts, Skipped, SkipReason, SourceFile, Walk
from ragcli.errors import FailureCode, SourceRejectedError, StrictError
from ragcli.extract.registry import OUT_OF_MEMORY, SPECS
from ragcli.index.manifest import options_to_plain
from ragcli.indexing.ingest_task import FAILED, NEW, SAME, FileOutcome, WorkItem
from ragcli.ingest.chunkers import NormalizedDocumentChunker
from ragcli.ingest.patterns import unmatched
from ragcli.model import Failure
from ragcli.store import stat_cache as stats
from ragcli.store.stat_cache import FileState
from ragcli.workers.batch import PATIENCE, ItemFailure

# A failure of a busy machine may not come again; the others would, on the same bytes, extractor and limits.
_PASSING = ("no answer", "out of memory", "crashed")


def pipeline_digest(options: IndexOptions) -> str:
    """A digest of all that decides what a file becomes; a stat cache made under another one is not trusted."""
    extractors = [[spec.id, spec.version] for spec in SPECS]
    chunker = [NormalizedDocumentChunker.id, NormalizedDocumentChunker.version]
    parts = [options_to_plain(options), extractors, chunker, ANALYZERS]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


class RunSummary:
    """Counts each file once, and keeps what the next run wants to know."""

    def __init__(self, skipped: Iterable[Skipped]) -> None:
        self.states: dict[str, FileState] = {}
        self.failures: dict[str, Failure] = {}
        self.skipped: list[Skipped] = list(skipped)
        self.notices: list[str] = []
        self._counts: Counter[str] = Counter()

    def carry(self, carried: Mapping[str, FileState], failures: Iterable[Failure], skipped: Iterable[Skipped]) -> None:
        """Take over files that have not changed, with why they failed or were left out."""
        why = {failure.file: failure for failure in failures}
        reasons = {entry.path: entry for entry in skipped}
        for path, state in carried.items():
            self.states[path] = state
            if state.state == stats.FAILED:
                self.failures[path] = why.get(path) or Failure(path, FailureCode.EXTRACTION.value, "failed before")
            elif state.state == stats.LEFT_OUT:
                self.skipped.append(reasons.get(path) or Skipped(path, SkipReason.UNSUPPORTED))
            else:
                self._counts["kept"] += 1

    def count(self, outcome: FileOutcome, known: bool) -> None:
        """Take note of a file that was looked at; `known` says whether something was stored of it."""
        path = outcome.file.path
        if outcome.kind == NEW:
            self._counts["changed" if known else "new"] += 1
            self._keep(outcome.file, stats.INDEXED)
            self.notices += [f"{path}: {note}" for note in outcome.notes]
        elif outcome.kind == SAME:
            self._counts["kept"] += 1
            self._keep(outcome.file, stats.INDEXED)
        elif outcome.kind == FAILED:
            self.failures[path] = Failure(path, outcome.code, outcome.reason)
            if not outcome.reason.startswith(_PASSING):
                self._keep(outcome.file, stats.FAILED)
        else:
            reason = SkipReason(outcome.code)
            self.skipped.append(Skipped(path, reason, outcome.reason))
            if reason not in (SkipReason.UNREADABLE, SkipReason.VANISHED):
                self._keep(outcome.file, stats.LEFT_OUT)

    def gone(self, count: int) -> None:
        """Count documents whose files are no longer there."""
        self._counts["gone"] += count

    def counts(self) -> FileCounts:
        """The run in numbers."""
        return FileCounts(
            new=self._counts["new"],
            changed=self._counts["changed"],
            kept=self._counts["kept"],
            gone=self._counts["gone"],
            failed=len(self.failures),
            skipped=len(self.skipped),
        )

    @property
    def usable(self) -> bool:
        """Whether any file is or was a document."""
        return bool(self._counts["new"] + self._counts["changed"] + self._counts["kept"] + len(self.failures))

    def unread(self) -> set[str]:
        """The files and directories that could not be read, so that what is stored of them stays."""
        return {*self.failures, *(entry.path for entry in self.skipped if entry.reason == SkipReason.UNREADABLE)}

    def sorted_failures(self) -> list[Failure]:
        """Failures by path."""
        return [self.failures[path] for path in sorted(self.failures)]

    def sorted_skipped(self) -> list[Skipped]:
        """Paths left out, in order."""
        return sorted(self.skipped)

    def skipped_counts(self) -> dict[str, int]:
        """How many paths were left out for each reason."""
        return dict(sorted(Counter(entry.reason.value for entry in self.skipped).items()))

    def _keep(self, file: SourceFile, state: str) -> None:
        self.states[file.path] = FileState(file, state)


def strict_failure(failures: Sequence[Failure]) -> StrictError:
    """What `--strict` says of the documents that failed."""
    first = failures[0]
    return StrictError(
        f"{len(failures):,} documents failed, the first is {first.file}: {first.reason}",
        "nothing was committed; leave them out with --exclude, or run without --strict",
    )


def nothing_usable(root: str, skipped: Sequence[Skipped]) -> SourceRejectedError:
    """Name the rule that left out most, since that is nearly always the mistake."""
    rules = Counter(f"{entry.reason.value} {entry.rule}".rstrip() for entry in skipped)
    (rule, count), *_ = sorted(rules.items(), key=lambda item: (-item[1], item[0])) or [("nothing", 0)]
    hint = "see all with: ragcli index --dry-run -v; --no-ignore reads no ignore files"
    if rule == SkipReason.NOT_INCLUDED.value:
        hint = "no file matches --include: a name means it at any depth, as '*.py', /name at the root alone"
    return SourceRejectedError(
        f"{root} holds no file that can be indexed: 0 files, {len(skipped):,} paths left out, {count:,} by: {rule}",
        hint,
    )


def failed_outcome(failure: ItemFailure[WorkItem], limits: Limits) -> FileOutcome:
    """What became of a file whose reading failed a worker."""
    return FileOutcome(failure.item.file, FAILED, FailureCode.EXTRACTION.value, failure_reason(failure, limits))


def failure_reason(failure: ItemFailure[Any], limits: Limits) -> str:
    """Why a worker gave up an item, in words; a limit is named with the flag that raises it."""
    seconds, memory = limits.extraction_seconds, limits.extraction_memory
    flag = f"(extraction_seconds; raise it with --extraction-seconds {math.ceil(seconds * 4)})"
    match failure.kind:
        case "timeout":
            return f"timed out: it takes more than {seconds:g} s of processor time {flag}"
        case "stall":
            return f"no answer in {seconds * PATIENCE:g} s: a busy machine, or a limit too low {flag}"
        case "memory":
            flag = f"(extraction_memory; raise it with --extraction-memory {memory * 4})"
            return f"{OUT_OF_MEMORY}: it takes more than {memory:,} bytes {flag}"
        case "crash":
            return "crashed the reader"
        case _:
            return f"reader failed: {failure.detail}"


def unused_patterns(options: IndexOptions, found: Walk) -> list[str]:
    """A notice for each pattern that means none of the files and directories that the walk met."""
    left_out = [entry for entry in found.skipped if entry.reason == SkipReason.EXCLUDED]
    taken = [file.path for file in found.files]
    notices = [
        f"--include {pattern} matches no file" for pattern in (unmatched(options.include, taken) if taken else ())
    ]
    used = {entry.rule for entry in left_out}
    for pattern in options.exclude:
        if pattern not in used and not pattern.startswith("!"):
            notices.append(f"--exclude {pattern} matches no file: a name means it at any depth, /name at the root")
    return notices
