"""Choose the metric that leads: by which queries are ordered, slices are compared, and the first mean is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_irmetrics.gates.verdict import Verdict
    from pytest_irmetrics.metrics import Metric
    from pytest_irmetrics.thresholds import Gates

USUAL = "ndcg@10"
"""The metric that leads, and is gated by default, where nothing says otherwise."""


def usual_metric(metrics: Iterable[Metric]) -> Metric | None:
    """Return `ndcg@10` where it is among the metrics, else the first that rates rankings; None where none does."""
    rating = [metric for metric in metrics if rates_rankings(metric)]
    return next((metric for metric in rating if metric.name == USUAL), rating[0] if rating else None)


def gated_by_default(gates: Gates, metrics: Iterable[Metric]) -> list[Metric]:
    """Return the metrics that a `max_drop` gates where no threshold says so: those with a threshold over the whole set.

    A threshold on a slice does not count. Where none of them rates rankings, the usual one of `metrics` is gated too.
    """
    gated = [metric for metric, tag in gates.slices if tag is None and metric.kind != "latency"]
    if any(map(rates_rankings, gated)):
        return gated
    usual = usual_metric(metrics)
    return gated if usual is None else [*gated, usual]


def rates_rankings(metric: Metric) -> bool:
    """Whether a metric falls where rankings get worse: not `judged`, `no_answer` or a latency."""
    return metric.kind in ("ranking", "custom") and metric.family != "judged"


def leading_metric(
    metrics: Iterable[Metric], gates: Gates, verdicts: Sequence[Verdict] = ()
) -> Metric | None:
    """Return the metric of the first failed verdict, else the usual one of those gated over the whole set, else of all.

    ``verdicts`` are in the order that `decide` gives them: the first failed one is furthest beyond its limit.
    """
    failed = (verdict.metric for verdict in verdicts if verdict.failed)
    broken = next((metric for metric in failed if metric is not None and rates_rankings(metric)), None)
    gated = [metric for metric, tag in gates.slices if tag is None]
    return broken or usual_metric(gated) or usual_metric(metrics)
