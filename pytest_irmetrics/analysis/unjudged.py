"""Say where a fall may come of missing judgments: clearly more of today's results are unjudged than of the baseline's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.base.wording import plural

if TYPE_CHECKING:
    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.metrics import Metric

_MANY_MORE = 0.05
"""From which share of today's results on it is clearly more of them that are unjudged."""


def missing_judgments(comparison: Comparison, metric: Metric) -> str | None:
    """Say how many results are new and unjudged, where a metric fell and they are many more than those that left.

    They are counted among the first k of the metric, over the queries that both runs have. None where passages are judged:
    most results are then chunks that were looked through and hold none.
    """
    if comparison.now.by_passage or metric.kind != "ranking" or comparison.change(metric).delta >= -TOLERANCE:
        return None
    results = new = left = 0
    for query in comparison.now.queries(metric):
        judged = {*query.judgments, *query.forbidden}
        now = _returned(comparison.now, query.id, metric.cutoff)
        before = _returned(comparison.baseline, query.id, metric.cutoff)
        results += len(now)
        new += len(now - before - judged)
        left += len(before - now - judged)
    if not new or new - left < _MANY_MORE * results:
        return None
    return (
        f"Missing judgments? {new:,} of {plural(results, 'result')} {'is' if new == 1 else 'are'} new and unjudged, and "
        f"{left or 'no'} unjudged {'one' if left == 1 else 'ones'} left. Judge both runs before you decide."
    )


def _returned(side: Evaluation, query_id: str, cutoff: int | None) -> set[str]:
    """Return the documents of a query down to a cut-off, over all answers to it."""
    return {doc_id for ranking in side.rankings(query_id) for doc_id in ranking[:cutoff]}
