"""Responses of search engines, in the shapes in which their clients give them: read, or refused with the line that helps."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

import pytest

from pytest_irmetrics.retrieval import RetrievalOptions, batched, retrieve
from tests.unit.retrieval.fakes import Document, Response
from tests.unit.retrieval.helpers import QUERIES, ids


class Hits(list):
    """As pymilvus' SearchResult and HybridHits."""


class PineconeHit:
    """As pinecone's: its keys are those of the wire, and `id` is a property."""

    def __init__(self, doc):
        self.id_ = doc

    def keys(self):
        return ["id_", "score_"]

    def __getitem__(self, key):
        return getattr(self, key)

    @property
    def id(self):
        return self.id_


class Relation:
    """As DuckDB's relations, whose every attribute may be a column."""

    columns = ["id"]  # noqa: RUF012 - as a relation has it

    def fetchall(self):
        return [("a",)]

    def iter_rows(self):
        raise AssertionError

    def __getitem__(self, name):
        return self


def chroma(*columns, **more):
    distances = [[number / 10 for number, _ in enumerate(column)] for column in columns]
    return {
        "ids": [list(column) for column in columns],
        "embeddings": None,
        "documents": None,
        "included": ["distances"],
        "metadatas": None,
        "distances": distances,
        **more,
    }


def milvus(*columns):
    return Hits(
        Hits({"id": doc, "distance": 0.5 + number, "entity": {}} for number, doc in enumerate(column))
        for column in columns
    )


def solr(*documents, **header):
    return {
        "responseHeader": {"status": 0, "QTime": 1, **header},
        "response": {"numFound": 9, "start": 0, "docs": [{"id": doc} for doc in documents]},
    }


def vespa(*documents, degraded=None, **more):
    coverage = {"coverage": 100, "documents": 9, "full": True, "nodes": 1}
    root = {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 9}, "coverage": coverage, **more}
    if degraded:
        root["coverage"] = {**coverage, "coverage": 50, "full": False, "degraded": degraded}
    if documents:
        root["children"] = [{"id": doc, "relevance": 0.1, "fields": {}} for doc in documents]
    return {"root": root}


def azure(*documents, **more):
    return {
        "@odata.context": "https://x/indexes('docs')/$metadata#docs(*)",
        "value": [{"@search.score": 1.5, "id": doc} for doc in documents],
        **more,
    }


def redis3(*documents, warning=()):
    results = [{"id": doc, "extra_attributes": {}, "values": []} for doc in documents]
    return {"attributes": [], "warning": list(warning), "total_results": 9, "results": results}


def matches(*documents):
    return [{"id": doc, "score": 0.1 * number, "values": []} for number, doc in enumerate(documents)]


def objects(*uuids):
    return [
        Document(uuid=uuid, properties={"title": "T"}, metadata=Document(distance=0.1), references=None)
        for uuid in uuids
    ]


B, A = UUID(int=2), UUID(int=1)
PART = "it is a part of the results."


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (chroma(["b", "a"]), ["b", "a"]),
        (chroma([]), []),
        (chroma(["b", "a"], documents=[["one text"]]), ["b", "a"]),
        (Hits(), []),
        (milvus(["b", "a"]), ["b", "a"]),
        (milvus([7, 3]), ["7", "3"]),
        (milvus([]), []),
        (milvus(["b", "a"])[0], ["b", "a"]),
        (solr("b", "a"), ["b", "a"]),
        (solr(), []),
        (solr("a", partialResults=False), ["a"]),
        (Document(raw_response=solr("b", "a"), docs=[], hits=9), ["b", "a"]),
        (vespa("id:shop:doc::b", "id:shop:doc::a"), ["id:shop:doc::b", "id:shop:doc::a"]),
        (vespa(), []),
        (vespa("a", degraded={"match-phase": True, "timeout": False}), ["a"]),
        (Document(json=vespa("b", "a"), hits=[], status_code=200), ["b", "a"]),
        (azure("b", "a"), ["b", "a"]),
        (azure("a", **{"@search.coverage": 100}), ["a"]),
        (iter(azure("b", "a")["value"]), ["b", "a"]),
        ({"matches": matches("b", "a"), "namespace": "", "usage": {"readUnits": 5}}, ["b", "a"]),
        (Document(matches=[Document(id="b"), Document(id="a")], namespace="x"), ["b", "a"]),
        (Document(matches=[], namespace=""), []),
        ({"result": {"hits": [{"_id": "b", "_score": 1}]}, "usage": {}}, ["b"]),
        (Document(result=Document(hits=[Document(id="b")]), usage=Document()), ["b"]),
        (Document(result=Document(hits=[PineconeHit("b")]), usage=Document()), ["b"]),
        (Document(points=[Document(id=7, score=0.1), Document(id=3, score=0.9)]), ["7", "3"]),
        (Document(total=2, docs=[Document(id="doc:b"), Document(id="doc:a")]), ["doc:b", "doc:a"]),
        (redis3("doc:b", "doc:a"), ["doc:b", "doc:a"]),
        (Document(objects=objects(B, A), query_profile=None), [str(B), str(A)]),
        (Document(objects=[]), []),
        (objects(B, A), [str(B), str(A)]),
    ],
)
def test_a_response_is_read_as_it_is(answer, expected):
    assert ids(answer) == expected


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (chroma(["a"], ["b"]), 'It has one list for each of 2 queries: return answer["ids"][0]'),
        (
            {"ids": ["a", "b"], "included": ["documents"], "documents": ["A", "B"]},
            "It is what Chroma's `get` returns, in no order of relevance: ask with `query`.",
        ),
        (
            milvus(["a"], ["b"]),
            "It has one list for each of 2 queries: return answer[0] for the first of them",
        ),
        (solr("a", partialResults=True), f"`partialResults` is true: {PART}"),
        (Document(raw_response=solr("a", partialResults=True)), f"`partialResults` is true: {PART}"),
        (Document(raw_response={"grouped": {}}, docs=()), "It is a response without `response.docs`."),
        (vespa("a", degraded={"timeout": True}), f"`coverage.degraded` names timeout: {PART}"),
        (Document(json=vespa("a", degraded={"adaptive-timeout": True})), "names adaptive-timeout"),
        (Document(json={"error": "x"}), "It is a response without `root`."),
        (vespa(errors=[{"code": 12, "summary": "Timed out"}]), f"`root.errors` is not empty: {PART}"),
        (vespa("group:root:0"), "Its hits are in groups"),
        (azure("a", **{"@search.coverage": 80.0}), f"`@search.coverage` is below 100: {PART}"),
        (azure("a", **{"@search.semanticPartialResponseReason": "transient"}), "not all were reranked"),
        (Document(total=2, docs=[Document(id="a")], warnings=["Timeout"]), f"Redis warns: {PART}"),
        (redis3("a", warning=["Timeout limit was reached"]), f"Redis warns: {PART}"),
        (Relation(), "Its rows have not been fetched: return its .fetchall()."),
        (Response({"error": {}}), "It is a response without `hits.hits`."),
        # What looks alike and is not.
        ({"matches": 1.0, "value": "x"}, "It is not a mapping of id to score"),
        ({"value": [{"id": "a"}]}, 'Return answer["value"].'),
        ({"value": [{"_id": "a"}]}, 'Return answer["value"].'),
        ({"a": {"b": {"c": [{"id": "a"}]}}}, 'Return answer["a"]["b"]["c"].'),
        ({"result": {"hits": [{"id": "a"}]}}, 'Return answer["result"]["hits"].'),
        ({"root": {"name": "a"}}, "It is not a mapping of id to score"),
        ({"ids": ["a"], "documents": ["text"]}, "It is not a mapping of id to score"),
        ({"matches": [{"id": "a"}]}, 'Return answer["matches"].'),
        (Document(points=[Document(id=1)]), "It cannot be gone through."),
        (Document(objects=[Document(uuid=A)]), "It cannot be gone through. Return answer.objects."),
        ([Document(uuid=A)], "No id can be read from it."),
    ],
)
def test_another_response_is_refused_with_the_line_that_helps(answer, words):
    said = ids(answer)
    assert isinstance(said, str), said
    assert words in said
    assert said.isprintable()


def test_documents_named_like_the_parts_of_a_response_are_ids():
    assert ids({"ids": 2.0, "matches": 1.0, "value": 0.5}) == ["ids", "matches", "value"]
    assert ids({"root": 2, "response": 1}) == ["root", "response"]


def test_chromas_texts_and_metadata_reach_titles_and_doc_id():
    answer = chroma(
        ["a#1", "b#1"], documents=[["text", "more"]], metadatas=[[{"title": "A", "doc": "a"}, {"doc": "b"}]]
    )
    assert ids(answer, doc_id=lambda item: item["metadata"]["doc"]) == ["a", "b"]
    titles = {}
    assert ids(answer, titles=titles) == ["a#1", "b#1"]
    assert titles == {"a#1": "A"}
    assert ids(answer, doc_id=lambda item: item["text"]) == ["text", "more"]


@pytest.mark.parametrize("holder", ["properties", "entity", "fields"])
def test_titles_are_found_where_engines_keep_a_documents_fields(holder):
    titles = {}
    ids([{"id": "a", holder: {"title": "A"}}], titles=titles)
    assert titles == {"a": "A"}


def test_several_queries_in_one_call():
    def answers(answer):
        retrieved = retrieve(QUERIES[:2], batched(lambda _queries: answer), RetrievalOptions())
        return retrieved.errors.get("q0") or [list(retrieved.run[query]) for query in ("q0", "q1")]

    assert answers(milvus(["a", "b"], ["c"])) == [["a", "b"], ["c"]]
    assert answers([chroma(["a", "b"]), chroma(["c"])]) == [["a", "b"], ["c"]]
    assert answers(chroma(["a", "b"], ["c"])["ids"]) == [["a", "b"], ["c"]]
    assert 'of Chroma answer["ids"]' in answers(chroma(["a", "b"], ["c"]))


def test_one_query_in_a_call_for_several():
    retrieved = retrieve(QUERIES[:1], batched(lambda _queries: milvus(["a", "b"])), RetrievalOptions())
    assert list(retrieved.run["q0"]) == ["a", "b"]


def test_more_than_k_are_cut():
    documents = [f"d{number}" for number in range(99)]
    answers = [chroma(documents), milvus(documents), solr(*documents), vespa(*documents), redis3(*documents)]
    assert [ids(answer, depth=2) for answer in answers] == [["d0", "d1"]] * 5


class HostileMapping(Mapping):
    def __getitem__(self, key):
        raise ValueError(key)

    def __iter__(self):
        return iter(["root"])

    def __len__(self):
        return 1


def test_a_mapping_that_raises_is_explained():
    assert "ValueError" in ids(HostileMapping())
