"""A retriever that blocks the event loop is told of as soon as its time is up, with its query and what to do."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import subprocess
import sys
import threading
import time

import pytest

from pytest_irmetrics.retrieval import (
    RetrievalOptions,
    aretrieve,
    asyncio_driver,
    blocked_loop,
    retrieve,
    trio_driver,
)
from tests.unit.retrieval.clock import LIMIT
from tests.unit.retrieval.event_loops import Asyncio, Trio, trio
from tests.unit.retrieval.helpers import QUERIES

ADVICE = "Await what waits (`await`), move what blocks to a thread (`await asyncio.to_thread(…)`), or write a plain `def`"


class Blocking:
    """A search that blocks at one query, beyond the time limit and until that is told."""

    def __init__(self, clock):
        self.clock = clock
        self.told = []
        self.is_told = threading.Event()

    def warn(self, text):
        self.told.append(text)
        self.is_told.set()

    async def search(self, query):
        if query == "text 1":
            self.clock.let_pass()
            assert self.is_told.wait(60)
        return [query]

    def options(self, **more):
        return RetrievalOptions(timeout=LIMIT, warn=self.warn, **more)


@pytest.fixture
def blocking(clock):
    return Blocking(clock)


def test_it_is_told_while_it_blocks(blocking):
    retrieved = retrieve(QUERIES, blocking.search, blocking.options())
    [text] = blocking.told
    assert text.startswith("query 'q1': no answer for 6")
    assert "the async retriever blocks the event loop" in text
    assert ADVICE in text
    assert list(retrieved.errors) == ["q1"]
    assert retrieved.errors["q1"].startswith(
        "no answer came within 60 s (ir_timeout). The async retriever blocked the event loop. Await what waits"
    )
    assert len(retrieved.run) == 7


@pytest.mark.parametrize("loop", [Asyncio, Trio])
def test_on_the_event_loop_that_runs(loop, blocking):
    options = blocking.options(concurrency=2)
    retrieved = loop.run(functools.partial(aretrieve, QUERIES, blocking.search, options))
    assert len(blocking.told) == 1
    assert "'q1'" in blocking.told[0]
    assert "blocked the event loop" in retrieved.errors["q1"]


def test_also_of_a_plain_function_that_returns_a_coroutine(blocking):
    retrieved = retrieve(QUERIES[:2], lambda query, _k: blocking.search(query), blocking.options())
    assert len(blocking.told) == 1
    assert "blocked the event loop" in retrieved.errors["q1"]


def test_of_tasks_that_the_retriever_starts(blocking):
    async def search(query):
        return (await asyncio.gather(blocking.search(query), blocking.search(query)))[0]

    retrieve(QUERIES[:2], search, blocking.options())
    assert len(blocking.told) == 1


@pytest.mark.parametrize("loop", [Asyncio, Trio])
def test_one_that_waits_as_it_should_is_not(loop, clock):
    async def search(query):
        if query == "text 1":
            clock.let_pass()
            await loop.sleep(3600)
        return [query]

    told = []
    options = RetrievalOptions(timeout=LIMIT, warn=told.append)
    retrieved = loop.run(functools.partial(aretrieve, QUERIES, search, options))
    assert dict(retrieved.errors) == {"q1": "no answer came within 60 s (ir_timeout)."}
    assert told == []


@pytest.mark.parametrize("loop", [Asyncio, Trio])
def test_one_that_takes_long_to_clean_up_is_not(loop, clock, monkeypatch):
    monkeypatch.setattr(asyncio_driver, "CLEANUP_SECONDS", 60)
    monkeypatch.setattr(blocked_loop, "_RESPONSE_SECONDS", 60)  # however busy the machine is
    driver = {Asyncio: asyncio_driver, Trio: trio_driver}[loop]
    pinger, responses = driver.pinger, []

    def counting_pinger():
        ping = pinger()
        return lambda respond: ping(lambda: responses.append(respond()))

    monkeypatch.setattr(driver, "pinger", counting_pinger)

    async def search(query):
        if query == "text 1":
            try:
                clock.let_pass()
                await loop.sleep(3600)
            finally:
                with trio.CancelScope(shield=True) if loop is Trio else contextlib.nullcontext():
                    while len(responses) < 2:
                        await loop.sleep(0.01)
        return [query]

    told = []
    options = RetrievalOptions(timeout=LIMIT, warn=told.append)
    retrieved = loop.run(functools.partial(aretrieve, QUERIES, search, options))
    assert dict(retrieved.errors) == {"q1": "no answer came within 60 s (ir_timeout)."}
    assert told == []


def test_one_that_blocks_for_less_than_its_time_is_not():
    async def search(query):
        time.sleep(0.3)  # noqa: ASYNC251 - what this is about
        return [query]

    told = []
    retrieved = retrieve(QUERIES[:2], search, RetrievalOptions(timeout=60, warn=told.append))
    assert not retrieved.errors
    assert told == []


def test_no_thread_is_left(blocking):
    retrieve(QUERIES[:2], blocking.search, blocking.options())
    deadline = time.monotonic() + 60
    while any(thread.name == "irmetrics-watch" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_one_that_blocks_for_ever_is_told_on_standard_error():
    code = (
        "import time\nfrom types import SimpleNamespace as Query\n"
        "from pytest_irmetrics.retrieval import RetrievalOptions, retrieve\n"
        "async def search(query):\n    time.sleep(3600)\n"
        "retrieve([Query(id='refund', text='x', params={})], search, RetrievalOptions(timeout=0.1))\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, encoding="utf-8") as process:
        line = process.stderr.readline()
        assert process.poll() is None
        process.kill()
    assert line.startswith("pytest-irmetrics: query 'refund': no answer for ")
