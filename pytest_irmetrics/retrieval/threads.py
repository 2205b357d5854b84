"""Threads of our own, for plain retrievers that are asked several queries at once, or that have a time limit."""

from __future__ import annotations

import contextvars
import queue
import threading
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

P = ParamSpec("P")
T = TypeVar("T")


class DaemonThreads(Executor):
    """Threads that keep nobody waiting: one that hangs is left behind, also when the process ends.

    There is always an idle one, so a call's time starts when it is submitted. Each sees the caller's context.
    """

    def __init__(self) -> None:
        self._idle: list[queue.SimpleQueue[Callable[[], None] | None]] = []
        self._all: list[queue.SimpleQueue[Callable[[], None] | None]] = []

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call `fn` in a thread that idles, or in a new one."""
        future: Future[T] = Future()
        context = contextvars.copy_context()
        inbox = self._idle.pop() if self._idle else self._hire()

        def job() -> None:
            try:
                result = context.run(fn, *args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - pytest.skip and the like are raised where it is awaited
                self._idle.append(inbox)
                future.set_exception(error)
            else:
                self._idle.append(inbox)
                future.set_result(result)

        future.set_running_or_notify_cancel()
        inbox.put(job)
        return future

    def _hire(self) -> queue.SimpleQueue[Callable[[], None] | None]:
        inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        threading.Thread(target=_work, args=(inbox,), name="irmetrics", daemon=True).start()
        self._all.append(inbox)
        return inbox

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - Executor's signature
        """Let the threads end: those that idle now, those that hang if they ever come back."""
        for inbox in self._all:
            inbox.put(None)


def _work(inbox: queue.SimpleQueue[Callable[[], None] | None]) -> None:
    while True:
        job = inbox.get()
        if job is None:
            return
        job()
        del job  # or its answer would be kept until the next one
