"""The pages of engines that no test can run: the engine's own client is fed a documented answer, and the page reads it.

What the client asked is looked at as well: the depth, the filter from the query's params, the order.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import pytest

from tests.integration.engines.pages import PAGES
from tests.integration.engines.stand_ins import Http, Mongo, Redis, Weaviate
from tests.integration.packages import need, need_there
from tests.retrievers.ways import ask, outcome

if TYPE_CHECKING:
    from collections.abc import Callable

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
    assert asked["sort"] == "score desc, id asc"


def asked_vespa(asked):
    assert asked["lang"] == "no"
    assert asked["hits"] in ("12", 12)
    assert asked["query"] == "my password"


def asked_azure(asked):
    assert asked["filter"] == "lang eq 'no'"
    assert asked["top"] == 12
    assert asked["search"] == "my password"
    assert asked["orderby"] == "search.score() desc,id"


def asked_pinecone(asked):
    assert asked["filter"] == {"lang": {"$eq": "no"}}
    assert asked["topK"] == 12
    assert len(asked["vector"]) == 768


def asked_pinecone_search(asked):
    assert asked["query"] == {"top_k": 12, "inputs": {"text": "my password"}}


def asked_redis(asked):
    assert asked[2] == "@lang:{no} (my|password)"
    assert asked[asked.index("LIMIT") :][:3] == ["LIMIT", "0", "12"]


def asked_mongo(asked):
    assert asked["filter"] == {"$text": {"$search": "my password"}, "lang": "no"}
    assert asked["limit"] == 12
    assert list(asked["sort"]) == ["score", "_id"]


def asked_mongo_vectors(asked):
    near = asked["pipeline"][0]["$vectorSearch"]
    assert near["filter"] == {"lang": "no"}
    assert near["limit"] == 12
    assert len(near["queryVector"]) == 768


def asked_weaviate(asked):
    assert asked.limit == 12
    assert asked.filters.value_text == "no"


class Case(NamedTuple):
    page: str
    stand_in: type
    answer: Any
    asked: Callable[[Any], None]
    needs: str  # a module
    block: str = "conftest.py"


class Partial(NamedTuple):
    """An answer that says that it is only a part of the results."""

    case: Case
    answer: Any
    said: str


CASES = [
    Case("solr", Http, solr(), asked_solr, "pysolr"),
    Case("vespa", Http, vespa(), asked_vespa, "vespa"),
    Case("azure-ai-search", Http, azure(), asked_azure, "azure"),
    Case("pinecone", Http, pinecone(), asked_pinecone, "pinecone"),
    Case(
        "pinecone",
        Http,
        pinecone_search(),
        asked_pinecone_search,
        "pinecone",
        "conftest.py, integrated embedding",
    ),
    Case("redis", Redis, [2, *[f"doc:{doc}" for doc in FOUND]], asked_redis, "redis"),
    Case("redis", Redis, redis3(), asked_redis, "redis"),
    Case("mongodb", Mongo, [{"_id": doc, "score": 0.5} for doc in FOUND], asked_mongo, "pymongo"),
    Case(
        "mongodb",
        Mongo,
        [{"_id": doc} for doc in FOUND],
        asked_mongo_vectors,
        "pymongo",
        "conftest.py, vectors",
    ),
    Case(
        "weaviate",
        Weaviate,
        [(uuid, {"doc": doc, "title": "T"}) for uuid, doc in zip(UUIDS, FOUND, strict=True)],
        asked_weaviate,
        "weaviate",
    ),
]
PARTIAL = [
    Partial(CASES[0], solr(partialResults=True), "`responseHeader.partialResults` is True"),
    Partial(
        CASES[1], vespa(degraded={"timeout": True, "match-phase": False}), "`root.coverage.degraded.timeout`"
    ),
    Partial(CASES[6], redis3(warning=["Timeout limit was reached"]), "`warning` is"),
]


def start(engine, case, stand_in):
    """The page's project, which asks one query of the stand-in."""
    project = engine(case.page)
    environment = {"SOLR": "/solr/docs", "VESPA": "", "AZURE_SEARCH": "", "PINECONE": ""}
    url = f"http://127.0.0.1:{stand_in.port}"
    project.environment.update({f"{name}_URL": url + path for name, path in environment.items()})
    protocol = "?protocol=2" if isinstance(case.answer, list) else ""
    project.environment["REDIS_URL"] = f"redis://127.0.0.1:{stand_in.port}{protocol}"
    project.environment["MONGODB_URL"] = f"mongodb://127.0.0.1:{stand_in.port}/?directConnection=true"
    project.environment["PINECONE_HOST"] = url
    project.environment |= {"AZURE_SEARCH_KEY": "x", "PINECONE_API_KEY": "x"}
    if case.page == "weaviate":
        ports = f"port={stand_in.http.port}, grpc_port={stand_in.port}"
        local = f'connect_to_local("127.0.0.1", {ports}, skip_init_checks=True)'
        project.change("conftest.py", "connect_to_local()", local)
    project.write("conftest.py", project.code[case.block])
    params = {} if "integrated" in case.block else {"params": {"lang": "no"}}
    password = {"id": "password", "query": "my password", "relevant": "doc-12", **params}
    project.write("golden/rules.yaml", json.dumps({"queries": [password]}))
    return project


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.page}-{case.asked.__name__}")
def test_the_client_is_asked_for_k_and_its_answer_is_read(engine, case):
    need_there(case.needs)
    with case.stand_in(case.answer) as stand_in:
        project = start(engine, case, stand_in)
        status, output = project.gate("--ir-baseline-update", "-o", "ir_depth=12")
        assert status == 0, output
        assert project.ranking("password") == FOUND
        asked = stand_in.asked[-1]
        case.asked(asked[1] if case.stand_in is Http else asked)


@pytest.mark.parametrize("partial", PARTIAL, ids=lambda partial: partial.case.page)
def test_a_part_of_the_results_fails_the_query(engine, partial):
    case = partial.case
    need_there(case.needs)
    with case.stand_in(partial.answer) as stand_in:
        project = start(engine, case, stand_in)
        status, output = project.gate()
        assert status == 1, output
        assert partial.said in " ".join(output.split())


def test_a_binary_uuid_of_mongodb_is_refused():
    bson = need("bson")
    assert "which is no text, integer or UUID" in outcome(
        ask(lambda _query: [{"_id": bson.Binary.from_uuid(UUID(int=5))}])
    )


@pytest.mark.parametrize("page", sorted({case.page for case in CASES}))
def test_each_page_says_that_no_engine_runs_in_its_test(page):
    text = " ".join((PAGES / f"{page}.md").read_text(encoding="utf-8").split())
    assert "Its client is fed " in text
    assert "Needs `pip install " in text
