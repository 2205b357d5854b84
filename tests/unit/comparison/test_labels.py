"""What changed in the labels since the baseline was stored, and how far that alone moves a mean."""

from __future__ import annotations

import pytest

from pytest_irmetrics import GoldenSet, compare
from pytest_irmetrics.comparison import LabelChange
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.golden import Query
from pytest_irmetrics.run import Answer, Run

THEN = {"a": {"d": 1, "x": 0}, "b": {"d": 1}, "c": {"d": 1}}
"""The stored judgments of each query; each was answered with x before d."""


def compared(today=None, *, stored=None, level=1, **labels):
    """Compare a run with itself, where `today` judgments and labels replace those that were stored."""
    queries = [
        Query(query_id, query_id, (today or {}).get(query_id, judgments), **labels.get(query_id, {}))
        for query_id, judgments in THEN.items()
    ]
    answers = {
        query_id: Answer((("x", "d"),), text=query_id, judgments=judgments, weight=1.0)
        for query_id, judgments in (stored or THEN).items()
    }
    golden, run = GoldenSet(queries, relevance_level=level), Run.of(answers, 10, relevance_level=1)
    return compare(*[evaluate_run(golden, each, ["mrr"], depth=10) for each in (run, run)])


def test_nothing_changed_where_all_labels_are_those_that_were_stored():
    comparison = compared()
    assert comparison.changed_labels() == ()
    assert comparison.labels_delta("mrr") == 0
    assert comparison.under_stored_labels is None


def test_changes_of_judgments_come_by_query_and_document():
    comparison = compared({"b": {"z": 2, "d": 1, "e": 0}, "a": {"d": 1, "x": 1}})
    assert comparison.label_changes == (
        LabelChange("a", "x", 0, 1),
        LabelChange("b", "e", None, 0),
        LabelChange("b", "z", None, 2),
    )
    assert comparison.changed_labels() == ("judgments",)


def test_their_effect_on_a_mean_is_that_of_the_labels_alone():
    assert compared({"a": {"d": 1, "x": 1}}).labels_delta("mrr") == pytest.approx(0.5 / 3)


def test_the_effect_on_a_slice_is_over_the_queries_that_have_the_tag():
    comparison = compared({"a": {"d": 1, "x": 1}}, a={"tags": ["t"]}, b={"tags": ["t"]})
    assert comparison.labels_delta("mrr", "t") == pytest.approx(0.5 / 2)


def test_the_effect_of_weights_and_of_the_relevance_level():
    comparison = compared({"a": {"d": 1, "x": 1}}, a={"weight": 2.0})
    assert comparison.changed_labels() == ("judgments", "weights")
    assert comparison.labels_delta("mrr") == pytest.approx((2 * 1 + 0.5 + 0.5) / 4 - 0.5)
    assert compared(level=2).changed_labels() == ("relevance level",)
    assert compared(level=2).labels_delta("mrr") == pytest.approx(-0.5)


def test_an_excluded_query_has_no_part_in_the_effect():
    today = {"a": {"d": 1, "x": 1}, "c": {"d": 0, "x": 0}}
    assert compared(today, c={"xfail": "known"}).labels_delta("mrr") == pytest.approx(0.5 / 2)


def test_a_run_of_which_some_queries_tell_no_judgments_does_not_tell_the_effect():
    stored = {**THEN, "c": None}
    assert compared({"a": {"d": 1, "x": 1}}, stored=stored).labels_delta("mrr") is None


def test_the_effect_is_told_of_metrics_that_rankings_and_judgments_decide():
    golden = GoldenSet([Query("a", "a", {"d": 1, "x": 1}), Query("none", "none", {}, no_answer=True)])
    answers = {
        "a": Answer((("x", "d"),), text="a", judgments=THEN["a"], weight=1.0),
        "none": Answer((("x",),), text="none", judgments={}, weight=1.0),
    }
    custom = {"mine": lambda _query, ranking, _k: float(len(ranking))}
    sides = [
        evaluate_run(
            golden, Run.of(answers, 10), ["mrr", "mine", "no_answer"], depth=10, custom_metrics=custom
        )
        for _ in range(2)
    ]
    comparison = compare(*sides)
    assert comparison.labels_delta("mrr") == 0.5
    assert comparison.labels_delta("mine") is None
    assert comparison.labels_delta("no_answer") is None


def test_tags_are_labels_of_their_own_slice_alone():
    comparison = compared(b={"tags": ["t", "u"]})
    assert comparison.tag_changes == ("b",)
    assert comparison.changed_labels() == ()
    assert comparison.changed_labels("t") == ("tags",)
    assert comparison.changed_labels("other") == ()
