"""Failing a test with nothing but a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_irmetrics import thresholds
from pytest_irmetrics.evaluation import EvaluationError
from pytest_irmetrics.golden import GoldenSetError
from pytest_irmetrics.metrics import MetricError
from pytest_irmetrics.plugin import marks as collection
from pytest_irmetrics.plugin.ini import SettingsError
from pytest_irmetrics.retrieval import RetrievalError
from pytest_irmetrics.run import RunError
from pytest_irmetrics.run.baseline import BaselineError

if TYPE_CHECKING:
    from typing import NoReturn

TOLD = (
    BaselineError,
    EvaluationError,
    GoldenSetError,
    MetricError,
    RetrievalError,
    RunError,
    SettingsError,
    collection.MarkError,
    thresholds.ThresholdError,
)
"""What a user can mend, told without a traceback."""

_HEADLINE = "irmetrics_headline"


def fail(message: str) -> NoReturn:
    """Fail the test with nothing but a message: what it was made of in our code helps nobody."""
    __tracebackhide__ = True
    failed = pytest.fail.Exception(message, pytrace=False)
    setattr(failed, _HEADLINE, message.partition("\n")[0])
    raise failed from None


def tell_once(report: pytest.TestReport, call: pytest.CallInfo[None]) -> None:
    """Leave its first line to what repeats a failure of ours: the short summary where CI is set, JUnit's `message`."""
    headline = call.excinfo and getattr(call.excinfo.value, _HEADLINE, None)
    crash = getattr(report.longrepr, "reprcrash", None)
    if headline is not None and crash is not None:
        crash.message = f"Failed: {headline}"
