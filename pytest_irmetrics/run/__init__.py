"""Stored runs: the rankings that a retriever returned, read and written as JSON and as TREC runs; baselines.

The JSON has one query a line, sorted by id, and nothing that differs between two equal runs: it is made to be
committed, compared with ``git diff`` and merged.
"""

from __future__ import annotations

from pytest_irmetrics.run.answer import Answer, Header, RunError
from pytest_irmetrics.run.run import Run

__all__ = ["Answer", "Header", "Run", "RunError"]
