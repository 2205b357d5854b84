"""Evaluation: score a retriever or a stored run over a golden set, by query and as weighted means."""

from pytest_irmetrics.evaluation.evaluate import UnknownIdsWarning, evaluate
from pytest_irmetrics.evaluation.evaluation import Evaluation, EvaluationError, NoQueryError

__all__ = ["Evaluation", "EvaluationError", "NoQueryError", "UnknownIdsWarning", "evaluate"]
