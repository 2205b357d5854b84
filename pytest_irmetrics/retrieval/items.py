"""One item of an answer, read as the id of a document and, of a pair, its score. No framework is imported: an item is told by what it has."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, MutableSequence, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from operator import countOf
from typing import Any, NoReturn, SupportsFloat, SupportsIndex

from pytest_irmetrics.base.errors import IRMetricsError
from pytest_irmetrics.base.ids import as_id, first_repeat
from pytest_irmetrics.base.wording import quote
from pytest_irmetrics.retrieval.showing import show

ACCEPTED = (
    "Accepted, best first: ids (text, integers, UUIDs), (id,) rows, (id, score) pairs, items with a key or attribute "
    "`id` or `_id`, documents of LangChain, LlamaIndex or Haystack, a data frame with a column `id`, a mapping of id to "
    "score, an Elasticsearch or OpenSearch response, or an iterator of these"
)

_MISSING = object()
_ID_NAMES = ("id", "_id", "node_id", "corpus_id")
"""What an item's id is called; the last two by LlamaIndex and by sentence-transformers."""


class AnswerError(IRMetricsError, ValueError):
    """An answer that cannot be read; says what came back and what is accepted."""


def _bad_item(rank: int, item: object, why: str) -> NoReturn:
    raise AnswerError(f"result {rank} is {show(item)}. {why} {ACCEPTED}.")


def identify(
    items: Sequence[Any],
    duplicates: str = "error",
    doc_id: Callable[[Any], Any] | None = None,
    stored: Iterable[tuple[str, ...]] = (),
) -> tuple[str, ...]:
    """Turn drawn items into ids; `doc_id` is given each item as it came back.

    Rankings that are `stored` were proven to be good: one of them is returned where it is the same. Raises AnswerError:
    for what has no id; for scores of pairs that ascend or are NaN; for a document that comes twice, unless `duplicates`
    is "collapse".
    """
    plain = doc_id is None and countOf(map(type, items), str) == len(items)
    ids = tuple(items) if plain else read_ids(items, doc_id)
    for other in stored:
        if other == ids:
            return other
    unique = set(ids)
    if "" in unique:
        read_ids(items, doc_id)  # says where
    if len(unique) == len(ids):
        return ids
    if duplicates == "collapse":
        return tuple(dict.fromkeys(ids))
    repeated = first_repeat(ids)
    assert repeated is not None  # noqa: S101 - its set is smaller
    doc, first, second = repeated
    cure = "Return each document once, or set ir_duplicates = collapse to keep the first of each."
    if doc == "-1":
        cure = "A place of -1 is what FAISS and its like return where there is nothing more: leave it out."
    raise AnswerError(f"{quote(doc)} came back at rank {first} and again at rank {second}. {cure}")


def read_ids(
    items: Sequence[Any],
    doc_id: Callable[[Any], Any] | None,
    read: Callable[[int, Any], tuple[str, float | None]] | None = None,
) -> tuple[str, ...]:
    """Turn each item into its id: what `doc_id` gives, else what `read` (`read_item`) finds. Raises AnswerError."""
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
                    f"ir_doc_id gave {show(given)} for result {rank}, {show(item)}. It returns an id: text, an integer or a UUID."
                )
            doc = found
        if not doc:
            _bad_item(rank, item, "Its id is empty.")
        if score is not None:
            _check_order(rank, item, score, before)
            before = score
        ids.append(doc)
    return tuple(ids)


def _check_order(rank: int, item: Any, score: float, before: float | None) -> None:
    if math.isnan(score):
        _bad_item(rank, item, "Its score is NaN.")
    if before is not None and score > before:
        _bad_item(
            rank,
            item,
            f"Its score is above that of the result before it ({before!r}), and the best comes first. "
            "Where the number is a distance, return ids alone.",
        )


def read_item(rank: int, item: Any) -> tuple[str, float | None]:
    """Read an item's id and, of an explicit pair, its score. Raises AnswerError where there is none."""
    doc = as_id(item)
    if doc is not None:
        return doc, None
    if isinstance(item, (bytes, bytearray, memoryview)):
        _bad_item(rank, item, "That is no id: decode it.")
    if item is None or isinstance(item, (bool, float, Decimal)):
        _bad_item(rank, item, "That is no id.")
    named = _named(item)
    if named is not _MISSING:
        return _as_id_of(rank, item, named), None
    if isinstance(item, (MutableSequence, AbstractSet)):
        _bad_item(rank, item, "Results within a result: return one flat list; pairs are tuples.")
    row = _row(item)
    if row is None:
        _bad_item(rank, item, "No id can be read from it. A fixture ir_doc_id can say where it is.")
    if len(row) == 1:
        return _as_id_of(rank, item, row[0]), None
    first, second = row
    score = score_of(second)
    if score is None:
        if isinstance(first, float) or (score_of(first) is not None and as_id(second) is not None):
            _bad_item(rank, item, "That looks like (score, id): put the id first.")
        if isinstance(first, str) and holds_more(second):
            _bad_item(rank, item, "That is a field and what it holds: return the list of results itself.")
        _bad_item(rank, item, "The second of a pair is its score, a number.")
    return _as_id_of(rank, item, first), score


def _as_id_of(rank: int, item: Any, value: Any) -> str:
    doc = as_id(value)
    if doc is None:
        named = _named(value) if item is not value else _MISSING
        doc = None if named is _MISSING else as_id(named)
    if doc is None:
        _bad_item(rank, item, f"Its id would be {show(value)}, which is no text, integer or UUID.")
    return doc


def _named(item: Any) -> Any:
    """Give what an item has under the key or attribute `id`, else `_id` and so on, else as LangChain's `metadata["_id"]`.

    A hit of Elasticsearch's or OpenSearch's DSL is its source, which may have an `id` of its own: it has `meta.id`.
    """
    meta = getattr(item, "meta", None)
    value = getattr(meta, "id", None) if hasattr(meta, "index") else None
    if value is not None:
        return value
    for name in _ID_NAMES:
        value = part(item, name)
        if value is not None:
            return value
    metadata = part(item, "metadata")
    value = metadata.get("_id") if isinstance(metadata, Mapping) else None
    return _MISSING if value is None else value


def part(item: Any, name: str) -> Any:
    """Give what an item has as a key or attribute; None where it has not."""
    if isinstance(item, Mapping):
        return item.get(name)
    if has_keys(item):  # sqlite3.Row and its like
        return item[name] if name in item.keys() else None  # noqa: SIM118 - a row's own `in` looks at its values
    return getattr(item, name, None)


def _row(item: Any) -> tuple[Any, ...] | None:
    """Give a row of one or two columns as a tuple: what has a length and places, and is no array."""
    if isinstance(item, Mapping) or hasattr(type(item), "dtype"):
        return None
    if not (hasattr(type(item), "__len__") and hasattr(type(item), "__getitem__")) or len(item) not in {1, 2}:
        return None
    return tuple(item[place] for place in range(len(item)))


def has_keys(value: object) -> bool:
    """Say whether a value is read by key, as mappings and rows are."""
    return callable(getattr(type(value), "keys", None)) and hasattr(type(value), "__getitem__")


def holds_more(value: Any) -> bool:
    """Say whether a value is no single thing but holds others."""
    return isinstance(value, (list, tuple, Mapping))


def score_of(value: Any) -> float | None:
    """Give a number as a float; None for what is none."""
    if isinstance(value, (bool, str)) or not isinstance(value, (SupportsFloat, SupportsIndex)):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):  # an array of several, a missing value, a giant
        return None
