"""Estimate how much the change of a mean varies from run to run, from queries that were asked more than once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pytest_irmetrics.comparison.metric_change import MetricChange, RunNoise
from pytest_irmetrics.comparison.significance import sample_variance, t_quantile
from pytest_irmetrics.metrics import mean, mean_of_scored

_LEVEL = 0.95
"""One-sided: of the runs in which nothing but noise differs, one in twenty fails a `max_drop` of 0. docs/noise.md says it, and the quantiles, too; docs/statistics.md has how often noise then fails, measured."""

_NORMAL_QUANTILE = 1.645
"""The standard normal quantile of that level."""

_ROUNDING = 1e-9
"""By what share two equal variances may differ: of a single unstable query, that by query and that by pass are the same."""


class _Side(NamedTuple):
    """One side's scores: how often it asked, and how they vary between its repeats."""

    scores: Mapping[str, Sequence[float]]
    """Query id → the scores of its repeats, without those that the metric left out."""
    passes: int
    of_passes: float
    """The sample variance of the passes' means."""


def measure_run_noise(
    change: MetricChange,
    before: Mapping[str, Sequence[float | None]],
    now: Mapping[str, Sequence[float | None]],
) -> RunNoise | None:
    """Return how much a change varies from run to run; None without repeats, or where each score was the same each time.

    ``before`` and ``now`` map query ids to the scores of their repeats on each side, None where the metric left the query
    out. The variance is the larger of two: that of a sum of independent queries, Σ (w / Σw)² · s² / R on each side, where s²
    is the sample variance of a query's scores over its R repeats; and that of the passes' means, S² / R on each side, as
    the queries of one pass share its index build or replica. Where the second is the larger, the quantile is
    Student's, with the degrees of freedom of Welch and Satterthwaite. Where one side asked once, the other's variances stand for it.
    """
    total = math.fsum(change.weights[query_id] for query_id in change.differences)
    weights = {query_id: change.weights[query_id] / total for query_id in change.differences}
    sides = _measure_side(weights, now), _measure_side(weights, before)
    repeated = [side for side in sides if side.passes > 1]
    if not repeated:
        return None
    parts = {}
    for query_id, weight in weights.items():
        scores = [side.scores[query_id] for side in sides]
        known = next((sample_variance(each) for each in scores if len(each) > 1), 0.0)
        of_means = [(sample_variance(each) if len(each) > 1 else known) / len(each) for each in scores]
        parts[query_id] = weight**2 * math.fsum(of_means)
    by_query = math.fsum(parts.values())
    of_passes = [side.of_passes if side.passes > 1 else repeated[0].of_passes for side in sides]
    by_pass = math.fsum(variance / side.passes for variance, side in zip(of_passes, sides, strict=True))
    if not (by_pass or by_query):
        return None
    passes_decide = by_pass >= by_query * (1 - _ROUNDING)
    unstable = sorted((i for i, part in parts.items() if part > 0), key=lambda i: (-parts[i], i))
    deviation = math.sqrt(by_pass if passes_decide else by_query)
    quantile = t_quantile(_LEVEL, _degrees_of_freedom(repeated)) if passes_decide else _NORMAL_QUANTILE
    return RunNoise(deviation, quantile * deviation, tuple(unstable), (sides[0].passes, sides[1].passes))


def _measure_side(weights: Mapping[str, float], repeats: Mapping[str, Sequence[float | None]]) -> _Side:
    """Measure how one side's scores vary between its passes; each query has a score on both sides."""
    scores = {i: [score for score in repeats[i] if score is not None] for i in weights}
    passes = max((len(repeats[i]) for i in weights), default=1)
    # Of a query that was asked in fewer passes its average stands for the others.
    filled = [[*repeats[i], *[mean(scores[i])] * (passes - len(repeats[i]))] for i in weights]
    means = [mean_of_scored(each, [*weights.values()]) for each in zip(*filled, strict=True)]
    return _Side(scores, passes, sample_variance([one for one in means if one is not None]))


def _degrees_of_freedom(repeated: Sequence[_Side]) -> float:
    """Return the degrees of freedom of the variance by pass, by Welch and Satterthwaite, over the sides that asked repeatedly."""
    parts = [side.of_passes / side.passes for side in repeated]
    squares = math.fsum(part**2 / (side.passes - 1) for part, side in zip(parts, repeated, strict=True))
    return math.fsum(parts) ** 2 / squares
