"""Evaluation: score a retriever or a stored run over a golden set, by query and as weighted means."""

from pytest_irmetrics.evaluation.evaluate import (
    DEFAULT_DEPTH,
    DEFAULT_METRICS,
    evaluate,
    evaluate_run,
    judged_metrics,
    read_metrics,
    require_depth,
    split_names,
)
from pytest_irmetrics.evaluation.evaluation import CustomMetrics, Evaluation, EvaluationError, NoQueryError
from pytest_irmetrics.evaluation.unknown_ids import UnknownIdsWarning, find_unknown_ids, warn_of_unknown_ids

__all__ = [
    "DEFAULT_DEPTH",
    "DEFAULT_METRICS",
    "CustomMetrics",
    "Evaluation",
    "EvaluationError",
    "NoQueryError",
    "UnknownIdsWarning",
    "evaluate",
    "evaluate_run",
    "find_unknown_ids",
    "judged_metrics",
    "read_metrics",
    "require_depth",
    "split_names",
    "warn_of_unknown_ids",
]
