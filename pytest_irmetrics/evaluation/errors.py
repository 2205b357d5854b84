"""Errors of an evaluation: a score or a mean that cannot be computed."""

from __future__ import annotations

from pytest_irmetrics.base.errors import IRMetricsError


class EvaluationError(IRMetricsError, ValueError):
    """A score that cannot be computed; the message says why and what to do."""


class NoQueryError(EvaluationError):
    """A mean that has no query to average over."""
