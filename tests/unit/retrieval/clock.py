"""A clock for retrieval that a test puts forward: a limit of a minute then ends what hangs, and not what is only slow."""

from __future__ import annotations

import asyncio
import contextlib
import time
from concurrent.futures import wait

from tests.unit.retrieval.event_loops import Trio, trio

LIMIT = 60
"""Seconds of a time limit that is over where a test says so, and that no machine is too slow for."""


class Clock(trio.abc.Clock):
    """The monotonic clock, put forward by as much time as was let pass."""

    def __init__(self):
        self._ahead = 0.0
        self._loop = None
        self._trio_token = None

    def let_pass(self, seconds=LIMIT + 1):
        """Put the clock forward. Threads may call this, too."""
        self._ahead += seconds
        # A loop that waits looks at the clock once it is woken.
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # it is closed
                self._loop.call_soon_threadsafe(bool)
        if self._trio_token is not None:
            with contextlib.suppress(trio.RunFinishedError):
                self._trio_token.run_sync_soon(bool)

    def now(self):
        return time.monotonic() + self._ahead

    def wait(self, futures, seconds):
        """Wait as concurrent.futures.wait does, by this clock."""
        end = self.now() + seconds
        while (found := wait(futures, 0.005)).not_done and self.now() < end:
            pass
        return found

    def install(self, monkeypatch):
        """Have event loops and retrieval go by this clock, and what concerns no limit of a call by the real one."""

        def loop_time(loop):
            self._loop = loop
            return self.now()

        monkeypatch.setattr(asyncio.BaseEventLoop, "time", loop_time)
        monkeypatch.setattr(Trio, "run", lambda function, *args: trio.run(function, *args, clock=self))
        monkeypatch.setattr("pytest_irmetrics.retrieval.executor.wait", self.wait)
        for name in ("blocked_loop.monotonic", "call.perf_counter", "executor.perf_counter"):
            monkeypatch.setattr(f"pytest_irmetrics.retrieval.{name}", self.now)

    # What trio asks of a clock

    def start_clock(self):
        self._trio_token = trio.lowlevel.current_trio_token()

    def current_time(self):
        return self.now()

    def deadline_to_sleep_time(self, deadline):
        return deadline - self.now()
