"""Ask a retriever in daemon threads, or in the user's executor, whose workers may be other processes or machines."""

from __future__ import annotations

import contextvars
import os
import queue
import threading
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from time import monotonic
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.retrieval.calls import PendingAnswer, Reply, call_retriever
from pytest_irmetrics.retrieval.errors import explain, raise_outcome, summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_irmetrics.retrieval.calls import Call, RetrievalOptions
    from pytest_irmetrics.retrieval.session import Session

    _Inbox = queue.SimpleQueue[Callable[[], None] | None]

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

_MAX_QUEUED = 256
"""How many calls may wait at an executor of the user's; it decides how many of them to work on at once."""
_START_SECONDS = 30.0
"""How long, beyond a time limit, nothing may come back from an executor of the user's."""
_OUTCOME = (
    "pytest.skip or pytest.fail was called in a process of ir_executor, which it cannot leave. Call it in the fixture "
    "`retriever`, or raise an exception of another kind."
)


def ask_in_executor(session: Session) -> None:
    """Have as many calls in flight as wanted, in daemon threads or in the user's executor.

    It ends early where an answer has to be awaited: that and the calls that are left are for an event loop.
    """
    options = session.options
    own = options.executor is None
    executor = options.executor or DaemonThreads()
    most = options.concurrency if own or options.concurrency > 1 else _MAX_QUEUED
    limit = float("inf") if options.timeout is None else options.timeout
    in_flight: dict[Future[Any], tuple[Call, float]] = {}
    """The call and since when it is waited for."""

    def deadline(future: Future[Any]) -> float:
        call, since = in_flight[future]
        return since + limit * len(call.query_ids) + (0 if own else _START_SECONDS)

    try:
        while not session.is_given_up and not session.collector.should_stop:
            while not session.pending and (call := session.next_call(len(in_flight), most)) is not None:
                try:
                    in_flight[_submit(executor, call, session)] = call, monotonic()
                except Exception as error:  # noqa: BLE001 - it is shut down or broken, or there are no more threads
                    session.collector.add(call.failed(_explain(error, session)))
            if not in_flight:
                return
            # In one go for a second at most: Windows handles Ctrl-C only between waits.
            left = min(map(deadline, in_flight)) - monotonic()
            done = wait(in_flight, min(max(left, 0), 1.0), FIRST_COMPLETED).done
            if done and not own:
                # How long a call is queued is the executor's business, while anything comes back.
                in_flight = {future: (call, monotonic()) for future, (call, _) in in_flight.items()}
            for future in [
                future for future in in_flight if future in done or monotonic() >= deadline(future)
            ]:
                _take(future, in_flight.pop(future)[0], session)
    finally:
        for future in in_flight:
            _drop(future)
        if own:
            executor.shutdown()


def _submit(executor: Executor, call: Call, session: Session) -> Future[Any]:
    function, options = session.target.function, session.options
    if options.executor is None:
        return executor.submit(call_retriever, function, call, options)
    return executor.submit(_call_in_worker, function, call, options.for_worker(), os.getpid())


def _take(future: Future[Any], call: Call, session: Session) -> None:
    """Take the reply of a call that is done; one that is not is late."""
    timeout = session.options.timeout
    if not future.done():
        _drop(future)
        return session.collector.add(call.timed_out(timeout or 0))
    try:
        reply = future.result()
    except Exception as error:  # noqa: BLE001 - what cannot be pickled, a process that died
        reply = call.failed(_explain(error, session))
    if isinstance(reply, PendingAnswer):
        return session.pending.append(reply)
    return session.collector.add(reply.in_time(timeout))


def _drop(future: Future[Any]) -> None:
    """Give a call up: it is not made any more if it was not begun, and its answer is dropped."""

    def close(future: Future[Any]) -> None:
        if not future.cancelled() and not future.exception() and isinstance(future.result(), PendingAnswer):
            future.result().close()

    future.cancel()
    future.add_done_callback(close)


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
                _drop(future)
                return call.timed_out(options.timeout)
            reply: Reply | PendingAnswer = future.result()
            return reply
    except BaseException as error:
        if isinstance(error, (Exception, KeyboardInterrupt, SystemExit)) or os.getpid() == parent_pid:
            raise
        return call.failed(_OUTCOME)


def _explain(error: Exception, session: Session) -> str:
    """Return what went wrong between this thread or process and a worker, in a sentence."""
    if session.options.executor is None:
        return explain(error)
    raise_outcome(error)
    text = summary(error)
    if isinstance(error, BrokenExecutor):
        function = session.target.function
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
        self._idle: list[_Inbox] = []
        self._all: list[_Inbox] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call `fn` in a thread that idles, or in a new one."""
        future: Future[Any] = Future()
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

    def _start_thread(self) -> _Inbox:
        inbox: _Inbox = queue.SimpleQueue()
        threading.Thread(target=_run_jobs, args=(inbox,), name="irmetrics", daemon=True).start()
        self._all.append(inbox)
        return inbox

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - Executor's signature
        """Let the threads end: those that idle now, those that hang if they ever come back."""
        for inbox in self._all:
            inbox.put(None)


def _run_jobs(inbox: _Inbox) -> None:
    while (job := inbox.get()) is not None:
        job()
        del job  # or its answer would be kept until the next one
