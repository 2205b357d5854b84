"""Read a retriever's answer as document ids: take its items, best first, and read the id of each.

Taking the items may run the retriever's own code (a generator, a cursor), and takes at most k. No framework is
imported: an answer's type is recognised by its attributes and methods.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import (
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    MutableSequence,
    Sequence,
)
from collections.abc import Set as AbstractSet
from decimal import Decimal
from itertools import islice
from operator import countOf
from typing import Any, NoReturn, SupportsFloat, SupportsIndex, TypeVar

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.ids import as_id, first_repeat, ranked
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.retrieval.describe import describe
from pytest_irmetrics.retrieval.responses import find_results, where_results_are

T = TypeVar("T")

_ACCEPTED = (
    "Accepted, best first: ids (text, integers, UUIDs), (id, score) pairs, items with a key or attribute `id` or `_id`, "
    "a mapping of id to score, a data frame with a column `id`, a framework's documents or a search engine's response"
)

_MISSING = object()
_ID_NAMES = ("id", "_id", "node_id", "corpus_id")
"""What an item's id is called; the last two by LlamaIndex and by sentence-transformers."""


class AnswerError(IRMetricsError, ValueError):
    """An answer that cannot be read as ids; its text says what came back and what is accepted."""


# The items of an answer


def _unchanged(item: Any) -> Any:
    return item


def _refuse_answer(answer: object, why: str) -> NoReturn:
    """Raise AnswerError for an answer as a whole."""
    raise AnswerError(f"came back: {describe(answer)}. {why} {_ACCEPTED}.")


_NEVER_RESULTS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (type(None), "Return an empty list where nothing was found."),
    (str, "Its letters are no ids: return a list of ids, also of a single one."),
    ((bytes, bytearray, memoryview), "Decode it, and return a list of ids."),
    (AbstractSet, "A set has no order."),
    (BaseException, "Raise it: an exception that is returned is no result."),
)
"""Types that are no results, and what to return instead; the views of a mapping, which are sets, have its order."""
_HELD_BACK: tuple[tuple[tuple[str, ...], str], ...] = (
    (("collect",), "It is lazy: return its .collect()."),
    (("to_pylist",), "Its items are Arrow's own: return its .to_pylist()."),
    (
        ("execute", "to_dict"),
        "It is a search that has not run: return its .execute(), which also says if results are missing.",
    ),
)
"""Methods by which an answer is known that holds its results back, and what to return instead."""


def draw_items(answer: Any, k: int) -> list[Any]:
    """Return the first k items of an answer. Raises AnswerError, and whatever an iterator of the user's raises."""
    if type(answer) is list:
        return answer[:k]
    for kind, cure in _NEVER_RESULTS:
        if isinstance(answer, kind) and not isinstance(answer, (ItemsView, KeysView)):
            _refuse_answer(answer, cure)
    found = find_results(answer)
    if found is not None:
        if found.refused:
            _refuse_answer(answer, found.refused)
        return list(found.items[:k])
    if isinstance(answer, (list, tuple)):
        return list(answer[:k])
    if isinstance(answer, Mapping):
        return list(_ids_by_score(answer, k))
    if callable(getattr(type(answer), "fetchall", None)) and not hasattr(type(answer), "__iter__"):
        _refuse_answer(answer, "Its rows have not been fetched: return its .fetchall().")
    columns = _columns(answer)
    if columns is not None:
        return _frame_ids(answer, columns, k)
    for names, cure in _HELD_BACK:
        if all(callable(getattr(type(answer), name, None)) for name in names):
            _refuse_answer(answer, cure)
    if _has_keys(answer) and not hasattr(type(answer), "__next__") and not hasattr(type(answer), "dtype"):
        _refuse_answer(answer, "It is a single row: return the list of rows.")
    try:
        items = iter(answer)
    except TypeError:
        if hasattr(type(answer), "__aiter__"):
            _refuse_answer(answer, "It is asynchronous: return a list, [doc async for doc in found].")
        path = where_results_are(answer)
        _refuse_answer(answer, f"It cannot be gone through.{f' Return {path}.' if path else ''}")
    return _take_first(items, k)


def _take_first(items: Iterator[Any], k: int, read: Callable[[Any], T] = _unchanged) -> list[T]:
    try:
        return list(map(read, islice(items, k)))
    finally:
        if inspect.isgenerator(items):
            items.close()


def split_batch(answer: Any, size: int, read: Callable[[Any], T]) -> list[T]:
    """Return one result for each of `size` queries of a batched retriever's answer.

    `read` is called with each before the next is made, because a generator may fill one list for all. Raises
    AnswerError where there are fewer or more.
    """
    if (
        answer is None
        or isinstance(answer, (str, bytes, bytearray, Mapping, AbstractSet))
        or not isinstance(answer, Iterable)
        or (not isinstance(answer, (list, tuple)) and find_results(answer) is not None)
        or _columns(answer) is not None
    ):
        cure = ""
        if isinstance(answer, Mapping):
            cure = ": of a mapping by query `[found[query] for query in queries]`"
            if isinstance(answer.get("ids"), (list, tuple)):
                cure = ': of Chroma answer["ids"]'
        raise AnswerError(f"came back: {describe(answer)}. {_expected_of_batch(size)}{cure}.")
    return _require_one_each(_take_first(iter(answer), size + 1, read), size)


def _require_one_each(results: list[T], size: int) -> list[T]:
    if len(results) != size:
        queries = f"{size} queries" if size > 1 else "1 query"
        found = f"more than {size}" if len(results) > size else str(len(results))
        raise AnswerError(
            f"{found} {'result' if found == '1' else 'results'} came back for {queries}. {_expected_of_batch(size)}."
        )
    return results


def _expected_of_batch(size: int) -> str:
    return (
        f"A batched retriever returns a list with one result for each of the queries ({size}), in their order"
    )


def _columns(answer: Any) -> Any:
    """Return the columns of a data frame (pandas, Polars); None for any other answer."""
    if not (hasattr(answer, "iloc") or hasattr(answer, "iter_rows")):
        return None
    columns = getattr(answer, "columns", None)
    return None if callable(columns) else columns


def _frame_ids(answer: Any, columns: Any, k: int) -> list[Any]:
    """Return the first k ids of a data frame: of its column `id` or `_id`, or of pandas' index of that name."""
    for name in ("id", "_id"):
        if name in columns:
            if hasattr(answer[name], "columns"):
                _refuse_answer(answer, f"It has several columns `{name}`.")
            return _take_first(iter(answer[name]), k)
        if getattr(getattr(answer, "index", None), "name", None) == name:
            return _take_first(iter(answer.index), k)
    names = ", ".join(quote(str(name), 20) for name in islice(columns, 5))
    _refuse_answer(
        answer,
        f"A frame needs a column `id` or `_id`, and this one has: {names}. Return the column that holds the ids.",
    )


def _ids_by_score(answer: Mapping[Any, Any], k: int) -> list[str]:
    """Return the first k ids of a mapping of id to score, highest score first."""
    scores: list[tuple[str, float]] = []
    for key, value in answer.items():
        doc, score = as_id(key), _score_of(value)
        if doc is None or score is None:
            path = where_results_are(answer)
            inside = " Return the list of results that is in it." if _is_container(value) else ""
            inside = f" Return {path}." if path else inside
            _refuse_answer(
                answer,
                f"It is not a mapping of id to score: {describe(key)} leads to {describe(value)}.{inside}",
            )
        if math.isnan(score):
            _refuse_answer(answer, f"The score of {describe(key)} is NaN.")
        scores.append((doc, score))
    return list(ranked(scores)[:k])


# The id of an item


def _refuse_item(rank: int, item: object, why: str) -> NoReturn:
    """Raise AnswerError for one item of an answer; `rank` counts from 1."""
    raise AnswerError(f"result {rank} is {describe(item)}. {why} {_ACCEPTED}.")


def read_ranking(
    items: Sequence[Any],
    duplicates: str = "error",
    doc_id: Callable[[Any], Any] | None = None,
    stored: Iterable[tuple[str, ...]] = (),
) -> tuple[str, ...]:
    """Return the ids of an answer's items, each id once; `doc_id` is given each item as it came back.

    Rankings that are `stored` were checked before: an equal one is returned in place of a new one. Raises AnswerError
    for an item without an id, for scores of pairs that ascend or are NaN, and for a document that comes twice unless
    `duplicates` is "collapse".
    """
    plain = doc_id is None and countOf(map(type, items), str) == len(items)
    ids = tuple(items) if plain else read_ids(items, doc_id)
    for other in stored:
        if other == ids:
            return other
    unique = set(ids)
    if "" in unique:
        read_ids(items, doc_id)  # raises, and names the rank
    if len(unique) == len(ids):
        return ids
    if duplicates == "collapse":
        return tuple(dict.fromkeys(ids))
    repeated = first_repeat(ids)
    assert repeated is not None  # noqa: S101 - its set is smaller
    doc, first, second = repeated
    cure = (
        "Return each document once; or keep the first of each: ir_duplicates = collapse (from Python, "
        'duplicates="collapse").'
    )
    if doc == "-1":
        cure = "A place of -1 is what FAISS and its like return where there is nothing more: leave it out."
    raise AnswerError(f"{quote(doc)} came back at rank {first} and again at rank {second}. {cure}")


def read_ids(
    items: Sequence[Any],
    doc_id: Callable[[Any], Any] | None,
    read: Callable[[int, Any], tuple[str, float | None]] | None = None,
) -> tuple[str, ...]:
    """Return the id of each item: what `doc_id` returns, else what `read` (`read_item`) finds. Raises AnswerError."""
    read = read or read_item
    ids: list[str] = []
    before: float | None = None
    for rank, item in enumerate(items, start=1):
        if type(item) is str:
            doc, score = item, None
        else:
            doc, score = read(rank, item) if doc_id is None else ("", None)
        if doc_id is not None:
            given = doc_id(item)
            found = as_id(given)
            if found is None:
                if inspect.iscoroutine(given):
                    given.close()
                raise AnswerError(
                    f"ir_doc_id gave {describe(given)} for result {rank}, {describe(item)}. It returns an id: text, an integer or a UUID."
                )
            doc = found
        if not doc:
            _refuse_item(rank, item, "Its id is empty.")
        if score is not None:
            _check_order(rank, item, score, before)
            before = score
        ids.append(doc)
    return tuple(ids)


def _check_order(rank: int, item: Any, score: float, before: float | None) -> None:
    if math.isnan(score):
        _refuse_item(rank, item, "Its score is NaN.")
    if before is not None and score > before:
        _refuse_item(
            rank,
            item,
            f"Its score is above that of the result before it ({before!r}), and the best comes first. "
            "Where the number is a distance, return ids alone.",
        )


def read_item(rank: int, item: Any) -> tuple[str, float | None]:
    """Return an item's id and, of an explicit pair, its score. Raises AnswerError where no id can be read."""
    doc = as_id(item)
    if doc is not None:
        return doc, None
    if isinstance(item, (bytes, bytearray, memoryview)):
        _refuse_item(rank, item, "That is no id: decode it.")
    if item is None or isinstance(item, (bool, float, Decimal)):
        _refuse_item(rank, item, "That is no id.")
    named = _id_field(item)
    if named is not _MISSING:
        return _id_in(rank, item, named), None
    if isinstance(item, (MutableSequence, AbstractSet)):
        _refuse_item(rank, item, "Results within a result: return one flat list; pairs are tuples.")
    row = _as_row(item)
    if row is None:
        _refuse_item(rank, item, "No id can be read from it. A fixture ir_doc_id can say where it is.")
    if len(row) == 1:
        return _id_in(rank, item, row[0]), None
    first, second = row
    score = _score_of(second)
    if score is None:
        if as_id(first) is None and _score_of(first) is not None:
            _refuse_item(rank, item, "That looks like (score, id): put the id first.")
        if as_id(second) is not None and _score_of(first) is not None:
            _refuse_item(
                rank,
                item,
                "The second of a pair is its score, a number, and this is text: return the id alone; or, if the number is "
                "the score, put the id first.",
            )
        if isinstance(first, str) and _is_container(second):
            _refuse_item(rank, item, "That is a field and what it holds: return the list of results itself.")
        _refuse_item(rank, item, "The second of a pair is its score, a number.")
    return _id_in(rank, item, first), score


def _id_in(rank: int, item: Any, value: Any) -> str:
    """Return the id that a part of an item is or has."""
    doc = as_id(value)
    if doc is None:
        named = _id_field(value) if item is not value else _MISSING
        doc = None if named is _MISSING else as_id(named)
    if doc is None:
        _refuse_item(rank, item, f"Its id would be {describe(value)}, which is no text, integer or UUID.")
    return doc


def _id_field(item: Any) -> Any:
    """Return an item's key or attribute `id`, else `_id` and so on, else `metadata["_id"]` as LangChain has it.

    An object of Weaviate has its `uuid` beside its `properties`. A hit of Elasticsearch's or OpenSearch's DSL has `meta.id`; an `id` would be a field of the document.
    """
    meta = getattr(item, "meta", None)
    value = getattr(meta, "id", None) if hasattr(meta, "index") else None
    if value is not None:
        return value
    for name in _ID_NAMES:
        value = field_of(item, name)
        if value is not None:
            return value
    metadata = field_of(item, "metadata")
    value = metadata.get("_id") if isinstance(metadata, Mapping) else None
    if value is None and isinstance(getattr(item, "properties", None), Mapping):
        value = getattr(item, "uuid", None)
    return _MISSING if value is None else value


def field_of(item: Any, name: str) -> Any:
    """Return an item's key or attribute of this name; None where it has neither."""
    if isinstance(item, Mapping):
        return item.get(name)
    if _has_keys(item) and name in item.keys():  # noqa: SIM118 - the own `in` of sqlite3.Row looks at its values
        return item[name]
    return getattr(item, name, None)


def _as_row(item: Any) -> tuple[Any, ...] | None:
    """Return a row of one or two columns as a tuple; None for anything else, arrays included."""
    if isinstance(item, Mapping) or hasattr(type(item), "dtype"):
        return None
    if not (hasattr(type(item), "__len__") and hasattr(type(item), "__getitem__")) or len(item) not in {1, 2}:
        return None
    return tuple(item[column] for column in range(len(item)))


def _has_keys(value: object) -> bool:
    """Say whether a value has keys, as mappings and rows of sqlite3 do."""
    return callable(getattr(type(value), "keys", None)) and hasattr(type(value), "__getitem__")


def _is_container(value: Any) -> bool:
    """Say whether a value may hold results."""
    return isinstance(value, (list, tuple, Mapping))


def _score_of(value: Any) -> float | None:
    """Return a number as a float; None for what is no number."""
    if isinstance(value, (bool, str)) or not isinstance(value, (SupportsFloat, SupportsIndex)):
        return None
    try:
        return float(value)
    # Of an array of several, of a missing value, of an integer beyond floats.
    except (TypeError, ValueError, OverflowError):
        return None
