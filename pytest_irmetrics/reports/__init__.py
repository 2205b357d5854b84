"""Test results as text: the terminal summary, failure messages, and report files."""

from pytest_irmetrics.reports.item_report import ItemReport
from pytest_irmetrics.reports.session_report import SessionReport

__all__ = ["ItemReport", "SessionReport"]
