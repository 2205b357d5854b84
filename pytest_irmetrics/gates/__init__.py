"""Decide whether each gate of a test passes, from an evaluation and its comparison with the baseline."""

from pytest_irmetrics.gates.decide import decide, would_pass
from pytest_irmetrics.gates.verdict import (
    STATES,
    Against,
    Verdict,
    leading_metric,
    rates_rankings,
    resolve_with_default,
    usual_metric,
)

__all__ = [
    "STATES",
    "Against",
    "Verdict",
    "decide",
    "leading_metric",
    "rates_rankings",
    "resolve_with_default",
    "usual_metric",
    "would_pass",
]
