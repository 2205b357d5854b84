"""The event loop of sync callers: async retrievers run on it, and whatever has to go on at once."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_irmetrics.retrieval import asyncio_driver as on_asyncio
from pytest_irmetrics.retrieval import trio_driver as on_trio
from pytest_irmetrics.retrieval.asyncio_driver import GRACE, note_end
from pytest_irmetrics.retrieval.call import RetrievalError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

T = TypeVar("T")

ALREADY_RUNNING = (
    "The retriever is async, and an event loop is running here already. Use `await irmetrics.acheck()` or "
    "`await irmetrics.aevaluate()`; in a notebook `await asyncio.to_thread(evaluate, golden, retriever)`."
)


class SessionLoop:
    """The one event loop on which sync callers run async retrievers, so that a client outlives a test."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, start: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run what `start` gives until it is done. Raises RetrievalError where a loop is running already."""
        if on_asyncio.is_running() or on_trio.is_running():
            raise RetrievalError(ALREADY_RUNNING)
        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
            atexit.register(self.close)
        task = self._loop.create_task(start())
        try:
            return self._loop.run_until_complete(task)
        except BaseException:
            _wind_down(self._loop, task)
            raise

    def close(self) -> None:
        """Cancel what is left on the loop, and close it; the next `run` opens another."""
        loop, self._loop = self._loop, None
        if loop is None or loop.is_closed() or loop.is_running():
            return
        atexit.unregister(self.close)
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        with contextlib.suppress(Exception):
            if left:
                loop.run_until_complete(asyncio.wait(left, timeout=GRACE))
            loop.run_until_complete(asyncio.wait_for(loop.shutdown_asyncgens(), GRACE))
        loop.close()


def _wind_down(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    """Let a task that Ctrl-C or its like got in the way of clean up, for a short time."""
    stop = loop.call_later(2 * GRACE, loop.stop)
    while not task.done():
        task.cancel()
        try:
            loop.run_until_complete(task)
        except (KeyboardInterrupt, SystemExit):
            # What another call in flight raised; the first is on its way up.
            continue
        except BaseException:  # noqa: BLE001 - its end, or that of its time
            break
    stop.cancel()
    note_end(task)
