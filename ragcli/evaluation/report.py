"""An evaluation as one value, and as the documented JSON object. Renders nothing for people."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ragcli.evaluation.evaluate import Answer, Comparison, Hit, Summary
from ragcli.evaluation.judgements import Target
from ragcli.evaluation.measures import CUT

SCHEMA = 1
Value = dict[str, object]


class Report(NamedTuple):
    """What one evaluation found. `other` and `comparison` are those of `against`, the options compared with."""

    session: str
    root: str
    generation: str
    k: int
    all: Summary
    categories: Mapping[str, Summary]
    against: str
    other: Summary | None
    comparison: Comparison | None
    failures: Sequence[Answer]
    missing: Sequence[str]


def measure_names(k: int) -> tuple[str, ...]:
    """The names of the measures, in the order of `Scores`."""
    return f"NDCG@{CUT}", f"MRR@{CUT}", f"recall@{k}", "success@1"


def report_value(report: Report) -> Value:
    """Return a whole evaluation as JSON; keys that do not apply are absent."""
    keys = [name.lower() for name in measure_names(report.k)]
    value: Value = {
        "schema": SCHEMA, "session": report.session, "root": report.root, "generation": report.generation,
        "k": report.k, **_summary(keys, report.all),
    }  # fmt: skip
    if report.categories:
        value["categories"] = {name: _summary(keys, found) for name, found in report.categories.items()}
    if report.other and report.comparison:
        found = report.comparison
        value["against"] = {
            "options": report.against,
            **_summary(keys, report.other),
            "differences": dict(zip(keys, ({**one._asdict()} for one in found.differences), strict=True)),
            "better": found.better, "worse": found.worse, "equal": found.equal,
        }  # fmt: skip
    if report.failures:
        value["failures"] = [_failure(keys, one) for one in report.failures]
    if report.missing:
        value["missing"] = list(report.missing)
    return value


def _summary(keys: Iterable[str], summary: Summary) -> Value:
    measures = dict(zip(keys, ({**one._asdict()} for one in summary.measures), strict=True))
    return {"queries": summary.queries, "measures": measures}


def _failure(keys: Iterable[str], answer: Answer) -> Value:
    query = answer.query
    scores = (round(number, 6) for number in answer.scores)
    value: Value = {"id": query.id, "query": query.text}
    if query.category:
        value["category"] = query.category
    value["measures"] = dict(zip(keys, scores, strict=True))
    value["relevant"] = [_target(*pair) for pair in zip(query.targets, answer.places, strict=True)]
    value["above"] = [_hit(rank, hit) for rank, hit in enumerate(answer.above, 1)]
    return value


def _target(target: Target, place: int) -> Value:
    value: Value = {"path": target.name}
    if target.has_lines:
        value["lines"] = [target.start, target.end]
    if target.grade != 1.0:
        value["grade"] = target.grade
    return value | ({"rank": place} if place else {})


def _hit(rank: int, hit: Hit) -> Value:
    return {"rank": rank, "file": hit.name, "start_line": hit.start_line, "end_line": hit.end_line, "score": hit.score}
