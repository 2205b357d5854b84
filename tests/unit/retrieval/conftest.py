"""Close the event loop of sync callers after each module; a clock that a test can put forward."""

from __future__ import annotations

import gc

import pytest

from pytest_irmetrics.retrieval import close_session_loop


@pytest.fixture(autouse=True, scope="module")
def _one_loop():
    yield
    gc.collect()  # what was never awaited, or destroyed while pending, warns here, and a warning is an error
    close_session_loop()
