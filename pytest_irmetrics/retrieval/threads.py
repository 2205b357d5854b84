"""An executor of daemon threads: a call that hangs keeps nobody waiting, not even the end of the process."""

from __future__ import annotations

import contextvars
import queue
import threading
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from pytest_irmetrics.retrieval.calls import PendingAnswer

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines


class DaemonThreads(Executor):
    """Starts each call at once, in a thread that idles or in a new one, with the caller's context variables."""

    def __init__(self) -> None:
        self._idle: list[queue.SimpleQueue[Callable[[], None] | None]] = []
        self._all: list[queue.SimpleQueue[Callable[[], None] | None]] = []

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call `fn` in a thread that idles, or in a new one."""
        future: Future[T] = Future()
        context = contextvars.copy_context()
        inbox = self._idle.pop() if self._idle else self._start_thread()

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

    def _start_thread(self) -> queue.SimpleQueue[Callable[[], None] | None]:
        inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        threading.Thread(target=_run_jobs, args=(inbox,), name="irmetrics", daemon=True).start()
        self._all.append(inbox)
        return inbox

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - Executor's signature
        """Let the threads end: those that idle now, those that hang if they ever come back."""
        for inbox in self._all:
            inbox.put(None)


def _run_jobs(inbox: queue.SimpleQueue[Callable[[], None] | None]) -> None:
    while (job := inbox.get()) is not None:
        job()
        del job  # or its answer would be kept until the next one


def drop(future: Future[Any]) -> None:
    """Give a call up: it is not made any more if it was not begun, and its answer is dropped."""

    def close(future: Future[Any]) -> None:
        if (
            not future.cancelled()
            and future.exception() is None
            and isinstance(future.result(), PendingAnswer)
        ):
            future.result().close()

    future.cancel()
    future.add_done_callback(close)
