"""Compare two evaluations of one golden set: which queries pair, how far each metric moved, which documents moved."""

from pytest_irmetrics.comparison.comparison import Comparison, compare

__all__ = ["Comparison", "compare"]
