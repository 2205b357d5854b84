"""Take the items of a retriever's answer, best first; of an engine's response, see where it is only a part of the results.

Taking the items may run the retriever's own code (a generator, a cursor), and takes at most k. No client or framework is
imported: an answer is known by its attributes and methods, a response by where its results are, and by what stands beside
them.
"""

from __future__ import annotations

import math
from collections.abc import ItemsView, Iterator, KeysView, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any, NamedTuple

from pytest_irmetrics.base.numbers import as_float
from pytest_irmetrics.base.wording import FEW, as_code, describe, listed, printable, quote, value_of
from pytest_irmetrics.retrieval import reading
from pytest_irmetrics.retrieval.options import AnswerError
from pytest_irmetrics.run.answer import as_id, ranked

# Answers of every kind

_NEVER_RESULTS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (type(None), "Is there a `return`? Return an empty list where nothing was found."),
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


def draw_items(answer: Any, k: int | None) -> list[Any]:
    """Return the first k items of an answer, None for all. Raises AnswerError, and whatever an iterator of the user's raises."""
    try:
        return list(islice(_results(answer), k))
    except reading.RefusedError as refused:
        raise AnswerError(f"came back: {reading.describe_refused(answer, refused)}") from None


def _results(answer: Any) -> Any:
    """Return the results of an answer, best first. Raises RefusedError."""
    kind = type(answer)
    for never, cure in _NEVER_RESULTS:
        if isinstance(answer, never) and not isinstance(answer, (ItemsView, KeysView)):
            raise reading.RefusedError(cure)
    found = None if kind in {list, tuple} else _find_results(answer)
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
            raise reading.RefusedError(cure)
    try:
        return iter(answer)
    except TypeError:
        raise reading.RefusedError("It cannot be gone through.") from None


def _is_frame(answer: Any) -> bool:
    """Say whether an answer is a data frame (pandas, Polars)."""
    has_rows = hasattr(answer, "iloc") or hasattr(answer, "iter_rows")
    # In this order: a lazy frame of Polars, which has no rows, would look for its columns.
    return has_rows and not callable(getattr(answer, "columns", len))


def _frame_ids(frame: Any) -> Any:
    """Return the ids of a data frame: its column `id` or `_id`."""
    for name in ("id", "_id"):
        if name in frame.columns:
            return frame[name]
    names = listed([*frame.columns], FEW, lambda name: quote(str(name), 20))
    text = f"A frame needs a column `id` or `_id`, and this one has: {names}. Return the column that holds the ids."
    raise reading.RefusedError(text)


def _ids_by_score(answer: Mapping[Any, Any]) -> Sequence[str]:
    """Return the ids of a mapping of id to score, highest score first."""
    scores: list[tuple[str, float]] = []
    for key, value in answer.items():
        doc, score = as_id(key), as_float(value)
        if doc is None or score is None:
            if key in ("error", "errors", "detail", "message"):
                said = f"what looks like an error, {printable(str(value), 200)}. Let your function raise it."
                raise AnswerError(f"came back: {said}")
            why, lists = f"{describe(key)} maps to {describe(value)}", dict(_lists_in(answer))
            if lists:  # of several the first that holds ids, else the first that holds anything
                best = max(lists, key=lambda i: 2 * len(lists[i]) - len(reading.without_id(lists[i])))
                why = f"`{best}` is a list: return that"
            text = f"It is not a mapping of id to score: {why}. Its keys: {listed([*answer], FEW, as_code)}."
            raise reading.RefusedError(text)
        if math.isnan(score):
            raise reading.RefusedError(f"The score of {describe(key)} is NaN.")
        scores.append((doc, score))
    return ranked(scores)


def _lists_in(answer: Mapping[Any, Any], code: str = "answer") -> Iterator[tuple[str, list[Any]]]:
    """Yield the code that reads each list in a mapping, down to three levels, such as `answer['hits']`, with a list of its first item."""
    for key, value in answer.items():
        part = f"{code}[{as_code(key)}]"
        if isinstance(value, list):
            yield part, value[:1]
        elif isinstance(value, Mapping) and part.count("][") < 2:  # it may hold itself
            yield from _lists_in(value, part)


# Responses of search engines


class _Engine(NamedTuple):
    """Where an engine's responses have their results. A path is keys or attributes, with slashes between."""

    results: str
    """The path to the list of results; 0 is the only item of a list."""
    beside: tuple[str, ...] = ()
    """Paths of which one leads somewhere, by which the engine is known."""
    each: tuple[str, ...] = ()
    """Keys or attributes of each result, by which the engine is known."""
    columns: Mapping[str, str] = {}
    """Key of an item → the path to its column, where results are columns."""
    may_be_missing: bool = False
    """Whether there is no list where nothing was found."""


_ENGINES = {
    "Elasticsearch, OpenSearch": _Engine("hits/hits"),
    "Solr": _Engine("response/docs"),
    "Typesense": _Engine("hits", ("search_time_ms",)),
    "Vespa": _Engine("root/children", ("root/children", "root/coverage", "root/errors", "root/fields"), may_be_missing=True),
    "Azure AI Search": _Engine("value", ("@odata.context", "@odata.count", "@search.coverage")),
    "Chroma": _Engine("ids/0", columns={"id": "ids/0", "text": "documents/0", "metadata": "metadatas/0"}),
    "Pinecone's query": _Engine("matches", ("namespace",)),
    "Pinecone's search": _Engine("result/hits", ("usage",)),
    "Redis, protocol 3": _Engine("results", ("total_results",)),
    "Redis": _Engine("docs", ("total",)),
    "Haystack": _Engine("documents", each=("id",)),
    "Milvus": _Engine("0", each=("distance",)),
    "Qdrant": _Engine("points", each=("id", "score")),
    "Weaviate": _Engine("objects", each=("uuid", "properties")),
}  # fmt: skip
_CLIENT_BODIES = {"body": "hits.hits", "raw_response": "response.docs", "json": "root"}
"""Attributes that hold a response's mapping in the clients elasticsearch, pysolr and pyvespa → where its results are."""

_CONNECTION = "Mend the connection, or set `skip_unavailable` to false so that the search itself fails."
_NODE = "Give the search more time (`timeout`), or mend the node."
_REDIS_TIME = "Give the search more time: `.timeout(…)` on the query, or `search-timeout`."
_SIGNS_OF_A_PART = {
    "error": "Let your function raise it.",
    "errors": "Let your function raise it.",
    "timed_out": "Give the search more time.",
    "_shards/failed": "Mend the index.",
    # Of a search over several clusters; `successful` may count the partial ones.
    "_clusters/skipped": _CONNECTION,
    "_clusters/partial": _CONNECTION,
    "_clusters/failed": _CONNECTION,
    "responseHeader/partialResults": "Give the search more time, or mend the shard that is down.",
    "root/errors": "Mend what it says.",
    # Beside these, `match-phase` is how Vespa's rank profile was set up, and no accident.
    "root/coverage/degraded/timeout": _NODE,
    "root/coverage/degraded/adaptive-timeout": _NODE,
    "root/coverage/degraded/non-ideal-state": _NODE,
    "@search.coverage": "Ask again when all replicas are up.",
    "@search.semanticPartialResponseReason": "Not all were reranked: set `semanticErrorHandling` to `fail`.",
    "search_cutoff": "Give the search more time (`search_cutoff_ms`).",
    "warning": _REDIS_TIME,
    "warnings": _REDIS_TIME,
}
"""A path of a response that is not empty where results are missing (a coverage: below 100) → what to do."""


def _find_results(answer: Any) -> Sequence[Any] | None:
    """Return the results, best first, in an engine's response; None for any other answer. Raises RefusedError, and AnswerError for a part of them."""
    body, wanted = _body_in_client(answer)
    for engine in _ENGINES.values():
        items = _items(body, engine)
        if items is not None:
            _require_all(body)
            return items
    if wanted:
        raise reading.RefusedError(f"It is a response without `{wanted}`.")
    return None


def _body_in_client(answer: Any) -> tuple[Any, str]:
    """Return the mapping that a client's response holds, and where its results are to be; else the answer itself."""
    for name, wanted in _CLIENT_BODIES.items() if not isinstance(answer, Mapping) else ():
        body = value_of(answer, name)
        if isinstance(body, Mapping):
            return body, wanted
    kind = type(answer)
    if hasattr(kind, "hits") and hasattr(kind, "to_dict"):  # elasticsearch.dsl, opensearch-dsl
        return answer.to_dict(), _CLIENT_BODIES["body"]
    return answer, ""


def _items(response: Any, engine: _Engine) -> Sequence[Any] | None:
    """Return the results in a response; None where it is not this engine's."""
    items = _at(response, engine.results)
    if items is None and engine.may_be_missing:
        items = ()
    if (
        not isinstance(items, (list, tuple))
        or (engine.beside and all(_at(response, path) is None for path in engine.beside))
        or any(_at(item, name) is None for item in items for name in engine.each)
    ):
        return None
    if not engine.columns:
        return items
    columns = ((name, _at(response, path)) for name, path in engine.columns.items())
    whole = {name: found for name, found in columns if found is not None and len(found) == len(items)}
    return [dict(zip(whole, row, strict=True)) for row in zip(*whole.values(), strict=True)]


def _require_all(response: Any) -> None:
    """Raise AnswerError for a response that does not hold all results: its shape is an accepted one, so nothing else is said of it."""
    for path, cure in _SIGNS_OF_A_PART.items():
        value = _at(response, path)
        if value is not None and (value < 100 if path == "@search.coverage" else value):
            sign = f"`{path.replace('/', '.')}` is {printable(str(value), 60)}"
            raise AnswerError(f"came back: a response, and {sign}: it holds part of the results. {cure}")
    # A shard that is not allocated counts as neither successful nor failed.
    shards, answering = _at(response, "_shards/total"), _at(response, "_shards/successful")
    if isinstance(shards, int) and isinstance(answering, int) and answering < shards:
        text = f"{answering} of {shards} `_shards` answered: it holds part of the results. Mend the index."
        raise AnswerError(f"came back: a response, and {text}")


def _at(value: Any, path: str) -> Any:
    """Return what a path leads to; None where it leads nowhere."""
    for name in path.split("/"):
        if isinstance(value, (list, tuple)):
            value = value[0] if name == "0" and len(value) == 1 else None
        else:
            value = value_of(value, name)
    return value
