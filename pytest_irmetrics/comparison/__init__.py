"""Compare two evaluations of one golden set: which queries pair, and how far each metric moved."""

from pytest_irmetrics.comparison.comparison import Comparison, compare, compare_with_itself

__all__ = ["Comparison", "compare", "compare_with_itself"]
