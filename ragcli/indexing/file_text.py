"""The text of one file that a person names, read as the index reads it: in a process of its own, within limits."""

import os
from collections.abc import Sequence
from functools import partial

from ragcli.config.options import IndexOptions
from ragcli.documents import SourceFile
from ragcli.errors import UsageError
from ragcli.indexing.run_summary import failure_reason
from ragcli.ingest.ingestion_service import FileIngestionService, Ingested, LeftOut
from ragcli.ingest.reading import TreeReader, source_file
from ragcli.workers.pool import WorkerPool


def file_text(path: str, options: IndexOptions) -> str:
    """The normalized text of a document of any format. UsageError where it has none, or cannot be read."""
    try:
        real = os.path.realpath(path)
        file = source_file(os.path.basename(real), os.stat(real))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", "name a file that you may read") from None
    limits = options.limits
    pool = WorkerPool(
        partial(_texts, os.path.dirname(real), options),
        workers=1,
        seconds_per_item=limits.extraction_seconds,
        batch_seconds=limits.extraction_seconds,
        memory=limits.extraction_memory,
        preload=("ragcli.indexing.file_text",),
    )
    for outcome in pool.run([(file,)]):
        for failure in outcome.failures:
            raise UsageError(
                f"{path} cannot be added: {failure_reason(failure, limits)}", "see the limits: ragcli add --help"
            )
        [[(text, problem)]] = outcome.results
    if problem:
        raise UsageError(f"{path} cannot be added: {problem}", "a text, or a document that index reads, can be added")
    return str(text)


def _texts(root: str, options: IndexOptions, files: Sequence[SourceFile]) -> list[tuple[str, str]]:
    """For each file its text, or what is wrong with it."""
    service = FileIngestionService(options.limits, options)
    found = []
    with TreeReader(root) as reader:
        for file in files:
            outcome = service.ingest(reader, file)
            if isinstance(outcome, Ingested):
                found.append((outcome.document.text, ""))
            elif isinstance(outcome, LeftOut):
                found.append(("", f"{outcome.reason.value} {outcome.detail}".rstrip()))
            else:
                found.append(("", getattr(outcome, "reason", "it cannot be read")))
    return found
