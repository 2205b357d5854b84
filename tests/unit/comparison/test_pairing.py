"""`compare`: which queries pair, and how far the means moved."""

from __future__ import annotations

import pytest

from pytest_irmetrics import GoldenSet, Run, compare, evaluate
from pytest_irmetrics.golden import Query
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
