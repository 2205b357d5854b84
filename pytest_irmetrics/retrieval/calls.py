"""The calls to make of a retriever, how one is made, and what it returns.

Calls and replies are plain data, and `call_retriever` is a function of a module, so that they can be sent to another process.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from time import perf_counter
from typing import Any, NamedTuple

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.wording import plural, quote
from pytest_irmetrics.golden import Query
from pytest_irmetrics.retrieval.answers import (
    AnswerError,
    NoIdError,
    RetrievalOptions,
    Seen,
    Staged,
    describe,
    goes_by_metadata,
    keep_titles,
    read_ranking,
    without_id,
)

_MOST_KEPT = 500
"""How many returned items are kept as they were, or a few more."""

CANCELLED = "the retriever was cancelled, and not by ir_timeout."


class RetrievalError(IRMetricsError):
    """Retrieval that cannot start: what was given is no retriever, or cannot be asked in this way."""


class Call(NamedTuple):
    """One call to make of the retriever: for one query, or for as many as a batch has."""

    queries: tuple[Query, ...]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    is_batch: bool
    asked_before: int
    """How many times these queries were asked before this."""

    def failed(self, problem: str) -> Reply:
        """Return the reply of a call that failed for all its queries."""
        return Reply(self, (problem,) * len(self.queries), 0.0, {})

    def timed_out(self, timeout: float) -> Reply:
        """Return the reply of a call that took longer than `timeout` seconds a query."""
        several = f" a query for {len(self.queries)} queries" if len(self.queries) > 1 else ""
        return self.failed(f"no answer came within {timeout:g} s{several} (ir_timeout).")


_Outcome = Staged | str
"""The ids of a query, also of each stage where it has some, or a sentence that says what went wrong."""


class Reply(NamedTuple):
    """What a call returned, for each of its queries."""

    call: Call
    outcomes: tuple[_Outcome, ...]
    milliseconds: float
    """How long the call took, divided by its queries."""
    returned: Mapping[str, int]
    """Query id → how many results came back, where the ranking is not as long."""


class PendingAnswer(NamedTuple):
    """What a call returned that has yet to be awaited."""

    call: Call
    answer: Any
    started: float
    """When the call began, by `time.perf_counter`."""

    def close(self) -> None:
        """Drop an answer that nobody has begun to await, without Python's warning about that."""
        answer = self.answer
        if inspect.iscoroutine(answer) and inspect.getcoroutinestate(answer) == inspect.CORO_CREATED:
            answer.close()


# Making a call


def call_retriever(
    function: Callable[..., Any], call: Call, options: RetrievalOptions
) -> Reply | PendingAnswer:
    """Call the retriever and read its answer. Lets through what is no Exception: pytest.skip, Ctrl-C."""
    started = perf_counter()
    try:
        answer = function(*call.args, **call.kwargs)
        if inspect.isawaitable(answer):
            return PendingAnswer(call, answer, started)
        return _read_reply(call, answer, started, options)
    except Exception as error:  # noqa: BLE001 - whatever the retriever raises is this query's error
        return call.failed(_explain(error, len(call.queries)))
    except BaseException as error:
        if type(error).__name__ != "CancelledError":  # of asyncio: nobody can cancel what is not awaited
            raise
        return call.failed(CANCELLED)


async def await_answer(reply: Reply | PendingAnswer, options: RetrievalOptions) -> Reply:
    """Return the reply to a call that was made; one that is pending is awaited, and read."""
    if isinstance(reply, Reply):
        return reply
    call, answer, started = reply
    try:
        answer = await answer
        if inspect.isawaitable(answer):
            PendingAnswer(call, answer, started).close()
            raise AnswerError(f"came back: {describe(answer)}. Await it in the retriever.")  # noqa: TRY301 - one way for errors
        return _read_reply(call, answer, started, options)
    except Exception as error:  # noqa: BLE001 - as in call_retriever
        return call.failed(_explain(error, len(call.queries)))


def _read_reply(call: Call, answer: Any, started: float, options: RetrievalOptions) -> Reply:
    """Read what came back: the ids of each query, or what went wrong."""
    count = len(call.queries)
    returned: dict[str, int] = {}

    def read(query: Query, result: Any) -> _Outcome:
        """Return what became of a query of the call."""
        items, seen = [], options.seen or Seen()
        try:
            answer = result if isinstance(result, Staged) else Staged(result, {})
            items = _items_of(answer.ranking, options.depth)
            texts = dict[str, str]()
            ids = _read_ids(items, query, options, texts)
            if seen.keeps_texts and not call.asked_before:
                seen.texts[query.id] = texts
            if len(ids) != len(items):
                returned[query.id] = len(items)
            return Staged(ids, _read_stages(answer, query, options))
        except Exception as error:  # noqa: BLE001 - a result, its items and ir_doc_id are the user's, and may raise anything
            if isinstance(error.__cause__, NoIdError) and len(seen.without_id) < _MOST_KEPT:
                seen.without_id += without_id(items)
            return _explain(error)

    outcomes = _split_batch(answer, call.queries, read) if call.is_batch else [read(call.queries[0], answer)]
    return Reply(call, tuple(outcomes), (perf_counter() - started) * 1000 / count, returned)


def _split_batch(
    answer: Any, queries: Sequence[Query], read: Callable[[Query, Any], _Outcome]
) -> list[_Outcome]:
    """Return what became of each query of a batched retriever's answer.

    `read` is called with the query and the result of each before the next is made, because a generator may fill one list
    for all. Raises AnswerError where there are fewer or more.
    """
    size = len(queries)
    expected = f"A batched retriever returns a list of one result for each query ({size}), in their order"
    if isinstance(answer, (str, bytes, bytearray, AbstractSet, Mapping)) or not isinstance(answer, Iterable):
        raise AnswerError(f"came back: {describe(answer)}. {expected}.")
    results = iter(answer)
    outcomes = list(map(read, queries, results))
    has_more = any(True for _ in results)
    if len(outcomes) == size and not has_more:
        return outcomes
    found = f"more than {plural(size, 'result')}" if has_more else plural(len(outcomes), "result")
    raise AnswerError(f"{found} came back for {plural(size, 'query')}. {expected}.")


def _read_stages(answer: Staged, query: Query, options: RetrievalOptions) -> dict[str, tuple[str, ...]]:
    """Return the ids of each earlier stage that an answer tells of. Raises AnswerError for one that cannot be read, and names it."""
    stages = {}
    # Of a document that is there twice, as its chunks may be, the first place counts.
    first_counts = options._replace(duplicates="collapse")
    for name, held in answer.stages.items():
        try:
            stages[name] = _read_ids(_items_of(held, None), query, first_counts, {})
        except Exception as error:  # noqa: BLE001 - as of the ranking
            raise AnswerError(f"at the stage {quote(name)}: {_explain(error)}") from None
    return stages


def _items_of(result: Any, k: int | None) -> list[Any]:
    """Return the first k items of a query's result, None for all. Raises AnswerError, and whatever an iterator of the user's raises."""
    if type(result) is list:
        return result[:k]
    from pytest_irmetrics.retrieval.responses import draw_items  # noqa: PLC0415 - most retrievers return a list

    return draw_items(result, k)


def _read_ids(
    items: list[Any], query: Query, options: RetrievalOptions, texts: dict[str, str]
) -> tuple[str, ...]:
    """Return the ranking of a query's items, by the passages that they contain or the documents that they are chunks of.

    The texts of chunks are added to `texts`.
    """
    seen = options.seen or Seen()
    if len(seen.items) < _MOST_KEPT:
        seen.items += items
    if query.passages or (options.doc_id is None and goes_by_metadata(items, query, options.known)):
        from pytest_irmetrics.retrieval.passages import read_chunk_ranking  # noqa: PLC0415 - most golden sets judge none

        return read_chunk_ranking(items, query, options, seen, texts)
    ranking = read_ranking(items, options.duplicates, options.doc_id)
    if items and type(items[0]) is not str:
        keep_titles(items, ranking, seen.titles)
    return ranking


def _explain(error: Exception, queries: int = 1) -> str:
    """Say what a retriever raised, and for how many queries, and how to mend it where that is known."""
    from pytest_irmetrics.retrieval.errors import explain  # noqa: PLC0415 - only where something failed

    several = f"the call for {queries} queries " if queries > 1 and not isinstance(error, AnswerError) else ""
    return several + explain(error)
