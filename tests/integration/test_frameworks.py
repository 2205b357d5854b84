"""Retrievers of the frameworks themselves: the example project's search, wrapped in each, scores as it does without."""

# ruff: noqa: ARG002 - a framework decides what its retrievers take
from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytest_irmetrics import GoldenSet, Run, evaluate
from pytest_irmetrics.retrieval import (
    RetrievalError,
    RetrievalOptions,
    aretrieve,
    close_session_loop,
    retrieve,
)
from tests.integration import models
from tests.integration.packages import need

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "example_project"
BASELINE = EXAMPLE / "ir_baselines" / "test_search" / "test_search_quality[rules].json"
DEPTH = 10
METRICS = ["mrr", "map", "ndcg@3", "ndcg@10", "precision@10", "recall@10", "bpref", "rbp(p=0.8)"]

# What a framework or one of its dependencies warns of is not this project's.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True, scope="module")
def _one_loop():
    yield
    close_session_loop()


@pytest.fixture(scope="module")
def search_module():
    spec = importlib.util.spec_from_file_location("example_search", EXAMPLE / "search.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def engine(search_module):
    """The engine, for use in any thread."""
    engine = search_module.from_environment()
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
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def golden():
    return GoldenSet.load(EXAMPLE / "golden" / "rules.yaml")


@pytest.fixture(scope="module")
def plain(engine, golden):
    return evaluate(golden, engine.search, METRICS)


def rankings(run):
    return {query: run[query] for query in run}


def test_the_search_is_the_one_that_the_baseline_is_of(plain):
    stored = Run.load(BASELINE)
    assert rankings(stored) == rankings(plain.retrieved.run)


# Wrappers: a function of the engine that gives what a fixture `retriever` would.


def langchain(engine, *, own_async=False, wrap=lambda retriever: retriever):
    documents, retrievers = need("langchain_core.documents"), need("langchain_core.retrievers")

    class RuleRetriever(retrievers.BaseRetriever):
        engine: Any

        def _get_relevant_documents(self, query, *, run_manager, k=4, linter=None):
            codes = self.engine.search(query, k, linter=linter)
            return [documents.Document(id=code, page_content=code) for code in codes]

    class AsyncRetriever(RuleRetriever):
        async def _aget_relevant_documents(self, query, *, run_manager, k=4, linter=None):
            await asyncio.sleep(0)
            return self._get_relevant_documents(query, run_manager=run_manager, k=k, linter=linter)

    return wrap((AsyncRetriever if own_async else RuleRetriever)(engine=engine))


def langchain_store(engine, *, scores=False):
    """A vector store, whose ids are in the documents' metadata."""
    documents, stores = need("langchain_core.documents"), need("langchain_core.vectorstores")

    class RuleStore(stores.VectorStore):
        @classmethod
        def from_texts(cls, *args, **kwargs):
            raise NotImplementedError

        def similarity_search(self, query, k=4, **kwargs):
            codes = engine.search(query, k, **kwargs)
            return [documents.Document(page_content=code, metadata={"_id": code}) for code in codes]

        def similarity_search_with_score(self, query, k=4, **kwargs):
            found = self.similarity_search(query, k, **kwargs)
            return [(document, 1 / rank) for rank, document in enumerate(found, start=1)]

        async def asimilarity_search(self, query, k=4, **kwargs):
            return self.similarity_search(query, k, **kwargs)

    store = RuleStore()
    return store.similarity_search_with_score if scores else store.as_retriever(search_kwargs={"k": 3})


def langchain_lambda(engine):
    runnables = need("langchain_core.runnables")
    return runnables.RunnableLambda(lambda query, k=4, linter=None: engine.search(query, k, linter=linter))


def langchain_chain(engine):
    runnables = need("langchain_core.runnables")
    # The first step's depth is its own; the query's params are handed to it.
    first = partial(langchain, own_async=True, wrap=lambda retriever: retriever.bind(k=DEPTH))
    return first(engine) | runnables.RunnableLambda(lambda documents: [found.id for found in documents])


def llama_index(engine, *, linter=None, k=DEPTH):
    retrievers, schema = need("llama_index.core.retrievers"), need("llama_index.core.schema")

    class RuleRetriever(retrievers.BaseRetriever):
        similarity_top_k = k

        def _retrieve(self, query_bundle):
            codes = engine.search(query_bundle.query_str, self.similarity_top_k, linter=linter)
            return [schema.NodeWithScore(node=schema.TextNode(id_=code, text=code)) for code in codes]

    return RuleRetriever()


def llama_index_function(engine):
    need("llama_index.core.retrievers")
    return lambda query, k, linter=None: llama_index(engine, linter=linter, k=k).retrieve(query)


def haystack(engine, *, own_async=False):
    framework = need("haystack")

    def documents(codes):
        return {"documents": [framework.Document(id=code, content=code) for code in codes]}

    @framework.component
    class RuleRetriever:
        @framework.component.output_types(documents=list)
        def run(self, query: str, top_k: int | None = None, linter: str | None = None):
            return documents(engine.search(query, top_k, linter=linter))

    @framework.component
    class AsyncRetriever:
        @framework.component.output_types(documents=list)
        def run(self, query: str, top_k: int | None = None, linter: str | None = None):
            return documents(engine.search(query, top_k, linter=linter))

        @framework.component.output_types(documents=list)
        async def run_async(self, query: str, top_k: int | None = None, linter: str | None = None):
            await asyncio.sleep(0)
            return documents(engine.search(query, top_k, linter=linter))

    return AsyncRetriever() if own_async else RuleRetriever()


def haystack_pipeline(engine):
    framework = need("haystack")
    pipeline = framework.Pipeline()
    pipeline.add_component("retriever", haystack(engine))
    return pipeline


def haystack_super(engine):
    return need("haystack").SuperComponent(
        haystack_pipeline(engine),
        input_mapping={name: [f"retriever.{name}"] for name in ("query", "top_k", "linter")},
        output_mapping={"retriever.documents": "documents"},
    )


def haystack_pipeline_function(engine):
    pipeline = haystack_pipeline(engine)
    return lambda query, k, **params: pipeline.run({"retriever": {"query": query, "top_k": k, **params}})[
        "retriever"
    ]


def frames(engine, *, package, shape=lambda frame: frame):
    frame = need(package).DataFrame
    return lambda query, k, **params: shape(
        frame({"id": engine.search(query, k, **params), "title": "a rule"}, strict=False)
        if package == "polars"
        else frame({"id": engine.search(query, k, **params)}, dtype=str)
    )


def response_body(codes, **more):
    hits = [
        {"_index": "rules", "_id": code, "_score": 1.0, "_source": {"id": f"row-{code}"}} for code in codes
    ]
    found = {"total": {"value": len(hits), "relation": "eq"}, "max_score": 1.0, "hits": hits}
    shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
    return {"took": 1, "timed_out": False, "_shards": shards, "hits": found, **more}


def elasticsearch(engine, *, dsl=False, part=lambda response: response, **more):
    responses = need("elasticsearch.dsl.response" if dsl else "elastic_transport")
    need("elasticsearch")

    def search(query, k, **params):
        body = response_body(engine.search(query, k, **params), **more)
        if dsl:
            return part(responses.Response(need("elasticsearch.dsl").Search(), body))
        return part(responses.ObjectApiResponse(body=body, meta=None))

    return search


def opensearch(engine, *, dsl=False, part=lambda response: response, **more):
    package = need("opensearchpy")

    def search(query, k, **params):
        body = response_body(engine.search(query, k, **params), **more)
        response = need("opensearchpy.helpers.response").Response
        return part(response(package.Search(), body)) if dsl else part(body)

    return search


def asynchronous(make):
    """The same retriever as an async function."""

    def wrapped(engine):
        search = make(engine)

        async def asearch(query, k, **params):
            await asyncio.sleep(0)
            return search(query, k, **params)

        return asearch

    return wrapped


WRAPPERS = {
    "langchain": langchain,
    "langchain-async": partial(langchain, own_async=True),
    "langchain-bound": partial(langchain, wrap=lambda retriever: retriever.bind(k=2).with_config(tags=["a"])),
    "langchain-retry": partial(langchain, own_async=True, wrap=lambda retriever: retriever.with_retry()),
    "langchain-fallback": partial(langchain, wrap=lambda retriever: retriever.with_fallbacks([retriever])),
    "langchain-store": langchain_store,
    "langchain-store-scores": partial(langchain_store, scores=True),
    "langchain-lambda": langchain_lambda,
    "langchain-chain": langchain_chain,
    "llama-index-function": llama_index_function,
    "haystack": haystack,
    "haystack-async": partial(haystack, own_async=True),
    "haystack-super": haystack_super,
    "haystack-pipeline-function": haystack_pipeline_function,
    "pandas": partial(frames, package="pandas"),
    "pandas-_id": partial(frames, package="pandas", shape=lambda frame: frame.rename(columns={"id": "_id"})),
    "pandas-index": partial(
        frames, package="pandas", shape=lambda frame: frame.assign(score=1.0).set_index("id")
    ),
    "pandas-series": partial(frames, package="pandas", shape=lambda frame: frame["id"]),
    "pandas-rows": partial(frames, package="pandas", shape=lambda frame: frame.itertuples()),
    "pandas-dicts": partial(frames, package="pandas", shape=lambda frame: frame.to_dict("records")),
    "pandas-async": asynchronous(partial(frames, package="pandas")),
    "polars": partial(frames, package="polars"),
    "polars-series": partial(frames, package="polars", shape=lambda frame: frame["id"]),
    "polars-dicts": partial(frames, package="polars", shape=lambda frame: frame.rows(named=True)),
    "polars-async": asynchronous(partial(frames, package="polars")),
    "elasticsearch": elasticsearch,
    "elasticsearch-hits": partial(elasticsearch, part=lambda response: response["hits"]["hits"]),
    "elasticsearch-async": asynchronous(elasticsearch),
    "elasticsearch-dsl": partial(elasticsearch, dsl=True),
    "elasticsearch-dsl-hits": partial(elasticsearch, dsl=True, part=lambda response: response.hits),
    "opensearch": opensearch,
    "opensearch-async": asynchronous(opensearch),
    "opensearch-dsl": partial(opensearch, dsl=True),
    "opensearch-dsl-hits": partial(opensearch, dsl=True, part=lambda response: response.hits),
}


@pytest.mark.parametrize("make", WRAPPERS.values(), ids=WRAPPERS)
class TestScoresAreThoseOfTheSearchItself:
    def test_sync(self, make, engine, golden, plain):
        now = evaluate(golden, make(engine), METRICS)
        assert not now.errors
        assert now.scores == plain.scores
        assert now.retrieved.run == plain.retrieved.run
        assert [now[metric] for metric in METRICS] == [plain[metric] for metric in METRICS]

    @pytest.mark.parametrize("concurrency", [1, 8])
    def test_async(self, make, engine, golden, plain, concurrency):
        options = RetrievalOptions(depth=DEPTH, concurrency=concurrency)
        retrieved = asyncio.run(aretrieve(golden.queries.values(), make(engine), options))
        assert dict(retrieved.errors) == {}
        assert retrieved.run == plain.retrieved.run
        assert replace(plain, retrieved=retrieved).scores == plain.scores


def outcome(retriever, *, asked=retrieve, **params):
    """What a retriever's first query comes to: its ids, or the problem."""
    query = Query("q", "unused imports", params)
    retrieved = asked([query], retriever, RetrievalOptions(depth=3))
    retrieved = asyncio.run(retrieved) if asked is aretrieve else retrieved
    return retrieved.errors["q"] if retrieved.errors else list(retrieved.run["q"])


class Query(NamedTuple):
    id: str
    text: str
    params: dict


@pytest.fixture(scope="module")
def found(engine):
    return engine.search("unused imports", 3)


class TestLangChain:
    def test_a_retriever_without_a_depth_keeps_its_own_and_refuses_params(self, engine, found):
        retrievers, documents = need("langchain_core.retrievers"), need("langchain_core.documents")

        class Fixed(retrievers.BaseRetriever):
            k: int = 2

            def _get_relevant_documents(self, query, *, run_manager):
                return [documents.Document(id=code, page_content="") for code in engine.search(query, self.k)]

        class Old(Fixed):
            def _get_relevant_documents(self, query):
                return [documents.Document(id=code, page_content="") for code in engine.search(query, self.k)]

        for retriever in (Fixed(), Old()):
            for asked in (retrieve, aretrieve):
                assert outcome(retriever, asked=asked) == found[:2]
                assert "got an unexpected keyword argument 'linter'" in outcome(
                    retriever, asked=asked, linter="pyflakes"
                )
        advice = retrieve([Query("q", "unused imports", {})], Fixed()).depth_advice
        assert advice == "Its retriever, Fixed, has a depth of its own: set its k."
        assert outcome(Fixed(k=9)) == found

    def test_a_chain_keeps_the_pool_of_its_first_step(self, engine):
        runnables = need("langchain_core.runnables")
        seen = []
        chain = langchain(engine) | runnables.RunnableLambda(
            lambda pool: seen.append(len(pool)) or pool[::-1]
        )
        assert len(outcome(chain)) == 3
        assert seen == [4]

    def test_a_retriever_that_raises_is_the_querys_error(self):
        retrievers = need("langchain_core.retrievers")

        class Broken(retrievers.BaseRetriever):
            def _get_relevant_documents(self, query, *, run_manager):
                raise ConnectionError("engine went away")

        for asked in (retrieve, aretrieve):
            problem = outcome(Broken(), asked=asked)
            assert problem.startswith("raised ConnectionError: engine went away (")
            assert "test_frameworks.py:" in problem

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            (None, "came back: None."),
            ("text", "came back: str 'text'. Its letters are no ids"),
            ({"context": []}, "came back: dict {'context': []}. It is not a mapping of id to score"),
        ],
    )
    def test_what_is_no_result_is_told(self, answer, words):
        runnables = need("langchain_core.runnables")
        assert words in outcome(runnables.RunnableLambda(lambda _query: answer))

    def test_a_document_without_an_id_is_told(self):
        runnables, documents = need("langchain_core.runnables"), need("langchain_core.documents")
        problem = outcome(runnables.RunnableLambda(lambda query: [documents.Document(page_content=query)]))
        assert "No id can be read from it. A fixture ir_doc_id can say where it is." in problem

    def test_an_async_function_serves_sync_tests(self, engine, found):
        runnables = need("langchain_core.runnables")

        async def search(query, limit=5):
            return engine.search(query, limit)

        assert outcome(runnables.RunnableLambda(search)) == found

    def test_a_vector_store_itself_is_told_what_to_give(self, engine):
        store = langchain_store(engine).vectorstore
        with pytest.raises(RetrievalError, match=r"It has as_retriever\(\): give what that returns\."):
            outcome(store)


class TestLlamaIndex:
    def test_the_object_itself_is_asked_sync_and_async(self, engine, golden, plain):
        queries = [query for query in golden.queries.values() if not query.params]
        for run in (
            retrieve(queries, llama_index(engine)).run,
            asyncio.run(aretrieve(queries, llama_index(engine))).run,
        ):
            assert rankings(run) == {query.id: plain.retrieved.run[query.id] for query in queries}

    def test_its_depth_is_its_own_and_named(self, engine, golden, found):
        assert outcome(llama_index(engine, k=2)) == found[:2]
        queries = [query for query in golden.queries.values() if not query.params]
        advice = retrieve(queries, llama_index(engine, k=2)).depth_advice
        assert advice == "Its retriever, RuleRetriever, has a depth of its own: set its similarity_top_k."

    def test_it_takes_no_params(self, engine):
        problem = outcome(llama_index(engine), linter="pyflakes")
        assert "retrieve(str_or_query_bundle) cannot be called: got an unexpected keyword" in problem

    def test_a_retriever_that_raises_is_the_querys_error(self):
        retrievers = need("llama_index.core.retrievers")

        class Broken(retrievers.BaseRetriever):
            def _retrieve(self, query_bundle):
                raise ConnectionError("engine went away")

        for asked in (retrieve, aretrieve):
            assert outcome(Broken(), asked=asked).startswith("raised ConnectionError: engine went away (")


class TestHaystack:
    def test_the_retrievers_of_haystack(self, search_module):
        framework = need("haystack")
        memory = need("haystack.components.retrievers.in_memory")
        stores = need("haystack.document_stores.in_memory")
        rules = search_module.load_rules()
        store = stores.InMemoryDocumentStore()
        store.write_documents([framework.Document(id=rule.code, content=rule.message) for rule in rules])
        bm25 = memory.InMemoryBM25Retriever(store)
        expected = [document.id for document in store.bm25_retrieval("unused imports", top_k=3)]
        assert outcome(bm25) == outcome(bm25, asked=aretrieve) == expected
        assert "unexpected keyword argument 'linter'" in outcome(bm25, linter="pyflakes")
        with pytest.raises(
            RetrievalError, match=r"Its run takes `query_embedding`, .* TextEmbeddingRetriever"
        ):
            outcome(memory.InMemoryEmbeddingRetriever(store))

    def test_a_pipeline_says_what_to_give_instead(self, engine):
        with pytest.raises(RetrievalError, match="Of a pipeline, give a function"):
            outcome(haystack_pipeline(engine))

    def test_a_component_that_raises_is_the_querys_error(self):
        framework = need("haystack")

        @framework.component
        class Broken:
            @framework.component.output_types(documents=list)
            def run(self, query: str):
                raise ConnectionError("engine went away")

        assert outcome(Broken()).startswith("raised ConnectionError: engine went away (")


class TestFrames:
    def test_of_pandas_in_many_shapes(self):
        pandas = need("pandas")

        def read(frame):
            return outcome(lambda _query: frame)

        frame = pandas.DataFrame({"id": ["b", "a"], "score": [0.1, 0.9]})
        assert read(frame) == ["b", "a"]
        assert read(frame.rename(columns={"id": "_id"})) == ["b", "a"]
        assert read(frame["id"]) == ["b", "a"]
        assert read(frame["id"].to_numpy()) == ["b", "a"]
        assert read(frame.iloc[:0]) == []
        assert read(frame.set_index("id")) == ["b", "a"]
        assert read(frame.set_index("id").rename_axis("_id")) == ["b", "a"]
        assert (
            "A frame needs a column `id` or `_id`, and this one has: 'doc', 'score'. Return the column"
            in read(frame.rename(columns={"id": "doc"}))
        )
        assert "several columns `id`" in read(pandas.concat([frame, frame], axis=1))
        assert "is no id" in read(frame["score"])

    def test_without_ids_are_told(self):
        pandas, polars = need("pandas"), need("polars")
        for frame in (pandas.DataFrame({"code": ["F401"]}), polars.DataFrame({"code": ["F401"]})):
            assert "A frame needs a column `id` or `_id`, and this one has: 'code'." in outcome(
                lambda _query, frame=frame: frame
            )
        assert "result 2 is" in outcome(lambda _query: pandas.DataFrame({"id": ["F401", None]}))
        assert "result 2 is None" in outcome(lambda _query: polars.DataFrame({"id": ["F401", None]}))

    def test_whole_numbers_are_ids(self):
        pandas, polars = need("pandas"), need("polars")
        for package in (pandas, polars):
            assert outcome(lambda _query, package=package: package.DataFrame({"id": [3, 1]})) == ["3", "1"]

    def test_one_that_is_lazy_is_told(self):
        polars = need("polars")
        problem = outcome(lambda _query: polars.LazyFrame({"id": ["F401"]}))
        assert "It is lazy: return its .collect()." in problem


@pytest.mark.parametrize("dsl", [False, True])
@pytest.mark.parametrize("make", [elasticsearch, opensearch])
class TestResponses:
    def test_that_timed_out_are_errors(self, make, dsl, engine):
        problem = outcome(make(engine, dsl=dsl, timed_out=True))
        assert "`timed_out` is true: it is a part of the results." in problem

    def test_of_which_shards_failed_are_errors(self, make, dsl, engine):
        problem = outcome(make(engine, dsl=dsl, _shards={"total": 3, "successful": 1, "failed": 2}))
        assert "2 shards failed: it is a part of the results." in problem


@pytest.mark.parametrize("package", ["elasticsearch.dsl", "opensearchpy"])
def test_a_search_that_was_not_executed_is_told(package):
    search = need(package).Search()
    assert "It is a search that has not run: return its .execute()" in outcome(lambda _query: search)


# The page of the documentation: each conftest.py there, in a copy of the example project.

PAGE = ROOT / "docs" / "frameworks.md"
BLOCKS = re.findall(r"```python\n# (\S+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
PLACES = [place for place, (name, _) in enumerate(BLOCKS) if name == "conftest.py"]


def names(place):
    """The packages that a conftest.py of the page is about."""
    found = re.findall(r"^(?:from|import) (\w+)", BLOCKS[place][1], re.MULTILINE)
    return [name for name in found if name not in {"os", "typing", "pytest", "pytest_asyncio", "search"}]


class Index(BaseHTTPRequestHandler):
    """As much of Elasticsearch as a search needs, in front of the example project's."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = json.dumps(asked["query"])
        [query] = re.findall(r'"match": {"text": "(.*?)"}', text)
        [linter] = re.findall(r'"term": {"linter": "(.*?)"}', text) or [None]
        body = json.dumps(
            response_body(self.server.engine.search(query, asked["size"], linter=linter))
        ).encode()
        self.send_response(200)
        self.send_header("X-Elastic-Product", "Elasticsearch")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@contextmanager
def served(engine):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
    server.engine = engine
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def tiny_model(search_module, tmp_path):
    messages = [rule.message for rule in search_module.load_rules()]
    return models.tiny(messages, tmp_path / "model")


def run_page(place, folder, test=None, replaced=(), **environment):
    """The run that a conftest.py of the page comes to in the example project, and what pytest printed."""
    text = BLOCKS[place][1]
    for old, new in replaced:
        assert old in text
        text = text.replace(old, new)
    project = folder / "project"
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    (project / "conftest.py").write_text(text, encoding="utf-8")
    plugins = ["-p", "pytest_irmetrics.plugin", "-p", "no:cacheprovider"]
    if test is not None:
        (project / "test_search.py").write_text(test, encoding="utf-8")
        plugins += ["-p", "pytest_asyncio.plugin"]
    command = [
        sys.executable,
        "-m",
        "pytest",
        *plugins,
        "--ir-report=json:report.json",
    ]
    done = subprocess.run(
        command,
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "NO_PROXY": "127.0.0.1",
            "HAYSTACK_TELEMETRY_ENABLED": "False",
            **environment,
        },
    )
    return Run.load(project / "report.json"), done


@pytest.mark.parametrize("place", [place for place in PLACES if names(place) != ["sentence_transformers"]])
def test_the_pages_examples_give_the_same_run(place, engine, plain, tmp_path):
    for name in names(place):
        need(name)
    test = None
    if place + 1 < len(BLOCKS) and BLOCKS[place + 1][0] == "test_search.py":
        test = BLOCKS[place + 1][1]
    with served(engine) as url:
        run, done = run_page(place, tmp_path, test, SEARCH_URL=url)
    assert done.returncode == 0, done.stdout + done.stderr
    assert rankings(run) == rankings(plain.retrieved.run)


def test_the_pages_example_of_sentence_transformers(tiny_model, search_module, golden, tmp_path):
    [place] = [place for place in PLACES if names(place) == ["sentence_transformers"]]
    transformers = need("sentence_transformers")
    name = "sentence-transformers/all-MiniLM-L6-v2"
    run, done = run_page(place, tmp_path, replaced=[(name, tiny_model.as_posix())], HF_HUB_OFFLINE="1")
    # Cosines without sentence-transformers' search; rules with the same words are as good as each other.
    model, rules = transformers.SentenceTransformer(str(tiny_model)), search_module.load_rules()
    corpus = model.encode([f"{rule.name}: {rule.message}" for rule in rules], normalize_embeddings=True)
    places = {rule.code: place for place, rule in enumerate(rules)}
    for query in golden.queries.values():
        scores = corpus @ model.encode([query.text], normalize_embeddings=True)[0]
        wanted = query.params.get("linter")
        allowed = [score for score, rule in zip(scores, rules, strict=True) if wanted in (None, rule.linter)]
        best = sorted(allowed, reverse=True)[:DEPTH]
        assert [scores[places[code]] for code in run[query.id]] == pytest.approx(best, abs=1e-5), done.stdout
