"""Decide the verdicts of a test: every gate on today's run, and the checks that need no threshold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.evaluation import NoQueryError, find_unknown_ids
from pytest_irmetrics.gates import wording
from pytest_irmetrics.gates.baseline_gates import BaselineJudge
from pytest_irmetrics.gates.query_gates import judge_queries, returns_forbidden
from pytest_irmetrics.gates.verdict import Verdict, at_least, verdict_on
from pytest_irmetrics.metrics import Metric
from pytest_irmetrics.retrieval.passages import document_of
from pytest_irmetrics.thresholds import COMPARING_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.gates.verdict import State
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.thresholds import Gate, Gates

_NO_ANSWER = Metric("no_answer")

_ORDER: dict[State, int] = {"failed": 0, "not checked": 1, "passed": 2}


def decide(
    evaluation: Evaluation,
    gates: Gates,
    *,
    comparison: Comparison | None = None,
    against: str = "",
    update_command: str = "",
    storing: bool = False,
    single_queries_only: bool = False,
    file: str = "",
) -> tuple[Verdict, ...]:
    """Judge all gates of a test; return the verdicts, failed ones first, of these what is furthest beyond its limit.

    ``comparison`` is the one with the baseline, or with what stands in for it, which messages call ``against``;
    ``update_command`` accepts today's run as the new baseline, and is empty where another run stands in for it;
    ``file`` is the path that the other run was read from, empty where it was read from none. With
    ``storing`` a new baseline is being stored: drops are then reported and fail nothing. With ``single_queries_only``
    the gates on means of a set or slice are left out.

    Where a query could not be retrieved nothing else is judged: there is no mean to judge.
    """
    if evaluation.errors:
        return (_errors(evaluation),)
    # Of single queries, unknown ids may be just what is wrong with them.
    if not single_queries_only and (unknown := _unknown_ids(evaluation, comparison)):
        return (unknown,)

    def judge_by(limits: Gates) -> BaselineJudge | None:
        if comparison is None:
            return None
        return BaselineJudge(
            evaluation,
            limits,
            comparison,
            against=against,
            update_command=update_command,
            storing=storing,
            file=file,
        )

    judge = judge_by(gates)
    verdicts = [*_forbidden(evaluation), *_wrongly_answered(evaluation, gates)]
    if judge is not None:
        # Where single answers of a baseline are replaced, the others stay, and must not have been edited.
        if storing == single_queries_only:
            verdicts += judge.judge_means()
        if not single_queries_only:
            verdicts += judge.judge_pairing()
    judged = _judge(evaluation, gates, judge, single_queries_only=single_queries_only)
    if gates.also is not None:
        also = judge_by(gates.also)
        judged |= {
            key: verdict
            for key, verdict in _judge(
                evaluation, gates.also, also, single_queries_only=single_queries_only
            ).items()
            if key not in judged or _ORDER[verdict.state] < _ORDER[judged[key].state]
        }
    return tuple(sorted([*verdicts, *judged.values()], key=_order))


def _judge(
    evaluation: Evaluation, gates: Gates, judge: BaselineJudge | None, *, single_queries_only: bool
) -> dict[tuple[object, ...], Verdict]:
    """Hold a run against limits; the verdicts are by metric, tag, word and single query."""
    verdicts = []
    for gate in gates:
        if gate.word == "min_each":
            if not single_queries_only or _without_own_min(evaluation, gate):
                verdicts.append(_min_each(evaluation, gate))
        elif gate.word == "significance":  # it narrows a max_drop, whose verdict speaks of it
            if "max_drop" not in gates.of(gate.metric, gate.tag):
                verdicts.append(_significance_alone(gate, judge))
        elif single_queries_only:
            continue
        elif gate.word in COMPARING_WORDS:
            verdicts.append(_without_baseline(gate) if judge is None else judge.judge(gate))
        else:
            verdicts.append(_bound(evaluation, gate))
    verdicts += judge_queries(evaluation, gates, judge)
    return {(one.metric, one.tag, one.word, one.single and one.queries): one for one in verdicts}


def _order(verdict: Verdict) -> tuple[int, bool, float]:
    """Return the sort key of a verdict: failed ones first; of these checks without a limit, means by excess, single queries."""
    if not verdict.failed:
        return _ORDER[verdict.state], False, 0.0
    broken_by = math.inf if verdict.broken_by is None else verdict.broken_by
    return _ORDER[verdict.state], verdict.single, -broken_by


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


def _forbidden(evaluation: Evaluation) -> Iterator[Verdict]:
    """Fail queries that return a document which is forbidden for them; pass where there are such documents."""
    forbidding = [query for query in evaluation.counted if query.forbidden]
    if forbidding:
        at_fault = tuple(query.id for query in forbidding if returns_forbidden(evaluation, query))
        state: State = "failed" if at_fault else "passed"
        yield Verdict(state, wording.forbidden(len(at_fault)), "forbidden", queries=at_fault)


def _wrongly_answered(evaluation: Evaluation, gates: Gates) -> Iterator[Verdict]:
    """Fail ``no_answer`` queries that got an answer, unless a threshold on the metric no_answer allows some."""
    unanswerable = [query for query in evaluation.counted if query.no_answer]
    if unanswerable and not any(metric.kind == "no_answer" for metric in gates.metrics):
        answered = tuple(query.id for query in unanswerable if any(map(len, evaluation.rankings(query.id))))
        state: State = "failed" if answered else "passed"
        yield Verdict(state, wording.no_answer(len(answered)), "no_answer", _NO_ANSWER, queries=answered)


def _without_baseline(gate: Gate) -> Verdict:
    return verdict_on(gate, "not checked", wording.without_baseline(gate))


def _significance_alone(gate: Gate, judge: BaselineJudge | None) -> Verdict:
    """Fail a ``significance`` without a ``max_drop`` to narrow, which would else gate nothing unseen."""
    if judge is None:
        return _without_baseline(gate)
    return verdict_on(gate, "failed", wording.significance_alone(gate))


def _bound(evaluation: Evaluation, gate: Gate) -> Verdict:
    """Hold a mean against its ``min`` or ``max``."""
    try:
        value = evaluation.mean(gate.metric, gate.tag)
    except NoQueryError as error:
        return verdict_on(gate, "failed", wording.no_query(error), over_no_query=True)
    limit = gate.limit.value
    holds = at_least(value, limit) if gate.word == "min" else at_least(-value, -limit)
    text = wording.bound(gate, value, holds=holds)
    if holds:
        return verdict_on(gate, "passed", text, limit=limit)
    if gate.metric.kind != "latency":
        queries = _by_influence(evaluation, gate)
        return verdict_on(gate, "failed", text, queries=queries, limit=limit, value=value)
    slow = _slow_queries(evaluation, gate)
    details = [wording.slowest(slow[:3])] if slow else []
    slow_ids = [query_id for query_id, _ in slow]
    return verdict_on(gate, "failed", text, queries=slow_ids, details=details, limit=limit, value=value)


def _slow_queries(evaluation: Evaluation, gate: Gate) -> list[tuple[str, float]]:
    """Return the queries that took longer than a latency may be with their milliseconds, the slowest first."""
    latencies = evaluation.retrieved.latencies
    times = [
        (query.id, max(latencies.get(query.id, (0.0,))))
        for query in evaluation.queries(gate.metric, gate.tag)
    ]
    slow = [(query_id, time) for query_id, time in times if time > gate.limit.value]
    return sorted(slow, key=lambda timed: (-timed[1], timed[0]))


def _by_influence(evaluation: Evaluation, gate: Gate) -> Sequence[str]:
    """Return the queries that keep a mean from its limit, by weight × score for a ``max``, else weight × what is missing."""
    scored = evaluation.scored(gate.metric, gate.tag)
    if gate.word == "max":
        parts = {query.id: query.weight * score for query, score in scored}
    else:
        best = max((score for _, score in scored), default=0.0)
        if math.isfinite(gate.metric.upper):
            best = gate.metric.upper
        parts = {query.id: query.weight * (best - score) for query, score in scored}
    return sorted((i for i, part in parts.items() if part > TOLERANCE), key=lambda i: (-parts[i], i))


def _min_each(evaluation: Evaluation, gate: Gate) -> Verdict:
    """Hold each query's score against ``min_each``."""
    limit = gate.limit.value
    judged = _without_own_min(evaluation, gate)
    below = sorted((score, query.id) for query, score in judged if not at_least(score, limit))
    text = wording.min_each(gate, len(judged), [score for score, _ in below])
    if not judged:
        return verdict_on(gate, "failed", text, over_no_query=True)
    queries = [query_id for _, query_id in below]
    lowest = below[0][0] if below else None
    return verdict_on(gate, "failed" if below else "passed", text, queries=queries, limit=limit, value=lowest)


def _without_own_min(evaluation: Evaluation, gate: Gate) -> list[tuple[Query, float]]:
    """Return the scored queries that have no ``min`` of their own on this metric, which takes the place of ``min_each``."""
    return [
        (query, score)
        for query, score in evaluation.scored(gate.metric, gate.tag)
        if not any(own.metric == gate.metric and "min" in own.limits for own in query.thresholds)
    ]
