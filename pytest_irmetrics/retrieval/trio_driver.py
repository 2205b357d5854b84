"""Asking on trio, which is imported by whoever runs it and never by us."""

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
    from pytest_irmetrics.retrieval.executor import Work
    from pytest_irmetrics.retrieval.ledger import Retrieved
    from pytest_irmetrics.retrieval.schedule import Chunk, Conversation

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

T = TypeVar("T")


def is_running() -> bool:
    """Say whether this is called from a task of trio."""
    trio = sys.modules.get("trio")
    if trio is None:
        return False
    try:
        trio.lowlevel.current_task()
    except (AttributeError, RuntimeError):  # half imported; not in a task
        return False
    return True


async def drive(conversation: Conversation, work: Work) -> Retrieved:
    """Hold a conversation, each chunk in a task of its own; none is left when it ends, however it does."""
    trio: Any = sys.modules["trio"]
    said, heard = trio.open_memory_channel(inf)

    async def run(chunk: Chunk) -> None:
        try:
            done = await apart(partial(work, chunk))
            said.send_nowait(
                [ask.failed(str(done)) for ask in chunk] if isinstance(done, Cancelled) else done
            )
        except trio.Cancelled:
            raise
        except BaseException as error:  # noqa: BLE001 - pytest.skip and the like; from here it would come in a group
            said.send_nowait(error)

    failure: BaseException | None = None
    retrieved: Retrieved | None = None
    async with trio.open_nursery() as nursery:
        try:
            chunk = next(conversation)
            while True:
                replies: list[list[Reply]] = []
                if chunk is not None:
                    nursery.start_soon(run, chunk)
                else:
                    replies = [_unless_raised(await heard.receive())]
                chunk = conversation.send(replies)
        except StopIteration as end:
            retrieved = end.value
        except trio.Cancelled:
            raise
        except BaseException as error:  # noqa: BLE001 - as above
            failure = error
        nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure
    assert retrieved is not None  # noqa: S101 - the conversation ends in this or in a failure
    return retrieved


def _unless_raised(done: list[Reply] | BaseException) -> list[Reply]:
    if isinstance(done, BaseException):
        raise done
    return done


async def apart(start: Callable[[], Awaitable[T]]) -> T | Cancelled:
    """Await what `start` gives; say so where that was cancelled, and whoever awaits this was not."""
    trio: Any = sys.modules["trio"]
    try:
        return await start()
    except trio.Cancelled as error:
        if trio.current_effective_deadline() == -inf:
            raise
        return Cancelled(error)  # one of another scope that the retriever kept, and raised anew


async def within(seconds: float | None, start: Callable[[], Coroutine[Any, Any, T]]) -> T | None:
    """Await what `start` gives; cancel it after so many seconds, and return None."""
    trio: Any = sys.modules["trio"]
    with trio.move_on_after(inf if seconds is None else seconds):
        return await start()
    return None


async def finished(future: Future[Any]) -> bool:
    """Wait for another thread's future to be done."""
    trio: Any = sys.modules["trio"]
    token, done = trio.lowlevel.current_trio_token(), trio.Event()

    def tell(_: object) -> None:
        with contextlib.suppress(trio.RunFinishedError):  # a run that is over waits for nothing
            token.run_sync_soon(done.set)

    future.add_done_callback(tell)
    await done.wait()
    return True


async def breathe() -> None:
    """Let the loop do what else there is; raises where whoever awaits this was cancelled."""
    await sys.modules["trio"].lowlevel.checkpoint()
