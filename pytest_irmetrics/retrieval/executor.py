"""Sync retrievers in other threads and processes, and what can go wrong on the way there and back."""

from __future__ import annotations

import os
import pickle
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field
from functools import partial
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.retrieval.call import Ask, Reply
from pytest_irmetrics.retrieval.errors import Cancelled, explain, let_through, summary
from pytest_irmetrics.retrieval.perform import Pending, Reading, perform, settle
from pytest_irmetrics.retrieval.schedule import Chunk, Conversation
from pytest_irmetrics.retrieval.showing import show
from pytest_irmetrics.retrieval.threads import DaemonThreads

if TYPE_CHECKING:
    from pytest_irmetrics.retrieval.ledger import Retrieved

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

T = TypeVar("T")
Work = Callable[[Chunk], Awaitable[list[Reply]]]

_PATIENCE = 30.0  # seconds beyond all time limits in which an executor may start its workers


class Library(Protocol):
    """What a module has to know of the library whose event loop runs."""

    async def drive(self, conversation: Conversation, work: Work) -> Retrieved:
        """Hold a conversation; leave no task behind, however it ends."""

    async def apart(self, start: Callable[[], Coroutine[Any, Any, T]]) -> T | Cancelled:
        """Await what `start` gives; say so where that was cancelled, and whoever awaits this was not."""

    async def within(self, seconds: float | None, start: Callable[[], Coroutine[Any, Any, T]]) -> T | None:
        """Await what `start` gives; cancel it after so many seconds, and return None."""

    async def finished(self, future: Future[Any]) -> bool:
        """Wait for another thread's future to be done."""

    async def breathe(self) -> None:
        """Let the loop do what else there is; raises where whoever awaits this was cancelled."""


def too_late(ask: Ask, timeout: float) -> Reply:
    """Give the reply for a call that outlived its time."""
    several = f" a query for {len(ask.ids)} queries" if len(ask.ids) > 1 else ""
    return ask.failed(f"no answer came within {timeout:g} s{several} (ir_timeout).")


def in_time(ask: Ask, reply: Reply | None, timeout: float | None) -> Reply:
    """Give the reply for a call that was given up, None, or that came: too late where it kept its event loop from looking up."""
    if timeout is not None and (reply is None or reply.milliseconds > timeout * 1000):
        return too_late(ask, timeout)
    assert reply is not None  # noqa: S101 - without a time limit nothing is given up
    return reply


@dataclass(frozen=True, slots=True)
class _Errand:
    """A chunk of calls, and how to make them; can be pickled where the retriever can.

    Each call has its time from when it begins, not from when it is queued. One that is late goes on in a thread
    that nobody waits for, so that the worker is free again.
    """

    function: Callable[..., Any]
    chunk: Chunk
    reading: Reading
    timeout: float | None
    home: int = field(default_factory=os.getpid)

    def __call__(self) -> list[Reply | Pending]:
        try:
            return self._made()
        except BaseException as error:
            if isinstance(error, Exception) or os.getpid() == self.home or _can_be_sent(error):
                raise
        raise _OutcomeError  # not as the handler's: what it was would go along, and cannot

    def _made(self) -> list[Reply | Pending]:
        if self.timeout is None:
            return [perform(self.function, ask, self.reading) for ask in self.chunk]
        with DaemonThreads() as threads:
            return [self._in_time(threads, ask, self.timeout) for ask in self.chunk]

    def _in_time(self, threads: DaemonThreads, ask: Ask, timeout: float) -> Reply | Pending:
        future = threads.submit(perform, self.function, ask, self.reading)
        wait([future], timeout * len(ask.ids))
        if future.done():
            return future.result()
        future.add_done_callback(lambda late: _discard([late.result()]) if not late.exception() else None)
        return too_late(ask, timeout)


@dataclass(slots=True)
class Elsewhere:
    """Work that an executor does, awaited without keeping the event loop from its own."""

    function: Callable[..., Any]
    reading: Reading
    timeout: float | None
    executor: Executor
    library: Library
    settle: Callable[[Pending, Reading], Coroutine[Any, Any, Reply]] = settle
    _heard: float = field(default_factory=monotonic)  # when something last went to the executor or came back
    _longest: float = 0.0  # seconds that a chunk may take, of all chunks so far
    _answered: bool = False  # whether anything has come back yet

    @property
    def _own(self) -> bool:
        """Whether it is done in threads of ours, of which one idles: a call begins when it is submitted."""
        return isinstance(self.executor, DaemonThreads)

    async def __call__(self, chunk: Chunk) -> list[Reply]:
        """Have the calls of a chunk made, and await what has to be awaited."""
        try:
            future = self.executor.submit(
                _Errand(self.function, chunk, self.reading, None if self._own else self.timeout)
            )
            if not callable(getattr(future, "add_done_callback", None)):
                raise _BrokenPromiseError(f"submit returned {show(future)}, which is no Future")  # noqa: TRY301 - one way for errors
        except Exception as error:  # noqa: BLE001 - an executor that is shut down or broken, no more threads
            return self._failed(chunk, error)
        try:
            done = await self._done(future, chunk)
            return [await self._settled(one) if isinstance(one, Pending) else one for one in done]
        finally:
            future.cancel()
            future.add_done_callback(_discard_late)

    async def _done(self, future: Future[list[Reply | Pending]], chunk: Chunk) -> list[Reply | Pending]:
        try:
            if self.timeout is None:
                await self.library.finished(future)
            elif self._own:
                await self.library.within(
                    self._limit(chunk, self.timeout), partial(self.library.finished, future)
                )
            else:
                await self._patiently(future, self._limit(chunk, self.timeout))
            if not future.done() and self.timeout is not None:
                return [too_late(ask, self.timeout) for ask in chunk]
            done = _promised(chunk, future.result())
        except Exception as error:  # noqa: BLE001 - what cannot be pickled, a process that died
            return [*self._failed(chunk, error)]
        self._answered = True
        return done

    @staticmethod
    def _limit(chunk: Chunk, timeout: float) -> float:
        return timeout * sum(len(ask.ids) for ask in chunk)

    async def _patiently(self, future: Future[Any], limit: float) -> None:
        """Wait as long as anything comes back: how long a chunk is queued is the executor's business."""
        self._heard, self._longest = monotonic(), max(self._longest, limit)
        while not future.done():
            left = self._heard + self._longest + _PATIENCE - monotonic()
            if left <= 0:
                return
            await self.library.within(left, partial(self.library.finished, future))
        self._heard = monotonic()

    async def _settled(self, pending: Pending) -> Reply:
        left = None
        if self.timeout is not None:
            spent = perf_counter() - pending.started
            left = max(self.timeout * len(pending.ask.ids) - spent, 0.001)
        reply = await self.library.within(left, partial(self.settle, pending, self.reading))
        return in_time(pending.ask, reply, self.timeout)

    def _failed(self, chunk: Chunk, error: Exception) -> list[Reply]:
        let_through(error)
        problem = explain(error) if self._own else self._executor_failed(error)
        return [ask.failed(problem) for ask in chunk]

    def _executor_failed(self, error: Exception) -> str:
        told = summary(error)
        if isinstance(error, BrokenExecutor):
            return self._workers_died(type(error).__name__)
        if isinstance(error, _BrokenPromiseError):
            return f"ir_executor is {show(self.executor)}, and no executor that works: {error}."
        if isinstance(error, _OutcomeError):
            return (
                "pytest.skip or pytest.fail was called in a process of ir_executor, which it cannot leave. Call it in the "
                "fixture `retriever`, or raise an exception of another kind."
            )
        if "pickle" in told.lower() or "local object" in told:
            return (
                f"the retriever cannot be sent to the processes of ir_executor, or its answer back: {told}. Let it be a "
                "function of a module, or an object of a module's class, that opens its index there and returns ids."
            )
        return f"ir_executor raised {told}."

    def _workers_died(self, error: str) -> str:
        if self._answered:
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


def _can_be_sent(error: BaseException) -> bool:
    try:
        pickle.dumps(error)
    except Exception:  # noqa: BLE001 - whatever it is made of
        return False
    return True


class _BrokenPromiseError(Exception):
    """What an executor gave is not what every executor gives; says what it is."""


def _promised(chunk: Chunk, done: Any) -> list[Reply | Pending]:
    """Return what came of a chunk. Raises _BrokenPromiseError where a call of it is missing, or it is something else."""
    if (
        isinstance(done, list)
        and all(isinstance(one, (Reply, Pending)) for one in done)
        and [one.ask.ids for one in done] == [ask.ids for ask in chunk]
    ):
        return done
    raise _BrokenPromiseError(f"the work returned a list of {len(chunk)}, and what came back is {show(done)}")


def _discard_late(future: Future[Any]) -> None:
    if not future.cancelled() and future.exception() is None and isinstance(future.result(), list):
        _discard(future.result())


def _discard(done: list[Reply | Pending]) -> None:
    for one in done:
        if isinstance(one, Pending):
            one.discard()
