"""Decide the verdicts of a test: every gate on today's run, on means and single queries, and the checks that need no threshold."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.evaluation import NoQueryError, find_unknown_ids
from pytest_irmetrics.gates import wording
from pytest_irmetrics.gates.baseline_gates import BaselineJudge
from pytest_irmetrics.gates.limits import has_own_min, own_gates
from pytest_irmetrics.gates.verdict import STATES, Against, Verdict, at_least
from pytest_irmetrics.metrics import Metric
from pytest_irmetrics.retrieval.passages import document_of
from pytest_irmetrics.thresholds import COMPARING_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.gates.verdict import State
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.thresholds import Gate, Gates

_NO_ANSWER = Metric("no_answer")

_NOTHING = Against()


def decide(
    evaluation: Evaluation,
    gates: Gates,
    *,
    comparison: Comparison | None = None,
    against: Against = _NOTHING,
    storing: bool = False,
    single_queries_only: bool = False,
) -> tuple[Verdict, ...]:
    """Judge all gates of a test; return the verdicts in the order of `STATES`, first what is furthest beyond its limit.

    ``comparison`` is the one with ``against``: the baseline, or what stands in for it. With
    ``storing`` a new baseline is being stored: drops are then reported and fail nothing. With ``single_queries_only``
    the gates on means of a set or slice are left out.

    Where a query could not be retrieved nothing else is judged: there is no mean to judge.
    """
    if evaluation.errors:
        return (_errors(evaluation),)
    # Of single queries, unknown ids may be just what is wrong with them.
    if not single_queries_only and (unknown := _unknown_ids(evaluation, comparison)):
        return (unknown,)

    judged: dict[tuple[object, ...], Verdict] = {}
    for limits in (gates,) if gates.also is None else (gates, gates.also):
        judge = None
        if comparison is not None:
            judge = BaselineJudge(evaluation, limits, comparison, against, storing=storing)
        for verdict in _judge(evaluation, limits, judge, single_queries_only=single_queries_only):
            known = judged.setdefault(verdict.key, verdict)
            if STATES.index(verdict.state) < STATES.index(known.state):
                judged[verdict.key] = verdict
    verdicts = [*_forbidden(evaluation), *_wrongly_answered(evaluation, gates)]
    if not single_queries_only:
        verdicts += _nothing_returned(evaluation)
    if judge is not None:
        # Where single answers of a baseline are replaced, the others stay, and must not have been edited.
        if storing == single_queries_only:
            verdicts += judge.judge_means()
        if not single_queries_only:
            verdicts += judge.judge_pairing()
    return tuple(sorted([*verdicts, *judged.values()], key=_order))


def _judge(
    evaluation: Evaluation, gates: Gates, judge: BaselineJudge | None, *, single_queries_only: bool
) -> Iterator[Verdict]:
    """Hold a run against limits: means, each query, and single queries against those of their own."""
    for gate in gates:
        if gate.word == "min_each":
            if not single_queries_only or _without_own_min(evaluation, gates, gate):
                yield _min_each(evaluation, gates, gate)
        elif gate.word == "significance":  # it narrows a max_drop, whose verdict speaks of it
            if "max_drop" not in gates.of(gate.metric, gate.tag):
                yield _compared(gate, judge)
        elif not single_queries_only:
            compares = gate.word in COMPARING_WORDS
            yield _compared(gate, judge) if compares else _bound(evaluation, gate)
    for query in evaluation.counted:
        for gate in own_gates(query) if gates.own is None else gates.own.get(query.id, ()):
            score = evaluation.score(gate.metric, query.id)
            if score is None:
                yield Verdict.of(gate, "failed", wording.undefined(gate), over_no_query=True)
            else:
                compares = gate.word in COMPARING_WORDS
                yield _compared(gate, judge) if compares else _held(evaluation, gate, score)


def _order(verdict: Verdict) -> tuple[int, bool, float]:
    """Return the sort key of a verdict: its state; of failed ones checks without a limit, means by excess, single queries."""
    place = STATES.index(verdict.state)
    if not verdict.failed:
        return place, False, 0.0
    return place, verdict.single, -(math.inf if verdict.broken_by is None else verdict.broken_by)


def _errors(evaluation: Evaluation) -> Verdict:
    # Those that count, as everywhere, and what failed of those that are known to be bad.
    asked = len({*(query.id for query in evaluation.counted), *evaluation.errors})
    text = wording.not_retrieved(evaluation.errors, asked, evaluation.retrieved.stopped)
    return Verdict("failed", text, "errors", queries=tuple(evaluation.errors))


def _unknown_ids(evaluation: Evaluation, comparison: Comparison | None) -> Verdict | None:
    """Fail a run of which not one id occurs anywhere in the golden set."""
    unknown = find_unknown_ids(evaluation)
    if unknown is None:
        return None
    known = 0
    if comparison is not None:
        baseline = comparison.baseline
        answers = (ranking for query in baseline.counted for ranking in baseline.rankings(query.id))
        before = {document_of(entry) for ranking in answers for entry in ranking}
        known = len(before.intersection(unknown.returned))
    if known:  # so they are ids of this index, and it is about quality
        text = wording.nothing_judged_returned(len(unknown.returned), known)
        return Verdict("failed", text, "ids", details=unknown.examples)
    details = (*unknown.examples, wording.RETURN_KNOWN_IDS)
    return Verdict("failed", unknown.problem, "ids", details=details)


def _nothing_returned(evaluation: Evaluation) -> Iterator[Verdict]:
    """Fail a run in which every answer is empty: of such a search nothing can be said, and no later one would be worse."""
    queries = tuple([query.id for query in evaluation.counted if not query.no_answer])
    if queries and not any(any(map(len, evaluation.rankings(query_id))) for query_id in queries):
        yield Verdict("failed", wording.nothing_returned(len(queries)), "empty", queries=queries)


def _forbidden(evaluation: Evaluation) -> Iterator[Verdict]:
    """Fail queries that return a document which is forbidden for them; pass where there are such documents."""
    forbidding = [query for query in evaluation.counted if query.forbidden]
    if forbidding:
        at_fault = tuple(
            query.id
            for query in forbidding
            if any(
                doc_id in ranking for ranking in evaluation.rankings(query.id) for doc_id in query.forbidden
            )
        )
        state: State = "failed" if at_fault else "passed"
        yield Verdict(state, wording.forbidden(len(at_fault)), "forbidden", queries=at_fault)


def _wrongly_answered(evaluation: Evaluation, gates: Gates) -> Iterator[Verdict]:
    """Fail ``no_answer`` queries that got an answer, unless a threshold on the metric no_answer allows some."""
    unanswerable = [query for query in evaluation.counted if query.no_answer]
    if unanswerable and not any(metric.kind == "no_answer" for metric, _ in gates.slices):
        answered = tuple(query.id for query in unanswerable if any(map(len, evaluation.rankings(query.id))))
        state: State = "failed" if answered else "passed"
        yield Verdict(state, wording.no_answer(len(answered)), "no_answer", _NO_ANSWER, queries=answered)


def _compared(gate: Gate, judge: BaselineJudge | None) -> Verdict:
    """Hold a run against the baseline, where there is one."""
    if judge is None:
        return Verdict.of(gate, "not checked", wording.without_baseline(gate))
    if gate.word == "significance":  # without a `max_drop` to narrow it would gate nothing unseen
        return Verdict.of(gate, "failed", wording.significance_alone(gate))
    return judge.judge(gate)


def _bound(evaluation: Evaluation, gate: Gate) -> Verdict:
    """Hold a mean against its ``min`` or ``max``."""
    try:
        return _held(evaluation, gate, evaluation.mean(gate.metric, gate.tag))
    except NoQueryError as error:
        return Verdict.of(gate, "failed", wording.no_query(error), over_no_query=True)


def _held(evaluation: Evaluation, gate: Gate, value: float) -> Verdict:
    """Hold a mean, or the score of a query, against its ``min`` or ``max``."""
    limit = gate.limit.value
    holds = at_least(value, limit) if gate.word == "min" else at_least(-value, -limit)
    text = wording.bound(gate, value, holds=holds)
    if holds:
        return Verdict.of(gate, "passed", text, limit=limit)
    parts = {} if gate.query_id else _parts(evaluation, gate)
    queries = tuple(
        sorted((i for i, part in parts.items() if part > TOLERANCE), key=lambda i: (-parts[i], i))
    )
    details: tuple[str, ...] = ()
    if gate.metric.kind == "latency" and queries:
        details = (wording.slowest([(query_id, parts[query_id] + limit) for query_id in queries[:3]]),)
    return Verdict.of(gate, "failed", text, queries=queries, details=details, limit=limit, value=value)


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
    best = metric.upper if math.isfinite(metric.upper) else max((score for _, score in scored), default=0.0)
    return {query.id: query.weight * (best - score) for query, score in scored}


def _min_each(evaluation: Evaluation, gates: Gates, gate: Gate) -> Verdict:
    """Hold each query's score against ``min_each``."""
    limit = gate.limit.value
    judged = _without_own_min(evaluation, gates, gate)
    below = sorted((score, query.id) for query, score in judged if not at_least(score, limit))
    text = wording.min_each(gate, len(judged), [score for score, _ in below])
    if not judged:
        return Verdict.of(gate, "failed", text, over_no_query=True)
    queries = tuple([query_id for _, query_id in below])
    lowest = below[0][0] if below else None
    return Verdict.of(gate, "failed" if below else "passed", text, queries=queries, limit=limit, value=lowest)


def _without_own_min(evaluation: Evaluation, gates: Gates, gate: Gate) -> list[tuple[Query, float]]:
    """Return the scored queries that have no ``min`` of their own on this metric, which takes the place of ``min_each``."""
    return [
        (query, score)
        for query, score in evaluation.scored(gate.metric, gate.tag)
        if not has_own_min(gates, query, gate.metric)
    ]


def would_pass(evaluation: Evaluation, query: Query, gates: Gates) -> bool:
    """Tell whether an ``xfail`` query would pass now: no gate on a single query would fail for it.

    Without a gate of its own, an answerable query must at least find a relevant document.
    """
    golden = replace(evaluation.golden, _queries=[replace(query, xfail=None)])
    alone = replace(evaluation, golden=golden)
    if any(verdict.failed for verdict in decide(alone, gates, single_queries_only=True)):
        return False
    rankings = evaluation.rankings(query.id)
    if query.no_answer:
        return not any(map(len, rankings))
    level = golden.relevance_level
    relevant = {doc_id for doc_id, grade in query.judgments.items() if grade >= level}
    return all(relevant.intersection(ranking) for ranking in rankings)
