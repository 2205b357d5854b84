"""Ask a retriever, async or not, on an event loop: the one that runs, or one for all sync callers of the session."""

from __future__ import annotations

import asyncio
import atexit
import contextvars
from collections.abc import Collection
from typing import Any

from pytest_irmetrics.retrieval.asking import Asking
from pytest_irmetrics.retrieval.calls import (
    CANCELLED,
    Call,
    PendingAnswer,
    Reply,
    RetrievalError,
    await_answer,
    call_retriever,
)

_Task = asyncio.Task[Reply | BaseException]


_CLEANUP_SECONDS = 1.0
"""How long cancelled coroutines have to clean up before they are no longer waited for."""


def is_loop_running() -> bool:
    """Say whether the caller runs on an event loop of asyncio."""
    return asyncio._get_running_loop() is not None  # noqa: SLF001 - the public one raises


async def ask_on_loop(asking: Asking) -> None:
    """Call the retriever on the loop that runs, as often at once as its RetrievalOptions say, and await its answers."""
    options, pending = asking.options, asking.pending  # kept, as `in_flight` gives `asking` a new list
    tasks: set[_Task] = set()  # those that are not done

    async def ask(call: Call, answer: PendingAnswer | None) -> Reply | BaseException:
        try:
            reply = answer or call_retriever(asking.target.function, call, options)
            return await await_answer(reply, options)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - raised where the reply is taken: here, Ctrl-C would stop the loop at once
            return error

    def start(call: Call, answer: PendingAnswer | None) -> _Task:
        task = asyncio.ensure_future(ask(call, answer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task

    try:
        for futures, seconds in asking.in_flight(start, _reply_of, options.concurrency, options.timeout):
            await asyncio.wait(futures, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await _clean_up({*tasks})
        for answer in pending:
            answer.close()


def _reply_of(task: _Task, call: Call) -> Reply:
    """Return the reply of a task that is done; a failed one where the retriever cancelled it. Raises what decides the test."""
    reply = call.failed(CANCELLED) if task.cancelled() else task.result()
    if isinstance(reply, BaseException):
        raise reply
    return reply


async def _clean_up(tasks: Collection[asyncio.Task[Any]]) -> bool:
    """Cancel tasks, give them a short time to clean up, and say whether all are done; some swallow their cancellation."""
    for task in tasks:
        task.cancel()
    return not tasks or not (await asyncio.wait(tasks, timeout=_CLEANUP_SECONDS))[1]


async def ask_beside_loop(asking: Asking) -> None:
    """Call a sync retriever in threads or the user's executor, while the loop goes on."""
    from pytest_irmetrics.retrieval.in_executor import DaemonThreads, ask_in_executor  # noqa: PLC0415 - few need it

    with DaemonThreads() as threads:
        asked = threads.submit(ask_in_executor, asking)
        try:
            await asyncio.wrap_future(asked)
        finally:
            asking.is_given_up = not asked.done()


# The event loop of sync callers

_runner: asyncio.Runner | None = None


def ask_on_session_loop(asking: Asking) -> None:
    """Do as `ask_on_loop` does on one event loop for the whole session, so that a client outlives a test.

    Raises RetrievalError beside a running loop, as in a notebook; pending answers are then dropped.
    """
    global _runner  # noqa: PLW0603 - one for the process
    if is_loop_running():
        for answer in asking.pending:
            answer.close()
        text = "The retriever is async, and an event loop is running here already. Use `await irmetrics.acheck()` or `await irmetrics.aevaluate()`; in a notebook `await asyncio.to_thread(evaluate, golden, retriever)`."
        raise RetrievalError(text)
    if _runner is None:
        _runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        atexit.register(close_session_loop)
    if _runner.get_loop().is_running():  # in another thread
        asyncio.run(ask_on_loop(asking))
    else:
        _runner.run(ask_on_loop(asking), context=contextvars.copy_context())


def close_session_loop() -> None:
    """Close the event loop of sync callers with async retrievers, if there is one; give what is left a time to end."""
    global _runner
    if _runner is None or is_loop_running():
        return
    runner, _runner = _runner, None

    async def end() -> bool:
        return await _clean_up(asyncio.all_tasks() - {asyncio.current_task()})

    if runner.run(end()):
        runner.close()
    else:  # a coroutine that swallows its cancellation would be waited for
        runner.get_loop().close()
