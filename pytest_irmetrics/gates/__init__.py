"""Thresholds against scores: the one place that decides a verdict, and words it."""

from typing import TYPE_CHECKING

from pytest_irmetrics.gates.deciding import decide
from pytest_irmetrics.gates.falls import SURELY, allowed_drop
from pytest_irmetrics.gates.queries import would_pass
from pytest_irmetrics.gates.verdicts import Regression, Verdict

if TYPE_CHECKING:
    from pytest_irmetrics.gates.verdicts import Limits as Limits

__all__ = ["SURELY", "Regression", "Verdict", "allowed_drop", "decide", "would_pass"]
