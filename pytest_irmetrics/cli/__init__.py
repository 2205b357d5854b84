"""The console script ``pytest-irmetrics``: golden sets, runs, baselines and reports, outside of a test run."""

from __future__ import annotations

from pytest_irmetrics.cli.main import main

__all__ = ["main"]
