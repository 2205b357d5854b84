"""Ask a retriever every query: one by one in this thread, or on an event loop, which may call it in threads or an executor."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.retrieval.calls import RetrievalError, RetrievalOptions, await_answer
from pytest_irmetrics.retrieval.session import Session
from pytest_irmetrics.run import Run

# What only some retrievals need is imported where it is used: one by one, a sync retriever needs no event loop.
if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_irmetrics.golden import Query
    from pytest_irmetrics.retrieval.session import Retrieved


def retrieve(queries: Iterable[Query], retriever: Any, options: RetrievalOptions | None = None) -> Retrieved:
    """Ask a retriever, sync or async, every query. What goes wrong with single queries is in `errors`.

    A sync retriever is called in this very thread, unless a timeout, concurrency or an executor asks for others;
    an async one runs on an event loop that is kept until `close_session_loop`. Raises RetrievalError for what is
    no retriever, and for an async one where a loop is running already.
    """
    options = options or RetrievalOptions()
    if isinstance(retriever, Run):
        return _replay(queries, retriever, options)
    session = Session(queries, retriever, options)
    on_loop = session.target.is_async or not options.is_sequential
    # A retriever that looked sync may return what has to be awaited: lambda query, k: client.search(query).
    pending = None if on_loop else next(session.ask_one_by_one(), None)
    if on_loop or pending is not None:
        from pytest_irmetrics.retrieval.on_loop import ask_on_session_loop  # noqa: PLC0415

        ask_on_session_loop(session, pending)
    return session.result()


async def aretrieve(
    queries: Iterable[Query], retriever: Any, options: RetrievalOptions | None = None
) -> Retrieved:
    """Do as `retrieve` does, on the event loop that runs: asyncio's; one by one, without a time limit, on any other too."""
    from pytest_irmetrics.retrieval.on_loop import ask_on_loop, is_loop_running  # noqa: PLC0415

    options = options or RetrievalOptions()
    if isinstance(retriever, Run):
        return _replay(queries, retriever, options)
    session = Session(queries, retriever, options, prefer_async=options.executor is None)
    if is_loop_running():
        await ask_on_loop(session)
    elif options.is_sequential:
        for pending in session.ask_one_by_one():
            session.add(await await_answer(pending, options))
    else:
        raise RetrievalError(
            "ir_timeout, ir_concurrency and ir_executor need asyncio in an async test. Leave them out here."
        )
    return session.result()


def close_session_loop() -> None:
    """Close the event loop of sync callers with async retrievers, if there is one; give what is left a time to end."""
    on_loop = sys.modules.get("pytest_irmetrics.retrieval.on_loop")
    if on_loop is not None:
        on_loop.close_session_loop()


def _replay(queries: Iterable[Query], run: Run, options: RetrievalOptions) -> Retrieved:
    from pytest_irmetrics.retrieval.replay import replay  # noqa: PLC0415 - a retriever that is asked does without it

    return replay(list(queries), run, options)
