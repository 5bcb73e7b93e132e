"""The `eval` command: asks judged queries and tells how well they were answered. Measures nothing itself."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ragcli.cli import session_context
from ragcli.cli.search_options import (
    Formats,
    Globs,
    Languages,
    MaxPerFile,
    NoSignals,
    search_settings,
    signals_flag,
)
from ragcli.cli.shared_options import Shared, shared_values
from ragcli.cli.terminal import output
from ragcli.cli.terminal.notices import tell
from ragcli.cli.terminal.tty import stdout_terminal
from ragcli.config.options import QueryOptions
from ragcli.errors import UsageError

if TYPE_CHECKING:
    from ragcli.evaluation.evaluate import Answer, Ask
    from ragcli.evaluation.judgements import JudgedQuery
    from ragcli.model import SearchOutcome
    from ragcli.session.service import RagService

DONE, BELOW = 0, 1
# The options of a search that --against takes.
COMPARED = ("glob", "language", "format", "max_per_file", "no_signals")

Queries = Annotated[
    str,
    typer.Argument(
        metavar="QUERIES", help="JSON lines with query and relevant paths (- for stdin), or a BEIR or TREC folder."
    ),
]
Cut = Annotated[int | None, typer.Option("-k", "--top", min=1, metavar="N", help="Measure recall at N (default 10).")]
Against = Annotated[
    str | None,
    typer.Option("--against", metavar="OPTIONS", help="Compare with these search options, such as '--no-signals'."),
]
MinNdcg = Annotated[
    float | None,
    typer.Option("--min-ndcg", min=0, max=1, metavar="X", help="Exit with 1 where the mean NDCG@10 is below X."),
]
Failures = Annotated[
    int, typer.Option("--failures", min=0, metavar="N", help="Show the N worst queries and what ranked above.")
]


class Ranking(NamedTuple):
    """One way to ask the session: the options of its searches."""

    k: int
    settings: QueryOptions


def eval_(
    ctx: typer.Context,
    queries: Queries,
    k: Cut = None,
    glob: Globs = None,
    language: Languages = None,
    format: Formats = None,
    max_per_file: MaxPerFile = None,
    no_signals: NoSignals = False,
    against: Against = None,
    min_ndcg: MinNdcg = None,
    failures: Failures = 0,
) -> int:
    """Measure how well searches answer judged queries.

    Each line of QUERIES is an object: query, relevant (paths, or path:10-20 for lines), category if there are kinds.
    NDCG@10, MRR@10, recall@k and success@1 over files, or over chunks where lines are judged, each with a bootstrap
    interval. Exit code 1 below --min-ndcg.
    """
    from ragcli.evaluation.judgements import read_judgements, resolved

    shared = shared_values(ctx)
    other_options = _options(ctx, against) if against is not None else None
    judged = read_judgements(queries)
    chosen = {"glob": glob, "language": language, "format": format, "max_per_file": max_per_file,
              "no_signals": no_signals}  # fmt: skip
    service, ranking, shared = _ranking(shared, k, chosen)
    known = [*(file.file for file in service.list_files()), *(document.id for document in service.list_documents())]
    judged, missing = resolved(judged, known)
    first, answers = _run(service, ranking, judged, shared, "Evaluating")
    others = None
    if other_options is not None:
        _, other, _ = _ranking(shared._replace(quiet=True), k, other_options)
        others = _run(service, other, judged, shared, "Comparing")[1]
    if missing and not shared.quiet:
        output.say(f"ragcli: {len(missing)} of the judged paths are not in the index: {_listed(missing)}")
    _tell(first, ranking, answers, others, against, missing, failures, shared)
    return _verdict(answers, min_ndcg)


def _options(ctx: typer.Context, words: str) -> dict[str, Any]:
    """Read the options of --against by the grammar of this command; UsageError for any that ranks nothing."""
    try:
        split = shlex.split(words)
    except ValueError:
        raise UsageError(f"--against {words}: an open quote", "write it like: --against '-g \"*.py\"'") from None
    with ctx.command.make_context("ragcli eval --against", ["-", *split]) as parsed:
        given = {name: value for name, value in parsed.params.items() if value not in (None, False, 0, (), [])}
        others = [
            *(set(given) - {*COMPARED, "queries"}),
            *(name for name, value in (parsed.obj or {}).items() if value),
        ]
        chosen = {name: parsed.params[name] for name in COMPARED}
    if others:
        raise UsageError(
            f"--against does not take {_spelled(sorted(others)[0])}",
            "it takes --no-signals, --max-per-file, --glob, --type and --format",
        )
    return chosen


def _spelled(parameter: str) -> str:
    return "-k" if parameter == "k" else f"--{parameter.replace('_', '-')}"


def _ranking(shared: Shared, k: int | None, chosen: dict[str, Any]) -> tuple["RagService", Ranking, Shared]:
    service, settled, shared = session_context.opened(
        shared, k=k, max_per_file=chosen["max_per_file"], signals=signals_flag(chosen["no_signals"])
    )
    settings = search_settings(settled, chosen["glob"], chosen["language"], chosen["format"])
    return service, Ranking(settled.k, settings), shared


def _run(
    service: "RagService", ranking: Ranking, judged: Sequence["JudgedQuery"], shared: Shared, title: str
) -> tuple["SearchOutcome", list["Answer"]]:
    """Ask every query; the first outcome, which names session and generation, and all answers in order."""
    from ragcli.cli.terminal.progress import progress
    from ragcli.documents import IndexProgress
    from ragcli.evaluation.evaluate import answer

    outcomes: list[SearchOutcome] = []

    def ask(query: str, top_k: int) -> "SearchOutcome":
        outcome = service.query(query, top_k, ranking.settings)
        tell([] if outcomes else outcome.notices, outcome.degraded, shared)
        outcomes[:] = outcomes or [outcome]
        return outcome

    asked: Ask = ask
    answers = []
    with progress(shared, title, "queries") as callback:
        for number, query in enumerate(judged, 1):
            answers.append(answer(query, asked, ranking.k, ranking.settings.max_per_file))
            if callback:
                callback(IndexProgress(number, len(judged), query.text))
    return outcomes[0], answers


def _tell(
    outcome: "SearchOutcome", ranking: Ranking, answers: list["Answer"], others: list["Answer"] | None,
    against: str | None, missing: Sequence[str], failures: int, shared: Shared,
) -> None:  # fmt: skip
    from ragcli.evaluation.evaluate import by_category, compared, summarized, worst
    from ragcli.evaluation.report import Report

    report = Report(
        session=outcome.session, root=outcome.root, generation=outcome.generation, k=ranking.k,
        all=summarized(answers), categories=by_category(answers),
        against=against or "", other=summarized(others) if others else None,
        comparison=compared(answers, others) if others else None,
        failures=worst(answers, failures), missing=list(missing),
    )  # fmt: skip
    if shared.quiet:
        return
    if shared.json:
        from ragcli.evaluation.report import report_value

        output.write_json(report_value(report))
        return
    from ragcli.cli.rendering.render_eval import report_lines

    for line in report_lines(report, stdout_terminal(shared)):
        output.write(f"{line}\n")


def _verdict(answers: Sequence["Answer"], least: float | None) -> int:
    mean = sum(one.scores.ndcg for one in answers) / len(answers)
    if least is None or mean >= least:
        return DONE
    output.say(f"ragcli: NDCG@10 is {mean:.4f}, below {least}")
    return BELOW


def _listed(names: Sequence[str]) -> str:
    from ragcli.text.escapes import visible_name

    shown = ", ".join(map(visible_name, names[:3]))
    return f"{shown} …" if len(names) > 3 else shown
