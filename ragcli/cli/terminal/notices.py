"""Tells people, on standard error, what the engine noticed; and runs the index refresh of `--fresh`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ragcli.cli.shared_options import Shared
from ragcli.cli.terminal import output
from ragcli.config.resolve import Settings, given

if TYPE_CHECKING:
    from ragcli.session.service import RagService


def tell(notices: Iterable[str], degraded: Iterable[str], shared: Shared) -> None:
    """Pass on what the engine wants people to know, unless they asked for quiet."""
    if shared.quiet:
        return
    for notice in notices:
        output.say(f"ragcli: {_safe(notice)}")
    for stream in degraded:
        output.say(f"ragcli: the stream {_safe(stream)} failed and was left out of the ranking")


def refresh(service: "RagService", settings: Settings, shared: Shared) -> None:
    """Index what changed in the session's root, before a search; `wait` and `workers` are as set."""
    from ragcli.cli.terminal.progress import progress

    workers = settings.workers if given(settings, "workers") else None
    with progress(shared) as callback:
        report = service.index_directory(service.get_status().root, callback, wait=settings.wait, workers=workers)
    tell(report.notices, [], shared)
    if shared.verbose:
        for failure in report.failed:
            output.say(f"ragcli: {_safe(failure.file)}: {failure.code}: {_safe(failure.reason)}")


def _safe(text: str) -> str:
    from ragcli.text.escapes import visible_name  # compiles expressions that most searches do without

    return visible_name(text)
