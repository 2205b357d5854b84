"""The example project's search, wrapped as each framework, data frame and engine's client would return it."""

# ruff: noqa: ARG002 - a framework decides what its retrievers take
from __future__ import annotations

import asyncio
import importlib.util
import sqlite3
import threading
from functools import cache, partial
from pathlib import Path
from typing import Any

from pytest_irmetrics import GoldenSet
from tests.integration.packages import need

EXAMPLE = Path(__file__).parents[2] / "example_project"
DEPTH = 10


@cache
def search_module():
    spec = importlib.util.spec_from_file_location("example_search", EXAMPLE / "search.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def engine():
    """The engine, for use in any thread."""
    engine = search_module().from_environment()
    index = sqlite3.connect(":memory:", check_same_thread=False)
    engine.index.commit()
    engine.index.backup(index)
    engine.close()
    engine.index = index
    lock, search = threading.Lock(), engine.search

    def search_alone(*args, **params):
        with lock:
            return search(*args, **params)

    engine.search = search_alone
    return engine


def golden():
    return GoldenSet.load(EXAMPLE / "golden" / "rules.yaml")


def langchain(*, own_async=False, wrap=lambda retriever: retriever):
    documents, retrievers = need("langchain_core.documents"), need("langchain_core.retrievers")

    class RuleRetriever(retrievers.BaseRetriever):
        engine: Any
        k: int = DEPTH

        def _get_relevant_documents(self, query, *, run_manager, linter=None):
            codes = self.engine.search(query, self.k, linter=linter)
            return [documents.Document(id=code, page_content=code) for code in codes]

    class AsyncRetriever(RuleRetriever):
        async def _aget_relevant_documents(self, query, *, run_manager, linter=None):
            await asyncio.sleep(0)
            return self._get_relevant_documents(query, run_manager=run_manager, linter=linter)

    return wrap((AsyncRetriever if own_async else RuleRetriever)(engine=engine()))


def langchain_store(*, scores=False):
    """A vector store, whose ids are in the documents' metadata."""
    documents, stores = need("langchain_core.documents"), need("langchain_core.vectorstores")

    class RuleStore(stores.VectorStore):
        @classmethod
        def from_texts(cls, *args, **kwargs):
            raise NotImplementedError

        def similarity_search(self, query, k=4, **kwargs):
            codes = engine().search(query, k, **kwargs)
            return [documents.Document(page_content=code, metadata={"_id": code}) for code in codes]

        def similarity_search_with_score(self, query, k=4, **kwargs):
            found = self.similarity_search(query, k, **kwargs)
            return [(document, 1 / rank) for rank, document in enumerate(found, start=1)]

        async def asimilarity_search(self, query, k=4, **kwargs):
            return self.similarity_search(query, k, **kwargs)

    store = RuleStore()
    return store.similarity_search_with_score if scores else store.as_retriever(search_kwargs={"k": DEPTH})


def langchain_lambda():
    search = engine().search
    return need("langchain_core.runnables").RunnableLambda(
        lambda query, linter=None: search(query, DEPTH, linter=linter)
    )


def langchain_chain():
    runnables = need("langchain_core.runnables")
    return langchain(own_async=True) | runnables.RunnableLambda(
        lambda documents: [found.id for found in documents]
    )


def llama_index(*, linter=None, k=DEPTH):
    retrievers, schema = need("llama_index.core.retrievers"), need("llama_index.core.schema")

    class RuleRetriever(retrievers.BaseRetriever):
        similarity_top_k = k

        def _retrieve(self, query_bundle):
            codes = engine().search(query_bundle.query_str, self.similarity_top_k, linter=linter)
            return [schema.NodeWithScore(node=schema.TextNode(id_=code, text=code)) for code in codes]

    return RuleRetriever()


def llama_index_function():
    need("llama_index.core.retrievers")
    return lambda query, k, linter=None: llama_index(linter=linter, k=k).retrieve(query)


def haystack(*, own_async=False):
    framework = need("haystack")

    def documents(query, top_k, linter):
        codes = engine().search(query, top_k, linter=linter)
        return {"documents": [framework.Document(id=code, content=code) for code in codes]}

    @framework.component
    class RuleRetriever:
        @framework.component.output_types(documents=list)
        def run(self, query: str, top_k: int | None = None, linter: str | None = None):
            return documents(query, top_k, linter)

    @framework.component
    class AsyncRetriever:
        @framework.component.output_types(documents=list)
        def run(self, query: str, top_k: int | None = None, linter: str | None = None):
            return documents(query, top_k, linter)

        @framework.component.output_types(documents=list)
        async def run_async(self, query: str, top_k: int | None = None, linter: str | None = None):
            await asyncio.sleep(0)
            return documents(query, top_k, linter)

    return AsyncRetriever() if own_async else RuleRetriever()


def haystack_pipeline():
    pipeline = need("haystack").Pipeline()
    pipeline.add_component("retriever", haystack())
    return pipeline


def haystack_pipeline_function():
    pipeline = haystack_pipeline()
    return lambda query, k, **more: pipeline.run({"retriever": {"query": query, "top_k": k, **more}})[
        "retriever"
    ]


def frames(package, shape=lambda frame: frame):
    frame = need(package).DataFrame
    return lambda query, k, **params: shape(frame({"id": engine().search(query, k, **params)}))


def response_body(codes, **more):
    hits = [
        {"_index": "rules", "_id": code, "_score": 1.0, "_source": {"id": f"row-{code}"}} for code in codes
    ]
    shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
    found = {"total": {"value": len(hits), "relation": "eq"}, "max_score": 1.0, "hits": hits}
    return {"took": 1, "timed_out": False, "_shards": shards, "hits": found, **more}


def response(package, part=lambda response: response, **more):
    """What a client returns: its wrapper of the body, its DSL's response, or the body itself."""
    made = {
        "elasticsearch": lambda body: need("elastic_transport").ObjectApiResponse(body=body, meta=None),
        "elasticsearch.dsl": lambda body: need("elasticsearch.dsl.response").Response(
            need("elasticsearch.dsl").Search(), body
        ),
        "opensearchpy": lambda body: body,
        "opensearchpy.dsl": lambda body: need("opensearchpy.helpers.response").Response(
            need("opensearchpy").Search(), body
        ),
    }[package]
    need(package.removesuffix(".dsl"))
    return lambda query, k, **params: part(made(response_body(engine().search(query, k, **params), **more)))


def asynchronous(make):
    """The same retriever as an async function."""
    search = make()

    async def asearch(query, k, **params):
        await asyncio.sleep(0)
        return search(query, k, **params)

    return asearch


WRAPPERS = {
    "langchain": langchain,
    "langchain-async": partial(langchain, own_async=True),
    "langchain-bound": partial(langchain, wrap=lambda retriever: retriever.with_config(tags=["a"])),
    "langchain-retry": partial(langchain, own_async=True, wrap=lambda retriever: retriever.with_retry()),
    "langchain-store": langchain_store,
    "langchain-store-scores": partial(langchain_store, scores=True),
    "langchain-lambda": langchain_lambda,
    "langchain-chain": langchain_chain,
    "llama-index-function": llama_index_function,
    "haystack": haystack,
    "haystack-async": partial(haystack, own_async=True),
    "haystack-pipeline-function": haystack_pipeline_function,
    "pandas": partial(frames, "pandas"),
    "pandas-_id": partial(frames, "pandas", lambda frame: frame.rename(columns={"id": "_id"})),
    "pandas-series": partial(frames, "pandas", lambda frame: frame["id"]),
    "pandas-rows": partial(frames, "pandas", lambda frame: frame.itertuples()),
    "pandas-dicts": partial(frames, "pandas", lambda frame: frame.to_dict("records")),
    "pandas-async": partial(asynchronous, partial(frames, "pandas")),
    "polars": partial(frames, "polars"),
    "polars-series": partial(frames, "polars", lambda frame: frame["id"]),
    "polars-dicts": partial(frames, "polars", lambda frame: frame.rows(named=True)),
    "elasticsearch": partial(response, "elasticsearch"),
    "elasticsearch-hits": partial(response, "elasticsearch", lambda response: response["hits"]["hits"]),
    "elasticsearch-async": partial(asynchronous, partial(response, "elasticsearch")),
    "elasticsearch-dsl": partial(response, "elasticsearch.dsl"),
    "elasticsearch-dsl-hits": partial(response, "elasticsearch.dsl", lambda response: response.hits),
    "opensearch": partial(response, "opensearchpy"),
    "opensearch-dsl": partial(response, "opensearchpy.dsl"),
}
"""Name → a function that makes the retriever, or skips the test where the package is not here."""
