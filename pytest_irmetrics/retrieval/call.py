"""Make one call of the retriever and read its answer as ids.

These are functions of a module, so that they can be pickled and run in another process.
"""

from __future__ import annotations

import inspect
import sys
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.retrieval.answers import (
    AnswerError,
    draw_items,
    read_ranking,
    split_batch,
)
from pytest_irmetrics.retrieval.describe import describe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_irmetrics.retrieval.options import RetrievalOptions
    from pytest_irmetrics.retrieval.passages import JudgedPassages

__tracebackhide__ = True  # pytest leaves these frames out: a traceback shows the user's own lines


class RetrievalError(IRMetricsError):
    """Retrieval that cannot start, or a query that could not be answered (`query_id`); `problem` says why."""

    def __init__(self, problem: str, query_id: str | None = None) -> None:
        super().__init__(problem if query_id is None else f"query {quote(query_id)}: {problem}")
        self.problem: str = problem
        """Why, without the query's id."""
        self.query_id: str | None = query_id
        """The query that could not be answered; None where nothing could be asked."""


class Call(NamedTuple):
    """One call to make of the retriever: for one query, or for as many as a batch has."""

    query_ids: tuple[str, ...]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    is_batch: bool
    repeat: int
    """How many times these queries were asked before."""
    passages: tuple[JudgedPassages | None, ...] = ()
    """For each query the passages that it judges; empty where no query judges any."""

    def failed(self, problem: str) -> Reply:
        """Return the reply of a call that failed for all its queries."""
        return Reply(self, (problem,) * len(self.query_ids), 0.0)

    def timed_out(self, timeout: float) -> Reply:
        """Return the reply of a call that took longer than `timeout` seconds a query."""
        queries = len(self.query_ids)
        several = f" a query for {queries} queries" if queries > 1 else ""
        return self.failed(f"no answer came within {timeout:g} s{several} (ir_timeout).")


class Reply(NamedTuple):
    """What a call returned: for each of its queries the ids, or a sentence that says what went wrong."""

    call: Call
    outcomes: tuple[tuple[str, ...] | str, ...]
    milliseconds: float
    """How long the call took, divided by its queries."""


class PendingAnswer(NamedTuple):
    """What a call returned that has yet to be awaited, though the retriever looked sync."""

    call: Call
    answer: Any
    started: float
    """When the call began, by `time.perf_counter`."""

    def close(self) -> None:
        """Drop an answer that nobody has begun to await, without Python's warning about that."""
        answer = self.answer
        if inspect.iscoroutine(answer) and inspect.getcoroutinestate(answer) == inspect.CORO_CREATED:
            answer.close()


def call_retriever(
    function: Callable[..., Any], call: Call, options: RetrievalOptions
) -> Reply | PendingAnswer:
    """Call the retriever and read its answer. Lets through what is no Exception: pytest.skip, Ctrl-C."""
    started = perf_counter()
    try:
        answer = function(*call.args, **call.kwargs)
        # A plain list is by far the most frequent answer, and the checks below cost as much as reading it.
        if type(answer) is list and not call.is_batch:
            drawn: list[list[Any] | str] = [answer[: options.depth]]
        elif inspect.isawaitable(answer):
            return PendingAnswer(call, answer, started)
        else:
            drawn = _draw(call, answer, options.depth)
    except Exception as error:  # noqa: BLE001 - whatever the retriever raises is this query's error
        return call.failed(_explain_call(call, error))
    except BaseException as error:
        # Nobody can cancel from outside what is not awaited: the retriever itself raised it.
        if not _is_asyncio_cancellation(error):
            raise
        from pytest_irmetrics.retrieval.errors import Cancelled  # noqa: PLC0415 - see _explain

        return call.failed(Cancelled(error).problem)
    return _read_reply(call, drawn, perf_counter() - started, options)


def reply_in_time(call: Call, reply: Reply | None, timeout: float | None) -> Reply:
    """Return the reply; one that says that the call timed out where there is none, or it came too late."""
    if timeout is not None and (reply is None or reply.milliseconds > timeout * 1000):
        return call.timed_out(timeout)
    assert reply is not None  # noqa: S101 - without a time limit no call is given up
    return reply


def _is_asyncio_cancellation(error: BaseException) -> bool:
    """Say whether this is asyncio.CancelledError, without importing asyncio where nobody else has."""
    exceptions = sys.modules.get("asyncio.exceptions")
    return exceptions is not None and isinstance(error, exceptions.CancelledError)


async def call_retriever_async(function: Callable[..., Any], call: Call, options: RetrievalOptions) -> Reply:
    """Call the retriever, await its answer if need be, and read it; on whatever event loop runs."""
    reply = call_retriever(function, call, options)
    return await await_answer(reply, options) if isinstance(reply, PendingAnswer) else reply


async def await_answer(pending: PendingAnswer, options: RetrievalOptions) -> Reply:
    """Await the answer of a call that was made, and read it."""
    call, answer = pending.call, pending.answer
    try:
        if inspect.isawaitable(answer):
            answer = await answer
        if inspect.isawaitable(answer):
            if inspect.iscoroutine(answer):
                answer.close()
            raise AnswerError(f"came back: {describe(answer)}. Await it in the retriever.")  # noqa: TRY301 - one way for errors
        drawn = _draw(call, answer, options.depth)
    except Exception as error:  # noqa: BLE001 - as in call_retriever
        return call.failed(_explain_call(call, error))
    return _read_reply(call, drawn, perf_counter() - pending.started, options)


def _draw(call: Call, answer: Any, depth: int) -> list[list[Any] | str]:
    """Return the items of each query; for a query of a batch where that failed, what went wrong."""
    if not call.is_batch:
        return [draw_items(answer, depth)]
    return split_batch(answer, len(call.query_ids), lambda result: _draw_one(result, depth))


def _draw_one(result: Any, depth: int) -> list[Any] | str:
    """Return the items of one query's result in a batch, or what went wrong."""
    try:
        return draw_items(result, depth)
    except Exception as error:  # noqa: BLE001 - a result may be the user's generator
        return _explain(error)


def _read_reply(call: Call, drawn: list[list[Any] | str], seconds: float, options: RetrievalOptions) -> Reply:
    """Read the items of each query as ids."""
    query_ids = call.query_ids
    if call.passages:
        outcomes = tuple(
            [
                _read_passages(query_id, items, passages, options)
                for query_id, items, passages in zip(query_ids, drawn, call.passages, strict=True)
            ]
        )
        return Reply(call, outcomes, seconds * 1000 / len(query_ids))
    if not call.is_batch:
        return Reply(call, (_read_ids(query_ids[0], drawn[0], options),), seconds * 1000)
    ids = [_read_ids(query_id, items, options) for query_id, items in zip(query_ids, drawn, strict=True)]
    return Reply(call, tuple(ids), seconds * 1000 / len(query_ids))


def _read_ids(query_id: str, items: list[Any] | str, options: RetrievalOptions) -> tuple[str, ...] | str:
    """Return the ids of a query's items, or what went wrong."""
    if isinstance(items, str):
        return items
    try:
        answer = None if options.stored is None else options.stored.answers.get(query_id)
        rankings = () if answer is None else answer.rankings
        ranking = read_ranking(items, options.duplicates, options.doc_id, rankings)
    except Exception as error:  # noqa: BLE001 - ir_doc_id and items are the user's, and may raise anything
        return _explain(error)
    if options.titles is not None and items and type(items[0]) is not str:
        from pytest_irmetrics.retrieval.titles import keep_titles  # noqa: PLC0415 - ids alone have none

        keep_titles(items, ranking, options.titles)
    return ranking


def _read_passages(
    query_id: str, items: list[Any] | str, passages: JudgedPassages | None, options: RetrievalOptions
) -> tuple[str, ...] | str:
    """Return the ranking of a query's items by the passages that they contain, or what went wrong."""
    from pytest_irmetrics.retrieval.chunks import read_passage_ranking  # noqa: PLC0415 - most golden sets judge no passages

    if passages is None or isinstance(items, str):
        return _read_ids(query_id, items, options)
    try:
        return read_passage_ranking(items, options.duplicates, options.doc_id, passages, options.titles)
    except Exception as error:  # noqa: BLE001 - as in _read_ids
        return _explain(error)


def _explain(error: Exception) -> str:
    """Say in a sentence what a retriever raised, and how to mend it where that is known."""
    from pytest_irmetrics.retrieval.errors import explain  # noqa: PLC0415 - only where something failed

    return explain(error)


def _explain_call(call: Call, error: Exception) -> str:
    """Say what a call raised, and of a batch for how many queries it was."""
    problem = _explain(error)
    if len(call.query_ids) == 1 or isinstance(error, AnswerError):
        return problem
    return f"the call for {len(call.query_ids)} queries {problem}"
