"""A file → GoldenSet: what was judged, and what is asked of a retriever; every error with its place."""

from __future__ import annotations

from pytest_irmetrics.golden.model import GoldenSet, GoldenSetError, Problem, Query

__all__ = ["GoldenSet", "GoldenSetError", "Problem", "Query"]
