"""How far the retrieval of a test has come: a line of pytest's output every ten seconds."""

from __future__ import annotations

from contextlib import nullcontext
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

_SECONDS = 10.0
"""Before the first line, and between two."""


def progress_of(node: pytest.Item, total: int) -> Callable[[int], None] | None:
    """Return a function that counts answers to the queries of a test, and says now and then how many of `total` there are.

    None where nothing is to be said: with ``-q``, and without pytest's terminal reporter, as in a worker of pytest-xdist.
    """
    plugins = node.config.pluginmanager
    reporter, capture = plugins.getplugin("terminalreporter"), plugins.getplugin("capturemanager")
    if reporter is None or node.config.getoption("verbose", 0) < 0:
        return None
    began = monotonic()
    done, due = 0, began + _SECONDS

    def count(answers: int) -> None:
        nonlocal done, due
        done, now = done + answers, monotonic()
        if now < due:
            return
        due = now + _SECONDS
        with nullcontext() if capture is None else capture.global_and_fixture_disabled():
            reporter.ensure_newline()
            reporter.write_line(f"{node.nodeid}: {_progress(done, total, now - began)}")

    return count


def _progress(done: int, total: int, seconds: float) -> str:
    """Return how far it is: `1,200 of 5,000 queries, 250/s, 15 s left`."""
    rate = done / seconds
    if not rate:
        return f"{done:,} of {total:,} queries"
    left = (total - done) / rate
    duration = f"{left:.0f} s" if left < 100 else f"{left / 60:.0f} min"
    return f"{done:,} of {total:,} queries, {rate:,.{0 if rate >= 10 else 1}f}/s, {duration} left"
