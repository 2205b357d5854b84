"""Gates on single queries: their own thresholds, and whether a query that is known to be bad would pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.gates import wording
from pytest_irmetrics.gates.baseline_gates import query_verdict
from pytest_irmetrics.gates.limits import own_gates
from pytest_irmetrics.gates.verdict import at_least

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.gates.baseline_gates import BaselineJudge
    from pytest_irmetrics.gates.verdict import Verdict
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.thresholds import Gate, Gates


def judge_queries(evaluation: Evaluation, gates: Gates, judge: BaselineJudge | None) -> Iterator[Verdict]:
    """Hold single queries against the limits that are theirs alone."""
    for query in evaluation.counted:
        for gate in own_gates(query) if gates.own is None else gates.own.get(query.id, ()):
            yield _judge_query(gate, query, evaluation.score(gate.metric, query.id), judge)


def _judge_query(gate: Gate, query: Query, score: float | None, judge: BaselineJudge | None) -> Verdict:
    if score is None:
        return query_verdict(gate, query, "failed", wording.query_undefined(gate, query.id))
    if gate.word == "min":
        holds = at_least(score, gate.limit.value)
        text = wording.query_min(gate, query.id, score, holds=holds)
        return query_verdict(gate, query, "passed" if holds else "failed", text)
    if judge is None:
        return query_verdict(gate, query, "not checked", wording.without_baseline(gate, query.id))
    return judge.judge_query(gate, query)


def returns_forbidden(evaluation: Evaluation, query: Query) -> bool:
    """Tell whether an answer to a query holds a document that is forbidden for it."""
    rankings = evaluation.rankings(query.id)
    return any(doc_id in ranking for ranking in rankings for doc_id in query.forbidden)


def would_pass(evaluation: Evaluation, query: Query, gates: Gates) -> bool:
    """Tell whether an ``xfail`` query would pass now: no gate on a single query would fail for it.

    Without a gate of its own, an answerable query must at least find a relevant document.
    """
    rankings = evaluation.rankings(query.id)
    if returns_forbidden(evaluation, query):
        return False
    if query.no_answer:
        return not any(map(len, rankings))
    limits = {
        gate.metric: gate.limit
        for gate in gates.with_word("min_each")
        if gate.tag is None or gate.tag in query.tags
    }
    own = {threshold.metric: threshold.limits.get("min") for threshold in query.thresholds}
    for metric, limit in {**limits, **own}.items():
        score = evaluation.score(metric, query.id)
        if limit is not None and score is not None and not at_least(score, limit.value):
            return False
    relevant = {
        doc_id for doc_id, grade in query.judgments.items() if grade >= evaluation.golden.relevance_level
    }
    return all(relevant.intersection(ranking) for ranking in rankings)
