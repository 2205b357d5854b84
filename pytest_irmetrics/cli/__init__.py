"""The console script ``pytest-irmetrics``: check, convert, compare and label golden sets and runs without pytest."""

from __future__ import annotations

from pytest_irmetrics.cli.main import main

__all__ = ["main"]
