"""Ask a retriever every query: one by one in this thread, on an event loop, in threads or by an executor."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.retrieval.call import (
    PendingAnswer,
    Reply,
    RetrievalError,
    await_answer,
    call_retriever,
    call_retriever_async,
    reply_in_time,
)
from pytest_irmetrics.retrieval.options import RetrievalOptions
from pytest_irmetrics.retrieval.retriever import Retriever
from pytest_irmetrics.retrieval.schedule import (
    ReplyCollector,
    Retrieved,
    iterate_calls,
    schedule_calls,
)
from pytest_irmetrics.run import Run

# asyncio, executor and errors are imported where they are used: one by one, a sync retriever needs none of them.
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Sequence

    from pytest_irmetrics.retrieval.asyncio_driver import SessionLoop
    from pytest_irmetrics.retrieval.call import Call
    from pytest_irmetrics.retrieval.executor import AwaitAnswer
    from pytest_irmetrics.retrieval.retriever import QueryLike

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines

T = TypeVar("T")

_LOOP_IS_RUNNING = (
    "The retriever is async, and an event loop is running here already. Use `await irmetrics.acheck()` or "
    "`await irmetrics.aevaluate()`; in a notebook `await asyncio.to_thread(evaluate, golden, retriever)`."
)
_CHECKPOINT_SECONDS = 0.05
"""How long plain calls may keep an event loop from its other tasks."""
_WAIT_SECONDS = 1.0
"""How long to wait in one go for another thread: Windows handles Ctrl-C only between waits."""


def retrieve(
    queries: Iterable[QueryLike], retriever: Any, options: RetrievalOptions | None = None
) -> Retrieved:
    """Ask a retriever, sync or async, every query. What goes wrong with single queries is in `errors`.

    A sync retriever is called in this very thread, unless a timeout, concurrency or an executor asks for others;
    an async one runs on an event loop that is kept until `close_session_loop`. Raises RetrievalError for what is
    no retriever, and for an async one where a loop is running already.
    """
    options = options or RetrievalOptions()
    queries = _require_unique(queries)
    if isinstance(retriever, Run):
        return _replay(queries, retriever, options)
    target = _read_retriever(retriever, options)
    if options.is_sequential and not target.is_async:
        return _retrieve_one_by_one(queries, target, options)
    if target.is_async or not _is_asyncio_running():
        return _run_on_session_loop(partial(_retrieve_concurrently, queries, target, options))
    return _retrieve_in_other_thread(queries, target, options)


async def aretrieve(
    queries: Iterable[QueryLike], retriever: Any, options: RetrievalOptions | None = None
) -> Retrieved:
    """Ask a retriever, sync or async, every query on the event loop that runs; else as `retrieve`.

    The loop is asyncio's; without a timeout, concurrency and an executor any other will do.
    """
    options = options or RetrievalOptions()
    queries = _require_unique(queries)
    if isinstance(retriever, Run):
        return _replay(queries, retriever, options)
    target = _read_retriever(retriever, options, prefer_async=options.executor is None)
    if options.is_sequential:
        return await _retrieve_one_by_one_async(queries, target, options)
    if not _is_asyncio_running():
        raise RetrievalError(
            "ir_timeout, ir_concurrency and ir_executor need asyncio in an async test. Leave them out here."
        )
    return await _retrieve_concurrently(queries, target, options)


def _require_unique(queries: Iterable[QueryLike]) -> list[QueryLike]:
    """Return the queries. Raises RetrievalError where two have one id."""
    unique = list(queries)
    seen: set[str] = set()
    for query in unique:
        if query.id in seen:
            raise RetrievalError(f"there are two queries {quote(query.id)}. Give each its own id.")
        seen.add(query.id)
    return unique


def _read_retriever(retriever: Any, options: RetrievalOptions, *, prefer_async: bool = False) -> Retriever:
    """Return how to call a retriever. Raises RetrievalError for what is none, or cannot be called as the options say."""
    target = Retriever.of(retriever, prefer_async=prefer_async)
    if options.executor is not None and target.is_async:
        raise RetrievalError(
            "An async retriever cannot run in ir_executor. Leave the fixture out: ir_concurrency is enough."
        )
    return target


def _replay(queries: Sequence[QueryLike], run: Run, options: RetrievalOptions) -> Retrieved:
    from pytest_irmetrics.retrieval.replay import replay  # noqa: PLC0415 - a retriever that is asked does without it

    return replay(queries, run, options)


def _is_asyncio_running() -> bool:
    """Say whether the caller runs on an event loop of asyncio, without importing asyncio where nobody else has."""
    if "asyncio" not in sys.modules:
        return False
    from pytest_irmetrics.retrieval import asyncio_driver  # noqa: PLC0415

    return asyncio_driver.is_running()


# One call after the other


def _retrieve_one_by_one(
    queries: Sequence[QueryLike], retriever: Retriever, options: RetrievalOptions
) -> Retrieved:
    """Make one call after the other, in this thread."""
    collector = ReplyCollector(queries, options)
    function = retriever.function
    for call in iterate_calls(queries, retriever, options, collector):
        reply = call_retriever(function, call, options)
        collector.add(reply if isinstance(reply, Reply) else _await_on_session_loop(reply, options))
    return collector.result(retriever.depth_advice)


async def _retrieve_one_by_one_async(
    queries: Sequence[QueryLike], retriever: Retriever, options: RetrievalOptions
) -> Retrieved:
    """Make one call after the other, on whatever event loop runs."""
    on_asyncio = _is_asyncio_running()
    collector = ReplyCollector(queries, options)
    function = retriever.function
    last_checkpoint = monotonic()
    for call in iterate_calls(queries, retriever, options, collector):
        reply = call_retriever(function, call, options)
        collector.add(reply if isinstance(reply, Reply) else await _await_isolated(reply, options))
        # Plain calls keep the loop from all else: from Ctrl-C, from a time limit around this, from other tasks.
        if on_asyncio and monotonic() - last_checkpoint > _CHECKPOINT_SECONDS:
            from pytest_irmetrics.retrieval import asyncio_driver  # noqa: PLC0415

            await asyncio_driver.checkpoint()
            last_checkpoint = monotonic()
    return collector.result(retriever.depth_advice)


async def _await_isolated(pending: PendingAnswer, options: RetrievalOptions) -> Reply:
    """Await an answer, so that what the retriever cancels is its query's error and not the test's end."""
    if not _is_asyncio_running():
        return await await_answer(pending, options)
    from pytest_irmetrics.retrieval import asyncio_driver  # noqa: PLC0415

    try:
        reply = await asyncio_driver.run_isolated(partial(await_answer, pending, options))
    finally:
        pending.close()  # Ctrl-C may come before it was begun
    return reply if isinstance(reply, Reply) else pending.call.failed(reply.problem)


# Several calls in flight


async def _retrieve_concurrently(
    queries: Sequence[QueryLike],
    retriever: Retriever,
    options: RetrievalOptions,
    await_thread_answer: AwaitAnswer = await_answer,
) -> Retrieved:
    """Have as many calls in flight as wanted: coroutines on this event loop, all else in threads or an executor."""
    if retriever.is_async and options.is_sequential:
        return await _retrieve_one_by_one_async(queries, retriever, options)
    from pytest_irmetrics.retrieval import asyncio_driver  # noqa: PLC0415

    schedule = schedule_calls(queries, retriever, options)
    timeout = options.timeout

    async def await_call(call: Call) -> Reply:
        limit = None if timeout is None else timeout * len(call.query_ids)
        start = partial(call_retriever_async, retriever.function, call, options)
        return reply_in_time(call, await asyncio_driver.run_with_timeout(limit, start), timeout)

    if retriever.is_async:
        return await asyncio_driver.run_schedule(schedule, await_call)
    from pytest_irmetrics.retrieval.executor import DaemonThreads, ExecutorRunner  # noqa: PLC0415

    with ExitStack() as stack:
        executor = options.executor or stack.enter_context(DaemonThreads())
        runner = ExecutorRunner(retriever.function, options, executor, await_thread_answer)
        return await asyncio_driver.run_schedule(schedule, runner)


def _retrieve_in_other_thread(
    queries: Sequence[QueryLike], retriever: Retriever, options: RetrievalOptions
) -> Retrieved:
    """Have several calls in flight where an event loop is running, as in a notebook: only another thread can have its own."""
    import asyncio  # noqa: PLC0415
    from concurrent.futures import wait  # noqa: PLC0415

    from pytest_irmetrics.retrieval.executor import DaemonThreads  # noqa: PLC0415

    def run() -> Retrieved:
        return asyncio.run(_retrieve_concurrently(queries, retriever, options, _refuse_to_await))

    with DaemonThreads() as threads:
        future = threads.submit(run)
        while not wait([future], _WAIT_SECONDS).done:
            pass
        return future.result()


async def _refuse_to_await(pending: PendingAnswer, _: RetrievalOptions) -> Reply:
    pending.close()
    raise RetrievalError(_LOOP_IS_RUNNING)


# The event loop of sync callers

_session_loop: SessionLoop | None = None


def _run_on_session_loop(start: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run what `start` returns until it is done. Raises RetrievalError where a loop is running already."""
    global _session_loop  # noqa: PLW0603 - one for the process, so that a client outlives a test
    if _is_asyncio_running():
        raise RetrievalError(_LOOP_IS_RUNNING)
    if _session_loop is None:
        from pytest_irmetrics.retrieval.asyncio_driver import SessionLoop  # noqa: PLC0415

        _session_loop = SessionLoop()
    return _session_loop.run(start)


def _await_on_session_loop(pending: PendingAnswer, options: RetrievalOptions) -> Reply:
    """Await what a retriever that looked sync turned out to return."""
    try:
        return _run_on_session_loop(partial(_await_isolated, pending, options))
    except RetrievalError:
        pending.close()
        raise


def close_session_loop() -> None:
    """Close the event loop of sync callers with async retrievers, if there is one."""
    if _session_loop is not None:
        _session_loop.close()
