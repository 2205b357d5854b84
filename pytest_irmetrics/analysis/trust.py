"""Notes on how far compared scores can be trusted: unjudged documents, small sets, run noise."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, score_text
from pytest_irmetrics.evaluation import read_metrics
from pytest_irmetrics.gates.wording import answers_asked
from pytest_irmetrics.golden import GoldenSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.comparison import Comparison, RunNoise
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.gates import Verdict
    from pytest_irmetrics.metrics import Metric

_MAX_UNSTABLE = 3
"""Queries that a note on run noise names."""

_ENOUGH_ANSWERS = 10
"""Answers a query with which noise is known well enough; who has them is told what four times as many would show."""


_MAIN_CAUSE = 1 / 2
"""From which share of a drop on new unjudged documents are offered as its cause."""

_MIN_JUDGED_DROP = 0.05
"""From this drop of the share of judged results on, a drop of another metric may be one of missing labels."""


def on_unjudged(comparison: Comparison, metric: Metric) -> Iterator[str]:
    """Say that a drop of ``metric`` may come from unjudged documents, where most of it does, and what these could score.

    Not where passages are judged: most results are then chunks that were looked through and hold none.
    """
    if comparison.now.by_passage or metric.kind != "ranking":
        return
    depth = comparison.depth
    (judged,) = read_metrics(["judged" if depth is None else f"judged@{depth}"])
    at_hand = judged in (*comparison.now.metrics, *comparison.now.extra_metrics)
    measured = (comparison if at_hand else comparison.with_metrics([judged])).change(judged)
    if measured.now is None or measured.baseline is None or measured.delta > -_MIN_JUDGED_DROP:
        return
    change = comparison.change(metric)
    if change.now is None or change.delta >= -TOLERANCE:
        return
    without = _without_new_unjudged(comparison, metric)
    if without - change.now < _MAIN_CAUSE * -change.delta:
        return
    now, before = _if_all_relevant(comparison, metric)
    yield (
        f"{judged.name} is {score_text(measured.now)}, and was {score_text(measured.baseline)}: more of today's results "
        f"were never judged. Without those that are new {metric.name} would be {score_text(without)}. It is {score_text(change.now)} (was {score_text(change.baseline)}) if no unjudged "
        f"document is relevant, and {score_text(now)} (was {score_text(before)}) if each is as good as its query's best. "
        f"Judge them before you decide: `pytest --ir-report=json:run.json` writes today's run, and `pytest-irmetrics label "
        f"{_golden_file(comparison.now)} --run run.json` lists them."
    )


def _without_new_unjudged(comparison: Comparison, metric: Metric) -> float:
    """Return today's mean if no document had come in that is not judged.

    What is left of a ranking moves up, in its order, and below it comes back what left it. So a document that fell below
    others which were there before, or left a place that nothing new took, does not get its rank back. Nor does a query whose
    results were all exchanged: that says more of the search than of the judgments.
    """
    answers = {}
    for query in comparison.now.queries(metric):
        known = {*query.judgments, *query.forbidden}
        before, now = comparison.baseline.rankings(query.id), comparison.now.rankings(query.id)
        rankings = []
        for turn, ranking in enumerate(now):
            then = before[turn % len(before)]
            kept = [doc_id for doc_id in ranking if doc_id in known or doc_id in then]
            gone = [doc_id for doc_id in then if doc_id not in ranking]
            rankings.append(tuple([*kept, *gone][: comparison.depth] if kept else ranking))
        answers[query.id] = replace(comparison.now.run.answers[query.id], rankings=tuple(rankings))
    return comparison.now.with_answers(answers).narrowed(metrics=[metric]).mean(metric)


def _golden_file(evaluation: Evaluation) -> str:
    """Return the golden set's path, quoted for a shell; ``FILE`` where it has none."""
    golden = evaluation.golden
    if golden.path is None or not evaluation.counted:
        return "FILE"
    return shlex.quote(golden.where(evaluation.counted[0].id).rpartition(":")[0])


def _if_all_relevant(comparison: Comparison, metric: Metric) -> tuple[float, float]:
    """Return the means of both sides, now first, as if all unjudged results had their query's highest grade."""
    golden, sides = comparison.now.golden, (comparison.now, comparison.baseline)
    queries = dict(golden.queries)
    for query in comparison.now.queries(metric):
        best = max(query.judgments.values(), default=1)
        returned = {
            doc_id: best for side in sides for ranking in side.rankings(query.id) for doc_id in ranking
        }
        queries[query.id] = replace(query, judgments={**returned, **query.judgments})
    judged = GoldenSet(queries.values(), name=golden.name, relevance_level=golden.relevance_level)
    now, before = (side.narrowed(golden=judged, metrics=[metric]).mean(metric) for side in sides)
    return now, before


def on_passed_drops(comparison: Comparison, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Report drops that passed although they are beyond their limit: they are not significant, or within run noise.

    And limits that are smaller than run noise.
    """
    for verdict in verdicts:
        if not _is_set_drop(verdict) or verdict.failed or verdict.metric is None or verdict.limit is None:
            continue
        if verdict.limit < -comparison.change(verdict.metric, verdict.tag).delta - TOLERANCE:
            yield verdict.text
        noise = comparison.run_noise(verdict.metric, verdict.tag)
        margin = noise.margin if noise is not None else 0.0
        if noise is not None and verdict.limit < margin:
            what = verdict.metric.name if verdict.tag is None else f"{verdict.metric.name} [{verdict.tag}]"
            more = max(_ENOUGH_ANSWERS, 4 * max(noise.asked) if max(noise.asked) >= _ENOUGH_ANSWERS else 0)
            yield (
                f"max_drop {score_text(verdict.limit)} of {what} is less than what differs from run to run: with "
                f"{answers_asked(noise)} a fall fails beyond {score_text(verdict.limit + margin)}, with {more} "
                f"(--ir-repeat={more}) beyond about {score_text(verdict.limit + noise.margin_if_asked(more), digits=2)}. "
                f"Least stable: {', '.join(noise.unstable[:_MAX_UNSTABLE])}."
            )


def on_run_noise(comparison: Comparison, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Say by how much a fall must exceed its limit, to be told from what varies from run to run."""
    margins = [
        f"{verdict.metric} {score_text(noise.margin)} ({noise.quantile:.2f} × the standard deviation {score_text(noise.deviation)})"
        for verdict in verdicts
        if verdict.tag is None and (noise := _noise_of(comparison, verdict)) is not None
    ]
    if margins:
        yield (
            "A fall fails where it exceeds max_drop by more than differs from run to run: "
            f"{', '.join(margins)}."
        )


def _noise_of(comparison: Comparison, verdict: Verdict) -> RunNoise | None:
    """Return the run noise of a judged ``max_drop``; None where there is none."""
    if not _is_set_drop(verdict) or verdict.metric is None:
        return None
    noise = comparison.run_noise(verdict.metric, verdict.tag)
    return noise if noise is not None and noise.deviation > 0 else None


def _is_set_drop(verdict: Verdict) -> bool:
    """Tell whether a verdict is on a ``max_drop`` of a mean, and was held against its limit."""
    judged = verdict.metric is not None and verdict.limit is not None
    return verdict.word == "max_drop" and judged and not verdict.single and verdict.state != "not checked"


def on_averages(comparison: Comparison) -> Iterator[str]:
    """Say that the scores shown are averages, where queries were asked more than once."""
    now, before = (
        max((len(side.rankings(query.id)) for query in side.counted), default=1)
        for side in (comparison.now, comparison.baseline)
    )
    if now > 1 or before > 1:
        yield (
            f"Today's scores are {_averaged(now)}, the baseline's {_averaged(before)}. Of several answers, one with a "
            "fault (a forbidden document, an answer where none is right), or else the one that scores like their average is shown."
        )


def _averaged(answers: int) -> str:
    return "of one answer a query" if answers == 1 else f"averages over {answers} answers a query"
