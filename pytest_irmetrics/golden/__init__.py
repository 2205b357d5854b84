"""Golden sets: queries with judgments and thresholds, read from files in several formats and written to them.

Every error in a file is reported with its line and column.
"""

from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query import Query
from pytest_irmetrics.golden.source import GoldenSetError, Problem

__all__ = ["GoldenSet", "GoldenSetError", "Problem", "Query"]
