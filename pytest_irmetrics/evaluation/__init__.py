"""Evaluation: score a retriever or a stored run over a golden set, by query and as weighted means."""

from pytest_irmetrics.evaluation.evaluate import (
    DEFAULT_DEPTH,
    DEFAULT_METRICS,
    UnknownIdsWarning,
    evaluate,
    find_unknown_ids,
    read_metrics,
    require_depth,
    split_names,
    warn_of_unknown_ids,
)
from pytest_irmetrics.evaluation.evaluation import CustomMetrics, Evaluation, EvaluationError, NoQueryError

__all__ = [
    "DEFAULT_DEPTH",
    "DEFAULT_METRICS",
    "CustomMetrics",
    "Evaluation",
    "EvaluationError",
    "NoQueryError",
    "UnknownIdsWarning",
    "evaluate",
    "find_unknown_ids",
    "read_metrics",
    "require_depth",
    "split_names",
    "warn_of_unknown_ids",
]
