"""Thresholds against scores: the one place that decides a verdict, and words it."""

from pytest_irmetrics.gates.decide import decide
from pytest_irmetrics.gates.regression import SURELY, allowed_drop
from pytest_irmetrics.gates.single_queries import would_pass
from pytest_irmetrics.gates.verdict import Regression, Verdict

__all__ = ["SURELY", "Regression", "Verdict", "allowed_drop", "decide", "would_pass"]
