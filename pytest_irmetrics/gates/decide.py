"""Thresholds against scores: every gate of a test, and those on today's run alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, score_text
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.evaluation import NoQueryError
from pytest_irmetrics.gates.regression import (
    lone_significance,
    narrow_by_significance,
    regression_gate,
    too_few_paired,
)
from pytest_irmetrics.gates.single_queries import query_gates
from pytest_irmetrics.gates.verdict import Regression, Verdict, at_least, named, verdict_on
from pytest_irmetrics.metrics import Metric
from pytest_irmetrics.retrieval.passages import document_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.gates.verdict import State
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.thresholds import Gate, Gates

NO_ANSWER = Metric("no_answer")
"""The share of the `no_answer` queries that got an empty answer."""


def decide(
    evaluation: Evaluation,
    gates: Gates,
    *,
    regression: Regression | None = None,
    single_queries_only: bool = False,
) -> tuple[Verdict, ...]:
    """Hold an evaluation against the gates of its test, and return the verdicts, failed ones first.

    Where a query could not be retrieved nothing else is judged: there is no mean to judge. With
    ``single_queries_only`` the gates that speak of a whole set or slice are left out.
    """
    if evaluation.errors:
        return (_errors(evaluation),)
    if not single_queries_only and (foreign := _foreign_ids(evaluation)):
        return (foreign,)  # of single queries that may be just what is wrong with them
    verdicts = [*_forbidden(evaluation), *_wrongly_answered(evaluation, gates)]
    if regression is not None and not single_queries_only:
        verdicts += too_few_paired(regression)
    for gate in gates:
        if gate.word == "min_each":
            if not single_queries_only or _without_own(evaluation, gate):
                verdicts.append(_min_each(evaluation, gate))
        elif gate.word == "significance":
            if "max_drop" not in gates.of(gate.metric, gate.tag):
                verdicts.append(lone_significance(gate, regression))
        elif not single_queries_only:
            verdicts.append(_set_gate(evaluation, gate, gates, regression))
    verdicts = narrow_by_significance(verdicts, gates, regression)
    verdicts += query_gates(evaluation, regression)
    order: dict[State, int] = {"failed": 0, "not checked": 1, "passed": 2}
    return tuple(sorted(verdicts, key=lambda verdict: order[verdict.state]))


def _errors(evaluation: Evaluation) -> Verdict:
    # Those that count, as everywhere, and what failed of those that are known to be bad.
    asked = len({*(query.id for query in evaluation.counted), *evaluation.errors})
    text = f"{len(evaluation.errors)} of {plural(asked, 'query', 'queries')} could not be retrieved, so no mean was computed."
    if evaluation.retrieved.stopped:
        text += f" {evaluation.retrieved.stopped}"
    return Verdict("failed", text, "errors", queries=tuple(evaluation.errors))


def _foreign_ids(evaluation: Evaluation) -> Verdict | None:
    """Tell ids of another kind from bad quality: not one returned id occurs anywhere in the golden set."""
    counted = evaluation.counted
    if any(
        not query.judgments.keys().isdisjoint(ranking)
        for query in counted
        for ranking in evaluation.rankings(query.id)
    ):
        return None  # as nearly always, at the first query
    asked = [(query, evaluation.rankings(query.id)) for query in counted]
    known = {doc_id for query, _ in asked for doc_id in (*query.documents, *query.forbidden)}
    returned = [document_of(entry) for _, rankings in asked for ranking in rankings for entry in ranking]
    if not known or not returned or not known.isdisjoint(returned):
        return None
    first = dict.fromkeys(returned)
    text = f"None of the {plural(len(first), 'returned id')} occurs in the golden set; this is about ids, not about quality."
    details = (
        f"Returned: {_some(list(first))}.",
        f"Expected: {_some(sorted(known))}.",
        "Return the ids as the golden set writes them; the fixture ir_doc_id can turn a result into its id.",
    )
    return Verdict("failed", text, "ids", details=details)


def _some(ids: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(repr(doc_id[:60]) for doc_id in ids[:most])
    return shown if len(ids) <= most else f"{shown} and {len(ids) - most:,} more"


def _forbidden(evaluation: Evaluation) -> Iterator[Verdict]:
    guilty: dict[str, list[str]] = {}
    for query in evaluation.counted:
        for ranking in evaluation.rankings(query.id) if query.forbidden else ():
            returned = [doc_id for doc_id in query.forbidden if doc_id in ranking]
            if returned:
                guilty.setdefault(query.id, returned)
    if guilty:
        text = f"{plural(len(guilty), 'query returns', 'queries return')} a document that is forbidden."
        yield Verdict("failed", text, "forbidden", queries=tuple(guilty))
    elif any(query.forbidden for query in evaluation.counted):
        yield Verdict("passed", "No forbidden document is returned.", "forbidden")


def _wrongly_answered(evaluation: Evaluation, gates: Gates) -> Iterator[Verdict]:
    unanswerable = [query for query in evaluation.counted if query.no_answer]
    if not unanswerable or any(metric.kind == "no_answer" for metric in gates.metrics):
        return
    answered = tuple(query.id for query in unanswerable if any(map(len, evaluation.rankings(query.id))))
    if answered:
        text = (
            f"{plural(len(answered), 'query', 'queries')} marked `no_answer` got an answer; "
            "set a threshold on the metric no_answer to allow some."
        )
        yield Verdict("failed", text, "no_answer", NO_ANSWER, queries=answered)
    else:
        yield Verdict("passed", "Every `no_answer` query came back empty.", "no_answer", NO_ANSWER)


def _set_gate(evaluation: Evaluation, gate: Gate, gates: Gates, regression: Regression | None) -> Verdict:
    if gate.word in ("max_drop", "max_lost"):
        return regression_gate(evaluation, gate, gates, regression)
    try:
        value = evaluation.mean(gate.metric, gate.tag)
    except NoQueryError as error:
        return verdict_on(gate, "failed", f"A gate over no query: {error}")
    return _bound(evaluation, gate, value)


def _bound(evaluation: Evaluation, gate: Gate, value: float) -> Verdict:
    limit = gate.limit.value
    unit = " ms" if gate.metric.kind == "latency" else ""
    shown, wanted = score_text(value, limit), score_text(limit, value)
    if gate.word == "min":
        holds, rule, side = at_least(value, limit), f"at least {wanted}{unit} is required", "below"
    else:
        holds, rule, side = at_least(-value, -limit), f"at most {wanted}{unit} is allowed", "above"
    if holds:
        return verdict_on(gate, "passed", f"{named(gate)} is {shown}{unit}; {rule}.", limit=limit)
    gap = score_text(abs(value - limit), 0.0)
    slow = _slow(evaluation, gate) if gate.metric.kind == "latency" else {}
    slowest = ", ".join(f"{query_id} {time:.1f} ms" for query_id, time in [*slow.items()][:3])
    return verdict_on(
        gate,
        "failed",
        f"{named(gate)} is {shown}{unit}, {gap}{unit} {side} the threshold: {rule}.",
        queries=[*slow] if gate.metric.kind == "latency" else _weightiest(evaluation, gate),
        details=[f"Slowest: {slowest}."] if slow else [],
        limit=limit,
    )


def _slow(evaluation: Evaluation, gate: Gate) -> dict[str, float]:
    """Map the queries that took longer than a latency may be to how long, the slowest first."""
    times = evaluation.retrieved.latencies
    took = {query.id: max(times.get(query.id, (0.0,))) for query in evaluation.queries(gate.metric, gate.tag)}
    over = [query_id for query_id, time in took.items() if time > gate.limit.value]
    return {query_id: took[query_id] for query_id in sorted(over, key=lambda i: (-took[i], i))}


def _weightiest(evaluation: Evaluation, gate: Gate) -> tuple[str, ...]:
    """Order the queries by what keeps the mean from its limit: weight times the score, or what is missing to the best."""
    scored = evaluation.scored(gate.metric, gate.tag)
    if gate.word == "max":
        parts = {query.id: query.weight * score for query, score in scored}
    else:
        best = max((score for _, score in scored), default=0.0)
        if gate.metric.upper < float("inf"):
            best = gate.metric.upper
        parts = {query.id: query.weight * (best - score) for query, score in scored}
    return tuple(sorted((i for i, part in parts.items() if part > TOLERANCE), key=lambda i: (-parts[i], i)))


def _min_each(evaluation: Evaluation, gate: Gate) -> Verdict:
    limit = gate.limit.value
    judged = _without_own(evaluation, gate)
    if not judged:
        return verdict_on(
            gate, "failed", f"A gate over no query: nothing is left for min_each on {named(gate)}."
        )
    below = sorted((score, query.id) for query, score in judged if not at_least(score, limit))
    if not below:
        return verdict_on(
            gate,
            "passed",
            f"{named(gate)} is at least {score_text(limit)} for each of {plural(len(judged), 'query', 'queries')}.",
            limit=limit,
        )
    lowest = below[0][0]
    return verdict_on(
        gate,
        "failed",
        f"{named(gate)} is below {score_text(limit, lowest)} for {len(below)} of {plural(len(judged), 'query', 'queries')}; "
        f"the lowest is {score_text(lowest, limit)}, and each must reach it.",
        queries=[query_id for _, query_id in below],
        limit=limit,
    )


def _without_own(evaluation: Evaluation, gate: Gate) -> list[tuple[Query, float]]:
    """Give the scored queries that have no threshold of their own in the place of this one."""
    scored = evaluation.scored(gate.metric, gate.tag)
    return [(query, score) for query, score in scored if not _has_own(query, gate.metric)]


def _has_own(query: Query, metric: Metric) -> bool:
    return any(own.metric == metric and "min" in own.limits for own in query.thresholds)
