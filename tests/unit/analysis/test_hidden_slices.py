"""Notes on what a mean hides: tags whose queries fell, and results that nobody judged."""

from __future__ import annotations

import pytest

from pytest_irmetrics.analysis.trust import hidden_slices, on_unjudged
from pytest_irmetrics.evaluation import read_metrics
from tests.unit.analysis.comparisons import compared, golden_set, good, lost, lower


def test_unjudged_results_are_noted_with_the_bounds_of_the_score():
    golden = golden_set()

    def half(n):
        return [f"d{n}", *(f"y{n}-{i}" for i in range(9))]

    comparison = compared(golden, half, lambda n: [f"d{n}", f"e{n}"])
    (sentence,) = on_unjudged(comparison, comparison.now.metric("ndcg@10"))
    assert sentence == (
        "judged@10 is 0.1000, and was 1.0000: more of today's results were never judged. Without those that are new "
        "ndcg@10 would be 1.0000. It is 0.7602 (was 1.0000) if no unjudged document is relevant, and 1.0000 (was 0.2895) "
        "if each is as good as its query's best. Judge them before you decide: `pytest --ir-report=json:run.json` writes today's run, and `pytest-irmetrics label FILE --run "
        "run.json` lists them."
    )


def test_a_slice_that_the_mean_hides_is_named():
    golden = golden_set(tags={"billing": {0, 1, 2, 3}})

    def now(n):
        return lower(n) if n < 4 else good(n)

    def before(n):
        return good(n) if n < 4 or n % 4 else lower(n)

    comparison = compared(golden, now, before)
    assert list(hidden_slices(comparison, comparison.now.metric("ndcg@10"))) == [
        "The mean hides that ndcg@10 of the queries tagged billing fell by 0.5705: 4 of 4 are worse."
    ]


@pytest.mark.parametrize(
    ("worse", "named"),
    [((0, 1, 2), True), ((0, 1), False)],
    ids=["three of four", "two are single cases"],
)
def test_a_small_slice_of_which_most_broke_is_named(worse, named):
    golden = golden_set(40, tags={"billing": {0, 1, 2, 3}})
    comparison = compared(
        golden,
        lambda n: lost(n) if n in worse else good(n),
        lambda n: lower(n) if n > 10 else good(n),
    )
    found = list(hidden_slices(comparison, comparison.now.metric("ndcg@10")))
    assert len(found) == named
    assert not list(hidden_slices(comparison, comparison.now.metric("ndcg@10"), ["billing"]))


def test_of_many_hidden_slices_those_that_cost_most_have_a_sentence():
    tags = {f"t{size}": set(range(size)) for size in range(3, 10)}
    golden = golden_set(200, tags=tags)
    comparison = compared(
        golden, lambda n: lost(n) if n < 10 else good(n), lambda n: lower(n) if n > 150 else good(n)
    )
    *told, rest = hidden_slices(comparison, comparison.now.metric("ndcg@10"))
    assert [text.split()[9] for text in told] == ["t5", "t6", "t7", "t8", "t9"]
    assert rest == "So it does with 2 more slices that cost less: t3, t4."


def test_a_slice_that_fell_as_all_did_is_not_hidden():
    golden = golden_set(tags={"billing": {0, 1, 2, 3}, "all": set(range(20))})
    comparison = compared(golden, lower, good)
    assert list(hidden_slices(comparison, comparison.now.metric("ndcg@10"))) == []


def test_a_slice_that_fell_further_than_a_mean_which_surely_fell_too_is_named():
    golden = golden_set(100, tags={"billing": set(range(8))})
    comparison = compared(golden, lambda n: lower(n) if n < 8 else good(n), good)
    assert comparison["ndcg@10"].interval[1] < 0
    assert len(list(hidden_slices(comparison, comparison.now.metric("ndcg@10")))) == 1


@pytest.mark.parametrize("metric", ["mrr", "mrr(miss=skip)@5"])
def test_a_metric_that_leaves_out_every_query_today_is_not_put_down_to_judgments(metric):
    golden = golden_set()
    comparison = compared(golden, lambda n: [f"y{n}-{i}" for i in range(10)], good)
    comparison = comparison.with_metrics(read_metrics([metric]))
    assert not list(on_unjudged(comparison, comparison.now.metric(metric)))
