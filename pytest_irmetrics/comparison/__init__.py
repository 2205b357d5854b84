"""Compare two evaluations of one golden set: how far each mean moved, which documents moved, and how surely."""

from pytest_irmetrics.comparison.comparison import Comparison, LabelChange, RunNoise, compare

__all__ = ["Comparison", "LabelChange", "RunNoise", "compare"]

# Pickles and tracebacks name what is public, wherever it is made.
Comparison.__module__ = __name__
