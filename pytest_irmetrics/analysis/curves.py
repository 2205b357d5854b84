"""Recall and precision over the cut-offs, which show how deep a change goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.evaluation import NoQueryError
from pytest_irmetrics.metrics import parse_metric
from pytest_irmetrics.reports.item_report import Curve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_irmetrics.comparison import Comparison
    from pytest_irmetrics.evaluation import Evaluation
    from pytest_irmetrics.metrics import Metric

_FAMILIES = ("recall", "precision")
_MOST_SCORES = 500_000
"""How many scores may be computed for curves, queries times cut-offs: with more, a report would take seconds longer."""


def curves(evaluation: Evaluation, comparison: Comparison | None) -> list[Curve]:
    """Return recall and precision at each cut-off up to the depth; nothing where that takes long, or there is no mean."""
    now = evaluation if comparison is None else comparison.now
    depth = now.depth
    if depth is None or evaluation.errors or not 1 < depth * len(evaluation.counted) <= _MOST_SCORES:
        return []
    metrics = [parse_metric(f"{family}@{k}") for family in _FAMILIES for k in range(1, depth + 1)]
    try:
        means = _means(now, metrics)
        means_before = [] if comparison is None else _means(comparison.baseline, metrics)
    except NoQueryError:
        return []
    parts = [slice(place * depth, (place + 1) * depth) for place in range(len(_FAMILIES))]
    return [
        Curve(family, means[part], means_before[part]) for family, part in zip(_FAMILIES, parts, strict=True)
    ]


def _means(evaluation: Evaluation, metrics: Sequence[Metric]) -> list[float]:
    narrow = evaluation.narrowed(metrics=metrics)
    return [narrow.mean(metric) for metric in metrics]
