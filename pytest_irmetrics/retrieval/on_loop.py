"""Ask a retriever on an event loop: the one that runs, or one for all sync callers of the session."""

from __future__ import annotations

import asyncio
import atexit
import contextvars
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.retrieval.calls import (
    CANCELLED,
    PendingAnswer,
    Reply,
    RetrievalError,
    await_answer,
    call_retriever,
)
from pytest_irmetrics.retrieval.in_executor import MAX_QUEUED, DaemonThreads, call_in_executor

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable

    from pytest_irmetrics.retrieval.calls import Call
    from pytest_irmetrics.retrieval.session import Session

    _Task = asyncio.Task[Reply | BaseException]

_CLEANUP_SECONDS = 1.0
"""How long cancelled coroutines have to clean up before they are no longer waited for."""
_START_SECONDS = 30.0
"""How long, beyond a time limit, nothing may come back from an executor of the user's, which may queue a call for long."""
_LOOP_IS_RUNNING = (
    "The retriever is async, and an event loop is running here already. Use `await irmetrics.acheck()` or "
    "`await irmetrics.aevaluate()`; in a notebook `await asyncio.to_thread(evaluate, golden, retriever)`."
)


def is_loop_running() -> bool:
    """Say whether the caller runs on an event loop of asyncio."""
    return asyncio._get_running_loop() is not None  # noqa: SLF001 - the public one raises


async def ask_on_loop(
    session: Session, pending: PendingAnswer | None = None, *, may_await: bool = True
) -> None:
    """Have as many calls in flight at once as wanted, each in a task of its own; cancel what is left, however it ends.

    Sync retrievers are called on the loop itself, or in threads or the user's executor where the options ask for that.
    `pending` is an answer that has yet to be awaited. Raises RetrievalError for any other of that kind unless `may_await`.
    """
    options = session.options
    threads = None if session.target.is_async or options.is_sequential else DaemonThreads()
    executor = options.executor or threads
    most = options.concurrency if options.executor is None or options.concurrency > 1 else MAX_QUEUED
    limit = inf if options.timeout is None else options.timeout
    in_flight: dict[_Task, tuple[Call, float]] = {}
    """The call and when it was begun."""
    late: list[_Task] = []
    last_reply = monotonic()

    def deadline(call: Call, begun: float) -> float:
        # A worker of the user's minds the time of its call; how long that is queued is the executor's business.
        since = begun if options.executor is None else last_reply + _START_SECONDS
        return since + limit * len(call.query_ids)

    async def ask(call: Call) -> Reply:
        if executor is None:
            reply = call_retriever(session.target.function, call, options)
        else:
            reply = await call_in_executor(executor, session.target.function, call, options)
        if not isinstance(reply, PendingAnswer):
            return reply
        if not may_await:
            reply.close()
            raise RetrievalError(_LOOP_IS_RUNNING)
        return await await_answer(reply, options)

    try:
        if pending is not None:
            in_flight[_start(await_answer(pending, options))] = pending.call, monotonic()
        while not session.should_stop:
            while (call := session.next_call(len(in_flight), most)) is not None:
                in_flight[_start(ask(call))] = call, monotonic()
            if not in_flight:
                return
            first = min(deadline(*begun) for begun in in_flight.values())
            # In one go for a second at most: a signal that comes just before it waits, such as Ctrl-C, does not end the wait.
            await asyncio.wait(
                in_flight, timeout=min(first - monotonic(), 1.0), return_when=asyncio.FIRST_COMPLETED
            )
            now = monotonic()
            ended = [task for task, begun in in_flight.items() if task.done() or now >= deadline(*begun)]
            for task in ended:
                call, _ = in_flight.pop(task)
                if task.done():
                    last_reply = now
                    session.add(_reply_of(task, call).in_time(options.timeout))
                else:
                    task.cancel()
                    late.append(task)
                    session.add(call.timed_out(limit))
    finally:
        if threads is not None:
            threads.shutdown()
        for task in in_flight:
            task.cancel()
        await _clean_up([*in_flight, *late])
        if pending is not None:
            pending.close()


def _start(asked: Coroutine[Any, Any, Reply]) -> _Task:
    """Begin a call as a task, whose result is the reply, or the Ctrl-C or exit that ended it."""

    async def ask() -> Reply | BaseException:
        try:
            return await asked
        except (KeyboardInterrupt, SystemExit) as error:
            return error  # to be raised where the reply is taken: here it would stop the whole loop at once

    task = asyncio.ensure_future(ask())
    # A task that is cancelled before it begins never awaits this, and an exception that nobody reads is logged.
    task.add_done_callback(lambda done: (asked.close(), done.cancelled() or done.exception()))
    return task


def _reply_of(task: _Task, call: Call) -> Reply:
    """Return the reply of a task that is done; a failed one where the retriever cancelled it. Raises Ctrl-C."""
    reply = call.failed(CANCELLED) if task.cancelled() else task.result()
    if isinstance(reply, BaseException):
        raise reply
    return reply


async def _clean_up(cancelled: Iterable[asyncio.Task[Any]]) -> bool:
    """Give cancelled tasks a short time to clean up, and say whether all are done; some swallow their cancellation."""
    left = [task for task in cancelled if not task.done()]
    return not left or not (await asyncio.wait(left, timeout=_CLEANUP_SECONDS))[1]


# The event loop of sync callers

_runner: asyncio.Runner | None = None


def ask_on_session_loop(session: Session, pending: PendingAnswer | None) -> None:
    """Do as `ask_on_loop` does on one event loop for the whole session, so that a client outlives a test.

    Beside a running loop, as in a notebook, another thread does it, for a sync retriever alone. Raises RetrievalError for
    an async one; the pending answer is then dropped.
    """
    global _runner  # noqa: PLW0603 - one for the process
    if is_loop_running():
        if pending is not None:
            pending.close()
        if pending is not None or session.target.is_async:
            raise RetrievalError(_LOOP_IS_RUNNING)
        with DaemonThreads() as threads:
            asked = threads.submit(asyncio.run, ask_on_loop(session, may_await=False))
            try:
                asked.result()
            finally:
                session.is_given_up = not asked.done()
        return
    if _runner is None:
        _runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        atexit.register(close_session_loop)
    if _runner.get_loop().is_running():  # in another thread
        asyncio.run(ask_on_loop(session, pending))
    else:
        _runner.run(ask_on_loop(session, pending), context=contextvars.copy_context())


def close_session_loop() -> None:
    """Close the event loop of sync callers with async retrievers, if there is one; give what is left a time to end."""
    global _runner
    runner, _runner = _runner, None
    if runner is None or is_loop_running():
        return

    async def end() -> bool:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        return await _clean_up(left)

    atexit.unregister(close_session_loop)
    if runner.run(end()):
        runner.close()
    else:  # a coroutine that swallows its cancellation would be waited for
        runner.get_loop().close()
