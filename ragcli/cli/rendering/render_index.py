"""Renders what an index run did: a few lines for people. Returns text, writes none."""

from collections import Counter
from collections.abc import Iterator, Sequence

from ragcli.cli.terminal.styles import BOLD, DIM, RED, Terminal, paint
from ragcli.documents import IndexReport, Skipped, SkipReason
from ragcli.model import Failure
from ragcli.text.escapes import visible_name

_SHOWN_FAILURES = 10
# Skipped by a default rule too, but nobody misses them among the results.
_NO_SOURCE = frozenset((".git", ".gitignore", ".tnsignore"))


def summary(report: IndexReport, terminal: Terminal, *, verbose: bool = False, dry_run: bool = False) -> Iterator[str]:
    """Yield the lines of a summary: counts, failures, what was skipped by which rule."""
    files = report.files
    indexed = files.new + files.changed + files.kept
    verb = "Would index" if dry_run else "Indexed"
    counts = _count(indexed, "file") if dry_run else f"{_count(indexed, 'file')}, {_count(report.chunks, 'chunk')}"
    yield f"{paint(terminal, BOLD, verb)} {visible_name(report.root)} in {report.seconds:.1f} s"
    changes = ((files.new, "new"), (files.changed, "changed"), (files.kept, "kept"), (files.gone, "gone"))
    yield f"  {counts}: " + ", ".join(f"{number:,} {what}" for number, what in changes)
    yield from failure_lines(report.failed, terminal, None if verbose else _SHOWN_FAILURES)
    if report.skipped:
        yield f"  {files.skipped or len(report.skipped)} skipped: {_reasons(report.skipped)}"
        rules = _rules(report.skipped)
        if rules:
            yield paint(terminal, DIM, f"    by default rules: {rules} (see --no-default-skips)")
        if verbose:
            yield from (paint(terminal, DIM, f"    {_skipped(entry)}") for entry in report.skipped)
    if dry_run:
        yield "  nothing was written (--dry-run)"
    elif not report.committed:
        yield "  nothing changed"


def failure_lines(failed: Sequence[Failure], terminal: Terminal, at_most: int | None) -> Iterator[str]:
    """Yield how many documents failed, and each with its code and reason."""
    if not failed:
        return
    yield paint(terminal, RED, f"  {len(failed)} failed")
    shown = failed if at_most is None else failed[:at_most]
    for failure in shown:
        yield f"    {visible_name(failure.file)}: {failure.code}: {visible_name(failure.reason)}"
    if len(shown) < len(failed):
        yield f"    and {len(failed) - len(shown)} more: ragcli list --failed"


def _reasons(skipped: Sequence[Skipped]) -> str:
    counts = Counter(str(entry.reason) for entry in skipped)
    ordered = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return ", ".join(f"{number} {reason}" for reason, number in ordered)


def _rules(skipped: Sequence[Skipped]) -> str:
    counts = Counter(
        entry.rule
        for entry in skipped
        if entry.reason is SkipReason.DEFAULT_SKIP and entry.rule and entry.rule not in _NO_SOURCE
    )
    return ", ".join(f"{visible_name(rule)} {number}" for rule, number in sorted(counts.items()))


def _skipped(entry: Skipped) -> str:
    rule = f" ({visible_name(entry.rule)})" if entry.rule else ""
    return f"{visible_name(entry.path)}{'/' if entry.is_dir else ''}: {entry.reason}{rule}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
