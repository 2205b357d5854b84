"""Find the list of results in a search engine's response, and see where it is only a part of the results.

No client is imported: a response is known by where its results are, and by what stands beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from pytest_irmetrics.base.wording import printable


class RefusedError(Exception):
    """Why an answer or an item is not read; made an AnswerError where it is known what came back."""


def value_of(holder: Any, name: str) -> Any:
    """Return a key or an attribute by its name; None where there is neither, or where it raises, as the user's may."""
    with suppress(Exception):
        if isinstance(holder, Mapping):
            return holder.get(name)
        keys = getattr(type(holder), "keys", None)  # of a row of sqlite3, whose `in` looks at its values
        if callable(keys) and hasattr(type(holder), "__getitem__") and name in keys(holder):
            return holder[name]
        return getattr(holder, name, None)
    return None


class Engine(NamedTuple):
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


_CHROMA_COLUMNS = {"id": "ids/0", "text": "documents/0", "metadata": "metadatas/0"}
_VESPA_ROOT = ("root/children", "root/coverage", "root/errors", "root/fields")
_ENGINES = {
    "Elasticsearch, OpenSearch": Engine("hits/hits"),
    "Solr": Engine("response/docs"),
    "Vespa": Engine("root/children", _VESPA_ROOT, may_be_missing=True),
    "Azure AI Search": Engine("value", ("@odata.context", "@odata.count", "@search.coverage")),
    "Chroma": Engine("ids/0", columns=_CHROMA_COLUMNS),
    "Pinecone's query": Engine("matches", ("namespace",)),
    "Pinecone's search": Engine("result/hits", ("usage",)),
    "Redis, protocol 3": Engine("results", ("total_results",)),
    "Redis": Engine("docs", ("total",)),
    "Haystack": Engine("documents", each=("id",)),
    "Milvus": Engine("0", each=("distance",)),
    "Qdrant": Engine("points", each=("id", "score")),
    "Weaviate": Engine("objects", each=("uuid", "properties")),
}
_CLIENT_BODIES = {"body": "hits.hits", "raw_response": "response.docs", "json": "root"}
"""Attributes that hold a response's mapping in the clients elasticsearch, pysolr and pyvespa → where its results are."""

_CONNECTION = "Mend the connection, or set `skip_unavailable` to false so that the search itself fails."
_NODE = "Give the search more time (`timeout`), or mend the node."
_REDIS_TIME = "Give the search more time: `.timeout(…)` on the query, or `search-timeout`."
_SIGNS_OF_A_PART = {
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
    "warning": _REDIS_TIME,
    "warnings": _REDIS_TIME,
}
"""A path of a response that is not empty where results are missing (a coverage: below 100) → what to do."""


def find_results(answer: Any) -> Sequence[Any] | None:
    """Return the results, best first, in an engine's response; None for any other answer. Raises RefusedError for a part of them."""
    if type(answer) in {list, tuple}:
        return None
    body, wanted = _body_in_client(answer)
    for engine in _ENGINES.values():
        items = _items(body, engine)
        if items is not None:
            _require_all(body)
            return items
    if wanted:
        raise RefusedError(f"It is a response without `{wanted}`.")
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


def _items(response: Any, engine: Engine) -> Sequence[Any] | None:
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
    columns = {name: _at(response, path) for name, path in engine.columns.items()}
    whole = {
        name: column for name, column in columns.items() if column is not None and len(column) == len(items)
    }
    return [dict(zip(whole, row, strict=True)) for row in zip(*whole.values(), strict=True)]


def _require_all(response: Any) -> None:
    """Raise RefusedError for a response that does not hold all results."""
    for path, cure in _SIGNS_OF_A_PART.items():
        value = _at(response, path)
        if value is not None and (value < 100 if path == "@search.coverage" else value):
            shown = printable(str(value))[:60]
            raise RefusedError(f"`{path.replace('/', '.')}` is {shown}: it is a part of the results. {cure}")
    # A shard that is not allocated counts as neither successful nor failed.
    shards, answering = _at(response, "_shards/total"), _at(response, "_shards/successful")
    if isinstance(shards, int) and isinstance(answering, int) and answering < shards:
        raise RefusedError(
            f"{answering} of {shards} `_shards` answered: it is a part of the results. Mend the index."
        )


def _at(value: Any, path: str) -> Any:
    """Return what a path leads to; None where it leads nowhere."""
    for name in path.split("/"):
        if isinstance(value, (list, tuple)):
            value = value[0] if name == "0" and len(value) == 1 else None
        else:
            value = value_of(value, name)
    return value
