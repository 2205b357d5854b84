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

from pytest_irmetrics.retrieval import RetrievalOptions, aretrieve, retrieve
from tests.unit.retrieval.event_loops import Asyncio, Trio, trio
from tests.unit.retrieval.helpers import ONE, QUERIES

ADVICE = "Await what waits (`await`), move what blocks to a thread (`await asyncio.to_thread(…)`), or write a plain `def`"


async def blocking(query):
    if query == "text 1":
        time.sleep(1)  # noqa: ASYNC251 - what this is about
    return [query]


def test_it_is_told_while_it_blocks():
    told, began = [], time.monotonic()
    options = RetrievalOptions(timeout=0.1, warn=lambda text: told.append((text, time.monotonic() - began)))
    retrieved = retrieve(QUERIES, blocking, options)
    [(text, seconds)] = told
    assert text.startswith("query 'q1': no answer for 0.")
    assert "the async retriever blocks the event loop" in text
    assert ADVICE in text
    assert seconds < 0.9
    assert list(retrieved.errors) == ["q1"]
    assert retrieved.errors["q1"].startswith(
        "no answer came within 0.1 s (ir_timeout). The async retriever blocked the event loop. Await what waits"
    )
    assert len(retrieved.run) == 7


@pytest.mark.parametrize("loop", [Asyncio, Trio])
def test_on_the_event_loop_that_runs(loop):
    told = []
    options = RetrievalOptions(timeout=0.1, concurrency=2, warn=told.append)
    retrieved = loop.run(functools.partial(aretrieve, QUERIES, blocking, options))
    assert len(told) == 1
    assert "'q1'" in told[0]
    assert "blocked the event loop" in retrieved.errors["q1"]


def test_also_of_a_plain_function_that_returns_a_coroutine():
    told = []
    retrieved = retrieve(
        QUERIES[:2], lambda query, _k: blocking(query), RetrievalOptions(timeout=0.1, warn=told.append)
    )
    assert len(told) == 1
    assert "blocked the event loop" in retrieved.errors["q1"]


def test_of_tasks_that_the_retriever_starts():
    async def search(query):
        return (await asyncio.gather(blocking(query), blocking(query)))[0]

    told = []
    retrieve(QUERIES[:2], search, RetrievalOptions(timeout=0.1, warn=told.append))
    assert len(told) == 1


@pytest.mark.parametrize("loop", [Asyncio, Trio])
def test_one_that_waits_as_it_should_is_not(loop):
    async def search(query):
        await loop.sleep(1 if query == "text 1" else 0)
        return [query]

    told = []
    options = RetrievalOptions(timeout=0.1, concurrency=2, warn=told.append)
    retrieved = loop.run(functools.partial(aretrieve, QUERIES, search, options))
    assert dict(retrieved.errors) == {"q1": "no answer came within 0.1 s (ir_timeout)."}
    assert told == []


@pytest.mark.parametrize("loop", [Asyncio, Trio])
def test_one_that_takes_long_to_clean_up_is_not(loop):
    async def search(query):
        if query == "text 1":
            try:
                await loop.sleep(3600)
            finally:
                with trio.CancelScope(shield=True) if loop is Trio else contextlib.nullcontext():
                    await loop.sleep(0.6)
        return [query]

    told = []
    options = RetrievalOptions(timeout=0.1, concurrency=2, warn=told.append)
    retrieved = loop.run(functools.partial(aretrieve, QUERIES, search, options))
    assert dict(retrieved.errors) == {"q1": "no answer came within 0.1 s (ir_timeout)."}
    assert told == []


def test_one_that_blocks_for_less_than_its_time_is_not():
    told = []
    retrieved = retrieve(QUERIES[:2], blocking, RetrievalOptions(timeout=60, warn=told.append))
    assert not retrieved.errors
    assert told == []


def test_no_thread_is_left():
    retrieve(ONE, blocking, RetrievalOptions(timeout=0.1))
    deadline = time.monotonic() + 10
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
