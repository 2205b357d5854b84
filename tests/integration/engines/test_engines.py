"""Every page of docs/engines, run as it stands: the gate passes, a worse search turns it red, and the order is stable."""

from __future__ import annotations

import json
import random
import re
from typing import NamedTuple

import pytest

from tests.integration import models
from tests.integration.engines import test_clients
from tests.integration.engines.pages import GOLDEN, PAGES, blocks
from tests.integration.packages import need_there


class Case(NamedTuple):
    page: str
    needs: tuple[str, ...]  # modules
    before: str  # in conftest.py
    after: str  # what makes the search worse
    at_least: float  # what ndcg@10 is, less some room


CASES = [
    Case("sqlite-fts5", (), "10, 1)", "0, 1)", 0.76),
    Case("tantivy", ("tantivy",), '["title", "body"]', '["body"]', 0.76),
    Case("bm25s", ("bm25s",), "get_scores(words)", "get_scores(words[:1])", 0.74),
    Case("qdrant", ("numpy", "qdrant_client"), "-point.score", "point.score", 0.67),
    Case("faiss", ("numpy", "faiss"), "ids[place] for", "ids[place - 1] for", 0.67),
    Case("lancedb", ("numpy", "lancedb"), '(row["_distance"]', '(-row["_distance"]', 0.67),
    Case("duckdb", ("numpy", "duckdb"), ")), id LIMIT", ")) DESC, id LIMIT", 0.67),
    Case("milvus", ("numpy", "pymilvus", "milvus_lite"), "(-hit[", "(hit[", 0.67),
    Case(
        "chroma", ("numpy", "chromadb"), 'found["distances"][0]', '[-d for d in found["distances"][0]]', 0.67
    ),
    Case("postgresql", ("psycopg", "psycopg_pool"), "query, 1) DESC", "query, 1)", 0.60),
    Case("pgvector", ("numpy", "psycopg", "psycopg_pool"), "<=>", "<+>", 0.67),
    Case("opensearch", ("opensearchpy",), '["title^4", "body"]', '["body"]', 0.69),
    Case("elasticsearch", ("elasticsearch",), '["title^4", "body"]', '["body"]', 0.69),
]
cases = pytest.mark.parametrize("case", CASES, ids=[case.page for case in CASES])


# Nothing but their ids tells them apart.
TIES = [
    {"id": f"tie-{number:02}", "title": "zebra crossing quagga", "body": "A zebra crosses."}
    for number in range(15)
]
TIED = {"id": "tied", "query": "zebra quagga", "relevant": ["tie-00"]}


def start(engine, case):
    need_there(*case.needs)
    return engine(case.page)


def test_every_page_is_run():
    pages = {case.page for case in (*CASES, *test_clients.CASES)}
    assert {path.stem for path in PAGES.glob("*.md")} == {"README", *pages}


@cases
def test_every_page_says_what_to_install(case):
    text = (PAGES / f"{case.page}.md").read_text(encoding="utf-8")
    assert ("Needs `pip install " in text) == bool(case.needs)


# The others take vectors of any length in the same way, and a model takes seconds to load.
ON_A_MODEL = [case for case in CASES if case.page in {"qdrant", "faiss", "lancedb", "pgvector"}]


@pytest.mark.parametrize("case", ON_A_MODEL, ids=lambda case: case.page)
def test_the_model_shown_fits_each_page_on_vectors(engine, documents, case):
    """Its vectors are of another length than those of the tests' own."""
    need_there("sentence_transformers", "torch", "tokenizers")
    project = start(engine, case)
    model = models.tiny([document["title"] for document in documents], project.folder / "model")
    code = blocks("README.md")["embedding.py"]
    name = "sentence-transformers/all-MiniLM-L6-v2"
    assert name in code
    project.write("embedding.py", code.replace(name, model.as_posix()))
    project.documents(documents[::20])
    title = {"id": "title", "query": documents[20]["title"], "relevant": documents[20]["id"]}
    project.write("golden/rules.yaml", json.dumps({"queries": [title]}))
    project.index()
    status, output = project.gate()
    assert status == 0, output


@cases
def test_the_page_gates_real_queries_in_a_stable_order_and_a_worse_search_turns_it_red(
    engine, documents, case
):
    project = start(engine, case)
    project.ask(TIED)
    documents = [*documents, *TIES]
    random.Random(4).shuffle(documents)
    project.documents(documents)
    project.index()
    status, output = project.gate("-v", "--ir-baseline-update")
    assert status == 0, output
    ndcg = float(re.search(r"^ +ndcg@10 +\d+ +([\d.]+)", output, re.MULTILINE)[1])
    assert case.at_least <= ndcg < case.at_least + 0.05
    assert project.ranking("tied") == [tie["id"] for tie in TIES[:10]]
    stored = project.baseline

    # The same answers, whatever the order in which the documents came, and however many queries are under way.
    project.documents(documents[::-1])
    project.index()
    status, output = project.gate("--ir-baseline-update", "-o", "ir_concurrency=4")
    assert status == 0, output
    assert project.baseline == stored

    project.change("conftest.py", case.before, case.after)
    status, output = project.gate("--ir-baseline")
    assert status == 1, output
    assert re.search(r"^ndcg@10 fell by 0\.\d+ from the baseline", output, re.MULTILINE)
    named = re.findall(r"^golden/rules\.yaml:\d+: (\S+?)(?:: .*)?$", output, re.MULTILINE)
    assert 1 <= len(named) <= 5
    assert all(f"id: {name}\n" in GOLDEN.read_text(encoding="utf-8") for name in named)


@pytest.mark.parametrize(
    ("page", "before", "after"),
    [
        ("qdrant", "limit=2 * k", "limit=2 * k, score_threshold=0.3"),
        ("lancedb", ".limit(2 * k)", ".distance_range(upper_bound=0.7).limit(2 * k)"),
        (
            "pgvector",
            "passages ORDER BY",
            "passages, CAST(%s AS vector) AS query WHERE embedding <=> query < 0.7 ORDER BY",
        ),
        ("opensearch", '"size": k', '"min_score": 0.1, "size": k'),
    ],
    ids=["qdrant", "lancedb", "pgvector", "opensearch"],
)
def test_a_threshold_leaves_nothing_where_nothing_is_near(engine, documents, page, before, after):
    project = start(engine, next(case for case in CASES if case.page == page))
    project.documents(documents[::20])
    absent = {"id": "css", "query": "css flexbox", "no_answer": True}
    present = {"id": "first", "query": documents[0]["title"], "relevant": [documents[0]["id"]]}
    project.write("golden/rules.yaml", json.dumps({"queries": [present, absent]}))
    project.index()
    if page != "opensearch":
        status, output = project.gate()
        assert status == 1, output
        assert "css" in output
    if page == "pgvector":
        project.change("conftest.py", "CAST(%s AS vector), id", "query, id")
    project.change("conftest.py", before, after)
    status, output = project.gate()
    assert status == 0, output


@pytest.mark.parametrize("page", ["duckdb", "milvus", "chroma"])
def test_a_querys_params_choose_the_language(engine, page):
    """Both documents fit alike, and one of them is in the language asked for."""
    project = start(engine, next(case for case in CASES if case.page == page))
    texts = {"title": "zebra crossing", "body": ""}
    project.documents([{"id": "here", **texts}, {"id": "there", **texts, "lang": "no"}])
    golden = [
        {"id": lang, "query": "zebra", "relevant": doc, "forbidden": [other], "params": {"lang": lang}}
        for lang, doc, other in (("no", "there", "here"), ("en", "here", "there"))
    ]
    project.write("golden/rules.yaml", json.dumps({"queries": golden}))
    project.index()
    status, output = project.gate()
    assert status == 0, output


def test_the_async_client_on_the_tests_own_event_loop(engine):
    case = next(case for case in CASES if case.page == "elasticsearch")
    project = start(engine, case)
    need_there("aiohttp")
    project.index()
    assert project.gate("--ir-baseline-update")[0] == 0
    stored = project.baseline
    for name in ("conftest.py", "test_search.py"):
        project.write(name, project.code[f"{name}, async"])
    status, output = project.gate(
        "--ir-baseline-update",
        "-o",
        "ir_concurrency=8",
        "-W",
        "error",
        "-o",
        "asyncio_default_fixture_loop_scope=function",
    )
    assert status == 0, output
    assert project.baseline == stored
