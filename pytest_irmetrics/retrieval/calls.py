"""The calls to make of a retriever, how one is made, and how what comes back for a query is read.

Lists of ids are read here, as most are; `responses` takes the items of any other answer, `reading` and `passages` read these.

Calls and replies are plain data, and `call_retriever` is a function of a module, so that they can be sent to another process.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.wording import as_title, describe, plural, quote
from pytest_irmetrics.golden import Query
from pytest_irmetrics.retrieval.options import AnswerError, RetrievalOptions, Seen
from pytest_irmetrics.run.answer import first_repeat, pack, pack_if_valid

_MOST_KEPT = 500
"""How many returned items, or a few more, are kept as they were, for the advice on a failure."""

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
        return Reply(self, (problem,) * len(self.queries), 0.0)

    def timed_out(self, timeout: float) -> Reply:
        """Return the reply of a call that took longer than `timeout` seconds a query."""
        several = f" a query for {len(self.queries)} queries" if len(self.queries) > 1 else ""
        return self.failed(f"no answer came within {timeout:g} s{several} (ir_timeout).")


# What comes back


@dataclass(slots=True)
class Staged:
    """A retriever's answer to one query, with what stood at earlier stages; made by `staged`."""

    ranking: Any
    """The final ranking, which alone is scored, stored and compared."""
    stages: Mapping[str, Any]
    """By the stage's name what stood there, in any shape that a ranking may have, and of any length."""


def staged(ranking: Any, /, **stages: Any) -> Staged:
    """Return an answer to one query together with what stood at earlier stages: `staged(reranked, candidates=fused, dense=near)`.

    `ranking` is what a retriever returns without this, and alone is scored, stored and compared. Each stage has any shape
    that `ranking` may have, and any length; name the stage next to the final ranking first, then those before it.
    """
    return Staged(ranking, stages)


Stages = Mapping[str, Mapping[str, int]]
"""Stage → judged document → its rank there, from 1."""


class Result(NamedTuple):
    """What the retriever returned for one query, as it was read."""

    ranking: Sequence[str]
    """Ids, best first, each once."""
    stages: Stages
    """Where its judged documents stood at earlier stages; empty where the retriever told of none."""
    returned: int
    """How many results came back. The ranking may have fewer, without duplicates, or more: a chunk may hold several
    passages."""
    by_source: bool | None = False
    """Whether documents of a framework go by the source in their metadata, not by their ids; None where the golden set judges neither, and `_most_go_by_source` of asking.py decides."""
    ranking_by_source: Sequence[str] | None = None
    """Where `by_source` is None, the documents by their sources; `ranking` has their ids."""


class Reply(NamedTuple):
    """What a call returned, for each of its queries."""

    call: Call
    outcomes: tuple[Result | str, ...]
    """The result of each query, or a sentence that says what went wrong."""
    milliseconds: float
    """How long the call took, divided by its queries."""


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
            return call.failed(f"came back: {describe(answer)}. Await it in the retriever.")
        return _read_reply(call, answer, started, options)
    except Exception as error:  # noqa: BLE001 - as in call_retriever
        return call.failed(_explain(error, len(call.queries)))


# Reading what came back


def _read_reply(call: Call, answer: Any, started: float, options: RetrievalOptions) -> Reply:
    """Read what came back: the ids of each query, or what went wrong."""
    results = _results_of_batch(call.queries, answer) if call.is_batch else [(call.queries[0], answer)]
    outcomes = tuple([_read_result(query, result, call, options) for query, result in results])
    return Reply(call, outcomes, (perf_counter() - started) * 1000 / len(call.queries))


def _results_of_batch(queries: Sequence[Query], answer: Any) -> Iterator[tuple[Query, Any]]:
    """Yield each query with its result in a batched retriever's answer, as `batched` and docs/speed.md describe it.

    Each is to be read before the next is taken, because a generator may fill one list for all. Raises AnswerError
    where there are fewer or more.
    """
    size, count = len(queries), 0
    expected = f"A batched retriever returns a list of one result for each query ({size}), in their order"
    if isinstance(answer, (str, bytes, bytearray, AbstractSet, Mapping)) or not isinstance(answer, Iterable):
        raise AnswerError(f"came back: {describe(answer)}. {expected}.")
    results = iter(answer)
    for pair in zip(queries, results):  # noqa: B905 - how many there are is said below
        count += 1
        yield pair
    has_more = any(True for _ in results)
    if count < size or has_more:
        found = f"more than {plural(size, 'result')}" if has_more else plural(count, "result")
        raise AnswerError(f"{found} came back for {plural(size, 'query')}. {expected}.")


def _read_result(query: Query, result: Any, call: Call, options: RetrievalOptions) -> Result | str:
    """Return the result for one query of a call, or a sentence that says what went wrong."""
    answer = result if isinstance(result, Staged) else Staged(result, {})
    items, seen = [], options.seen or Seen()
    try:
        if type(answer.ranking) is list:
            items = answer.ranking[: options.depth]
        else:
            from pytest_irmetrics.retrieval.responses import draw_items  # noqa: PLC0415 - most retrievers return a list

            items = draw_items(answer.ranking, options.depth)
        texts = dict[str, str]()
        read = _read_ranking(items, query, options, seen, texts)
        if (seen.keeps_texts or query.passages) and not call.asked_before:
            seen.texts[query.id] = texts if seen.keeps_texts else {i: as_title(texts[i]) for i in texts}
        return read._replace(stages=_read_stages(answer, query, options, seen)) if answer.stages else read
    except Exception as error:  # noqa: BLE001 - a result, its items and ir_doc_id are the user's, and may raise anything
        from pytest_irmetrics.retrieval.reading import NoIdError, without_id  # noqa: PLC0415 - only where something failed

        if isinstance(error.__cause__, NoIdError) and len(seen.without_id) < _MOST_KEPT:
            seen.without_id += without_id(items)
        return _explain(error)


def _read_ranking(
    items: Sequence[Any], query: Query, options: RetrievalOptions, seen: Seen, texts: dict[str, str]
) -> Result:
    """Read the ids of a query's items, each once: of documents, of passages that chunks contain, or of documents that chunks are of.

    The texts of chunks are added to `texts`. Raises AnswerError for an item without an id, for scores of pairs that
    ascend or are NaN, and for a document that comes twice unless `options.duplicates` is "collapse".
    """
    if len(seen.items) < _MOST_KEPT:
        seen.items += items
    doc_id, returned, of_chunks = options.doc_id, len(items), None
    if doc_id is None and not query.passages and (ranking := pack_if_valid(items)) is not None:
        return Result(ranking, {}, returned)  # as most retrievers return
    from pytest_irmetrics.retrieval import reading  # noqa: PLC0415 - as above

    by_source = reading.goes_by_source(items, query, options)
    if query.passages or by_source is not False:
        from pytest_irmetrics.retrieval.passages import read_chunk_ranking  # noqa: PLC0415 - most golden sets judge none

        of_chunks = pack(read_chunk_ranking(items, query, options, seen, texts))
        if query.passages or by_source:
            return Result(of_chunks, {}, returned, by_source)
    ids = reading.read_ids(items, doc_id)
    if query.forbidden and doc_id is None:
        ids = reading.with_forbidden_sources(items, ids, query)
    if repeated := first_repeat(ids):
        if options.duplicates != "collapse":
            raise reading.repeat_error("document", *repeated, returned)
        ids = tuple(dict.fromkeys(ids))
    elif items and type(items[0]) is not str:
        reading.keep_titles(items, ids, seen.titles)
    return Result(pack(ids), {}, returned, by_source, of_chunks)


def _read_stages(answer: Staged, query: Query, options: RetrievalOptions, seen: Seen) -> Stages:
    """Return where the judged documents stood at each earlier stage that an answer tells of.

    Raises AnswerError for a stage that cannot be read, and names it.
    """
    from pytest_irmetrics.retrieval.responses import draw_items  # noqa: PLC0415 - few retrievers tell of stages

    stages = {}
    # Of a document that is there twice, as its chunks may be, the first place counts.
    collapsing = options._replace(duplicates="collapse")
    for name, held in answer.stages.items():
        try:
            ids = _read_ranking(draw_items(held, None), query, collapsing, seen, {}).ranking
        except Exception as error:  # noqa: BLE001 - as of the ranking
            raise AnswerError(f"at the stage {quote(name)}: {_explain(error)}") from None
        stages[name] = {doc_id: rank for rank, doc_id in enumerate(ids, 1) if doc_id in query.judgments}
    return stages


def _explain(error: Exception, queries: int = 1) -> str:
    """Say what a retriever raised, and for how many queries, and how to mend it where that is known."""
    from pytest_irmetrics.retrieval.errors import explain  # noqa: PLC0415 - only where something failed

    return explain(error, queries)
