"""The judge of each word of thresholds: what a gate measures, when it fails, and the sentences that say so."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from pytest_irmetrics.base.numbers import LATENCY_DIGITS, TOLERANCE, score_text
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.evaluation import Evaluation, NoQueryError
from pytest_irmetrics.gates.limits import has_own_min
from pytest_irmetrics.gates.regression import MOVED, compared
from pytest_irmetrics.gates.verdict import Case, Verdict, keeps, subject
from pytest_irmetrics.thresholds import WORDS, Gate


def judge(case: Case, gate: Gate) -> Verdict | None:
    """Return the verdict on a gate; None where it is left out, or another gate's verdict speaks of it."""
    if case.single_queries_only and gate.query_id is None and gate.word != "min_each":
        return None
    try:
        return _JUDGES[gate.word](case, gate)
    except NoQueryError as error:
        state = case.failure if WORDS[gate.word].compares_with else "failed"
        return Verdict.of(gate, state, f"A gate over no query: {error}", over_no_query=True)


def _bound(case: Case, gate: Gate) -> Verdict:
    """Hold a mean, or the score of a query, against its ``min`` or ``max``."""
    value, limit = case.score(gate), gate.limit.value
    unit, digits = (" ms", LATENCY_DIGITS) if gate.metric.kind == "latency" else ("", 4)
    shown, wanted = score_text(value, limit, digits=digits), score_text(limit, value, digits=digits)
    rule, side = f"at most {wanted}{unit} is allowed", "above"
    if gate.word == "min":
        rule, side = f"at least {wanted}{unit} is required", "below"
    if keeps(gate, value, limit):
        return Verdict.of(gate, "passed", f"{subject(gate)} is {shown}{unit}; {rule}.", limit=limit)
    gap = score_text(abs(value - limit), 0.0, digits=digits)
    whose = "the threshold:" if gate.query_id is None else "its own threshold;"
    text = f"{subject(gate)} is {shown}{unit}, {gap}{unit} {side} {whose} {rule}."
    parts = {} if gate.query_id else _parts(case.evaluation, gate)
    queries = sorted((i for i, part in parts.items() if part > TOLERANCE), key=lambda i: (-parts[i], i))
    return Verdict.of(gate, "failed", text, queries=tuple(queries), limit=limit, value=value)


def _parts(evaluation: Evaluation, gate: Gate) -> dict[str, float]:
    """Return by how much each query keeps a mean from its limit.

    That is weight × score for a ``max``, else weight × what is missing; of a latency the milliseconds beyond the limit.
    """
    metric, tag = gate.metric, gate.tag
    if metric.kind == "latency":
        took = evaluation.retrieved.latencies
        return {q.id: max(took.get(q.id, (0.0,))) - gate.limit.value for q in evaluation.queries(metric, tag)}
    scored = evaluation.scored(metric, tag)
    if gate.word == "max":
        return {query.id: query.weight * score for query, score in scored}
    best = metric.upper if math.isfinite(metric.upper) else max(score for _, score in scored)
    return {query.id: query.weight * (best - score) for query, score in scored}


def _each(case: Case, gate: Gate) -> Verdict | None:
    """Hold each query's score against ``min_each``, but for those with a ``min`` of their own, which takes its place."""
    limit = gate.limit.value
    judged = [
        (score, query.id)
        for query, score in case.evaluation.scored(gate.metric, gate.tag)
        if not has_own_min(case.gates, query, gate.metric)
    ]
    if not judged:
        if case.single_queries_only:
            return None
        raise NoQueryError(f"nothing is left for min_each on {subject(gate)}.")
    lowest = min(judged)[0]
    below = sorted(each for each in judged if not keeps(gate, each[0], limit))
    queries = plural(len(judged), "query", "queries")
    if not below:
        text = f"{subject(gate)} is at least {score_text(limit)} for each of {queries}."
        return Verdict.of(gate, "passed", text, limit=limit)
    text = (
        f"{subject(gate)} is below {score_text(limit, lowest)} for {len(below):,} of {queries}; "
        f"the lowest is {score_text(lowest, limit)}, and each must reach it."
    )
    return Verdict.of(
        gate, "failed", text, queries=tuple([query_id for _, query_id in below]), limit=limit, value=lowest
    )


def _narrowing(case: Case, gate: Gate) -> Verdict | None:
    """Leave a ``significance`` to the verdict of the ``max_drop`` that it narrows; fail one that has none."""
    if "max_drop" in case.gates.of(gate.metric, gate.tag):
        return None
    if case.comparison is None:
        return compared(case, gate)
    # It would gate nothing unseen.
    text = (
        f"{subject(gate)}: significance {gate.limit} has no max_drop to narrow. Give it one, or take it away."
    )
    return Verdict.of(gate, "failed", text)


_JUDGES: Mapping[str, Callable[[Case, Gate], Verdict | None]] = {
    "min": _bound,
    "max": _bound,
    "min_each": _each,
    "significance": _narrowing,
    **dict.fromkeys(MOVED, compared),
}
"""The words of thresholds, each with its judge."""
