"""A Dask cluster as `ir_executor`: the same evaluation as in this process, also where a worker is killed half-way."""

from __future__ import annotations

import os
import re
import signal
import sys
import textwrap
from pathlib import Path

import pytest

from pytest_irmetrics import GoldenSet, batched, evaluate
from pytest_irmetrics.retrieval import RetrievalOptions, retrieve
from tests.integration.packages import need

distributed = need("distributed")

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here"),
    # Of Dask's own threads and sockets, when a worker dies and when the cluster goes.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

QUERIES = 400
JUDGMENTS = {f"query {n}": {f"doc-{n * 7 % 50}": 1 + n % 3} for n in range(QUERIES)}
GOLDEN = GoldenSet.from_judgments(JUDGMENTS, texts={text: text for text in JUDGMENTS}, name="made")
METRICS = ("mrr", "map", "ndcg@10", "recall@10")


def search(query, k, milliseconds=5):
    """Rank fifty documents by what a hash makes of them and the query, and take some time."""
    import hashlib
    import time

    time.sleep(milliseconds / 1000)

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
    return (
        not one.errors
        and not other.errors
        and one.run.dumps() == other.run.dumps()
        and {name: one[name] for name in METRICS} == {name: other[name] for name in METRICS}
        and all(one.scores[name] == other.scores[name] for name in METRICS)
    )


def test_the_evaluation_is_that_of_this_process(executor, here):
    assert same(evaluate(GOLDEN, search, METRICS, executor=executor), here)
    assert same(evaluate(GOLDEN, search, METRICS, executor=executor, timeout=60), here)
    assert same(evaluate(GOLDEN, batched(search_all, 16), METRICS, executor=executor), here)


def test_a_killed_worker_loses_nothing(client, executor, here, tmp_path):
    before = client.run(os.getpid)
    assert len(before) == 2
    killed = tmp_path / "killed"

    def search_and_die_once(query, k):
        if query == "query 200":
            try:
                killed.touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return search(query, k)

    now = evaluate(GOLDEN, search_and_die_once, METRICS, executor=executor)
    assert killed.exists()
    client.wait_for_workers(2, timeout=60)
    assert set(client.run(os.getpid).values()) != set(before.values())
    assert same(now, here)


def test_a_worker_killed_from_outside_loses_nothing(client, executor, here):
    victim = next(iter(client.run(os.getpid).values()))
    done = []

    def note(_future):
        done.append(True)
        if len(done) == 8:
            os.kill(victim, signal.SIGKILL)

    submit = executor.submit

    def submit_and_note(*args, **kwargs):
        future = submit(*args, **kwargs)
        future.add_done_callback(note)
        return future

    executor.submit = submit_and_note
    assert same(evaluate(GOLDEN, search, METRICS, executor=executor), here)
    assert len(done) > 8
    client.wait_for_workers(2, timeout=60)
    assert victim not in client.run(os.getpid).values()


def test_a_query_that_kills_every_worker_is_named(cluster, client, executor):
    def search_and_die(query, k):
        if query == "query 77":
            os.kill(os.getpid(), signal.SIGKILL)
        return search(query, k)

    cluster.scheduler.allowed_failures = 1
    queries = [GOLDEN.queries[f"query {n}"] for n in range(70, 80)]
    retrieved = retrieve(queries, search_and_die, RetrievalOptions(executor=executor))
    assert "KilledWorker" in retrieved.errors["query 77"]
    client.wait_for_workers(2, timeout=60)


def test_a_late_query_is_named_and_leaves_its_worker_free(executor):
    def hang(query, k):
        return search(query, k, milliseconds=60_000 if query in {"query 3", "query 4", "query 5"} else 1)

    retrieved = retrieve(
        [GOLDEN.queries[f"query {n}"] for n in range(40)],
        hang,
        RetrievalOptions(executor=executor, timeout=1),
    )
    assert dict(retrieved.errors) == {
        f"query {n}": "no answer came within 1 s (ir_timeout)." for n in (3, 4, 5)
    }
    assert len(retrieved.run) == 37


PAGE = (Path(__file__).parents[2] / "docs" / "speed.md").read_text(encoding="utf-8")
CONFTEST = re.search(r"^## Dask\n.*?^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[1]
ENGINE = """
    def search(query, k):
        return [f"doc-{len(query) % 7 + 2}", "doc-1"][:k]
"""

TEST = """
    import pytest

    @pytest.mark.ir_golden("golden/*.yaml")
    @pytest.mark.ir_threshold("hit@10", 0.0)
    def test_search(irmetrics):
        irmetrics.check()
"""


def test_the_fixture_as_the_docs_have_it_stores_the_same_baseline(pytester):
    pytester.makepyfile(engine=textwrap.dedent(ENGINE))
    pytester.makepyfile(test_search=textwrap.dedent(TEST))
    golden = pytester.mkdir("golden") / "faq.yaml"
    golden.write_text(
        "queries:\n" + "".join(f"  - {{query: {'x' * n}, relevant: [doc-1]}}\n" for n in range(1, 60))
    )
    stored = []
    for here in (True, False):
        pytester.makeconftest(CONFTEST.replace("def ir_executor", "def an_executor") if here else CONFTEST)
        result = pytester.run(
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "--ir-baseline-update",
            "-p",
            "no:asyncio",
        )
        result.assert_outcomes(passed=1)
        stored.append((pytester.path / "ir_baselines/test_search/test_search[faq].json").read_bytes())
    assert stored[0] == stored[1]
