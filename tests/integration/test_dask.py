"""A Dask cluster as `ir_executor`: the same evaluation as in this process, also where a worker is killed half-way."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import time
from pathlib import Path

import pytest

from pytest_irmetrics import GoldenSet, batched, evaluate
from tests.integration.packages import need

distributed = need("distributed")

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here"),
    # Of Dask's own threads and sockets, when a worker dies and when the cluster goes.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

QUERIES = 100
JUDGMENTS = {f"query {n}": {f"doc-{n * 7 % 50}": 1 + n % 3} for n in range(QUERIES)}
GOLDEN = GoldenSet.from_judgments(JUDGMENTS, texts={text: text for text in JUDGMENTS}, name="made")
METRICS = ("mrr", "map", "ndcg@10", "recall@10")
LATE = ("query 3", "query 4", "query 5")


def search(query, k):
    """Rank fifty documents by what a hash makes of them and the query."""

    def score(doc):
        return hashlib.sha256(f"{query} {doc}".encode()).digest()

    return sorted((f"doc-{n}" for n in range(50)), key=score)[:k]


def search_all(queries, k):
    return [search(query, k) for query in queries]


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, processes=True, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def executor(client):
    return client.get_executor()


@pytest.fixture(scope="module")
def here():
    return evaluate(GOLDEN, search, METRICS)


def same(one, other):
    return not one.errors and one.run.dumps() == other.run.dumps() and one.scores == other.scores


@pytest.mark.parametrize("options", [{}, {"timeout": 600}, {"concurrency": 3}])
def test_the_evaluation_is_that_of_this_process(executor, here, options):
    assert same(evaluate(GOLDEN, search, METRICS, executor=executor, **options), here)
    assert same(evaluate(GOLDEN, batched(search_all, 16), METRICS, executor=executor, **options), here)


def test_a_killed_worker_loses_nothing(client, executor, here, tmp_path):
    killed = tmp_path / "killed"

    def search_and_die_once(query, k):
        if query == "query 50" and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return search(query, k)

    found = evaluate(GOLDEN, search_and_die_once, METRICS, executor=executor)
    assert killed.exists()
    # Dask asks again what the dead worker was at; but it reports an answer as an error if it learns of the death while it
    # fetches that answer (distributed.cfexecutor looks at the state of a future after its result). Such a query is named.
    assert all(error.startswith("ir_executor raised ") for error in found.errors.values())
    assert {query: found.run[query] for query in found.run} == {
        query: here.run[query] for query in GOLDEN.queries if query not in found.errors
    }
    client.wait_for_workers(2, timeout=240)


def test_a_query_that_kills_every_worker_is_named_and_the_others_are_answered(cluster, client, executor):
    def search_and_die(query, k):
        if query == "query 77":
            os.kill(os.getpid(), signal.SIGKILL)
        return search(query, k)

    cluster.scheduler.allowed_failures = 1
    found = evaluate(GOLDEN, search_and_die, METRICS, executor=executor, concurrency=2)
    assert "KilledWorker" in found.errors["query 77"]
    assert {*found.errors, *found.run} == {*GOLDEN.queries}
    client.wait_for_workers(2, timeout=240)


def test_a_late_query_is_named_and_leaves_its_worker_free(executor):
    def hang(query, k):
        if query in LATE:
            time.sleep(600)
        return search(query, k)

    found = evaluate(GOLDEN, hang, METRICS, executor=executor, timeout=2)
    assert {*LATE} <= {*found.errors}
    assert set(found.errors.values()) == {"no answer came within 2 s (ir_timeout)."}
    assert {*found.errors, *found.run} == {*GOLDEN.queries}


PAGE = (Path(__file__).parents[2] / "docs" / "speed.md").read_text(encoding="utf-8")
CONFTEST = re.search(r"^## Dask\n.*?^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[1]


def test_the_fixture_as_the_docs_have_it_stores_the_same_baseline(project):
    project.write(
        "engine.py", "def search(query, k):\n    return [f'doc-{len(query) % 7 + 2}', 'doc-1'][:k]\n"
    )
    project.write("pytest.ini", "[pytest]\npythonpath = .\n")
    project.write(
        "golden/faq.yaml",
        "queries:\n" + "".join(f"  - {{query: {'x' * n}, relevant: [doc-1]}}\n" for n in range(1, 60)),
    )
    stored = set()
    for conftest in (CONFTEST.replace("def ir_executor", "def an_executor"), CONFTEST):
        project.write("conftest.py", conftest)
        project.run_apart("--ir-baseline-update").assert_outcomes(passed=1)
        stored.add(project.baseline.read_bytes())
    assert len(stored) == 1
