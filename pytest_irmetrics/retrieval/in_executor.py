"""Ask a retriever in daemon threads or in the user's executor, whose workers may be other processes or machines."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from typing import Any, Self

from pytest_irmetrics.retrieval.asking import Asking
from pytest_irmetrics.retrieval.calls import Call, PendingAnswer, Reply, call_retriever
from pytest_irmetrics.retrieval.errors import reraise_outcome, summary
from pytest_irmetrics.retrieval.options import RetrievalOptions

_MAX_QUEUED = 256
"""How many calls may wait at an executor of the user's; it decides how many of them to work on at once."""


def ask_in_executor(asking: Asking) -> None:
    """Call the retriever in threads of our own or in the user's executor; once an answer has to be awaited, the rest is left to a loop."""
    options, function = asking.options, asking.target.function
    most, timeout = options.concurrency, options.timeout
    # For workers: without what they do not need, or what cannot be pickled.
    picklable = options._replace(executor=None, progress=None, baseline=None)
    if options.executor is not None:
        # A worker times its call from when it begins. 1, the default, leaves to the executor how many run at once.
        most, timeout = _MAX_QUEUED if most == 1 else most, None

    def start(call: Call, _answer: object) -> Future[Any]:
        if options.executor is None:
            return threads.submit(call_retriever, function, call, options)
        try:
            return options.executor.submit(_call_in_worker, function, call, picklable)
        except Exception as error:  # noqa: BLE001 - it is shut down or broken
            failed: Future[Any] = Future()
            failed.set_exception(error)
            return failed

    def reply_of(future: Future[Reply | PendingAnswer], call: Call) -> Reply | PendingAnswer:
        try:
            return future.result()
        except Exception as error:  # noqa: BLE001 - what cannot be pickled, a process that died
            return call.failed(_explain(error))

    with DaemonThreads() as threads:
        for futures, seconds in asking.in_flight(start, reply_of, most, timeout):
            wait(futures, seconds, FIRST_COMPLETED)


def _call_in_worker(
    function: Callable[..., Any], call: Call, options: RetrievalOptions
) -> Reply | PendingAnswer:
    """Make one call in a worker, where it has its time from now on, not from when it was queued.

    If it is late, it goes on in a thread that nobody waits for, so that the worker is free again.
    """
    if options.timeout is None:
        return call_retriever(function, call, options)
    with DaemonThreads() as threads:
        future: Future[Reply | PendingAnswer] = threads.submit(call_retriever, function, call, options)
        wait([future], options.timeout * len(call.queries))
        return future.result() if future.done() else call.timed_out(options.timeout)


def _explain(error: Exception) -> str:
    """Return what went wrong between this thread and a worker, in a sentence."""
    reraise_outcome(error)
    text = summary(error)
    if isinstance(error, BrokenExecutor):
        return f"the workers of ir_executor died ({type(error).__name__}): they were killed, ran out of memory or crashed in native code; or their initializer raised, or they cannot import the retriever's module. They say why on stderr or in the log."
    if "pickle" in text.lower() or "local object" in text:
        return f"the retriever cannot be sent to the processes of ir_executor, or its answer back: {text}. Let it be a function of a module, or an object of a module's class, that opens its index there and returns ids."
    return f"ir_executor raised {text}."


class DaemonThreads:
    """Starts each call at once, in a thread that idles or in a new one, with the caller's context variables.

    A call that hangs keeps nobody waiting, not even the end of the process.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)

    def __enter__(self) -> Self:
        return self

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Call a function in a thread that idles, or in a new one."""
        future: Future[Any] = Future()
        context = contextvars.copy_context()

        def job() -> None:
            settle: Callable[[Any], None] = future.set_result
            try:
                outcome = context.run(function, *args)
            except BaseException as error:  # noqa: BLE001 - pytest.skip and the like are raised where it is awaited
                settle, outcome = future.set_exception, error
            self._idle.release()
            settle(outcome)

        if not self._idle.acquire(blocking=False):
            threading.Thread(target=self._work, daemon=True).start()
        future.set_running_or_notify_cancel()
        self._jobs.put(job)
        return future

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            del job  # or its answer would be kept until the next one
        self._jobs.put(None)  # for the next thread

    def __exit__(self, *_raised: object) -> None:
        """Let the threads end: those that idle now, those that hang if they ever come back."""
        self._jobs.put(None)
