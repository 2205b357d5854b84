"""Engines that no test can run: the engine's own client is fed a documented answer, which is read whole, as docs/engines.md has it.

What the client asked is looked at as well: the depth, and the filter from the query's params.
"""

from __future__ import annotations

import gc
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import pytest

from pytest_irmetrics import GoldenSet, evaluate
from tests.integration.engines.stand_ins import Http, Mongo, Redis, Weaviate
from tests.integration.packages import need
from tests.retrievers.ways import ask, outcome

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(autouse=True)
def _clients_are_gone():
    """Clients that nobody closes warn of it when they go: let them go here."""
    yield
    gc.collect()


FOUND = ["doc-9", "doc-12"]
"""What each stand-in finds, best first."""
UUIDS = ["00000000-0000-0000-0000-000000000009", "00000000-0000-0000-0000-000000000012"]


def solr(**header):
    return {
        "responseHeader": {"status": 0, "QTime": 2, **header},
        "response": {
            "numFound": 2,
            "start": 0,
            "numFoundExact": True,
            "docs": [{"id": doc, "title": "T"} for doc in FOUND],
        },
    }


def vespa(**coverage):
    root = {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 2}}
    root["coverage"] = {"coverage": 100, "documents": 9, "full": True, "nodes": 1, "results": 1, **coverage}
    root["children"] = [
        {"id": f"id:shop:docs::{doc}", "relevance": 0.5, "source": "docs", "fields": {"title": "T"}}
        for doc in FOUND
    ]
    return {"root": root}


def azure():
    documents = [{"@search.score": 1.5, "id": doc, "title": "T"} for doc in FOUND]
    return {"@odata.context": "https://x/indexes('docs')/$metadata#docs(*)", "value": documents}


def pinecone():
    matches = [{"id": doc, "score": 0.5, "values": [], "metadata": {"title": "T"}} for doc in FOUND]
    return {"matches": matches, "namespace": "", "usage": {"readUnits": 6}}


def pinecone_search():
    hits = [{"_id": doc, "_score": 0.5, "fields": {"title": "T"}} for doc in FOUND]
    return {"result": {"hits": hits}, "usage": {"read_units": 6, "embed_total_tokens": 4}}


def redis3(**more):
    results = [{"id": f"doc:{doc}", "values": []} for doc in FOUND]
    return {
        "attributes": [],
        "format": "STRING",
        "results": results,
        "total_results": 2,
        "warning": [],
        **more,
    }


def asked_solr(asked):
    assert asked["fq"] == "lang:no"
    assert asked["rows"] == "12"
    assert asked["q"] == "my password"


def asked_vespa(asked):
    assert asked["lang"] == "no"
    assert asked["hits"] in ("12", 12)
    assert asked["query"] == "my password"


def asked_azure(asked):
    assert asked["filter"] == "lang eq 'no'"
    assert asked["top"] == 12
    assert asked["search"] == "my password"


def asked_pinecone(asked):
    assert asked["filter"] == {"lang": {"$eq": "no"}}
    assert asked["topK"] == 12


def asked_pinecone_search(asked):
    assert asked["query"] == {"top_k": 12, "inputs": {"text": "my password"}}


def asked_redis(asked):
    assert asked[2] == "@lang:{no} (my|password)"
    assert asked[asked.index("LIMIT") :][:3] == ["LIMIT", "0", "12"]


def asked_mongo(asked):
    assert asked["filter"] == {"$text": {"$search": "my password"}, "lang": "no"}
    assert asked["limit"] == 12


def asked_mongo_vectors(asked):
    near = asked["pipeline"][0]["$vectorSearch"]
    assert near["filter"] == {"lang": "no"}
    assert near["limit"] == 12


def asked_weaviate(asked):
    assert asked.limit == 12
    assert asked.filters.value_text == "no"


# Each makes a retriever, and says how an id is told, of a stand-in's port.


def solr_retriever(port):
    client = need("pysolr").Solr(f"http://127.0.0.1:{port}/solr/docs")
    return lambda query, k, lang: client.search(query, rows=k, fq=f"lang:{lang}")


def vespa_retriever(port):
    app = need("vespa.application").Vespa(url=f"http://127.0.0.1:{port}")
    yql = "select title from docs where userQuery() and lang contains @lang"
    return lambda query, k, lang: app.query(yql=yql, query=query, lang=lang, hits=k)


def azure_retriever(port):
    key = need("azure.core.credentials").AzureKeyCredential("x")
    client = need("azure.search.documents").SearchClient(f"http://127.0.0.1:{port}", "docs", key)
    return lambda query, k, lang: client.search(query, top=k, filter=f"lang eq '{lang}'")


def pinecone_retriever(port):
    index = need("pinecone").Pinecone(api_key="x").Index(host=f"http://127.0.0.1:{port}")
    return lambda _query, k, lang: index.query(vector=[0.5], top_k=k, filter={"lang": {"$eq": lang}})


def pinecone_search_retriever(port):
    index = need("pinecone").Pinecone(api_key="x").Index(host=f"http://127.0.0.1:{port}")
    return lambda query, k, lang: index.search(namespace=lang, top_k=k, inputs={"text": query})


def redis_retriever(port, protocol=2):
    client = need("redis").Redis.from_url(f"redis://127.0.0.1:{port}?protocol={protocol}")
    asked = need("redis.commands.search.query").Query

    def search(query, k, lang):
        words = "|".join(query.split())
        return client.ft("docs").search(asked(f"@lang:{{{lang}}} ({words})").no_content().paging(0, k))

    return search


def mongo_documents(port):
    url = f"mongodb://127.0.0.1:{port}/?directConnection=true"
    return need("pymongo").MongoClient(url)["shop"]["docs"]


def mongo_retriever(port):
    docs = mongo_documents(port)
    return lambda query, k, lang: docs.find({"$text": {"$search": query}, "lang": lang}).limit(k)


def mongo_vectors_retriever(port):
    docs = mongo_documents(port)

    def search(_query, k, lang):
        near = {
            "index": "vectors",
            "path": "embedding",
            "queryVector": [0.5],
            "limit": k,
            "numCandidates": 20 * k,
        }
        return docs.aggregate([{"$vectorSearch": {**near, "filter": {"lang": lang}}}])

    return search


def weaviate_retriever(port, http):
    weaviate, only = need("weaviate"), need("weaviate.classes.query").Filter.by_property("lang")
    client = weaviate.connect_to_local("127.0.0.1", port=http, grpc_port=port, skip_init_checks=True)
    docs = client.collections.use("Docs")
    return lambda _query, k, lang: docs.query.near_vector([0.5], limit=k, filters=only.equal(lang))


class Case(NamedTuple):
    retriever: Callable[..., Any]
    stand_in: type
    answer: Any
    asked: Callable[[Any], None]
    doc_id: Callable[[Any], str] | None = None


REDIS_KEY = lambda found: (found["id"] if isinstance(found, dict) else found.id).removeprefix("doc:")  # noqa: E731
SOLR = Case(solr_retriever, Http, solr(), asked_solr)
VESPA = Case(vespa_retriever, Http, vespa(), asked_vespa, lambda hit: hit["id"].rpartition("::")[2])
REDIS_3 = Case(partial(redis_retriever, protocol=3), Redis, redis3(), asked_redis, REDIS_KEY)
CASES = [
    SOLR,
    VESPA,
    Case(azure_retriever, Http, azure(), asked_azure),
    Case(pinecone_retriever, Http, pinecone(), asked_pinecone),
    Case(pinecone_search_retriever, Http, pinecone_search(), asked_pinecone_search),
    Case(redis_retriever, Redis, [2, *[f"doc:{doc}" for doc in FOUND]], asked_redis, REDIS_KEY),
    REDIS_3,
    Case(mongo_retriever, Mongo, [{"_id": doc, "score": 0.5} for doc in FOUND], asked_mongo),
    Case(mongo_vectors_retriever, Mongo, [{"_id": doc} for doc in FOUND], asked_mongo_vectors),
    Case(
        weaviate_retriever,
        Weaviate,
        [(uuid, {"doc": doc, "title": "T"}) for uuid, doc in zip(UUIDS, FOUND, strict=True)],
        asked_weaviate,
        lambda found: found.properties["doc"],
    ),
]


def asked_once(case, answer, tmp_path):
    """What one query with params came to, and what the stand-in was asked."""
    path = tmp_path / "golden.yaml"
    path.write_text("queries: [{id: text 0, query: my password, relevant: doc-12, params: {lang: 'no'}}]")
    with case.stand_in(answer) as stand_in:
        ports = [stand_in.port, stand_in.http.port] if case.stand_in is Weaviate else [stand_in.port]
        retriever = case.retriever(*ports)
        evaluation = evaluate(GoldenSet.load(path), retriever, ["mrr"], depth=12, doc_id=case.doc_id)
        return outcome(evaluation), stand_in.asked[-1]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.asked.__name__)
def test_the_client_is_asked_for_k_and_its_answer_is_read(case, tmp_path):
    came_back, asked = asked_once(case, case.answer, tmp_path)
    assert came_back == FOUND
    case.asked(asked[1] if case.stand_in is Http else asked)


@pytest.mark.parametrize(
    ("case", "answer", "said"),
    [
        (SOLR, solr(partialResults=True), "`responseHeader.partialResults` is True"),
        (VESPA, vespa(degraded={"timeout": True, "match-phase": False}), "`root.coverage.degraded.timeout`"),
        (REDIS_3, redis3(warning=["Timeout limit was reached"]), "`warning` is"),
    ],
    ids=["solr", "vespa", "redis"],
)
def test_a_part_of_the_results_fails_the_query(case, answer, said, tmp_path):
    assert said in asked_once(case, answer, tmp_path)[0]


def test_a_binary_uuid_of_mongodb_is_refused():
    bson = need("bson")
    assert "which is no text, integer or UUID" in outcome(
        ask(lambda _query: [{"_id": bson.Binary.from_uuid(UUID(int=5))}])
    )
