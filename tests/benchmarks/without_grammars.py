"""The pipeline's work for a worker that has no grammar: every language is read by the structural adapter."""

from collections.abc import Sequence

from ragcli.extract.source import source_code as source
from ragcli.indexing import ingest_task as pipeline
from ragcli.indexing.ingest_task import BatchResult, IngestJob, WorkItem


def no_grammar(language: str, path: str) -> str:
    """What the table answers for a language that no grammar reads."""
    return ""


def process(job: IngestJob, items: Sequence[WorkItem]) -> BatchResult:
    """Ingest and pack files as the pipeline does; meant for processes that do nothing else."""
    source.grammar_for = no_grammar
    return pipeline.process(job, items)
