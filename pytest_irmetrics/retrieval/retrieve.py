"""Who asks: the retriever's calls are made in this thread, on an event loop, in threads or by an executor."""

from __future__ import annotations

import asyncio
from concurrent.futures import wait
from contextlib import ExitStack
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.retrieval import asyncio_driver as on_asyncio
from pytest_irmetrics.retrieval import trio_driver as on_trio
from pytest_irmetrics.retrieval.call import Ask, Caller, Question, Reply, RetrievalError
from pytest_irmetrics.retrieval.errors import Cancelled
from pytest_irmetrics.retrieval.executor import Elsewhere, Library, in_time
from pytest_irmetrics.retrieval.ledger import Ledger, Retrieved
from pytest_irmetrics.retrieval.options import RetrievalOptions
from pytest_irmetrics.retrieval.perform import Pending, Reading, aperform, perform, settle
from pytest_irmetrics.retrieval.replay import replay
from pytest_irmetrics.retrieval.schedule import Chunk, Conversation, converse, plan
from pytest_irmetrics.retrieval.session_loop import ALREADY_RUNNING, SessionLoop
from pytest_irmetrics.retrieval.threads import DaemonThreads
from pytest_irmetrics.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence

__tracebackhide__ = True  # what passes through shows the user's lines, not ours

_ASYNCIO = cast("Library", on_asyncio)
_TRIO = cast("Library", on_trio)
_GLANCE = 0.05  # seconds of plain calls after which an event loop gets to what else there is
_TICK = 1.0  # seconds after which a wait looks up, because Windows hears Ctrl-C only between waits


def retrieve(
    queries: Iterable[Question], retriever: Any, options: RetrievalOptions | None = None
) -> Retrieved:
    """Ask a retriever, sync or async, every query. What goes wrong with single queries is in `errors`.

    A sync retriever is called in this very thread, unless a timeout, concurrency or an executor asks for others;
    an async one runs on an event loop that is kept until `close_session_loop`. Raises RetrievalError for what is
    no retriever, and for an async one where a loop is running already.
    """
    options = options or RetrievalOptions()
    asked = _unique(queries)
    if isinstance(retriever, Run):
        return replay(asked, retriever, options)
    talk = _Talk(asked, retriever, options)
    if talk.alone and not talk.is_async:
        return _drive(talk)
    if talk.is_async or not (on_asyncio.is_running() or on_trio.is_running()):
        return _session_loop.run(partial(_adrive, talk, _ASYNCIO))
    # In a notebook, say. Only a thread of its own can have another loop.
    with DaemonThreads() as threads:
        future = threads.submit(lambda: asyncio.run(_adrive(talk, _ASYNCIO, _refuse)))
        while not wait([future], _TICK).done:
            pass
        return future.result()


async def aretrieve(
    queries: Iterable[Question], retriever: Any, options: RetrievalOptions | None = None
) -> Retrieved:
    """Do as `retrieve` does on the event loop that runs; the retriever may be sync or async.

    The loop is asyncio's or trio's; without a timeout, concurrency and an executor any other will do.
    """
    options = options or RetrievalOptions()
    asked = _unique(queries)
    if isinstance(retriever, Run):
        return replay(asked, retriever, options)
    talk = _Talk(asked, retriever, options, in_async=True)
    library = _TRIO if on_trio.is_running() else _ASYNCIO if on_asyncio.is_running() else None
    if talk.alone:
        return await _adrive_alone(talk, library)
    if library is None:
        raise RetrievalError(
            "ir_timeout, ir_concurrency and ir_executor need asyncio or trio in an async test. Leave them out here."
        )
    return await _adrive(talk, library)


class _Talk:
    """Whom to ask what, and how."""

    def __init__(
        self,
        queries: Sequence[Question],
        retriever: Any,
        options: RetrievalOptions,
        *,
        in_async: bool = False,
    ) -> None:
        caller = Caller.of(retriever, awaited=in_async and options.executor is None)
        self.is_async = caller.awaited
        if options.executor is not None and self.is_async:
            raise RetrievalError(
                "An async retriever cannot run in ir_executor. Leave the fixture out: ir_concurrency is enough."
            )
        self.queries = queries
        self.caller = caller
        self.function = caller.function
        self.options = options
        here = options.executor is None  # else it goes to other processes with every chunk
        stored = options.stored.answers if options.stored is not None and here else {}
        self.reading = Reading(options.depth, options.duplicates, options.doc_id, stored)

    @property
    def alone(self) -> bool:
        """Whether one thing after the other is enough."""
        options = self.options
        return options.executor is None and options.timeout is None and options.concurrency == 1

    def one_by_one(self) -> tuple[Iterator[Ask], Ledger]:
        """Give the calls to make, one after the other, and where to file each reply before the next is taken."""
        ledger = Ledger(self.queries, self.options)
        return plan(self.queries, self.caller, self.options, ledger), ledger

    def converse(self) -> Conversation:
        """Begin a conversation for several calls in flight."""
        return converse(self.queries, self.caller, self.options)


def _unique(queries: Iterable[Question]) -> list[Question]:
    asked = list(queries)
    seen: set[str] = set()
    for query in asked:
        if query.id in seen:
            raise RetrievalError(f"there are two queries {quote(query.id)}. Give each its own id.")
        seen.add(query.id)
    return asked


# The drivers.


def _drive(talk: _Talk) -> Retrieved:
    """Ask one query after the other, in the thread that this is."""
    function, reading = talk.function, talk.reading
    calls, ledger = talk.one_by_one()
    for ask in calls:
        done = perform(function, ask, reading)
        ledger.file(done if isinstance(done, Reply) else _settled(done, reading))
    return ledger.conclude(talk.caller.depth_advice)


async def _adrive_alone(talk: _Talk, library: Library | None) -> Retrieved:
    """Ask one query after the other, on whatever event loop runs."""
    function, reading = talk.function, talk.reading
    calls, ledger = talk.one_by_one()
    looked_up = monotonic()
    for ask in calls:
        done = perform(function, ask, reading)
        ledger.file(done if isinstance(done, Reply) else await _answered(done, reading, library))
        # Plain calls keep the loop from all else: from Ctrl-C, from a time limit around this, from other tasks.
        if library is not None and monotonic() - looked_up > _GLANCE:
            await library.breathe()
            looked_up = monotonic()
    return ledger.conclude(talk.caller.depth_advice)


async def _adrive(
    talk: _Talk,
    library: Library,
    settling: Callable[[Pending, Reading], Coroutine[Any, Any, Reply]] = settle,
) -> Retrieved:
    """Ask with as many calls in flight as wanted: coroutines on this event loop, all else elsewhere."""
    if talk.is_async and talk.alone:
        return await _adrive_alone(talk, library)
    timeout = talk.options.timeout

    async def here(chunk: Chunk) -> list[Reply]:
        replies = []
        for ask in chunk:
            left = None if timeout is None else timeout * len(ask.ids)
            reply = await library.within(left, partial(aperform, talk.function, ask, talk.reading))
            replies.append(in_time(ask, reply, timeout))
        return replies

    if talk.is_async:
        return await library.drive(talk.converse(), here)
    with ExitStack() as stack:
        executor = talk.options.executor or stack.enter_context(DaemonThreads())
        work = Elsewhere(talk.function, talk.reading, timeout, executor, library, settling)
        return await library.drive(talk.converse(), work)


async def _answered(done: Pending, reading: Reading, library: Library | None) -> Reply:
    """Await an answer, so that what the retriever cancels is its query's error and not the test's end."""
    if library is None:
        return await settle(done, reading)
    try:
        reply = await library.apart(partial(settle, done, reading))
    finally:
        done.discard()  # Ctrl-C may come before it was begun
    return done.ask.failed(str(reply)) if isinstance(reply, Cancelled) else reply


def _settled(done: Pending, reading: Reading) -> Reply:
    """Await, on the session's loop, what a retriever that looked sync turned out to give."""
    try:
        return _session_loop.run(partial(_answered, done, reading, _ASYNCIO))
    except RetrievalError:
        done.discard()
        raise


async def _refuse(pending: Pending, _: Reading) -> Reply:
    pending.discard()
    raise RetrievalError(ALREADY_RUNNING)


_session_loop = SessionLoop()


def close_session_loop() -> None:
    """Close the event loop of sync callers with async retrievers, if there is one."""
    _session_loop.close()
