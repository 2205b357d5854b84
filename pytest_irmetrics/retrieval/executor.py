"""Call sync retrievers in other threads and processes, and explain what goes wrong on the way there and back."""

from __future__ import annotations

import contextvars
import os
import pickle
import queue
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field
from functools import partial
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.retrieval.asyncio_driver import run_with_timeout, wait_for_future
from pytest_irmetrics.retrieval.call import (
    Call,
    PendingAnswer,
    Reply,
    await_answer,
    call_retriever,
    reply_in_time,
)
from pytest_irmetrics.retrieval.describe import describe
from pytest_irmetrics.retrieval.errors import explain, raise_outcome, summary

if TYPE_CHECKING:
    from pytest_irmetrics.retrieval.options import RetrievalOptions

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

P = ParamSpec("P")
T = TypeVar("T")
AwaitAnswer = Callable[[PendingAnswer, "RetrievalOptions"], Coroutine[Any, Any, Reply]]

_START_SECONDS = 30.0
"""How long, beyond all time limits, an executor may take to start its workers."""


class DaemonThreads(Executor):
    """An executor of threads that keep nobody waiting: one that hangs is left behind, also when the process ends.

    There is always an idle one, so a call begins when it is submitted. Each sees the caller's context variables.
    """

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
    while True:
        job = inbox.get()
        if job is None:
            return
        job()
        del job  # or its answer would be kept until the next one


@dataclass(frozen=True, slots=True)
class _ExecutorJob:
    """A call, and how to make it; can be pickled where the retriever can.

    It has its time from when it begins, not from when it is queued. If it is late, it goes on in a thread
    that nobody waits for, so that the worker is free again.
    """

    function: Callable[..., Any]
    call: Call
    options: RetrievalOptions
    timeout: float | None
    parent_pid: int = field(default_factory=os.getpid)

    def __call__(self) -> Reply | PendingAnswer:
        try:
            return self._make_call()
        except BaseException as error:
            if isinstance(error, Exception) or os.getpid() == self.parent_pid or _can_be_pickled(error):
                raise
        # Raised out here: within the handler it would have the other error as its context, which cannot be sent.
        raise _OutcomeError

    def _make_call(self) -> Reply | PendingAnswer:
        if self.timeout is None:
            return call_retriever(self.function, self.call, self.options)
        with DaemonThreads() as threads:
            future = threads.submit(call_retriever, self.function, self.call, self.options)
            wait([future], self.timeout * len(self.call.query_ids))
            if future.done():
                return future.result()
            future.add_done_callback(_close_late)
            return self.call.timed_out(self.timeout)


@dataclass(slots=True)
class ExecutorRunner:
    """Has an executor make calls, and awaits them without blocking the event loop."""

    function: Callable[..., Any]
    options: RetrievalOptions
    executor: Executor
    await_answer: AwaitAnswer = await_answer
    """How to await the answer of a retriever that looked sync."""
    _last_activity: float = field(default_factory=monotonic)
    """When something last went to the executor or came back."""
    _longest_limit: float = 0.0
    """Seconds that a call may take, of all calls so far."""
    _has_answered: bool = False

    @property
    def _timeout(self) -> float | None:
        return self.options.timeout

    @property
    def _has_own_threads(self) -> bool:
        """Whether the executor is our own, of which one thread always idles: a call begins when it is submitted."""
        return isinstance(self.executor, DaemonThreads)

    async def __call__(self, call: Call) -> Reply:
        """Have a call made, and await its answer where that has to be awaited."""
        own = self._has_own_threads
        options = self.options if own else self.options.for_worker()
        job = _ExecutorJob(self.function, call, options, None if own else self._timeout)
        try:
            future = self.executor.submit(job)
            if not callable(getattr(future, "add_done_callback", None)):
                raise _BrokenPromiseError(f"submit returned {describe(future)}, which is no Future")  # noqa: TRY301 - one way for errors
        except Exception as error:  # noqa: BLE001 - an executor that is shut down or broken, no more threads
            return self._failed(call, error)
        try:
            done = await self._wait_for(future, call)
            return await self._reply(done) if isinstance(done, PendingAnswer) else done
        finally:
            future.cancel()
            future.add_done_callback(_close_late)

    async def _wait_for(self, future: Future[Reply | PendingAnswer], call: Call) -> Reply | PendingAnswer:
        timeout = self._timeout
        try:
            if timeout is None:
                await wait_for_future(future)
            else:
                limit = timeout * len(call.query_ids)
                if self._has_own_threads:
                    await run_with_timeout(limit, partial(wait_for_future, future))
                else:
                    await self._wait_while_active(future, limit)
                if not future.done():
                    return call.timed_out(timeout)
            done = _require_reply(call, future.result())
        except Exception as error:  # noqa: BLE001 - what cannot be pickled, a process that died
            return self._failed(call, error)
        self._has_answered = True
        return done

    async def _wait_while_active(self, future: Future[Any], limit: float) -> None:
        """Wait as long as anything comes back: how long a call is queued is the executor's business."""
        self._last_activity, self._longest_limit = monotonic(), max(self._longest_limit, limit)
        while not future.done():
            left = self._last_activity + self._longest_limit + _START_SECONDS - monotonic()
            if left <= 0:
                return
            await run_with_timeout(left, partial(wait_for_future, future))
        self._last_activity = monotonic()

    async def _reply(self, pending: PendingAnswer) -> Reply:
        """Await an answer for as long as its call has time left."""
        left = None
        if self._timeout is not None:
            spent = perf_counter() - pending.started
            left = max(self._timeout * len(pending.call.query_ids) - spent, 0.001)
        start = partial(self.await_answer, pending, self.options)
        return reply_in_time(pending.call, await run_with_timeout(left, start), self._timeout)

    def _failed(self, call: Call, error: Exception) -> Reply:
        raise_outcome(error)
        return call.failed(explain(error) if self._has_own_threads else self._explain(error))

    def _explain(self, error: Exception) -> str:
        text = summary(error)
        if isinstance(error, BrokenExecutor):
            return self._explain_dead_workers(type(error).__name__)
        if isinstance(error, _BrokenPromiseError):
            return f"ir_executor is {describe(self.executor)}, and no executor that works: {error}."
        if isinstance(error, _OutcomeError):
            return (
                "pytest.skip or pytest.fail was called in a process of ir_executor, which it cannot leave. Call it in the "
                "fixture `retriever`, or raise an exception of another kind."
            )
        if "pickle" in text.lower() or "local object" in text:
            return (
                f"the retriever cannot be sent to the processes of ir_executor, or its answer back: {text}. Let it be a "
                "function of a module, or an object of a module's class, that opens its index there and returns ids."
            )
        return f"ir_executor raised {text}."

    def _explain_dead_workers(self, error: str) -> str:
        if self._has_answered:
            return (
                "a worker of ir_executor died: it was killed, ran out of memory or crashed in native code. What the "
                f"workers had yet to answer is lost ({error})."
            )
        module = getattr(self.function, "__module__", None) or type(self.function).__module__
        return (
            "the workers of ir_executor died before they answered anything: their initializer raised, they cannot "
            f"import the retriever's module {quote(str(module))}, the retriever crashed them, or an earlier test did. They say why "
            f"on stderr or in the log ({error})."
        )


class _OutcomeError(Exception):
    """In another process something was raised that is no error, such as by `pytest.skip`, and that cannot leave it."""


class _BrokenPromiseError(Exception):
    """What an executor returned is not what every executor returns; says what it is."""


def _can_be_pickled(error: BaseException) -> bool:
    try:
        pickle.dumps(error)
    except Exception:  # noqa: BLE001 - whatever it is made of
        return False
    return True


def _require_reply(call: Call, done: Any) -> Reply | PendingAnswer:
    """Return the reply to a call. Raises _BrokenPromiseError where it is something else."""
    if isinstance(done, (Reply, PendingAnswer)) and done.call.query_ids == call.query_ids:
        return done
    raise _BrokenPromiseError(f"the work returned a reply, and what came back is {describe(done)}")


def _close_late(future: Future[Any]) -> None:
    """Drop the answer of a call that nobody waits for any more."""
    if not future.cancelled() and future.exception() is None and isinstance(future.result(), PendingAnswer):
        future.result().close()
