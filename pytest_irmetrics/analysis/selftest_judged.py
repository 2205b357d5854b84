"""A degradation with what it did to the means."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.evaluation import read_metrics

if TYPE_CHECKING:
    from pytest_irmetrics.analysis.degradations import Plan
    from pytest_irmetrics.reports.item_report import Degradation


class Judged(NamedTuple):
    """A degradation, what came of it, and the degraded run beside the intact one."""

    plan: Plan
    degradation: Degradation
    comparison: Comparison


def whole_deltas(comparison: Comparison) -> dict[str, float]:
    """Return how far the whole rankings moved, whatever the cut-offs of the metrics that are reported."""
    depth = comparison.depth
    metrics = read_metrics([name if depth is None else f"{name}@{depth}" for name in ("recall", "ndcg")])
    now, baseline = comparison.now.narrowed(metrics=metrics), comparison.baseline.narrowed(metrics=metrics)
    measured = Comparison(now, baseline)
    return {metric.name: measured.change(metric).delta for metric in metrics}
