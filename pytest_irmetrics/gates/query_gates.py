"""Gates on single queries: their own limits, forbidden documents, and whether a query that is known to be bad would pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_irmetrics.gates import wording
from pytest_irmetrics.gates.limits import has_own_min, own_gates
from pytest_irmetrics.gates.verdict import Verdict, at_least

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.gates.baseline_gates import BaselineJudge
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.thresholds import Gate, Gates


def judge_queries(evaluation: Evaluation, gates: Gates, judge: BaselineJudge | None) -> Iterator[Verdict]:
    """Hold single queries against the limits that are theirs alone."""
    for query in evaluation.counted:
        for gate in own_gates(query) if gates.own is None else gates.own.get(query.id, ()):
            score = evaluation.score(gate.metric, query.id)
            if judge is not None and gate.word == "max_drop" and score is not None:
                yield judge.judge_query(gate, query)
            else:
                yield _judge_alone(gate, query.id, score)


def _judge_alone(gate: Gate, query_id: str, score: float | None) -> Verdict:
    """Hold a query's score against its own ``min``; a ``max_drop`` waits for a baseline."""
    of_query: dict[str, Any] = {"queries": (query_id,), "limit": gate.limit.value, "single": True}
    if score is None:
        return Verdict.of(gate, "failed", wording.query_undefined(gate, query_id), **of_query)
    if gate.word == "max_drop":
        return Verdict.of(gate, "not checked", wording.without_baseline(gate, query_id), **of_query)
    holds = at_least(score, gate.limit.value)
    text = wording.query_min(gate, query_id, score, holds=holds)
    return Verdict.of(gate, "passed" if holds else "failed", text, **of_query)


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
    limits = {metric: limit for metric, limit in limits.items() if not has_own_min(gates, query, metric)}
    limits |= {gate.metric: gate.limit for gate in own_gates(query) if gate.word == "min"}
    for metric, limit in limits.items():
        score = evaluation.score(metric, query.id)
        if score is not None and not at_least(score, limit.value):
            return False
    relevant = {
        doc_id for doc_id, grade in query.judgments.items() if grade >= evaluation.golden.relevance_level
    }
    return all(relevant.intersection(ranking) for ranking in rankings)
