"""Limits that nothing fails, and those that nothing meets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE, score_text
from pytest_irmetrics.golden.doubt import Doubt
from pytest_irmetrics.metrics import Scorer, mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.golden import GoldenSet, Query
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.thresholds import Threshold

_BOUNDED = ("precision", "recall", "f1", "hit", "map", "mrr", "ndcg", "r_precision", "rbp", "err")


def pointless_limits(golden: GoldenSet) -> Iterator[Doubt]:
    """Find the limits that nothing fails, and those that nothing meets."""
    for threshold in golden.thresholds:
        queries = [q for q in golden.queries.values() if threshold.tag is None or threshold.tag in q.tags]
        yield from _of_one(threshold, queries, golden)
    for query in golden.queries.values():
        for threshold in query.thresholds:
            yield from _of_one(threshold, [query], golden)


def _of_one(threshold: Threshold, queries: Sequence[Query], golden: GoldenSet) -> Iterator[Doubt]:
    metric = threshold.metric
    for word, limit in threshold.limits.items():
        if limit is None:
            continue
        free = (
            limit.value <= metric.lower
            if word in ("min", "min_each")
            else limit.value >= (100 if limit.percent else metric.upper - metric.lower)
            if word == "max_drop"
            else limit.value >= len(queries)
            if word == "max_lost"
            else False
        )
        if free:
            yield Doubt(
                threshold.origin,
                f"`{word}: {limit}` of {metric} is a gate that nothing fails. Write a limit, or off.",
            )
        elif word in ("min", "min_each") and metric.family in _BOUNDED:
            best = _best(metric, queries, golden, each=word == "min_each")
            if best is not None and best < limit.value - TOLERANCE:
                yield Doubt(
                    threshold.origin,
                    f"`{word}: {limit}` of {metric} cannot be met: with these judgments the best ranking there is scores "
                    f"{score_text(best, limit.value)}. Lower it, or choose a metric that allows for how many documents are "
                    "relevant (r_precision, ndcg).",
                )


def _best(metric: Metric, queries: Sequence[Query], golden: GoldenSet, *, each: bool) -> float | None:
    """Return the mean, or the lowest, of what rankings of the judged documents, best first, score."""
    counted = [query for query in queries if query.xfail is None and not query.no_answer]
    scorer = Scorer([metric], relevance_level=golden.relevance_level)
    judgments = [query.judgments for query in counted]
    (scores,) = scorer.columns(judgments, (tuple(sorted(j, key=lambda d, j=j: -j[d])) for j in judgments))  # type: ignore[misc]
    values = [
        (score, query.weight) for score, query in zip(scores, counted, strict=True) if score is not None
    ]
    if not values:
        return None
    return min(value for value, _ in values) if each else mean(*map(list, zip(*values, strict=True)))
