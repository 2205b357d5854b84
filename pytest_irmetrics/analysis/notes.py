"""What a reader should know besides the verdicts, in sentences."""

from pytest_irmetrics.analysis.edits import on_comparison
from pytest_irmetrics.analysis.today import on_evaluation, on_known_bad, on_selftest
from pytest_irmetrics.analysis.trust import (
    hidden_slices,
    on_averages,
    on_passed_drops,
    on_run_noise,
    on_tolerance,
    on_tolerance_before_run,
    on_unjudged,
)

__all__ = [
    "hidden_slices",
    "on_averages",
    "on_comparison",
    "on_evaluation",
    "on_known_bad",
    "on_passed_drops",
    "on_run_noise",
    "on_selftest",
    "on_tolerance",
    "on_tolerance_before_run",
    "on_unjudged",
]
