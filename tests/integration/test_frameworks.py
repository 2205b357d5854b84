"""Retrievers of the frameworks themselves: the example project's search, wrapped in each, is scored as it is without."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_irmetrics import GoldenSet, RetrievalError, Run, evaluate
from tests.integration import models, wrapped_search
from tests.integration.packages import need
from tests.integration.wrapped_search import (
    DEPTH,
    EXAMPLE,
    WRAPPERS,
    engine,
    haystack_pipeline,
    langchain_store,
    llama_index,
    response,
    search_module,
)
from tests.retrievers.ways import ask, outcome

BASELINE = EXAMPLE / "ir_baselines" / "test_search" / "test_search_quality[rules].json"
METRICS = ["mrr", "map", "ndcg@3", "ndcg@10", "precision@10", "recall@10", "bpref", "rbp(p=0.8)"]

# What a framework or one of its dependencies warns of is not this project's.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest_irmetrics.evaluation.UnknownIdsWarning"),
]


@pytest.fixture(scope="module")
def golden():
    return wrapped_search.golden()


@pytest.fixture(scope="module")
def plain(golden):
    return evaluate(golden, engine().search, METRICS)


def rankings(run):
    return {query: run[query] for query in run}


def read(answer):
    return outcome(ask(lambda _query: answer))


def found(retriever, **options):
    return outcome(ask(retriever, ["unused imports"], **options), "unused imports")


def test_the_search_is_the_one_that_the_baseline_is_of(plain):
    assert rankings(Run.load(BASELINE)) == rankings(plain.run)


@pytest.mark.parametrize("options", [{}, {"concurrency": 8}])
@pytest.mark.parametrize("name", WRAPPERS)
def test_a_wrapped_search_has_the_scores_of_the_search_itself(name, options, golden, plain):
    now = evaluate(golden, WRAPPERS[name](), METRICS, **options)
    assert not now.errors
    assert now.run == plain.run
    assert now.scores == plain.scores


ASYNC_TEST = """
    import pytest
    from pytest_irmetrics import Run
    from tests.integration.wrapped_search import WRAPPERS, golden

    @pytest.mark.asyncio
    @pytest.mark.parametrize("name", {names})
    async def test_async(irmetrics, name):
        evaluation = await irmetrics.aevaluate(retriever=WRAPPERS[name](), golden=golden())
        assert not evaluation.errors
        assert evaluation.run == Run.load({plain!r})
"""


def test_async_tests_ask_the_async_methods(project, plain, tmp_path):
    stored = tmp_path / "plain.json"
    plain.run.save(stored)
    names = [name for name in WRAPPERS if name.partition("-")[0] in ("langchain", "llama", "haystack")]
    project.write("test_search.py", ASYNC_TEST.format(names=names, plain=str(stored)))
    project.write("pytest.ini", "[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    result = project.run("-W", "ignore")
    assert {*result.parseoutcomes()} <= {"passed", "skipped", "warnings"}


def test_what_a_framework_s_object_cannot_do_is_explained():
    for make, words in (
        (lambda: langchain_store().vectorstore, r"It has as_retriever\(\): give what that returns\."),
        (haystack_pipeline, r"Its run takes no `query`\. Give a function of \(query, k\)"),
    ):
        with pytest.raises(RetrievalError, match=words):
            found(make())


def test_llama_index_has_a_depth_of_its_own():
    best = engine().search("unused imports", DEPTH)
    assert found(llama_index(k=2)) == best[:2]
    assert found(llama_index(k=20)) == best


def test_the_retrievers_of_haystack():
    memory = need("haystack.components.retrievers.in_memory")
    store = need("haystack.document_stores.in_memory").InMemoryDocumentStore()
    document = need("haystack").Document
    store.write_documents(
        [document(id=rule.code, content=rule.message) for rule in search_module().load_rules()]
    )
    expected = [document.id for document in store.bm25_retrieval("unused imports", top_k=DEPTH)]
    assert found(memory.InMemoryBM25Retriever(store)) == expected
    with pytest.raises(RetrievalError, match="Its run takes no `query`"):
        found(memory.InMemoryEmbeddingRetriever(store))


def test_frames_of_pandas_and_polars():
    pandas, polars = need("pandas"), need("polars")
    frame = pandas.DataFrame({"id": ["b", "a"], "score": [0.1, 0.9]})
    for shape in (frame, frame["id"].to_numpy()):
        assert read(shape) == ["b", "a"]
    assert read(frame.iloc[:0]) == []
    assert read(pandas.DataFrame({"id": [3, 1]})) == read(polars.DataFrame({"id": [3, 1]})) == ["3", "1"]
    for answer, words in (
        (
            frame.rename(columns={"id": "doc"}),
            "A frame needs a column `id` or `_id`, and this one has: 'doc', 'score'.",
        ),
        (polars.DataFrame({"code": ["F401"]}), "and this one has: 'code'."),
        (frame["score"], "is no id"),
        (pandas.DataFrame({"id": ["F401", None]}), "result 2 is"),
        (polars.DataFrame({"id": ["F401", None]}), "result 2 is None"),
        (polars.LazyFrame({"id": ["F401"]}), "It is lazy: return its .collect()."),
    ):
        assert words in read(answer)


@pytest.mark.parametrize(
    "package", ["elasticsearch", "elasticsearch.dsl", "opensearchpy", "opensearchpy.dsl"]
)
def test_a_part_of_the_results_and_a_search_that_has_not_run_are_explained(package):
    assert "`timed_out` is True: it holds part of the results." in found(response(package, timed_out=True))
    failed = response(package, _shards={"total": 3, "successful": 1, "failed": 2})
    assert "`_shards.failed` is 2: it holds part of the results." in found(failed)
    if package in ("elasticsearch.dsl", "opensearchpy"):
        assert "It is a search that has not run: return its .execute()" in read(need(package).Search())


HELD = "You can return it within\nthirty\u00a0days."


def chunks_of_langchain():
    make = need("langchain_core.documents").Document
    return [
        make(page_content=text, metadata={"source": "handbook"}, id=own)
        for text, own in ((HELD, None), ("else", "c2"))
    ]


def chunks_of_llama_index():
    schema = need("llama_index.core.schema")
    source = {schema.NodeRelationship.SOURCE: schema.RelatedNodeInfo(node_id="handbook")}
    nodes = [
        schema.TextNode(text=text, id_=own, relationships=source)
        for own, text in (("c1", HELD), ("c2", "else"))
    ]
    return [schema.NodeWithScore(node=node, score=1.0) for node in nodes]


def chunks_of_haystack():
    make = need("haystack").Document
    return [
        make(id=own, content=text, meta={"source_id": "handbook"})
        for own, text in (("c1", HELD), ("c2", "else"))
    ]


@pytest.mark.parametrize("chunks", [chunks_of_langchain, chunks_of_llama_index, chunks_of_haystack])
def test_chunks_of_frameworks_are_searched_for_passages(chunks, tmp_path):
    path = tmp_path / "shop.yaml"
    path.write_text("queries: [{query: returns, relevant: [{doc: handbook, text: thirty days}]}]")
    items = chunks()
    found = evaluate(GoldenSet.load(path), lambda _query: items, ["mrr"])
    assert found.run["returns"] == ("handbook: thirty days", "handbook (chunk c2)")


# docs/frameworks.md: each conftest.py there, in a copy of the example project.

PAGE = EXAMPLE.parent / "docs" / "frameworks.md"
BLOCKS = re.findall(r"```python\n# (\S+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
PLACES = [place for place, (name, _) in enumerate(BLOCKS) if name == "conftest.py"]


def names(place):
    """The packages that a conftest.py of the page is about."""
    found = re.findall(r"^(?:from|import) (\w+)", BLOCKS[place][1], re.MULTILINE)
    return [name for name in found if name not in {"os", "typing", "pytest", "pytest_asyncio", "search"}]


def run_page(place, folder, replaced=(), **environment):
    """The run that a conftest.py of the page comes to in the example project, and what pytest printed."""
    text = BLOCKS[place][1]
    for old, new in replaced:
        assert old in text
        text = text.replace(old, new)
    project = folder / "project"
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    (project / "conftest.py").write_text(text, encoding="utf-8")
    environment = {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "NO_PROXY": "127.0.0.1",
        "HAYSTACK_TELEMETRY_ENABLED": "False",
        **environment,
    }
    plugins = ["-p", "pytest_irmetrics.plugin", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "test_search.py", *plugins, "--ir-report=json:report.json"]
    done = subprocess.run(
        command, cwd=project, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    return Run.load(project / "report.json"), done


@pytest.mark.parametrize("place", [place for place in PLACES if names(place) != ["sentence_transformers"]])
def test_the_pages_examples_give_the_same_run(place, plain, tmp_path):
    for name in names(place):
        need(name)
    run, done = run_page(place, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert rankings(run) == rankings(plain.run)


def test_the_pages_example_of_sentence_transformers(golden, tmp_path):
    [place] = [place for place in PLACES if names(place) == ["sentence_transformers"]]
    transformers, rules = need("sentence_transformers"), search_module().load_rules()
    model_path = models.tiny([rule.message for rule in rules], tmp_path / "model")
    name = "sentence-transformers/all-MiniLM-L6-v2"
    run, done = run_page(place, tmp_path, replaced=[(name, Path(model_path).as_posix())], HF_HUB_OFFLINE="1")
    # Cosines without sentence-transformers' search; rules with the same words are as good as each other.
    model = transformers.SentenceTransformer(str(model_path))
    corpus = model.encode([f"{rule.name}: {rule.message}" for rule in rules], normalize_embeddings=True)
    places = {rule.code: place for place, rule in enumerate(rules)}
    for query in golden.queries.values():
        scores = corpus @ model.encode([query.text], normalize_embeddings=True)[0]
        wanted = query.params.get("linter")
        allowed = [score for score, rule in zip(scores, rules, strict=True) if wanted in (None, rule.linter)]
        best = sorted(allowed, reverse=True)[:DEPTH]
        assert [scores[places[code]] for code in run[query.id]] == pytest.approx(best, abs=1e-5), done.stdout


# The blocks of RAG teams, copied beside an index of theirs: the first run is green.

RAG_INDEX = """
DOCUMENTS = {"refund.md": ["a refund is paid in ten days", "refund by card"], "hours.md": ["our opening hours"]}
WORDS = "refund card opening hours days".split()

def embed(text):
    return [text.count(word) + 0.01 for word in WORDS]
"""
RAG_STORES = {
    "LangChain": """
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

class Words(Embeddings):
    def embed_query(self, text):
        return embed(text)

    def embed_documents(self, texts):
        return list(map(embed, texts))

store = InMemoryVectorStore(Words())
store.add_documents(
    [Document(page_content=text, metadata={"source": name}) for name, texts in DOCUMENTS.items() for text in texts]
)
""",
    "LlamaIndex": """
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding

class Words(BaseEmbedding):
    def _get_query_embedding(self, query):
        return embed(query)

    def _get_text_embedding(self, text):
        return embed(text)

    async def _aget_query_embedding(self, query):
        return embed(query)

documents = [Document(text=" ".join(texts), id_=name) for name, texts in DOCUMENTS.items()]
index = VectorStoreIndex.from_documents(documents, embed_model=Words())
""",
}
RAG_BLOCKS = dict(
    re.findall(r"```python\n# conftest.py, (\w+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
)


@pytest.mark.parametrize("framework", RAG_STORES)
def test_the_first_build_of_a_rag_team_is_green(framework, tmp_path):
    need({"LangChain": "langchain_core", "LlamaIndex": "llama_index.core"}[framework])
    (tmp_path / "golden").mkdir()
    files = {
        "conftest.py": RAG_BLOCKS[framework],
        "my_index.py": RAG_INDEX + RAG_STORES[framework],
        "golden/faq.yaml": "queries: [{query: refund, relevant: refund.md}, {query: opening hours, relevant: hours.md}]",
        "test_rag.py": """
import pytest

@pytest.mark.ir_golden("golden/*.yaml")
@pytest.mark.ir_threshold("mrr", 1.0)
def test_rag(irmetrics):
    irmetrics.check()
""",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    plugins = ["-p", "pytest_irmetrics.plugin", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *plugins, "-v"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
