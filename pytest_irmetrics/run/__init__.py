"""A run: what a retriever answered, by query. Written as JSON, which keeps everything, or as a TREC run.

The JSON has one query a line, sorted by id, and nothing that differs between two equal runs: it is made to be
committed, compared with ``git diff`` and merged.
"""

from __future__ import annotations

from pytest_irmetrics.run.answer import Answer, NoTestsError, RunError, in_memory_once
from pytest_irmetrics.run.run import Run

__all__ = ["Answer", "NoTestsError", "Run", "RunError", "in_memory_once"]

# Pickles and tracebacks name what is public, wherever it is made.
for _public in (Answer, Run, RunError):
    _public.__module__ = __name__
