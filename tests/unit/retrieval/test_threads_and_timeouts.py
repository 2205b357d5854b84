"""Sync retrievers run in threads where there is a time limit or concurrency, and what is late is named."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from pytest_irmetrics.retrieval import (
    RetrievalOptions,
    aretrieve,
    batched,
    retrieve,
)
from tests.unit.retrieval.clock import LIMIT
from tests.unit.retrieval.helpers import ALL_OPTIONS, ONE, QUERIES, Query, problem


class TestTimeouts:
    def test_a_thread_that_hangs_is_left_behind(self, clock):
        release = threading.Event()

        def search(query):
            if query == "text 1":
                clock.let_pass()
                release.wait(60)
            return [query]

        retrieved = retrieve(QUERIES, search, RetrievalOptions(timeout=LIMIT))
        release.set()
        assert dict(retrieved.errors) == {"q1": "no answer came within 60 s (ir_timeout)."}
        assert len(retrieved.run) == 7

    def test_hanging_threads_keep_no_process_alive(self):
        code = (
            "import time\nfrom types import SimpleNamespace as Query\n"
            "from pytest_irmetrics.retrieval import RetrievalOptions, retrieve\n"
            "queries = [Query(id=str(n), text='x', params={}) for n in range(9)]\n"
            "found = retrieve(queries, lambda query: time.sleep(3600), RetrievalOptions(timeout=0.05, concurrency=2))\n"
            "assert found.stopped and len(found.errors) == 5, found\n"
        )
        subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=120)

    def test_a_late_answer_is_ignored(self, clock):
        release = threading.Event()
        answered = threading.Event()

        def search(query):
            if query == "text 0":
                clock.let_pass()
                release.wait(60)
                answered.set()
                return ["late"]
            if query == "text 1":
                release.set()
                answered.wait(60)
            return [query]

        retrieved = retrieve(QUERIES, search, RetrievalOptions(timeout=LIMIT))
        assert list(retrieved.errors) == ["q0"]
        assert retrieved.run["q1"] == ("text 1",)

    def test_a_generator_that_hangs_midway_is_timed_too(self):
        release = threading.Event()

        def search(_query):
            yield "a"
            release.wait(60)

        assert "no answer came within 0.1 s" in problem(search, timeout=0.1)
        release.set()

    @pytest.mark.parametrize("concurrency", [1, 3])
    def test_a_coroutine_is_cancelled(self, clock, concurrency):
        answered, cancelled = [], []

        async def search(query):
            if query == "text 1":
                try:
                    while len(answered) < (7 if concurrency > 1 else 1):  # noqa: ASYNC110 - it would take an event for each
                        await asyncio.sleep(0)
                    clock.let_pass()
                    await asyncio.sleep(3600)
                finally:
                    cancelled.append(query)
            answered.append(query)
            return [query]

        retrieved = retrieve(QUERIES, search, RetrievalOptions(timeout=LIMIT, concurrency=concurrency))
        assert dict(retrieved.errors) == {"q1": "no answer came within 60 s (ir_timeout)."}
        assert cancelled == ["text 1"]

    def test_a_coroutine_that_swallows_its_cancellation_is_left_behind(self, monkeypatch):
        monkeypatch.setattr("pytest_irmetrics.retrieval.asyncio_driver.CLEANUP_SECONDS", 0.05)
        stop = []

        async def search(_query):
            while not stop:
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(0.02)

        assert "no answer came within 0.1 s" in problem(search, timeout=0.1)
        stop.append(True)
        retrieve(ONE, lambda _query: asyncio.sleep(0.1, []))

    def test_a_coroutine_of_a_lambda_is_timed(self):
        async def search():
            await asyncio.sleep(3600)

        assert "no answer came within 0.1 s" in problem(lambda _query: search(), timeout=0.1)

    def test_a_sync_retriever_in_async_code_is_timed(self):
        release = threading.Event()

        async def test():
            return await aretrieve(ONE, lambda _query: release.wait(60), RetrievalOptions(timeout=0.1))

        assert "no answer came within 0.1 s" in asyncio.run(test()).errors["q0"]
        release.set()

    def test_a_batch_has_the_time_of_its_queries(self, clock):
        def search(texts):
            clock.let_pass(2 * LIMIT)
            time.sleep(0.05)  # in which a limit that is over would end this
            return [[] for _ in texts]

        async def asearch(texts):
            clock.let_pass(2 * LIMIT)
            for _ in range(10):  # turns of the loop, in which a limit that is over would end this
                await asyncio.sleep(0)
            return [[] for _ in texts]

        assert len(retrieve(QUERIES, batched(search), RetrievalOptions(timeout=LIMIT)).run) == 8
        assert len(retrieve(QUERIES, batched(asearch), RetrievalOptions(timeout=LIMIT)).run) == 8
        release = threading.Event()
        retrieved = retrieve(
            QUERIES, batched(lambda _texts: release.wait(60)), RetrievalOptions(timeout=0.02)
        )
        release.set()
        assert retrieved.errors["q0"] == "no answer came within 0.02 s a query for 8 queries (ir_timeout)."


class TestThreads:
    def test_without_timeout_and_concurrency_calls_are_made_in_this_thread(self):
        threads = set()
        retrieve(QUERIES, lambda _query: threads.add(threading.current_thread()) or [])
        assert threads == {threading.current_thread()}

    def test_sqlite_in_another_thread_is_explained_with_its_cure(self):
        connection = sqlite3.connect(":memory:")
        connection.execute("create table docs (id text)")
        connection.execute("insert into docs values ('a')")

        def search(_query):
            return connection.execute("select id from docs")

        assert retrieve(ONE, search).run["q0"] == ("a",)
        said = problem(search, timeout=60)
        assert "raised sqlite3.ProgrammingError" in said
        assert "check_same_thread=False, and hold a threading.Lock() from the query until" in said
        connection.close()

    def test_as_many_threads_work_as_concurrency_says(self):
        together = threading.Barrier(3, timeout=60)

        def search(query):
            together.wait()
            return [query]

        queries = [Query(f"q{number}", f"text {number}") for number in range(9)]
        retrieved = retrieve(queries[:3], search, RetrievalOptions(concurrency=3))
        assert len(retrieved.run) == 3

    def test_answers_go_to_their_queries_and_keep_the_order(self):
        def search(query):
            time.sleep(0.003 * (int(query[-1]) % 3))
            return [query]

        retrieved = retrieve(QUERIES, search, RetrievalOptions(concurrency=4))
        assert [*retrieved.run.answers] == [query.id for query in QUERIES]
        assert all(retrieved.run[query.id] == (query.text,) for query in QUERIES)

    def test_context_variables_are_seen(self):
        tenant = contextvars.ContextVar("tenant")
        tenant.set("acme")
        for options in ALL_OPTIONS:
            assert retrieve(ONE, lambda _query: [tenant.get()], RetrievalOptions(**options)).run["q0"] == (
                "acme",
            )

    def test_threads_end_with_their_work(self):
        retrieve(QUERIES, lambda query: [query], RetrievalOptions(concurrency=4))
        asyncio.run(aretrieve(QUERIES, lambda query: [query], RetrievalOptions(concurrency=4)))
        for thread in threading.enumerate():
            if thread.name == "irmetrics":
                thread.join(60)
                assert not thread.is_alive()
