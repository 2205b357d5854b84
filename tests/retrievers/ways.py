"""The ways in which a retriever can be asked: sync, in threads, on an event loop, in an executor; alone and in batches."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps

from pytest_irmetrics import GoldenSet, batched, evaluate

POOL = ThreadPoolExecutor(3, thread_name_prefix="pool")
LONG = 600
"""Seconds of a time limit that no machine is too slow for."""


def golden_of(texts):
    """A golden set of these queries; the id of each is its text."""
    return GoldenSet.from_judgments(
        {text: {"judged": 1} for text in texts}, texts={text: text for text in texts}
    )


def ask(retriever, texts=("text 0",), **options):
    """Ask a retriever these queries."""
    return evaluate(golden_of(texts), retriever, ["mrr"], **options)


def answered(evaluation):
    """Query → its first ranking, of those that were answered."""
    return {query_id: list(evaluation.run[query_id]) for query_id in evaluation.run}


def outcome(evaluation, query_id="text 0"):
    """What a query came to: its ids, or what went wrong."""
    return evaluation.errors[query_id] if evaluation.errors else list(evaluation.run[query_id])


def as_async(search):
    @wraps(search)
    async def asearch(*args, **params):
        await asyncio.sleep(0)
        return search(*args, **params)

    return asearch


def looking_sync(search):
    later = as_async(search)
    return wraps(search)(lambda *args, **params: later(*args, **params))  # noqa: PLW0108 - no coroutine function


def in_batches(search, size=3):
    return batched(
        lambda queries, *args, **params: [search(query, *args, **params) for query in queries], size
    )


def in_async_batches(search):
    return batched(as_async(in_batches(search).function), 2)


def _beside_a_loop(retriever, texts, **options):
    async def cell():
        return ask(retriever, texts, **options)

    return asyncio.run(cell())


async def _in_thread(retriever, texts, **options):
    return await asyncio.to_thread(ask, retriever, texts, **options)


def _beside_a_thread(retriever, texts, **options):
    return asyncio.run(_in_thread(retriever, texts, **options))


_MADE = {
    "sync": lambda search: search,
    "async": as_async,
    "looking sync": looking_sync,
    "batched": in_batches,
    "async batched": in_async_batches,
}
_OPTIONS = {
    "one by one": {},
    "in time": {"timeout": LONG},
    "several at once": {"concurrency": 3},
    "several at once in time": {"concurrency": 3, "timeout": LONG},
    "in an executor": {"executor": POOL},
    "in an executor in time": {"executor": POOL, "timeout": LONG, "concurrency": 2},
}


def _way(make, given, asking, search, texts=("text 0",), **options):
    return asking(make(search), texts, **given, **options)


WAYS = {
    f"{kind}, {how}": partial(_way, make, options, ask)
    for kind, make in _MADE.items()
    for how, options in _OPTIONS.items()
    if not (kind.startswith("async") and "executor" in how)
}
WAYS |= {
    "sync, beside a running loop": partial(_way, _MADE["sync"], {}, _beside_a_loop),
    "sync, several at once beside a running loop": partial(
        _way, _MADE["sync"], {"concurrency": 3}, _beside_a_loop
    ),
    "async, in a thread beside a running loop": partial(_way, as_async, {}, _beside_a_thread),
}
"""Name → a function that asks `search(query, k)` in this way, as `ask` does."""
BY_QUERY = {name: way for name, way in WAYS.items() if "batched" not in name}
"""The ways in which a call is for one query."""
