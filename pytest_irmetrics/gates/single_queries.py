"""The gates on single queries: their own thresholds, and whether one that is known to be bad has mended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import score_text
from pytest_irmetrics.gates.regression import accept_or_take_back, too_shallow, under_stored
from pytest_irmetrics.gates.verdict import Regression, Verdict, at_least

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.gates.verdict import State
    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.thresholds import Gates, Limit


def query_gates(evaluation: Evaluation, regression: Regression | None) -> Iterator[Verdict]:
    """Hold single queries against their own thresholds."""
    for query in evaluation.counted:
        for own in query.thresholds:
            score = evaluation.score(own.metric, query.id)
            for word, limit in own.limits.items():
                if limit is not None:
                    yield _query_gate(query, own.metric, word, limit, own.origin, score, regression)


def _query_gate(
    query: Query,
    metric: Metric,
    word: str,
    limit: Limit,
    origin: str,
    score: float | None,
    regression: Regression | None,
) -> Verdict:
    what = f"{metric.name} of the query {query.id}"

    def verdict(
        state: State, text: str, details: tuple[str, ...] = (), *, as_stored: bool = False
    ) -> Verdict:
        return Verdict(
            state,
            text,
            word,
            metric,
            None,
            (query.id,),
            details,
            origin,
            limit.value,
            single=True,
            as_stored=as_stored,
        )

    if score is None:
        return verdict("failed", f"A gate over no query: {what} is not defined.")
    if word == "min":
        shown, wanted = score_text(score, limit.value), score_text(limit.value, score)
        holds = at_least(score, limit.value)
        gap = "" if holds else f", {score_text(limit.value - score, 0.0)} below its own threshold"
        return verdict(
            "passed" if holds else "failed", f"{what} is {shown}{gap}; at least {wanted} is required."
        )
    if regression is None:
        return verdict("not checked", f"{what}: max_drop {limit} is not checked without --ir-baseline.")
    shallow = too_shallow(metric, what, regression)
    if shallow is not None:
        return verdict("failed" if regression.gated else "not checked", shallow[0], (shallow[1],))
    comparison = regression.comparison
    then, change = comparison.as_labelled_then, comparison.change(metric)
    # An edited golden set alone turns no failure into a pass, as with the gates on means.
    changed = comparison.relabelled()
    sides = [change, *([then.change(metric)] if then is not None and changed else [])]
    sides = [side for side in sides if query.id in side.differences]
    if not sides:
        return verdict(
            "not checked",
            f"{what}: max_drop is not checked, because {regression.against} does not have this query.",
        )
    for side in sides:
        before = side.before[query.id]
        allowed = limit.value / 100 * abs(before) if limit.percent else limit.value
        drop = -side.differences[query.id]
        rule = f"at most {score_text(allowed, drop)} is allowed"
        if not at_least(allowed, drop):
            text = f"{what} fell by {score_text(drop, allowed)} to {score_text(side.after[query.id], before)}; {rule}."
            details: tuple[str, ...] = ()
            if side is not change:
                text = under_stored(changed, regression.against) + text
                details = (accept_or_take_back(changed),)
            state: State = "failed" if regression.gated else "not checked"
            return verdict(state, text, details, as_stored=side is not change)
    return verdict("passed", f"{what} did not fall beyond its limit; {rule}.")


def would_pass(evaluation: Evaluation, query: Query, gates: Gates) -> bool:
    """Tell whether an ``xfail`` query has mended: nothing that gates single queries would fail for it now.

    Without a gate of its own, an answerable query must at least find a relevant document.
    """
    rankings = evaluation.rankings(query.id)
    if any(doc_id in ranking for ranking in rankings for doc_id in query.forbidden):
        return False
    if query.no_answer:
        return not any(map(len, rankings))
    own = {threshold.metric: threshold.limits.get("min") for threshold in query.thresholds}
    inherited = {
        gate.metric: gate.limit
        for gate in gates.with_word("min_each")
        if gate.tag is None or gate.tag in query.tags
    }
    for metric, limit in {**inherited, **own}.items():
        score = evaluation.score(metric, query.id)
        if limit is not None and score is not None and not at_least(score, limit.value):
            return False
    relevant = {
        doc_id for doc_id, grade in query.judgments.items() if grade >= evaluation.golden.relevance_level
    }
    return all(relevant.intersection(ranking) for ranking in rankings)
