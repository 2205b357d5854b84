"""Estimate how much the change of a mean varies from run to run, from queries that were asked more than once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_irmetrics.comparison.metric_change import MetricChange

NOISE_Z = 1.645
"""Standard deviations of run noise by which a fall must exceed its limit to fail: one-sided, 5 % false alarms."""


class RunNoise(NamedTuple):
    """How much the change of a mean varies between runs of the same retriever over the same golden set."""

    deviation: float
    """The standard deviation of the change, on the metric's scale."""
    unstable: tuple[str, ...]
    """Ids of the queries whose scores differ between repeats, those that move the mean most first."""

    @property
    def margin(self) -> float:
        """How far a mean may fall beyond its limit and still count as run noise."""
        return NOISE_Z * self.deviation


def measure_run_noise(
    change: MetricChange, before: Mapping[str, Sequence[float]], now: Mapping[str, Sequence[float]]
) -> RunNoise | None:
    """Return how much a change varies from run to run; None where no paired query was asked more than once.

    ``before`` and ``now`` map query ids to the scores of their repeats on each side. The result is the standard deviation
    of a weighted mean of independent differences, √V with V = Σ (w / Σw)² · (s²_before / R_before + s²_now / R_now), where
    s² is the sample variance of a query's scores over its R repeats. Where one side asked once, the other side's s² stands
    for it.
    """
    total = math.fsum(change.weights[query_id] for query_id in change.differences)
    parts: dict[str, float] = {}
    repeated = False
    for query_id in change.differences:
        repeats = before.get(query_id, []), now.get(query_id, [])
        variances = [_variance(scores) if len(scores) > 1 else None for scores in repeats]
        known = next((variance for variance in variances if variance is not None), None)
        repeated = repeated or known is not None
        parts[query_id] = (change.weights[query_id] / total) ** 2 * math.fsum(
            (known or 0.0 if variance is None else variance) / max(len(scores), 1)
            for variance, scores in zip(variances, repeats, strict=True)
        )
    if not repeated:
        return None
    unstable = sorted((i for i, part in parts.items() if part > 0), key=lambda i: (-parts[i], i))
    return RunNoise(math.sqrt(math.fsum(parts.values())), tuple(unstable))


def _variance(scores: Sequence[float]) -> float:
    """Return the sample variance, with n − 1 below; exactly 0 where all agree. `statistics` takes a hundred times as long."""
    if min(scores) == max(scores):
        return 0.0
    middle = math.fsum(scores) / len(scores)
    return math.fsum((score - middle) ** 2 for score in scores) / (len(scores) - 1)
