"""`compare`: which queries pair, and how far the means moved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_irmetrics import GoldenSet, Run, compare, evaluate
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.golden import Query
from pytest_irmetrics.run import Answer
from tests.unit.evaluation.example import GOLDEN, search


def test_skipped_queries_leave_the_mean_and_have_no_p():
    before = evaluate(GOLDEN, Run({"a": ["d1"], "b": ["d3"]}), ["mrr(miss=skip)"])
    now = evaluate(GOLDEN, Run({"a": ["d9", "d1"], "b": []}), ["mrr(miss=skip)"])
    change = compare(now, before)["mrr(miss=skip)"]
    assert now["mrr(miss=skip)"] == 0.5
    assert change.delta == pytest.approx(-0.5)
    assert change.p_value is None
    assert change.interval is None


def test_pairs_are_by_id_text_and_params():
    stored = evaluate(GOLDEN, search, ["mrr"]).run
    golden = GoldenSet(
        [
            Query(id="a", text="first, reworded", judgments={"d1": 1}),
            Query(id="b", text="second", judgments={"d3": 1}, params={"lang": "en"}),
            Query(id="z", text="new", judgments={"d1": 1}),
            Query(id="n", text="nothing", judgments={}, no_answer=True),
        ]
    )
    comparison = compare(evaluate(golden, Run({}), ["mrr"]), evaluate(golden, stored, ["mrr"]))
    assert comparison.reworded == ("a", "b")
    assert comparison.new == ("z",)
    assert comparison.removed == ("c",)
    assert comparison.paired == ("n",)


def test_a_delta_is_the_weighted_mean_of_the_differences():
    before = evaluate(GOLDEN, search, ["mrr"])
    now = evaluate(GOLDEN, Run({"a": ["d9", "d1"], "b": ["d3"]}), ["mrr"])
    change = compare(now, before)["mrr"]
    assert change.delta == pytest.approx((3 * -0.5 + 1 * 0.5) / 4)
    assert (change.worse, change.better, change.same, change.lost) == (("a",), ("b",), (), ())
    assert change.now == pytest.approx(change.baseline + change.delta)


def test_what_only_the_baseline_has_is_named_in_order():
    stored = evaluate(GOLDEN, search, ["mrr"])
    answers = dict.fromkeys(("z9", "a", "z1", "z5"), stored.run.answers["a"])
    now = evaluate(GOLDEN, search, ["mrr"])
    assert compare(
        now, now.__class__(GOLDEN, replace(now.retrieved, run=Run.of(answers)), now.metrics, 10)
    ).removed == (
        "z1",
        "z5",
        "z9",
    )


def test_a_slice_is_changed_by_any_query_that_joined_or_left_it():
    def tagged(one, other):
        return GoldenSet([Query("q1", "one", {"d": 1}, tags=one), Query("q2", "two", {"d": 1}, tags=other)])

    def stored(golden):
        answers = {
            q.id: Answer((("d",),), q.text, {}, q.judgments, 1.0, q.tags) for q in golden.queries.values()
        }
        return evaluate_run(golden, Run.of(answers, depth=10), ["mrr"], depth=10)

    before, now = tagged(("billing",), ("other",)), tagged((), ())
    comparison = compare(evaluate_run(now, stored(before).run, ["mrr"], depth=10), stored(before))
    assert comparison.changed_labels("billing") == ("tags",)
    assert comparison.changed_labels("other") == ("tags",)
    assert comparison.changed_labels("third") == ()
    assert comparison.changed_labels() == ()
