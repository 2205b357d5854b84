"""Make a call in a daemon thread or in the user's executor, whose workers may be other processes or machines."""

from __future__ import annotations

import asyncio
import contextvars
import os
import queue
import threading
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.retrieval.calls import PendingAnswer, Reply, call_retriever
from pytest_irmetrics.retrieval.errors import explain, raise_outcome, summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_irmetrics.retrieval.calls import Call, RetrievalOptions

MAX_QUEUED = 256
"""How many calls may wait at an executor of the user's; it decides how many of them to work on at once."""
_OUTCOME = (
    "pytest.skip or pytest.fail was called in a process of ir_executor, which it cannot leave. Call it in the fixture "
    "`retriever`, or raise an exception of another kind."
)


async def call_in_executor(
    executor: Executor, function: Callable[..., Any], call: Call, options: RetrievalOptions
) -> Reply | PendingAnswer:
    """Make one call in threads of our own or, where the options have one, in the user's executor.

    Where this is cancelled, the call is not made any more if it was not begun, and its answer is dropped.
    """
    try:
        if options.executor is None:
            future = executor.submit(call_retriever, function, call, options)
        else:
            future = executor.submit(_call_in_worker, function, call, options.for_worker(), os.getpid())
    except Exception as error:  # noqa: BLE001 - it is shut down or broken, or there are no more threads
        return call.failed(_explain(error, function, options))
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        future.add_done_callback(_close)
        raise
    except Exception as error:  # noqa: BLE001 - what cannot be pickled, a process that died
        return call.failed(_explain(error, function, options))


def _close(future: Future[Any]) -> None:
    """Drop an answer that would have to be awaited."""
    if not future.cancelled() and not future.exception() and isinstance(future.result(), PendingAnswer):
        future.result().close()


def _call_in_worker(
    function: Callable[..., Any], call: Call, options: RetrievalOptions, parent_pid: int
) -> Reply | PendingAnswer:
    """Make one call in a worker, where it has its time from now on, not from when it was queued.

    If it is late, it goes on in a thread that nobody waits for, so that the worker is free again.
    """
    try:
        if options.timeout is None:
            return call_retriever(function, call, options)
        with DaemonThreads() as threads:
            future = threads.submit(call_retriever, function, call, options)
            wait([future], options.timeout * len(call.query_ids))
            if not future.done():
                future.add_done_callback(_close)
                return call.timed_out(options.timeout)
            reply: Reply | PendingAnswer = future.result()
            return reply
    except BaseException as error:
        if isinstance(error, (Exception, KeyboardInterrupt, SystemExit)) or os.getpid() == parent_pid:
            raise
        return call.failed(_OUTCOME)


def _explain(error: Exception, function: Callable[..., Any], options: RetrievalOptions) -> str:
    """Return what went wrong between this thread or process and a worker, in a sentence."""
    if options.executor is None:
        return explain(error)
    raise_outcome(error)
    text = summary(error)
    if isinstance(error, BrokenExecutor):
        module = getattr(function, "__module__", None) or type(function).__module__
        return (
            f"the workers of ir_executor died ({type(error).__name__}): they were killed, ran out of memory or crashed in "
            f"native code; or their initializer raised, or they cannot import the retriever's module {quote(str(module))}. "
            "They say why on stderr or in the log."
        )
    if "pickle" in text.lower() or "local object" in text:
        return (
            f"the retriever cannot be sent to the processes of ir_executor, or its answer back: {text}. Let it be a "
            "function of a module, or an object of a module's class, that opens its index there and returns ids."
        )
    return f"ir_executor raised {text}."


class DaemonThreads(Executor):
    """Starts each call at once, in a thread that idles or in a new one, with the caller's context variables.

    A call that hangs keeps nobody waiting, not even the end of the process.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._threads = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call `fn` in a thread that idles, or in a new one."""
        future: Future[Any] = Future()
        context = contextvars.copy_context()

        def job() -> None:
            try:
                result = context.run(fn, *args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - pytest.skip and the like are raised where it is awaited
                self._idle.release()
                future.set_exception(error)
            else:
                self._idle.release()
                future.set_result(result)

        if not self._idle.acquire(blocking=False):
            threading.Thread(target=self._work, name="irmetrics", daemon=True).start()
            self._threads += 1
        future.set_running_or_notify_cancel()
        self._jobs.put(job)
        return future

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            del job  # or its answer would be kept until the next one

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - Executor's signature
        """Let the threads end: those that idle now, those that hang if they ever come back."""
        for _ in range(self._threads):
            self._jobs.put(None)
