"""Is the gate any good? Degrades a stored run in realistic ways and tells which of them the limits would catch."""

from pytest_irmetrics.selftest.judging import Selftest, run_selftest

__all__ = ["Selftest", "run_selftest"]
