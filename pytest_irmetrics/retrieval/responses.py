"""Find the list of results in a search engine's response, and see where it is only a part of the results.

No client is imported. A response is recognised by its keys or attributes, where these can mean nothing else:

| engine | results are in | beside | refused for |
|---|---|---|---|
| Elasticsearch, OpenSearch | `hits.hits` | | `timed_out`, `_shards.failed`, `_clusters` |
| Solr | `response.docs` | | `responseHeader.partialResults` |
| Vespa | `root.children` | `root.coverage` and its like | `root.errors`, `coverage.degraded`, groups |
| Azure AI Search | `value` | `@odata.…`, `@search.…` | `@search.coverage`, a semantic part |
| Chroma | `ids[0]` | | `get`, several queries |
| Pinecone | `matches`, `result.hits` | `namespace`, `usage` | |
| Redis | `results`, `docs` | `total_results`, `total` | `warning`, `warnings` |
| Haystack | `documents` | no `ids` | |
| Milvus | a list of its own, `[0]` | `distance` in each hit | several queries |
| Qdrant | `points` | `id`, `score` of each | |
| Weaviate | `objects` | `uuid`, `properties` of each | |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from pytest_irmetrics.base.wording import printable


class Found(NamedTuple):
    """The results in a response, best first; or why they are not to be read."""

    items: Sequence[Any] = ()
    refused: str = ""


def find_results(answer: Any) -> Found | None:
    """Return the results in an answer that is an engine's response; None for any other answer."""
    if isinstance(answer, (list, tuple)):
        return _of_milvus(answer)
    if isinstance(answer, Mapping):
        return _read(answer, _OF_MAPPINGS)
    client = _body_in_client(answer)
    if client is None:
        return _read(answer, _OF_OBJECTS)
    body, wanted = client
    return _read(body, _OF_MAPPINGS) or Found(refused=f"It is a response without {wanted}.")


def _read(response: Any, readers: Sequence[Callable[[Any], Found | None]]) -> Found | None:
    """Return what the first of some readers finds in a response; None where none of them knows it."""
    return next((found for read in readers if (found := read(response)) is not None), None)


_CLIENT_BODIES = {"body": "`hits.hits`", "raw_response": "`response.docs`", "json": "`root`"}
"""Attributes that hold the mapping of a response in the clients elasticsearch, pysolr and pyvespa → where its results are."""


def _body_in_client(answer: Any) -> tuple[Mapping[Any, Any], str] | None:
    """Return the mapping that a client's response holds, and where its results are to be; None for any other answer."""
    for name, wanted in _CLIENT_BODIES.items():
        body = getattr(answer, name, None)
        if isinstance(body, Mapping):
            return body, wanted
    if hasattr(type(answer), "hits") and hasattr(
        type(answer), "to_dict"
    ):  # elasticsearch.dsl, opensearch-dsl
        body = answer.to_dict()
        if isinstance(body, Mapping):
            return body, _CLIENT_BODIES["body"]
    return None


_PART = "it is a part of the results"
_REDIS_PART = (
    f"Redis warns: {_PART}. Give the search more time: `.timeout(…)` on the query, or `search-timeout`."
)


# Responses that are mappings


def _of_elasticsearch(body: Mapping[Any, Any]) -> Found | None:
    """Read a response of Elasticsearch or OpenSearch to one search."""
    hits = body.get("hits")
    if not isinstance(hits, Mapping) or not isinstance(hits.get("hits"), (list, tuple)):
        return None
    if body.get("timed_out"):
        return Found(refused=f"`timed_out` is true: {_PART}. Give the search more time.")
    shards = body.get("_shards")
    failed = shards.get("failed") if isinstance(shards, Mapping) else 0
    if failed:
        return Found(
            refused=f"{printable(str(failed))} {'shard' if failed == 1 else 'shards'} failed: {_PART}. Mend the index."
        )
    # Of a search over several clusters; `successful` may count the partial ones.
    clusters = body.get("_clusters")
    if isinstance(clusters, Mapping) and any(map(clusters.get, ("skipped", "partial", "failed"))):
        return Found(
            refused=f"`_clusters` says that not all of them answered in full: {_PART}. Mend the connection, or set "
            "`skip_unavailable` to false so that the search itself fails."
        )
    return Found(hits["hits"])


def _of_solr(body: Mapping[Any, Any]) -> Found | None:
    """Read Solr's response as JSON, which pysolr keeps."""
    response = body.get("response")
    if not isinstance(response, Mapping) or not isinstance(response.get("docs"), (list, tuple)):
        return None
    header = body.get("responseHeader")
    if isinstance(header, Mapping) and header.get("partialResults"):
        return Found(
            refused=f"`partialResults` is true: {_PART}. Give the search more time, or mend the shard that is down."
        )
    return Found(response["docs"])


def _of_vespa(body: Mapping[Any, Any]) -> Found | None:
    """Read Vespa's response as JSON, which pyvespa keeps."""
    root = body.get("root")
    if not isinstance(root, Mapping) or not {"children", "coverage", "errors", "fields"} & set(root):
        return None
    if root.get("errors"):
        return Found(refused=f"`root.errors` is not empty: {_PART}. Mend what it says.")
    coverage = root.get("coverage")
    degraded = coverage.get("degraded") if isinstance(coverage, Mapping) else None
    if isinstance(degraded, Mapping):
        # `match-phase` is how the rank profile was set up, and no accident.
        why = [name for name, value in degraded.items() if value and name != "match-phase"]
        if why:
            return Found(
                refused=f"`coverage.degraded` names {printable(str(why[0]))}: {_PART}. Give the search more time (`timeout`), "
                "or mend the node."
            )
    hits = root.get("children", ())
    if not isinstance(hits, (list, tuple)):
        return None
    if any(isinstance(hit, Mapping) and str(hit.get("id")).startswith("group:") for hit in hits):
        return Found(refused="Its hits are in groups: return the list of hits of the group that is ranked.")
    return Found(hits)


def _of_azure(body: Mapping[Any, Any]) -> Found | None:
    """Read a response of Azure AI Search as its HTTP interface has it; its client gives an iterator."""
    documents = body.get("value")
    if not isinstance(documents, (list, tuple)) or not any(
        str(key).startswith(("@odata.", "@search.")) for key in body
    ):
        return None
    coverage = body.get("@search.coverage")
    if isinstance(coverage, (int, float)) and coverage < 100:
        return Found(refused=f"`@search.coverage` is below 100: {_PART}. Ask again when all replicas are up.")
    if body.get("@search.semanticPartialResponseReason"):
        return Found(
            refused="`@search.semanticPartialResponseReason` is there: not all were reranked. Set `semanticErrorHandling` to "
            "`fail`, so that the search itself fails."
        )
    return Found(documents)


def _of_chroma(body: Mapping[Any, Any]) -> Found | None:
    """Read what Chroma's `query` returns: columns, with one list for each query."""
    columns = body.get("ids")
    if not isinstance(columns, (list, tuple)):
        return None
    if not columns or not all(isinstance(column, (list, tuple)) for column in columns):
        if "included" not in body:
            return None
        return Found(refused="It is what Chroma's `get` returns, in no order of relevance: ask with `query`.")
    if len(columns) > 1:
        return Found(
            refused=f'It has one list for each of {len(columns)} queries: return answer["ids"][0] for the first of them; or, '
            'with `batched`, answer["ids"].'
        )
    ids = columns[0]

    def column(name: str) -> Sequence[Any]:
        values = body.get(name)
        values = values[0] if isinstance(values, (list, tuple)) and len(values) == 1 else None
        fits = isinstance(values, (list, tuple)) and len(values) == len(ids)
        return values if fits and values is not None else (None,) * len(ids)

    return Found(
        [
            {"id": doc, "text": text, "metadata": metadata}
            for doc, text, metadata in zip(ids, column("documents"), column("metadatas"), strict=True)
        ]
    )


def _of_pinecone(body: Any) -> Found | None:
    """Read what Pinecone's `query` and `search` return, as a mapping or an object."""
    matches = _part(body, "matches")
    if isinstance(matches, (list, tuple)) and _part(body, "namespace") is not None:
        return Found(matches)
    hits = _part(_part(body, "result"), "hits")
    if isinstance(hits, (list, tuple)) and _part(body, "usage") is not None:
        return Found(hits)
    return None


def _of_redis(body: Mapping[Any, Any]) -> Found | None:
    """Read FT.SEARCH's answer as Redis has it in its protocol of version 3."""
    results = body.get("results")
    if not isinstance(results, (list, tuple)) or "total_results" not in body:
        return None
    return Found(refused=_REDIS_PART) if body.get("warning") else Found(results)


def _of_haystack(body: Mapping[Any, Any]) -> Found | None:
    """Read what Haystack's components return; Chroma has texts under `documents`, and ids."""
    documents = body.get("documents")
    return Found(documents) if isinstance(documents, (list, tuple)) and "ids" not in body else None


_OF_MAPPINGS = (
    _of_elasticsearch,
    _of_solr,
    _of_vespa,
    _of_azure,
    _of_chroma,
    _of_pinecone,
    _of_redis,
    _of_haystack,
)


def _part(holder: Any, name: str) -> Any:
    """Return a mapping's value or an object's attribute of this name; None where there is none."""
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


# Responses that are lists or objects


def _of_milvus(answer: Sequence[Any]) -> Found | None:
    """Read pymilvus' own kind of list, which has one list of hits for each query."""
    if type(answer) in {list, tuple} or not answer or not all(map(_is_list_of_hits, answer)):
        return None
    if len(answer) > 1:
        return Found(
            refused=f"It has one list for each of {len(answer)} queries: return answer[0] for the first of them; or, "
            "with `batched`, all of it."
        )
    return Found(answer[0])


def _is_list_of_hits(part: object) -> bool:
    return isinstance(part, list) and all(isinstance(hit, Mapping) and "distance" in hit for hit in part)


def _of_redis_client(answer: Any) -> Found | None:
    """Read the Result that redis' client makes of an answer to FT.SEARCH."""
    documents = getattr(answer, "docs", None)
    if not isinstance(documents, list) or not isinstance(getattr(answer, "total", None), int):
        return None
    return Found(refused=_REDIS_PART) if getattr(answer, "warnings", None) else Found(documents)


def _of_qdrant(answer: Any) -> Found | None:
    """Read the QueryResponse of Qdrant's client."""
    return _list_in(answer, "points", ("id", "score"))


def _of_weaviate(answer: Any) -> Found | None:
    """Read the QueryReturn of Weaviate's client."""
    return _list_in(answer, "objects", ("uuid", "properties"))


def _list_in(answer: Any, name: str, attributes: tuple[str, ...]) -> Found | None:
    """Return the results that are a list in an attribute of this name, each with these attributes."""
    items = getattr(answer, name, None)
    fits = isinstance(items, list) and all(hasattr(item, part) for item in items for part in attributes)
    return Found(items) if fits and items is not None else None


_OF_OBJECTS = (_of_pinecone, _of_redis_client, _of_qdrant, _of_weaviate)


# Where else results may be


def where_results_are(answer: Any) -> str:
    """Return the line that takes the results out of an answer, such as `answer["data"]["docs"]`; "" if none is known."""
    with suppress(Exception):  # attributes of the user's objects may raise anything
        if isinstance(answer, Mapping):
            return next(_paths(answer, "answer", 3), "")
        for name in ("hits", "results", "docs", "documents", "matches", "objects", "items", "nodes", "data"):
            if isinstance(getattr(answer, name, None), (list, tuple)):
                return f"answer.{name}"
        if callable(getattr(type(answer), "fetchall", None)):
            return "answer.fetchall()"
    return ""


def _paths(body: Mapping[Any, Any], path: str, depth: int) -> Iterator[str]:
    """Yield where a mapping has a list of items with ids, those nearest to the top first."""
    inner = []
    for key, value in islice(body.items(), 50):
        here = f'{path}["{printable(str(key))[:40]}"]'
        if isinstance(value, (list, tuple)):
            first = value[0] if value else None
            if isinstance(first, Mapping) and ("id" in first or "_id" in first):
                yield here
        elif isinstance(value, Mapping) and depth > 1:
            inner.append((value, here))
    for value, here in inner:
        yield from _paths(value, here, depth - 1)
