"""Read the items of a retriever's answer: the id of each, its title, by which name a framework's documents go; say why one is refused.

Not loaded where all that comes back are lists of ids. No framework is imported: an item's type is recognised by its
attributes and methods.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableSequence, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from itertools import chain
from typing import Any

from pytest_irmetrics.base.numbers import as_float
from pytest_irmetrics.base.wording import as_code, describe, quote, type_name, value_of
from pytest_irmetrics.golden import Query
from pytest_irmetrics.golden.query import known_ids
from pytest_irmetrics.retrieval.options import AnswerError, RetrievalOptions
from pytest_irmetrics.run.answer import as_id

ACCEPTED = "Accepted, best first: ids (text, integers, UUIDs), (id, score) pairs, items with a key or attribute `id` or `_id`, a mapping of id to score, a data frame with a column `id`, a framework's documents or a search engine's response"
_ID_NAMES = ("id", "_id", "node_id", "corpus_id")
"""What an item's id is called; the last two by LlamaIndex and by sentence-transformers."""
SOURCE_NAMES = ("doc_id", "document_id", "ref_doc_id", "source_id", "source")
"""Keys and attributes that hold the id of the document that a chunk is of."""
_FIELD_HOLDERS = ("metadata", "meta", "payload", "_source", "node", "properties", "entity", "fields", "document")  # fmt: skip
"""Keys and attributes under which frameworks and engines keep a document's own fields."""
_MOST_PLACES = 9
"""Of an item, how many holders of fields are looked through for a judged id."""


class RefusedError(Exception):
    """Why an answer or an item is not read; made an AnswerError where it is known what came back."""


class NoIdError(RefusedError):
    """The item has no id where ids are looked for."""


# Why an answer is refused


def describe_refused(value: object, refused: RefusedError) -> str:
    """Say what came back, why it is refused and what is accepted: the value or its metadata first; last, a value that is long or has no id."""
    shown, advice = describe(value), f"{refused} {ACCEPTED}."
    if isinstance(refused, NoIdError):  # what it has of fields says best where its id is
        for name in ("metadata", "meta", "payload"):
            if isinstance(mapping := value_of(value, name), Mapping):
                return f"{type_name(value)} with {name} {as_code(dict(mapping))}. {advice}"
    elif len(shown) <= 40:
        return f"{shown}. {advice}"
    return f"{type_name(value)}. {advice} It is {shown}."


def repeat_error(what: str, name: str, first: int, second: int, returned: int) -> AnswerError:
    """Return the error of a document or chunk that came at two ranks, in an answer of so many results."""
    depth = max(50, 5 * returned)
    return AnswerError(
        f'{quote(name)} came back at rank {first} and again at rank {second}. Return each {what} once; or set `ir_duplicates = collapse`, which keeps the first of each, and `ir_depth = {depth}`, so that enough are left (in pytest.ini; from Python duplicates="collapse", depth={depth}).'
    )


# The ids of items


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
        raise NoIdError("No id can be read from it. A fixture ir_doc_id can say where it is.")
    if len(row) == 1:
        return _id_in(row[0]), None
    score = as_float(row[1])
    if score is None:
        if as_id(row[0]) is None and as_float(row[0]) is not None:
            raise RefusedError("That looks like (score, id): put the id first.")
        raise RefusedError("The second of a pair is its score, a number.")
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
            raise AnswerError(f"result {rank} is {describe_refused(item, refused)}") from refused
        ids.append(doc)
    return tuple(ids)


def _given_id(given: Any, rank: int, item: Any) -> str:
    """Return the id that `ir_doc_id` gave for an item."""
    doc = as_id(given)
    if doc is None:
        text = f"ir_doc_id gave {describe(given)} for result {rank}, {describe(item)}. It returns an id: text, an integer or a UUID."
        raise AnswerError(text)
    return doc


def _descending(score: float, before: float) -> float:
    """Return a pair's score. Raises RefusedError for one that is NaN or above the one before it."""
    if math.isnan(score):
        raise RefusedError("Its score is NaN.")
    if score > before:
        text = f"Its score is above that of the result before it ({before!r}), and the best comes first. Where the number is a distance, return ids alone."
        raise RefusedError(text)
    return score


def _id_in(value: Any) -> str:
    """Return the id that a part of an item is or has."""
    doc = as_id(value)
    if doc is None:
        doc = as_id(_first(_id_fields(value)))
    if doc is None:
        raise NoIdError(f"Its id would be {describe(value)}, which is no text, integer or UUID.")
    return doc


def _id_fields(item: Any) -> Iterator[Any]:
    """Yield where an item may have its id: key or attribute `id`, `_id` and so on, `metadata["_id"]` as LangChain has it.

    An object of Weaviate has its `uuid` beside its `properties`, a hit of Typesense its `document`. A hit of Elasticsearch's or OpenSearch's DSL has `meta.id`; an `id` would be a field of the document.
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
    yield value_of(value_of(item, "document"), "id")


def _as_row(item: Any) -> tuple[Any, ...] | None:
    """Return a row of one or two columns as a tuple; None for anything else, arrays included."""
    kind = type(item)
    if isinstance(item, Mapping) or hasattr(kind, "dtype"):
        return None
    if not (hasattr(kind, "__len__") and hasattr(kind, "__getitem__")) or len(item) not in {1, 2}:
        return None
    return tuple(item[column] for column in range(len(item)))


def without_id(items: Iterable[Any]) -> list[Any]:
    """Return those of the items that have no id where ids are looked for."""
    return [item for item in items if as_id(_first(_id_fields(_without_score(item)))) is None]


# By which name a framework's documents go, and their titles


def goes_by_source(items: Sequence[Any], query: Query, options: RetrievalOptions) -> bool | None:
    """Say whether a framework's documents go by the source that their metadata name (True) or by their ids (False).

    By the source where one is judged and no id is, by this query or else in the whole golden set; or where none has an id. None
    where they have both, and neither is judged: then other answers of the run decide.
    """
    first = _without_score(items[0]) if items else ""
    holders = () if isinstance(first, str) or options.doc_id is not None else ("metadata", "meta")
    if not any(isinstance(value_of(first, holder), Mapping) for holder in holders):
        return False
    documents = list(map(_without_score, items))
    ids = {as_id(_first(_id_fields(one))) for one in documents}
    sources = {as_id(value) for one in documents for value in fields_of(one, SOURCE_NAMES)} - {None}
    # What is forbidden tells only where nothing judged came back.
    for known in ({*query.documents}, {*known_ids(query)}, options.known):
        if not (ids.isdisjoint(known) and sources.isdisjoint(known)):
            return ids.isdisjoint(known)
    return ids == {None} or (None if sources else False)


def with_forbidden_sources(items: Sequence[Any], ids: Sequence[str], query: Query) -> tuple[str, ...]:
    """Return the ids of chunks; of the first chunk whose fields name a forbidden document, that document."""
    named = list(ids)
    for place, item in enumerate(items):
        sources = {as_id(value) for value in fields_of(item, SOURCE_NAMES)}
        found = (doc_id for doc_id in query.forbidden if doc_id in sources and doc_id not in named)
        named[place] = next(found, named[place])
    return tuple(named)


def keep_titles(items: Sequence[Any], doc_ids: Sequence[str], titles: dict[str, str]) -> None:
    """Add the titles of an answer's items, whose ids are given in the same order, to `titles`.

    A title is the key, attribute or metadata entry `title`. What raises or is no text is no title: a report without one
    is as right.
    """
    for item, doc_id in zip(items, doc_ids, strict=True):
        found = fields_of(item, ("title",)) if doc_id not in titles else ()
        title = next((one for one in found if isinstance(one, str)), doc_id)
        if title != doc_id:
            titles[doc_id] = title


# Where the judged ids are, of items that have them in another place


def find_id_path(items: Sequence[Any], known: Collection[str]) -> str | None:
    """Return the code that reads the most judged ids from items, ``doc.metadata["source"]``; None where they have hardly any.

    Of ids at the end of files' paths it is an expression: ``doc.rpartition("/")[2]``.
    """
    found = dict[str, set[str]]()
    for path, value in chain.from_iterable(map(_places, items)):
        text = as_id(value) or ""
        read = path if text in known else _cut_to_id(path, text, known)
        if read and read not in ("doc", "doc[0]"):
            found.setdefault(read, set()).add(text)
    best = max(found, key=lambda read: len(found[read]), default="")
    # A title is a judged id once by chance.
    return best if len(found.get(best, ())) * 10 > min(len(items), len(known)) else None


def _places(item: Any) -> Iterator[tuple[str, Any]]:
    """Yield an item, or the first of a pair, and its fields and those of its parts, each with the code that reads it."""
    outer = _without_score(item)
    places = [("doc" if outer is item else "doc[0]", outer)]
    yield places[0]
    for path, holder in places:
        in_mapping = isinstance(holder, Mapping)
        for name in holder if in_mapping else getattr(holder, "__dict__", ()):
            field = f"[{_literal(name)}]" if in_mapping else f".{name}"
            found, value = f"{path}{field}", value_of(holder, name)
            yield found, value
            if name in _FIELD_HOLDERS and len(places) < _MOST_PLACES:
                places.append((found, value))


def _cut_to_id(path: str, text: str, known: Collection[str]) -> str | None:
    """Return the code that cuts a file's path to the judged id at its end, with or without the suffix of its name."""
    for start in (0, *(place for place, char in enumerate(text, 1) if char == "/")):
        end = text[start:]
        stem, _, suffix = end.rpartition(".")
        if end in known or stem in known:
            folder = f".removeprefix({_literal(text[:start])})" if "/" in end else '.rpartition("/")[2]'
            kept = "" if end in known else f".removesuffix({_literal(f'.{suffix}')})"
            return path + (folder if start else "") + kept
    return None


def _literal(text: Any) -> str:
    """Return text as Python's code has it, in double quotes."""
    return json.dumps(str(text), ensure_ascii=False)


# The fields of an item


def fields_of(item: Any, names: Sequence[str]) -> Iterator[Any]:
    """Yield the values of these fields of an item, or of the first of a pair, and then those of its parts."""
    outer = _without_score(item)
    for holder in (outer, *(value_of(outer, name) for name in _FIELD_HOLDERS)):
        yield from (value for name in names if (value := value_of(holder, name)) is not None)


def _without_score(item: Any) -> Any:
    """Return the first of a pair of an item and its score; any other item as it is."""
    return item[0] if isinstance(item, tuple) and item and not hasattr(item, "_fields") else item


def _first(values: Iterable[Any]) -> Any:
    """Return the first value that is not None, None if there is none."""
    return next((value for value in values if value is not None), None)
