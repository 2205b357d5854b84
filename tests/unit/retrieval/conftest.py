"""Close the event loop of sync callers after each module."""

from __future__ import annotations

import pytest

from pytest_irmetrics.retrieval import close_session_loop


@pytest.fixture(autouse=True, scope="module")
def _one_loop():
    yield
    close_session_loop()
