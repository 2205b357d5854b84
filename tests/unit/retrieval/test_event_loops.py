"""Retrieval on asyncio and on trio: the same answers, the same time limits, and nothing left behind however it ends."""

# ruff: noqa: PLW0108 - what a lambda returns has to be awaited, and only that tells

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_irmetrics.retrieval import (
    RetrievalError,
    RetrievalOptions,
    aretrieve,
    batched,
    close_session_loop,
    retrieve,
)
from pytest_irmetrics.retrieval import asyncio_driver as on_asyncio
from pytest_irmetrics.retrieval import trio_driver as on_trio
from tests.unit.retrieval.clock import LIMIT
from tests.unit.retrieval.event_loops import Asyncio, Trio
from tests.unit.retrieval.helpers import ONE, QUERIES, Query

trio = pytest.importorskip("trio")


@pytest.fixture(params=[Asyncio, Trio])
def library(request):
    yield request.param
    close_session_loop()


class Engine:
    """A search that waits, and keeps account of who is in it."""

    def __init__(self, library, seconds=0.0):
        self.library = library
        self.seconds = seconds
        self.inside, self.most = 0, 0
        self.left = []
        self.full = threading.Event()

    async def search(self, query, k):
        self.inside += 1
        self.most = max(self.most, self.inside)
        if self.inside == 3:
            self.full.set()
        try:
            await self.library.sleep(self.seconds)
            await self.on(query)
            return [query, str(k)]
        finally:
            self.inside -= 1
            self.left.append(query)

    async def on(self, query):
        """What happens to a query; a test puts its own here."""


def test_concurrent_answers_are_those_of_one_by_one(library):
    async def search(query, k):
        await library.sleep(0.002 * (int(query[-1]) * 7 % 5))
        if query.endswith("3"):
            raise ValueError("three")
        return [f"{query} {rank}" for rank in range(k)]

    alone = library.run(aretrieve, QUERIES, search)
    for options in ({"concurrency": 3}, {"timeout": 60}, {"concurrency": 8, "timeout": 60, "repeat": 2}):
        together = library.run(aretrieve, QUERIES, search, RetrievalOptions(**options))
        assert list(together.run) == list(alone.run) == ["q0", "q1", "q2", "q4", "q5", "q6", "q7"]
        assert all(together.run[query_id] == alone.run[query_id] for query_id in alone.run)
        assert list(together.errors) == ["q3"]


def test_concurrency_limits_the_calls_in_flight(library):
    engine = Engine(library, 0.002)
    queries = [Query(f"q{number}") for number in range(30)]
    library.run(aretrieve, queries, engine.search, RetrievalOptions(concurrency=4))
    assert engine.most == 4


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_late_query_is_cancelled_and_named(library, clock, concurrency):
    closed = []

    async def search(query):
        try:
            if query == "text 1":
                while len(closed) < (7 if concurrency > 1 else 1):
                    await library.sleep(0)
                clock.let_pass()
                await library.sleep(3600)
            return [query]
        finally:
            closed.append(query)

    options = RetrievalOptions(timeout=LIMIT, concurrency=concurrency)
    retrieved = library.run(aretrieve, QUERIES, search, options)
    assert dict(retrieved.errors) == {"q1": "no answer came within 60 s (ir_timeout)."}
    assert len(retrieved.run) == 7
    assert "text 1" in closed


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize("looks_sync", [False, True])
def test_a_late_query_that_blocks_its_loop_is_named(library, concurrency, looks_sync):
    async def search(query):
        time.sleep(0.3 if query == "text 1" else 0)  # noqa: ASYNC251 - that is the case
        return [query]

    options = RetrievalOptions(timeout=0.1, concurrency=concurrency)
    retriever = (lambda query: search(query)) if looks_sync else search
    retrieved = library.run(aretrieve, QUERIES[:2], retriever, options)
    # On a slow machine the loop is found blocked, too, and what follows says so: see test_blocked_loop.py.
    assert retrieved.errors["q1"].startswith("no answer came within 0.1 s (ir_timeout).")


def test_a_batch_has_the_time_of_its_queries(library, clock):
    async def search(texts):
        clock.let_pass((2 if texts[0] == "text 0" else 4) * LIMIT)
        for _ in range(10):  # turns of the loop, in which a limit that is over would end this
            await library.sleep(0)
        if texts[0] != "text 0":
            await library.sleep(3600)
        return [[text] for text in texts]

    retrieved = library.run(aretrieve, QUERIES, batched(search, 4), RetrievalOptions(timeout=LIMIT))
    assert list(retrieved.run) == ["q0", "q1", "q2", "q3"]
    assert retrieved.errors["q4"] == "no answer came within 60 s a query for 4 queries (ir_timeout)."


@pytest.mark.parametrize(
    "options", [{}, {"timeout": 60}, {"concurrency": 3}, {"concurrency": 3, "timeout": 60}]
)
def test_asynchronous_generators_are_drawn_to_k_and_closed(library, options):
    closed = []

    async def stream(query):
        try:
            for rank in range(100):
                await library.sleep(0)
                yield f"{query} {rank}"
        finally:
            closed.append(query)

    retrieved = library.run(aretrieve, QUERIES, stream, RetrievalOptions(depth=2, **options))
    assert retrieved.run["q7"] == ("text 7 0", "text 7 1")
    assert len(closed) == 8


@pytest.mark.parametrize("outcome", [pytest.skip.Exception, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("timeout", [None, 60])
def test_outcomes_and_interrupts_pass_through_and_end_the_other_calls(library, outcome, timeout):
    engine = Engine(library)
    held = []

    async def hold(query):
        if query == "text 1":
            raise outcome("as it is")
        if query == "text 2":
            try:
                await library.sleep(3600)
            finally:
                held.append(query)

    engine.on = hold
    with pytest.raises(outcome, match="as it is"):
        library.run(aretrieve, QUERIES, engine.search, RetrievalOptions(concurrency=3, timeout=timeout))
    assert engine.inside == 0
    assert held == ["text 2"]


@pytest.mark.parametrize("timeout", [None, 60])
def test_stop_on_error_ends_the_set_with_the_first_error(library, timeout):
    engine = Engine(library)

    async def on(query):
        if query == "text 2":
            while engine.left != ["text 0"] or engine.inside < 3:
                await library.sleep(0.001)
            raise ConnectionError("refused")
        if query != "text 0":
            await library.sleep(3600)

    engine.on = on
    options = RetrievalOptions(concurrency=3, timeout=timeout, stop_on_error=True)
    retrieved = library.run(aretrieve, QUERIES, engine.search, options)
    assert list(retrieved.errors) == ["q2"]
    assert list(retrieved.run) == ["q0"]
    assert retrieved.stopped == "With -x the first error ends it: the other 6 were not asked, or cancelled."
    assert engine.inside == 0
    assert sorted(engine.left) == ["text 0", "text 1", "text 2", "text 3"]


@pytest.mark.parametrize(
    "options", [{}, {"timeout": 60}, {"concurrency": 3}, {"concurrency": 3, "timeout": 60}]
)
def test_cancelling_from_outside_waits_until_the_retrievers_have_cleaned_up(library, options):
    cleaned, asked = [], threading.Event()

    async def stream(query):
        try:
            yield query
            asked.set()
            await library.sleep(3600)
        finally:
            if library is Asyncio:  # where a cancelled task may go on to await
                await library.sleep(0.01)
            cleaned.append(query)

    library.run(
        library.cancelled_after, asked, lambda: aretrieve(QUERIES, stream, RetrievalOptions(**options))
    )
    assert len(cleaned) == options.get("concurrency", 1)


@pytest.mark.parametrize("options", [{"timeout": 60}, {"concurrency": 3}, {"concurrency": 3, "timeout": 60}])
def test_sync_retrievers_work_in_threads_while_the_loop_runs_on(library, options):
    tenant = contextvars.ContextVar("tenant")
    here = threading.current_thread()

    async def test():
        tenant.set("acme")
        told = threading.Event()
        turns = 0

        def search(query):
            assert threading.current_thread() is not here
            return [query, tenant.get()] if told.wait(60) else []

        async def later():
            nonlocal turns
            for turns in range(5):  # noqa: B007 - counted
                await library.sleep(0.002)
            told.set()

        if library is Asyncio:
            task = asyncio.ensure_future(later())
            retrieved = await aretrieve(QUERIES, search, RetrievalOptions(**options))
            await task
        else:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(later)
                retrieved = await aretrieve(QUERIES, search, RetrievalOptions(**options))
        return turns, retrieved

    turns, retrieved = library.run(test)
    assert turns == 4
    assert retrieved.run["q7"] == ("text 7", "acme")
    assert len(retrieved.run) == 8


@pytest.mark.parametrize(
    "options", [{"concurrency": 1}, {"concurrency": 3}, {"concurrency": 3, "timeout": 60}]
)
def test_an_outcome_of_pytest_comes_out_as_it_is_and_in_no_group(library, options):
    async def search(query):
        await library.sleep(0)
        if query == "text 2":
            pytest.fail("no index here")
        return [query]

    with pytest.raises(pytest.fail.Exception, match="no index here"):
        library.run(aretrieve, QUERIES, search, RetrievalOptions(**options))


def test_sync_retrievers_one_by_one_let_other_tasks_run(library):
    async def asked():
        called, others = [], threading.Event()

        def search(query):
            called.append(query)
            time.sleep(0.06)  # longer than a loop is kept from all else
            return [query]

        async def other():
            while len(called) < 2:
                await library.sleep(0)
            others.set()

        async def ask():
            called.clear()
            await aretrieve(QUERIES, search)

        if library is Asyncio:
            task = asyncio.ensure_future(other())
            await library.cancelled_after(others, ask)
            await task
        else:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(other)
                await library.cancelled_after(others, ask)
        return called

    assert 2 <= len(library.run(asked)) < len(QUERIES)


def test_a_sync_retriever_that_hangs_is_named(library, clock):
    release = threading.Event()

    def search(query):
        if query == "text 1":
            clock.let_pass()
            release.wait(60)
        return [query]

    retrieved = library.run(aretrieve, QUERIES[1:2], search, RetrievalOptions(timeout=LIMIT, concurrency=2))
    release.set()
    assert dict(retrieved.errors) == {"q1": "no answer came within 60 s (ir_timeout)."}


def test_answers_of_a_lambda_that_returns_coroutines_are_awaited_together(library):
    engine = Engine(library)

    async def until_three_are_inside(_query):
        while not engine.full.is_set():
            await library.sleep(0.001)

    engine.on = until_three_are_inside
    retrieved = library.run(
        aretrieve,
        QUERIES,
        lambda query, k: engine.search(query, k),
        RetrievalOptions(concurrency=3),
    )
    assert len(retrieved.run) == 8
    assert engine.most == 3


def test_a_coroutine_of_a_lambda_that_hangs_is_named(library, clock):
    async def search(query):
        if query == "text 1":
            clock.let_pass()
            await library.sleep(3600)
        return []

    retrieved = library.run(
        aretrieve,
        QUERIES[:2],
        lambda query: search(query),
        RetrievalOptions(timeout=LIMIT),
    )
    assert dict(retrieved.errors) == {"q1": "no answer came within 60 s (ir_timeout)."}


def test_cancelling_from_outside_gives_threads_up(library):
    asked, release, coroutines = threading.Event(), threading.Event(), []

    async def never():
        raise AssertionError

    def search(_query):
        asked.set()
        release.wait(60)
        coroutines.append(never())
        return coroutines[-1]

    options = RetrievalOptions(concurrency=2, timeout=60)
    library.run(library.cancelled_after, asked, lambda: aretrieve(QUERIES, search, options))
    release.set()
    while threading.active_count() > 1 and any(t.name == "irmetrics" for t in threading.enumerate()):
        time.sleep(0.001)
    assert len(coroutines) == 2  # and nobody warned that they were never awaited


def test_an_executor_works_from_async_code(library):
    with ThreadPoolExecutor(2) as executor:
        options = RetrievalOptions(executor=executor, timeout=60, repeat=2)
        retrieved = library.run(aretrieve, QUERIES, lambda query: [query], options)
    assert list(retrieved.run) == [query.id for query in QUERIES]
    assert retrieved.run.answers["q7"].rankings == (("text 7",), ("text 7",))


def test_a_schedule_that_raises_leaves_no_task(library):
    module = {Asyncio: on_asyncio, Trio: on_trio}[library]

    def schedule():
        yield ("a chunk",)
        raise LookupError("broken")

    async def work(_chunk):
        await library.sleep(3600)

    with pytest.raises(LookupError, match="broken"):
        library.run(module.run_schedule, schedule(), work)


def test_sync_code_with_an_async_retriever_in_a_running_loop_is_told_of_acheck(library):
    async def search(_query):
        return []

    async def test(retriever, **options):
        retrieve(ONE, retriever, RetrievalOptions(**options))

    for options in ({}, {"concurrency": 2}):
        for retriever in (search, lambda query: search(query)):
            with pytest.raises(RetrievalError, match=r"Use `await irmetrics\.acheck\(\)`"):
                library.run(lambda: test(retriever, **options))  # noqa: B023 - called at once


def test_sync_code_in_a_running_loop_may_use_threads(library):
    together = threading.Barrier(3, timeout=60)

    def search(query):
        together.wait()
        return [query]

    async def test():
        return retrieve(QUERIES[:3], search, RetrievalOptions(concurrency=3))

    assert len(library.run(test).run) == 3


def test_errors_of_task_groups_are_explained_by_the_first_in_them(library):
    if library is Asyncio and sys.version_info < (3, 11):
        pytest.skip("asyncio has task groups from Python 3.11 on")

    async def fail(message):
        raise ValueError(message)

    async def search(_query):
        if library is Trio:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(fail, "no index")
        else:
            async with asyncio.TaskGroup() as group:
                group.create_task(fail("no index"))
                group.create_task(fail("no shard"))

    said = library.run(aretrieve, ONE, search).errors["q0"]
    assert said.startswith("raised ValueError: no ")
    assert "test_event_loops.py" in said
    assert said.endswith("), the first of 2 at once." if library is Asyncio else ").")


def test_one_by_one_works_on_any_event_loop():
    async def search(query):
        return [query]

    def run(options):
        with pytest.raises(StopIteration) as end:
            aretrieve(QUERIES, search, options).send(None)
        return end.value.value

    assert run(None).run["q7"] == ("text 7",)
    with pytest.raises(RetrievalError, match="need asyncio or trio"):
        aretrieve(QUERIES, search, RetrievalOptions(timeout=1)).send(None)


def test_trio_is_imported_by_nobody():
    from tests.test_structure import fresh

    loaded = fresh(
        "import asyncio\n"
        "from types import SimpleNamespace as Query\n"
        "from pytest_irmetrics.retrieval import *\n"
        "queries = [Query(id='q', text='t', params={})]\n"
        "asyncio.run(aretrieve(queries, lambda query: [], RetrievalOptions(concurrency=2)))\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    assert not {"trio", "anyio", "sniffio"} & set(loaded)
