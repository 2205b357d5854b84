"""What goes wrong in real engines, seen through their own clients: the queries are named, and nothing is scored."""

from __future__ import annotations

import re

import pytest

from tests.integration.packages import need_there


def one_line(output):
    return " ".join(output.split())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"timed_out": True}, "`timed_out` is True"),
        ({"_shards": {"total": 3, "successful": 2, "skipped": 0, "failed": 1}}, "`_shards.failed` is 1"),
        ({"_clusters": {"total": 2, "successful": 1, "skipped": 1}}, "`_clusters.skipped` is 1"),
    ],
    ids=["timed_out", "failed_shards", "skipped_clusters"],
)
def test_a_part_of_the_results_is_no_result(engine, documents, relay, change, said):
    need_there("opensearchpy")
    project = engine("opensearch")
    project.documents(documents[::20])
    project.index()
    relay.spoil = lambda number, answer: (200, answer | change if number == 3 else answer)
    status, output = project.gate("--ir-baseline-update")
    assert status == 1, output
    output = one_line(output)
    assert "1 of 109 queries could not be retrieved: " in output
    assert "golden/rules.yaml:20: hardcoded-password" in output
    assert said in output
    assert "part of the results" in output
    assert not project.baselines


def test_a_server_that_refuses_one_query_fails_that_query(engine, documents, relay):
    need_there("opensearchpy")
    project = engine("opensearch")
    project.documents(documents[::20])
    project.index()
    refused = {
        "error": {"type": "circuit_breaking_exception", "reason": "[parent] Data too large"},
        "status": 400,
    }
    relay.spoil = lambda number, answer: (400, refused) if number == 2 else (200, answer)
    status, output = project.gate()
    assert status == 1, output
    output = one_line(output)
    assert "1 of 109 queries could not be retrieved: " in output
    assert "golden/rules.yaml:12: sql-injection" in output
    assert "circuit_breaking_exception" in output


@pytest.mark.parametrize("how", ["ir_concurrency=4", "ir_timeout=30"])
def test_a_connection_of_another_thread_is_told_with_its_cure(engine, how):
    project = engine("sqlite")
    project.index()
    project.change(", check_same_thread=False", "")
    status, output = project.gate("-o", how)
    assert status == 1, output
    output = one_line(output)
    assert "golden/rules.yaml:2: eval" in output
    assert "sqlite3.ProgrammingError" in output
    assert "one for all with check_same_thread=False, and hold a threading.Lock()" in output


@pytest.mark.parametrize(
    ("more", "failed"),
    [("", {1, 2, 3, 4}), (", check=ConnectionPool.check_connection", {1})],
    ids=["a_pool_of_four", "a_pool_that_checks"],
)
def test_connections_that_are_cut_fail_the_queries_that_meet_them(engine, documents, more, failed):
    need_there("psycopg_pool")
    project = engine("postgresql")
    project.documents(documents[::20])
    project.index()
    project.change(
        "\n\n@pytest.fixture",
        """

def cut(query):
    if query == "sql injection":
        with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as db:
            select = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gate'"
            db.execute(select)


@pytest.fixture""",
    )
    project.change("import pytest\n", "import psycopg\nimport pytest\n")
    project.change("        return db", "        cut(query)\n                return db")
    project.change('"autocommit": True}', f'"autocommit": True, "application_name": "gate"}}{more}')
    status, output = project.gate("--ir-baseline-update")
    assert status == 1, output
    output = one_line(output)
    number = re.search(r"(\d+) of 109 queries could not be retrieved: ", output)
    assert int(number[1]) in failed
    assert "golden/rules.yaml:12: sql-injection" in output
    assert "raised psycopg.errors.AdminShutdown: terminating connection" in output
    assert not project.baselines


def test_a_transaction_that_failed_is_told_by_the_first_query_named(engine):
    need_there("psycopg_pool")
    project = engine("postgresql")
    project.index()
    project.change("plainto_tsquery('english', %s)", "to_tsquery('english', %s)")
    status, output = project.gate()
    assert status == 1, output
    output = one_line(output)
    assert "The first 5 all failed, and the others were not asked." in output
    assert (
        "psycopg.errors.SyntaxError: no operand in tsquery" in output or "syntax error in tsquery" in output
    )
