"""What is said of unjudged documents after a fall: whether they may be its cause, and what judged ones alone show."""

from __future__ import annotations

import pytest

from pytest_irmetrics import GoldenSet
from pytest_irmetrics.analysis.unjudged import (
    on_judged_alone,
    on_unjudged,
    over_judged_alone,
    possible_cause,
    scenarios,
    unjudged_of_fall,
)
from pytest_irmetrics.evaluation import read_metrics
from pytest_irmetrics.golden import Query
from tests.unit.analysis.comparisons import compared, golden_set, good, lost


def fallen(judged=8):
    """Two new documents at the top of each answer; of the others so many are judged."""
    golden = GoldenSet(
        [
            Query(
                id=f"q{n:02}",
                text=f"text {n}",
                judgments={f"d{n}": 2, f"e{n}": 1, **{f"x{i}": 0 for i in range(judged)}},
            )
            for n in range(20)
        ]
    )
    return compared(golden, lambda n: [f"y{n}", f"z{n}", *good(n)][:10], good)


def metric_of(comparison, name="ndcg@10"):
    return comparison.now.metric(name)


def test_new_documents_that_push_in_are_to_be_judged_first():
    comparison = fallen()
    metric = metric_of(comparison)
    found = possible_cause(comparison, metric)
    advice, judged = on_unjudged(comparison, metric, found)
    assert advice == (
        "Missing judgments? 40 of 200 results are new and unjudged. If 45% of them are as good as their query's best, ndcg@10 did not fall."
    )
    assert judged == (
        "With the unjudged taken out of both rankings ndcg@10 moved by 0.0000: an estimate, off by 0.01 to 0.09 where that was measured."
    )
    assert found.more
    assert scenarios(comparison, metric, found) == (
        "Two scenarios, not bounds: if no unjudged document is relevant ndcg@10 is 0.5438 (was 1.0000), and if each is as "
        "good as its query's best 1.0000 (was 0.5607)."
    )


def test_the_share_that_undoes_a_fall_does_so():
    """For mrr a query is whole again as soon as the first of its two new documents is relevant."""
    comparison = fallen()
    found = unjudged_of_fall(comparison, metric_of(comparison, "mrr"))
    assert (found.results, found.new, found.left) == (200, 40, 0)
    assert found.share_to_undo == pytest.approx(1.0, abs=0.05)
    assert found.main_cause


@pytest.mark.parametrize(
    ("now", "before"),
    [(lost, good), (good, good), (good, lost)],
    ids=["lost for good", "unchanged", "a rise"],
)
def test_where_judgments_would_not_decide_it_nothing_is_said(now, before):
    golden = golden_set()
    comparison = compared(golden, now, before)
    assert possible_cause(comparison, metric_of(comparison)) is None


def test_documents_that_cannot_make_up_for_what_was_lost_are_not_to_be_judged():
    comparison = compared(
        golden_set(), lambda n: [*(f"x{i}" for i in range(8)), f"y{n}"], lambda n: good(n)[:9]
    )
    found = unjudged_of_fall(comparison, metric_of(comparison))
    assert found.share_to_undo is None
    assert possible_cause(comparison, metric_of(comparison)) is None


@pytest.mark.parametrize("metric", ["mrr", "mrr(miss=skip)@5"])
def test_a_metric_that_leaves_out_every_query_today_is_not_put_down_to_judgments(metric):
    golden = golden_set()
    comparison = compared(golden, lambda n: [f"y{n}-{i}" for i in range(10)], good)
    comparison = comparison.with_metrics(read_metrics([metric]))
    assert possible_cause(comparison, metric_of(comparison, metric)) is None


def test_over_judged_documents_alone_what_pushed_in_moves_nothing():
    comparison = fallen()
    change = over_judged_alone(comparison, metric_of(comparison))
    assert change.delta == pytest.approx(0)
    assert comparison["ndcg@10"].delta < -0.3


def test_where_few_or_all_are_judged_nothing_is_said_of_judged_ones_alone():
    for judged, said in ((0, 0), (2, 0), (3, 1), (8, 1)):
        comparison = fallen(judged)
        assert len(list(on_judged_alone(comparison, metric_of(comparison)))) == said
    full = compared(
        GoldenSet([Query(id="q00", text="text 0", judgments={"a": 1, "b": 0})]),
        lambda _: ["b", "a"],
        lambda _: ["a", "b"],
    )
    assert over_judged_alone(full, metric_of(full)) is None
