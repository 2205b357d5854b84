"""Notes on results that nobody judged."""

from __future__ import annotations

import pytest

from pytest_irmetrics.analysis.trust import on_unjudged
from pytest_irmetrics.evaluation import read_metrics
from tests.unit.analysis.comparisons import compared, golden_set, good


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


@pytest.mark.parametrize("metric", ["mrr", "mrr(miss=skip)@5"])
def test_a_metric_that_leaves_out_every_query_today_is_not_put_down_to_judgments(metric):
    golden = golden_set()
    comparison = compared(golden, lambda n: [f"y{n}-{i}" for i in range(10)], good)
    comparison = comparison.with_metrics(read_metrics([metric]))
    assert not list(on_unjudged(comparison, comparison.now.metric(metric)))
