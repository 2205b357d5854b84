"""What came back from a retriever, of whatever shape, drawn as items, best first; `items` reads these as ids.

Drawing may run the retriever's own code (a generator, a cursor), and takes at most k. No framework is imported: shapes
are told by what they can do.
"""

from __future__ import annotations

import heapq
import inspect
import math
from collections.abc import (
    AsyncIterable,
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
)
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any, NoReturn, TypeVar

from pytest_irmetrics.base.ids import as_id
from pytest_irmetrics.base.wording import printable, quote
from pytest_irmetrics.retrieval.items import ACCEPTED, AnswerError, has_keys, holds_more, score_of
from pytest_irmetrics.retrieval.showing import show

T = TypeVar("T")


def _as_it_is(item: Any) -> Any:
    return item


def bad_answer(answer: object, why: str) -> NoReturn:
    """Refuse what came back as a whole."""
    raise AnswerError(f"came back: {show(answer)}. {why} {ACCEPTED}.")


def is_async_answer(answer: object) -> bool:
    """Say whether an answer has yet to be awaited: a coroutine, a future, an asynchronous iterator."""
    return inspect.isawaitable(answer) or (
        hasattr(type(answer), "__aiter__") and not hasattr(type(answer), "__iter__")
    )


def draw(answer: Any, k: int) -> list[Any]:
    """Take the first k items out of an answer. Raises AnswerError, and whatever an iterator of the user's raises."""
    if type(answer) is list:
        return answer[:k]
    if isinstance(answer, (list, tuple)):
        return list(answer[:k])
    if answer is None:
        bad_answer(answer, "Return an empty list where nothing was found.")
    if isinstance(answer, str):
        bad_answer(answer, "Its letters are no ids: return a list of ids, also of a single one.")
    if isinstance(answer, (bytes, bytearray, memoryview)):
        bad_answer(answer, "Decode it, and return a list of ids.")
    if isinstance(answer, AbstractSet) and not isinstance(answer, (ItemsView, KeysView)):
        bad_answer(answer, "A set has no order.")
    if isinstance(answer, BaseException):
        bad_answer(answer, "Raise it: an exception that is returned is no result.")
    response = answer if isinstance(answer, Mapping) else _body(answer)
    if response is not None:
        return _draw_mapping(answer, response, k)
    columns = _columns(answer)
    if columns is not None:
        return _draw_frame(answer, columns, k)
    if callable(getattr(type(answer), "collect", None)):
        bad_answer(answer, "It is lazy: return its .collect().")
    if callable(getattr(type(answer), "to_pylist", None)):
        bad_answer(answer, "Its items are Arrow's own: return its .to_pylist().")
    if callable(getattr(type(answer), "execute", None)) and callable(getattr(type(answer), "to_dict", None)):
        bad_answer(
            answer,
            "It is a search that has not run: return its .execute(), which also says if results are missing.",
        )
    if has_keys(answer) and not hasattr(type(answer), "__next__") and not hasattr(type(answer), "dtype"):
        bad_answer(answer, "It is a single row: return the list of rows.")
    try:
        items = iter(answer)
    except TypeError:
        bad_answer(answer, "It cannot be gone through.")
    return _take(items, k)


async def adraw(answer: AsyncIterable[Any], k: int, read: Callable[[Any], T] = _as_it_is) -> list[T]:
    """Take the first k items out of an asynchronous iterator, and read each before the next is made."""
    items = aiter(answer)
    drawn: list[T] = []
    try:
        while len(drawn) < k:
            try:
                drawn.append(read(await anext(items)))
            except StopAsyncIteration:
                break
    finally:
        if inspect.isasyncgen(items):
            await items.aclose()
    return drawn


def _take(items: Iterator[Any], k: int, read: Callable[[Any], T] = _as_it_is) -> list[T]:
    try:
        return list(map(read, islice(items, k)))
    finally:
        if inspect.isgenerator(items):
            items.close()


def split_batch(answer: Any, size: int, read: Callable[[Any], T]) -> list[T]:
    """Take the answers to `size` queries out of what a batched retriever gave, each read before the next is made."""
    if (
        answer is None
        or isinstance(answer, (str, bytes, bytearray, Mapping, AbstractSet))
        or not isinstance(answer, Iterable)
        or _body(answer) is not None
        or _columns(answer) is not None
    ):
        cure = (
            ": of a mapping by query `[found[query] for query in queries]`"
            if isinstance(answer, Mapping)
            else ""
        )
        raise AnswerError(f"came back: {show(answer)}. {_expected(size)}{cure}.")
    return _require_each(_take(iter(answer), size + 1, read), size)


async def asplit_batch(answer: AsyncIterable[Any], size: int, read: Callable[[Any], T]) -> list[T]:
    """Do as `split_batch` does with an asynchronous iterator."""
    return _require_each(await adraw(answer, size + 1, read), size)


def _require_each(results: list[T], size: int) -> list[T]:
    if len(results) != size:
        queries = f"{size} queries" if size > 1 else "1 query"
        found = f"more than {size}" if len(results) > size else str(len(results))
        raise AnswerError(
            f"{found} {'result' if found == '1' else 'results'} came back for {queries}. {_expected(size)}."
        )
    return results


def _expected(size: int) -> str:
    return (
        f"A batched retriever returns a list with one result for each of the queries ({size}), in their order"
    )


def _body(answer: Any) -> Mapping[Any, Any] | None:
    """Give the body of an ObjectApiResponse or its like, which iterates as 'took', 'hits', or of a DSL's Response."""
    body = getattr(answer, "body", None)
    if not isinstance(body, Mapping) and hasattr(type(answer), "hits") and hasattr(type(answer), "to_dict"):
        body = answer.to_dict()
    return body if isinstance(body, Mapping) else None


def _columns(answer: Any) -> Any:
    """Give the columns of a data frame (pandas, Polars), None for all else."""
    if not (hasattr(answer, "iloc") or hasattr(answer, "iter_rows")):
        return None
    columns = getattr(answer, "columns", None)
    return None if callable(columns) else columns


def _draw_frame(answer: Any, columns: Any, k: int) -> list[Any]:
    for name in ("id", "_id"):
        if name in columns:
            if hasattr(answer[name], "columns"):
                bad_answer(answer, f"It has several columns `{name}`.")
            return _take(iter(answer[name]), k)
        if getattr(getattr(answer, "index", None), "name", None) == name:  # pandas alone has one
            return _take(iter(answer.index), k)
    names = ", ".join(quote(str(name), 20) for name in islice(columns, 5))
    bad_answer(
        answer,
        f"A frame needs a column `id` or `_id`, and this one has: {names}. Return the column that holds the ids.",
    )


def _draw_mapping(answer: Any, response: Mapping[Any, Any], k: int) -> list[Any]:
    hits = response.get("hits")
    if isinstance(hits, Mapping) and isinstance(hits.get("hits"), (list, tuple)):
        if response.get("timed_out"):
            bad_answer(answer, "`timed_out` is true: it is a part of the results. Give the search more time.")
        shards = response.get("_shards")
        failed = shards.get("failed") if isinstance(shards, Mapping) else 0
        if failed:
            bad_answer(
                answer,
                f"{printable(str(failed))} {'shard' if failed == 1 else 'shards'} failed: it is a part of the results. Mend the index.",
            )
        # Of a search over several clusters; `successful` may count the partial ones.
        clusters = response.get("_clusters")
        if isinstance(clusters, Mapping) and any(map(clusters.get, ("skipped", "partial", "failed"))):
            bad_answer(
                answer,
                "`_clusters` says that not all of them answered in full: it is a part of the results. Mend the "
                "connection, or set `skip_unavailable` to false so that the search itself fails.",
            )
        return list(hits["hits"][:k])
    if response is not answer:
        bad_answer(answer, "It is a response without `hits.hits`.")
    documents = response.get("documents")  # as Haystack's components have it; Chroma has texts there, and ids
    if isinstance(documents, (list, tuple)) and "ids" not in response:
        return list(documents[:k])
    scores: list[tuple[float, str]] = []
    for key, value in response.items():
        doc, score = as_id(key), score_of(value)
        if doc is None or score is None:
            inside = " Return the list of results that is in it." if holds_more(value) else ""
            bad_answer(
                answer, f"It is not a mapping of id to score: {show(key)} leads to {show(value)}.{inside}"
            )
        if math.isnan(score):
            bad_answer(answer, f"The score of {show(key)} is NaN.")
        scores.append((score, doc))
    # As trec_eval has it: by score, ties by id, both descending.
    return [doc for _, doc in heapq.nlargest(k, scores)]
