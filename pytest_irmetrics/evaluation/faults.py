"""What an evaluation refuses."""

from __future__ import annotations


class EvaluationError(ValueError):
    """A score that cannot be computed; the message says why and what to do."""


class NoQueryError(EvaluationError):
    """A mean that has nothing to average over."""
