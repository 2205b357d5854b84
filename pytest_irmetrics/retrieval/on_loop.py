"""Ask a retriever on an event loop: the one that runs, or one for all sync callers of the session."""

from __future__ import annotations

import asyncio
import atexit
import contextvars
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_irmetrics.retrieval.calls import (
    CANCELLED,
    PendingAnswer,
    Reply,
    RetrievalError,
    await_answer,
    call_retriever,
)

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable

    from pytest_irmetrics.retrieval.calls import Call
    from pytest_irmetrics.retrieval.session import Session

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

_CLEANUP_SECONDS = 1.0
"""How long a cancelled coroutine has to clean up before it is no longer waited for."""
_LOOP_IS_RUNNING = (
    "The retriever is async, and an event loop is running here already. Use `await irmetrics.acheck()` or "
    "`await irmetrics.aevaluate()`; in a notebook `await asyncio.to_thread(evaluate, golden, retriever)`."
)


def is_loop_running() -> bool:
    """Say whether the caller runs on an event loop of asyncio."""
    return asyncio._get_running_loop() is not None  # noqa: SLF001 - the public one raises


async def ask_on_loop(session: Session) -> None:
    """Make as many calls at once as wanted, each in a task of its own; cancel what is left, however it ends."""
    if not is_loop_running():  # trio's, or another: one by one
        for call in session.calls:
            reply = call_retriever(session.target.function, call, session.options)
            if isinstance(reply, PendingAnswer):
                reply = await await_answer(reply, session.options)
            session.collector.add(reply)
        return
    most = session.options.concurrency
    tasks: dict[asyncio.Task[Any], Call] = {}
    try:
        while not session.collector.should_stop:
            while session.pending and len(tasks) < most:
                pending = session.pending.pop()
                tasks[_start(_await(session, pending))] = pending.call
            while (following := session.next_call(len(tasks), most)) is not None:
                tasks[_start(_ask(session, following))] = following
            if not tasks:
                return
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                session.collector.add(_reply_of(task, tasks.pop(task)))
    finally:
        await _cancel(tasks)
        for pending in session.pending:
            pending.close()


async def ask_beside_loop(session: Session) -> None:
    """Ask in threads or an executor, so that the event loop goes on; end it where this is cancelled."""
    from pytest_irmetrics.retrieval.in_executor import ask_in_executor  # noqa: PLC0415

    try:
        await asyncio.to_thread(ask_in_executor, session)
    finally:
        session.is_given_up = True


async def _ask(session: Session, call: Call) -> Reply:
    reply = call_retriever(session.target.function, call, session.options)
    return (
        await _await(session, reply)
        if isinstance(reply, PendingAnswer)
        else reply.in_time(session.options.timeout)
    )


async def _await(session: Session, pending: PendingAnswer) -> Reply:
    """Await an answer for as long as its call has time left.

    Unlike asyncio.wait_for this ends also where the coroutine swallows its cancellation.
    """
    timeout, call = session.options.timeout, pending.call
    if timeout is None:
        return await await_answer(pending, session.options)
    left = timeout * len(call.query_ids) - (perf_counter() - pending.started)
    task = _start(await_answer(pending, session.options))
    try:
        await asyncio.wait({task}, timeout=max(left, 0.001))
        return _reply_of(task, call).in_time(timeout) if task.done() else call.timed_out(timeout)
    finally:
        await _cancel([task])


class _Exit(NamedTuple):
    """A KeyboardInterrupt or SystemExit of a task, to be raised where the task is awaited.

    Raised in the task itself, it would stop the whole event loop at once.
    """

    error: BaseException


async def _exit_caught(asked: Coroutine[Any, Any, Any]) -> Any:
    try:
        return await asked
    except (KeyboardInterrupt, SystemExit) as error:
        return _Exit(error)


def _start(asked: Coroutine[Any, Any, Reply]) -> asyncio.Task[Any]:
    task = asyncio.ensure_future(_exit_caught(asked))
    # A task that is cancelled before it begins never awaits this, and an exception that nobody reads is logged.
    task.add_done_callback(lambda done: (asked.close(), done.cancelled() or done.exception()))
    return task


def _reply_of(task: asyncio.Task[Any], call: Call) -> Reply:
    """Return the reply of a task that is done; a failed one where the retriever cancelled it. Raises Ctrl-C."""
    if task.cancelled():
        return call.failed(CANCELLED)
    reply: Reply = _unless_exit(task.result())
    return reply


def _unless_exit(result: Any) -> Any:
    if isinstance(result, _Exit):
        raise result.error
    return result


async def _cancel(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel what is not done, and give it a short time to clean up."""
    left = [task for task in tasks if not task.done()]
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=_CLEANUP_SECONDS)


# The event loop of sync callers

_runner: asyncio.Runner | None = None


def ask_on_session_loop(session: Session) -> None:
    """Do as `ask_on_loop` does on one event loop for the whole session, so that a client outlives a test.

    Raises RetrievalError where a loop is running already; the pending answers are then dropped.
    """
    global _runner  # noqa: PLW0603 - one for the process
    if is_loop_running():
        for pending in session.pending:
            pending.close()
        raise RetrievalError(_LOOP_IS_RUNNING)
    if _runner is None:
        _runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        atexit.register(close_session_loop)
    _unless_exit(_runner.run(_exit_caught(ask_on_loop(session)), context=contextvars.copy_context()))


def close_session_loop() -> None:
    """Close the event loop of sync callers with async retrievers, if there is one; give what is left a time to end."""
    global _runner
    runner, _runner = _runner, None
    if runner is None or is_loop_running():
        return

    async def end() -> bool:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        await _cancel(left)
        return all(task.done() for task in left)

    atexit.unregister(close_session_loop)
    if runner.run(end()):
        runner.close()
    else:  # a coroutine that swallows its cancellation would be waited for
        runner.get_loop().close()
