"""Compare two evaluations of one golden set: which queries pair, how far each metric moved, which documents moved."""

from pytest_irmetrics.comparison.comparison import Comparison, Move, compare, moves
from pytest_irmetrics.comparison.metric_change import MIN_CHANGED, MetricChange
from pytest_irmetrics.comparison.slices import SliceFall, joint_intervals, main_slice, slices_that_fell
from pytest_irmetrics.comparison.stored_runs import JudgedSince, LabelPart

__all__ = [
    "MIN_CHANGED",
    "Comparison",
    "JudgedSince",
    "LabelPart",
    "MetricChange",
    "Move",
    "SliceFall",
    "compare",
    "joint_intervals",
    "main_slice",
    "moves",
    "slices_that_fell",
]
