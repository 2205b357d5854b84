"""Asking on an event loop of asyncio."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_irmetrics.retrieval.errors import Cancelled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from concurrent.futures import Future

    from pytest_irmetrics.retrieval.call import Reply
    from pytest_irmetrics.retrieval.executor import Work
    from pytest_irmetrics.retrieval.ledger import Retrieved
    from pytest_irmetrics.retrieval.schedule import Chunk, Conversation

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

T = TypeVar("T")

GRACE = 1.0
"""Seconds that a cancelled coroutine has to clean up before it is left behind."""


def is_running() -> bool:
    """Say whether this is called from a coroutine or callback of asyncio."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def drive(conversation: Conversation, work: Work) -> Retrieved:
    """Hold a conversation, each chunk in a task of its own; leave none behind, however it ends."""
    tasks: dict[asyncio.Task[list[Reply] | _Exit], Chunk] = {}
    try:
        chunk = next(conversation)
        while True:
            replies: list[list[Reply]] = []
            if chunk is not None:
                task = _start(partial(work, chunk))
                tasks[task] = chunk
            else:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                replies = [_replies(one, tasks.pop(one)) for one in done]
            chunk = conversation.send(replies)
    except StopIteration as end:
        retrieved: Retrieved = end.value
        return retrieved
    finally:
        for left in tasks:
            left.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=GRACE)


def _replies(task: asyncio.Task[list[Reply] | _Exit], chunk: Chunk) -> list[Reply]:
    done = _unless_cancelled(task)
    return [ask.failed(str(done)) for ask in chunk] if isinstance(done, Cancelled) else done


async def apart(start: Callable[[], Coroutine[Any, Any, T]]) -> T | Cancelled:
    """Await what `start` gives; say so where that was cancelled, and whoever awaits this was not."""
    task = _start(start)
    try:
        await asyncio.wait({task})
        return _unless_cancelled(task)
    finally:
        await _end(task)


def _unless_cancelled(task: asyncio.Task[T | _Exit]) -> T | Cancelled:
    try:
        return _result(task)
    except asyncio.CancelledError as error:  # not by us, who have not done with it
        return Cancelled(error)


async def within(seconds: float | None, start: Callable[[], Coroutine[Any, Any, T]]) -> T | None:
    """Await what `start` gives; cancel it after so many seconds, and return None.

    Unlike asyncio.wait_for this ends also where its cancellation is swallowed.
    """
    if seconds is None:
        return await start()
    task = _start(start)
    try:
        await asyncio.wait({task}, timeout=seconds)
        return _result(task) if task.done() else None
    finally:
        await _end(task)


async def finished(future: Future[Any]) -> bool:
    """Wait for another thread's future to be done."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def tell(_: object) -> None:
        with contextlib.suppress(RuntimeError):  # a loop that is closed waits for nothing
            loop.call_soon_threadsafe(done.set)

    future.add_done_callback(tell)
    return await done.wait()


async def breathe() -> None:
    """Let the loop do what else there is; raises where whoever awaits this was cancelled."""
    await asyncio.sleep(0)


@dataclass(frozen=True, slots=True)
class _Exit:
    """What would stop the whole event loop at once if a task raised it; to be raised where the task is awaited."""

    error: BaseException


def _start(start: Callable[[], Awaitable[T]]) -> asyncio.Task[T | _Exit]:
    async def run() -> T | _Exit:
        try:
            return await start()  # made here: a task can be cancelled before it began
        except (KeyboardInterrupt, SystemExit) as error:
            return _Exit(error)

    task = asyncio.ensure_future(run())
    task.add_done_callback(note_end)
    return task


async def _end(task: asyncio.Task[Any]) -> None:
    if not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=GRACE)


def _result(task: asyncio.Task[T | _Exit]) -> T:
    result = task.result()
    if isinstance(result, _Exit):
        raise result.error
    return result


def note_end(task: asyncio.Future[Any]) -> None:
    """Look at a task's exception, or asyncio would log that nobody did."""
    if task.done() and not task.cancelled():
        task.exception()
