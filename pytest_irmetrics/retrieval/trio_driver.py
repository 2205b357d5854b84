"""Run a schedule of calls on trio, as asyncio_driver does on asyncio, without importing trio unless somebody has."""

from __future__ import annotations

import contextlib
import sys
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_irmetrics.retrieval.errors import Cancelled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from concurrent.futures import Future

    from pytest_irmetrics.retrieval.call import Reply
    from pytest_irmetrics.retrieval.schedule import CallChunk, Retrieved, Schedule, Work

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

T = TypeVar("T")


def is_running() -> bool:
    """Say whether the caller runs in a task of trio."""
    trio = sys.modules.get("trio")
    if trio is None:
        return False
    try:
        trio.lowlevel.current_task()
    except (AttributeError, RuntimeError):  # trio is partly imported; not in a task
        return False
    return True


# The functions of schedule.EventLoopDriver


async def run_schedule(schedule: Schedule, work: Work) -> Retrieved:
    """Run a schedule, each chunk of calls in a task of its own; cancel all of these at the end, however it comes."""
    trio: Any = sys.modules["trio"]
    sender, receiver = trio.open_memory_channel(inf)

    async def run(chunk: CallChunk) -> None:
        try:
            done = await run_isolated(partial(work, chunk))
            sender.send_nowait(
                [call.failed(done.problem) for call in chunk] if isinstance(done, Cancelled) else done
            )
        except trio.Cancelled:
            raise
        except BaseException as error:  # noqa: BLE001 - from here pytest.skip would come in an ExceptionGroup
            sender.send_nowait(error)

    failure: BaseException | None = None
    retrieved: Retrieved | None = None
    async with trio.open_nursery() as nursery:
        try:
            chunk = next(schedule)
            while True:
                replies: list[list[Reply]] = []
                if chunk is not None:
                    nursery.start_soon(run, chunk)
                else:
                    replies = [_raise_error(await receiver.receive())]
                chunk = schedule.send(replies)
        except StopIteration as end:
            retrieved = end.value
        except trio.Cancelled:
            raise
        except BaseException as error:  # noqa: BLE001 - as above
            failure = error
        nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure
    assert retrieved is not None  # noqa: S101 - the schedule ends in this or in a failure
    return retrieved


def _raise_error(done: list[Reply] | BaseException) -> list[Reply]:
    if isinstance(done, BaseException):
        raise done
    return done


async def run_isolated(start: Callable[[], Awaitable[T]]) -> T | Cancelled:
    """Await what `start` returns; return Cancelled where it was cancelled and its caller was not."""
    trio: Any = sys.modules["trio"]
    try:
        return await start()
    except trio.Cancelled as error:
        if trio.current_effective_deadline() == -inf:
            raise
        return Cancelled(error)  # the retriever caught it in another cancel scope and raised it again


async def run_with_timeout(seconds: float | None, start: Callable[[], Coroutine[Any, Any, T]]) -> T | None:
    """Await what `start` returns; cancel it after so many seconds, and return None."""
    trio: Any = sys.modules["trio"]
    with trio.move_on_after(inf if seconds is None else seconds):
        return await start()
    return None


async def wait_for_future(future: Future[Any]) -> bool:
    """Wait until another thread's future is done."""
    trio: Any = sys.modules["trio"]
    token, done = trio.lowlevel.current_trio_token(), trio.Event()

    def notify(_: object) -> None:
        with contextlib.suppress(trio.RunFinishedError):  # trio's run is over, so nobody waits
            token.run_sync_soon(done.set)

    future.add_done_callback(notify)
    await done.wait()
    return True


def pinger() -> Callable[[Callable[[], object]], None]:
    """Return a function that, from another thread, has the event loop that runs here call another."""
    trio: Any = sys.modules["trio"]
    token = trio.lowlevel.current_trio_token()

    def ping(respond: Callable[[], object]) -> None:
        with contextlib.suppress(trio.RunFinishedError):
            token.run_sync_soon(respond)

    return ping


async def checkpoint() -> None:
    """Let other tasks run; raises where the caller was cancelled."""
    await sys.modules["trio"].lowlevel.checkpoint()
