"""Ask one query and show all of it: `--ir-query`."""

from __future__ import annotations

from tests.plugin.conftest import (
    ANSWERS,
    make_ranking_worse,
    printed,
    write_tests,
)


def test_a_golden_set_without_the_query_asked_for_needs_no_baseline(stored):
    stored.write("golden/other.yaml", "queries:\n  - {query: parking, relevant: doc-5}\n")
    result = stored.run("--ir-baseline", "--ir-query", "refund")
    result.assert_outcomes(passed=1, skipped=1)


def test_a_test_over_another_golden_set_than_that_with_the_query_is_skipped(project):
    project.write("golden/other.yaml", "queries:\n  - {query: parking, relevant: doc-5}\n")
    code = "\n\n".join(
        f"""@pytest.mark.ir_golden("golden/{name}.yaml")
@pytest.mark.ir_threshold("mrr", 0)
def test_{name}(irmetrics):
    irmetrics.check()"""
        for name in ("faq", "other")
    )
    write_tests(project, code)
    project.run("--ir-query", "refund").assert_outcomes(passed=1, skipped=1)
    project.run("--ir-query", "refund", "-k", "other").assert_outcomes(failed=1)
    result = project.run("--ir-query", "parkin")
    result.assert_outcomes(failed=2)
    assert (
        printed(result).count("no golden set of this run has the query 'parkin'. Did you mean 'parking'?")
        >= 2
    )
    project.write("golden/other.yaml", "queries: [")
    project.run("--ir-query", "refund").assert_outcomes(passed=1, failed=1)
    project.run("--ir-query", "parking").assert_outcomes(failed=1, skipped=1)


def test_only_the_query_asked_for_is_shown_and_nothing_is_stored(stored):
    before = stored.baseline.read_bytes()
    make_ranking_worse(stored)
    result = stored.run("--ir-baseline", "--ir-query", "refund")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["*Only single queries were judged*", "*rank*was*grade*document", "*3*1*3*doc-9", "*-*2*1*doc-4"]
    )
    assert "hours" not in result.stdout.str()
    quiet = stored.run("--ir-baseline", "--ir-query", "refund", "-q")
    quiet.stdout.fnmatch_lines(
        [
            "retrieval quality: 1 golden set, no mean judged",
            "  Only single queries were judged*",
            "*rank*was*grade*document",
            "*-*2*1*doc-4",
        ]
    )
    assert stored.baseline.read_bytes() == before
    stored.answers(ANSWERS | {"refund policy": ["doc-76", "doc-77"]})
    result = stored.run("--ir-baseline", "--ir-query", "refund", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "*: no mean judged, 1 of 1 query worse; mrr 0.0000 (*1.0000)",
            "*metric * n *",
            "*mrr * 1 *0.0000 *1.0000 *1.0000 *",
        ]
    )
    result.stdout.no_fnmatch_line("*counterpart*")
    result = stored.run("--ir-query", "refnud")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*refnud*refund*"])


def test_a_failure_of_the_query_asked_for_does_not_send_back_to_the_same_command(project):
    project.retrieve("1 / 0")
    assert "To look closer: " in printed(project.run())
    result = project.run("--ir-query", "refund")
    result.assert_outcomes(failed=1)
    assert "raised ZeroDivisionError: division by zero (conftest.py:6)" in printed(result)
    assert "To look closer: " not in printed(result)


def test_of_several_queries_asked_for_one_that_is_misspelt_is_named(stored):
    result = stored.run("--ir-query", "refund", "--ir-query", "huors")
    result.assert_outcomes(passed=1)
    assert (
        "note: --ir-query: no golden set of this run has the query 'huors'. Did you mean 'hours'?"
        in printed(result)
    )
    stored.write("golden/other.yaml", "queries:\n  - {id: huors, query: parking, relevant: doc-5}\n")
    result = stored.run("--ir-query", "refund", "--ir-query", "huors")
    result.assert_outcomes(passed=2)
    assert "no golden set" not in printed(result)
    stored.write("golden/other.yaml", "queries: [")
    result = stored.run("--ir-query", "refund", "--ir-query", "huors")
    result.assert_outcomes(passed=1, failed=1)
    assert "no golden set" not in printed(result)  # nobody knows
