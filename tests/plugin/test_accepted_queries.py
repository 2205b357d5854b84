"""Accept single queries: `--ir-baseline-update --ir-query` replaces their answers and leaves all others as they are stored."""

from __future__ import annotations

import json

import pytest

from pytest_irmetrics import Run
from tests.plugin.conftest import ANSWERS, edit_golden_set, printed

ACCEPT = ("--ir-baseline-update", "--ir-query", "refund")


def query_lines(project):
    """Query id → its line in the stored baseline, as bytes."""
    lines = project.baseline.read_bytes().splitlines(keepends=True)
    found = (line for line in lines if line.startswith(b'{"id": '))
    return {json.loads(line.rstrip().rstrip(b","))["id"]: line for line in found}


def make_two_worse(project):
    """Move the first hit of refund from rank 1 to 2, and lose hours."""
    project.answers({**ANSWERS, "refund policy": ["doc-5", "doc-9"], "opening hours": ["doc-7"]})


def test_one_answer_is_replaced_and_all_others_are_as_stored_byte_for_byte(stored):
    before, means = query_lines(stored), Run.load(stored.baseline).means
    make_two_worse(stored)
    result = stored.run(*ACCEPT)
    result.assert_outcomes(passed=1)
    after = query_lines(stored)
    assert after["refund"] != before["refund"]
    assert {i: line for i, line in after.items() if i != "refund"} == {
        i: line for i, line in before.items() if i != "refund"
    }
    run = Run.load(stored.baseline)
    assert run["refund"] == ("doc-5", "doc-9")
    assert means["mrr"] == pytest.approx(2.5 / 3)
    assert run.means["mrr"] == pytest.approx(2 / 3)
    said = printed(result)
    assert (
        "test_search_quality[faq].json: stored; accepted refund (mrr 1.0000 → 0.5000); 2 other queries are as stored before"
        in said
    )
    assert "lowered: mrr 0.8333 → 0.6667 (−0.1667)" in said
    # What was accepted passes, and what was not still fails.
    gated = stored.run("--ir-baseline")
    gated.assert_outcomes(failed=1)
    assert "edited" not in printed(gated)
    assert "hours" in printed(gated)
    stored.answers({**ANSWERS, "refund policy": ["doc-5", "doc-9"]})
    stored.run("--ir-baseline").assert_outcomes(passed=1)


def test_what_is_lowered_is_told_under_q_too(stored):
    make_two_worse(stored)
    assert "lowered: mrr 0.8333 → 0.6667" in printed(stored.run("-q", *ACCEPT))


def test_several_queries_of_several_workers(stored):
    make_two_worse(stored)
    stored.run_apart(*ACCEPT, "--ir-query", "hours", "-n", "2").assert_outcomes(passed=1)
    stored.run("--ir-baseline", "--ir-query", "reset").assert_outcomes(passed=1)
    assert Run.load(stored.baseline)["hours"] == ("doc-7",)
    assert len(Run.load(stored.baseline)) == 3


def test_where_a_query_fails_nothing_is_stored(stored):
    before = stored.baseline.read_bytes()
    make_two_worse(stored)
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", min_each=0.9)'])
    result = stored.run(*ACCEPT)
    result.assert_outcomes(failed=1)
    assert "No baseline was stored for 1 test that failed" in printed(result)
    stored.retrieve("1 / 0")
    stored.run(*ACCEPT).assert_outcomes(failed=1)
    assert stored.baseline.read_bytes() == before


def test_without_a_baseline_there_is_nothing_to_replace_an_answer_in(project):
    result = project.run(*ACCEPT)
    result.assert_outcomes(failed=1)
    assert "There is no baseline for this test" in printed(result)
    assert not project.baseline.exists()


def test_a_broken_baseline_is_no_ground_to_replace_an_answer_on(stored):
    stored.baseline.write_text(stored.baseline.read_text()[:200])
    before = stored.baseline.read_bytes()
    stored.run(*ACCEPT).assert_outcomes(failed=1)
    assert stored.baseline.read_bytes() == before


def test_a_baseline_that_was_edited_by_hand_stays_one(stored):
    text = (
        stored.baseline.read_text()
        .replace('["doc-2","doc-1"]', '["doc-2"]')
        .replace('["doc-2", "doc-1"]', '["doc-2"]')
    )
    stored.baseline.write_text(text)
    result = stored.run(*ACCEPT)
    result.assert_outcomes(failed=1)
    assert "was edited after it was stored" in printed(result)
    assert stored.baseline.read_text() == text


def test_new_and_reworded_queries_are_accepted_and_those_that_are_gone_stay(stored):
    edit_golden_set(stored, "query: opening hours", "query: when are you open")
    edit_golden_set(
        stored, "  - id: reset\n    query: how do I reset my password\n    relevant: [doc-12, doc-40]\n", ""
    )
    path = stored.path / "golden/faq.yaml"
    path.write_text(path.read_text() + "  - {id: parking, query: parking, relevant: doc-5}\n")
    before = query_lines(stored)
    result = stored.run("--ir-baseline-update", "--ir-query", "hours", "--ir-query", "parking")
    result.assert_outcomes(passed=1)
    assert (
        "stored; accepted hours (reworded), parking (new); 2 other queries are as stored before"
        in printed(result)
    )
    after = query_lines(stored)
    assert set(after) == {"reset", "refund", "hours", "parking"}
    assert (after["reset"], after["refund"]) == (before["reset"], before["refund"])


def test_judgments_of_the_other_queries_stay_as_they_were_stored(stored):
    edit_golden_set(stored, "doc-7: 0", "doc-7: 2")
    edit_golden_set(stored, "relevant: doc-1", "relevant: {doc-1: 2}")
    before = query_lines(stored)
    result = stored.run(*ACCEPT)
    assert "accepted refund (judgments, weight or tags alone)" in printed(result)
    assert query_lines(stored)["hours"] == before["hours"]
    assert '"doc-7": 2' in query_lines(stored)["refund"].decode()


@pytest.mark.parametrize("depth", [5, 20])
def test_another_depth_is_refused(stored, depth):
    before = stored.baseline.read_bytes()
    result = stored.run(*ACCEPT, "-o", f"ir_depth={depth}", "-o", "ir_metrics=mrr")
    result.assert_outcomes(failed=1)
    assert f"holds 10 results a query, and this run asks for {depth}" in printed(result)
    assert "ir_depth = 10" in printed(result)
    assert stored.baseline.read_bytes() == before


def test_answers_are_replaced_by_as_many_as_were_stored(stored):
    result = stored.run(*ACCEPT, "--ir-repeat=2")
    result.assert_outcomes(failed=1)
    assert "holds 1 answer to a query, and this run asks 2 times" in printed(result)
    stored.run("--ir-baseline-update", "--ir-repeat=2").assert_outcomes(passed=1)
    make_two_worse(stored)
    stored.run(*ACCEPT, "--ir-repeat=2").assert_outcomes(passed=1)
    answers = Run.load(stored.baseline).answers
    assert answers["refund"].rankings == (("doc-5", "doc-9"),) * 2
    assert answers["hours"].rankings == (("doc-2", "doc-1"),) * 2


def test_an_answer_that_is_the_stored_one_changes_nothing(stored):
    before = stored.baseline.read_bytes()
    result = stored.run(*ACCEPT)
    assert "unchanged; accepted refund (unchanged)" in printed(result)
    assert stored.baseline.read_bytes() == before
