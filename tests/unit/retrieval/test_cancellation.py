"""A retriever that cancels itself is an error of its query; cancelling from outside ends the retrieval."""

# ruff: noqa: PLW0108 - what a lambda returns has to be awaited, and only that tells

from __future__ import annotations

import asyncio
import gc

import pytest

from pytest_irmetrics.retrieval import (
    RetrievalOptions,
    aretrieve,
    close_session_loop,
    retrieve,
)
from tests.unit.retrieval.event_loops import Asyncio
from tests.unit.retrieval.helpers import QUERIES

trio = pytest.importorskip("trio")


async def _cancelled(query):
    await asyncio.sleep(0)
    if query == "text 1":
        raise asyncio.CancelledError
    return [query]


async def _cancelling_what_it_awaits(query):
    if query == "text 1":
        task = asyncio.ensure_future(asyncio.sleep(3600))
        await asyncio.sleep(0)
        task.cancel()
        await task
    return [query]


async def _cancelling_itself(query):
    if query == "text 1":
        asyncio.current_task().cancel()
        await asyncio.sleep(0)
    return [query]


async def _cancelled_midway(query):
    yield query
    if query == "text 1":
        raise asyncio.CancelledError


def _cancelled_sync(query):
    if query == "text 1":
        raise asyncio.CancelledError
    return [query]


def _cancelled_sync_midway(query):
    yield query
    if query == "text 1":
        raise asyncio.CancelledError


CANCELLED = {
    "async": _cancelled,
    "what it awaits": _cancelling_what_it_awaits,
    "itself": _cancelling_itself,
    "async midway": _cancelled_midway,
    "sync": _cancelled_sync,
    "sync midway": _cancelled_sync_midway,
    "looks sync": lambda query: _cancelled(query),
    "looks sync, itself": lambda query: _cancelling_itself(query),
}


@pytest.mark.parametrize(
    "options", [{}, {"timeout": 60}, {"concurrency": 3}, {"concurrency": 3, "timeout": 60}]
)
@pytest.mark.parametrize("kind", CANCELLED)
def test_a_retriever_that_is_cancelled_by_itself_is_an_error_of_its_query(kind, options):
    here = retrieve(QUERIES, CANCELLED[kind], RetrievalOptions(**options))
    there = Asyncio.run(aretrieve, QUERIES, CANCELLED[kind], RetrievalOptions(**options))
    for retrieved in (here, there):
        assert list(retrieved.errors) == ["q1"]
        said = (
            "the retriever was cancelled, and not by ir_timeout (tests/unit/retrieval/test_cancellation.py:"
        )
        assert retrieved.errors["q1"].startswith(said)
        assert len(retrieved.run) == 7
    close_session_loop()


@pytest.mark.parametrize(
    "options", [{}, {"timeout": 60}, {"concurrency": 3}, {"concurrency": 3, "timeout": 60}]
)
@pytest.mark.parametrize("as_async", [True, False])
def test_a_retriever_that_is_cancelled_by_itself_is_an_error_of_its_query_on_trio(as_async, options):
    async def search(query):
        if query == "text 1":
            with trio.CancelScope() as scope:
                scope.cancel()
                try:
                    await trio.sleep(3600)
                except trio.Cancelled as error:
                    kept = error
                    raise
            raise kept
        return [query]

    retriever = search if as_async else lambda query: search(query)
    retrieved = trio.run(aretrieve, QUERIES, retriever, RetrievalOptions(**options))
    assert list(retrieved.errors) == ["q1"]
    said = "the retriever was cancelled, and not by ir_timeout (tests/unit/retrieval/test_cancellation.py:"
    assert retrieved.errors["q1"].startswith(said)
    assert len(retrieved.run) == 7


def test_ctrl_c_before_an_answer_is_awaited_leaves_none_behind():
    def end():
        for task in asyncio.all_tasks():
            task.cancel()

    def search(query):
        asyncio.get_running_loop().call_soon(end)
        return _cancelled(query)

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(aretrieve(QUERIES, search))
    gc.collect()  # nobody warns of an answer that was never awaited
