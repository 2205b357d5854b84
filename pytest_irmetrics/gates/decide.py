"""Decide the verdicts of a test: every gate by the judge of its word, and the checks that need no threshold."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain

from pytest_irmetrics.base.numbers import LATENCY_DIGITS, TOLERANCE, score_text
from pytest_irmetrics.base.wording import group_alike, plural
from pytest_irmetrics.evaluation import Evaluation, NoQueryError
from pytest_irmetrics.evaluation.evaluate import RETURN_IDS_BY, UnknownIds, find_unknown_ids
from pytest_irmetrics.gates.regression import check_pairing, check_unedited, judge_move, not_comparable
from pytest_irmetrics.gates.verdict import Case, Verdict, at_least, keeps, subject
from pytest_irmetrics.golden import Query
from pytest_irmetrics.golden.query import documents_of
from pytest_irmetrics.metrics import Metric
from pytest_irmetrics.run.answer import document_of
from pytest_irmetrics.thresholds import AUTO, COMPARING_WORDS, STATES, WORDS, Gate, Gates

_LONGEST_ERROR = 120
"""Characters of an error within a sentence; the whole of it stands below."""

_OPEN_BRACKET = r"(?s)\s*(?:\((?![^()]*\))|\[(?![^\[\]]*\])|\{(?![^{}]*\})).*"
"""A bracket that nothing closes, with what follows: a dump of data that is cut within."""

RETURN_KNOWN_IDS = f"{RETURN_IDS_BY.format('the fixture ir_doc_id')} If the ids are right and the search finds nothing relevant, the fixture ir_corpus shows that."


def decide(case: Case) -> tuple[Verdict, ...]:
    """Judge all gates of a test; return the verdicts in the order of `STATES`, first what is furthest beyond its limit.

    Where a query could not be retrieved nothing else is judged: there is no mean to judge.
    """
    evaluation, gates = case.evaluation, case.gates
    if evaluation.errors:
        return (_errors(evaluation),)
    # Of single queries, unknown ids may be just what is wrong with them.
    if not case.single_queries_only and (unknown := _unknown_ids(case)):
        return (unknown,)

    judged: dict[tuple[object, ...], Verdict] = {}
    for limits in (gates, *gates.also):
        held = case._replace(gates=limits)
        for gate in chain(limits, limits.own_gates((one.id, one.thresholds) for one in evaluation.counted)):
            verdict = _judge(held, gate)
            if verdict is not None:
                known = judged.setdefault(verdict.key, verdict)  # by other limits: the worse one counts
                judged[verdict.key] = min(known, verdict, key=lambda one: STATES.index(one.state))
    # The word of each is described in `VerdictReport.word`, is one of `ON_ALL_ANSWERS` where it is, and is held against the commit of
    # --ir-since unless `_OF_TODAY` of since.py has it. docs/statistics.md ("What never passes") and docs/baseline.md say when they fail.
    checks = (
        _forbidden,
        _wrongly_answered,
        _nothing_returned,
        check_unedited,
        check_pairing,
        _baseline_of_other_ids,
    )
    verdicts = [verdict for check in checks for verdict in check(case)]
    return tuple(sorted([*verdicts, *judged.values()], key=_order))


def _order(verdict: Verdict) -> tuple[int, bool, float]:
    """Return the sort key of a verdict: by state; then checks without a limit, means by how far they are beyond it, single queries.

    The check on `no_answer` stands below the means: a search that is broken as a whole fails it, too.
    """
    excess = math.inf if verdict.broken_by is None else verdict.broken_by
    excess = 0.0 if verdict.word == "no_answer" else excess
    return STATES.index(verdict.state), verdict.single, -excess


# The judge of each word of thresholds


def _judge(case: Case, gate: Gate) -> Verdict | None:
    """Return the verdict on a gate; None where it is left out, or another gate's verdict speaks of it."""
    if case.single_queries_only and gate.query_id is None and not WORDS[gate.word].of_each:
        return None
    try:
        obstacle = not_comparable(case, gate) if gate.metric.kind == "overlap" else None
        verdict = obstacle or _JUDGES[gate.word](case, gate)
    except NoQueryError as error:
        verdict = Verdict.of(gate, "failed", f"A gate over no query: {error}", over_no_query=True)
    if verdict is not None and case.storing:
        verdict = _while_storing(case, gate, verdict)
    # The next baseline would not have the tag, and so no gate on it.
    is_gone = gate.tag in case.against.gone_tags
    if is_gone and verdict is not None and (verdict.over_no_query or not verdict.failed):
        text = f"A gate over no query: {gate.metric} has none tagged {gate.tag!r} any more. Give the tag back, or store a new baseline."
        return Verdict.of(gate, "failed", text)._replace(word="baseline")
    return verdict


def _while_storing(case: Case, gate: Gate, verdict: Verdict) -> Verdict | None:
    """Return a verdict as it is in a run that replaces the baseline: `not checked` where it would hold the run to that, None where there was none."""
    if verdict.state == "passed" or not (gate.compares or verdict.state == "not checked"):
        return verdict
    if case.comparison is None:
        return None
    text = f"{verdict.text} An update is not held to that."
    return verdict._replace(state="not checked", text=text, on_fall=False, broken_by=None)


def _bound(case: Case, gate: Gate) -> Verdict:
    """Hold a mean, or the score of a query, against its ``min`` or ``max``."""
    value, limit = case.score(gate), gate.limit.value
    unit, digits = (" ms", LATENCY_DIGITS) if gate.metric.kind == "latency" else ("", 4)
    shown, wanted = score_text(value, limit, digits=digits), score_text(limit, value, digits=digits)
    rule, side = f"at most {wanted}{unit} is allowed", "above"
    if gate.word == "min":
        rule, side = f"at least {wanted}{unit} is required", "below"
    if keeps(gate, value, limit):
        return Verdict.of(gate, "passed", f"{subject(gate)} is {shown}{unit}; {rule}.")
    gap = score_text(abs(value - limit), 0.0, digits=digits)
    whose = "the threshold:" if gate.query_id is None else "its own threshold;"
    text = f"{subject(gate)} is {shown}{unit}, {gap}{unit} {side} {whose} {rule}."
    fell = _queries_that_fell(case, gate)
    parts = {} if gate.query_id or fell else _parts_of_gap(case.measured(gate.metric), gate)
    low = sorted((i for i, part in parts.items() if part > TOLERANCE), key=lambda i: (-parts[i], i))
    more = {"queries": fell or tuple(low), "limit": limit, "value": value, "on_fall": bool(fell)}
    return Verdict.of(gate, "failed", text, **more)


def _queries_that_fell(case: Case, gate: Gate) -> tuple[str, ...]:
    """Return the queries that are worse than in the baseline, the worst first, where a mean below its ``min`` fell; else none."""
    if case.comparison is None or gate.word != "min" or gate.compares or gate.query_id:
        return ()
    change = case.comparison.change(gate.metric, gate.tag)
    return () if at_least(change.delta, -gate._replace(limit=AUTO).allowed(change.baseline)) else change.worse


def _parts_of_gap(evaluation: Evaluation, gate: Gate) -> dict[str, float]:
    """Return by how much each query keeps a mean from its limit.

    That is weight × score for a ``max``, else weight × what is missing; of a latency the milliseconds beyond the limit.
    """
    metric, tag = gate.metric, gate.tag
    if metric.kind == "latency":
        took = evaluation.retrieved.latencies
        return {q.id: max(took[q.id]) - gate.limit.value for q in evaluation.queries(metric, tag)}
    scores, queries = evaluation.scores_of(metric, tag), evaluation.golden.queries
    if gate.word == "max":
        return {i: queries[i].weight * score for i, score in scores.items()}
    best = metric.upper if math.isfinite(metric.upper) else max(scores.values())
    return {i: queries[i].weight * (best - score) for i, score in scores.items()}


def _min_each(case: Case, gate: Gate) -> Verdict | None:
    """Hold each query's score against ``min_each``, but for those with a ``min`` of their own, or `off`, which takes its place."""
    limit = gate.limit.value
    evaluation = case.measured(gate.metric)

    def has_own_min(query: Query) -> bool:
        own = case.gates.own_thresholds(query.id, query.thresholds)
        return any(threshold.metric == gate.metric and "min" in threshold.limits for threshold in own)

    scores = evaluation.scores_of(gate.metric, gate.tag)
    judged = [(score, i) for i, score in scores.items() if not has_own_min(evaluation.golden.queries[i])]
    if not judged:
        if case.single_queries_only:
            return None
        raise NoQueryError(f"nothing is left for min_each on {subject(gate)}.")
    lowest = min(judged)[0]
    below = sorted(each for each in judged if not keeps(gate, each[0], limit))
    asked = plural(len(judged), "query")
    if not below:
        text = f"{subject(gate)} is at least {score_text(limit)} for each of {asked}."
        return Verdict.of(gate, "passed", text)
    text = f"{subject(gate)} is below {score_text(limit, lowest)} for {len(below):,} of {asked}; the lowest is {score_text(lowest, limit)}, and each must reach it."
    queries = tuple([query_id for _, query_id in below])
    return Verdict.of(gate, "failed", text, queries=queries, limit=limit, value=lowest)


def _significance(case: Case, gate: Gate) -> Verdict | None:
    """Leave a ``significance`` to the verdict of the ``max_drop`` that it narrows; fail one that has none."""
    if "max_drop" in case.gates.of(gate.metric, gate.tag):
        return None
    if case.comparison is None:
        return judge_move(case, gate)
    # Else it would silently gate nothing.
    text = f"{subject(gate)}: significance {gate.limit} has no max_drop to narrow. Give one, or take it away."
    return Verdict.of(gate, "failed", text)


_JUDGES: Mapping[str, Callable[[Case, Gate], Verdict | None]] = {
    "min": _bound,
    "max": _bound,
    "min_each": _min_each,
    "significance": _significance,
    **dict.fromkeys(COMPARING_WORDS, judge_move),
}
"""The words of thresholds, each with its judge."""


# Checks that need no threshold


def _errors(evaluation: Evaluation) -> Verdict:
    """Fail where queries could not be retrieved: say how many, and with which error most of them."""
    errors = evaluation.errors
    # Those that count, as everywhere, and what failed of those that are known to be bad.
    asked = len({*(query.id for query in evaluation.counted), *errors})
    kinds = group_alike(errors.values(), str)
    beginning = _beginning(kinds[0][0])
    there = "There is" if len(kinds) == 2 else "There are"
    others = f" {there} {plural(len(kinds) - 1, 'other error', 'other errors')}." if len(kinds) > 1 else ""
    text = f"{len(errors):,} of {plural(asked, 'query')} could not be retrieved: {beginning}.{others} No mean was computed."
    if evaluation.retrieved.unasked:
        text += f" The first {len(errors):,} all failed, and the others were not asked."
    return Verdict("failed", text, "errors", queries=tuple(errors))


def _beginning(error: str) -> str:
    """Return an error without its full stop; of a long one the first sentences, or words, up to a bracket that is cut.

    Where all queries have one error, and it stands in the verdict whole, `_errors` of reports/document.py does not repeat it.
    """
    if len(error) <= _LONGEST_ERROR:
        return error.rstrip(".")
    text = re.sub(_OPEN_BRACKET, "", error[: _LONGEST_ERROR - 1])
    return text.rpartition(". ")[0] or f"{text}…"


def _unknown_ids(case: Case) -> Verdict | None:
    """Fail a run of which not one id occurs anywhere in the golden set, unless the index is known to have ids of both."""
    unknown = find_unknown_ids(case.evaluation)
    if unknown is None:
        return None
    if all(any(one in case.in_index for one in ids) for ids in (unknown.returned, unknown.expected)):
        return None
    before = set[str]() if case.comparison is None else _returned_by(case.comparison.baseline)
    details = (*unknown.examples, RETURN_KNOWN_IDS)
    if not before or unknown.is_one_answer or unknown.alike:
        return Verdict("failed", unknown.problem, "ids", details=details)
    known = len(before.intersection(unknown.returned))
    returned = plural(len(unknown.returned), "returned id")
    text = f"No judged document came back for any query: of the {returned} none is in the golden set, and {known or 'none'} in the baseline's answers."
    # Ids as before need no other ids.
    return Verdict("failed", text, "ids", details=unknown.examples if known else details)


def _returned_by(evaluation: Evaluation) -> set[str]:
    """Return the documents in the rankings of all queries that count."""
    found = (ids for query in evaluation.counted for ids in evaluation.rankings(query.id))
    return {document_of(entry) for ids in found for entry in ids}


def _baseline_of_other_ids(case: Case) -> Iterator[Verdict]:
    """Fail where no id of a baseline that was stored before any judgment is judged or came back today: nothing can fall from its scores of 0."""
    comparison, run = case.comparison, case.evaluation
    if comparison is None or not case.against.update_command or case.storing or case.single_queries_only:
        return
    answers, judged = comparison.baseline.run.answers.values(), run.golden.document_ids
    if not judged or any(answer.judgments for answer in answers):
        return
    returned = {document_of(entry) for answer in answers for ids in answer.rankings for entry in ids}
    known = judged | _returned_by(run)
    if returned and not any(one in known or one in case.in_index for one in returned):
        text = f"None of the {plural(len(returned), 'id')} in {case.against.name} is judged, or came back today, so that nothing could fall."
        examples = UnknownIds(sorted(returned), sorted(judged), is_one_answer=False).examples
        advice = "Store it anew, with the search as it was then."
        yield Verdict("failed", text, "baseline", details=(*examples, advice))


def _nothing_returned(case: Case) -> Iterator[Verdict]:
    """Fail a run in which every answer is empty: of such a search nothing can be said, and no later one would be worse."""
    asked = tuple([query.id for query in case.evaluation.counted if not query.no_answer])
    if asked and not case.single_queries_only and not any(map(case.evaluation.has_results, asked)):
        of = f"any of the {len(asked):,} queries that have" if len(asked) > 1 else "the one query that has"
        yield Verdict("failed", f"Nothing came back for {of} an answer.", "empty", queries=asked)


def _forbidden(case: Case) -> Iterator[Verdict]:
    """Fail queries that return a document which is forbidden for them; pass where there are such documents."""
    evaluation = case.evaluation
    forbidding, wrong = [query for query in evaluation.counted if query.forbidden], list[str]()
    for query in forbidding:
        came = {*chain(*evaluation.rankings(query.id))}
        if not came.union(documents_of(query, came)).isdisjoint(query.forbidden):
            wrong.append(query.id)
    if wrong:
        text = f"{plural(len(wrong), 'query returns', 'queries return')} a document that is forbidden."
        yield Verdict("failed", text, "forbidden", queries=tuple(wrong))
    elif forbidding:
        yield Verdict("passed", "No forbidden document is returned.", "forbidden")


def _wrongly_answered(case: Case) -> Iterator[Verdict]:
    """Fail ``no_answer`` queries that got an answer, unless a threshold on the metric no_answer allows some."""
    # Of today's limits, and of those of another commit: the tags of the queries of which some may be answered, None for all.
    allowing = [
        {tag for metric, tag in one.slices if metric.kind == "no_answer"}
        for one in (case.gates, *case.gates.also)
    ]
    marked = [query for query in case.evaluation.counted if query.no_answer]
    unanswerable = [q for q in marked if not all(None in tags or {*q.tags} & tags for tags in allowing)]
    if not unanswerable:
        return
    metric = Metric("no_answer")
    wrong = tuple(query.id for query in unanswerable if case.evaluation.has_results(query.id))
    if wrong:
        got = f"{plural(len(wrong), 'query')} marked `no_answer` got an answer"
        text = f'{got}. To allow some: ir_threshold("no_answer", min=0.9).'
        yield Verdict("failed", text, "no_answer", metric, queries=wrong)
    else:
        yield Verdict("passed", "Every `no_answer` query came back empty.", "no_answer", metric)


def would_pass(evaluation: Evaluation, query: Query, gates: Gates) -> bool:
    """Tell whether an ``xfail`` query would pass now: no gate on a single query would fail for it.

    Without a gate of its own, an answerable query must at least find a relevant document.
    """
    golden = replace(evaluation.golden, _queries=[replace(query, xfail=None)])
    alone = Case(replace(evaluation, golden=golden), gates, single_queries_only=True)
    if any(verdict.failed for verdict in decide(alone)):
        return False
    if query.no_answer:
        return not evaluation.has_results(query.id)
    relevant = golden.relevant(query)
    return all(relevant.intersection(ranking) for ranking in evaluation.rankings(query.id))
