"""Read a retriever's answer as document ids: take its items, best first, and read the id of each.

Taking the items may run the retriever's own code (a generator, a cursor), and takes at most k. No framework is
imported: an answer's type is recognised by its attributes and methods.
"""

from __future__ import annotations

import math
import reprlib
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
from typing import Any, TypeVar

from pytest_irmetrics.base import IRMetricsError
from pytest_irmetrics.base.wording import plural, printable, quote
from pytest_irmetrics.retrieval.responses import (
    RefusedError,
    find_results,
    value_of,
)
from pytest_irmetrics.run.answer import as_id, first_repeat, ranked

T = TypeVar("T")

_ACCEPTED = (
    "Accepted, best first: ids (text, integers, UUIDs), (id, score) pairs, items with a key or attribute `id` or `_id`, "
    "a mapping of id to score, a data frame with a column `id`, a framework's documents or a search engine's response"
)
_ID_NAMES = ("id", "_id", "node_id", "corpus_id")
"""What an item's id is called; the last two by LlamaIndex and by sentence-transformers."""
_FIELD_HOLDERS = ("metadata", "meta", "payload", "_source", "node", "properties", "entity", "fields")
"""Keys and attributes under which frameworks and engines keep a document's own fields."""


class AnswerError(IRMetricsError, ValueError):
    """An answer that cannot be read as ids; its text says what came back and what is accepted."""


# The user's values in messages


def type_name(value: object) -> str:
    """Return the name of a value's type, on one line."""
    return printable(type(value).__name__)


def describe(value: object) -> str:
    """Return a value's type and a short repr for a message, also where its own repr raises."""
    name = type_name(value)
    try:
        text = printable(" ".join(_SHORT.repr(value).split()))
    except Exception:  # noqa: BLE001 - reprlib goes by the type's name, and another type may have that name
        text = f"<{name}>"
    return text if value is None or text.startswith((f"<{name}", f"{name}(")) else f"{name} {text}"


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = _SHORT.maxfrozenset = _SHORT.maxdict = _SHORT.maxdeque = 3
_SHORT.maxlevel = 3


# The items of an answer

_NEVER_RESULTS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (type(None), "Return an empty list where nothing was found."),
    (str, "Its letters are no ids: return a list of ids, also of a single one."),
    ((bytes, bytearray, memoryview), "Decode it, and return a list of ids."),
    (AbstractSet, "A set has no order."),
    (BaseException, "Raise it: an exception that is returned is no result."),
)
"""Types that are no results, and what to return instead; the views of a mapping, which are sets, have its order."""
_HELD_BACK = {
    ("fetchall",): (("__iter__",), "Its rows have not been fetched: return its .fetchall()."),
    ("collect",): ((), "It is lazy: return its .collect()."),
    ("to_pylist",): ((), "Its items are Arrow's own: return its .to_pylist()."),
    ("execute", "to_dict"): (
        (),
        "It is a search that has not run: return its .execute(), which also says if results are missing.",
    ),
    ("keys", "__getitem__"): (("__next__", "dtype"), "It is a single row: return the list of rows."),
    ("__aiter__",): (("__iter__",), "It is asynchronous: return a list, [doc async for doc in found]."),
}
"""Names that a type has where it holds its results back → names that it then lacks, and what to return instead."""


def draw_items(answer: Any, k: int) -> list[Any]:
    """Return the first k items of an answer. Raises AnswerError, and whatever an iterator of the user's raises."""
    if type(answer) is list:
        return answer[:k]
    try:
        return list(islice(_results(answer), k))
    except RefusedError as refused:
        raise AnswerError(f"came back: {describe(answer)}. {refused} {_ACCEPTED}.") from None


def _results(answer: Any) -> Any:
    """Return the results of an answer, best first. Raises RefusedError."""
    kind = type(answer)
    for never, cure in _NEVER_RESULTS:
        if isinstance(answer, never) and not isinstance(answer, (ItemsView, KeysView)):
            raise RefusedError(cure)
    found = find_results(answer)
    if found is not None:
        return found
    if isinstance(answer, (list, tuple)):
        return answer
    if isinstance(answer, Mapping):
        return _ids_by_score(answer)
    if _is_frame(answer):
        return _frame_ids(answer)
    for names, (lacking, cure) in _HELD_BACK.items():
        if all(hasattr(kind, name) for name in names) and not any(hasattr(kind, name) for name in lacking):
            raise RefusedError(cure)
    try:
        return iter(answer)
    except TypeError:
        raise RefusedError("It cannot be gone through.") from None


def split_batch(answer: Any, size: int, read: Callable[[int, Any], T]) -> list[T]:
    """Return one result for each of `size` queries of a batched retriever's answer.

    `read` is called with the place and the result of each before the next is made, because a generator may fill one list
    for all. Raises AnswerError where there are fewer or more.
    """
    expected = (
        f"A batched retriever returns a list with one result for each of the queries ({size}), in their order"
    )
    if isinstance(answer, (str, bytes, bytearray, AbstractSet, Mapping)) or not isinstance(answer, Iterable):
        raise AnswerError(f"came back: {describe(answer)}. {expected}.")
    results = list(map(read, range(size + 1), answer))
    if len(results) == size:
        return results
    found = f"more than {plural(size, 'result')}" if len(results) > size else plural(len(results), "result")
    raise AnswerError(f"{found} came back for {plural(size, 'query', 'queries')}. {expected}.")


def _is_frame(answer: Any) -> bool:
    """Say whether an answer is a data frame (pandas, Polars)."""
    return (hasattr(answer, "iloc") or hasattr(answer, "iter_rows")) and not callable(
        getattr(answer, "columns", len)
    )


def _frame_ids(frame: Any) -> Any:
    """Return the ids of a data frame: its column `id` or `_id`."""
    for name in ("id", "_id"):
        if name in frame.columns:
            return frame[name]
    names = ", ".join(quote(str(name), 20) for name in islice(frame.columns, 5))
    raise RefusedError(
        f"A frame needs a column `id` or `_id`, and this one has: {names}. Return the column that holds the ids."
    )


def _ids_by_score(answer: Mapping[Any, Any]) -> Sequence[str]:
    """Return the ids of a mapping of id to score, highest score first."""
    scores: list[tuple[str, float]] = []
    for key, value in answer.items():
        doc, score = as_id(key), _score_of(value)
        if doc is None or score is None:
            inside = (
                " Return the list of results that is in it." if isinstance(value, (list, Mapping)) else ""
            )
            raise RefusedError(
                f"It is not a mapping of id to score: {describe(key)} leads to {describe(value)}.{inside}"
            )
        if math.isnan(score):
            raise RefusedError(f"The score of {describe(key)} is NaN.")
        scores.append((doc, score))
    return ranked(scores)


# The id of an item


def read_ranking(
    items: Sequence[Any],
    duplicates: str = "error",
    doc_id: Callable[[Any], Any] | None = None,
) -> tuple[str, ...]:
    """Return the ids of an answer's items, each id once; `doc_id` is given each item as it came back.

    Raises AnswerError for an item without an id, for scores of pairs that ascend or are NaN, and for a document that comes
    twice unless `duplicates` is "collapse".
    """
    plain = doc_id is None and countOf(map(type, items), str) == len(items) and "" not in items
    ids = tuple(items) if plain else read_ids(items, doc_id)
    repeated = first_repeat(ids)
    if repeated is None:
        return ids
    if duplicates == "collapse":
        return tuple(dict.fromkeys(ids))
    doc, first, second = repeated
    raise AnswerError(
        f"{quote(doc)} came back at rank {first} and again at rank {second}. Return each document once; or keep the first of "
        'each: ir_duplicates = collapse (from Python, duplicates="collapse").'
    )


def read_item(item: Any) -> tuple[str, float | None]:
    """Return an item's id and, of an explicit pair, its score. Raises RefusedError where no id can be read."""
    doc = as_id(item)
    if doc is not None:
        return doc, None
    if item is None or isinstance(item, (bool, float, Decimal, bytes, bytearray, memoryview)):
        raise RefusedError("That is no id.")
    named = _first(_id_fields(item))
    if named is not None:
        return _id_in(named), None
    if isinstance(item, (MutableSequence, AbstractSet)):
        raise RefusedError("Results within a result: return one flat list; pairs are tuples.")
    row = _as_row(item)
    if row is None:
        raise RefusedError("No id can be read from it. A fixture ir_doc_id can say where it is.")
    if len(row) == 1:
        return _id_in(row[0]), None
    score = _score_of(row[1])
    if score is None:
        swapped = as_id(row[0]) is None and _score_of(row[0]) is not None
        raise RefusedError(
            "That looks like (score, id): put the id first."
            if swapped
            else "The second of a pair is its score, a number."
        )
    return _id_in(row[0]), score


def read_ids(
    items: Sequence[Any],
    doc_id: Callable[[Any], Any] | None,
    read: Callable[[Any], tuple[str, float | None]] = read_item,
) -> tuple[str, ...]:
    """Return the id of each item: what `doc_id` returns, else what `read` finds. Raises AnswerError."""
    ids: list[str] = []
    before = math.inf
    for rank, item in enumerate(items, start=1):
        try:
            if doc_id is not None:
                doc, score = _given_id(doc_id(item), rank, item), None
            else:
                doc, score = (item, None) if type(item) is str else read(item)
            if not doc:
                raise RefusedError("Its id is empty.")  # noqa: TRY301 - one place says what came back
            before = before if score is None else _descending(score, before)
        except RefusedError as refused:
            raise AnswerError(f"result {rank} is {describe(item)}. {refused} {_ACCEPTED}.") from None
        ids.append(doc)
    return tuple(ids)


def _given_id(given: Any, rank: int, item: Any) -> str:
    """Return the id that `ir_doc_id` gave for an item."""
    doc = as_id(given)
    if doc is None:
        raise AnswerError(
            f"ir_doc_id gave {describe(given)} for result {rank}, {describe(item)}. It returns an id: text, an integer or a UUID."
        )
    return doc


def _descending(score: float, before: float) -> float:
    """Return a pair's score. Raises RefusedError for one that is NaN or above the one before it."""
    if math.isnan(score):
        raise RefusedError("Its score is NaN.")
    if score > before:
        raise RefusedError(
            f"Its score is above that of the result before it ({before!r}), and the best comes first. "
            "Where the number is a distance, return ids alone."
        )
    return score


def _id_in(value: Any) -> str:
    """Return the id that a part of an item is or has."""
    doc = as_id(value)
    if doc is None:
        doc = as_id(_first(_id_fields(value)))
    if doc is None:
        raise RefusedError(f"Its id would be {describe(value)}, which is no text, integer or UUID.")
    return doc


def _id_fields(item: Any) -> Iterator[Any]:
    """Yield where an item may have its id: key or attribute `id`, `_id` and so on, `metadata["_id"]` as LangChain has it.

    An object of Weaviate has its `uuid` beside its `properties`. A hit of Elasticsearch's or OpenSearch's DSL has `meta.id`; an `id` would be a field of the document.
    """
    meta = getattr(item, "meta", None)
    if hasattr(meta, "index"):
        yield getattr(meta, "id", None)
    yield from (value_of(item, name) for name in _ID_NAMES)
    metadata = value_of(item, "metadata")
    if isinstance(metadata, Mapping):
        yield metadata.get("_id")
    if isinstance(getattr(item, "properties", None), Mapping):
        yield getattr(item, "uuid", None)


def fields_of(item: Any, names: Sequence[str]) -> Iterator[Any]:
    """Yield the values of these fields of an item, or of the first of a pair, and then those of its parts."""
    outer = item[0] if isinstance(item, tuple) and item and not hasattr(item, "_fields") else item
    if isinstance(outer, str):  # whose `title` is a method
        return
    for holder in (outer, *(value_of(outer, name) for name in _FIELD_HOLDERS)):
        yield from (value for name in names if (value := value_of(holder, name)) is not None)


def keep_titles(items: Sequence[Any], doc_ids: Sequence[str], titles: dict[str, str]) -> None:
    """Add the titles of an answer's items, whose ids are given in the same order, to `titles`.

    A title is the key, attribute or metadata entry `title`. What raises or is no text is no title: a report without one
    is as right.
    """
    if len(items) != len(doc_ids):  # a document that came twice was dropped
        return
    for item, doc_id in zip(items, doc_ids, strict=True):
        found = fields_of(item, ("title",)) if doc_id not in titles else ()
        title = next((one for one in found if one and isinstance(one, str)), None)
        if title is not None:
            titles[doc_id] = title


def _as_row(item: Any) -> tuple[Any, ...] | None:
    """Return a row of one or two columns as a tuple; None for anything else, arrays included."""
    kind = type(item)
    if isinstance(item, Mapping) or hasattr(kind, "dtype"):
        return None
    if not (hasattr(kind, "__len__") and hasattr(kind, "__getitem__")) or len(item) not in {1, 2}:
        return None
    return tuple(item[column] for column in range(len(item)))


def _first(values: Iterable[Any]) -> Any:
    """Return the first value that is not None, None if there is none."""
    return next((value for value in values if value is not None), None)


def _score_of(value: Any) -> float | None:
    """Return a number as a float; None for what is no number."""
    if isinstance(value, (bool, str, bytes, bytearray)):
        return None
    try:
        return float(value)
    # Of an array of several, of a missing value, of an integer beyond floats.
    except (TypeError, ValueError, OverflowError):
        return None
