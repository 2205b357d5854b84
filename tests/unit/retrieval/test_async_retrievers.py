"""Async retrievers are awaited from sync and from async code."""

# ruff: noqa: ARG002 - retrievers take what they are given

from __future__ import annotations

import asyncio
import functools
import threading

import pytest

from pytest_irmetrics.retrieval import (
    RetrievalError,
    RetrievalOptions,
    aretrieve,
    close_session_loop,
    retrieve,
)
from pytest_irmetrics.retrieval.asyncio_driver import SessionLoop
from tests.unit.retrieval.helpers import ALL_OPTIONS, ONE, QUERIES, Query, later, problem


class AsyncEngine:
    async def __call__(self, query, k):
        return await self.search(query, k)

    async def search(self, query, k):
        await asyncio.sleep(0)
        return [query, str(k)]

    async def stream(self, query, k):
        try:
            number = 0
            while True:
                yield f"{query} {number}"
                number += 1
        finally:
            self.closed = True


def _sync(query, k):
    return [query, str(k)]


ASYNC_KINDS = {
    "function": AsyncEngine().search,
    "callable": AsyncEngine(),
    "partial": functools.partial(functools.partial(AsyncEngine().search), k=3),
    "lambda": lambda query, k: AsyncEngine().search(query, k),
    "wrapped": functools.wraps(_sync)(lambda query, k: AsyncEngine().search(query, k)),
}


class TestAsyncRetrievers:
    @pytest.mark.parametrize("options", ALL_OPTIONS)
    @pytest.mark.parametrize("kind", ASYNC_KINDS)
    def test_every_kind_works_from_sync_code(self, kind, options):
        retrieved = retrieve(QUERIES, ASYNC_KINDS[kind], RetrievalOptions(**options))
        assert dict(retrieved.errors) == {}
        assert retrieved.run["q7"] == ("text 7", "10")

    @pytest.mark.parametrize("options", ALL_OPTIONS)
    @pytest.mark.parametrize("kind", [*ASYNC_KINDS, "sync"])
    def test_every_kind_works_from_async_code(self, kind, options):
        retriever = {**ASYNC_KINDS, "sync": _sync}[kind]
        retrieved = asyncio.run(aretrieve(QUERIES, retriever, RetrievalOptions(**options)))
        assert dict(retrieved.errors) == {}
        assert retrieved.run["q7"] == ("text 7", "10")
        assert list(retrieved.run) == [query.id for query in QUERIES]

    def test_an_awaitable_that_returns_an_awaitable_is_explained(self):
        async def search(_query):
            return later(["a"])

        assert "Await it in the retriever." in problem(search)

        class Awaitable:
            def __await__(self):
                yield from ()
                return self

        assert "came back: Awaitable <" in problem(lambda _query: Awaitable())

    def test_exceptions_and_bad_answers_are_explained_as_those_of_sync_retrievers(self):
        async def search(_query):
            await asyncio.sleep(0)
            raise ValueError("no index")

        assert "raised ValueError: no index (tests/unit/retrieval/test_async_retrievers.py:" in problem(
            search
        )
        assert "came back: None" in problem(lambda _query: later(None))

    def test_one_loop_serves_the_whole_session(self):
        loops = []

        async def search(_query):
            loops.append(asyncio.get_running_loop())
            return []

        retrieve(QUERIES, search)
        retrieve(QUERIES, search, RetrievalOptions(timeout=60))
        retrieve(QUERIES, lambda query: search(query))  # noqa: PLW0108 - that is the case
        assert len(set(loops)) == 1
        close_session_loop()
        close_session_loop()
        assert loops[0].is_closed()
        retrieve(ONE, search)
        assert len(set(loops)) == 2

    def test_closing_ends_what_is_left_on_the_loop(self):
        loop, seen = SessionLoop(), []

        async def linger():
            try:
                await asyncio.sleep(3600)
            finally:
                seen.append("cancelled")

        async def start():
            seen.append(asyncio.ensure_future(linger()))
            await asyncio.sleep(0)

        loop.run(start)
        loop.close()
        assert seen[1] == "cancelled"
        assert seen[0].cancelled()

    def test_closing_ends_generators_that_nobody_has_read_to_their_end(self):
        loop, ended = SessionLoop(), []

        async def pages():
            try:
                yield 1
                yield 2
            finally:
                await asyncio.sleep(0)
                ended.append("pages")

        generator = pages()

        async def read_one():
            return await generator.__anext__()

        assert loop.run(read_one) == 1
        assert not ended
        loop.close()
        assert ended == ["pages"]

    def test_a_running_loop_is_an_error_that_names_acheck(self):
        async def search(_query):
            return []

        async def test():
            retrieve(ONE, search)

        with pytest.raises(RetrievalError, match=r"Use `await irmetrics\.acheck\(\)`"):
            asyncio.run(test())

    def test_a_notebook_may_retrieve_in_another_thread(self):
        async def search(query):
            await asyncio.sleep(0)
            return [query]

        async def cell():
            with pytest.raises(RetrievalError, match=r"`await asyncio\.to_thread\(evaluate, golden"):
                retrieve(ONE, search)
            return await asyncio.to_thread(retrieve, ONE, search)

        close_session_loop()
        assert asyncio.run(cell()).run["q0"] == ("text 0",)
        close_session_loop()

    def test_a_sync_retriever_works_with_and_without_a_running_loop(self):
        async def test():
            return retrieve(ONE, _sync)

        assert asyncio.run(test()).run["q0"] == ("text 0", "10")

    def test_one_by_one_works_on_trio(self):
        trio = pytest.importorskip("trio")

        async def search(query):
            await trio.sleep(0)
            return [query]

        assert trio.run(aretrieve, QUERIES, search).run["q0"] == ("text 0",)
        assert trio.run(aretrieve, QUERIES, _sync).run["q0"] == ("text 0", "10")

    def test_concurrency_limits_the_calls_in_flight(self):
        flying, most = 0, 0

        async def search(_query):
            nonlocal flying, most
            flying += 1
            most = max(most, flying)
            await asyncio.sleep(0.002)
            flying -= 1
            return []

        queries = [Query(f"q{number}") for number in range(30)]
        retrieve(queries, search, RetrievalOptions(concurrency=4))
        assert most == 4

    def test_the_loop_runs_on_while_a_sync_retriever_works_in_a_thread(self):
        async def test():
            told = threading.Event()

            def search(_query):
                return ["told"] if told.wait(60) else []

            asyncio.get_running_loop().call_later(0.01, told.set)
            return await aretrieve(ONE, search, RetrievalOptions(timeout=60))

        assert asyncio.run(test()).run["q0"] == ("told",)

    def test_cancelling_from_outside_cancels_the_retriever(self):
        cancelled = []

        async def search(_query):
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                cancelled.append(True)
                raise

        async def test(**options):
            task = asyncio.ensure_future(aretrieve(ONE, search, RetrievalOptions(**options)))
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.sleep(0)

        for number, options in enumerate(ALL_OPTIONS, start=1):
            asyncio.run(test(**options))
            assert len(cancelled) == number
