"""Run a schedule of calls on asyncio, and keep one event loop for sync callers with async retrievers."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_irmetrics.retrieval.errors import Cancelled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from concurrent.futures import Future

    from pytest_irmetrics.retrieval.call import Call, Reply
    from pytest_irmetrics.retrieval.schedule import Retrieved, Schedule, Work

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

T = TypeVar("T")

CLEANUP_SECONDS = 1.0
"""How long a cancelled coroutine has to clean up before it is no longer waited for."""


def is_running() -> bool:
    """Say whether the caller runs on an event loop of asyncio."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


# Calls


async def run_schedule(schedule: Schedule, work: Work) -> Retrieved:
    """Run a schedule, each call in a task of its own; cancel all of these at the end, however it comes."""
    tasks: dict[asyncio.Task[Reply | _Exit], Call] = {}
    try:
        call = next(schedule)
        while True:
            replies: list[Reply] = []
            if call is not None:
                task = _start_task(partial(work, call))
                tasks[task] = call
            else:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                replies = [_reply(task, tasks.pop(task)) for task in done]
            call = schedule.send(replies)
    except StopIteration as end:
        retrieved: Retrieved = end.value
        return retrieved
    finally:
        for left in tasks:
            left.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CLEANUP_SECONDS)


def _reply(task: asyncio.Task[Reply | _Exit], call: Call) -> Reply:
    """Return the reply of a task that is done; a failed one where the retriever cancelled it."""
    done = _result_or_cancelled(task)
    return call.failed(done.problem) if isinstance(done, Cancelled) else done


async def run_isolated(start: Callable[[], Coroutine[Any, Any, T]]) -> T | Cancelled:
    """Await what `start` returns; return Cancelled where it was cancelled and its caller was not."""
    task = _start_task(start)
    try:
        await asyncio.wait({task})
        return _result_or_cancelled(task)
    finally:
        await _cancel_task(task)


async def run_with_timeout(seconds: float | None, start: Callable[[], Coroutine[Any, Any, T]]) -> T | None:
    """Await what `start` returns; cancel it after so many seconds, and return None.

    Unlike asyncio.wait_for this ends also where the coroutine swallows its cancellation.
    """
    if seconds is None:
        return await start()
    task = _start_task(start)
    try:
        await asyncio.wait({task}, timeout=seconds)
        return _result(task) if task.done() else None
    finally:
        await _cancel_task(task)


async def wait_for_future(future: Future[Any]) -> bool:
    """Wait until another thread's future is done."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def notify(_: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, so nobody waits
            loop.call_soon_threadsafe(done.set)

    future.add_done_callback(notify)
    return await done.wait()


async def checkpoint() -> None:
    """Let other tasks run; raises where the caller was cancelled."""
    await asyncio.sleep(0)


# Tasks


@dataclass(frozen=True, slots=True)
class _Exit:
    """A KeyboardInterrupt or SystemExit of a task, to be raised where the task is awaited.

    Raised in the task itself, it would stop the whole event loop at once.
    """

    error: BaseException


def _start_task(start: Callable[[], Awaitable[T]]) -> asyncio.Task[T | _Exit]:
    """Await what `start` returns in a task of its own, out of which Ctrl-C comes as an `_Exit`."""

    async def run() -> T | _Exit:
        try:
            # Started here: a coroutine made outside would never be awaited if the task is cancelled before it begins.
            return await start()
        except (KeyboardInterrupt, SystemExit) as error:
            return _Exit(error)

    task = asyncio.ensure_future(run())
    task.add_done_callback(_retrieve_exception)
    return task


async def _cancel_task(task: asyncio.Task[Any]) -> None:
    """Cancel a task that is not done, and give it a short time to clean up."""
    if not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=CLEANUP_SECONDS)


def _result(task: asyncio.Task[T | _Exit]) -> T:
    """Return the result of a task that is done. Raises what it raised, Ctrl-C too."""
    result = task.result()
    if isinstance(result, _Exit):
        raise result.error
    return result


def _result_or_cancelled(task: asyncio.Task[T | _Exit]) -> T | Cancelled:
    """Return the result of a task that is done, or that the retriever cancelled it."""
    try:
        return _result(task)
    except asyncio.CancelledError as error:  # raised by the retriever: our own tasks are cancelled later
        return Cancelled(error)


def _retrieve_exception(task: asyncio.Future[Any]) -> None:
    """Retrieve a task's exception, or asyncio would log that it was never retrieved."""
    if task.done() and not task.cancelled():
        task.exception()


class SessionLoop:
    """One event loop on which sync callers run async retrievers, so that a client outlives a test."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, start: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run what `start` returns until it is done; not to be called where an event loop is running."""
        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
            atexit.register(self.close)
        task = self._loop.create_task(start())
        try:
            return self._loop.run_until_complete(task)
        except BaseException:
            _end_interrupted(self._loop, task)
            raise

    def close(self) -> None:
        """Cancel what is left on the loop, and close it; the next `run` opens another."""
        loop, self._loop = self._loop, None
        if loop is None or loop.is_closed() or loop.is_running():
            return
        atexit.unregister(self.close)
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        with contextlib.suppress(Exception):
            if left:
                loop.run_until_complete(asyncio.wait(left, timeout=CLEANUP_SECONDS))
            loop.run_until_complete(asyncio.wait_for(loop.shutdown_asyncgens(), CLEANUP_SECONDS))
        loop.close()


def _end_interrupted(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    """Cancel a task that KeyboardInterrupt or SystemExit interrupted, and give it a short time to clean up."""
    stop = loop.call_later(2 * CLEANUP_SECONDS, loop.stop)
    while not task.done():
        task.cancel()
        try:
            loop.run_until_complete(task)
        except (KeyboardInterrupt, SystemExit):
            # Raised by another call in flight; the first such exception is already being raised by `run`.
            continue
        except BaseException:  # noqa: BLE001 - the task has ended, or its time is over
            break
    stop.cancel()
    _retrieve_exception(task)
