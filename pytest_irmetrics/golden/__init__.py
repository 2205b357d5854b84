"""A file → GoldenSet: what was judged, and what is asked of a retriever; every error with its place."""

from __future__ import annotations

from pytest_irmetrics.golden.errors import GoldenSetError, Problem
from pytest_irmetrics.golden.golden_set import GoldenSet
from pytest_irmetrics.golden.query import Query

__all__ = ["GoldenSet", "GoldenSetError", "Problem", "Query"]
