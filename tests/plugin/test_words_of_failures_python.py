"""Errors of `irmetrics.evaluate()` and of Python's `evaluate` advise what the caller can do."""

from __future__ import annotations

import warnings

import pytest

from pytest_irmetrics import GoldenSet, Run, evaluate
from pytest_irmetrics.evaluation import UnknownIdsWarning
from tests.plugin.conftest import printed

GOLDEN = {"q1": {"d1": 1}, "q2": {"d2": 1}}


def test_a_metric_that_was_not_evaluated_is_added_to_a_setting_of_the_test(project):
    project.test('ir_golden("golden/*.yaml")', body='irmetrics.evaluate()["recall@5"]')
    result = project.run()
    result.assert_outcomes(failed=1)
    text = printed(result)
    assert "recall@5 was not evaluated, only mrr, map, ndcg@3, ndcg@10, precision@10, recall@10." in text
    assert "in a test, to the setting ir_metrics" in text


def test_duplicates_are_collapsed_by_a_parameter_in_python():
    now = evaluate(texts(), lambda _: ["d1", "d1"], ["mrr"])
    assert 'ir_duplicates = collapse (from Python, duplicates="collapse")' in next(iter(now.errors.values()))


def test_a_golden_set_without_texts_is_scored_with_a_run_in_place_of_the_retriever(project):
    project.write("golden/web.qrels", "1 0 d1 1\n")
    project.test('ir_golden("golden/*.qrels")', body="irmetrics.evaluate()")
    text = printed(project.run())
    assert "A golden set without texts can only be scored with a Run in place of the retriever." in text
    assert "against" not in text


# Ids that the golden set does not know ---------------------------------------------------------------------


@pytest.mark.parametrize("source", [Run({"q1": ["x", "y"], "q2": ["z"]}), lambda _, k: ["x", "y"][:k]])
def test_ids_that_the_golden_set_does_not_know_are_warned_of(source):
    golden = GoldenSet.from_judgments(GOLDEN) if isinstance(source, Run) else texts()
    with pytest.warns(UnknownIdsWarning) as caught:
        now = evaluate(golden, source, ["mrr"])
    assert now["mrr"] == 0.0
    (warning,) = caught
    assert str(warning.message).startswith("None of the ")
    assert "this is about ids, not about quality. Returned: 'x', 'y'" in str(warning.message)
    assert "Expected: 'd1', 'd2'." in str(warning.message)
    assert warning.filename == __file__


def texts():
    from pytest_irmetrics import Query

    return GoldenSet([Query(id=i, text=i, judgments=judged) for i, judged in GOLDEN.items()])


@pytest.mark.parametrize(
    "rankings",
    [{"q1": ["d1"], "q2": ["x"]}, {"q1": ["d2"], "q2": ["x"]}, {"q1": [], "q2": []}],
    ids=["one is known", "another query's", "nothing came back"],
)
def test_poor_results_with_known_ids_or_none_are_no_reason_for_a_warning(rankings):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(GoldenSet.from_judgments(GOLDEN), Run(rankings), ["mrr"])


def test_a_test_that_only_evaluates_is_warned_of_unknown_ids(project):
    project.test('ir_golden("golden/*.yaml")', body="irmetrics.evaluate()")
    project.retrieve("['u-1', 'u-2']")
    result = project.run("-W", "default")
    result.assert_outcomes(passed=1, warnings=1)
    assert "UnknownIdsWarning: None of the 2 returned ids occurs in the golden set" in printed(result)
    project.test('ir_golden("golden/*.yaml")')
    result = project.run("--ir-baseline-update")
    result.assert_outcomes(failed=1)
    assert "UnknownIdsWarning" not in printed(result)
